"""Rigid multibody systems in redundant coordinates ([rigid] sec. 4)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from types import MappingProxyType

import numpy as np

from flexph import PHDAE, Invariants
from flexph.numerics import checks as check
from flexph.numerics.rotations import Array, dense
from flexph.systems.inputs import Input

from . import start
from .conditions import check_system, refuse_dependent
from .dissipation import force_of
from .equations import Equations
from .layout import Layout, Split, layout_of, name_of, row_names
from .massless import refuse_undetermined
from .members import entries, named
from .probes import Independence, probes
from .start import Accelerations
from .terms import (
    Damper,
    Dissipation,
    ExternalPort,
    MatrixFunction,
    PositionConstraint,
    Potential,
    VelocityConstraint,
    at,
)


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class MultibodySystem:
    """``ζ̇ = Z(ζ)ϖ``, ``Mϖ̇ = −Zᵀ(∇V + c'ᵀλ) − τ_d − G(ζ, Mϖ)ϖ − Aᵀμ + B F``, ``0 = c(ζ)``, ``0 = A(ζ)ϖ``, ``y = Bᵀϖ``.

    [rigid] eq. (10) with F = −τ_ext, so that yᵀF is the power into the system. Positions ζ (n_pot,) may be redundant
    (rotations by their entries, quaternions, angles), velocities ϖ (n_kin,) are those in which M is constant. Then
    ``d/dt (½ϖᵀMϖ + V) = yᵀF − ϖᵀτ_d``.

    ``mass`` M (n_kin, n_kin), symmetric, positive semi-definite; ``kinematics`` Z (n_pot, n_kin), a function of ζ or
    constant, None for the identity; ``gyroscopic`` G(ζ, Γ) skew, Γ = Mϖ, or constant; ``potential`` a
    :class:`Potential`, or :class:`flexph.Invariants` of ζ (energy through quadratic invariants, which keeps momenta),
    or several, whose sum V is; ``parts`` and ``velocity_parts`` name positions and velocities. ``coordinates`` are
    conditions g(ζ) = 0 that Z keeps by itself, ``g'Z = 0`` where they hold (RᵀR = 1, |q| = 1): they have no
    multipliers, starts are checked against them. ``kinematics_mean`` is Z̄(ζ₀, ζ₁) over a step where Z in the middle
    will not do, ``Z̄(ζ, ζ) = Z(ζ)``: with ``δR = [R̄⁻ᵀω]× R̄`` for rotation matrices, the step turns as with
    ``R̄[ω]×``, and forces at points act with the levers that keep the momenta in the axes of the world, too.
    ``cautions`` are functions of ζ that say where the coordinates are near their limits, or None.

    ``sample`` are the positions at which, and around which, the conditions are checked here: shapes, finite, c' and ∇V
    against differences, p'Z against A and Bᵀ, G skew, ϖᵀτ_d ≥ 0, one rank of (c'Z, A). The others are reached from it
    by motions that the constraints allow, as long as ``spread`` times the size of the positions.

    A start is made by :meth:`state`, the equations by :meth:`phdae`. Raises ValueError, naming the defect.
    """

    mass: Array
    sample: Array
    kinematics: MatrixFunction | Array | None = None
    gyroscopic: Callable[[Array, Array], Array] | Array | None = None
    potential: Potential | Invariants | Sequence[Potential | Invariants] | None = None
    constraints: tuple[PositionConstraint, ...] = ()
    velocity_constraints: tuple[VelocityConstraint, ...] = ()
    dissipation: tuple[Damper | Dissipation, ...] = ()
    ports: Mapping[str, ExternalPort] = field(default_factory=dict)
    parts: Mapping[str, slice] = field(default_factory=dict)
    velocity_parts: Mapping[str, slice] = field(default_factory=dict)
    cautions: tuple[Callable[[Array], str | None], ...] = ()
    coordinates: tuple[PositionConstraint, ...] = ()
    kinematics_mean: Callable[[Array, Array], Array] | None = None
    spread: float = 0.1

    def __post_init__(self) -> None:
        n = check.two_dimensional("mass", self.mass)[0]
        object.__setattr__(self, "mass", check.array("mass", dense(self.mass), (n, n)))
        object.__setattr__(self, "sample", check.array("sample", self.sample, (None,)))
        if self.gyroscopic is not None and not callable(self.gyroscopic):
            object.__setattr__(self, "gyroscopic", check.array("gyroscopic", self.gyroscopic, (n, n)))
        for name in ("ports", "parts", "velocity_parts"):
            object.__setattr__(self, name, MappingProxyType(named(name, getattr(self, name))))
        for name in ("constraints", "velocity_constraints", "dissipation", "cautions", "coordinates"):
            object.__setattr__(self, name, entries(name, getattr(self, name)))
        check_system(self)

    def __repr__(self) -> str:
        names = [*(c.name for c in self.constraints), *(a.name for a in self.velocity_constraints)]
        held, ports = (", ".join(of) or "none" for of in (names, self.ports))
        sizes = f"{self.positions} positions, {self.velocities} velocities"
        return f"<MultibodySystem: {sizes}; constraints {held}; ports {ports}>"

    # --- verbs --------------------------------------------------------------------------------------------------------

    def phdae(self, start: Array | None = None) -> PHDAE:
        """The system as a :class:`flexph.PHDAE` with x = (ζ, ϖ, λ, μ), ``z = (∇V, ϖ, λ, μ)``, ``E = diag(1, M, 0, 0)``,

        ``J = [[0, Z, 0, 0], [−Zᵀ, −G, −Zᵀc'ᵀ, −Aᵀ], [0, c'Z, 0, 0], [0, A, 0, 0]]`` and R and B of the velocities.
        R is that of :func:`rigid.dissipation.resistance`. Its ``means`` are a discrete gradient pair, which
        :func:`flexph.integrate` takes: Z in the middle of the step, exact for rotation matrices and quaternions, which
        stay such to round-off; discrete Jacobians of constraints and positions, which do not drift;
        ``ΔH = work − dissipation``. Velocity constraints without a position hold in the middle, ``A(ζ̄)ϖ̄ = 0``.
        Multipliers, and massless velocities, are stage values: they belong to the middle of the step.

        Its parts are ``positions``, ``velocities``, ``lambda``, ``mu`` and those of the system by name (see
        :func:`rigid.layout.layout_of`). ``start`` (n,) is a state at which its conditions are checked.
        Raises ValueError where constraints follow from others: multipliers would not be determined; and where massless
        velocities are not, which neither constraints nor dampers nor potentials act on.
        """
        refuse_dependent(self)
        refuse_undetermined(self)
        if start is None:
            random = np.random.default_rng(0).uniform(-1.0, 1.0, self.velocities)
            start = np.concatenate([self.sample, random, np.zeros(self.layout.size - self.layout.velocities.stop)])
        return Equations(self).phdae(check.array("start", start, (self.layout.size,)))

    def state(
        self,
        positions: Sequence[float] | Array,
        velocities: Sequence[float] | Array,
        *,
        inputs: Mapping[str, Input] | None = None,
        time: float = 0.0,
    ) -> Array:
        """The consistent state x = (ζ, ϖ, λ, μ) with these positions and velocities, for :func:`flexph.integrate`.

        λ and μ are those of :meth:`accelerations` under the inputs (by port) at a time [s]. Raises ValueError, naming
        the constraint and its defect, unless c(ζ) = 0, c'Zϖ = 0, Aϖ = 0 and the conditions of the coordinates hold to
        1e-8 of their terms. A velocity constraint that is the rate of a position is kept at the position of the start.
        """
        return start.state(self, positions, velocities, inputs or {}, time)

    def nearest(self, positions: Sequence[float] | Array, velocities: Sequence[float] | Array) -> tuple[Array, Array]:
        """Consistent positions and velocities near given ones, for :meth:`state`.

        Positions move to the conditions of the coordinates by the least change, and along Zδ to the constraints with
        the least δᵀMδ (Newton's method); velocities change by the least kinetic energy. Raises ArithmeticError where
        no consistent positions are found.
        """
        return start.nearest(self, positions, velocities)

    def accelerations(
        self,
        positions: Sequence[float] | Array,
        velocities: Sequence[float] | Array,
        *,
        inputs: Mapping[str, Input] | None = None,
        time: float = 0.0,
    ) -> Accelerations:
        """ϖ̇ (n_kin,), λ (k,) and μ (l,) of [rigid] eq. (10) with the rates of its constraints.

        ``Mϖ̇ + Kᵀ(λ, μ) = f``, ``Kϖ̇ = −K̇ϖ`` with K = (c'Z, A), K̇ by differences along ζ̇ = Zϖ. What is not determined
        (multipliers of redundant constraints, massless velocities) is of least norm. Raises ValueError where forces on
        massless velocities do not balance.
        """
        zeta = check.array("positions", positions, (self.positions,))
        omega = check.array("velocities", velocities, (self.velocities,))
        return start.accelerations(self, zeta, omega, inputs or {}, time)

    def split(self, x: Array) -> Split:
        """ζ, ϖ, λ and μ of one state (n,) or of many (…, n)."""
        return self.layout.split(np.asarray(x))

    # --- sizes and names ----------------------------------------------------------------------------------------------

    @property
    def positions(self) -> int:
        """n_pot."""
        return len(self.sample)

    @property
    def velocities(self) -> int:
        """n_kin."""
        return len(self.mass)

    @cached_property
    def layout(self) -> Layout:
        """Where ζ, ϖ, λ and μ stand in x."""
        return layout_of(self)

    @cached_property
    def port_slices(self) -> dict[str, slice]:
        """The columns of B by port."""
        widths = [at(p.matrix, self.sample).shape[1] for p in self.ports.values()]
        ends = np.cumsum(widths).tolist()
        return {name: slice(end - w, end) for name, end, w in zip(self.ports, ends, widths, strict=True)}

    @cached_property
    def constraint_names(self) -> tuple[str, ...]:
        """Names of the rows of (c'Z, A)."""
        return row_names(self)

    def velocity_name(self, index: int) -> str:
        """What a velocity is called."""
        return name_of(self.velocity_parts, index, "velocity")

    @cached_property
    def potentials(self) -> tuple[Potential | Invariants, ...]:
        """The potentials whose sum V is."""
        given = self.potential
        if given is None:
            return ()
        wanted = "a Potential(energy, gradient), Invariants, or a tuple or list of them"
        return (given,) if isinstance(given, Potential | Invariants) else entries("potential", given, wanted)

    @property
    def all_cautions(self) -> tuple[Callable[[Array], str | None], ...]:
        """Those of the system, and that its constraints lose rank."""
        return (*self.cautions, self.independence.caution) if self.constraint_names else self.cautions

    @cached_property
    def independence(self) -> Independence:
        """Which of its constraints are independent."""
        return Independence(self, probes(self, np.random.default_rng(0)))

    @cached_property
    def massless(self) -> Array:
        """An orthonormal basis of ker M (n_kin, j)."""
        unit, kernel = self._scaled_mass
        return np.linalg.qr(kernel / unit[:, None])[0]

    @cached_property
    def completed_mass(self) -> Array:
        """M, made positive definite by a mass of its own size along its kernel."""
        unit, kernel = self._scaled_mass
        sized = unit[:, None] * kernel
        made: Array = self.mass + sized @ sized.T
        return made

    @cached_property
    def _scaled_mass(self) -> tuple[Array, Array]:
        """Units in which M has a unit diagonal, and its kernel in them."""
        diagonal = np.diag(self.mass)
        unit = np.sqrt(np.where(diagonal > 0.0, diagonal, diagonal.max(initial=0.0) or 1.0))
        values, vectors = np.linalg.eigh(self.mass / unit / unit[:, None])
        return unit, vectors[:, values <= check.ROUND_OFF * len(values)]

    # --- functions ----------------------------------------------------------------------------------------------------

    def Z(self, zeta: Array) -> Array:
        """Kinematic matrix (n_pot, n_kin)."""
        return np.eye(self.velocities) if self.kinematics is None else at(self.kinematics, zeta)

    def Z_mean(self, zeta0: Array, zeta1: Array) -> Array:
        """Z̄ over a step: its own mean, or Z in the middle."""
        if self.kinematics_mean is None:
            return self.Z(0.5 * (zeta0 + zeta1))
        return np.asarray(self.kinematics_mean(zeta0, zeta1), dtype=float)

    def G(self, zeta: Array, momenta: Array) -> Array:
        """Gyroscopic matrix (n_kin, n_kin), skew."""
        if callable(self.gyroscopic):
            return self.gyroscopic(zeta, momenta)
        return np.zeros_like(self.mass) if self.gyroscopic is None else self.gyroscopic

    def c(self, zeta: Array) -> Array:
        """Position constraints (k,)."""
        return np.concatenate([np.zeros(0), *(c.map.value(zeta) for c in self.constraints)])

    def c_jacobian(self, zeta: Array) -> Array:
        """c'(ζ) (k, n_pot)."""
        return np.vstack([np.zeros((0, self.positions)), *(c.map.jacobian(zeta) for c in self.constraints)])

    def A(self, zeta: Array) -> Array:
        """Velocity constraints (l, n_kin)."""
        return np.vstack([np.zeros((0, self.velocities)), *(at(a.matrix, zeta) for a in self.velocity_constraints)])

    def constraint_rows(self, zeta: Array) -> Array:
        """The joint velocity constraints (c'Z, A) (k + l, n_kin)."""
        return np.vstack([self.c_jacobian(zeta) @ self.Z(zeta), self.A(zeta)])

    def B(self, zeta: Array) -> Array:
        """Directions of all ports side by side (n_kin, m)."""
        return np.hstack([np.zeros((self.velocities, 0)), *(at(p.matrix, zeta) for p in self.ports.values())])

    def V(self, zeta: Array) -> float:
        """Potential energy [J]."""
        return sum(
            (float(p.energy(p.values(zeta) if isinstance(p, Invariants) else zeta)) for p in self.potentials), 0.0
        )

    def V_gradient(self, zeta: Array) -> Array:
        """∇V (n_pot,)."""
        made = np.zeros(self.positions)
        for p in self.potentials:
            made += p.jacobian(zeta).T @ p.gradient(p.values(zeta)) if isinstance(p, Invariants) else p.gradient(zeta)
        return made

    def tau_d(self, zeta: Array, omega: Array) -> Array:
        """Dissipative forces τ_d (n_kin,) with ϖᵀτ_d ≥ 0; raises ValueError, naming a term that generates energy."""
        made = np.zeros(self.velocities)
        for term in self.dissipation:
            made += force_of(term, zeta, omega)
        return made

    def energy(self, zeta: Array, omega: Array) -> float:
        """½ϖᵀMϖ + V(ζ) [J]."""
        return 0.5 * float(omega @ self.mass @ omega) + self.V(zeta)
