"""Conserved quantities that do not depend on the Hamiltonian, linear and quadratic ones ([survey] sec. 4.3)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from ..numerics.arrays import Array
from ..numerics.ranks import kernel, singular_vectors
from ..numerics.subspaces import echelon, with_unit_rows
from .structure import codistribution
from .view import SPREAD, SystemView

CLOSED = 1e-4
"""Defect up to which a co-distribution counts as integrable: dα on the common kernel of its covectors α, relative to
the largest slope of scaled α. Differences at 50 stiff states leave 1e-6, rolling constraints are of the order of
one."""
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
        Names of the differential states x₁.
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
        linear = _readable_covectors(here, view.scales)
        return CasimirReport(linear, names, dimension, (dimension,), True)
    linear, same = _constant_part(view, here)
    linear = _readable_covectors(linear, view.scales)
    regular, least = view, dimension
    if not same:
        regular = min((view.at(x) for x in view.probes[1:]), key=lambda at: codistribution(at, at.x).shape[1])
        least = codistribution(regular, regular.x).shape[1]
    if linear.shape[1] == least:
        return CasimirReport(linear, names, dimension, (least,), same)
    flag, complete = _derived_flag(regular, least)
    quadratic = quadratic_casimirs(view, linear, flag[-1] - linear.shape[1])
    return CasimirReport(linear, names, dimension, tuple(flag), same, complete, quadratic)


def _readable_covectors(basis: Array, scales: Array) -> Array:
    """Covectors in the units of the states, from a basis in scaled states, as columns.

    Each has an entry 1 in a state in which the others are zero. Round-off is set to zero.
    """
    if not basis.shape[1]:
        return basis
    covectors, pivots = echelon(basis)
    covectors = np.where(np.abs(covectors) < ROUND_OFF, 0.0, covectors) / scales[:, None]
    return covectors / covectors[pivots, np.arange(covectors.shape[1])]


def _constant_part(view: SystemView, here: Array) -> tuple[Array, bool]:
    """Orthonormal covectors, as columns, that lie in the co-distributions at all nearby states.

    The second value is True if the co-distributions at these states have equal dimension. Random states are added until
    two in a row leave the covectors unchanged.
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
    """Dimensions of the derived flag of the co-distribution ([survey] sec. 4.3), and True if it is complete.

    ``dimension`` is the dimension of the co-distribution.
    """
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
        function = _closed_part(view, function, kept)
    return flag, True


def closed_part(view: SystemView, function: Callable[[Array], Array], x: Array | None = None) -> Array:
    """Coefficients (k, l) of those combinations of covectors α(x) (r, k) that are closed.

    Their dα vanishes on the common kernel of all α. Derivatives are taken at x, by default the state of the view.
    """
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


def _closed_part(view: SystemView, function: Callable[[Array], Array], kept: Array) -> Callable[[Array], Array]:
    """Function of x that returns a basis of the closed combinations of the covectors ``function(x)``, as columns.

    ``kept`` are the coefficients of these combinations at the state of the view; their pivot rows make the basis smooth
    in x. The result is NaN where there are more or fewer closed combinations.
    """
    pivots, size = echelon(kept)[1], kept.shape[1]

    def covectors(x: Array) -> Array:
        inner = closed_part(view, function, x)
        if inner.shape[1] != size:
            return np.full((len(function(x)), size), np.nan)
        return function(x) @ with_unit_rows(inner, pivots)

    return covectors


WIDEST = 24
"""Number of differential states up to which quadratic Casimirs are computed: n states have n (n + 3)/2 coefficients."""
CONSERVED = 1e-9
"""Relative singular value, of the conditions at all states, below which a quadratic function is conserved."""
ROUND_OFF = 1e-7
"""Coefficient in scaled states, with a largest one of one, below which it is round-off and set to zero."""


@dataclass(frozen=True, eq=False)
class QuadraticCasimir:
    """Quadratic Casimir ``C = ½ x₁ᵀQ x₁ + bᵀx₁``, Q = Qᵀ (r, r), b (r,), scaled to a largest coefficient of one."""

    Q: Array
    b: Array

    def __call__(self, states: Array) -> Array:
        """Values C (…,) at states (…, r)."""
        x = np.asarray(states)
        return 0.5 * np.einsum("...i,ij,...j->...", x, self.Q, x) + x @ self.b

    def words(self, names: tuple[str, ...]) -> str:
        """The Casimir as a formula in text."""
        n = len(self.b)
        terms = [(0.5 * self.Q[i, i], f"{names[i]}²") for i in range(n)]
        terms += [(self.Q[i, j], f"{names[i]} {names[j]}") for i in range(n) for j in range(i + 1, n)]
        return in_words([*terms, *zip(self.b, names, strict=True)])


