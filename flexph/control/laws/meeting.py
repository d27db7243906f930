"""Where many laws meet what is around their ports, ``s = free − slopes · f``, all at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...numerics.arrays import Array
from ...numerics.step_failed import StepFailed
from .laws import Law

SWEEPS = 500
"""Sweeps over all laws: each is met alone by every sweep, and all together by Newton's step after it."""
MET = 1e-14
"""Distance of rates from the line after a sweep, over the largest terms of it, at which all laws are met."""


HOLDS = 1e3
"""How much nearer than others laws that hold a rate are come to: what is left pushes what they hold in every step."""


class Line(NamedTuple):
    """What is around the ports of m laws in a step: ``rates = free − slopes · forces``.

    ``before`` are the rates at its start; ``off`` (m,) is how far the rates of a try are from the laws next to it,
    times HOLDS where these hold them, and ``power`` (m,) what is lost there.
    """

    free: Array
    slopes: Array
    before: Array
    off: Array
    power: Array

    @classmethod
    def nothing(cls) -> Line:
        """Of no laws."""
        none = np.zeros(0)
        return cls(none, np.zeros((0, 0)), none, none, none)

    @classmethod
    def through(cls, laws: Sequence[Law], tried: tuple[Array, Array], left: Array, before: Array) -> Line:
        """The line through the rates and forces of a try: with all others settled there are the rates ``left[:, 0]``.

        The other columns of ``left`` say how these change with the forces.
        """
        (rates, forces), slopes = tried, -left[:, 1:]
        own = np.maximum(np.diag(slopes), 0.0)
        points = zip(laws, rates + own * forces, own, before, strict=True)
        near = np.array([law.meet(float(f), float(s), float(b)) for law, f, s, b in points])
        held = np.isinf([law.stiffness(*point) for law, point in zip(laws, near.tolist(), strict=True)])
        off = np.where(held, HOLDS, 1.0) * (rates - near[:, 0])
        return cls(left[:, 0] + slopes @ forces, slopes, before, off, near[:, 0] * near[:, 1])

    def met(self, laws: Sequence[Law], guess: Array) -> Array:
        """The forces (m,) of all laws on the line; raises StepFailed."""
        return meet_all(laws, self, guess)[1] if laws else guess


def meet_all(laws: Sequence[Law], line: Line, guess: Array) -> tuple[Array, Array]:
    """Rates and forces (m,) on all laws and a line; raises StepFailed.

    Its slopes (m, m) are positive semi-definite, so that sweeps over the laws settle; where these keep to their
    branches, Newton's step is the last one.
    """
    forces, off = guess.copy(), np.inf
    for _ in range(SWEEPS):
        rates = np.zeros(forces.size)
        for k in range(forces.size):
            rates[k], forces[k] = _alone(laws, line, forces, k)
        off = float(np.abs(line.free - line.slopes @ forces - rates).max(initial=0.0))
        if len(laws) == 1 or off <= MET * float(np.max(np.abs(line.free) + np.abs(line.slopes) @ np.abs(forces))):
            return rates, forces
        together = _together(laws, line, rates, forces)
        if _apart(laws, line, together) < _apart(laws, line, forces):
            forces = together
    raise StepFailed("friction and limits of controllers do not come to the same forces", SWEEPS, off)


def _alone(laws: Sequence[Law], line: Line, forces: Array, k: int) -> tuple[float, float]:
    """The rate and force of a law under the forces of all others."""
    own = float(line.slopes[k, k])
    alone = float(line.free[k] - line.slopes[k] @ forces) + own * float(forces[k])
    return laws[k].meet(alone, max(own, 0.0), float(line.before[k]))


def _apart(laws: Sequence[Law], line: Line, forces: Array) -> float:
    """By how much rates change where each law is met alone."""
    alone = np.array([_alone(laws, line, forces, k)[1] for k in range(forces.size)])
    return float(np.abs(np.diag(line.slopes) * (alone - forces)).max(initial=0.0))


def _together(laws: Sequence[Law], line: Line, rates: Array, forces: Array) -> Array:
    """Newton's step for the forces, with each law as its tangent; the forces themselves where it has none."""
    stiff = np.array([law.stiffness(s, f) for law, s, f in zip(laws, rates.tolist(), forces.tolist(), strict=True)])
    held = np.isinf(stiff)
    soft = np.where(held, 0.0, stiff)
    # of vertical laws ds = 0, of others df = ρ' ds
    left = np.where(held[:, None], line.slopes, soft[:, None] * line.slopes + np.eye(forces.size))
    off = line.free - line.slopes @ forces - rates
    try:
        step: Array = np.linalg.solve(left, np.where(held, off, soft * off))
    except np.linalg.LinAlgError:
        return forces
    return np.asarray(forces + step)
