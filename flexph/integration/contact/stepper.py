"""Steps of mechanisms with rigid contacts: impacts where gaps close, steps that keep them closed, and what settles.

By ``events`` a step is split where a gap closes, and the impact is there; in ``steps`` the impacts of all gaps that
would close within a step are at its beginning. In both the step closes what remains (:mod:`.closing`), and at its end
velocities that it left against the contacts settle (:mod:`flexph.contacts.velocities`).
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ...contacts.broad_phase import passing
from ...contacts.levels import gap_rates
from ...kernels.contacts.gap_arrays import ANGLE
from ...kernels.contacts.gaps import TOUCHING, vectors_of
from ...kernels.convergence.tolerances import RESOLUTION
from ...mechanisms.model.constraints import velocities_of
from ...mechanisms.model.state import State
from ...numerics.arguments import warn
from ...numerics.arrays import Array
from ...numerics.step_failed import StepFailed
from ...systems.validity import ValidityWarning
from ..exact.step import StepResult, StepStart, check_end
from ..times.events import zero_between
from .impact_stepper import STRIKES, ImpactStepper
from .part_stepper import NONE
from .parts import Part, joined, solved
from .strikes import RESTING

INSIDE = 1e-9
"""Depth over that size at the start of a run up to which bodies are not in each other."""
SPLITS = 50
"""Impacts in a step by events; what is left of the step then closes without restitution."""
CROWD, GROUP = 20, 10
"""Impacts in a step by events, and contacts that closed before them, from which on a run is told what is for many."""
SHORTEST = 1e-7
"""Length of a part of a step, over that of the step, which is not taken."""
DIVISIONS = 12
"""How often a step is divided where balls pass through each other in it."""
AHEAD, TREES = 2.5, 12
"""How far is looked for pairs that are near, over the way of the fastest body, and how often if that was too little."""
REACH = 0.1
"""How near gaps are predicted to come that may close in a step, over the largest way of one."""
CLOSINGS = 20
"""How often a step is taken with more contacts, as bodies are in each other at its end."""


class RigidStepper(ImpactStepper):
    """The step of the exact scheme with rigid contacts."""

    def start(self, start: State) -> StepStart:
        """Where a run starts; raises ValueError where bodies are in each other."""
        begun = super().start(start)
        number = self._contacts.near(self._points(begun), 0.0)
        near = self._of(number)
        gaps = near._gaps(begun)[near._rigid]
        worst = int(np.argmin(gaps)) if gaps.size else -1
        if gaps.size and gaps[worst] < -INSIDE * self._size(begun):
            k = near._rigid[worst]
            unit = "rad" if near._contacts.kind[k] == ANGLE else "m"
            raise ValueError(
                f"{self.accounts.gap_name(int(number[k]))}: the bodies are in each other at the start, by "
                f"{-gaps[worst]:.3g} {unit}: begin with a gap of zero or more, or take a compliant law"
            )
        return begun

    def step(self, start: StepStart, time: float) -> StepResult:
        """The step from a start to a time [s]; raises StepFailed."""
        if time <= start.time:
            raise StepFailed("steps with rigid contacts or dry friction go forward in time", 0, 0.0)
        try:
            parts, before = solved(self._parts, start, time), start
            for part in parts:  # not those that were tried: contacts may end them before a curve does
                check_end(self.mechanism, before.state, part.end.state, part.iterations)
                before = part.end
            return joined(start, parts, self._size(start))
        except StepFailed as error:
            error.span = (start.time, time)
            raise

    # --- which gaps -----------------------------------------------------------------------------------------------

    def _parts(self, start: StepStart, time: float, depth: int = 0) -> list[Part]:
        """The step with all gaps that may close in it, divided where balls would pass through each other."""
        near, parts = self._near(start, time)
        for begin, part in zip((start, *(p.end for p in parts)), parts, strict=False):
            share = near._passing(begin, part)
            if share is None:
                continue
            if depth == DIVISIONS:
                raise StepFailed("bodies pass through each other within the step: take shorter ones", depth, share)
            until = begin.time + share * part.length
            before = self._parts(start, until, depth + 1)
            return [*before, *self._parts(before[-1].end, time, depth + 1)]
        return parts

    def _near(self, start: StepStart, time: float) -> tuple[RigidStepper, list[Part]]:
        """The step with the gaps that are near, so many that all others are further apart than nodes moved."""
        if not self._broad.leaves_out:
            return self, self._given(start, time)
        points, h = self._points(start)[self._broad.nodes], time - start.time
        a, v = self.arrays, velocities_of(self.mechanism, start.state.c)
        fall = np.abs(a.weight / a.mass[:, None]).max(initial=0.0)
        reach = AHEAD * h * (np.abs(v[a.columns.v]).max() + h * float(fall))
        for _ in range(TREES):
            near = self._of(self._broad.near(points, reach))
            parts = near._given(start, time)
            places = [points, *(self._points(part.end)[self._broad.nodes] for part in parts)]
            way = sum(float(np.linalg.norm(q - p, axis=1).max()) for p, q in pairwise(places))
            if 2.0 * way <= reach:
                return near, parts
            reach = AHEAD * way
        raise StepFailed("bodies move further the more contacts are taken in", TREES, 0.0)

    def _given(self, start: StepStart, time: float) -> list[Part]:
        return self._by_events(start, time) if self.by_events else self._in_one(start, time)

    def _passing(self, start: StepStart, part: Part) -> float | None:
        """Share of a part of a step to divide it at, as balls pass through each other in it; None where none do.

        For events they are in each other there; in steps they are about to meet, and the impact is at the beginning.
        """
        if not (part.length and self._may_pass):
            return None
        first, last = (vectors_of(self._contacts, self._points(at)) for at in (start, part.end))
        shares = passing(self._contacts, (first, last), part.closed)
        return shares and shares[1 if self.by_events else 0]

    # --- the two ways ---------------------------------------------------------------------------------------------

    def _by_events(self, start: StepStart, time: float) -> list[Part]:
        parts: list[Part] = []
        now, length, size = start, time - start.time, self._size(start)
        known: Array | None = None
        met: set[int] = set()
        for split in range(SPLITS + 1):
            if split == CROWD and len(met) >= GROUP:
                self.tell_of_many()
            gaps = self._rigid_gaps(now, known)
            touching = self._rigid[gaps <= TOUCHING * size]
            if touching.size and not parts:
                now = self._with_energy(now)
            struck = self._struck_where_closed(now, touching, RESOLUTION * size / length)
            if struck is not None:
                parts.append(struck)
                now = struck.end
            if split == SPLITS:
                parts += self._whole(now, time, touching)
                return parts
            closed = self._held(now, length, touching)
            gaps, until, opened = np.where(gaps > TOUCHING * size, gaps, 0.0), time, NONE
            part = self._part(now, until, closed)
            while (more := np.setdiff1d(self._first_inside((now, part), closed, size), opened)).size:
                opened = np.union1d(opened, more)
                until = self._closing_time((now, gaps), part, closed, opened)
                if min(time - until, until - now.time) <= SHORTEST * length:
                    return [*parts, *self._whole(now, time, np.union1d(closed, opened))]
                part = self._part(now, until, closed)
            parts += self._settled(part, closed)
            if until == time:
                return parts
            met.update(opened.tolist())
            now, known = parts[-1].end, parts[-1].gaps
        raise AssertionError("unreachable")

    def tell_of_many(self) -> None:
        """Warn once in a run that impacts of a group, each solved by itself, take long."""
        if self._told:
            return
        self._told.append(
            f"more than {CROWD} impacts of {GROUP} or more contacts within a step: each is found in time and solved by "
            "itself, which takes long; Exact(contact='steps') is for groups, it strikes at the beginning of steps"
        )
        warn(self._told[0], ValidityWarning)

    def _in_one(self, start: StepStart, time: float) -> list[Part]:
        parts: list[Part] = []
        now = start
        while self._bouncing.any() and len(parts) < STRIKES:
            struck = self._struck_in(now, time)
            if not struck:
                break
            parts += struck
            now = parts[-1].end
        return [*parts, *self._whole(now, time, self._within_reach(now, time))]

    def _within_reach(self, start: StepStart, time: float) -> Array:
        """Rigid contacts that touch, and those that may close within a step: with too few it is taken again."""
        h, before, rate = time - start.time, self._gaps(start), gap_rates(self.arrays, start.state.c, start.state.d)
        way = h * np.abs(rate[self._rigid]).max(initial=0.0)
        closing = self._contacts.rigid & (before + h * rate <= REACH * way)
        return np.union1d(np.flatnonzero(closing), self._touching(start))

    def _whole(self, start: StepStart, time: float, closed: Array) -> list[Part]:
        """The rest of a step, in which all gaps within reach may close."""
        part: Part | None = None
        for _ in range(CLOSINGS):
            part = self._part(start, time, closed, part)
            more = self._first_inside((start, part), closed, self._size(part.end))
            if not more.size:
                return self._settled(part, closed)
            closed = np.union1d(closed, more)
        raise StepFailed("more and more contacts close", CLOSINGS, 0.0)

    # --- which contacts -------------------------------------------------------------------------------------------

    def _held(self, at: StepStart, h: float, touching: Array) -> Array:
        """Of the rigid contacts that touch those that do not bounce off: others may come back with another impact.

        Positions do not resolve the way of slower ones in a step.
        """
        if not touching.size:
            return touching
        rates = gap_rates(self.arrays, at.state.c, at.state.d)
        still = max(RESTING * np.abs(rates[self._rigid]).max(initial=0.0), RESOLUTION * self._size(at) / h)
        return touching[~self._bouncing[touching] | (rates[touching] <= still)]

    def _first_inside(self, way: tuple[StepStart, Part], closed: Array, size: float) -> Array:
        """Rigid contacts, not of those that may close, whose bodies are in each other at the end of a part.

        The part has a start, the mechanism a size [m].
        """
        start, part = way
        inside = self._rigid[self._gaps_after(start, part.end, part.gaps) < -1e-2 * TOUCHING * size]
        return np.setdiff1d(inside, closed) if inside.size else inside

    def _closing_time(self, begun: tuple[StepStart, Array], free: Part, closed: Array, opened: Array) -> float:
        """When the first of some gaps closes on the way from a start, with its gaps, to an end where they are closed.

        Seen from the side where it is open; after a bounce that is later. A gap that touches is zero at the start.
        """
        (start, gaps), own = begun, np.searchsorted(self._rigid, opened)

        def gap(end: float) -> float:
            flown = None if self._flight is None else self._flight.gaps(start, end, self._numbers(closed))
            at = self._gaps_after(start, self._part(start, end, closed).end) if flown is None else flown[self._all]
            return float(at[own].min())

        begin, end = start.time, free.end.time
        first = begin, float(gaps[own].min())
        last = end, float(self._gaps_after(start, free.end, free.gaps)[own].min())
        while first[1] <= 0.0:
            middle = 0.5 * (begin + last[0])
            if middle - begin <= SHORTEST * (end - begin):
                return begin
            at = middle, gap(middle)
            first, last = (at, last) if at[1] > 0.0 else (first, at)
        return zero_between(first, last, gap)
