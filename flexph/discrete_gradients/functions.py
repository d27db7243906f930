"""Discrete gradients of functions: ∇̄f(x₀, x₁)·(x₁ − x₀) = f(x₁) − f(x₀), ∇̄f(x, x) = ∇f(x) ([dg] definition 4)."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..systems import discrete_gradients as gradients

Scalar = Callable[[Array], float]
Vector = Callable[[Array], Array]


@checked
def gonzalez(function: Scalar, gradient: Vector, x0: Any, x1: Any, *, states: Any = None) -> Array:
    """Gonzalez' gradient ``∇f(m) + (Δf − ∇f(m)·Δx)/(Δx·Δx) Δx`` (n,), m = ½(x₀ + x₁) ([dg] definition 5, eq. (12)).

    ``function`` and ``gradient`` (n,) are functions of x. ``states`` (a slice or indices) are the states that the
    function depends on, all by default: Δx is then the change of these alone, and all other entries are zero ([dg]
    lemma 1).
    """
    x0, x1 = _states(x0, x1)
    function, gradient = _answers(function, gradient, x0.shape)
    step = _part(x1 - x0, states)
    return gradients.gonzalez(_part(gradient(x1 - 0.5 * step), states), step, function(x0), function(x1))


@checked
def mean_value(
    function: Scalar, gradient: Vector, x0: Any, x1: Any, *, states: Any = None, points: int = gradients.MEAN_POINTS
) -> Array:
    """Mean-value gradient ``∫₀¹ ∇f(x₀ + sΔx) ds`` (n,) by Gauss points, corrected to reproduce Δf exactly.

    It commutes with linear maps, unlike Gonzalez' gradient ([dg] example 10). Arguments as in :func:`gonzalez`.
    """
    x0, x1 = _states(x0, x1)
    function, gradient = _answers(function, gradient, x0.shape)
    step = _part(x1 - x0, states)
    mean = gradients.line_mean(gradient, x1 - step, x1, check.count("points", points))
    return gradients.gonzalez(_part(mean, states), step, function(x0), function(x1))


@checked
def coordinate_increments(function: Scalar, gradient: Vector, x0: Any, x1: Any, *, states: Any = None) -> Array:
    """Itoh-Abe gradient, ``(f(…, x₁ᵢ, x₀ᵢ₊₁, …) − f(…, x₀ᵢ, x₀ᵢ₊₁, …))/(x₁ᵢ − x₀ᵢ)`` (n,), mean of both orders.

    T. Itoh, K. Abe, Journal of Computational Physics 76 (1988); the mean over both orders of the coordinates makes
    it symmetric in x₀ and x₁. Derivatives are used only for coordinates that change by no more than round-off.
    Arguments as in :func:`gonzalez`.
    """
    x0, x1 = _states(x0, x1)
    function, gradient = _answers(function, gradient, x0.shape)
    indices = np.flatnonzero(_part(np.ones(x0.size), states))
    forth = _increments(function, gradient, x0, x1, order=indices.tolist())
    back = _increments(function, gradient, x0, x1, order=indices[::-1].tolist())
    return check.array("the discrete gradient", 0.5 * (forth + back), x0.shape)


@checked
def midpoint(gradient: Vector, x0: Any, x1: Any) -> Array:
    """Midpoint gradient ``∇f(½(x₀ + x₁))`` (n,): a discrete gradient of quadratic functions only."""
    x0, x1 = _states(x0, x1)
    return check.result_of("gradient", gradient, 0.5 * (x0 + x1), shape=x0.shape)


@checked
def jacobian(function: Vector, slope: Callable[[Array], Any], x0: Any, x1: Any) -> Array:
    """Discrete Jacobian ``DF(m) + (ΔF − DF(m)Δx)Δxᵀ/(Δx·Δx)`` (k, n) of F (k,) ([dg] definition 6).

    The discrete Jacobian of a diffeomorphism may be singular although DF is not ([dg] example 9).
    """
    x0, x1 = _states(x0, x1)
    values = partial(check.result_of, "function", function, shape=(None,))
    rows = values(x0).shape
    return gradients.discrete_jacobian(values, partial(check.result_of, "slope", slope, shape=(*rows, x0.size)), x0, x1)


def _increments(function: Scalar, gradient: Vector, x0: Array, x1: Array, *, order: list[int]) -> Array:
    """Itoh-Abe gradient (n,) with coordinates changed one by one in ``order``, by Gonzalez' gradient along each."""
    increments, x, before = np.zeros(x0.size), x0.copy(), float(function(x0))
    for i in order:
        middle, x = x.copy(), x.copy()
        middle[i], x[i] = 0.5 * (x0[i] + x1[i]), x1[i]
        after = float(function(x))
        increments[i] = gradients.gonzalez(gradient(middle)[i : i + 1], x1[i : i + 1] - x0[i : i + 1], before, after)[0]
        before = after
    return increments


def _states(x0: Any, x1: Any) -> tuple[Array, Array]:
    x0 = check.array("x0", x0, (None,))
    return x0, check.array("x1", x1, x0.shape)


def _answers(function: Scalar, gradient: Vector, shape: tuple[int, ...]) -> tuple[Scalar, Vector]:
    """Wrap a function and its gradient by checks that their values are finite and of the right shapes."""
    scalar = partial(check.result_of, "function", function, shape=())
    return lambda x: float(scalar(x)), partial(check.result_of, "gradient", gradient, shape=shape)


def _part(x: Any, states: Any) -> Array:
    """State x in which entries other than those of ``states`` are zero; x itself if ``states`` is None.

    Raises ValueError unless ``states`` is a slice or indices of x.
    """
    x = np.asarray(x, dtype=float)
    if states is None:
        return x
    state = np.zeros(x.size)
    try:
        state[states] = x[states]
    except (IndexError, ValueError):
        raise ValueError(f"states must be a slice or indices of {x.size} states, got {check.shown(states)}") from None
    return state
