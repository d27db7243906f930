"""Discrete gradients: ∇̄H(x₀, x₁)·(x₁ − x₀) = H(x₁) − H(x₀) and ∇̄H(x, x) = ∇H(x) ([dg] definition 4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..space import Array

ROUND_OFF = 4.0 * np.finfo(float).eps
"""A difference of H below this times |H| is round-off: correcting a gradient by it would only add noise."""


@dataclass(frozen=True)
class Invariants:
    """A Hamiltonian through quadratic invariants: H(x) = energy(π(x)).

    values π (k,) and their jacobian Dπ (k, n) as functions of x; energy and its gradient (k,) as functions of π. With
    quadratic π, ``Dπ((x₀ + x₁)/2)ᵀ ∇̄energy(π₀, π₁)`` is a discrete gradient that keeps every linear or quadratic
    momentum that leaves the invariants unchanged ([dg] remark 13).
    """

    values: Callable[[Array], Array]
    jacobian: Callable[[Array], Array]
    energy: Callable[[Array], float]
    gradient: Callable[[Array], Array]


def gonzalez(middle: Array, step: Array, before: float, after: float) -> Array:
    """``∇H(m) + (ΔH − ∇H(m)·Δx)/(Δx·Δx) Δx`` ([dg] eq. (12)) from ∇H(m), Δx, H(x₀) and H(x₁).

    Δx may be the part of x₁ − x₀ on which H depends.
    """
    missing = (after - before) - float(middle @ step)
    size = float(step @ step)
    if abs(missing) <= ROUND_OFF * max(abs(before), abs(after)) or size == 0.0:
        return middle
    made: Array = middle + (missing / size) * step
    return made


def gonzalez_slope(
    middle: Array, hessian: Array, step: Array, turned: Array, before: float, after: float, end: Array
) -> Array:
    """The derivative of Gonzalez' gradient by x₁.

    ``middle`` is ∇H(m), ``hessian`` its derivative by x₁, ``turned`` that of the step, ``end`` is ∇H(x₁).
    """
    missing, size = (after - before) - float(middle @ step), float(step @ step)
    if abs(missing) <= ROUND_OFF * max(abs(before), abs(after)) or size == 0.0:
        return hessian
    of_missing = end - step @ hessian - middle @ turned
    ratio = missing / size
    made: Array = hessian + np.outer(step, (of_missing - 2.0 * ratio * (step @ turned)) / size) + ratio * turned
    return made


def line_mean(gradient: Callable[[Array], Array], x0: Array, x1: Array, points: int) -> Array:
    """∫₀¹ ∇H(x₀ + s Δx) ds by Gauss points: exact for polynomials of degree 2·points ([dg] definition 5)."""
    nodes, weights = np.polynomial.legendre.leggauss(points)
    along = [gradient(x0 + 0.5 * (s + 1.0) * (x1 - x0)) for s in nodes]
    made: Array = 0.5 * weights @ np.array(along)
    return made


def through_invariants(invariants: Invariants, x0: Array, x1: Array) -> Array:
    """``Dπ(m)ᵀ ∇̄energy(π₀, π₁)`` with Gonzalez' gradient in the invariants."""
    before, after = invariants.values(x0), invariants.values(x1)
    middle = invariants.gradient(0.5 * (before + after))
    inner = gonzalez(middle, after - before, invariants.energy(before), invariants.energy(after))
    made: Array = invariants.jacobian(0.5 * (x0 + x1)).T @ inner
    return made
