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
"""Part of dα on its own kernel, over the largest slope of scaled α, below which a co-distribution counts as integrable:
bases of 50 stiff states leave 1e-6 after differences, constraints that roll are of the order of one."""
ALIKE = 1e-8
"""Sine of the angle up to which a covector belongs to the co-distributions of all probes."""
NESTED = 40
"""Differential states up to which differences of differences are taken."""


@dataclass(frozen=True, eq=False)
class CasimirReport:
    """Quantities C with ∇C in the co-distribution ``{α : (f_S, e_S) = (0, α)}``, nothing in what resists, zero inputs.

    Attributes
    ----------
    linear : array
        Covectors (r, k) of linear ones, αᵀx₁.
    names : tuple of str
        Names of the states x₁.
    dimension : int
        That of the co-distribution at the state.
    flag : tuple of int
        Dimensions of its derived flag down to the part that is integrable: as many Casimirs there are, the linear ones
        among them.
    same_rank : bool
        Whether the dimension is that of all probes; if not, the state is singular and the flag is that of a state
        beside it, where the dimension is least.
    complete : bool
        Whether the flag was followed to its end: of large systems it is not, and the count is a bound.
    quadratic : tuple of QuadraticCasimir
        Those of up to 24 states that are quadratic.
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
        """The linear Casimirs in words."""
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
            lines.append(f"{rest} more, not in words: the co-distribution of dimension {whole} is integrable"
                         if self.count == whole else f"{bound}{rest} more, not in words")  # fmt: skip
        if self.count < whole:
            lines.append(
                f"the co-distribution of dimension {whole} is not integrable: derived flag "
                f"{', '.join(map(str, self.flag))} (nonholonomic)"
            )
        if not self.same_rank:
            lines.append(f"the state is not regular: the dimension is {self.dimension} there, {whole} near it")
        return "\n".join(lines)


def casimir_report(view: SystemView) -> CasimirReport:
    """The Casimirs of a system near a state; those that are not linear are counted by Frobenius' theorem."""
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
    """Covectors with a one in a state of their own each, from scaled ones; what is round-off beside it is zero."""
    if not basis.shape[1]:
        return basis
    covectors, pivots = echelon(basis)
    covectors = np.where(np.abs(covectors) < ROUND_OFF, 0.0, covectors) / scales[:, None]
    return covectors / covectors[pivots, np.arange(covectors.shape[1])]


def _constant_part(view: SystemView, here: Array) -> tuple[Array, bool]:
    """Covectors that belong to the co-distributions of all states nearby, orthonormal, and whether those are as large.

    States are added until two of them in a row take nothing away: what is common by chance loses with each of them.
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
    """Dimensions of the co-distribution, of its part closed modulo itself, and so on until nothing is lost."""
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
    """Coefficients (k, l) of those combinations of covectors α(x) (r, k) whose dα vanishes on their common kernel."""
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
    """The covectors of the closed part, as a function of the state with fixed pivots."""
    pivots, size = echelon(kept)[1], kept.shape[1]

    def covectors(x: Array) -> Array:
        inner = closed_part(view, function, x)
        if inner.shape[1] != size:
            return np.full((len(function(x)), size), np.nan)
        return function(x) @ with_unit_rows(inner, pivots)

    return covectors
