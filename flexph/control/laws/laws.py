"""Dissipative laws between the mean rate s of a step at a port and the force f against it, f s ≥ 0.

The rest of the system answers ``s = free − slope f`` with slope ≥ 0. A law that does not fall with the rate has
exactly one point in common with this line.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

from ...laws.resistive_relations import Relation
from ...numerics import checks as check
from ...numerics.arguments import checked

STEPS = 200
"""Iterations of the root search; bisection every other time reaches 1e-16 of the first bracket in 110."""
ROUND_OFF = 1e-16


class Law(Protocol):
    """Law that closes a port of a controller."""

    def meet(self, free: float, slope: float, before: float) -> tuple[float, float]:
        """Mean rate and force at which the law meets the line rate = free − slope · force.

        ``before`` is the rate at the start of the step, if a state stores it.
        """

    def stiffness(self, rate: float, force: float) -> float:
        """Slope ∂f/∂s at a point of the law, infinite where the law is vertical."""


@checked
@dataclass(frozen=True)
class DryFriction:
    """Coulomb's law without regularisation: f = T sign(s) in motion, −T ≤ f ≤ T at rest, without creep.

    For a step with the rate Ω₀ at its start and the mean rate s = (Ω₀ + Ω₁)/2, the value s = Ω₀/2, which stops the
    motion at the end of the step, is part of the law where it dissipates:

        f = T for s > Ω₀/2,   0 ≤ f ≤ T at Ω₀/2,   0 between,   −T ≤ f ≤ 0 at s = 0,   −T below,   for Ω₀ ≥ 0,

    and mirrored for Ω₀ < 0. The law never falls with s, so that a step has one solution with f s ≥ 0, and a body at
    rest stays at rest, Ω₁ = 0. The law f = T sign(s) alone would give Ω₁ = −Ω₀ in every step.

    Parameters
    ----------
    level : float
        T, the largest force or torque of friction [N or N m].

    Raises
    ------
    ValueError
        If the level is negative or not finite.
    """

    level: float

    def __post_init__(self) -> None:
        check.not_negative("level", self.level)

    def meet(self, free: float, slope: float, before: float) -> tuple[float, float]:
        """See :class:`Law`."""
        if before < 0.0:
            rate, force = self.meet(-free, slope, -before)
            return -rate, -force
        most, stop = slope * self.level, 0.5 * before
        if free > stop + most:
            return free - most, self.level
        if free >= stop:
            return stop, (free - stop) / slope if most > 0.0 else 0.0
        if free > 0.0:
            return free, 0.0
        if free >= -most:
            return 0.0, free / slope if most > 0.0 else 0.0
        return free + most, -self.level

    def stiffness(self, rate: float, force: float) -> float:
        """See :class:`Law`."""
        return math.inf if 0.0 < abs(force) < self.level else 0.0


@dataclass(frozen=True)
class Smooth:
    """Law of a resistive relation f = ρ(s)."""

    relation: Relation

    def meet(self, free: float, slope: float, before: float) -> tuple[float, float]:
        """See :class:`Law`; if the relation falls with the rate, one of its points on the line."""
        low, high = sorted((0.0, free))  # as s ρ(s) ≥ 0
        rate = 0.5 * free
        for _ in range(STEPS):
            force = float(self.relation.force(rate))
            off = rate - free + slope * force
            low, high = (rate, high) if off < 0.0 else (low, rate)
            moved = rate - off / (1.0 + slope * max(float(self.relation.slope(rate)), 0.0))
            following = moved if low < moved < high else 0.5 * (low + high)
            if abs(following - rate) <= ROUND_OFF * abs(rate):
                break
            rate = following
        return rate, force

    def stiffness(self, rate: float, force: float) -> float:
        """See :class:`Law`."""
        return float(self.relation.slope(rate))


@dataclass(frozen=True)
class Limit:
    """Resistance against the part of the rate above a limit, of either sign."""

    most: float
    resistance: float

    def meet(self, free: float, slope: float, before: float) -> tuple[float, float]:
        """See :class:`Law`."""
        over = max(abs(free) - self.most, 0.0) / (1.0 + slope * self.resistance)
        if over == 0.0:
            return free, 0.0
        return math.copysign(self.most + over, free), math.copysign(self.resistance * over, free)

    def stiffness(self, rate: float, force: float) -> float:
        """See :class:`Law`."""
        return self.resistance if force != 0.0 else 0.0
