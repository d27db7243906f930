"""Dirac structures and Lagrangian subspaces ([rigid] definitions 3-5, [survey] sec. 3.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
from scipy.linalg import subspace_angles

from . import checks as check
from .space import Array

RANK = 1e-10
"""Singular value over the largest one, of rows scaled to length 1, below which a row depends on others."""
MEMBER = 1e-10
"""Relative residual of the equations up to which a vector counts as a member of a subspace."""
Values = Array | Mapping[str, Array]


@dataclass(frozen=True, eq=False)
class DiracStructure:
    """``D = {(f, e) : F f + E e = 0}``, ``F Eᵀ + E Fᵀ = 0``, ``rank [F E] = n`` ([survey] eq. (3.1)-(3.4)).

    F, E (n, n) act on flows f and efforts e (n,); fᵀe = 0 for all members, and D is as large as that allows: it is its
    own orthogonal complement under ⟨f₁, e₂⟩ + ⟨f₂, e₁⟩ ([rigid] definition 3). ``ports`` name the entries of f and e,
    each of them once. Other forms come in by :meth:`from_image`, :meth:`from_skew` and :meth:`constrained`. Matrices of
    one state are a member of a modulated structure ([rigid] definition 4): a function of the state that returns a
    :class:`DiracStructure` is the whole family.

    Raises ValueError, with the defect, where power is not conserved or the rank is less than n.
    """

    F: Array
    E: Array
    ports: Mapping[str, slice] = field(default_factory=dict)

    def __post_init__(self) -> None:
        n = check.two_dimensional("F", self.F)[0]
        for name in "FE":
            object.__setattr__(self, name, check.array(name, getattr(self, name), (n, n)))
        check.spans("ports", self.ports, "flows and efforts")
        covered = sorted(i for s in self.ports.values() for i in range(s.start or 0, s.stop))
        if self.ports and covered != list(range(n)):
            raise ValueError(f"ports must cover the {n} flows and efforts once each, got {covered}")
        object.__setattr__(self, "ports", MappingProxyType(dict(self.ports)))
        rows = _unit_rows(np.hstack([self.F, self.E]))
        power = rows[:, :n] @ rows[:, n:].T
        defect = check.norm(power + power.T)
        if defect > check.ROUND_OFF * max(n, 1):
            raise ValueError(f"a Dirac structure conserves power: ‖F Eᵀ + E Fᵀ‖ = {defect:.0e} (rows of length 1)")
        rank = _rank(rows)
        if rank < n:
            raise ValueError(f"a Dirac structure is maximal: rank [F E] = {rank}, it must be {n}")

    @classmethod
    def from_image(cls, flows: Array, efforts: Array, ports: Mapping[str, slice] | None = None) -> DiracStructure:
        """``D = {(K λ, L λ)}`` with K, L (n, n): F = Lᵀ, E = Kᵀ."""
        return cls(np.asarray(efforts).T, np.asarray(flows).T, ports or {})

    @classmethod
    def from_skew(cls, J: Array, ports: Mapping[str, slice] | None = None) -> DiracStructure:
        """``D = {(f, e) : f = J e}``, J = −Jᵀ: flows are outputs, efforts inputs."""
        return cls(np.eye(len(J)), -np.asarray(J), ports or {})

    @property
    def size(self) -> int:
        """n, the number of flows, and of efforts."""
        return len(self.F)

    def image(self) -> tuple[Array, Array]:
        """K = Eᵀ and L = Fᵀ with ``D = {(K λ, L λ)}`` ([survey] eq. (3.3))."""
        return self.E.T.copy(), self.F.T.copy()

    def defect(self, flows: Values, efforts: Values) -> float:
        """Largest residual of the rows of F f + E e = 0, relative to the size of what is summed in them.

        f and e are arrays (n,) or mappings of port names to arrays. Zero for members, whatever the units; about one
        for others.
        """
        f, e = self._whole("flows", flows), self._whole("efforts", efforts)
        size_f, size_e = (self._sizes(v) for v in (f, e))
        return _relative(self.F @ f + self.E @ e, np.abs(self.F) @ size_f + np.abs(self.E) @ size_e)

    def contains(self, flows: Values, efforts: Values, *, tolerance: float = MEMBER) -> bool:
        """Whether (f, e) ∈ D: :meth:`defect` up to a tolerance."""
        return self.defect(flows, efforts) <= tolerance

    def constrained(self, rows: Array) -> DiracStructure:
        """``{(f, e) : C e = 0, ∃μ : (f + Cᵀμ, e) ∈ D}`` with ``rows`` C (l, n): again Dirac ([rigid] proposition 4).

        μ is eliminated: the rows of [F E] are taken in an annihilator of F Cᵀ, and C in independent rows. As a function
        of the state it is continuous where the rank of C on D is constant ([rigid] remark 5).
        """
        c = _independent(check.array("rows", rows, (None, self.size)))
        own = _unit_rows(np.hstack([self.F, self.E]))
        kept = _annihilator(own[:, : self.size] @ c.T) @ own
        F = np.vstack([kept[:, : self.size], np.zeros_like(c)])
        E = np.vstack([kept[:, self.size :], c])
        if len(F) > self.size:  # some of C holds on D anyway
            both = _independent(np.hstack([F, E]))
            F, E = both[:, : self.size], both[:, self.size :]
        return DiracStructure(F, E, self.ports)

    def angles(self, other: DiracStructure) -> Array:
        """Principal angles (n,) to another structure of the same size [rad], largest first; all zero if it is the same.

        Flows and efforts count with the numbers they have: angles depend on their units.
        """
        return _angles(np.vstack(self.image()), np.vstack(other.image()))

    def distance(self, other: DiracStructure) -> float:
        """The largest of the principal angles [rad]."""
        return float(self.angles(other).max(initial=0.0))

    def _whole(self, name: str, values: Values) -> Array:
        if not isinstance(values, Mapping):
            return check.array(name, values, (self.size,))
        made = np.zeros(self.size)
        for port in values:
            check.lookup("port", port, self.ports)
        for port, span in self.ports.items():
            made[span] = check.lookup(f"{name} of port", port, values)
        return made

    def _sizes(self, values: Array) -> Array:
        """Each entry as large as the largest of its port: those share a unit."""
        made = np.abs(values)
        for span in self.ports.values():
            made[span] = made[span].max(initial=0.0)
        return made


@dataclass(frozen=True, eq=False)
class LagrangianSubspace:
    """``L = {(P a, S a)} ⊂ ℝⁿ × ℝⁿ``, ``Pᵀ S = Sᵀ P``, ``rank [P; S] = n``: tangent space of a Lagrangian submanifold.

    P, S (n, n). v₁ᵀw₂ − w₁ᵀv₂ = 0 for all members v, w, and L is as large as that allows ([rigid] definition 5).
    Raises ValueError, with the defect, where it is not.
    """

    P: Array
    S: Array

    def __post_init__(self) -> None:
        n = check.two_dimensional("P", self.P)[0]
        for name in "PS":
            object.__setattr__(self, name, check.array(name, getattr(self, name), (n, n)))
        columns = _unit_columns(np.vstack([self.P, self.S]))
        form = columns[:n].T @ columns[n:]
        defect = check.norm(form - form.T)
        if defect > check.ROUND_OFF * max(n, 1):
            raise ValueError(f"a Lagrangian subspace is symplectic: ‖PᵀS − SᵀP‖ = {defect:.0e} (columns of length 1)")
        rank = _rank(columns.T)
        if rank < n:
            raise ValueError(f"a Lagrangian subspace is maximal: rank [P; S] = {rank}, it must be {n}")

    @property
    def size(self) -> int:
        """n."""
        return len(self.P)

    def defect(self, first: Array, second: Array) -> float:
        """Largest residual of ``Sᵀv₁ − Pᵀv₂ = 0``, the equations of L, relative to the size of what is summed."""
        v, w = check.array("first", first, (self.size,)), check.array("second", second, (self.size,))
        scale = np.abs(self.S.T) @ np.abs(v) + np.abs(self.P.T) @ np.abs(w)
        return _relative(self.S.T @ v - self.P.T @ w, scale)

    def contains(self, first: Array, second: Array, *, tolerance: float = MEMBER) -> bool:
        """Whether (v₁, v₂) ∈ L."""
        return self.defect(first, second) <= tolerance

    def angles(self, other: LagrangianSubspace) -> Array:
        """Principal angles (n,) to another subspace of the same size [rad], largest first."""
        return _angles(np.vstack([self.P, self.S]), np.vstack([other.P, other.S]))

    def distance(self, other: LagrangianSubspace) -> float:
        """The largest of the principal angles [rad]."""
        return float(self.angles(other).max(initial=0.0))


def _relative(residual: Array, scale: Array) -> float:
    return float(np.max(np.abs(residual) / np.where(scale > 0.0, scale, 1.0), initial=0.0))


def _angles(one: Array, other: Array) -> Array:
    if one.shape != other.shape:
        raise ValueError(f"subspaces to compare must have the same size: n is {one.shape[1]} and {other.shape[1]}")
    return np.asarray(subspace_angles(one, other)) if one.size else np.zeros(0)


def _unit_rows(matrix: Array) -> Array:
    size = np.linalg.norm(matrix, axis=1, keepdims=True)
    made: Array = matrix / np.where(size > 0.0, size, 1.0)
    return made


def _unit_columns(matrix: Array) -> Array:
    return _unit_rows(matrix.T).T


def _rank(rows: Array) -> int:
    values = np.linalg.svd(rows, compute_uv=False)
    return int(np.sum(values > RANK * max(values.max(initial=0.0), 1e-300)))


def _independent(rows: Array) -> Array:
    """Orthonormal rows with the same row space."""
    if not rows.size:
        return np.zeros((0, rows.shape[1]))
    _, values, vt = np.linalg.svd(_unit_rows(rows), full_matrices=False)
    made: Array = vt[values > RANK * max(values[0], 1e-300)]
    return made


def _annihilator(columns: Array) -> Array:
    """Orthonormal rows P, as many as there are, with P C = 0; where C has zero rows, those of the unit matrix."""
    touched = np.abs(columns).max(axis=1, initial=0.0) > RANK
    u, values, _ = np.linalg.svd(columns[touched])
    inner = u[:, int(np.sum(values > RANK)) :].T
    made = np.zeros((int(np.sum(~touched)) + len(inner), len(columns)))
    made[: len(inner), touched] = inner
    made[len(inner) :, ~touched] = np.eye(int(np.sum(~touched)))
    return made
