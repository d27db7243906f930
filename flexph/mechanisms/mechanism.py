"""Mechanisms: bodies and the connections between their ports."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ..display.tables import html_table, listed, paragraph
from ..drawing.viewers import html_of, open_viewer
from ..joints.rows.connection import Connection
from ..linear.responses.sweep import Sweep
from ..numerics import checks as check
from ..numerics.arguments import checked, computing
from ..numerics.arrays import Array
from ..systems.inputs import Input
from ..systems.linear import LinearPHDAE
from ..systems.nonlinear import PHDAE
from ..units.arguments import quantities
from .contact_statics import closed_at, equilibrium_with_contacts
from .equations.phdae import as_phdae
from .forming import formed
from .model.accounts import Accounts
from .model.model import Model
from .model.placement import Motion, Placement
from .model.state import Pose, State
from .poses.assembly import assemble, warn_of_unplaced
from .poses.consistent_start import consistent_state
from .poses.description import describe
from .poses.impacts import impact_at
from .poses.multipliers import consistent_multipliers
from .poses.pose_stack import Poses, assemble_all
from .poses.reactions import Reaction, position_of, reaction_of_state
from .statics.buckling import Buckling, buckling
from .statics.equilibrium import equilibrium
from .statics.frequencies import eigenfrequencies_at, sweep_over
from .statics.linearization import linearize
from .statics.loaded_linearization import linearize_state
from .statics.small_motion import Spectrum, spectrum
from .statics.stability import warn_if_unstable
from .steady.steady_spectrum import has_relative_motion, steady_spectrum


def _drawing(mechanism: Mechanism) -> str:
    """HTML drawing of a mechanism in the pose assembled without a guess, or the reason why there is no such pose."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of bodies without a place
            pose = assemble(mechanism, {}, {}, 0.0)
        return html_of((mechanism, pose))
    except ValueError as error:
        return paragraph(f"No drawing: {error}")


def _tables(mechanism: Mechanism) -> Iterator[str]:
    """Yield HTML tables: bodies with their masses and ports, connections with their constraints."""
    bodies = [
        (name, float(body.mass), f"flexible, {body.size} coordinates" if body.size else "rigid", listed(body.ports))
        for name, body in mechanism.bodies.items()
    ]
    connections = [
        (c.name, listed(row.name for row in c.rows) or ("external port" if c.input else "force element"))
        for c in mechanism.connections
    ]
    yield html_table(("body", "mass [kg]", "kind", "ports"), bodies, title=repr(mechanism)[1:-1])
    yield html_table(("connection", "constraints"), connections)


def _unknowns(mechanism: Model) -> int:
    return mechanism.largest_body


