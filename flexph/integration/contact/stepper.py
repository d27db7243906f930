"""Steps of mechanisms with rigid contacts: impacts where gaps close, steps that keep them closed, and what settles.

By ``events`` a step is split where a gap closes, and the impact is there; in ``steps`` the impacts of all gaps that
would close within a step are at its beginning. In both the step closes what remains (:mod:`.closing`), and at its end
velocities that it left against the contacts settle (:mod:`flexph.contacts.velocities`).
"""

from __future__ import annotations

from copy import copy
from itertools import pairwise
from typing import Literal

import numpy as np
from scipy.optimize import brentq

from ...contacts.broad_phase import broad_phase, passing
from ...contacts.levels import AnyLevel, gap_rates, gaps_at, level_at
from ...contacts.velocities import Strike, impact, settle
from ...kernels.contacts.gaps import ANGLE, TOUCHING, Contacts, gaps_between, no_contacts, vectors_of
from ...kernels.gradient import velocity_count
from ...kernels.jacobians.body_blocks import Sides, sides_of
from ...kernels.resolution import coordinate_size
from ...kernels.state import derive, node_points
from ...kernels.values import Means, Schedule, Step
from ...mechanisms.model.constraints import velocities_of, with_velocities
from ...mechanisms.model.state import State, configuration, flat
from ...numerics.arrays import Array
from ...numerics.step_failed import StepFailed
from ..exact.advance import EvaluatedState, prescribed_rate, solve_and_account, velocity_defect
from ..exact.newton import solve_step
from ..exact.step import ExactStepper, InitialValueProblem, StepResult, StepStart
from .closing import close
from .parts import Part, joined

INSIDE = 1e-9
"""Depth over that size at the start of a run up to which bodies are not in each other."""
RESTING = 1e-11
"""Speed of a gap over the largest in the mechanism up to which it does not close."""
SPLITS = 50
"""Impacts in a step by events; what is left of the step then closes without restitution."""
STRIKES = 200
"""Impacts at the beginning of a step."""
SHORTEST = 1e-7
"""Length of a part of a step, over that of the step, which is not taken."""
DIVISIONS = 12
"""How often a step is divided where balls pass through each other in it."""
AHEAD, TREES = 2.5, 12
"""How far is looked for pairs that are near, over the way of the fastest body, and how often if that was too little."""
MANY = 30
"""Velocities from which on matrices are sparse."""
_NONE = np.zeros(0, dtype=int)


