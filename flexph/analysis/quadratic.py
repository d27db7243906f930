"""Conserved quantities that are quadratic in the states, by rank at nearby states ([survey] sec. 4.3)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from ..numerics.arrays import Array
from ..numerics.ranks import singular_vectors
from ..numerics.subspaces import echelon
from .structure import codistribution
from .view import SPREAD, SystemView

WIDEST = 24
"""Number of differential states up to which quadratic Casimirs are computed: n states have n (n + 3)/2 coefficients."""
ALIKE = 1e-9
"""Relative singular value of the conditions at all probes up to which a combination counts as conserved."""
ROUND_OFF = 1e-7
"""Coefficient of scaled states, relative to one, below which it is round-off."""


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

    ∇C = Q x₁ + b lies in the co-distribution at as many nearby states as there are coefficients.
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
    return _independent(candidates, linear, view, most)


def _states(view: SystemView) -> Iterator[Array]:
    """Random states near the given one."""
    rng, sizes = np.random.default_rng(2), SPREAD * view.sizes
    while True:
        yield view.x + sizes * rng.uniform(-1.0, 1.0, view.x.size)


def _conserved(view: SystemView, r: int) -> Array:
    """Coefficients (m, k) of all conserved quadratics, in scaled states: of ½Q_ii, Q_ij and b."""
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
    return singular_vectors(np.vstack(rows), tolerance=ALIKE).null


def _products(linear: Array, r: int) -> Array:
    """Coefficients of the linear Casimirs and of their products."""
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


def _independent(
    candidates: list[QuadraticCasimir], linear: Array, view: SystemView, most: int
) -> tuple[QuadraticCasimir, ...]:
    """Candidates whose gradients are independent of the linear Casimirs and of each other."""
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
