"""Impacts one after the other at the beginning of a step: where bodies are does not change, so D is made once.

Which gaps close after an impact is foreseen from what it changes of the way of the nodes, h Δv; the last word has the
step without contacts. Contacts that do not act on each other by others that touch are struck each group by itself.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property

import numpy as np

from ...contacts.complementarity import SOLVED, Impulses, Problem, judged, together
from ...contacts.levels import SparseLevel, gaps_at
from ...kernels.arrays import Arrays
from ...kernels.contacts.gaps import gaps_between, vectors_of
from ...kernels.state import touching_velocities
from ...numerics.arrays import Array
from ..exact.step import StepStart

RESTING = 1e-11
"""Speed of a gap over the largest in the mechanism up to which it does not close."""
MOST, WEIGHT, FEW = 600, 1e-9, 4
"""Contacts up to which D is a matrix, the weight on what changes, over its largest entry, contacts of a small group."""
NearGuess = Callable[[Problem, Array], Impulses]
"""What solves a problem by its dense D, near a guess."""


def in_numpy(problem: Problem, guess: Array) -> Impulses:
    """Impulses near a guess."""
    return together(problem, judged(problem, guess), WEIGHT)


def in_loops(problem: Problem, guess: Array) -> Impulses:
    """Impulses near a guess by compiled loops."""
    from ...contacts.loops.dense import solve_dense

    weight = WEIGHT * float(problem.D.diagonal().max())
    x, defect = solve_dense((problem.D, problem.b), problem.cones, guess, scale=problem.scale, weight=weight)
    return Impulses(*problem.split(x), defect, problem.scale)


class Struck:
    """Some of the contacts of a level, as :class:`flexph.contacts.levels.Level` has all of its own, by its dense D."""

    def __init__(
        self, whole: SparseLevel, known: tuple[Array, Array], index: Array, group: Array, near: NearGuess = in_numpy
    ) -> None:
        D, spread = known
        own = np.arange(D.shape[0]).reshape(-1, whole.friction.size)[:, index].ravel()
        self._whole, self._index, self._group, self._near = whole, index, group, near
        self.friction, self.rows = whole.friction[index], whole.rows[own]
        self._D, self._spread = D[np.ix_(own, own)], spread[:, own]

    def rates(self, v: Array) -> Array:
        """See :class:`Level`."""
        moved: Array = self.rows @ v
        return moved

    def terms(self, v: Array) -> Array:
        """See :class:`Level`."""
        sizes: Array = abs(self.rows) @ np.abs(v)
        return sizes

    def changes(self, impulses: Array) -> Array:
        """D Λ."""
        moved: Array = self._D @ impulses
        return moved

    def solved(self, b: Array, size: float, guess: Array | None = None) -> Impulses:
        """See :class:`Level`; groups that do not act on each other are problems of their own, small ones one."""
        whole = Problem(self._D, b, self.friction, size)
        x, rows = np.zeros(b.size) if guess is None else guess.copy(), np.arange(b.size).reshape(-1, self.friction.size)
        few = np.bincount(self._group)[self._group] <= FEW
        apart = [np.flatnonzero(self._group == group) for group in np.unique(self._group[~few])]
        for own in (*([np.flatnonzero(few)] if few.any() else []), *apart):
            at = rows[:, own].ravel()
            problem = Problem(self._D[np.ix_(at, at)], b[at], self.friction[own], whole.scale)
            found = self._near(problem, x[at])
            if found.defect > SOLVED:
                found = self._whole.of(self._index[own]).solved(b[at], whole.scale, None if guess is None else x[at])
            x[at] = found.flat
        return judged(whole, x)

    def struck(self, v: Array, impulses: Array) -> Array:
        """See :class:`Level`."""
        change: Array = self._spread[: v.size] @ impulses
        return v + change

    def reactions(self, impulses: Array) -> Array:
        """See :class:`Level`."""
        held: Array = self._spread[self.rows.shape[1] :] @ impulses
        return held

    def joined(self, v: Array, rates: Array) -> tuple[Array, Array]:
        """See :class:`Level`."""
        return self._whole.joined(v, rates)


class Strikes:
    """Contacts that may be struck at the beginning of a step, which without them ends with the nodes at ``ahead``."""

    def __init__(
        self,
        a: Arrays,
        start: StepStart,
        ahead: tuple[Array, float],
        level: tuple[SparseLevel, Array],
        near: NearGuess = in_numpy,
    ) -> None:
        (self._ahead, self._h), (self._level, self.index), self._near = ahead, level, near
        self._a = a._replace(contacts=a.contacts.take(self.index))
        self._before, self._moved = gaps_at(self._a, start.state.c, start.state.d).before, self._velocities(start)

    def _velocities(self, at: StepStart) -> Array:
        return touching_velocities(self._a, at.state.c, at.state.d.arm, at.state.c.R)

    @cached_property
    def _known(self) -> tuple[Array, Array]:
        """D and what unit impulses add."""
        spread = self._level.spread()
        D: Array = self._level.rows @ spread[: self._level.rows.shape[1]]
        return D, spread

    def closing(self, at: StepStart, v: Array) -> Array:
        """Places of the contacts that close within the step, fast enough to be no rest, after impacts at its start."""
        points = self._ahead + self._h * (self._velocities(at) - self._moved)
        vectors = vectors_of(self._a.contacts, points)
        after = gaps_between(self._a.contacts, vectors, vectors).before
        return self.index[are_closing((self._before, after), self._level.rates(v)[: self.index.size], self._h)]

    def acting(self, closing: Array, touching: Array) -> tuple[Array, Struck]:
        """Contacts that close, and those that touch and act on them, at the start of the step."""
        index = np.union1d(closing, touching)
        place = np.searchsorted(self.index, index)
        acting, group = self._acting[np.ix_(place, place)], np.full(index.size, -1)
        for first in np.flatnonzero(np.isin(index, closing)):
            if group[first] < 0:
                group[_reached(acting, int(first))] = group.max() + 1
        taken = group >= 0
        return index[taken], Struck(self._level, self._known, place[taken], group[taken], self._near)

    @cached_property
    def _acting(self) -> Array:
        """Which contacts act on each other (c, c)."""
        D, count = self._known[0], self.index.size
        acting: Array = (D.reshape(len(D) // count, count, -1, count) != 0.0).any((0, 2))
        return acting


def _reached(acting: Array, first: int) -> Array:
    """Which contacts are reached from one by those that act on each other (c,)."""
    own = acting[first].copy()
    own[first], size = True, 0
    while (now := int(own.sum())) > size:
        own, size = own | acting[own].any(axis=0), now
    return own


def are_closing(gaps: tuple[Array, Array], rate: Array, h: float) -> Array:
    """Whether gaps at both ends of a step close in it, fast enough to be no rest."""
    before, after = gaps
    bend, still = 2.0 * np.abs(after - before - h * rate) / h, RESTING * np.abs(rate).max(initial=0.0)
    closing: Array = (after <= 0.0) & (rate < -np.maximum(bend, still))
    return closing
