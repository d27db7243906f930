"""Runs with impacts: the steps in which gaps close are divided there, as the run did it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy

from ...contacts.levels import gaps_at
from ...integration.blocks.block_stepper import BlockStepper, table_over
from ...integration.loops.memory.data import Index
from ...integration.methods.exact import Exact
from ...integration.schemes.of_method import scheme_from
from ...kernels.contacts.gaps import TOUCHING
from ...kernels.state import coordinate_size, derive
from ...mechanisms.model.constraints import velocities_of
from ...mechanisms.model.state import configuration
from ...numerics.arrays import Array
from ...numerics.step_failed import StepFailed
from ...systems.inputs import Forcing
from .impacts import Impact, numbers_of, solved
from .kept_steps import Piece, WholeRun, whole_run
from .problems import REPEATED, Problem

if TYPE_CHECKING:
    from ...integration.schemes.scheme import Scheme
    from ...results.solution import Solution

MOST = 50
"""Largest number of impacts in a step."""
INSTANT = 1e-7
"""Least distance of an impact from the ends of a step and from other impacts, relative to the length of the step."""


GRAZES = 1e-6
"""Speed at which a gap closes, relative to the sizes of its terms, up to which its time has no derivative."""


class Part(NamedTuple):
    """Part of a step between impacts, which ends at an impact or at the end of the step.

    It has the time [s] and flat state of its end, its multipliers, and the impact there, or None.
    """

    time: float
    end: Array
    multipliers: Array
    impact: Impact | None


@dataclass(frozen=True, eq=False)
class StruckRun(WholeRun):
    """Run with impacts, whose steps are divided at the impacts.

    ``saved`` are the indices of the saved times among those of all parts of steps. ``divided`` are the pieces of the
    run: one up to each impact, then the piece after the last. ``scheme`` computes the tables of steps.
    """

    scheme: Scheme
    saved: Array
    divided: Sequence[Piece]
    impacts: Sequence[Impact]

    def numbers(self, rows: Index) -> Index:
        """Indices, among the times of all parts of steps, of the saved times with the indices ``rows``."""
        return self.saved[rows]

    def pieces(self) -> Iterator[Piece]:
        """Yield the pieces of the run between impacts, the last piece first."""
        yield from reversed(self.divided)

    def jumps(self, problem: Problem) -> Array:
        """Defects of all impacts, each followed by its gap, for a problem with other parameters."""
        return np.concatenate([np.zeros(0), *(numbers_of(problem, impact) for impact in self.impacts)])


def struck_run(problem: Problem, *, progress: bool) -> WholeRun:
    """Run of a problem with rigid contacts, with its steps divided at impacts.

    Raises ValueError for contacts that stay closed.
    """
    run = whole_run(problem, progress=progress)
    solution = run.solution
    struck = _struck_steps(solution)
    if not struck.any():
        return run
    division = _Division(problem, solution)
    return division.run(struck)


def _struck_steps(solution: Solution) -> Array:
    """True for each step (N,) in which a rigid contact has an impulse."""
    struck = np.zeros(len(solution.times) - 1, dtype=bool)
    for connection in solution.mechanism.connections:
        if connection.touches:
            struck |= solution.ledger.impulses[f"{connection.name}: normal"] != 0.0
    return struck


class _Division:
    """Computation that divides the steps of a run at its impacts."""

    def __init__(self, problem: Problem, solution: Solution) -> None:
        self.problem, self.solution, self.mechanism = problem, solution, problem.mechanism
        forcing = Forcing(self.mechanism.network.input_slices, problem.inputs, self.mechanism.layout.dim)
        self.blocks = BlockStepper(scheme_from(self.mechanism, problem.start, Exact(), forcing)[0])
        self.arrays = self.mechanism.network.arrays
        self.names = [connection.name for connection in self.mechanism.connections if connection.touches]

    def run(self, struck: Array) -> StruckRun:
        """Run with steps divided at their impacts; ``struck`` (N,) is True for the steps with impacts."""
        solution, times = self.solution, [float(self.solution.times[0])]
        states, multipliers, first, places = [solution.states[0]], [], 0, [0]
        pieces: list[Piece] = []
        impacts: list[Impact] = []
        for k in range(len(struck)):
            parts = self._parts(k) if struck[k] else [self._whole(k)]
            for part in parts:
                times.append(part.time)
                states.append(part.end)
                multipliers.append(part.multipliers)
                if part.impact is not None:
                    impacts.append(part.impact._replace(row=len(times) - 1))
                    pieces.append(Piece(first, np.array(states), np.array(multipliers)))
                    first, multipliers = len(times) - 1, []
                    states = [solved(self.problem, part.end, part.impact.contact, part.time)[2]]
            places.append(len(times) - 1)
        pieces.append(Piece(first, np.array(states), np.array(multipliers)))
        return StruckRun(self._at(np.array(times)), solution, self.blocks.scheme, np.array(places), pieces, impacts)

    def _at(self, times: Array) -> Problem:
        """Problem whose steps are the parts of steps of the run: one between any two successive ``times``."""
        problem = self.problem
        sampled = replace(problem.sampled, points=0.5 * (times[1:] + times[:-1]), ends=(times[0], times[-1]))
        return problem._replace(times=times, table=table_over(self.blocks.scheme, times), sampled=sampled)

    def _whole(self, k: int) -> Part:
        """Step k, which has no impact, as a single part."""
        solution = self.solution
        return Part(float(solution.times[k + 1]), solution.states[k + 1], solution.stage_multipliers[k], None)

    def _parts(self, k: int) -> list[Part]:
        """Parts of step k, found by solving it again from impact to impact.

        Raises ValueError if the parts do not lead to the end of the step, and for impacts that are not supported.
        """
        start, end = self.solution.times[k : k + 2].tolist()
        x, now, may_strike = self.solution.states[k], start, self._striking(k)
        parts: list[Part] = []
        while len(parts) <= MOST:
            reached, stage = self._step(x, now, end)
            closed = [c for c in may_strike if self._gap(reached, c) < -1e-2 * self._touching(reached)]
            if not closed:
                self._check(k, reached)
                parts.append(Part(end, self.solution.states[k + 1], stage, None))
                return parts
            ends = {c: self._closing(x, c, now, end) for c in closed}
            c = min(ends, key=ends.__getitem__)
            until = ends[c]
            self._refuse_close(sorted(ends, key=ends.__getitem__), ends, (start, now, end))
            reached, stage = self._step(x, now, until)
            self._refuse_law(c, until)
            equations, z, x = solved(self.problem, reached, c, until)
            v = velocities_of(self.mechanism, configuration(self.mechanism, reached))
            if not -(equations.normal @ v) > GRAZES * (np.abs(equations.normal) @ np.abs(v)):
                raise ValueError(f"gradients do not support grazing impacts, as of {self._name(c)!r} at {until:.6g} s")
            parts.append(Part(until, reached, stage, Impact(0, until, end - start, c, reached, z)))
            now = until
        raise ValueError(f"gradients support at most {MOST} impacts in a step, the step from {start:.6g} s has more")

    def _striking(self, k: int) -> list[int]:
        """Indices of the contacts whose connections have impulses in step k."""
        impulses = self.solution.ledger.impulses
        acts = [impulses[f"{name}: normal"][k] != 0.0 for name in self.names]
        found: list[int] = np.flatnonzero(np.array(acts)[self.arrays.contacts.owner]).tolist()
        return found

    def _step(self, x: Array, begin: float, end: float) -> tuple[Array, Array]:
        """Solve a step from the flat state x, without contact forces; return its end state and its multipliers."""
        start = replace(self.problem.start, time=begin, x=x, memory=np.zeros((0, 0)))
        try:
            step_result = self.blocks.whole(self.blocks.scheme.start(start), end)
        except StepFailed as error:
            raise ValueError(f"a part of a step from {begin:.6g} s with an impact is not solved: {error}") from error
        return step_result.end.x.copy(), step_result.stage.copy()

    def _gap(self, x: Array, contact: int) -> float:
        """Gap of the contact with the index ``contact`` at a flat state x."""
        c = configuration(self.mechanism, x)
        return float(gaps_at(self.arrays, c, derive(self.arrays, c)).before[contact])

    def _touching(self, x: Array) -> float:
        """Gap up to which bodies count as touching at a flat state x."""
        return TOUCHING * coordinate_size(self.arrays, configuration(self.mechanism, x).r)

    def _closing(self, x: Array, contact: int, begin: float, end: float) -> float:
        """Time between ``begin`` and ``end`` at which the gap of a contact vanishes in a motion without contact forces.

        The gap is negative at ``end``. x is the flat state at ``begin``: the start of the step, or after an impact.
        """

        def after(time: float) -> float:
            return self._gap(x if time == begin else self._step(x, begin, time)[0], contact)

        first, last = begin, end
        if self._gap(x, contact) <= self._touching(x):  # just after a bounce
            first = 0.5 * (begin + end)
            while after(first) <= 0.0:
                last, first = first, 0.5 * (begin + first)
                if first - begin <= INSTANT * (end - begin):
                    self._refuse_closed(contact, begin)
        found: float = scipy.optimize.brentq(after, first, last, xtol=1e-15 * max(abs(end), end - begin), rtol=1e-15)
        return found

    def _refuse_close(self, order: list[int], ends: dict[int, float], times: tuple[float, float, float]) -> None:
        """Raise ValueError for impacts at the same time, at an end of a step, or shortly after each other.

        ``order`` are the contacts by the times ``ends`` at which they close; ``times`` are the start of the step, the
        last impact and the end.
        """
        start, now, end = times
        c, least = order[0], INSTANT * (end - start)
        if len(order) > 1 and ends[order[1]] - ends[c] <= least:
            both = " and ".join(repr(self._name(contact)) for contact in order[:2])
            raise ValueError(f"gradients do not support two impacts at the same time: {both} at {ends[c]:.6g} s")
        if now > start and ends[c] - now <= least:
            self._refuse_closed(c, now)
        if ends[c] - now <= least or end - ends[c] <= least:
            raise ValueError(f"{self._name(c)!r} strikes at an end of a step, at {ends[c]:.6g} s: shift the times")

    def _refuse_law(self, contact: int, time: float) -> None:
        """Raise ValueError for an impact of a contact with friction, or one after which the contact stays closed."""
        laws = self.arrays.contacts
        if laws.friction[contact] > 0.0:
            raise ValueError(
                f"gradients do not support impacts with friction, as of {self._name(contact)!r} at {time:.6g} s: use "
                "friction=0, or differences of runs, flexph.studies.sensitivities"
            )
        if laws.restitution[contact] == 0.0:
            self._refuse_closed(contact, time)

    def _refuse_closed(self, contact: int, time: float) -> None:
        raise ValueError(
            f"gradients do not support rigid contacts that stay closed, as {self._name(contact)!r} does from "
            f"{time:.6g} s on: use a compliant law, or differences of runs, flexph.studies.sensitivities"
        )

    def _check(self, k: int, reached: Array) -> None:
        """Raise ValueError unless the state ``reached`` by the parts of step k is that of the run at its end."""
        split, solution = self.mechanism.layout.split, self.solution
        for missed, entries in zip(split(reached - solution.states[k + 1]), split(solution.states.T), strict=True):
            gap, size = np.abs(missed).max(initial=0.0), np.abs(entries).max(initial=0.0)
            if not gap <= REPEATED * size:
                names = " and ".join(sorted({repr(self._name(c)) for c in self._striking(k)}))
                raise ValueError(
                    f"gradients support contacts that bounce one by one, but in the step from {solution.times[k]:.6g} "
                    f"s {names} stays closed or acts otherwise: taken again with impacts alone, it misses its end"
                )

    def _name(self, contact: int) -> str:
        """Name of the connection to which the contact with the index ``contact`` belongs."""
        return self.names[self.arrays.contacts.owner[contact]]
