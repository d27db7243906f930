"""Mean velocities of a step, predicted from those of the last ones."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from ..numerics.arrays import Array
from .convergence.tolerances import HISTORY, LEAST_SPACING, WEIGHT_LIMIT


def predicted(means: Array, lengths: Array, h: float) -> Array:
    """Mean velocities of a step of h, by linear extrapolation in time of those (rows, n) of two of the last steps.

    The two are the nearest to the middle of the step, and the next one that is not too close to it: steps may go back.
    """
    away, end = [], 0.0  # middles of the steps, from that of the next one
    for length in lengths[::-1].tolist():
        away.append(end - 0.5 * length - 0.5 * h)
        end -= length
    near, *others = sorted(range(len(away)), key=lambda k: (abs(away[k]), -k))
    first: Array = means[-1 - near]
    for k in others:
        if abs(away[k] - away[near]) >= LEAST_SPACING * abs(h):
            return first + (first - means[-1 - k]) * (away[near] / (away[k] - away[near]))
    return first


def predicted_alternating(means: Array, lengths: Array, h: float) -> Array:
    """Mean velocities of a step of h from those (HISTORY, n) of the last ones, of any lengths and signs hₖ.

    The prediction is a parabola in time and, for unresolved vibrations, (−1)ᵏ/hₖ times a line in Σ 1/hₖ. Such a
    coordinate q changes its sign with each step, up to a turn of 4/(ω hₖ), and its mean velocity is −2q/hₖ.
    """
    ends, turns = np.cumsum(lengths[::-1]), np.cumsum(h / lengths[::-1])
    away = -(ends - 0.5 * lengths[::-1] + 0.5 * h) / h  # middles of the steps, from that of the next one
    turned = -(turns - 0.5 * h / lengths[::-1] + 0.5)
    sign = h / lengths[::-1] * (-1.0) ** np.arange(1, HISTORY + 1)
    basis = np.array([np.ones(HISTORY), away, away * away, sign, sign * turned])
    with np.errstate(all="ignore"), suppress(np.linalg.LinAlgError):
        weights: Array = np.linalg.solve(basis, [1.0, 0.0, 0.0, 1.0, 0.0])
        if np.abs(weights).max() <= WEIGHT_LIMIT:
            velocities: Array = weights @ means[::-1]
            return velocities
    return predicted(means, lengths, h)