@dataclass(frozen=True, eq=False, repr=False)
class Mechanism(Model):
    """Bodies joined at named ports: an index-2 pHDAE ([flex] eq. (42)).

        q̇ = Z(q) v,  M(u) ẇ = Γ w − …,  C σ̇ = D(u) u̇,  0 = G(q) v

    q are coordinates, v velocities, w = (ω, u̇) those of them that are spins and deformation rates, σ stresses. The
    state holds positions of the centres of mass in world axes, and rotation matrices. Mechanisms are made by
    :func:`connect`.

    Parameters
    ----------
    bodies : mapping
        :class:`flexph.Body` or :class:`flexph.bodies.NodalBody` by name.
    connections : tuple of Connection
        Joints and force elements, in their form for the dimension of the bodies (plane or space).
    gravity : array
        (d,) [m/s²].
    """

    def __repr__(self) -> str:
        space = "plane" if self.layout.dim == 2 else "space"
        return f"<Mechanism of the {space}: {listed(self.bodies)}; {len(self.connections)} connections>"

    def _repr_html_(self) -> str:
        """HTML for notebooks: a drawing in the pose assembled without a guess, if there is one, and tables."""
        return _drawing(self) + "".join(_tables(self))

    @quantities(gravity="m/s^2")
    @checked
    def replace(
        self,
        *,
        joints: Sequence[Connection] | None = None,
        gravity: Sequence[float] | None = None,
    ) -> Mechanism:
        """Make a mechanism of the same bodies with other joints or another gravity.

        The new mechanism can continue a run of this one: ``integrate(other, run, times)``.

        Parameters
        ----------
        joints : sequence of Connection, optional
            All joints and force elements, for example ``[*mechanism.connections, weld(...)]``; by default the same.
        gravity : array_like, optional
            Acceleration (d,) [m/s²]; by default the same.

        Returns
        -------
        Mechanism
            The new mechanism.

        Raises
        ------
        ValueError
            As :func:`flexph.connect`.

        Examples
        --------
        >>> import rigid
        >>> from flexph import GROUND, connect, hinge, weld
        >>> arm = connect({"arm": rigid.bar(1.0, 2.0)}, [hinge("arm.root", GROUND)])
        >>> arm.replace(joints=[*arm.connections, weld("arm.tip", GROUND, name="latch")]).connections[-1].name
        'latch'
        """
        connections = self.connections if joints is None else formed(self.bodies, joints)
        acceleration = self.gravity if gravity is None else check.array("gravity", gravity, (self.layout.dim,))
        other = Mechanism(self.bodies, connections, acceleration)
        other.network  # noqa: B018  # so that bad connections fail here
        other.once(Accounts)
        return other

    @quantities(time="s")
    @checked
    def with_masses_at(self, time: float) -> Mechanism:
        """Mechanism whose varying masses (:meth:`flexph.Body.with_mass_factor`) are constant at their values at a time.

        Masses that are inputs keep their values at u = 0.

        Parameters
        ----------
        time : float
            Time [s].

        Returns
        -------
        Mechanism
            The new mechanism, which accepts the poses and states of the old one; the same object if no mass varies.

        Raises
        ------
        ValueError
            For a factor that is not positive.

        Examples
        --------
        >>> import rigid
        >>> from flexph import GROUND, connect, hinge
        >>> bucket = rigid.bar(1.0, 2.0).with_mass_factor(lambda t: 1.0 + t)
        >>> connect({"bucket": bucket}, [hinge("bucket.root", GROUND)]).with_masses_at(0.5).bodies["bucket"].mass
        3.0
        """
        if not self.network.arrays.mass_factors:
            return self
        bodies = dict(self.bodies)
        for name, body in self.bodies.items():
            if body.mass_factor is not None:
                given = (lambda t: 1.0) if body.mass_factor == "input" else body.mass_factor
                value = check.value_of(f"{name}: the factor of its mass", given, time)
                factor = check.positive(f"{name}: the factor of its mass at t = {time} s", value)
                bodies[name] = replace(body, inertia=body.inertia.scaled(factor), mass_factor=None)
        return Mechanism(bodies, self.connections, self.gravity)

    @quantities(time="s")
    @computing(_unknowns)
    def assemble(
        self,
        fixed: Mapping[str, Placement] | None = None,
        *,
        guess: Mapping[str, Placement] | None = None,
        time: float = 0.0,
    ) -> Pose:
        """Assemble the mechanism: the undeformed pose nearest to a guess that closes all joints.

        In the plane a body is placed by its angle [rad] or by (x, y, angle) of its origin P; in space by a rotation
        (a matrix or a ``scipy.spatial.transform.Rotation``), a position (x, y, z) of P, or a pair (position, rotation).
        Numbers may be texts with units, such as ``"30 deg"``. Bodies turn to prescribed angles by the smaller rotation.

        Parameters
        ----------
        fixed : mapping, optional
            Bodies that stay where they are (a rotation alone leaves the position free). They move only to close gaps as
            small as the rounding of nine printed digits.
        guess : mapping, optional
            Initial placements of bodies that may move; bodies not named start at the origin without rotation.
        time : float
            Time [s] at which drives are evaluated.

        Returns
        -------
        Pose
            Centres of mass, rotations, and the offsets and free lengths of joints and springs, measured as assembled.

        Raises
        ------
        ValueError
            If the joints cannot close, with the gap of each; if a port lies beyond an end of its curve.

        Examples
        --------
        >>> import rigid
        >>> from flexph import GROUND, connect, hinge
        >>> arm = connect({"rod": rigid.bar(1.0, 2.0)}, [hinge("rod.root", GROUND.at(0.0, 0.0))])
        >>> arm.assemble({"rod": 0.5}).centres.round(3)
        array([[0.439, 0.24 ]])
        """
        warn_of_unplaced(self, {*(fixed or {}), *(guess or {})})
        return assemble(self, fixed or {}, guess or {}, time)

    @quantities(time="s")
    @computing(_unknowns)
    def assemble_all(
        self,
        fixed: Mapping[str, Sequence[Placement]] | None = None,
        *,
        guess: Mapping[str, Sequence[Placement]] | None = None,
        time: float = 0.0,
    ) -> Poses:
        """Assemble many poses at once, with one placement of every given body for each pose.

        Parameters
        ----------
        fixed : mapping, optional
            Bodies that stay where they are, each with a list of k placements as for :meth:`assemble`. Planar angles are
            a list or an array; a tuple of numbers is refused, as it could be (x, y, angle).
        guess : mapping, optional
            Initial placements of bodies that may move, as lists of the same form.
        time : float
            Time [s] at which drives are evaluated.

        Returns
        -------
        Poses
            Sequence of k poses.

        Raises
        ------
        ValueError
            If the joints cannot close, and for a tuple of numbers.

        Examples
        --------
        >>> import rigid
        >>> from flexph import GROUND, connect, hinge
        >>> arm = connect({"rod": rigid.bar(1.0, 2.0)}, [hinge("rod.root", GROUND)])
        >>> poses = arm.assemble_all(guess={"rod": [0.0, 0.5, 1.0]})
        >>> len(poses), poses[1].centres.round(3)
        (3, array([[0.439, 0.24 ]]))
        """
        warn_of_unplaced(self, {*(fixed or {}), *(guess or {})})
        return assemble_all(self, fixed or {}, guess or {}, time)

    @quantities(time="s")
    @computing(_unknowns)
    def consistent_state(
        self,
        pose: Pose,
        *,
        velocities: Mapping[str, Motion] | None = None,
        elastic: Literal["undeformed", "quasi_static"] = "undeformed",
        joints: Literal["free", "at rest"] | None = None,
        time: float = 0.0,
    ) -> State:
        """State at ``time`` that satisfies all constraints and their rates, with given velocities of bodies.

        Given velocities are kept if the joints and drives allow all of them. Velocities that are not given are those of
        least kinetic energy, without deformation rates if possible. If the given velocities contradict the joints, each
        other or the drives, the state has the admissible velocities nearest to them in kinetic energy, with a warning.

        Example of the choice of ``joints``: a blade hangs on a driven hub by a free hinge. With the least kinetic
        energy it swings back; with ``joints="at rest"`` it turns with the hub.

        Parameters
        ----------
        pose : Pose
            Assembled pose.
        velocities : mapping, optional
            By body: in the plane its spin [rad/s] or (ẋ, ẏ, spin) of its origin P; in space its spin (3,) or a pair
            (velocity of P, spin), both in world axes; for a point mass its velocity alone. Numbers may be texts with
            units.
        elastic : {"undeformed", "quasi_static"}
            ``quasi_static`` starts with the deformation that balances the inertia forces of the rigid motion, and warns
            if a body leaves the range of validity of its model.
        joints : {"free", "at rest"}, optional
            Motion of bodies without a given velocity. ``free``: the one of least kinetic energy. ``at rest``: the one
            of least joint rates, as if all joints were locked that neither drives, given velocities nor loops move, and
            among these the one of least kinetic energy. By default ``free``, with a warning if a joint moves that could
            be at rest.
        time : float
            Time [s] at which drives are evaluated.

        Returns
        -------
        State
            Start of a run.
        """
        mechanism = self.with_masses_at(time)
        return consistent_state(mechanism, pose, velocities or {}, elastic=elastic, joints=joints, time=time)

    @computing(_unknowns)
    def impact(
        self,
        state: State,
        port: str,
        *,
        impulse: Array | None = None,
        restitution: float | None = None,
        direction: Array | None = None,
    ) -> State:
        """State after an impact at a port: positions are unchanged, and joints act by impulses.

        With the port's velocity γ = W v and P the projection of M⁻¹ onto motions that the joints allow,
        v⁺ = v + P Wᵀ Λ. The impulse does the work Λ·½(γ⁻ + γ⁺), the change of the kinetic energy if the state before is
        consistent. Newton's law along n, without friction, is Λ = −(1 + e) n (n·γ⁻)/(n·W P Wᵀ n). Contacts have no
        effect.

        Parameters
        ----------
        state : State
            State before the impact, for instance the ``final`` one of a run.
        port : str
            Port ``body.port`` of the impact.
        impulse : array, optional
            Λ (d,) [N s] in world axes.
        restitution : float, optional
            Instead of the impulse, e from 0 (plastic) to 1 (elastic) of an impact on a rigid obstacle at rest.
        direction : array, optional
            With restitution, direction n (d,) of the rebound, of any length; by default opposite to the port's
            velocity.

        Returns
        -------
        State
            State with the velocities after the impact; its multipliers are zero, see :meth:`consistent_multipliers`.

        Raises
        ------
        ValueError
            Unless one of impulse and restitution is given; with restitution, if the port does not move against the
            direction, if joints hold it, or if its body deforms.
        """
        mechanism = self.with_masses_at(state.time)
        return impact_at(mechanism, state, port, impulse=impulse, restitution=restitution, direction=direction)

    @quantities(about="m", spin="rad/s", time="s")
    @computing(_unknowns)
    def equilibrium(
        self,
        pose: Pose,
        *,
        inputs: Mapping[str, Input] | None = None,
        spin: float | Sequence[float] | None = None,
        about: Sequence[float] | None = None,
        time: float = 0.0,
        redundant: Literal["refuse", "least_norm"] = "refuse",
    ) -> State:
        """Equilibrium near a pose: the state at rest (or in steady rotation) in which all forces balance.

        Newton's method is damped by the inertia while forces are large. From afar it approaches a minimum of the
        energy; from a pose near an unstable equilibrium it may converge to that one. Nonholonomic joints have many
        equilibria; the result is one that is reached from the pose without slip, and a ``spin`` is refused for them.

        With contacts, gaps are ≥ 0, normal forces N ≥ 0, and N = 0 at open gaps. Points that touch planes in the pose
        stay there by friction, |T| ≤ μN, or the error says how much friction lacks. From any other pose, such as one
        above the planes, the result is an equilibrium without friction, which is one for any coefficient of friction.
        A ball on a skin may lie on several faces, with equal gaps and shares of N. :meth:`with_closed_contacts` gives
        the forces.

        Warns (:class:`flexph.ValidityWarning`) if a body leaves the range of validity of its model, and of a mechanism
        of up to 300 velocities at rest if the equilibrium is unstable, with the number of negative eigenvalues of its
        stiffness.

        Parameters
        ----------
        pose : Pose
            Pose near the equilibrium.
        inputs : mapping, optional
            Values or functions of time by external port, as for :func:`flexph.integrate`; zero unless given.
        spin : float or array_like, optional
            Steady rotation of the whole mechanism [rad/s], a number in the plane, a world vector in space: the balance
            includes inertia forces and dampers to the ground. Elements that do not turn with it, such as a load or an
            off-axis spring fixed in the world, raise ValueError with their name, as no such rotation is steady.
        about : array_like, optional
            Point (d,) [m] of the axis of rotation; the origin by default.
        time : float
            Time [s] at which drives are evaluated.
        redundant : {"refuse", "least_norm"}
            ``refuse`` raises ValueError for redundant constraints; ``least_norm`` returns multipliers of least norm.

        Returns
        -------
        State
            Equilibrium, with the joint forces as its multipliers.

        Raises
        ------
        ArithmeticError
            If no equilibrium is found, or if contacts that touch in the pose slip.
        ValueError
            For mutual contacts of many balls, pins in holes in space, compliant rims, moving surfaces with friction,
            and contacts with a ``spin``; for redundant constraints, whose forces are not unique, unless
            ``redundant="least_norm"``; for loads, springs, dampers and joints that do not turn with a ``spin``.
        """
        mechanism = self.with_masses_at(time)
        if spin is None and any(c.touches for c in self.connections):
            return equilibrium_with_contacts(mechanism, pose, inputs or {}, time=time, redundant=redundant)
        state = equilibrium(mechanism, pose, inputs or {}, spin=spin, about=about, time=time, redundant=redundant)
        if spin is None:
            warn_if_unstable(mechanism, state, inputs or {})
        return state

    @computing(_unknowns)
    def with_closed_contacts(
        self, state: State, *, inputs: Mapping[str, Input] | None = None
    ) -> tuple[Mechanism, State]:
        """Replace the contacts that are closed at an equilibrium by joints and springs.

        Return the new mechanism and its state. Its multipliers and springs give the contact forces, and it can be
        linearised for small motions. A closed rigid contact becomes a constraint ``NAME: normal``, a compliant one a
        spring ``NAME``. Points on planes with friction stick: constraints ``NAME: friction: tangent 1``. Contacts of
        several gaps have numbers, ``NAME: 2``. Further faces of a skin that carry a ball are constraints of equal gaps,
        ``NAME: 2: share``. A mechanism with contacts closed at edges, in grooves or on skins has statics and small
        motions, but no runs.

        Parameters
        ----------
        state : State
            State from :meth:`equilibrium`.
        inputs : mapping, optional
            Inputs of the equilibrium.

        Returns
        -------
        Mechanism, State
            The mechanism without contacts, and its equilibrium with the forces as multipliers.

        Raises
        ------
        ArithmeticError
            If there is no equilibrium at the state.

        Examples
        --------
        >>> import rigid
        >>> from flexph import GROUND, connect
        >>> from flexph.contacts import Plane, Rigid, contact
        >>> block = rigid.body(2.0, inertia=0.1, ports={"left": (-0.2, -0.1), "right": (0.2, -0.1)})
        >>> feet = contact(["block.left", "block.right"], Plane(GROUND.at(0.0, 0.0), (0.0, 1.0)), Rigid(), name="feet")
        >>> mechanism = connect({"block": block}, [feet], gravity=(0.0, -10.0))
        >>> rest = mechanism.equilibrium(mechanism.assemble({"block": (0.0, 0.3, 0.1)}))
        >>> held, state = mechanism.with_closed_contacts(rest)
        >>> dict(zip(held.constraint_names, state.multipliers.round(9).tolist()))
        {'feet: 1: normal': 10.0, 'feet: 2: normal': 10.0}
        """
        return closed_at(self, state, inputs or {})

    @computing(_unknowns)
    def linearize(self, about: Pose | State, *, inputs: Mapping[str, Input] | None = None) -> LinearPHDAE:
        """Linearise about an unloaded pose at rest ([flex] eq. (45)), or about an equilibrium under load.

        About a pose, the states of the linear system are the stresses and the velocities of the bodies at P in body
        axes, and joints are constraints. About a state from :meth:`equilibrium`, the system includes the geometric
        stiffness of stresses, joint forces and loads, constraints are eliminated, and contacts that are closed stay
        closed. :meth:`LinearPHDAE.part` finds parts of both systems by the same names.

        Parameters
        ----------
        about : Pose or State
            Pose or equilibrium at rest.
        inputs : mapping, optional
            Inputs of the equilibrium.

        Returns
        -------
        LinearPHDAE
            System ``E ẋ = (J − R) x + B u + Gᵀλ, 0 = G x``.

        Raises
        ------
        ValueError
            For an unstable equilibrium and for a steady rotation: see :meth:`spectrum`.
        """
        if isinstance(about, Pose):
            return linearize(self, about)
        mechanism, at = self._at_rest(about, inputs or {})
        return linearize_state(mechanism, at, inputs or {})

    @computing(_unknowns)
    def eigenfrequencies(self, poses: Sequence[Pose], count: int) -> Array:
        """Lowest ``count`` natural frequencies ω > 0 [rad/s] at each of k unloaded poses at rest, ascending.

        They equal ``eigenfrequencies(mechanism.linearize(pose), count)``, with drives locked. For small undamped
        mechanisms without springs, all terms that do not depend on the pose are computed once.

        Parameters
        ----------
        poses : sequence of Pose
            k poses.
        count : int
            Number of frequencies.

        Returns
        -------
        array
            (k, count) [rad/s].

        Raises
        ------
        ValueError
            If a pose is loaded, and for a mechanism with dissipation or with fewer frequencies.
        """
        return eigenfrequencies_at(self, poses, count)

    @computing(_unknowns)
    def sweep(
        self,
        poses: Sequence[Pose],
        values: Sequence[float] | Array,
        *,
        count: int = 6,
        name: str = "value",
        follow: bool = True,
    ) -> Sweep:
        """Follow the lowest ``count`` natural frequencies over k unloaded poses at rest.

        The result is that of :func:`flexph.linear.sweep` for the linearised mechanism, but terms that do not depend on
        the pose are computed once where :meth:`eigenfrequencies` does so.

        Parameters
        ----------
        poses : sequence of Pose
            k poses.
        values : array_like
            Parameter of the poses, (k,), such as a crank angle.
        count : int
            Number of frequencies.
        name : str
            Name of the parameter, for pictures.
        follow : bool
            False sorts by frequency at every value instead of following modes.

        Returns
        -------
        Sweep
            Frequencies (k, count) [rad/s], with the similarity of successive modes.
        """
        return sweep_over(self, poses, np.asarray(values), count=count, name=name, follow=follow)

    @computing(_unknowns)
    def spectrum(self, state: State, *, inputs: Mapping[str, Input] | None = None) -> Spectrum:
        """All exponents [1/s] and shapes of small motions about an equilibrium or a steady rotation, by dense matrices.

        ``Spectrum.message`` tells the kind of state and whether a motion grows, decided by the signs of the stiffness
        (:mod:`flexph.numerics.factors.signature`). Displacements that nonholonomic joints forbid lead to other
        equilibria and are not counted. A steady rotation is described in the rotating frame, in which dampers to the
        ground have a circulatory stiffness (c Ω× for isotropic ones). Anisotropic supports make the system periodic;
        the exponents are then Floquet exponents. ``Spectrum.fixed_values`` are the exponents in the fixed frame, for
        Campbell diagrams. Contacts that are closed at an equilibrium stay closed.

        In a steady motion with relative motion, such as a bicycle that rolls straight, a disc that rolls in a circle or
        a rotor that turns on a body at rest, centres of mass move as one rigid field and bodies turn about axes of
        symmetry, at constant rates. Its equations are constant in the frame of the field; translations, rotations and
        turns of wheels that only shift the motion are named in ``Spectrum.symmetries`` and left out, and motions
        towards steady neighbours, such as another speed, have the exponent zero. Other motions are periodic at best:
        see :func:`flexph.analysis.floquet`.

        Parameters
        ----------
        state : State
            State from :meth:`equilibrium`, or a steady motion by :meth:`consistent_state`, whose joint forces are then
            computed.
        inputs : mapping, optional
            Inputs of the equilibrium.

        Returns
        -------
        Spectrum
            Exponents [1/s] and their shapes.

        Raises
        ------
        ValueError
            For a state that is not balanced or not steady.

        Examples
        --------
        A disc that rolls upright falls below the spin √(g/(3r)) (here 5.7 rad/s), and wobbles above it:

        >>> import numpy as np
        >>> import rigid
        >>> from flexph import connect
        >>> from flexph.joints import rolling_disc
        >>> disc = rigid.body(1.5, inertia=(0.00375, 0.0075, 0.00375), ports={"hub": (0, 0, 0)})
        >>> rolls = rolling_disc("hoop.hub", radius=0.1, axis=(0, 1, 0))
        >>> hoop = connect({"hoop": disc}, [rolls], gravity=(0, 0, -9.81))
        >>> upright = hoop.assemble({"hoop": ((0, 0, 0.1), np.eye(3))})
        >>> for spin in (5.0, 7.0):
        ...     rolling = hoop.consistent_state(upright, velocities={"hoop": ((0.1 * spin, 0, 0), (0, spin, 0))})
        ...     values = hoop.spectrum(rolling).values
        ...     print(np.abs(values.real).max().round(3), np.abs(values.imag).max().round(3))
        4.299 0.0
        0.0 6.255
        """
        if has_relative_motion(self, state):
            return steady_spectrum(self, state, inputs or {})
        mechanism, at = self._at_rest(state, inputs or {})
        return spectrum(mechanism, at, inputs or {})

    def _at_rest(self, state: State, inputs: Mapping[str, Input]) -> tuple[Mechanism, State]:
        """This mechanism and a state; if there are contacts, both with closed contacts replaced by joints."""
        if any(c.touches for c in self.connections):
            return closed_at(self, state, inputs)
        return self, state

    @computing(_unknowns)
    def buckling(self, state: State, *, inputs: Mapping[str, Input] | None = None) -> Buckling:
        """Buckling factor of the loads (weight and ``inputs``) at which a stable equilibrium loses its stability.

        All loads grow in proportion, with the nonlinear deformation before buckling, until the stiffness of small
        motions becomes singular: at a bifurcation, or at a limit point beyond which no equilibrium is near. Springs and
        drives stay constant.

        Parameters
        ----------
        state : State
            Stable state from :meth:`equilibrium`.
        inputs : mapping, optional
            Inputs of the equilibrium.

        Returns
        -------
        Buckling
            Load factor and buckling mode.

        Raises
        ------
        ValueError
            For a state that is not a stable equilibrium.
        ArithmeticError
            If nothing buckles.
        """
        return buckling(self, state, inputs or {})

    @checked
    def show(self, about: Pose | State, *, viewer: str | None = None) -> None:
        """Open a window with the mechanism at a pose or a state (extra ``view``), or another registered viewer."""
        open_viewer((self, about), viewer)

    @checked
    def position(self, state: State, port: str) -> Array:
        """World position of a port at a state, (d,) [m].

        Parameters
        ----------
        state : State
            State of this mechanism.
        port : str
            Port ``body.port``.

        Returns
        -------
        array
            (d,) [m].
        """
        return position_of(self, state, port)

    @checked
    def reaction(
        self,
        state: State,
        joint: str,
        *,
        on: Literal["first", "second"] = "first",
        frame: Literal["world", "first", "second"] = "world",
    ) -> Reaction:
        """Force and torque of a joint on one of its bodies, from the multipliers of a state (see :class:`Reaction`).

        Parameters
        ----------
        state : State
            State with multipliers, as of :meth:`equilibrium`, :meth:`consistent_multipliers` or a run.
        joint : str
            Name of a joint, as in ``connections``.
        on : {"first", "second"}
            Body on which the force acts.
        frame : {"world", "first", "second"}
            Axes of the result: the world's, or those of the section at a port.

        Returns
        -------
        Reaction
            Force (1, d) [N] and torque (1, s) [N m].

        Raises
        ------
        ValueError
            For a state without joint forces (``State.joint_forces``), and for unknown joints.
        """
        return reaction_of_state(self, state, joint, on=on, frame=frame)

    @computing(_unknowns)
    def consistent_multipliers(self, state: State, *, inputs: Mapping[str, Input] | None = None) -> State:
        """State with the joint forces of its motion as multipliers; :meth:`consistent_state` leaves them zero.

        With the accelerations that these forces cause, the rates of all constraints remain zero (index reduction).

        Parameters
        ----------
        state : State
            Consistent state; drives move as at its time.
        inputs : mapping, optional
            Values or functions of time by external port, as for :func:`flexph.integrate`; zero unless given.

        Returns
        -------
        State
            State with the same motion, and multipliers.

        Raises
        ------
        ValueError
            For an inconsistent state and redundant constraints.
        """
        return consistent_multipliers(self.with_masses_at(state.time), state, inputs or {})

    @computing(_unknowns)
    def phdae(self, state: State) -> PHDAE:
        """Nonlinear equations as a :class:`PHDAE` with states (q, v, σ, e, λ), checked at a state.

        The sample point of the system contains the multipliers λ of the state, see :meth:`consistent_multipliers`.

        Parameters
        ----------
        state : State
            Sample at which the equations are checked.

        Returns
        -------
        PHDAE
            General system, for :mod:`flexph.analysis` and general methods.
        """
        return as_phdae(self, state)

    @checked
    def describe(self, pose: Pose | None = None, *, details: bool = False) -> str:
        """Describe bodies, joints, forces, freedoms and redundant constraints as text, most important first.

        Parameters
        ----------
        pose : Pose, optional
            Pose at which freedoms and redundant constraints are counted; by default the pose assembled without a guess,
            if there is one. If some are redundant, a nearby pose shows whether this one is singular.
        details : bool
            True adds the ports of all bodies, the constraints of all connections and the layout of the state.

        Returns
        -------
        str
            About a dozen lines, or with ``details`` one for each part of the state.
        """
        return describe(self, pose, details=details)
