"""Mechanisms: bodies and the connections between their ports."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from ..display.tables import html_table, listed, paragraph
from ..drawing.viewers import html_of, open_viewer
from ..linear.responses.sweep import Sweep
from ..numerics.arguments import checked, computing
from ..numerics.arrays import Array
from ..systems.inputs import Input
from ..systems.linear import LinearPHDAE
from ..systems.nonlinear import PHDAE
from .equations.phdae import as_phdae
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


def _drawing(mechanism: Mechanism) -> str:
    """The view of a mechanism at the first pose, empty where its loops do not close from there, or nothing is drawn."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of bodies without a place
            pose = assemble(mechanism, {}, {}, 0.0)
        return html_of((mechanism, pose))
    except ValueError as error:
        return paragraph(f"No drawing: {error}")


def _tables(mechanism: Mechanism) -> Iterator[str]:
    """Bodies with their masses and ports, connections with their constraints."""
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

    made by :func:`connect`. Positions are kept at the centres of mass in world axes, rotations by their entries.

    Parameters
    ----------
    bodies : mapping
        :class:`flexph.Body` or :class:`flexph.bodies.NodalBody` by name.
    connections : tuple of Connection
        Joints and force elements, formed for the dimension of the bodies.
    gravity : array
        (d,) [m/s²].
    """

    def __repr__(self) -> str:
        space = "plane" if self.layout.dim == 2 else "space"
        return f"<Mechanism of the {space}: {', '.join(self.bodies)}; {len(self.connections)} connections>"

    def _repr_html_(self) -> str:
        """A drawing at the pose that assembles from no guess, where there is one, and tables, for notebooks."""
        return _drawing(self) + "".join(_tables(self))

    @computing(_unknowns)
    def assemble(
        self,
        fixed: Mapping[str, Placement] | None = None,
        *,
        guess: Mapping[str, Placement] | None = None,
        time: float = 0.0,
    ) -> Pose:
        """The undeformed pose that closes all joints, nearest to a guess; to stated angles it turns the shorter way.

        In the plane bodies are given by their angle [rad] or by (x, y, angle) of their origin P; in space by a rotation
        (a matrix or a ``scipy.spatial.transform.Rotation``), a position (x, y, z) of P, or a pair of both, (position,
        rotation).

        Parameters
        ----------
        fixed : mapping, optional
            Bodies that are taken as they are (a rotation alone leaves the position free), but for what nine printed
            digits leave open.
        guess : mapping, optional
            Bodies that may move from there; those that are not named start at the origin without rotation.
        time : float
            Time [s], at which drives stand.

        Returns
        -------
        Pose
            Centres of mass, rotations, and what joints keep as assembled.

        Raises
        ------
        ValueError
            Saying how far each joint is open, if the loops cannot close; where a port is beyond an end of its curve.

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

    @computing(_unknowns)
    def assemble_all(
        self,
        fixed: Mapping[str, Sequence[Placement]] | None = None,
        *,
        guess: Mapping[str, Sequence[Placement]] | None = None,
        time: float = 0.0,
    ) -> Poses:
        """Many poses as by :meth:`assemble`, closed together; every body is given one place for each of them.

        Parameters
        ----------
        fixed : mapping, optional
            Bodies that are taken as they are, a list of k places each. Angles in the plane are a list or an array; a
            tuple of numbers, which could be (x, y, angle), is refused.
        guess : mapping, optional
            Bodies that may move from there, in the same way.
        time : float
            Time [s], at which drives stand.

        Returns
        -------
        Poses
            k poses, a sequence.

        Raises
        ------
        ValueError
            Where a loop cannot close, and for a tuple of numbers.

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
        """A state that satisfies all constraints and their rates at ``time``.

        Velocities are kept where the joints and drives allow all of them; the others follow with the least kinetic
        energy, without deformation rates where that is possible. Where they contradict the joints, each other or the
        drives, the state has the admissible velocities nearest to all of them in kinetic energy, and a warning says so.

        Least kinetic energy makes a blade swing back that hangs on a driven hub by a free hinge; with
        ``joints="at rest"`` it turns with the hub.

        Parameters
        ----------
        pose : Pose
            An assembled pose.
        velocities : mapping, optional
            By body: in the plane its spin [rad/s] or (ẋ, ẏ, spin) of its origin P, in space its spin (3,) or a pair
            (velocity of P, spin), both in world axes; of a point mass its velocity alone.
        elastic : {"undeformed", "quasi_static"}
            ``quasi_static`` starts with the deformation that balances the inertia forces of the rigid motion, and warns
            where that leaves the range of a body's model.
        joints : {"free", "at rest"}, optional
            Motion of bodies whose velocities are not given: ``free`` that of least kinetic energy; ``at rest`` that in
            which the rates of joints are least, as if they were locked wherever neither drives, given velocities nor
            loops move them, and of these the one of least kinetic energy. By default the former, with a warning where a
            joint moves that could be at rest.
        time : float
            Time [s], at which drives stand.

        Returns
        -------
        State
            The start of a run.
        """
        return consistent_state(self, pose, velocities or {}, elastic=elastic, joints=joints, time=time)

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
        """The state after an impact at a port, where positions are as before and joints hold, by impulses of theirs.

        With W the rows of the port's velocity γ = W v and P what joints leave of M⁻¹, v⁺ = v + P Wᵀ Λ. The impulse does
        the work Λ·½(γ⁻ + γ⁺), which is the change of the kinetic energy where joints and drives had their rates.
        Newton's law along n, without friction, is Λ = −(1 + e) n (n·γ⁻)/(n·W P Wᵀ n). Contacts do not take part.

        Parameters
        ----------
        state : State
            Before the impact, for instance the ``final`` one of a run.
        port : str
            Port ``body.port`` that is struck.
        impulse : array, optional
            Λ (d,) [N s] in world axes.
        restitution : float, optional
            In place of it, e from 0 (plastic) to 1 of an impact against something at rest that does not give way.
        direction : array, optional
            With restitution, n (d,) of any length, the way in which the port bounces: unless given, against its
            velocity.

        Returns
        -------
        State
            With other velocities; its multipliers are zero, see :meth:`consistent_multipliers`.

        Raises
        ------
        ValueError
            For neither or both of impulse and restitution; with restitution where the port does not move against the
            direction, where joints hold it, and where its body deforms.
        """
        return impact_at(self, state, port, impulse=impulse, restitution=restitution, direction=direction)

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
        """The state at rest in which all forces balance, found from a pose near it; its multipliers are the reactions.

        Newton's method, held back by the inertia while forces are large: from afar it goes towards a minimum of the
        energy, from a pose beside an unstable equilibrium it may find that. Nonholonomic joints hold by their forces
        wherever they stand: of their many equilibria it is one that is reached from the pose without slip; a ``spin``
        is refused.

        Warns (:class:`flexph.ValidityWarning`) where a body leaves the range of its model.

        Parameters
        ----------
        pose : Pose
            A pose near it.
        inputs : mapping, optional
            Values or functions of time by external port, as for :func:`flexph.integrate`; zero unless given.
        spin : float or array_like, optional
            The whole mechanism turns steadily [rad/s], a number in the plane, a world vector in space, and its inertia
            forces and the dampers to the ground balance too. What does not go with it, as a load or an off-axis spring
            that is fixed in the world, is refused by name: no such rotation is steady.
        about : array_like, optional
            Point (d,) [m] about which it turns; the origin by default.
        time : float
            Time [s], at which drives stand.
        redundant : {"refuse", "least_norm"}
            Whether redundant constraints are refused, or their forces are those of least norm.

        Returns
        -------
        State
            At rest, with the joint forces as its multipliers.

        Raises
        ------
        ArithmeticError
            Where none is found.
        ValueError
            For redundant constraints, whose forces are not unique, unless ``redundant="least_norm"``; for loads,
            springs, dampers and joints that do not turn with a ``spin``.
        """
        return equilibrium(self, pose, inputs or {}, spin=spin, about=about, time=time, redundant=redundant)

    @computing(_unknowns)
    def linearize(self, about: Pose | State, *, inputs: Mapping[str, Input] | None = None) -> LinearPHDAE:
        """Small motions about rest: of an unloaded pose ([flex] eq. (45)), or of an equilibrium under load.

        At a pose, states are the body-frame velocities at P and the stresses, joints are constraints. At a state from
        :meth:`equilibrium`, the stiffness of stresses, joint forces and loads takes part, constraints are eliminated,
        and :meth:`LinearPHDAE.part` gives the same named parts.

        Parameters
        ----------
        about : Pose or State
            Where it rests.
        inputs : mapping, optional
            Those that the equilibrium was found with.

        Returns
        -------
        LinearPHDAE
            ``E ẋ = (J − R) x + B u + Gᵀλ, 0 = G x``.

        Raises
        ------
        ValueError
            For an unstable equilibrium and for a steady rotation: see :meth:`spectrum`.
        """
        if isinstance(about, Pose):
            return linearize(self, about)
        return linearize_state(self, about, inputs or {})

    @computing(_unknowns)
    def eigenfrequencies(self, poses: Sequence[Pose], count: int) -> Array:
        """The lowest ``count`` frequencies ω > 0 at rest at k unloaded poses, (k, count) [rad/s], ascending.

        Those of ``eigenfrequencies(mechanism.linearize(pose), count)``, drives locked. For small undamped mechanisms
        without springs all that does not depend on the pose is computed once.

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
            Where a pose is loaded, and for a mechanism that dissipates or has fewer frequencies.
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
        """The lowest ``count`` frequencies at rest at k unloaded poses over their ``values`` (k,), each mode followed.

        As :func:`flexph.linear.sweep` of the linearized mechanism, by one stack of small matrices where
        :meth:`eigenfrequencies` has one.

        Parameters
        ----------
        poses : sequence of Pose
            k poses.
        values : array_like
            What they are numbered by, (k,), as a crank angle.
        count : int
            Number of frequencies.
        name : str
            Name of the values, for pictures.
        follow : bool
            False sorts by frequency at every value instead of following modes.

        Returns
        -------
        Sweep
            Frequencies (k, count) [rad/s] with what is known of their modes.
        """
        return sweep_over(self, poses, np.asarray(values), count=count, name=name, follow=follow)

    @computing(_unknowns)
    def spectrum(self, state: State, *, inputs: Mapping[str, Input] | None = None) -> Spectrum:
        """All small motions about an equilibrium or a steady rotation, as complex numbers; dense.

        ``Spectrum.message`` says which of the two it is and whether a motion grows, as decided by the signs of the
        stiffness (:mod:`flexph.numerics.factors.signature`). Displacements that nonholonomic joints forbid lead to
        other equilibria and are not counted. About a steady rotation all is seen in the frame that turns. Dampers to
        the ground act there with a circulatory stiffness, c Ω× of equal ones. Supports that are not the same at all
        angles make it periodic: the exponents are those of Floquet's theorem. ``Spectrum.fixed_values`` are for
        Campbell diagrams. Of a rotor on a body that stands still take
        :func:`flexph.analysis.floquet`.

        Parameters
        ----------
        state : State
            A state that :meth:`equilibrium` found.
        inputs : mapping, optional
            Those it was found with.

        Returns
        -------
        Spectrum
            Exponents [1/s] and their shapes.
        """
        return spectrum(self, state, inputs or {})

    @computing(_unknowns)
    def buckling(self, state: State, *, inputs: Mapping[str, Input] | None = None) -> Buckling:
        """The factor of the loads (weight and ``inputs``) at which a stable equilibrium stops being one.

        The loads grow together, with all that bends before, until the stiffness of small motions loses its rank: at a
        branch, or at a limit point beyond which no equilibrium is near. Springs and drives stand.

        Parameters
        ----------
        state : State
            A stable state that :meth:`equilibrium` found.
        inputs : mapping, optional
            Those it was found with.

        Returns
        -------
        Buckling
            The factor, and the shape in which it buckles.

        Raises
        ------
        ValueError
            For a state that is not a stable equilibrium.
        ArithmeticError
            Where nothing buckles.
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
            A state of this mechanism.
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
            With multipliers, as of :meth:`equilibrium`, :meth:`consistent_multipliers` or a run.
        joint : str
            Name of a joint, as in ``connections``.
        on : {"first", "second"}
            On which of its bodies it acts.
        frame : {"world", "first", "second"}
            Axes of the result: of the world, or of the section at a port.

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
        """The state with the joint forces of its motion: the multipliers that keep the rates of all constraints.

        They follow from the accelerations (index reduction); :meth:`consistent_state` leaves them zero.

        Parameters
        ----------
        state : State
            A consistent state; drives move as they do at its time.
        inputs : mapping, optional
            Values or functions of time by external port, as for :func:`flexph.integrate`; zero unless given.

        Returns
        -------
        State
            The same motion, with multipliers.

        Raises
        ------
        ValueError
            For an inconsistent state and redundant constraints.
        """
        return consistent_multipliers(self, state, inputs or {})

    @computing(_unknowns)
    def phdae(self, state: State) -> PHDAE:
        """The nonlinear equations as a :class:`PHDAE` with states (q, v, σ, λ), checked at a state.

        λ of its sample are the multipliers of the state, see :meth:`consistent_multipliers`.

        Parameters
        ----------
        state : State
            The sample of the equations.

        Returns
        -------
        PHDAE
            A general system, for :mod:`flexph.analysis` and general methods.
        """
        return as_phdae(self, state)

    @checked
    def describe(self, pose: Pose | None = None, *, details: bool = False) -> str:
        """Bodies, joints, forces, freedoms and redundant constraints as text, what matters first.

        Parameters
        ----------
        pose : Pose, optional
            Freedoms and redundancies are counted here; by default at the pose that assembles from no guess, where there
            is one. Where some are redundant, a pose nearby tells whether this one is singular.
        details : bool
            Add the ports of all bodies, the constraints of all connections and the layout of the state.

        Returns
        -------
        str
            About a dozen lines, or with ``details`` as many as the state has parts.
        """
        return describe(self, pose, details=details)
