"""Conserved quantities that do not depend on the Hamiltonian ([survey] sec. 4.3)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..numerics.arrays import Array
from ..numerics.ranks import kernel, singular_vectors
from ..numerics.subspaces import echelon, with_unit_rows
from .quadratic import ROUND_OFF, QuadraticCasimir, in_words, quadratic_casimirs
from .structure import codistribution
from .view import SPREAD, SystemView

CLOSED = 1e-4
"""Part of dα on the kernel of α, relative to the largest slope of scaled α, below which a co-distribution counts
as integrable: differences at 50 stiff states leave 1e-6, rolling constraints are of the order of one."""
ALIKE = 1e-8
"""Sine of the angle up to which a covector belongs to the co-distributions of all probe states."""
NESTED = 40
"""Number of differential states up to which nested finite differences are used."""


@dataclass(frozen=True, eq=False)
class CasimirReport:
    """Casimirs C, whose gradients ∇C lie in the co-distribution ``{α : (f_S, e_S) = (0, α), e_R = 0, u = 0}``.

    Attributes
    ----------
    linear : array
        Covectors (r, k) of the linear Casimirs αᵀx₁.
    names : tuple of str
        Names of the states x₁.
    dimension : int
        Dimension of the co-distribution at the state.
    flag : tuple of int
        Dimensions of the derived flag down to its integrable part, whose dimension is the number of Casimirs,
        the linear ones included.
    same_rank : bool
        True if the dimension is the same at all probes; otherwise the state is singular and the flag belongs to a
        neighbouring state, where the dimension is least.
    complete : bool
        True if the flag was computed to its end; it is not for large systems, and the count is then an upper bound.
    quadratic : tuple of QuadraticCasimir
        Quadratic Casimirs, for systems of up to 24 states.
    """

    linear: Array
    names: tuple[str, ...]
    dimension: int
    flag: tuple[int, ...]
    same_rank: bool
    complete: bool = True
    quadratic: tuple[QuadraticCasimir, ...] = ()

    @property
    def count(self) -> int:
        """Number of independent Casimirs near the state."""
        return self.flag[-1]

    @property
    def expressions(self) -> tuple[str, ...]:
        """The linear Casimirs as formulas in text."""
        return tuple(in_words(zip(column, self.names, strict=True)) for column in self.linear.T)

    def values(self, states: Array) -> Array:
        """Values (…, k) of the linear and quadratic Casimirs at differential states (…, r)."""
        x = np.asarray(states)
        return np.concatenate([x @ self.linear, *(one(x)[..., None] for one in self.quadratic)], axis=-1)

    def __str__(self) -> str:
        if not self.dimension:
            return "no Casimirs"
        lines = [f"linear: {words}" for words in self.expressions]
        lines += [f"quadratic: {one.words(self.names)}" for one in self.quadratic]
        rest, whole = self.count - len(lines), self.flag[0]
        bound = "" if self.complete else "at most "
        if rest:
            lines.append(f"{rest} more, without a formula: the co-distribution of dimension {whole} is integrable"
                         if self.count == whole else f"{bound}{rest} more, without a formula")  # fmt: skip
        if self.count < whole:
            lines.append(
                f"the co-distribution of dimension {whole} is not integrable: derived flag "
                f"{', '.join(map(str, self.flag))} (nonholonomic)"
            )
        if not self.same_rank:
            lines.append(f"the state is not regular: the dimension is {self.dimension} there, {whole} near it")
        return "\n".join(lines)


def casimir_report(view: SystemView) -> CasimirReport:
    """Casimirs of a system near a state; those that are not linear are counted by Frobenius' theorem."""
    here = codistribution(view, view.x)
    names, dimension = tuple(view.names), here.shape[1]
    if view.is_constant or not dimension:
        linear = _readable(here, view.scales)
        return CasimirReport(linear, names, dimension, (dimension,), True)
    linear, same = _constant_part(view, here)
    linear = _readable(linear, view.scales)
    regular, least = view, dimension
    if not same:
        regular = min((view.at(x) for x in view.probes[1:]), key=lambda at: codistribution(at, at.x).shape[1])
        least = codistribution(regular, regular.x).shape[1]
    if linear.shape[1] == least:
        return CasimirReport(linear, names, dimension, (least,), same)
    flag, complete = _derived_flag(regular, least)
    quadratic = quadratic_casimirs(view, linear, flag[-1] - linear.shape[1])
    return CasimirReport(linear, names, dimension, tuple(flag), same, complete, quadratic)