def in_words(terms: Iterable[tuple[float, str]]) -> str:
    """Text of a linear combination, from coefficients and the names of its terms."""
    text = ""
    for factor, what in terms:
        if factor != 0.0:
            sign = (" − " if factor < 0.0 else " + ") if text else ("−" if factor < 0.0 else "")
            text += sign + ("" if abs(abs(factor) - 1.0) < ROUND_OFF else f"{abs(factor):.6g} ") + what
    return text or "0"


def quadratic_casimirs(view: SystemView, linear: Array, most: int) -> tuple[QuadraticCasimir, ...]:
    """Up to ``most`` quadratic Casimirs that are independent of the linear ones (r, k) and of their products.

    The gradient Q x₁ + b of C = ½ x₁ᵀQ x₁ + bᵀx₁ lies in the co-distribution at as many nearby states as there are
    coefficients.
    """
    r = len(linear)
    if r > WIDEST or most <= 0:
        return ()
    conserved = _conserved(view, r)
    known = _products(linear * view.scales[:, None], r)
    rest = conserved - known @ (np.linalg.pinv(known) @ conserved)
    basis = singular_vectors(rest, tolerance=1e-6, size=1.0, economy=True).range
    if not basis.shape[1]:
        return ()
    coefficients, _ = echelon(basis)
    coefficients = np.where(np.abs(coefficients) < ROUND_OFF, 0.0, coefficients)
    candidates = [_unscaled(column, view.scales) for column in coefficients.T]
    return _independent_casimirs(candidates, linear, view, most)


def _states(view: SystemView) -> Iterator[Array]:
    """Yield random states near the state of the view, without end."""
    rng, sizes = np.random.default_rng(2), SPREAD * view.sizes
    while True:
        yield view.x + sizes * rng.uniform(-1.0, 1.0, view.x.size)


def _conserved(view: SystemView, r: int) -> Array:
    """Coefficients (m, k) of all conserved quadratic functions ½xᵀQx + bᵀx of the scaled differential states.

    The m coefficients are those of ½Q_ii and Q_ij for the upper triangle of Q, then b.
    """
    i, j = np.triu_indices(r)
    m, rows, total = i.size + r, [], 0.0
    for x in _states(view):
        if total > 1.2 * m + r:
            break
        alpha, xi = codistribution(view, x), (view.V1.T @ x) / view.scales
        slopes = np.zeros((r, m))
        slopes[i, np.arange(i.size)] += xi[j]
        slopes[j, np.arange(i.size)] += xi[i]  # of ½Q_ii twice: 2 · ½ x_i²
        slopes[:, i.size :] = np.eye(r)
        rows.append(slopes - alpha @ (alpha.T @ slopes))
        if alpha.shape[1] == r:
            return np.eye(m)
        total += r - alpha.shape[1]
    return singular_vectors(np.vstack(rows), tolerance=CONSERVED).null


def _products(linear: Array, r: int) -> Array:
    """Coefficients of the linear Casimirs (r, k) and of all products of two of them, as columns.

    They are in the order of :func:`_conserved`.
    """
    i, j = np.triu_indices(r)
    columns = [np.concatenate([np.zeros(i.size), column]) for column in linear.T]
    for a in range(linear.shape[1]):
        for b in range(a, linear.shape[1]):
            outer = np.outer(linear[:, a], linear[:, b])
            both = outer + outer.T
            columns.append(np.concatenate([np.where(i == j, 0.5 * both[i, j], both[i, j]), np.zeros(r)]))
    return np.array(columns).T.reshape(i.size + r, len(columns))


def _unscaled(column: Array, scales: Array) -> QuadraticCasimir:
    r = scales.size
    i, j = np.triu_indices(r)
    terms = column[: i.size] / (scales[i] * scales[j])
    b = column[i.size :] / scales
    largest = max(np.abs(terms).max(initial=0.0), np.abs(b).max(initial=0.0))
    Q = np.zeros((r, r))
    Q[i, j] += terms / largest
    Q[j, i] += terms / largest
    return QuadraticCasimir(Q, b / largest)


def _independent_casimirs(
    candidates: list[QuadraticCasimir], linear: Array, view: SystemView, most: int
) -> tuple[QuadraticCasimir, ...]:
    """At most ``most`` candidates whose gradients are independent of the linear Casimirs and of each other."""
    x = view.V1.T @ next(_states(view))
    kept: list[QuadraticCasimir] = []
    columns = [c / np.linalg.norm(c) for c in (linear * view.scales[:, None]).T]
    for one in candidates:
        slope = view.scales * (one.Q @ x + one.b)
        trial = np.array([*columns, slope / max(float(np.linalg.norm(slope)), 1e-300)]).T
        if len(kept) < most and np.linalg.svd(trial, compute_uv=False)[-1] > 1e-7:
            kept.append(one)
            columns.append(trial[:, -1])
    return tuple(kept)
