"""Parts of steps with rigid contacts, each booked: ways on which some of them may close, impacts, and what settles."""

from __future__ import annotations

from contextlib import suppress
from copy import copy
from typing import Literal, Self

import numpy as np

from ...contacts.broad_phase import broad_phase, can_be_passed
from ...contacts.levels import AnyLevel, Level, gaps_at, level_at
from ...contacts.velocities import ImpactLevel, Strike, impact, settle
from ...kernels.contacts.gap_arrays import Contacts
from ...kernels.contacts.gaps import TOUCHING, gaps_between, vectors_of
from ...kernels.gradient import velocity_count
from ...kernels.jacobians.bearings import bearing_rates
from ...kernels.jacobians.body_blocks import Sides, sides_of
from ...kernels.resolution import coordinate_size
from ...kernels.state import derive, touching_points
from ...kernels.values import Means, Schedule, Step
from ...mechanisms.model.constraints import velocities_of, with_velocities
from ...mechanisms.model.state import configuration, flat
from ...numerics.arrays import Array
from ...numerics.step_failed import StepFailed
from ..exact.advance import EvaluatedState, Rates, prescribed_rate, solve_and_account, velocity_defect
from ..exact.newton import solve_step
from ..exact.step import ExactStepper, InitialValueProblem, StepStart
from .closing import Closed, close
from .parts import Flight, Part

MANY, DENSE = 30, 120
"""Velocities from which on matrices are sparse, and contacts of the plane up to which dense ones may follow."""
STILL, SLIPPING = 1e-12, 1e-9
"""Slip of a bearing over its terms up to which it rests, and share of its bound below which it sticks."""
NAMED, UNEVEN = 3, 1e3
"""Contacts that a sentence names, and masses over each other that it tells."""
NONE = np.zeros(0, dtype=int)
"""No contacts."""


