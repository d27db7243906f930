"""Simultaneous solution of many laws with the line ``s = free − slopes · f`` of the system at their ports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...numerics.arrays import Array
from ...numerics.step_failed import StepFailed
from ..loops.tolerances import HOLDS, MET, SHORTEST, STEPS
from .laws import Law


class Line(NamedTuple):
    """Linear response of the system at the ports of m laws in a step: ``rates = free − slopes · forces``.

    ``before`` are the rates at the start of the step. ``off`` (m,) is the distance of a trial's rates from the nearest
    point of each law, times HOLDS where the law holds the rate; ``power`` (m,) is the dissipation there.
    """

    free: Array
    slopes: Array
    before: Array
    off: Array
    power: Array

    @classmethod
    def nothing(cls) -> Line:
        """Line of no laws."""
        none = np.zeros(0)
        return cls(none, np.zeros((0, 0)), none, none, none)

    @classmethod
    def through(cls, laws: Sequence[Law], tried: tuple[Array, Array], left: Array, before: Array) -> Line:
        """Line through a trial's rates and forces, with reduced rates ``left[:, 0]`` and slopes ``left[:, 1:]``."""
        (rates, forces), slopes = tried, -left[:, 1:]
        own = np.maximum(np.diag(slopes), 0.0)
        points = zip(laws, rates + own * forces, own, before, strict=True)
        near = np.array([law.meet(float(f), float(s), float(b)) for law, f, s, b in points])
        held = np.isinf([law.stiffness(*point) for law, point in zip(laws, near.tolist(), strict=True)])
        off = np.where(held, HOLDS, 1.0) * (rates - near[:, 0])
        return cls(left[:, 0] + slopes @ forces, slopes, before, off, near[:, 0] * near[:, 1])

    def met(self, laws: Sequence[Law], guess: Array) -> Array:
        """Forces (m,) of all laws on the line; raises StepFailed."""
        return meet_all(laws, self, guess)[1] if laws else guess


def meet_all(laws: Sequence[Law], line: Line, guess: Array) -> tuple[Array, Array]:
    """Rates and forces (m,) that lie on all laws and on the line; raises StepFailed.

    Newton's method on the distance from the points at which each law is met alone, with the tangents of the laws there
    and a line search: gyroscopic slopes, as of current and spin of a motor, would let the full step cycle.
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
    raise StepFailed("the forces of friction and limits in controllers did not converge", STEPS, left)


class _Point(NamedTuple):
    """Rates and forces of laws that are solved one by one, and their distance ``apart`` from the given forces."""

    rates: Array
    forces: Array
    apart: float


def _alone(laws: Sequence[Law], line: Line, forces: Array) -> _Point:
    """Solve each law alone, with the forces of all others given."""
    own = np.maximum(np.diag(line.slopes), 0.0)
    free = line.free - line.slopes @ forces + own * forces
    met = [
        law.meet(*given) for law, *given in zip(laws, free.tolist(), own.tolist(), line.before.tolist(), strict=True)
    ]
    rates, alone = np.array(met).T
    return _Point(rates, alone, float(np.linalg.norm(np.sqrt(own) * (forces - alone))))


def _together(laws: Sequence[Law], line: Line, point: _Point) -> Array:
    """Forces where the line meets the tangents of all laws; the point's forces if the matrix is singular."""
    pairs = zip(laws, point.rates.tolist(), point.forces.tolist(), strict=True)
    stiff = np.array([law.stiffness(rate, force) for law, rate, force in pairs])
    held = np.isinf(stiff)
    soft = np.where(held, 0.0, stiff)
    # ds = 0 for vertical laws, df = ρ' ds for all others
    left = np.where(held[:, None], line.slopes, soft[:, None] * line.slopes + np.eye(held.size))
    off = line.free - line.slopes @ point.forces - point.rates
    try:
        return np.asarray(point.forces + np.linalg.solve(left, np.where(held, off, soft * off)))
    except np.linalg.LinAlgError:
        return point.forces
