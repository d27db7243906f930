"""Multiple shooting: segments of a run whose initial states are unknowns, and the gaps between segments.

The initial state of a segment has coordinates z about a guess, one for each free motion and each free rate. The state
is the consistent one with these coordinates, so that constraints are always satisfied. The gap from the end of the
previous segment is measured in the same coordinates. Derivatives are computed forward along the steps of each segment:
they do not grow with the length of the run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...integration.integrate import integrate
from ...kernels.gradient import Velocities, flatten
from ...kernels.state import Configuration, lever
from ...mechanisms.mechanism import Mechanism
from ...mechanisms.model.state import State, configuration, flat
from ...mechanisms.model.time_table import TimeTable
from ...mechanisms.poses.neighbours import FreeMotions, Variations, between, free_motions, neighbour, turns
from ...numerics import checks as check
from ...numerics.arguments import checked
from ...numerics.arrays import Array
from ...numerics.differences import central_of_order_six
from ...numerics.rotations import spins
from ...systems.inputs import Input
from ..forward import Change, changes_by, derivatives_along
from ..functionals import Functional
from ..parameters import one_by_one, origin_of, step_of, varied_by
from ..runs.problems import EXACT, Times, in_loops, problem_of
from ..runs.problems import Problem as RunProblem
from ..runs.readings import change, readings, readings_apart, readings_by_state
from ..runs.sweeps import VariedData
from ..sensed import component_of
from .duration import DURATION
from .single import Evaluation, Problem, hats

if TYPE_CHECKING:
    from ...results.solution import Solution

STEP = 1e-5
"""Step of central differences of a state by its coordinates, in units of the mechanism."""


@checked
@dataclass(frozen=True)
class MultipleShooting:
    """Division of a run into segments whose initial states are unknowns of an optimal control.

    Derivatives of an unstable motion with respect to its first inputs grow with its length, until no search converges.
    With short segments they remain small. Initially there may be gaps between segments, for example along a guessed
    motion that no input causes; the search closes them.

    Attributes
    ----------
    segments : int
        Number of segments, of equally many steps as far as possible.
    guess : callable, optional
        Function of time [s] that returns a consistent state of the mechanism at this time; by default that of the run
        with the first guess of the inputs.

    Examples
    --------
    >>> from flexph.gradients import MultipleShooting
    >>> MultipleShooting(8).segments
    8
    """

    segments: int
    guess: Callable[[float], State] | None = None

    def __post_init__(self) -> None:
        """Check that there are at least two segments."""
        check.count("segments", self.segments, 2)


@dataclass(frozen=True, eq=False)
class Chart:
    """Coordinates (2k,) of consistent states near a guess.

    They are amplitudes of k displacements and k velocities that the joints allow. The guess has the configuration ``c``
    at a time.
    """

    time: float
    anchors: Any
    c: Configuration
    free: FreeMotions

    def state(self, mechanism: Mechanism, z: Array, time: float) -> State:
        """Consistent state of a mechanism with the same joints, with the coordinates z (2k,) at a time."""
        variations = self.free.variations @ z
        c = neighbour(mechanism, TimeTable(mechanism, self.anchors), (self.c, time), *variations)
        return State(time, flat(mechanism, c), np.zeros(mechanism.layout.multipliers), self.anchors)

    def gap(self, mechanism: Mechanism, first: Array, last: Array) -> Array:
        """Coordinates (2k,) of the difference between two flat states, ``last`` minus ``first``."""
        ends = configuration(mechanism, first), configuration(mechanism, last)
        gap: Array = self.free.coordinates(between(mechanism.network.arrays, *ends))[:, 0]
        return gap

    def distance(self, mechanism: Mechanism, first: Array, last: Array, time: float) -> float:
        """Largest difference of two flat states in positions or velocities, without dimension.

        Positions are divided by a length of the mechanism, velocities by this length over the time of a segment.
        Velocities at the end of a step, of which only the mean satisfies the constraints, are made consistent first.
        """
        a, c, table = mechanism.network.arrays, configuration(mechanism, first), TimeTable(mechanism, self.anchors)
        still = np.zeros(mechanism.layout.velocities)
        d = neighbour(mechanism, table, (configuration(mechanism, last), time), still, still)
        length, pace = lever(a), self.free.pace
        parts = [(d.r - c.r) / length, d.R - c.R, (d.v - c.v) / (length * pace), (d.omega - c.omega) / pace]
        return float(max(np.abs(part).max(initial=0.0) for part in parts))

    def moved_gap(self, mechanism: Mechanism, ends: tuple[Array, Array], moves: tuple[Array, Array]) -> Array:
        """Derivatives (2k, q) of :meth:`gap` for given changes of the first state, then of the last state.

        ``moves`` are these changes, (q₁, n) and (q₂, n) with q₁ + q₂ = q, with whole rotation matrices as in the loops.
        """
        first, last = (configuration(mechanism, x) for x in ends)
        sine, closed = turns(np.einsum("bji,bjk->bik", first.R, last.R))
        columns = []
        for sign, move in zip((-1.0, 1.0), moves, strict=True):
            for one in move:
                r, R, u, v, omega, du = _parts(one, (len(first.r), mechanism.layout.dim, self.c.u.size))
                changed = (R, last.R) if sign < 0.0 else (first.R, R)
                moved, opened = turns(np.einsum("bji,bjk->bik", *changed))
                opened = opened - turns(np.zeros_like(R))[1]  # the derivative without the value
                turn = 2.0 * (moved - sine * (opened / closed)[:, None]) / closed[:, None]
                parts = Velocities(sign * r, turn, sign * u), Velocities(sign * v, sign * omega, sign * du)
                variations = Variations(*(flatten(mechanism.network.arrays, part)[:, None] for part in parts))
                columns.append(self.free.coordinates(variations)[:, 0])
        return np.stack(columns, axis=1) if columns else np.zeros((2 * self.free.basis.shape[1], 0))


def _parts(x: Array, sizes: tuple[int, int, int]) -> tuple[Array, ...]:
    """Positions r, rotations R, coordinates u, and their rates v, ω, u̇, of a state as the loops store it.

    ``sizes`` are the numbers of frames, dimensions and coordinates u.
    """
    frames, dim, flexible = sizes
    shapes = (frames, dim), (frames, dim, dim), (flexible,), (frames, dim), (frames, spins(dim)), (flexible,)
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
    return tuple(part.reshape(shape) for part, shape in zip(np.split(x, ends)[:-1], shapes, strict=True))


class Segment(NamedTuple):
    """Run over a segment, and derivatives with respect to the q unknowns with the indices ``columns``.

    ``by_state``: derivatives (N + 1, q, n) of the states in the layout of the loops; ``direct``: derivatives (N + 1, c)
    of readings with respect to the parameters at constant states.
    """

    problem: RunProblem
    solution: Solution
    columns: Array
    by_state: Array
    direct: Mapping[str, Mapping[int, Array]]


@dataclass(frozen=True, eq=False)
class SegmentedProblem:
    """Multiple shooting problem, with the unknowns of the ``base`` and the coordinates of states between segments.

    ``edges``: indices of the times at which segments begin and end. ``charts``: coordinates of the states between
    segments. ``guessed``: readings of each functional along the guess at the starts of segments, by which angles are
    unwrapped across gaps.
    """

    base: Problem
    edges: Sequence[int]
    charts: Sequence[Chart]
    guessed: Mapping[str, Array]

    @property
    def size(self) -> int:
        """Number of coordinates 2k of the initial state of a segment: k free motions and k free rates."""
        return 2 * self.charts[0].free.basis.shape[1]

    @property
    def count(self) -> int:
        """Number of unknowns: those of single shooting, and the coordinates of the initial states of later segments."""
        return self.base.count + len(self.charts) * self.size

    def split(self, x: Array) -> tuple[dict[str, Array], dict[str, float]]:
        """Values of tables, and parameters, from the vector x of unknowns."""
        return self.base.split(x[: self.base.count])

    def centred(self, x: Array) -> SegmentedProblem:
        """Problem in which the coordinates of states between segments are zero at the states for the unknowns x."""
        parameters, coordinates = self.split(x)[1], x[self.base.count :].reshape(-1, self.size)
        mechanism, times = self.base.made(parameters)[0], self.base.stretched(self.base.times, parameters)[self.edges]
        states = [
            chart.state(mechanism, z, float(time))
            for chart, z, time in zip(self.charts, coordinates, times[1:-1], strict=True)
        ]
        charts = [_chart(mechanism, state, chart.free.pace) for chart, state in zip(self.charts, states, strict=True)]
        path, guessed = np.stack([state.x for state in states]), {}
        for name, chart in self.base.functionals.items():
            rows = readings_apart(mechanism, chart.quantity, path)
            guessed[name] = self.guessed[name] - change(chart.quantity, self.guessed[name], rows)
        return SegmentedProblem(self.base, self.edges, charts, guessed)

    def efforts(self, x: Array) -> tuple[float, Array]:
        """Effort Σ w ∫ |u|² dt, with the cost of the duration, and its derivatives with respect to all unknowns."""
        total, slope = self.base.efforts(x[: self.base.count])
        return total, np.append(slope, np.zeros(self.count - slope.size))

    def evaluated(self, x: Array) -> Evaluation:
        """Functionals and gaps at the unknowns x, with their derivatives with respect to these."""
        values, parameters = self.split(x)
        coordinates = x[self.base.count :].reshape(len(self.charts), self.size)
        here, edges = self.base.made(parameters), self.base.times[self.edges]

        def beginning(j: int) -> Callable[..., Any]:
            def make(**own: float) -> Any:
                mechanism, start, inputs = here if own == parameters else self.base.made(own)
                if j:
                    time = float(self.base.stretched(edges[j], own))
                    start = self.charts[j - 1].state(mechanism, coordinates[j - 1], time)
                return mechanism, start, {**inputs, **self.base.driving(values, own)}

            return make

        segments: list[Segment] = []
        for j in range(len(self.charts) + 1):
            times = self.base.times_of_run(self.edges[j], self.edges[j + 1])
            like = segments[-1].problem if segments else None
            problem = problem_of(beginning(j), parameters, times, like)
            start = (self.charts[j - 1], coordinates[j - 1], j) if j else None
            segments.append(self._segment(problem, (beginning(j), times), parameters, start))
        return self._evaluation(segments, parameters)

    def _segment(
        self,
        problem: RunProblem,
        of: tuple[Callable[..., Any], Times],
        parameters: Mapping[str, float],
        start: tuple[Chart, Array, int] | None,
    ) -> Segment:
        """Run of a segment and its derivatives with respect to the unknowns on which it depends.

        ``of`` are functions of the parameters that make the segment and its times, if these depend on parameters.
        ``start`` are chart and coordinates z of its first state, and the number of the segment; None for the first
        segment.
        """
        mechanism, times = problem.mechanism, problem.times
        solution = integrate(mechanism, problem.start, times, method=EXACT, inputs=problem.inputs, progress=False)
        zero, none = [np.zeros_like(part) for part in problem.arrays()], np.zeros_like(problem.sampled.rows)
        nodes = self._by_nodes(problem, parameters)
        changes, columns = [Change(zero, inputs, {}) for _, inputs in nodes], [column for column, _ in nodes]
        direct: dict[str, dict[int, Array]] = {name: {} for name in self.base.functionals}
        varied = VariedData(np.zeros(0, dtype=int), times=False)
        if parameters:
            changes_here, varied = self._by_parameters(problem, of, parameters, solution)
            first = self.base.count - len(parameters)
            changes += changes_here
            columns += range(first, self.base.count)
            for name, found in direct.items():
                found.update({first + k: one.sensed[name] for k, one in enumerate(changes_here)})
        if start is not None:
            chart, z, number = start
            begun = float(times[0])
            ends = [chart.state(mechanism, z + by * unit, begun).x for unit in np.eye(z.size) for by in (STEP, -STEP)]
            moved = in_loops(mechanism, np.stack(ends))
            slopes = (moved[::2] - moved[1::2]) / (2.0 * STEP)
            changes += [Change([zero[0], slope, *zero[2:]], none, {}) for slope in slopes]
            begin = self.base.count + (number - 1) * z.size
            columns += range(begin, begin + z.size)
        by_state = np.zeros((len(times), 0, problem.state.size))
        if changes:
            by_state = derivatives_along(problem, solution, changes, varied)[0]
        return Segment(problem, solution, np.array(columns, dtype=int), by_state, direct)

    def _by_parameters(
        self,
        problem: RunProblem,
        of: tuple[Callable[..., Any], Times],
        parameters: Mapping[str, float],
        solution: Solution,
    ) -> tuple[list[Change], VariedData]:
        """Derivatives of the data of a segment with respect to each parameter, and the constants that vary."""
        quantities = {name: functional.quantity for name, functional in self.base.functionals.items()}
        sensors = {name: (quantity, solution.states) for name, quantity in quantities.items()}
        origin = origin_of(of[0], parameters, of[1], problem, sensors)
        samples, steps = one_by_one(origin)
        changes = [changes_by(quantities, steps[name], samples[name], origin.sample)[0] for name in parameters]
        return changes, varied_by(problem, samples)

    def distances(self, found: Evaluation) -> dict[str, float]:
        """Distances between the end of a segment and the start of the next one, by the name of the gap.

        A distance is the largest difference of positions, in lengths of the mechanism, and of velocities, in units that
        would move such a length in the time of a segment.
        """
        nodes = zip(found.gaps, self.charts, found.runs[1:], found.runs[:-1], strict=True)
        return {
            name: chart.distance(after.mechanism, after.states[0], before.states[-1], float(after.times[0]))
            for name, chart, after, before in nodes
        }

    def _by_nodes(self, problem: RunProblem, parameters: Mapping[str, float]) -> list[tuple[int, Array]]:
        """Unknowns that are values of input tables in a segment, each with the derivatives of the inputs.

        A result is the index of an unknown, and the derivatives (N, m) of the inputs of N steps with respect to it.
        """
        found, start = [], 0
        for port, table in self.base.tables.items():
            nodes = self.base.stretched(table.times, parameters)
            shares, part = hats(nodes, problem.sampled.points), problem.sampled.forcing.slices[port]
            width = table.values[0].size
            for node in np.flatnonzero(shares.any(axis=0)):
                for k in range(width):
                    moved = np.zeros_like(problem.sampled.rows)
                    moved[:, part.start + k] = shares[:, node]
                    found.append((start + int(node) * width + k, moved))
            start += table.values.size
        return found

    def _evaluation(self, segments: Sequence[Segment], parameters: Mapping[str, float]) -> Evaluation:
        """Values of functionals and gaps of all segments, with derivatives with respect to all unknowns."""
        values, slopes = {}, {}
        for name, functional in self.base.functionals.items():
            values[name], slopes[name] = self._functional(name, functional, segments, parameters)
        gaps = {}
        for j, chart in enumerate(self.charts):
            before, after = segments[j], segments[j + 1]
            mechanism = after.problem.mechanism
            ends = after.solution.states[0], before.solution.states[-1]
            moves = after.by_state[0], before.by_state[-1]
            slope = np.zeros((self.size, self.count))
            moved = chart.moved_gap(mechanism, ends, moves)
            slope[:, after.columns] += moved[:, : after.columns.size]
            slope[:, before.columns] += moved[:, after.columns.size :]  # both have nodes and parameters
            gaps[f"gap at {chart.time:.6g} s"] = chart.gap(mechanism, *ends), slope
        return Evaluation(values, slopes, gaps, [segment.solution for segment in segments])

    def _functional(
        self, name: str, functional: Functional, segments: Sequence[Segment], parameters: Mapping[str, float]
    ) -> tuple[float, Array]:
        """Value of a functional along all segments, and its derivatives (n,) with respect to all unknowns."""
        quantity, mechanism = functional.quantity, segments[0].problem.mechanism
        states = np.vstack([segment.solution.states for segment in segments])
        rows_of = []
        for j, segment in enumerate(segments):
            rows = readings(mechanism, quantity, segment.solution.states)
            if j:
                turned = self.guessed[name][j - 1] - rows[0]
                rows = rows[1:] + (turned - change(quantity, self.guessed[name][j - 1], rows[0]))
            rows_of.append(rows)
        every = component_of(functional.component, quantity, np.vstack(rows_of))
        times = self.base.stretched(self.base.times, parameters)
        weights, magnitudes = functional.slopes(times, every), np.abs(states).max(axis=0)
        total = np.zeros(self.count)
        for j, segment in enumerate(segments):
            of_segment = weights[self.edges[j] : self.edges[j + 1] + 1].copy()
            of_segment[0] *= float(j == 0)  # the previous segment contains this time
            rows = np.flatnonzero(of_segment)
            if not rows.size:
                continue
            by_state = readings_by_state(segment.problem.mechanism, quantity, segment.solution.states[rows], magnitudes)
            inner = in_loops(mechanism, by_state[:, functional.component], weights=True)
            total[segment.columns] += np.einsum("k,kn,kqn->q", of_segment[rows], inner, segment.by_state[rows])
            for column, direct in segment.direct[name].items():
                total[column] += float(of_segment @ direct[:, functional.component])
        if DURATION in parameters:
            total[self.base.count - 1] += self._by_duration(functional, every, parameters)
        return functional.value(times, every), total

    def _by_duration(self, functional: Functional, every: Array, parameters: Mapping[str, float]) -> float:
        """Derivative of a functional with respect to the duration, if its readings ``every`` were unchanged."""
        size = step_of(parameters[DURATION])

        def at(duration: float) -> float:
            return functional.value(self.base.stretched(self.base.times, {DURATION: duration}), every)

        return float(central_of_order_six(at, parameters[DURATION], size) / size)


def segmented(base: Problem, shooting: MultipleShooting) -> SegmentedProblem:
    """Multiple shooting problem from a single one, with coordinates about the guessed states between segments.

    Raises ValueError for more segments than steps, and for a guess that returns no states.
    """
    steps = len(base.times) - 1
    if shooting.segments > steps:
        raise ValueError(f"segments must be at most {steps}, the number of steps, got {shooting.segments}")
    edges = np.round(np.linspace(0, steps, shooting.segments + 1)).astype(int).tolist()
    mechanism, start, inputs = base.made(base.parameters)
    guess = shooting.guess or _run_guess(base, (mechanism, start, inputs))
    states = [start, *map(guess, base.times[1:].tolist())]
    for time, state in zip(base.times, states, strict=True):
        if not isinstance(state, State) or state.x.shape != start.x.shape:
            raise ValueError(f"guess must return a state of the mechanism, at {time:g} s it returned {state!r:.100}")
    path, pace = np.stack([state.x for state in states]), shooting.segments / float(base.times[-1] - base.times[0])
    begun = [State(float(base.times[k]), path[k], np.zeros(0), start.anchors) for k in edges[1:-1]]
    charts = [_chart(mechanism, state, pace) for state in begun]
    along = {name: readings(mechanism, functional.quantity, path) for name, functional in base.functionals.items()}
    return SegmentedProblem(base, edges, charts, {name: rows[edges[1:-1]] for name, rows in along.items()})


def _chart(mechanism: Mechanism, state: State, pace: float) -> Chart:
    """Coordinates of the states near a consistent one.

    ``pace`` [1/s] is the unit of velocities relative to displacements.
    """
    c, table = configuration(mechanism, state.x), TimeTable(mechanism, state.anchors)
    return Chart(state.time, state.anchors, c, free_motions(mechanism, table, (c, state.time), pace=pace))


def whole_solution(base: Problem, values: Mapping[str, Array], parameters: Mapping[str, float]) -> Solution:
    """Run from the start to the end without segments, with given values of the tables and parameters."""
    mechanism, start, inputs = base.made(parameters)
    driven: dict[str, Input] = {**inputs, **base.driving(values, parameters)}
    times = base.stretched(base.times, parameters)
    return integrate(mechanism, start, times, method=EXACT, inputs=driven, progress=False)


def _run_guess(base: Problem, given: tuple[Mechanism, State, Mapping[str, Input]]) -> Callable[[float], State]:
    """Function that returns the state of a run at the nearest of its times, with the first guess of the tables."""
    mechanism, start, _ = given
    run = whole_solution(base, {port: table.values for port, table in base.tables.items()}, base.parameters)
    zero = np.zeros(mechanism.layout.multipliers)

    def guess(time: float) -> State:
        return State(time, run.states[int(np.argmin(np.abs(run.times - time)))], zero, start.anchors)

    return guess