class PartStepper(ExactStepper):
    """The step of the exact scheme with some of its rigid contacts."""

    def __init__(
        self,
        problem: InitialValueProblem,
        *,
        contact: Literal["events", "steps"],
        least_norm: bool = False,
        depth: int = 2,
        compiled: bool = False,
    ) -> None:
        super().__init__(problem, least_norm=least_norm, depth=depth)
        self.by_events, self.compiled, contacts = contact == "events", compiled, self.arrays.contacts
        self._broad = broad_phase(contacts, self.arrays.node_body.size)
        if not self._broad.leaves_out:
            contacts = contacts.all()
            self.arrays = self.arrays._replace(contacts=contacts)
            self.accounts = self.accounts.of(self.arrays)
        self._see(contacts)
        self._flight: Flight | None = None
        self._told: list[str] = []  # what the run was told, of all that are made from this one
        self._all = self._ranks = np.arange(self._rigid.size)

    def _see(self, contacts: Contacts) -> None:
        self._contacts, self._rigid = contacts, np.flatnonzero(contacts.rigid)
        self._bouncing = contacts.restitution > 0.0
        self._may_pass = bool((contacts.rigid & can_be_passed(contacts)).any())

    def flying(self, flight: Flight) -> Self:
        """The same, whose parts without closed contacts are taken so."""
        one = copy(self)
        one._flight, contacts = flight, self._contacts
        of_groups = [np.full(group.number, group.law.rigid[0]) for group in contacts.groups]
        one._ranks = np.cumsum(np.concatenate([contacts.rigid, *of_groups])) - 1
        return one

    def _numbers(self, index: Array) -> Array:
        """Numbers among all rigid contacts of the mechanism of some of its own."""
        numbers: Array = self._all[np.searchsorted(self._rigid, index)]
        return numbers

    def _of(self, index: Array) -> Self:
        """The step with some of the gaps."""
        one = copy(self)
        one.arrays = self.arrays._replace(contacts=self._contacts.take(index))
        one.accounts = self.accounts.of(one.arrays)
        one._see(one.arrays.contacts)
        if self._flight is not None:
            one._all = self._ranks[index[one._rigid]]
        return one

    def _size(self, at: StepStart) -> float:
        return max(coordinate_size(self.arrays, at.state.c.r), 1e-300)

    def _gaps(self, at: StepStart) -> Array:
        gaps: Array = gaps_at(self.arrays, at.state.c, at.state.d).before
        return gaps

    def _with_energy(self, at: StepStart) -> StepStart:
        """The same with energies to the bits of those that NumPy has: steps of loops end with others."""
        if self._flight is None:
            return at
        return at._replace(energy=self.accounts.energies(at.state.c, at.state.d))

    def _rigid_gaps(self, at: StepStart, known: Array | None = None) -> Array:
        """Gaps of the rigid contacts, with those of all rigid contacts of the mechanism where they are known."""
        return self._gaps(at)[self._rigid] if known is None else known[self._all]

    def _gaps_after(self, start: StepStart, end: StepStart, known: Array | None = None) -> Array:
        """Those at the end of a way, in which angles of stops may have gone on beyond half a turn."""
        if known is not None:
            return known[self._all]
        first, last = (vectors_of(self._contacts, self._points(at)) for at in (start, end))
        return gaps_between(self._contacts, first, last).after[self._rigid]

    def _touching(self, at: StepStart) -> Array:
        """Rigid contacts that touch."""
        return self._rigid[self._rigid_gaps(at) <= TOUCHING * self._size(at)]

    def _level(self, at: StepStart, index: Array) -> AnyLevel:
        coefficient, _ = self.table.at(at.time)
        return level_at(self.arrays, (at.state.c, at.state.d), coefficient, index, self._sides(index))

    def _sides(self, index: Array) -> Sides | None:
        """Both sides of some contacts where they are between many rigid bodies; None where matrices are small."""
        small = velocity_count(self.arrays) <= MANY or self.least_norm or not self._contacts.rigid.all()
        small = small or self.arrays.bearings.number > 0
        return None if small else sides_of(self.arrays._replace(contacts=self._contacts.take(index)))

    def _strike(self, at: StepStart, index: Array, level: ImpactLevel | None = None) -> Part:
        """The impact of some contacts, after joints and drives have their rates."""
        level = self._level(at, index) if level is None else level
        v, rates = velocities_of(self.mechanism, at.state.c), self.table.rates(at.time)
        held, mu = level.joined(v, prescribed_rate(self.arrays, at.state.d, rates))
        if isinstance(level, Level):
            level = level.carrying(mu[self.arrays.bearings.row], np.zeros(len(level.rows)))
        elastic = np.append(self._contacts.restitution[index], np.zeros(self.arrays.bearings.number))
        strike = impact(level, held, elastic)
        after = level.struck(held, strike.impulses)
        return self._booked(at, after, (mu, index, level), rates, impact=strike)

    def _settled(self, part: Part, closed: Array) -> list[Part]:
        """A part of a step, and what settles at its end."""
        bearings, count = self.arrays.bearings, closed.size
        if not count + bearings.number:
            return [part]
        end, given = part.end, part.impulses.reshape(-1, count + bearings.number)
        own = (given[0, :count] > 0.0) | np.isin(closed, self._touching(end))
        v = velocities_of(self.mechanism, end.state.c)
        if not own.any() and not self._sticks(end, v, given[:, count:]):
            return [part]
        index, own = closed[own], np.append(own, np.ones(bearings.number, dtype=bool))
        level = self._level(end, index)
        given, rates = given[:, own].ravel()[: level.rows.shape[0]], self.table.rates(end.time, part.length)
        b = prescribed_rate(self.arrays, end.state.d, rates)
        held, mu = level.joined(v, b)
        if isinstance(level, Level):
            level = level.carrying((part.length * part.stage + mu)[bearings.row], given)
        elif not b.size and level.obeys(held, given):
            return [part]
        strike = settle(level, held, given, self.accounts.closed(part.flows))
        before = given, part.closing[own[:count]]
        after = level.struck(held, strike.impulses)
        return [part, self._booked(end, after, (mu, index, level), rates, settled=strike, before=before)]

    def _sticks(self, end: StepStart, v: Array, impulses: Array) -> bool:
        """Whether a bearing that stuck in a step, or slipped the other way, slips at its end."""
        a, bearings = self.arrays, self.arrays.bearings
        if not bearings.number:
            return False
        rows, (normal, *friction) = bearing_rates(a, end.state.c, end.state.d), impulses
        slip, rub = (rows @ v).reshape(bearings.spring.shape), np.array(friction)
        moves = np.linalg.norm(slip, axis=0) > STILL * (np.abs(rows) @ np.abs(v)).max()
        holds = np.linalg.norm(rub, axis=0) < (1.0 - SLIPPING) * bearings.friction * normal
        return bool((moves & (holds | (np.sum(rub * slip, axis=0) > 0.0))).any())

    def _booked(
        self,
        at: StepStart,
        v: Array,
        given: tuple[Array, Array, ImpactLevel],
        rates: Rates,
        *,
        impact: Strike | None = None,
        settled: Strike | None = None,
        before: tuple[Array, Array] | None = None,
    ) -> Part:
        """The state with other velocities, and what that took, where time prescribes such rates.

        ``before`` are the impulses that those of a strike go on from, and whether they closed gaps.
        """
        mu, index, level = given
        a, mechanism, coefficient = self.arrays, self.mechanism, self.table.at(at.time)[0]
        x = flat(mechanism, with_velocities(mechanism, at.state.c, v))
        c = configuration(mechanism, x)
        d = derive(a, c)
        defect = velocity_defect(a, (c, d), coefficient, rates)
        energy = self.accounts.energies(c, d)
        b = prescribed_rate(a, at.state.d, rates)
        lost = -0.5 * float(mu @ velocity_defect(a, at.state.place, coefficient, rates)) if mu.size else 0.0
        strike = impact or settled
        assert strike is not None
        acting = mu + level.reactions(strike.impulses) if b.any() else mu
        first, closing = before or (np.zeros(strike.impulses.size), np.ones(index.size, dtype=bool))
        flows = self.accounts.struck(
            acting * b, index, (first, strike.impulses), impact=None if impact is None else impact.lost,
            settled=None if settled is None else settled.lost, projected=lost, closing=closing,
        )  # fmt: skip
        balance = abs(self.accounts.balance(at.energy, energy, flows))
        residuals = np.array([balance, 0.0, np.abs(defect).max(initial=0.0), 0.0])
        history = at.history[:0]  # where velocities jump it says nothing
        if not index.size:
            history = at.history.copy()
            history[-1:, self._edges[3] : self._edges[4]] = defect
        end, none = StepStart(at.time, EvaluatedState(x, (c, d), defect), energy, history), np.zeros(self.rows_of_g)
        return Part(end, 0.0, none, flows, residuals, 0, np.zeros(0), NONE, NONE, strike.missed, strike.scale)

    def _points(self, at: StepStart) -> Array:
        return touching_points(self.arrays, at.state.c.r, at.state.d.arm)

    def _free_points(self, start: StepStart, time: float) -> Array:
        """Nodes at the end of a step without rigid contacts."""
        step, guess = self._to_solve(start, time)
        compliant = self._contacts.take(np.flatnonzero(~self._contacts.rigid))
        free = self.arrays._replace(contacts=compliant)
        end = solve_step(free, step, guess).trial
        return touching_points(self.arrays, end.end.r, end.arm)

    def _to_solve(self, start: StepStart, time: float) -> tuple[Step, Means]:
        h, middle = time - start.time, 0.5 * (start.time + time)
        prescribed: Schedule = self.prescribed(start, time, self.forcing.at(middle))
        return Step(start.state.c, start.state.d, h, prescribed), self._guess(start, h, prescribed)

    def _closed(self, step: Step, guess: Means, closed: Array, impulses: Array) -> Closed:
        """The solved step; by dense matrices where nearly redundant impulses do not settle with sparse ones."""
        sides = self._sides(closed)
        if sides is not None:
            with suppress(*([StepFailed] if closed.size <= DENSE or self.arrays.dim == 3 else [])):
                return close(self.arrays, step, guess, (closed, impulses), sides)
        return close(self.arrays, step, guess, (closed, impulses))

    def _between(self, closed: Array) -> str:
        """In words which contacts may close, and between masses of how different sizes."""
        if not closed.size:
            return ""
        names = [repr(self.accounts.contact_name(owner)) for owner in np.unique(self._contacts.owner[closed])]
        text = f", of {', '.join(names[:NAMED])}{' and others' if len(names) > NAMED else ''}"
        nodes = np.concatenate([self._contacts.plus[:, closed], self._contacts.minus[:, closed]]).ravel()
        body = self.arrays.node_body[nodes[(nodes >= 0) & (nodes < self.arrays.node_body.size)]]
        masses = self.arrays.mass[body[body >= 0]]
        if masses.size and masses.max() > UNEVEN * masses.min():
            least, most = masses.min(), masses.max()
            text += f" between masses of {least:.3g} and {most:.3g} kg, in whose impulses the lighter are lost"
        return text

    def _part(self, start: StepStart, time: float, closed: Array, known: Part | None = None) -> Part:
        """The step to a time in which some contacts may close; ``known`` is the same with fewer of them."""
        if self._flight is not None:
            flown = self._flight.part(start, time, self._numbers(closed))
            if flown is not None:
                return flown._replace(closed=closed)
            start = self._with_energy(start)
        h, (step, guess) = time - start.time, self._to_solve(start, time)
        rates = self.table.rates(time, h)
        f, missed, scale, means = self.arrays.bearings.number, 0.0, 0.0, None
        frictional = f or self._contacts.friction[closed].any()
        laid = np.zeros((self.arrays.dim if frictional else 1, closed.size + f))
        if known is not None and known.means is not None:
            guess = known.means
            given = known.impulses.reshape(-1, known.closed.size + f)
            same = np.append(np.isin(closed, known.closed), np.ones(f, dtype=bool))
            laid[: len(given), same] = given
        impulses = laid.ravel()
        if impulses.size:
            try:
                solution = self._closed(step, guess, closed, impulses)
            except StepFailed as failed:
                failed.args = (f"{failed}{self._between(closed)}",)
                raise
            step, own, converged = solution.step, solution.impulses, solution.converged
            impulses, missed, scale, means = own.flat, own.defect * own.scale, solution.scale, converged.means
            solved = solve_and_account(self.accounts, start.state, step, (rates, guess), solve=lambda *_: converged)
        else:
            solved = solve_and_account(self.accounts, start.state, step, (rates, guess))
        row = np.concatenate([*(part.ravel() for part in solved.means), solved.end.defect, [h]])
        history = np.concatenate([start.history[-max(self.depth - 1, 0) :], row[None]])
        end = StepStart(time, solved.end, solved.energy, history)
        residuals, stage = self._residuals(start, h, solved), solved.means.lam
        closing = self.accounts.open(start.state.c, self._gaps(start)[closed])
        booked = (solved.flows, residuals, solved.iterations, impulses, closed, closing, missed, scale, means)
        middle = None if closed.size else stage - solved.alternating
        return Part(end, h, stage, *booked, middle=middle, solved=solved, schedule=step.schedule)