class RigidStepper(ExactStepper):
    """The step of the exact scheme with rigid contacts."""

    def __init__(
        self,
        problem: InitialValueProblem,
        *,
        contact: Literal["events", "steps"],
        least_norm: bool = False,
        depth: int = 2,
    ) -> None:
        super().__init__(problem, least_norm=least_norm, depth=depth)
        self.by_events, self._names = contact == "events", self.accounts.gap_names
        self._see(self.arrays.contacts)
        self._broad = broad_phase(self._contacts, self.arrays.node_body.size)

    def _see(self, contacts: Contacts) -> None:
        self._contacts, self._rigid = contacts, np.flatnonzero(contacts.rigid)
        self._bouncing = contacts.restitution > 0.0

    def _of(self, index: Array) -> RigidStepper:
        """The step with some of the gaps."""
        one = copy(self)
        one.arrays = self.arrays._replace(contacts=self._contacts.take(index))
        one.accounts = self.accounts.of(one.arrays)
        one._see(one.arrays.contacts)
        return one

    def start(self, start: State) -> StepStart:
        """Where a run starts; raises ValueError where bodies are in each other."""
        begun = super().start(start)
        gaps = gaps_at(self.arrays, begun.state.c, begun.state.d).before[self._rigid]
        worst = int(np.argmin(gaps))
        if gaps[worst] < -INSIDE * self._size(begun):
            unit = "rad" if self.arrays.contacts.kind[self._rigid[worst]] == ANGLE else "m"
            raise ValueError(
                f"{self._names[self._rigid[worst]]}: the bodies are in each other at the start, by {-gaps[worst]:.3g} "
                f"{unit}: begin with a gap of zero or more, or take a compliant law"
            )
        return begun

    def step(self, start: StepStart, time: float) -> StepResult:
        """The step from a start to a time [s]; raises StepFailed."""
        if time <= start.time:
            raise StepFailed("steps with rigid contacts go forward in time", 0, 0.0)
        try:
            return joined(start, self._parts(start, time))
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

    def _points(self, at: StepStart) -> Array:
        return node_points(self.arrays, at.state.c.r, at.state.d.arm)

    def _passing(self, start: StepStart, part: Part) -> float | None:
        """Share of a part of a step to divide it at, as balls pass through each other in it; None where none do.

        For events they are in each other there; in steps they are about to meet, and the impact is at the beginning.
        """
        if not part.length:
            return None
        first, last = (vectors_of(self._contacts, self._points(at)) for at in (start, part.end))
        shares = passing(self._contacts, (first, last), part.closed)
        return shares and shares[1 if self.by_events else 0]

    # --- the two ways ---------------------------------------------------------------------------------------------

    def _by_events(self, start: StepStart, time: float) -> list[Part]:
        parts: list[Part] = []
        now, length = start, time - start.time
        for split in range(SPLITS + 1):
            struck = self._struck_where_closed(now)
            if struck is not None:
                parts.append(struck)
                now = struck.end
            if split == SPLITS:
                parts += self._whole(now, time, self._touching(now))
                return parts
            closed = self._held(now)
            free = self._part(now, time, closed)
            opened = self._first_inside(free.end, closed)
            if not opened.size:
                return [*parts, *self._settled(free, closed)]
            until = self._closing_time(now, time, closed, opened)
            if time - until <= SHORTEST * length or until - now.time <= SHORTEST * length:
                closed = np.union1d(closed, opened)
                parts += self._whole(now, time, closed)
                return parts
            parts += self._settled(self._part(now, until, closed), closed)
            now = parts[-1].end
        raise AssertionError("unreachable")

    def _in_one(self, start: StepStart, time: float) -> list[Part]:
        parts, now = [], start
        for _ in range(STRIKES if self._bouncing.any() else 0):
            closing = self._closing_in(now, time)
            if not closing.size:
                break
            strike = self._strike(now, closing)
            parts.append(strike)
            now = strike.end
        return [*parts, *self._whole(now, time, self._touching(now))]

    def _whole(self, start: StepStart, time: float, closed: Array) -> list[Part]:
        """The rest of a step, in which all gaps within reach may close."""
        for _ in range(20):
            part = self._part(start, time, closed)
            more = self._first_inside(part.end, closed)
            if not more.size:
                return self._settled(part, closed)
            closed = np.union1d(closed, more)
        raise StepFailed("more and more contacts close", 20, 0.0)

    # --- which contacts -------------------------------------------------------------------------------------------

    def _size(self, at: StepStart) -> float:
        return max(coordinate_size(self.arrays, at.state.c.r), 1e-300)

    def _gaps(self, at: StepStart) -> Array:
        gaps: Array = gaps_at(self.arrays, at.state.c, at.state.d).before
        return gaps

    def _touching(self, at: StepStart) -> Array:
        """Rigid contacts that touch."""
        return self._rigid[self._gaps(at)[self._rigid] <= TOUCHING * self._size(at)]

    def _held(self, at: StepStart) -> Array:
        """Rigid contacts that touch, without those that bounce off: they may come back with another impact."""
        touching = self._touching(at)
        rates = gap_rates(self.arrays, at.state.c, at.state.d)
        still = RESTING * np.abs(rates[self._rigid]).max(initial=0.0)
        return touching[~self._bouncing[touching] | (rates[touching] <= still)]

    def _first_inside(self, end: StepStart, closed: Array) -> Array:
        """Rigid contacts, not of those that may close, whose bodies are in each other at an end."""
        inside = self._rigid[self._gaps(end)[self._rigid] < -1e-2 * TOUCHING * self._size(end)]
        return np.setdiff1d(inside, closed)

    def _closing_time(self, start: StepStart, time: float, closed: Array, opened: Array) -> float:
        """When the first of some gaps closes, seen from the side where it is open; after a bounce that is later."""

        def gap(end: float) -> float:
            at = start if end == start.time else self._part(start, end, closed).end
            return float(self._gaps(at)[opened].min())

        h, begin = time - start.time, start.time
        width = max(1e-13 * h, 2.0 * np.spacing(abs(time)))
        if gap(begin) <= 0.0:
            h *= 0.5
            while gap(begin + h) <= 0.0:
                h *= 0.5
                if h <= SHORTEST * (time - begin):
                    return begin
            begin += h
        return float(brentq(gap, begin, time, xtol=width, rtol=4.0 * np.finfo(float).eps))

    def _closing_in(self, start: StepStart, time: float) -> Array:
        """Contacts with restitution that close within a step, fast enough to be no rest, without further impulses."""
        h = time - start.time
        before, after = self._gaps(start), self._free_gaps(start, time)
        rate = gap_rates(self.arrays, start.state.c, start.state.d)
        bend = 2.0 * np.abs(after - before - h * rate) / h
        still = RESTING * np.abs(rate[self._rigid]).max(initial=0.0)
        closing = self._contacts.rigid & (after <= 0.0) & (rate < -np.maximum(bend, still))
        if not (closing & self._bouncing).any():
            return _NONE
        return np.union1d(np.flatnonzero(closing), self._touching(start))

    def _free_gaps(self, start: StepStart, time: float) -> Array:
        """Gaps at the end of a step in which nothing touches."""
        step, guess = self._to_solve(start, time)
        free = self.arrays._replace(contacts=no_contacts(self.arrays.dim))
        end = solve_step(free, step, guess).trial
        vectors = vectors_of(self._contacts, node_points(self.arrays, end.end.r, end.arm))
        gaps: Array = gaps_between(self._contacts, vectors, vectors).before
        return gaps

    # --- impacts and settling ---------------------------------------------------------------------------------------

    def _level(self, at: StepStart, index: Array) -> AnyLevel:
        coefficient, _ = self.table.at(at.time)
        return level_at(self.arrays, (at.state.c, at.state.d), coefficient, index, self._sides(index))

    def _sides(self, index: Array) -> Sides | None:
        """Both sides of some contacts where they are between many rigid bodies; None where matrices are small."""
        small = velocity_count(self.arrays) <= MANY or self.least_norm or not self._contacts.rigid.all()
        return None if small else sides_of(self.arrays._replace(contacts=self._contacts.take(index)))

    def _struck_where_closed(self, at: StepStart) -> Part | None:
        """The impact of all contacts that touch and close; None where none does."""
        closed = self._touching(at)
        if not closed.size:
            return None
        v = velocities_of(self.mechanism, at.state.c)
        level = self._level(at, closed)
        rates = level.rates(v)[: closed.size]
        if rates.min() >= -RESTING * level.terms(v)[: closed.size].max():
            return None
        return self._strike(at, closed, level)

    def _strike(self, at: StepStart, index: Array, level: AnyLevel | None = None) -> Part:
        """The impact of some contacts, after joints and drives have their rates."""
        level = self._level(at, index) if level is None else level
        v, b = velocities_of(self.mechanism, at.state.c), self._joint_rates(at)
        joined, mu = level.joined(v, b)
        strike = impact(level, joined, self._contacts.restitution[index])
        after = level.struck(joined, strike.impulses)
        return self._booked(at, after, (mu, index, level), impact=strike)

    def _settled(self, part: Part, closed: Array) -> list[Part]:
        """A part of a step, and what settles at its end."""
        if not closed.size:
            return [part]
        end, given = part.end, part.impulses.reshape(-1, closed.size)
        own = (given[0] > 0.0) | np.isin(closed, self._touching(end))
        if not own.any():
            return [part]
        index = closed[own]
        level = self._level(end, index)
        v, b = velocities_of(self.mechanism, end.state.c), self._joint_rates(end)
        joined, mu = level.joined(v, b)
        strike = settle(level, joined, given[:, own].ravel()[: level.rows.shape[0]])
        return [part, self._booked(end, level.struck(joined, strike.impulses), (mu, index, level), settled=strike)]

    def _joint_rates(self, at: StepStart) -> Array:
        return prescribed_rate(self.arrays, at.state.d, self.table.rates(at.time))

    def _booked(
        self,
        at: StepStart,
        v: Array,
        given: tuple[Array, Array, AnyLevel],
        *,
        impact: Strike | None = None,
        settled: Strike | None = None,
    ) -> Part:
        """The state with other velocities, and what that took."""
        mu, index, level = given
        a, mechanism, rates = self.arrays, self.mechanism, self.table.rates(at.time)
        x = flat(mechanism, with_velocities(mechanism, at.state.c, v))
        c = configuration(mechanism, x)
        d = derive(a, c)
        defect = velocity_defect(a, (c, d), self.table.at(at.time)[0], rates)
        energy = self.accounts.energies(c, d)
        b = self._joint_rates(at)
        lost = -0.5 * float(mu @ (at.state.defect)) if mu.size else 0.0
        strike = impact or settled
        assert strike is not None
        acting = mu + level.reactions(strike.impulses) if b.any() else mu
        flows = self.accounts.struck(
            acting * b, index, strike.impulses, impact=None if impact is None else impact.lost,
            settled=None if settled is None else settled.lost, projected=lost,
        )  # fmt: skip
        balance = abs(self.accounts.balance(at.energy, energy, flows))
        residuals = np.array([balance, 0.0, np.abs(defect).max(initial=0.0), 0.0])
        end = StepStart(at.time, EvaluatedState(x, c, d, defect), energy, at.history[:0])
        none = np.zeros(self.rows_of_g)
        return Part(end, 0.0, none, flows, residuals, 0, np.zeros(0), _NONE, strike.missed, strike.scale)

    # --- steps that close -------------------------------------------------------------------------------------------

    def _to_solve(self, start: StepStart, time: float) -> tuple[Step, Means]:
        h, middle = time - start.time, 0.5 * (start.time + time)
        prescribed: Schedule = self.prescribed(start, time, self.forcing.at(middle))
        return Step(start.state.c, start.state.d, h, prescribed), self._guess(start, h, prescribed)

    def _part(self, start: StepStart, time: float, closed: Array) -> Part:
        """The step to a time in which some contacts may close."""
        h, (step, guess) = time - start.time, self._to_solve(start, time)
        rates = self.table.rates(time, h)
        impulses = np.zeros((self.arrays.dim if self._contacts.friction[closed].any() else 1) * closed.size)
        missed = scale = 0.0
        if closed.size:
            solution = close(self.arrays, step, guess, (closed, impulses), self._sides(closed))
            step, own, known = solution.step, solution.impulses, solution.converged
            impulses, missed, scale = own.flat, own.defect * own.scale, solution.scale
            solved = solve_and_account(self.accounts, start.state, step, (rates, guess), solve=lambda *_: known)
        else:
            solved = solve_and_account(self.accounts, start.state, step, (rates, guess))
        row = np.concatenate([*(part.ravel() for part in solved.means), solved.end.defect, [h]])
        end = StepStart(time, solved.end, solved.energy, np.concatenate([start.history[-1:], row[None]]))
        residuals, stage = self._residuals(start, h, solved), solved.means.lam
        return Part(end, h, stage, solved.flows, residuals, solved.iterations, impulses, closed, missed, scale)
