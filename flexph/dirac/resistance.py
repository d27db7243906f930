"""Resistances that terminate a port: general, linear and modulated ones ([survey] sec. 2.3)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.factors.signature import check_semi_definite
from ..numerics.memo import Memo, once
from ..numerics.ranks import singular_vectors
from ..numerics.subspaces import RANK, rank_of, unit_rows

Control = Literal["effort", "flow"]


class Resistance(ABC):
    """Relation of the flows f and efforts e (m,) of a port with eᵀf ≤ 0 at every state x ([survey] eq. (2.8)-(2.9)).

    ``f = −(R + S) e`` with R = Rᵀ ⪰ 0, S = −Sᵀ depending on x and e (:meth:`matrices`); if not every effort is
    possible, ``e = T a`` and ``Tᵀf = −(D + S) a`` (:meth:`admitted`, :meth:`reduced`). With ``controlled = "flow"``
    flows and efforts are exchanged in all of this.
    """

    controlled: Control = "effort"
    is_constant: bool = False
    """True if R and S depend on neither state nor efforts."""
    is_reciprocal: bool = True
    """True if S = 0 at every state and effort."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Number m of entries."""

    @property
    def admits_efforts(self) -> bool:
        """True if every effort (for a flow-controlled relation every flow) is possible."""
        return True

    @property
    def coordinates(self) -> int:
        """Number r of coordinates a of the possible efforts."""
        return self.size

    @abstractmethod
    def matrices(self, x: Array, efforts: Array) -> tuple[Array, Array]:
        """Matrices R ⪰ 0 and S = −Sᵀ (m, m) of ``f = −(R + S) e`` at a state and efforts (m,)."""

    def admitted(self, x: Array) -> Array:
        """Basis T (m, r) of the possible efforts ``e = T a`` at a state."""
        return np.eye(self.size)

    def reduced(self, x: Array, coordinates: Array) -> tuple[Array, Array]:
        """Matrices D ⪰ 0 and S = −Sᵀ (r, r) of ``Tᵀf = −(D + S) a`` in the coordinates a of possible efforts."""
        return self.matrices(x, coordinates)


@checked
@dataclass(frozen=True, eq=False)
class LinearResistance(Memo, Resistance):
    """Relation ``R_f f + R_e e = 0``, ``R_f R_eᵀ = R_e R_fᵀ ⪰ 0``, ``rank [R_f R_e] = m`` ([survey] (2.10)-(2.12)).

    Then ``f = R_eᵀ λ, e = −R_fᵀ λ`` and eᵀf = −λᵀ R_f R_eᵀ λ ≤ 0: no power is generated. R_f = 1 gives ``f = −R e``
    (:meth:`of_efforts`), R_e = 1 gives ``e = −R f`` (:meth:`of_flows`); R_f = 0 means e = 0, a short circuit of a port
    whose effort is a voltage, and R_e = 0 means f = 0.

    Parameters
    ----------
    flow : array_like
        R_f (m, m).
    effort : array_like
        R_e (m, m).

    Raises
    ------
    ValueError
        If a condition fails; the message has the defect.
    """

    flow: Array
    effort: Array
    is_constant = True

    def __post_init__(self) -> None:
        m = check.two_dimensional("R_f", self.flow)[0]
        rows = unit_rows(np.hstack([check.array(n, a, (m, m)) for n, a in (("R_f", self.flow), ("R_e", self.effort))]))
        object.__setattr__(self, "flow", rows[:, :m])
        object.__setattr__(self, "effort", rows[:, m:])
        product = self.flow @ self.effort.T
        check.symmetric("R_f R_eᵀ", product)
        check_semi_definite("R_f R_eᵀ", 0.5 * (product + product.T))
        if rank_of(rows) < m:
            raise ValueError(f"a resistive relation has as many equations as ports: rank [R_f R_e] = {rank_of(rows)}, "
                             f"it must be {m}")  # fmt: skip

    @classmethod
    @checked
    def of_efforts(cls, resistance: Any) -> LinearResistance:
        """Relation ``f = −R e``, R = Rᵀ ⪰ 0, a number or (m, m) ([survey] (2.19)), e.g. of forces f and speeds e."""
        r = np.atleast_2d(check.numbers("resistance", resistance))
        return cls(np.eye(len(r)), r)

    @classmethod
    @checked
    def of_flows(cls, resistance: Any) -> LinearResistance:
        """Relation ``e = −R f``, R = Rᵀ ⪰ 0, a number or (m, m), e.g. of voltages e and currents f."""
        r = np.atleast_2d(check.numbers("resistance", resistance))
        return cls(r, np.eye(len(r)))

    @property
    def size(self) -> int:
        """Number m of entries."""
        return len(self.flow)

    @property
    def admits_efforts(self) -> bool:
        """True if every effort is possible, that is, R_f is invertible."""
        return self.coordinates == self.size

    @property
    def coordinates(self) -> int:
        """Number of coordinates, r = rank R_f."""
        return self.directions.shape[1]

    @once
    def directions(self) -> Array:
        """Orthonormal columns K (m, r) of im R_f."""
        return singular_vectors(self.flow, tolerance=RANK, size=1.0).range

    def matrix_of_efforts(self) -> Array:
        """Matrix R of ``f = −R e``; raises ValueError if not every effort is possible."""
        if not self.admits_efforts:
            raise ValueError("R_f must be invertible for the form f = −R e, but it is singular")
        matrix = np.linalg.solve(self.flow, self.effort)
        return 0.5 * (matrix + matrix.T)

    def image(self, directions: Array | None = None) -> tuple[Array, Array]:
        """Basis T (m, r) of the possible efforts e = T a, r = rank R_f, and D (r, r) ⪰ 0 of ``Tᵀf = −D a``.

        ``T = −R_fᵀK, D = KᵀR_f R_eᵀK`` with K (m, r) = ``directions``, by default a basis of im R_f; R_fᵀK must have
        rank r, so that the rest of λ = K a + k, R_fᵀk = 0, does not contribute to Tᵀf.
        """
        K = self.directions if directions is None else directions
        loss = K.T @ self.flow @ self.effort.T @ K
        return -self.flow.T @ K, 0.5 * (loss + loss.T)

    def matrices(self, x: Array, efforts: Array) -> tuple[Array, Array]:
        """Symmetric matrix R of :meth:`matrix_of_efforts`, and skew part S = 0."""
        return self.matrix_of_efforts(), np.zeros((self.size,) * 2)

    def admitted(self, x: Array) -> Array:
        """Basis T (m, r) of the possible efforts, from :meth:`image`."""
        return self.image()[0]

    def reduced(self, x: Array, coordinates: Array) -> tuple[Array, Array]:
        """Symmetric matrix D (r, r) of :meth:`image`, and skew part S = 0."""
        return self.image()[1], np.zeros((self.coordinates,) * 2)


