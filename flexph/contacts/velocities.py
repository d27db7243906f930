"""Impacts, and what settles after a step: laws of contacts for velocities at a state."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np

from ..numerics.arrays import Array
from .complementarity import Impulses

SOLVED = 1e-9
"""Defect of the complementarity beyond which an impact is taken without restitution."""


class Strike(NamedTuple):
    """Impulses of contacts, the rates before and after, what they lose [J], and the share that was taken.

    Losses are by direction and contact, the normal ones first.
    ``missed`` is the defect of the complementarity that was solved, ``scale`` what it is relative to [m/s].
    """

    impulses: Array
    before: Array
    after: Array
    lost: Array
    share: float
    missed: float
    scale: float


class ImpactLevel(Protocol):
    """What impacts ask of contacts at one configuration: see :class:`flexph.contacts.levels.Level`."""

    @property
    def friction(self) -> Array:
        """Coefficients (n,)."""

    def rates(self, v: Array) -> Array:
        """Rates of gaps and slips at velocities."""

    def terms(self, v: Array) -> Array:
        """Sizes of the terms of these rates."""

    def changes(self, impulses: Array) -> Array:
        """D Λ, what impulses do to the rates."""

    def solved(self, b: Array, size: float, guess: Array | None = None) -> Impulses:
        """Impulses that obey the laws with the rates D Λ + b."""

    def struck(self, v: Array, impulses: Array) -> Array:
        """Velocities after impulses."""

    def reactions(self, impulses: Array) -> Array:
        """Impulses of the joints."""

    def joined(self, v: Array, rates: Array) -> tuple[Array, Array]:
        """Velocities that have the rates of the joints, and the impulses that these take."""


def impact(level: ImpactLevel, v: Array, restitution: Array) -> Strike:
    """Newton's law with Coulomb friction: −Λ_N ⟂ γ⁺ + e min(γ⁻, 0) ≥ 0, friction against the slip after.

    Where it would create energy, it goes from the plastic impact only so far that none is created.
    """
    before, count = level.rates(v), restitution.size
    wanted = before.copy()
    wanted[:count] += restitution * np.minimum(before[:count], 0.0)
    found = _solved(level, v, wanted)
    gained = _work(level, before, found.flat)
    if found.defect > SOLVED or gained > 0.0:
        plastic = _solved(level, v, before)
        nothing = np.zeros_like(before)
        base = _largest_share(level, before, nothing, plastic.flat) * plastic.flat  # all of it, if it is solved
        change = found.flat - base if found.defect <= SOLVED else nothing
        share = _largest_share(level, before, base, change)
        worse = max(plastic, found, key=_missed) if change.any() else plastic
        return _strike(level, v, (base + share * change, share), worse)
    return _strike(level, v, (found.flat, 1.0), found)


def settle(level: ImpactLevel, v: Array, given: Array, taken: float = 0.0) -> Strike:
    """The plastic law for impulses together with those already ``given``, which have ``taken`` energy [J].

    It goes so far that both together create none: friction of impulses that are too large takes too much, and what
    settles them gives that back.
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
    """The largest sum of the sizes of the terms of a rate [m/s]."""
    return float(level.terms(v).max(initial=0.0))


def _work(level: ImpactLevel, before: Array, impulses: Array) -> float:
    """ΔT of impulses [J]."""
    return float(impulses @ (before + 0.5 * level.changes(impulses)))


def _largest_share(level: ImpactLevel, before: Array, plastic: Array, change: Array) -> float:
    """The largest s ≤ 1 with which plastic + s change creates no energy: ΔT is convex in s and not positive at 0."""
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
    after = level.rates(level.struck(v, impulses))  # of the velocities that follow: D Λ may have lost digits
    lost = -(impulses * 0.5 * (before + after)).reshape(-1, level.friction.size)
    return Strike(impulses, before, after, lost, share, _missed(solved), max(solved.scale, _size(level, v)))
