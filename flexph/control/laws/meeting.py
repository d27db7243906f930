"""Where many laws meet what is around their ports, ``s = free − slopes · f``, all at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...numerics.arrays import Array
from ...numerics.step_failed import StepFailed
from ..loops.tolerances import HOLDS, MET, SHORTEST, STEPS
from .laws import Law


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

    Newton's method for the distance from the points in which each law is met alone, with the laws as their tangents
    there, along which a search makes it less: slopes that gyrate, as current and spin of motors do, may lead around.
    """
    forces, point = guess, _alone(laws, line, guess)
    for _ in range(STEPS):
        off, terms = line.free - line.slopes @ point.forces - point.rates, np.abs(line.slopes) @ np.abs(point.forces)
        left = float(np.abs(off).max(initial=0.0))
        if left <= MET * float(np.max(np.abs(line.free) + terms)) or len(laws) == 1:
            return point.rates, point.forces
        step, share, before = _together(laws, line, point) - forces, 1.0, point.apart
        while share > SHORTEST:
            point = _alone(laws, line, forces + share * step)
            if point.apart < before:
                break
            share *= 0.5
        forces = forces + share * step
    raise StepFailed("friction and limits of controllers do not come to the same forces", STEPS, left)


class _Point(NamedTuple):
    """Rates and forces on laws that are met alone, and how far all of them are from the forces given."""

    rates: Array
    forces: Array
    apart: float


def _alone(laws: Sequence[Law], line: Line, forces: Array) -> _Point:
    """The laws met alone, each under the forces of all others."""
    own = np.maximum(np.diag(line.slopes), 0.0)
    free = line.free - line.slopes @ forces + own * forces
    met = [
        law.meet(*given) for law, *given in zip(laws, free.tolist(), own.tolist(), line.before.tolist(), strict=True)
    ]
    rates, alone = np.array(met).T
    return _Point(rates, alone, float(np.linalg.norm(np.sqrt(own) * (forces - alone))))


def _together(laws: Sequence[Law], line: Line, point: _Point) -> Array:
    """The forces where the line meets the tangents of all laws; those of the point where it does not."""
    pairs = zip(laws, point.rates.tolist(), point.forces.tolist(), strict=True)
    stiff = np.array([law.stiffness(rate, force) for law, rate, force in pairs])
    held = np.isinf(stiff)
    soft = np.where(held, 0.0, stiff)
    # of vertical laws ds = 0, of others df = ρ' ds
    left = np.where(held[:, None], line.slopes, soft[:, None] * line.slopes + np.eye(held.size))
    off = line.free - line.slopes @ point.forces - point.rates
    try:
        return np.asarray(point.forces + np.linalg.solve(left, np.where(held, off, soft * off)))
    except np.linalg.LinAlgError:
        return point.forces
