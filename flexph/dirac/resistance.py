"""What terminates a resistive port ([survey] sec. 2.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import checks as check
from ..relations import Relation
from ..space import Array
from .subspaces import RANK, rank_of, unit_rows


@dataclass(frozen=True, eq=False)
class LinearResistance:
    """``R_f f + R_e e = 0``, ``R_f R_eᵀ = R_e R_fᵀ ⪰ 0``, ``rank [R_f R_e] = m`` ([survey] eq. (2.10)-(2.12)).

    Then ``f = R_eᵀ λ, e = −R_fᵀ λ`` and eᵀf = −λᵀ R_f R_eᵀ λ ≤ 0: nothing is generated. With R_f = 1 it is
    ``f = −R e`` (:meth:`of_efforts`), with R_e = 1 ``e = −R f`` (:meth:`of_flows`); R_f = 0 is e = 0, a short circuit
    of a port whose effort is a voltage, and R_e = 0 is f = 0. Raises ValueError, with the defect, where it is not.
    """

    flow: Array
    effort: Array

    def __post_init__(self) -> None:
        m = check.two_dimensional("R_f", self.flow)[0]
        rows = unit_rows(np.hstack([check.array(n, a, (m, m)) for n, a in (("R_f", self.flow), ("R_e", self.effort))]))
        object.__setattr__(self, "flow", rows[:, :m])
        object.__setattr__(self, "effort", rows[:, m:])
        product = self.flow @ self.effort.T
        check.symmetric("R_f R_eᵀ", product)
        check.semi_definite("R_f R_eᵀ", 0.5 * (product + product.T))
        if rank_of(rows) < m:
            raise ValueError(f"a resistive relation has as many equations as ports: rank [R_f R_e] = {rank_of(rows)}, "
                             f"it must be {m}")  # fmt: skip

    @classmethod
    def of_efforts(cls, resistance: Any) -> LinearResistance:
        """``f = −R e``, R = Rᵀ ⪰ 0, a number or (m, m) ([survey] eq. (2.19)): of forces f and speeds e."""
        r = np.atleast_2d(np.asarray(resistance, dtype=float))
        return cls(np.eye(len(r)), r)

    @classmethod
    def of_flows(cls, resistance: Any) -> LinearResistance:
        """``e = −R f``, R = Rᵀ ⪰ 0, a number or (m, m): of voltages e and currents f."""
        r = np.atleast_2d(np.asarray(resistance, dtype=float))
        return cls(r, np.eye(len(r)))

    @property
    def size(self) -> int:
        """m."""
        return len(self.flow)

    @property
    def admits_efforts(self) -> bool:
        """Whether every effort is possible: R_f is invertible."""
        return not self.size or bool(np.linalg.svd(self.flow, compute_uv=False)[-1] > RANK)

    def matrix_of_efforts(self) -> Array:
        """R of ``f = −R e``; raises ValueError where not every effort is possible."""
        if not self.admits_efforts:
            raise ValueError("R_f must be invertible where every effort is to be possible, it is singular")
        made = np.linalg.solve(self.flow, self.effort)
        return 0.5 * (made + made.T)

    def image(self) -> tuple[Array, Array]:
        """T (m, r) and D (r, r) ⪰ 0 with e = T a and ``Tᵀf = −D a``, r = rank R_f: of the efforts that there can be."""
        u, values, _ = np.linalg.svd(self.flow)
        kept = u[:, values > RANK]
        loss = kept.T @ self.flow @ self.effort.T @ kept
        return -self.flow.T @ kept, 0.5 * (loss + loss.T)


@dataclass(frozen=True)
class Characteristic:
    """``f_i = −ρ_i(e_i)``, e ρ(e) ≥ 0, entry by entry ([survey] eq. (2.17)-(2.18)), relations as of friction."""

    relations: tuple[Relation, ...]

    def __post_init__(self) -> None:
        for r in self.relations:
            if not isinstance(r, Relation):
                raise ValueError(f"relations must be of flexph.viscous, quadratic, coulomb or resistive, got {r!r}")
        object.__setattr__(self, "relations", tuple(self.relations))

    @property
    def size(self) -> int:
        """m."""
        return len(self.relations)

    @property
    def admits_efforts(self) -> bool:
        """Whether every effort is possible."""
        return True

    def matrix(self, efforts: Array) -> Array:
        """The diagonal ρ_i(e_i)/e_i (m, m), with which f = −R(e) e."""
        return np.diag([float(r.resistance(e)) for r, e in zip(self.relations, efforts, strict=True)])


Resistance = LinearResistance | Characteristic


def resistance_of(name: str, given: Any, size: int) -> Resistance:
    """What a user gives for a resistive port: a number or matrix R of f = −R e, relations, or one of both kinds."""
    if isinstance(given, Relation):
        given = (given,)
    if isinstance(given, Sequence) and given and all(isinstance(g, Relation) for g in given):
        given = Characteristic(tuple(given))
    if not isinstance(given, LinearResistance | Characteristic):
        matrix = np.asarray(check.array(f"resistance of {name!r}", np.atleast_2d(given), (None, None)))
        if matrix.shape == (1, 1) and size > 1:
            matrix = matrix[0, 0] * np.eye(size)
        given = LinearResistance.of_efforts(matrix)
    if given.size != size:
        raise ValueError(f"the resistance of {name!r} must have {size} entries, got {given.size}")
    return given