def _readable(basis: Array, scales: Array) -> Array:
    """Covectors from a scaled basis, each with a one in one state; round-off entries are set to zero."""
    if not basis.shape[1]:
        return basis
    covectors, pivots = echelon(basis)
    covectors = np.where(np.abs(covectors) < ROUND_OFF, 0.0, covectors) / scales[:, None]
    return covectors / covectors[pivots, np.arange(covectors.shape[1])]


def _constant_part(view: SystemView, here: Array) -> tuple[Array, bool]:
    """Orthonormal covectors common to the co-distributions of all nearby states; True if those have equal dimension.

    States are added until two in a row leave the common part unchanged: a chance intersection shrinks with each of
    them.
    """
    rng, sizes = np.random.default_rng(1), SPREAD * view.sizes
    common, same, unchanged, off = here, True, 0, np.zeros((0, len(here)))
    while common.shape[1] and unchanged < 2:
        other = codistribution(view, view.x + sizes * rng.uniform(-1.0, 1.0, view.x.size))
        same = same and other.shape[1] == here.shape[1]
        off = np.vstack([off, np.eye(len(here)) - other @ other.T])
        remaining = here @ singular_vectors(off @ here, tolerance=ALIKE, size=1.0).null
        unchanged = unchanged + 1 if remaining.shape[1] == common.shape[1] else 0
        common = remaining
    return common, same


def _derived_flag(view: SystemView, dimension: int) -> tuple[list[int], bool]:
    """Dimensions of the derived flag of the co-distribution; True if it was computed to its end."""
    here = codistribution(view, view.x)
    pivots = echelon(here)[1]

    def first(x: Array) -> Array:
        basis = codistribution(view, x)
        if basis.shape[1] != dimension:
            return np.full((len(basis), dimension), np.nan)
        return with_unit_rows(basis, pivots)

    flag: list[int] = [dimension]
    function: Callable[[Array], Array] = first
    for _ in range(dimension):
        kept = closed_part(view, function)
        if kept.shape[1] == flag[-1]:
            return flag, True
        flag.append(kept.shape[1])
        if not kept.shape[1]:
            return flag, True
        if len(here) > NESTED:
            return flag, False
        function = _next(view, function, kept)
    return flag, True


def closed_part(view: SystemView, function: Callable[[Array], Array], x: Array | None = None) -> Array:
    """Coefficients (k, l) of the combinations of covectors α(x) (r, k) whose dα vanishes on their common kernel."""
    x = view.x if x is None else x
    here = function(x)
    slopes = view.derivative(function, x, view.V1 * view.scales)  # (r, k, r)
    if not np.all(np.isfinite(slopes)):
        return np.zeros((here.shape[1], 0))
    free = kernel(here.T)
    torsion = [free.T @ (s - s.T) @ free for s in slopes.transpose(1, 0, 2)]
    scale = max(float(np.abs(slopes).max(initial=0.0)), 1e-9)
    rows = np.array([t.ravel() for t in torsion]).T / scale
    if not rows.size:
        return np.eye(here.shape[1])
    return singular_vectors(rows, tolerance=CLOSED, size=1.0).null


def _next(view: SystemView, function: Callable[[Array], Array], kept: Array) -> Callable[[Array], Array]:
    """Function x ↦ basis of the closed part of the covectors ``function(x)``.

    The pivots of ``kept``, the coefficients at the state of the view, make the basis smooth. NaN where the dimension of
    the closed part is another one.
    """
    pivots, size = echelon(kept)[1], kept.shape[1]

    def covectors(x: Array) -> Array:
        inner = closed_part(view, function, x)
        if inner.shape[1] != size:
            return np.full((len(function(x)), size), np.nan)
        return function(x) @ with_unit_rows(inner, pivots)

    return covectors
