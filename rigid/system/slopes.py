"""Derivatives of the functions of a multibody system with respect to its positions, given or by differences."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from flexph.numerics.arrays import Array
from flexph.numerics.differences import FORWARD, state_sizes
from flexph.systems.discrete_gradients import Invariants, gonzalez

from .matrix_functions import BlockGyroscopic, BlockMatrix, Differentiable, Gyroscopic
from .terms import PositionMap, Potential


class Slopes(NamedTuple):
    """Derivatives ``∂(M w)/∂ζ`` (rows, n_pot) and ``∂(Mᵀ g)/∂ζ`` (columns, n_pot) of a matrix function M."""

    of_image: Array
    of_transposed: Array


def slopes(matrix: Any, zeta: Array, w: Array, g: Array) -> Slopes:
    """Slopes of a matrix function, or of a constant matrix, at fixed w and g."""
    if not callable(matrix):
        return Slopes(np.zeros((g.size, zeta.size)), np.zeros((w.size, zeta.size)))
    if isinstance(matrix, BlockMatrix):
        return _of_blocks(matrix, zeta, w, g)
    stack = stacked(matrix, zeta)
    return Slopes((stack @ w).T, (g @ stack).T)


def stacked(function: Any, x: Array) -> Array:
    """Derivatives ∂f/∂x_k, stacked (n, …): those that the function has, else forward differences."""
    return function.slopes(x) if isinstance(function, Differentiable) else differences(function, x)


def _of_blocks(matrix: BlockMatrix, zeta: Array, w: Array, g: Array) -> Slopes:
    image, transposed = np.zeros((g.size, zeta.size)), np.zeros((w.size, zeta.size))
    for rows, columns, span, block in matrix.blocks:
        own = slopes(block, zeta[span], w[columns], g[rows])
        image[rows, span] += own.of_image
        transposed[columns, span] += own.of_transposed
    return Slopes(image, transposed)


def gyroscopic_slopes(G: Any, zeta: Array, momenta: Array, omega: Array) -> tuple[Array, Array]:
    """Derivatives ``∂(G ω)/∂ζ`` (n_kin, n_pot) and ``∂(G ω)/∂Γ`` (n_kin, n_kin) at fixed ω."""
    none = np.zeros((omega.size, zeta.size)), np.zeros((omega.size, omega.size))
    if isinstance(G, Gyroscopic):
        return none[0], (G.stack @ omega).T
    if isinstance(G, BlockGyroscopic):
        for own, span, block in G.blocks:
            none[0][own, span], none[1][own, own] = gyroscopic_slopes(block, zeta[span], momenta[own], omega[own])
        return none
    if not callable(G):
        return none
    by_zeta = differences(lambda x: G(x, momenta) @ omega, zeta)
    return by_zeta.T, differences(lambda p: G(zeta, p) @ omega, momenta).T


def differences(function: Callable[[Array], Array], x: Array) -> Array:
    """Forward differences ∂f/∂x_k, stacked: (n, …)."""
    here, steps = np.asarray(function(x), dtype=float), (x + FORWARD * state_sizes(x)) - x
    stack, moved = np.empty((x.size, *here.shape)), x.copy()
    for k in range(x.size):
        moved[k] += steps[k]
        stack[k] = (function(moved) - here) / steps[k]
        moved[k] = x[k]
    return stack


# --- over a step, by its end ------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Way:
    """A step, from the positions at its start to those at its end."""

    start: Array
    end: Array

    @property
    def middle(self) -> Array:
        """Midpoint ½(ζ₀ + ζ₁)."""
        return 0.5 * (self.start + self.end)

    @property
    def step(self) -> Array:
        """Displacement ζ₁ − ζ₀."""
        return self.end - self.start

    def part(self, span: slice) -> Way:
        """The step restricted to some of the positions."""
        return Way(self.start[span], self.end[span])


def of_map(given: PositionMap, way: Way, discrete: Array, w: Array, g: Array) -> Slopes:
    """Derivatives ``∂(D̄ w)/∂ζ₁`` and ``∂(D̄ᵀ g)/∂ζ₁`` of a discrete Jacobian D̄ (k, n_pot), at fixed w and g."""
    if not given.terms:
        return _of_jacobian(given, way, discrete, w, g)
    n = way.end.size
    image, transposed = np.zeros((g.size, n)), np.zeros((n, n))
    spans = sorted((span.start or 0, span.stop) for span, _ in given.terms)
    apart = all(end <= start for (_, end), (start, _) in pairwise(spans))
    for span, term in given.terms:
        part = way.part(span)
        own = of_map(term, part, discrete[:, span] if apart else term.discrete(part.start, part.end), w[span], g)
        image[:, span] += own.of_image
        transposed[span, span] += own.of_transposed
    return Slopes(image, transposed)


def _of_jacobian(given: PositionMap, way: Way, discrete: Array, w: Array, g: Array) -> Slopes:
    """Derivatives as in :func:`of_map` for a map without terms, D̄ = p'(midpoint) + m Δᵀ/ΔᵀΔ with the defect m.

    They are half of the slopes of p' at the midpoint, plus those of the correction with ``∂m/∂ζ₁ = p'₁ − p' − ½ p''Δ``.
    """
    middle, step, stack = given.jacobian(way.middle), way.step, stacked(given.jacobian, way.middle)
    image, transposed = 0.5 * (stack @ w).T, 0.5 * (g @ stack).T
    size = float(step @ step)
    missing = (discrete - middle) @ step
    if size == 0.0 or not missing.any():
        return Slopes(image, transposed)
    of_missing = given.jacobian(way.end) - middle - 0.5 * (stack @ step).T
    along, across = float(step @ w), float(missing @ g)
    unit = step / size
    image = image + of_missing * (along / size) + np.outer(missing, w / size - 2.0 * along / size * unit)
    turned = np.outer(unit, g @ of_missing - 2.0 * across * unit) + across / size * np.eye(step.size)
    return Slopes(image, transposed + turned)


def of_potential(given: Potential | Invariants, way: Way, discrete: Array) -> Array:
    """Derivative ``∂(∇̄V)/∂ζ₁`` (n_pot, n_pot) of a discrete gradient."""
    if isinstance(given, Potential):
        return _of_gradient(given.gradient, way, discrete)
    first, last = given.values(way.start), given.values(way.end)
    jacobian = given.jacobian(way.middle)
    inner = Way(first, last)
    energies = float(given.energy(first)), float(given.energy(last))
    gradient = gonzalez(given.gradient(inner.middle), inner.step, *energies)
    bent = 0.5 * slopes(given.jacobian, way.middle, way.step, gradient).of_transposed
    return bent + jacobian.T @ _of_gradient(given.gradient, inner, gradient) @ given.jacobian(way.end)


def _of_gradient(gradient: Any, way: Way, discrete: Array) -> Array:
    """Derivative with respect to ζ₁ of the discrete gradient ``∇V(m) + c Δ``, m the midpoint, c Δᵀ Δ = ΔV − ∇V(m)ᵀΔ."""
    middle, step, hessian = gradient(way.middle), way.step, stacked(gradient, way.middle)
    size = float(step @ step)
    share = float((discrete - middle) @ step) / size if size > 0.0 else 0.0
    if share == 0.0:
        return 0.5 * hessian.T
    of_share = (gradient(way.end) - middle - 0.5 * (hessian @ step) - 2.0 * share * step) / size
    return 0.5 * hessian.T + share * np.eye(step.size) + np.outer(step, of_share)
