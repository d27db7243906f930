"""Steps of a run for the backward sweep, stored or recomputed segment by segment."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...integration.blocks.segments import Segments
from ...integration.integrate import integrate
from ...integration.loops.memory.data import Index
from ...integration.mechanism_run import run_mechanism
from ...integration.times.options import RunOptions
from ...numerics.arrays import Array
from ...sensors.quantities import Quantity
from .problems import Problem, steps_of
from .readings import change, panel_of, readings

if TYPE_CHECKING:
    from ...results.solution import Solution

LENGTH = 3.0
"""Steps of a segment over the root of those of the run: each takes some milliseconds in addition to its steps."""


class Piece(NamedTuple):
    """Part of a run: k steps in succession, of which ``first`` is the index of the first step.

    ``states`` (k + 1, n) are the flat states at the ends of the steps, ``multipliers`` (k, g) belong to the steps.
    """

    first: int
    states: Array
    multipliers: Array


@dataclass(frozen=True, eq=False)
class WholeRun:
    """Run of which all states are stored."""

    problem: Problem
    solution: Solution

    @property
    def times(self) -> Array:
        """Times of the saved states of the run [s]."""
        return self.solution.times

    @property
    def magnitudes(self) -> Array:
        """Largest absolute value (n,) that each entry of the state has along the run."""
        largest: Array = np.abs(self.solution.states).max(axis=0)
        return largest

    def readings(self, quantity: Quantity) -> Array:
        """Readings (N + 1, c) of a sensor at all times of the run."""
        return readings(self.problem.mechanism, quantity, self.solution.states)

    def states(self, rows: Index) -> Array:
        """Flat states at the times with the indices ``rows``."""
        return self.solution.states[rows]

    def numbers(self, rows: Index) -> Index:
        """Indices, among the ends of all steps, of the saved times with the indices ``rows``.

        A run by Exact4 has several steps for each saved time.
        """
        return rows * ((len(self.problem.table.times) - 1) // (len(self.times) - 1))

    def jumps(self, problem: Problem) -> Array:
        """Defects of impacts: an empty array, as steps of this run are not divided at impacts."""
        return np.zeros(0)

    def pieces(self) -> Iterator[Piece]:
        """Yield one piece with all steps of the run."""
        yield Piece(0, *steps_of(self.problem, self.solution))


@dataclass(eq=False)
class SegmentedRun:
    """Run of which only the first state of each segment is stored, and the readings of given sensors at all times."""

    problem: Problem
    solution: Solution
    segments: Segments
    times: Array
    sensed: Mapping[str, Array]
    magnitudes: Array

    def readings(self, quantity: Quantity) -> Array:
        """Readings (N + 1, c) of a sensor at all times of the run, which must be one of the given ones."""
        return self.sensed[str(quantity)]

    def states(self, rows: Index) -> Array:
        """Flat states at the times with the indices ``rows``, whose segments are computed again."""
        of, length = np.minimum(rows // self.segments.length, len(self.segments.starts) - 1), self.segments.length
        return np.concatenate([self.segments.again(int(k))[0][rows[of == k] - k * length] for k in np.unique(of)])

    def numbers(self, rows: Index) -> Index:
        """Indices, among the ends of all steps, of the saved times with the indices ``rows``: here ``rows`` itself."""
        return rows

    def jumps(self, problem: Problem) -> Array:
        """Defects of impacts: an empty array, as steps of this run are not divided at impacts."""
        return np.zeros(0)

    def pieces(self) -> Iterator[Piece]:
        """Yield the steps of each segment, computed again, from the last segment to the first."""
        for k in reversed(range(len(self.segments.starts))):
            yield Piece(k * self.segments.length, *self.segments.again(k))


GradientRun = WholeRun | SegmentedRun


def whole_run(problem: Problem, *, progress: bool) -> WholeRun:
    """Run of a problem, of which all states are stored."""
    solution = integrate(
        problem.mechanism,
        problem.start,
        problem.times,
        method=problem.method,
        inputs=problem.inputs,
        progress=progress,
    )
    return WholeRun(problem, solution)


def segmented_run(problem: Problem, quantities: Sequence[Quantity], *, progress: bool) -> SegmentedRun:
    """Run of a problem in segments of about 3√N of its N steps, of which only the first states are stored."""
    read = _Readings(problem, {str(quantity): quantity for quantity in quantities})
    times = problem.table.times
    segments = Segments(int(np.ceil(LENGTH * np.sqrt(len(times) - 1))), read.add)
    options = RunOptions(inputs=problem.inputs, progress=progress, segments=segments)
    quantity = run_mechanism(problem.mechanism, problem.start, times, method=problem.method, options=options)
    return SegmentedRun(problem, quantity, segments, times, read.done(), read.largest)


class _Readings:
    """Collector of the readings of sensors, and of the largest absolute values of the states, in a run by segments."""

    def __init__(self, problem: Problem, quantities: Mapping[str, Quantity]) -> None:
        self.problem, self.quantities = problem, quantities
        self.known: dict[str, list[Array]] = {name: [] for name in quantities}
        self.panels = {name: panel_of(problem.mechanism, quantity) for name, quantity in quantities.items()}
        self.largest = np.abs(problem.start.x)

    def add(self, states: Array) -> None:
        """Read the sensors at the states of the next segment.

        Its first state is the last one of the segment before, and angles continue from their readings there.
        """
        np.maximum(self.largest, np.abs(states).max(axis=0), out=self.largest)
        for name, quantity in self.quantities.items():
            known = self.known[name]
            rows = readings(self.problem.mechanism, quantity, states, self.panels[name])
            if known:
                last = known[-1][-1]
                rows = rows[1:] + (last - rows[0] - change(quantity, last, rows[0]))
            known.append(rows)

    def done(self) -> dict[str, Array]:
        """Readings of each sensor at all times; the keys are the sensors as texts."""
        return {name: np.concatenate(known) for name, known in self.known.items()}
