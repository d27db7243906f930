"""Multipliers of second order at the midpoints of their steps.

The multipliers of the scheme are means over a step. They carry an error of first order that changes its sign from step
to step: velocities satisfy their constraints in the mean of each step, and at its ends only to second order, to one
side and the other in turn. Weights that sum to one, cancel such an alternation and keep straight lines leave second
order: (¼, ½, ¼) inside a run, (¾, ½, −¼) at its ends.
"""

from __future__ import annotations

from collections.abc import Sequence

from .space import Array

INSIDE = (0.25, 0.5, 0.25)
AT_END = (0.75, 0.5, -0.25)


def weigh(weights: Sequence[float], multipliers: Sequence[Array]) -> Array:
    """Weighted sum of three multipliers (g,), or of three arrays of them."""
    (p, q, r), (a, b, c) = weights, multipliers
    return p * a + q * b + r * c


def smooth(stage: Array) -> Array:
    """Second-order multipliers of a run from those of all its steps (k, g)."""
    made = stage.copy()
    if len(stage) >= 3:
        made[1:-1] = weigh(INSIDE, (stage[:-2], stage[1:-1], stage[2:]))
        made[0], made[-1] = weigh(AT_END, tuple(stage[:3])), weigh(AT_END, tuple(stage[:-4:-1]))
    return made


class Smoother:
    """Second-order multipliers of the steps of a run, each as soon as its neighbours are known.

    Steps are numbered from zero; a run that continues another begins with the last multipliers of that one.
    """

    def __init__(self, before: Sequence[Array]) -> None:
        self._last_three = list(before)[-2:]
        self._number = -1
        self._fresh = not self._last_three

    def add(self, multipliers: Array) -> dict[int, Array]:
        """Take the multipliers of the next step; returns what is now known, by the number of the step."""
        self._number += 1
        self._last_three = [*self._last_three[-2:], multipliers]
        three, now = self._last_three, self._number
        if len(three) < 3:
            return {now: multipliers}
        found = {now: weigh(AT_END, three[::-1]), now - 1: weigh(INSIDE, three)}
        if self._fresh and now == 2:
            found[0] = weigh(AT_END, three)
        return found
