"""Data of a multibody system in redundant coordinates ([rigid] sec. 4), and the layout of its states.

Symbols as in :class:`rigid.MultibodySystem`: positions ζ and velocities ϖ with ζ̇ = Z ϖ, momenta Γ = Mϖ, gyroscopic
matrix G, potential V, position constraints c(ζ) = 0 with multipliers λ, velocity constraints A ϖ = 0 with multipliers
μ, input matrix B.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from flexph.numerics import checks as check
from flexph.numerics.arrays import Array, dense
from flexph.numerics.memo import Memo, PickledByCall, once, read_only
from flexph.systems.discrete_gradients import Invariants
from flexph.systems.nonlinear import Terms

from .matrix_functions import MatrixFunction, at
from .terms import (
    Damper,
    Dissipation,
    ExternalPort,
    PositionConstraint,
    Potential,
    VelocityConstraint,
    entries,
    force_of,
    named,
)

WHOLE = ("positions", "velocities", "lambda", "mu")
"""Names of the parts of every system."""


class Split(NamedTuple):
    """Positions ζ (…, n_pot), velocities ϖ (…, n_kin), multipliers λ (…, k) and μ (…, l) of states."""

    positions: Array
    velocities: Array
    lam: Array
    mu: Array


@dataclass(frozen=True, eq=False)
class Layout:
    """Slices of ζ, ϖ, λ and μ in x (size,), and slices of all named parts."""

    positions: slice
    velocities: slice
    lam: slice
    mu: slice
    parts: Mapping[str, slice]

    @property
    def size(self) -> int:
        """Number of states."""
        return int(self.mu.stop)

    def split(self, x: Array) -> Split:
        """Split one state (n,) or many (…, n) into ζ, ϖ, λ and μ."""
        return Split(*(x[..., part] for part in (self.positions, self.velocities, self.lam, self.mu)))


def lay_out(
    widths: Sequence[int], parts: Mapping[str, slice], velocity_parts: Mapping[str, slice], rows: Mapping[str, int]
) -> Layout:
    """Layout of states x = (ζ, ϖ, λ, μ), whose lengths are the four ``widths``.

    Parts are ``positions``, ``velocities``, ``lambda`` and ``mu``, then the named parts of the positions, those of the
    velocities (``velocities of …`` if a part of the positions has the same name), and the multipliers of each
    constraint, ``multipliers of …``. ``rows`` are the numbers of rows by constraint, in the order of the rows of (c'Z,
    A).
    """
    ends = [sum(widths[: i + 1]) for i in range(4)]
    whole = [slice(end - width, end) for end, width in zip(ends, widths, strict=True)]
    names = dict(zip(WHOLE, whole, strict=True)) | dict(parts)
    for name, part in velocity_parts.items():
        names[f"velocities of {name}" if name in parts else name] = _moved(part, ends[0])
    at = ends[1]
    for name, count in rows.items():
        names[f"multipliers of {name}"] = slice(at, at + count)
        at += count
    return Layout(whole[0], whole[1], whole[2], whole[3], names)


def _moved(part: slice, by: int) -> slice:
    return slice((part.start or 0) + by, part.stop + by)


def row_labels(constraint: PositionConstraint | VelocityConstraint, sample: Array) -> list[str]:
    """Names of the rows of a constraint; their number comes from an evaluation at ``sample``."""
    if isinstance(constraint, PositionConstraint):
        count = len(constraint.map.value(sample))
    else:
        matrix = constraint.matrix
        count = len(matrix(sample) if callable(matrix) else matrix)
    return [repr(constraint.name)] if count == 1 else [f"{constraint.name!r}[{i}]" for i in range(count)]


def name_of(parts: Mapping[str, slice], index: int, kind: str) -> str:
    """Name of an entry by the smallest part that contains it; ``kind`` and ``index`` if no part does."""
    narrowest = None
    for name, part in parts.items():
        start, width = part.start or 0, part.stop - (part.start or 0)
        if start <= index < part.stop and (narrowest is None or width < narrowest[1]):
            narrowest = (name if width == 1 else f"{name}[{index - start}]", width)
    return f"{kind} {index}" if narrowest is None else narrowest[0]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class SystemModel(Memo, PickledByCall):
    """Members of a multibody system, its sizes and names, and its functions of positions and velocities.

    Symbols follow :class:`rigid.MultibodySystem`, which documents the members.
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
    terms: Terms | None = None
    spread: float = 0.1

    def __post_init__(self) -> None:
        n = check.two_dimensional("mass", self.mass)[0]
        object.__setattr__(self, "mass", check.array("mass", dense(self.mass), (n, n)))
        object.__setattr__(self, "sample", check.array("sample", self.sample, (None,)))
        if self.gyroscopic is not None and not callable(self.gyroscopic):
            object.__setattr__(self, "gyroscopic", check.array("gyroscopic", self.gyroscopic, (n, n)))
        for name in ("ports", "parts", "velocity_parts"):
            object.__setattr__(self, name, read_only(named(name, getattr(self, name))))
        for name in ("constraints", "velocity_constraints", "dissipation", "cautions", "coordinates"):
            object.__setattr__(self, name, entries(name, getattr(self, name)))

    # --- sizes and names ----------------------------------------------------------------------------------------------

    @property
    def positions(self) -> int:
        """Number n_pot of positions."""
        return len(self.sample)

    @property
    def velocities(self) -> int:
        """Number n_kin of velocities."""
        return len(self.mass)

    @once
    def layout(self) -> Layout:
        """Layout of ζ, ϖ, λ and μ in x."""
        rows = {c.name: len(row_labels(c, self.sample)) for c in self._constraints_by_row}
        widths = (self.positions, self.velocities, len(self.c(self.sample)), len(self.A(self.sample)))
        return lay_out(widths, self.parts, self.velocity_parts, rows)

    @once
    def port_slices(self) -> dict[str, slice]:
        """Columns of B by port."""
        widths = [at(p.matrix, self.sample).shape[1] for p in self.ports.values()]
        ends = np.cumsum(widths).tolist()
        return {name: slice(end - w, end) for name, end, w in zip(self.ports, ends, widths, strict=True)}

    @once
    def constraint_names(self) -> tuple[str, ...]:
        """Names of the rows of (c'Z, A)."""
        return tuple(row for c in self._constraints_by_row for row in row_labels(c, self.sample))

    @property
    def _constraints_by_row(self) -> list[PositionConstraint | VelocityConstraint]:
        """Position and velocity constraints, in the order of their rows in (c'Z, A)."""
        return [*self.constraints, *self.velocity_constraints]

    def velocity_name(self, index: int) -> str:
        """Name of a velocity."""
        return name_of(self.velocity_parts, index, "velocity")

    @once
    def potentials(self) -> tuple[Potential | Invariants, ...]:
        """Tuple of the potentials whose sum is V."""
        given = self.potential
        if given is None:
            return ()
        wanted = "a Potential(energy, gradient), Invariants, or a tuple or list of them"
        return (given,) if isinstance(given, Potential | Invariants) else entries("potential", given, wanted)

    @once
    def massless(self) -> Array:
        """Orthonormal basis of ker M (n_kin, j)."""
        unit, kernel = self._scaled_mass
        return np.linalg.qr(kernel / unit[:, None])[0]

    @once
    def completed_mass(self) -> Array:
        """Mass matrix M with masses added along its kernel, so that it is positive definite.

        In units in which M has a unit diagonal, these masses are 1.
        """
        unit, kernel = self._scaled_mass
        sized = unit[:, None] * kernel
        return self.mass + sized @ sized.T

    @once
    def _scaled_mass(self) -> tuple[Array, Array]:
        """Units (n_kin,) in which M has a unit diagonal, and a basis of its kernel in these units."""
        diagonal = np.diag(self.mass)
        unit = np.sqrt(np.where(diagonal > 0.0, diagonal, diagonal.max(initial=0.0) or 1.0))
        values, vectors = np.linalg.eigh(self.mass / unit / unit[:, None])
        return unit, vectors[:, values <= check.ROUND_OFF * len(values)]

    # --- functions ----------------------------------------------------------------------------------------------------

    def Z(self, zeta: Array) -> Array:
        """Kinematic matrix (n_pot, n_kin)."""
        return np.eye(self.velocities) if self.kinematics is None else at(self.kinematics, zeta)

    def Z_mean(self, zeta0: Array, zeta1: Array) -> Array:
        """Mean Z̄ of the kinematic matrix over a step: the user's ``kinematics_mean``, or Z at the midpoint."""
        if self.kinematics_mean is None:
            return self.Z(0.5 * (zeta0 + zeta1))
        return np.asarray(self.kinematics_mean(zeta0, zeta1), dtype=float)

    def G(self, zeta: Array, momenta: Array) -> Array:
        """Gyroscopic matrix (n_kin, n_kin), skew."""
        if callable(self.gyroscopic):
            return self.gyroscopic(zeta, momenta)
        return np.zeros_like(self.mass) if self.gyroscopic is None else self.gyroscopic

    def c(self, zeta: Array) -> Array:
        """Residuals c(ζ) (k,) of all position constraints."""
        return np.concatenate([np.zeros(0), *(c.map.value(zeta) for c in self.constraints)])

    def c_jacobian(self, zeta: Array) -> Array:
        """Jacobian c'(ζ) (k, n_pot)."""
        return np.vstack([np.zeros((0, self.positions)), *(c.map.jacobian(zeta) for c in self.constraints)])

    def A(self, zeta: Array) -> Array:
        """Matrix A(ζ) (l, n_kin) of all velocity constraints."""
        return np.vstack([np.zeros((0, self.velocities)), *(at(a.matrix, zeta) for a in self.velocity_constraints)])

    def constraint_rows(self, zeta: Array, Z: Array | None = None) -> Array:
        """Matrix (c'Z, A) (k + l, n_kin) of all constraints on velocities; a given Z(ζ) is not evaluated again."""
        return np.vstack([self.c_jacobian(zeta) @ (self.Z(zeta) if Z is None else Z), self.A(zeta)])

    def B(self, zeta: Array) -> Array:
        """Input matrix of all ports (n_kin, m)."""
        return np.hstack([np.zeros((self.velocities, 0)), *(at(p.matrix, zeta) for p in self.ports.values())])

    def V(self, zeta: Array) -> float:
        """Potential energy [J]."""
        return sum(
            (float(p.energy(p.values(zeta) if isinstance(p, Invariants) else zeta)) for p in self.potentials), 0.0
        )

    def V_gradient(self, zeta: Array) -> Array:
        """Gradient ∇V (n_pot,)."""
        gradient = np.zeros(self.positions)
        for p in self.potentials:
            gradient += (
                p.jacobian(zeta).T @ p.gradient(p.values(zeta)) if isinstance(p, Invariants) else p.gradient(zeta)
            )
        return gradient

    def tau_d(self, zeta: Array, omega: Array) -> Array:
        """Dissipative forces τ_d (n_kin,), ϖᵀτ_d ≥ 0; raises ValueError for a term that generates energy."""
        forces = np.zeros(self.velocities)
        for term in self.dissipation:
            forces += force_of(term, zeta, omega)
        return forces

    def energy(self, zeta: Array, omega: Array) -> float:
        """Energy ½ϖᵀMϖ + V(ζ) [J]."""
        return 0.5 * float(omega @ self.mass @ omega) + self.V(zeta)
