"""Rigid multibody systems in redundant coordinates ([rigid] sec. 4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from flexph.numerics import checks as check
from flexph.numerics import spans
from flexph.numerics.arguments import checked
from flexph.numerics.arrays import Array
from flexph.systems.inputs import Input
from flexph.systems.nonlinear import PHDAE

from . import start
from .conditions import check_system, refuse_dependent, refuse_undetermined
from .equations import Equations
from .model import Split, SystemModel
from .probes import cautions_of
from .start import Accelerations


@checked
@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MultibodySystem(SystemModel):
    """Multibody system in redundant coordinates with a constant mass matrix.

    ``ζ̇ = Z(ζ)ϖ``, ``Mϖ̇ = −Zᵀ(∇V + c'ᵀλ) − τ_d − G(ζ, Mϖ)ϖ − Aᵀμ + B F``, ``0 = c(ζ)``, ``0 = A(ζ)ϖ``, ``y = Bᵀϖ``:
    [rigid] eq. (10) with F = −τ_ext, so that yᵀF is the power into the system. Positions ζ (n_pot,) may be redundant
    (rotation matrices, quaternions, angles); velocities ϖ (n_kin,) are chosen such that M is constant. Then
    ``d/dt (½ϖᵀMϖ + V) = yᵀF − ϖᵀτ_d``.

    :meth:`state` makes an initial state, :meth:`phdae` the equations.

    Parameters
    ----------
    mass : array_like
        M (n_kin, n_kin), symmetric, positive semi-definite.
    sample : array_like
        Positions at which, and around which, the conditions are checked: shapes, finite values, c' and ∇V against
        differences, p'Z against A and Bᵀ, G skew, ϖᵀτ_d ≥ 0, constant rank of (c'Z, A). The positions around it are
        reached by allowed motions, at a distance of ``spread`` times the size of the positions.
    kinematics : callable or array_like, optional
        Z (n_pot, n_kin), a function of ζ or constant, None for the identity.
    gyroscopic : callable or array_like, optional
        G(ζ, Γ) skew, Γ = Mϖ, or constant.
    potential : Potential, Invariants or sequence, optional
        V(ζ), or energy through quadratic invariants of ζ, which preserves momenta, or several with the sum V.
    constraints, velocity_constraints : sequence, optional
        :class:`PositionConstraint`, c(ζ) = 0, and :class:`VelocityConstraint`, A(ζ)ϖ = 0.
    dissipation : sequence, optional
        :class:`Damper` and :class:`Dissipation`, τ_d.
    ports : mapping, optional
        :class:`ExternalPort` by name, with B.
    parts, velocity_parts : mapping, optional
        Slices of the positions, and of the velocities, by name.
    cautions : sequence of callable, optional
        Functions of ζ that return a warning near the limits of the coordinates, or None.
    coordinates : sequence, optional
        Conditions g(ζ) = 0 that Z preserves, ``g'Z = 0`` where they hold (RᵀR = 1, |q| = 1): they have no multipliers;
        initial states are checked against them.
    kinematics_mean : callable, optional
        Z̄(ζ₀, ζ₁) over a step if the midpoint Z is insufficient, ``Z̄(ζ, ζ) = Z(ζ)``: with ``δR = [R̄⁻ᵀω]× R̄`` for
        rotation matrices, the step rotates as with ``R̄[ω]×``, and forces at points have levers that also conserve the
        momenta in world axes.
    terms : Terms, optional
        Built-in terms, from :func:`rigid.point_masses` (:class:`flexph.PHDAE`).
    spread : float, optional
        Relative distance of the checked positions from the sample.

    Raises
    ------
    ValueError
        For a violated condition; the message has the defect.

    Examples
    --------
    >>> import numpy as np
    >>> from rigid import MultibodySystem, PositionConstraint, PositionMap, Potential
    >>> circle = PositionMap(lambda r: np.array([0.5 * (r @ r - 1.0)]), lambda r: r[None])
    >>> weight = Potential(lambda r: 19.62 * r[1], lambda r: np.array([0.0, 19.62]))
    >>> rod = PositionConstraint("rod", circle)
    >>> pendulum = MultibodySystem(mass=2.0 * np.eye(2), sample=[0.6, -0.8], potential=weight, constraints=[rod])
    >>> pendulum
    <MultibodySystem: 2 positions, 2 velocities; constraints rod; ports none>
    >>> pendulum.accelerations([0.0, -1.0], [0.0, 0.0]).lam.round(6).tolist()  # the force of the rod [N]
    [19.62]
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        check_system(self)

    def __repr__(self) -> str:
        names = [*(c.name for c in self.constraints), *(a.name for a in self.velocity_constraints)]
        held, ports = (", ".join(of) or "none" for of in (names, self.ports))
        sizes = f"{self.positions} positions, {self.velocities} velocities"
        return f"<MultibodySystem: {sizes}; constraints {held}; ports {ports}>"

    # --- verbs --------------------------------------------------------------------------------------------------------

    @checked
    def phdae(self, start: Array | None = None) -> PHDAE:
        """Convert the system to a :class:`flexph.PHDAE` with the states x = (ζ, ϖ, λ, μ).

        Its matrices are ``E = diag(1, M, 0, 0)``, ``z = (∇V, ϖ, λ, μ)`` and ``J = [[0, Z, 0, 0], [−Zᵀ, −G, −Zᵀc'ᵀ,
        −Aᵀ], [0, c'Z, 0, 0], [0, A, 0, 0]]``; R and B act on the velocities. R is given by
        :func:`rigid.system.equations.resistance`. Its ``means`` are a discrete gradient pair for
        :func:`flexph.integrate`, with ``ΔH = work − dissipation``. Z is taken at the midpoint, so that the conditions
        on rotation matrices and quaternions hold to round-off. Position constraints, and velocity constraints that are
        the rate of a position, enter by discrete Jacobians and do not drift; other velocity constraints hold at the
        midpoint, ``A(ζ̄)ϖ̄ = 0``. Multipliers and massless velocities are stage values of the midpoint of the step.

        Its parts are ``positions``, ``velocities``, ``lambda``, ``mu`` and the named parts of the system (see
        :mod:`rigid.system`).

        Parameters
        ----------
        start : array, optional
            State (n,) at which the conditions of the PHDAE are checked.

        Returns
        -------
        PHDAE
            For runs and analysis.

        Raises
        ------
        ValueError
            If constraints depend on others, so that multipliers are not determined, and if neither constraints nor
            forces determine massless velocities.
        """
        refuse_dependent(self)
        refuse_undetermined(self)
        if start is None:
            random = np.random.default_rng(0).uniform(-1.0, 1.0, self.velocities)
            start = np.concatenate([self.sample, random, np.zeros(self.layout.size - self.layout.velocities.stop)])
        return Equations(self).phdae(check.array("start", start, (self.layout.size,)))

    @checked
    def state(
        self,
        positions: Sequence[float] | Array,
        velocities: Sequence[float] | Array,
        *,
        inputs: Mapping[str, Input] | None = None,
        time: float = 0.0,
    ) -> Array:
        """Consistent state x = (ζ, ϖ, λ, μ) with given positions and velocities, for :func:`flexph.integrate`.

        λ and μ are computed by :meth:`accelerations`. A velocity constraint that is the rate of a position p keeps p
        at its value in the initial state.

        Parameters
        ----------
        positions : array_like
            ζ (n_pot,).
        velocities : array_like
            ϖ (n_kin,).
        inputs : mapping, optional
            Inputs by port: values or functions of time; zero unless given.
        time : float
            Time [s].

        Returns
        -------
        array
            State (n,).

        Raises
        ------
        ValueError
            With the constraint and its defect, unless c(ζ) = 0, c'Zϖ = 0, Aϖ = 0 and the conditions of the coordinates
            hold to 1e-8 of their terms.
        """
        return start.state(self, positions, velocities, inputs=inputs or {}, time=time)

    @checked
    def nearest(self, positions: Sequence[float] | Array, velocities: Sequence[float] | Array) -> tuple[Array, Array]:
        """Consistent positions and velocities nearest to given values, for :meth:`state`.

        Positions are changed least to satisfy the conditions of the coordinates, and by Zδ with the least δᵀMδ to
        satisfy the constraints (Newton's method). The change of the velocities has the least kinetic energy.

        Parameters
        ----------
        positions : array_like
            ζ (n_pot,).
        velocities : array_like
            ϖ (n_kin,).

        Returns
        -------
        tuple[array, array]
            ζ and ϖ.

        Raises
        ------
        ArithmeticError
            If no consistent positions are found.
        """
        return start.nearest(self, positions, velocities)

    @checked
    def accelerations(
        self,
        positions: Sequence[float] | Array,
        velocities: Sequence[float] | Array,
        *,
        inputs: Mapping[str, Input] | None = None,
        time: float = 0.0,
    ) -> Accelerations:
        """Accelerations ϖ̇ (n_kin,), multipliers λ (k,) and μ (l,) of [rigid] eq. (10) with differentiated constraints.

        ``Mϖ̇ + Kᵀ(λ, μ) = f``, ``Kϖ̇ = −K̇ϖ`` with K = (c'Z, A), K̇ by differences along ζ̇ = Zϖ. Undetermined values
        (multipliers of redundant constraints, massless velocities) have the least norm.

        Parameters
        ----------
        positions : array_like
            ζ (n_pot,).
        velocities : array_like
            ϖ (n_kin,).
        inputs : mapping, optional
            Inputs by port: values or functions of time; zero unless given.
        time : float
            Time [s].

        Returns
        -------
        Accelerations
            ϖ̇, λ and μ.

        Raises
        ------
        ValueError
            If forces on massless velocities do not balance.
        """
        zeta = check.array("positions", positions, (self.positions,))
        omega = check.array("velocities", velocities, (self.velocities,))
        return start.accelerations(self, zeta, omega, inputs=inputs or {}, time=time)

    @checked
    def split_port(self, port: str, parts: Mapping[str, int]) -> MultibodySystem:
        """The system with one port divided into parts, such as a force and a torque.

        Parameters
        ----------
        port : str
            Name of a port.
        parts : mapping
            Numbers of its columns of B by name, in their order, such as ``{"force": 3, "torque": 3}``.

        Returns
        -------
        MultibodySystem
            The system with the new ports.
        """
        whole = spans.divided(self.port_slices, port, parts)
        inner = spans.consecutive(parts)
        ports = {name: self.ports[port].part(inner[name]) if name in inner else self.ports[name] for name in whole}
        return replace(self, ports=ports)

    @checked
    def split(self, x: Array) -> Split:
        """Split one state (n,) or many (…, n) into ζ, ϖ, λ and μ.

        Parameters
        ----------
        x : array
            One state (n,) or many (…, n).

        Returns
        -------
        Split
            ζ, ϖ, λ and μ.
        """
        return self.layout.split(np.asarray(x))

    @property
    def all_cautions(self) -> tuple[Callable[[Array], str | None], ...]:
        """Warning functions of the system, with one for a loss of rank of its constraints."""
        return cautions_of(self)
