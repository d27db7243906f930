"""Rational block Arnoldi: spaces that match moments of the transfer function at given points."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...numerics import checks as check
from ...numerics.arrays import Array
from ...numerics.subspaces import extend
from ...systems.linear import LinearPHDAE
from ..shifted import Shifted, Solver
from .bases import projected
from .retained_states import RetainedStates

MATCHED = 1e-8
"""Relative defect up to which a moment counts as matched."""
NEAR = 1e-10
"""Relative distance of points within which moments may vary: near a resonance they change from point to point."""

LARGEST = 1e100
"""Largest modulus of a point, whose square must be representable."""


@dataclass(frozen=True)
class Point:
    """Expansion point s [rad/s], Im s ≥ 0, and the number of moments of the transfer function to match there."""

    s: complex
    multiplicity: int = 1


@dataclass(frozen=True, eq=False)
class Expansion:
    """Moments of a transfer function H at a point, and vectors on whose span a reduced system has the same moments.

    ``vectors`` span the solution at the point and its derivatives with respect to s. ``moments`` are the matched
    moments and the next one. ``terms`` = |s| xᴴEx is the size of the terms in H = s̄ xᴴEx + xᴴRx, which cancel at
    antiresonances. ``directions`` (m, k) are the matched combinations of the inputs; None for all inputs.
    """

    point: Point
    vectors: Array
    moments: list[Array]
    terms: float
    directions: Array | None = None

    @property
    def sizes(self) -> list[float]:
        """Sizes of the moments, by which their round-off is measured."""
        largest = [float(np.abs(full).max(initial=0.0)) for full in self.moments]
        s = abs(self.point.s)
        return [max(size, self.terms / s**k) if s else size for k, size in enumerate(largest)]


def as_points(given: Sequence[Any]) -> tuple[Point, ...]:
    """Expansion points from numbers or pairs (number, multiplicity) that a user gave.

    A number with Im s < 0 is replaced by its conjugate, which has the same space.
    """
    points: list[Point] = []
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise ValueError(f"points must be a list of numbers or pairs (number, multiplicity), got {given!r}")
    for i, entry in enumerate(given):
        s, multiplicity = entry if isinstance(entry, tuple) and len(entry) == 2 else (entry, 1)
        try:
            s = complex(s)
        except (TypeError, ValueError):
            raise ValueError(f"points[{i}] must be a number or a pair (number, multiplicity), got {entry!r}") from None
        if not abs(s) < LARGEST:
            raise ValueError(f"points[{i}] must be finite and below {LARGEST:.0e} rad/s, got {s}")
        s = s if s.imag >= 0.0 else s.conjugate()
        if any(abs(s - other.s) <= 1e-12 * abs(s) for other in points):
            raise ValueError(f"points[{i}] = {s:.6g} is given twice; (point, 2) matches two moments there")
        points.append(Point(s, check.count(f"the multiplicity of points[{i}]", multiplicity)))
    if not points:
        raise ValueError("points must not be empty")
    return tuple(points)


def krylov(shifted: Shifted, points: Sequence[Point], kept: RetainedStates | None = None) -> LinearPHDAE:
    """Reduce a system to its solutions at given points and their derivatives with respect to s.

    See :func:`flexph.reduce`.
    """
    expansions, basis = [], np.zeros((shifted.size, 0))
    for point in points:
        expansions.append(expand(shifted, point))
        basis = extend(basis, expansions[-1].vectors, shifted.weight)
    reduced = projected(shifted.system, shifted.split, basis, kept=kept)
    audit(Shifted(reduced, shifted.ports), expansions)
    return reduced


def expand(shifted: Shifted, point: Point) -> Expansion:
    """Solution P⁻¹B of a system at a point and its derivatives with respect to s, by block Arnoldi.

    The derivatives x_j/j! follow from ``P x₀ = B, P x_j = −(P′x_{j−1} + ½P″x_{j−2})``, but soon become parallel. Their
    span is computed from pairs (x_j, x_{j−1}) that are orthonormalised at every step, twice (second-order Arnoldi).
    """
    solve, n = shifted.factor(point.s), shifted.size
    first = solve(shifted.load)
    taken, pairs = [real(first[:n])], [_unit(shifted, np.vstack([first, np.zeros_like(first)]))]
    while len(taken) < point.multiplicity:
        upper, lower = np.split(pairs[-1], 2)
        block = np.vstack([_derive(shifted, solve, point.s, (upper, lower)), upper])
        for _ in range(2):
            for before in pairs:
                block = block - before @ _product(shifted, before, block)
        pairs.append(_unit(shifted, block))
        taken.append(real(pairs[-1][:n]))
    return Expansion(point, np.hstack(taken), moments(shifted, point, solve, first), terms(shifted, point.s, first))


def tangential(shifted: Shifted, s: complex, choose: Callable[[complex, Array], Array]) -> Expansion:
    """Solutions of a system at the point s for some combinations W (m, k) of the inputs, so that H W is matched.

    ``choose`` returns W for s and H(s).
    """
    point, solve = Point(s), shifted.factor(s)
    first = solve(shifted.load)
    of_all = moments(shifted, point, solve, first)
    w = choose(s, of_all[0])
    vectors, size = real((first @ w)[: shifted.size]), terms(shifted, s, first)
    return Expansion(point, vectors, [moment @ w for moment in of_all], size, w)


def terms(shifted: Shifted, s: complex, solution: Array) -> float:
    """Size |s| xᴴEx of the terms that add up to H(s), the largest over all inputs; x are the states of the solution."""
    states = shifted.state(s, solution)
    return float(abs(s) * np.abs(np.sum(states.conj() * (shifted.system.E @ states), axis=0)).max(initial=0.0))


def _derive(shifted: Shifted, solve: Solver, s: complex, last: tuple[Array, Array]) -> Array:
    """Next derivative of the solution with respect to s, from the ``last`` two."""
    return solve(-shifted.slope(s, last[0]) - shifted.curvature(last[1]))


def real(vectors: Array) -> Array:
    """Real vectors that span complex vectors and their conjugates: real and imaginary part of each column in turn."""
    if not np.iscomplexobj(vectors):
        return vectors
    columns = np.empty((len(vectors), 2 * vectors.shape[1]))
    columns[:, ::2], columns[:, 1::2] = vectors.real, vectors.imag
    return columns


def _product(shifted: Shifted, first: Array, second: Array) -> Array:
    """Energy inner products of two blocks of pairs (x_j, x_{j−1}), summed over both halves.

    Only leading unknowns count.
    """
    n, half = shifted.size, len(first) // 2
    product: Array = first[:n].conj().T @ (shifted.weight @ second[:n])
    return product + first[half : half + n].conj().T @ (shifted.weight @ second[half : half + n])


def _unit(shifted: Shifted, block: Array) -> Array:
    """Basis of the span of a block of pairs (x_j, x_{j−1}), orthonormal in the inner product of :func:`_product`."""
    size = np.sqrt(np.maximum(np.diag(_product(shifted, block, block)).real, 0.0))
    block = block[:, size > 0.0] / size[size > 0.0]
    values, vectors = np.linalg.eigh(_product(shifted, block, block))
    kept = values > 1e-14 * values.max(initial=0.0)
    return block @ (vectors[:, kept] / np.sqrt(values[kept]))


def moments(shifted: Shifted, point: Point, solve: Solver, first: Array) -> list[Array]:
    """Taylor coefficients of H at a point: the moments to match there, and the next one.

    ``first`` is the solution there, ``solve`` solves with P.
    """
    values, older, before = [shifted.transfer(point.s, first)], np.zeros_like(first), first
    for _ in range(point.multiplicity):
        after = _derive(shifted, solve, point.s, (before, older))
        values.append(shifted.transfer(point.s, after) + shifted.transfer_slope(before))
        older, before = before, after
    return values


def audit(reduced: Shifted, expansions: Sequence[Expansion]) -> None:
    """Raise ArithmeticError unless a reduced system has the moments of the expansions, to 1e-8 of their sizes.

    To this tolerance is added the change of a moment if its point moves by 1e-10 |s|.
    """
    for expansion in expansions:
        point = expansion.point
        solve = reduced.factor(point.s)
        values = moments(reduced, point, solve, solve(reduced.load))
        sizes = expansion.sizes
        for order in range(point.multiplicity):
            moment = values[order] if expansion.directions is None else values[order] @ expansion.directions
            defect, size = np.abs(moment - expansion.moments[order]).max(initial=0.0), sizes[order]
            if not defect <= MATCHED * size + NEAR * abs(point.s) * (order + 1) * sizes[order + 1]:
                raise ArithmeticError(
                    f"moment {order} at s = {point.s:.6g} is not matched: {defect:.1e} of {size:.1e}. Use points "
                    "farther from each other and from poles, or fewer moments at each"
                )
