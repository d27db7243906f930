"""Impacts, and corrections after a step: contact laws for the velocities at a state."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from ..numerics.arrays import Array
from .complementarity import Impulses

SOLVED = 1e-9
"""Relative defect of the complementarity above which an impact is computed without restitution."""


class Strike(NamedTuple):
    """Result of an impact: contact impulses, rates before and after, energy losses [J], and the applied fraction.

    Losses are by direction and contact, normal ones first. ``missed``: defect of the complementarity [m/s]; ``scale``:
    reference velocity of the defect [m/s].
    """

    impulses: Array
    before: Array
    after: Array
    lost: Array
    share: float
    missed: float
    scale: float


class ImpactLevel(Protocol):
    """Protocol of contacts at one configuration, for impacts; see :class:`flexph.contacts.levels.Level`."""

    @property
    def friction(self) -> Array:
        """Friction coefficients (n,)."""

    def rates(self, v: Array) -> Array:
        """Rates of gaps and slips at velocities v."""

    def terms(self, v: Array) -> Array:
        """Sums of the absolute terms of these rates."""

    def changes(self, impulses: Array) -> Array:
        """Changes D Λ of the rates by impulses."""

    def solved(self, b: Array, size: float, guess: Array | None = None) -> Impulses:
        """Impulses Λ that satisfy the contact laws with rates b + D Λ."""

    def struck(self, v: Array, impulses: Array) -> Array:
        """Velocities after impulses."""

    def reactions(self, impulses: Array) -> Array:
        """Impulses of the joints in reaction to contact impulses."""

    def joined(self, v: Array, rates: Array) -> tuple[Array, Array]:
        """Velocities with the given rates of the joints, and the joint impulses for them."""


def impact(level: ImpactLevel, v: Array, restitution: Array) -> Strike:
    """Impact by Newton's restitution and Coulomb friction: 0 ≤ Λ_N ⟂ γ⁺ + e min(γ⁻, 0) ≥ 0, friction by the slip after.

    If this would create energy, only the fraction of its difference from the plastic impact that creates none is
    applied.
    """
    before, count = level.rates(v), restitution.size
    wanted = before.copy()
    wanted[:count] += restitution * np.minimum(before[:count], 0.0)
    found = _solved(level, v, wanted)
    gained = _work(level, before, found.flat)
    if found.defect > SOLVED or gained > 0.0:
        plastic = _solved(level, v, before)
        nothing = np.zeros_like(before)
        base = _largest_share(level, before, nothing, plastic.flat) * plastic.flat  # all of it, if solved
        change = found.flat - base if found.defect <= SOLVED else nothing
        share = _largest_share(level, before, base, change)
        worse = max(plastic, found, key=_missed) if change.any() else plastic
        return _strike(level, v, (base + share * change, share), worse)
    return _strike(level, v, (found.flat, 1.0), found)


def settle(level: ImpactLevel, v: Array, given: Array, taken: float = 0.0) -> Strike:
    """Correct impulses ``given``, which have dissipated ``taken`` [J], so that the sum satisfies the plastic law.

    The correction is limited so that both together create no energy: too large impulses dissipate too much by friction,
    and the correction returns this energy.
    """
    before = level.rates(v)
    found = _solved(level, v, before - level.changes(given), given)
    wanted = found.flat - given
    slope, curve = float(wanted @ before), float(wanted @ level.changes(wanted))
    root = np.sqrt(slope * slope + 2.0 * curve * max(taken, 0.0))
    share = min(1.0, float(root - slope) / max(curve, 1e-300))
    return _strike(level, v, (share * wanted, share), found)


def _solved(level: ImpactLevel, v: Array, b: Array, guess: Array | None = None) -> Impulses:
    return level.solved(b, _size(level, v), guess)


def _size(level: ImpactLevel, v: Array) -> float:
    """Scale of the rates [m/s]: the largest sum of the absolute terms of a rate."""
    return float(level.terms(v).max(initial=0.0))


def _work(level: ImpactLevel, before: Array, impulses: Array) -> float:
    """Change of the kinetic energy by impulses [J]."""
    return float(impulses @ (before + 0.5 * level.changes(impulses)))


def _largest_share(level: ImpactLevel, before: Array, plastic: Array, change: Array) -> float:
    """The largest s ≤ 1 for which plastic + s change creates no energy; ΔT is convex in s, and ≤ 0 at s = 0."""
    at_rest, whole = _work(level, before, plastic), _work(level, before, plastic + change)
    curve = 0.5 * float(change @ level.changes(change))
    slope = whole - at_rest - curve
    if whole <= 0.0 or curve <= 0.0:
        return 1.0 if whole <= 0.0 else 0.0
    root = slope * slope - 4.0 * curve * min(at_rest, 0.0)
    return float(np.clip((-slope + np.sqrt(root)) / (2.0 * curve), 0.0, 1.0))


def _missed(solved: Impulses) -> float:
    """Defect of the complementarity [m/s]."""
    return solved.defect * solved.scale


def _strike(level: ImpactLevel, v: Array, given: tuple[Array, float], solved: Impulses) -> Strike:
    (impulses, share), before = given, level.rates(v)
    after = level.rates(level.struck(v, impulses))  # from the velocities, as D Λ may have lost digits
    lost = -(impulses * 0.5 * (before + after)).reshape(-1, level.friction.size)
    return Strike(impulses, before, after, lost, share, _missed(solved), max(solved.scale, _size(level, v)))
