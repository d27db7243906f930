"""Elastic laws of stops, which act beyond limits of a coordinate."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from .elastic_laws import ElasticLaw

Piece = tuple[float, tuple[float, ...]]
"""Base of a polynomial and its coefficients by ascending powers."""


def beyond(law: ElasticLaw, lower: float, upper: float) -> ElasticLaw:
    """Law of a coordinate q with stops at its limits, from the law V of one stop.

    The energy is V(q − upper) above ``upper`` and V(lower − q) below ``lower``; between the limits there is no force.

    Parameters
    ----------
    law : ElasticLaw
        Law V(δ) of the distance δ ≥ 0 beyond a limit.
    lower, upper : float
        Limits, −∞ and ∞ for none.
    """
    name = f"{law} beyond [{lower:.9g}, {upper:.9g}]"
    if law.functions:
        offset = float(law.energy(0.0))
        functions = [_outside(f, lower, upper, order, offset) for order, f in enumerate(law.functions)]
        return ElasticLaw(name, functions=tuple(functions))
    first, offset = int(np.searchsorted(law.edges, 0.0, side="right")), float(law.energy(0.0))
    edges, zero = law.edges[first:], (0.0, (0.0,) * len(law.powers[0]))
    pieces = [
        (b, (powers[0] - offset, *powers[1:])) for b, powers in zip(law.bases[first:], law.powers[first:], strict=True)
    ]
    own_edges: list[float] = []
    own_pieces: list[Piece] = [zero]
    if upper < math.inf:
        own_edges += [upper, *(upper + edge for edge in edges)]
        own_pieces += [(upper + base, powers) for base, powers in pieces]
    if lower > -math.inf:
        own_edges = [*(lower - edge for edge in edges[::-1]), lower, *own_edges]
        own_pieces = [(lower - base, _mirrored(powers)) for base, powers in pieces[::-1]] + own_pieces
    return ElasticLaw(
        name, tuple(own_edges), tuple(b for b, _ in own_pieces), tuple(powers for _, powers in own_pieces)
    )


def _mirrored(powers: tuple[float, ...]) -> tuple[float, ...]:
    return tuple(-coefficient if k % 2 else coefficient for k, coefficient in enumerate(powers))


def _outside(
    function: Callable[[float], float], lower: float, upper: float, order: int, offset: float
) -> Callable[[float], float]:
    """Energy, force or stiffness of a coordinate q with two stops, from the ``function`` of one stop.

    The function depends on the distance beyond a limit; between the limits the result is zero. ``order`` is 0 for the
    energy, 1 for the force and 2 for the stiffness. ``offset`` is subtracted from the energy, so that it is zero at the
    limits.
    """
    sign, away = -1.0 if order == 1 else 1.0, offset if order == 0 else 0.0

    def outside(q: float) -> float:
        if q > upper:
            return function(q - upper) - away
        return sign * (function(lower - q) - away) if q < lower else 0.0

    return outside
