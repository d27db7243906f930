"""Discrete gradients: ∇̄H(x₀, x₁)·(x₁ − x₀) = H(x₁) − H(x₀) and ∇̄H(x, x) = ∇H(x) ([dg] definition 4).

m is the midpoint of x₀ and x₁; Δx, ΔH and ΔF are differences from x₀ to x₁.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array, dense
from ..numerics.gauss_tableau import gauss_points

ROUND_OFF = 4.0 * np.finfo(float).eps
"""Difference of H, relative to |H|, below which it is round-off, so that correcting a gradient would only add noise."""

TOLERANCE = 1e-9
"""Error of a discrete gradient, relative to its largest terms, above which it is wrong. Sums of some thousand terms
have less round-off."""
ROUND_OFF_DRIFT = 1e-9
"""Value F(x₀), relative to the largest change of F that the step can make, up to which :func:`discrete_jacobian` takes
it as round-off of earlier steps and corrects it, if ``kept``."""
MEAN_POINTS = 4
"""Number of Gauss points of the mean value gradient, exact for Hamiltonians of degree 8."""


@checked
@dataclass(frozen=True, eq=False)
class Invariants:
    """Hamiltonian as a function of quadratic invariants: H(x) = energy(π(x)).

    With quadratic π, ``Dπ((x₀ + x₁)/2)ᵀ ∇̄energy(π₀, π₁)`` is a discrete gradient that conserves every linear or
    quadratic momentum whose flow leaves the invariants unchanged ([dg] remark 13).

    Parameters
    ----------
    values : callable
        Invariants π (k,) as a function of x.
    jacobian : callable
        Jacobian Dπ (k, n) as a function of x.
    energy : callable
        Energy as a function of π.
    gradient : callable
        Gradient (k,) of the energy as a function of π.
    """

    values: Callable[[Array], Array]
    jacobian: Callable[[Array], Array]
    energy: Callable[[Array], float]
    gradient: Callable[[Array], Array]


def padded(given: Invariants, n: int, extra: int) -> Invariants:
    """Invariants of the first n states as invariants of n + ``extra`` states, independent of the added states."""

    def jacobian(x: Array) -> Array:
        inner = dense(given.jacobian(x[:n]))
        return np.hstack([inner, np.zeros((len(inner), extra))])

    return Invariants(lambda x: given.values(x[:n]), jacobian, given.energy, given.gradient)


def correction(along: float, step: Array, before: float, after: float) -> float:
    """Factor ``(ΔH − ∇H(m)·Δx)/(Δx·Δx)`` of [dg] eq. (12); zero if its numerator is round-off.

    ``along`` is ∇H(m)·Δx, ``step`` is Δx, ``before`` and ``after`` are H(x₀) and H(x₁).
    """
    missing, size = (after - before) - along, float(step @ step)
    if abs(missing) <= ROUND_OFF * max(abs(before), abs(after)) or size == 0.0:
        return 0.0
    return missing / size


def gonzalez(middle: Array, step: Array, before: float, after: float) -> Array:
    """Gonzalez' discrete gradient ``∇H(m) + (ΔH − ∇H(m)·Δx)/(Δx·Δx) Δx`` ([dg] eq. (12)).

    ``middle`` is ∇H(m), ``step`` Δx, which may be the part of x₁ − x₀ on which H depends; ``before`` and ``after`` are
    H(x₀) and H(x₁).
    """
    return middle + correction(float(middle @ step), step, before, after) * step


@checked
def check_discrete_gradient(
    discrete: Callable[[Array, Array], Any],
    function: Callable[[Array], float],
    gradient: Callable[[Array], Array],
    pairs: Sequence[tuple[Any, Any]],
) -> None:
    """Raise ValueError with the defect unless ``discrete(x0, x1)`` is a discrete gradient at the pairs of states.

    ``∇̄f·Δx = Δf`` and ``∇̄f(x, x) = ∇f(x)``, relative to their largest terms and the round-off of f.
    """
    for first, last in pairs:
        x0 = check.array("x0", first, (None,))
        x1 = check.array("x1", last, x0.shape)
        given, step = check.array("the discrete gradient", discrete(x0, x1), x0.shape), x1 - x0
        before, after = float(function(x0)), float(function(x1))
        along, scale = float(given @ step), float(np.abs(given) @ np.abs(step))
        noise = ROUND_OFF * max(abs(before), abs(after))
        change = after - before
        if abs(along - change) > TOLERANCE * scale + noise:
            raise ValueError(
                f"not a discrete gradient: ∇̄f·(x₁ − x₀) must be f(x₁) − f(x₀) = {change:.9g}, got {along:.9g}"
            )
        for x in (x0, x1):
            same, exact = check.array("the discrete gradient", discrete(x, x), x.shape), gradient(x)
            defect = float(np.abs(same - exact).max(initial=0.0))
            if defect > TOLERANCE * float(np.abs(exact).max(initial=0.0)):
                raise ValueError(f"not a discrete gradient: ∇̄f(x, x) must be ∇f(x), but is off by {defect:.2g}")


def line_mean(gradient: Callable[[Array], Array], x0: Array, x1: Array, points: int) -> Array:
    """Mean value gradient ∫₀¹ ∇H(x₀ + s Δx) ds by Gauss points ([dg] definition 5).

    With p points it is exact for H of degree 2p or less.
    """
    nodes, weights = gauss_points(points)
    return weights @ np.array([gradient(x0 + s * (x1 - x0)) for s in nodes])


def discrete_jacobian(
    function: Callable[[Array], Array],
    jacobian: Callable[[Array], Array],
    x0: Array,
    x1: Array,
    *,
    kept: bool = False,
) -> Array:
    """Gonzalez' discrete Jacobian ``DF(m) + (ΔF − DF(m)Δx)Δxᵀ/(Δx·Δx)`` (k, n) of F (k,) ([dg] definition 6).

    The correction is omitted if it is round-off, as over a short step it would only add noise. Set ``kept`` for
    constraints F = 0: an F(x₀) of the size of round-off then counts as zero in ΔF, so that the step removes it. The
    discrete Jacobian of a diffeomorphism φ may be singular although Dφ is not ([dg] example 9): do not solve with it.
    """
    step = x1 - x0
    middle, size = jacobian(0.5 * (x0 + x1)), float(step @ step)
    if size == 0.0:
        return middle
    first, last, slope = function(x0), function(x1), np.abs(middle)
    noise = ROUND_OFF * (np.maximum(np.abs(first), np.abs(last)) + slope @ np.maximum(np.abs(x0), np.abs(x1)))
    if kept:
        first = np.where(np.abs(first) <= ROUND_OFF_DRIFT * (slope @ np.abs(step)), 0.0, first)
    missing = last - first - middle @ step
    missing = np.where(np.abs(missing) <= noise, 0.0, missing)
    return middle + np.outer(missing, step / size) if missing.any() else middle


def through_invariants(invariants: Invariants, x0: Array, before: float) -> Callable[[Array], Array]:
    """Discrete gradient ``Dπ(m)ᵀ ∇̄energy(π(x₀), π(x₁))`` of H as a function of x₁, with the midpoint m of x₀ and x₁.

    ∇̄energy is Gonzalez' discrete gradient with respect to the invariants; ``before`` is H(x₀).
    """
    first = invariants.values(x0)

    def at(x1: Array) -> Array:
        last = invariants.values(x1)
        middle = invariants.gradient(0.5 * (first + last))
        inner = gonzalez(middle, last - first, before, invariants.energy(last))
        return invariants.jacobian(0.5 * (x0 + x1)).T @ inner

    return at