@checked
@dataclass(frozen=True, eq=False)
class ModulatedResistance(Resistance):
    """Family of resistances ``x ↦ R_x`` ([rigid] definition 6), all of one kind.

    The possible efforts of linear resistances must form a space of constant dimension, rank R_f(x).

    Parameters
    ----------
    at : callable
        Function from x to a :class:`Resistance`.
    sample : array
        State (n,).
    base : Resistance
        Resistance at the sample.

    Raises
    ------
    ValueError
        If this dimension changes; the message has the state.
    """

    at: Callable[[Array], Resistance]
    sample: Array
    base: Resistance = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sample", check.array("sample", self.sample, (None,)))
        object.__setattr__(self, "base", self.at(self.sample))
        object.__setattr__(self, "controlled", self.base.controlled)
        object.__setattr__(self, "is_reciprocal", self.base.is_reciprocal)

    @property
    def size(self) -> int:
        """Number m of entries."""
        return self.base.size

    @property
    def admits_efforts(self) -> bool:
        """True if every effort is possible at the sample."""
        return self.base.admits_efforts

    @property
    def coordinates(self) -> int:
        """Number r of coordinates a of the possible efforts, at the sample."""
        return self.base.coordinates

    def here(self, x: Array) -> Resistance:
        """Resistance R_x at the state x; raises ValueError unless its kind and rank are as at the sample."""
        relation = self.at(x)
        base = self.base
        if type(relation) is not type(base) or (relation.size, relation.controlled) != (self.size, self.controlled):
            raise ValueError(
                f"a modulated resistance must be of one kind and size: {relation!r} at x = {x}, {base!r} at x = "
                f"{self.sample}"
            )
        if relation.coordinates != self.coordinates:
            raise ValueError(
                f"a modulated resistance must admit efforts in a space of constant dimension: rank R_f is "
                f"{relation.coordinates} at x = {x}, {self.coordinates} at x = {self.sample}"
            )
        return relation

    def matrices(self, x: Array, efforts: Array) -> tuple[Array, Array]:
        """Matrices R and S (m, m) of the resistance R_x at the state x."""
        return self.here(x).matrices(x, efforts)

    def admitted(self, x: Array) -> Array:
        """Basis T (m, r) of the possible efforts of R_x at the state x.

        It is computed with the directions K of the sample at all states, so that it is continuous in x.
        """
        relation, base = self.here(x), self.base
        if isinstance(relation, LinearResistance) and isinstance(base, LinearResistance):
            return relation.image(base.directions)[0]
        return relation.admitted(x)

    def reduced(self, x: Array, coordinates: Array) -> tuple[Array, Array]:
        """Matrices D and S (r, r) of R_x in the coordinates of :meth:`admitted`."""
        relation, base = self.here(x), self.base
        if isinstance(relation, LinearResistance) and isinstance(base, LinearResistance):
            return relation.image(base.directions)[1], np.zeros((self.coordinates,) * 2)
        return relation.reduced(x, coordinates)
