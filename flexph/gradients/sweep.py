"""Steps of a run, all of them kept or taken again segment by segment, and the sweep back over them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..integration.blocks.segments import Segments
from ..integration.integrate import integrate
from ..integration.loops.memory.data import Index
from ..integration.loops.memory.memory import address_of
from ..integration.loops.memory.structures import Table
from ..integration.loops.recorded.backward import Backward, backward_of
from ..integration.loops.recorded.sweeps import back, forget
from ..integration.mechanism_run import run_mechanism
from ..integration.times.options import RunOptions
from ..mechanisms.model.state import configuration
from ..numerics.arrays import Array
from ..sensors.quantities import Quantity
from .problems import Problem, in_loops, steps_of
from .readings import AGREED, change, panel_of, readings

if TYPE_CHECKING:
    from ..results.solution import Solution

SOLVED = 1e-6
"""Largest Newton correction of a step with contacts at its solution, relative to its largest unknown."""

LENGTH = 3.0
"""Steps of a segment over the root of those of the run: each takes some milliseconds in addition to its steps."""


class Piece(NamedTuple):
    """Steps of a run from the ``first`` one on: flat states (k + 1, n) between them, and their multipliers (k, g)."""

    first: int
    states: Array
    multipliers: Array


@dataclass(frozen=True, eq=False)
class WholeRun:
    """Run of which all states are kept."""

    problem: Problem
    solution: Solution

    @property
    def times(self) -> Array:
        """Times of the states [s]."""
        return self.solution.times

    @property
    def magnitudes(self) -> Array:
        """Largest size of each entry of the states."""
        largest: Array = np.abs(self.solution.states).max(axis=0)
        return largest

    def readings(self, quantity: Quantity) -> Array:
        """Readings (N + 1, c) of a sensor."""
        return readings(self.problem.mechanism, quantity, self.solution.states)

    def states(self, rows: Index) -> Array:
        """States at some of the times."""
        return self.solution.states[rows]

    def pieces(self) -> Iterator[Piece]:
        """All steps at once."""
        yield Piece(0, *steps_of(self.problem, self.solution))


@dataclass(eq=False)
class SegmentedRun:
    """Run of which the states at the starts of segments are kept, with the readings of given sensors at all times."""

    problem: Problem
    solution: Solution
    segments: Segments
    times: Array
    sensed: Mapping[str, Array]
    magnitudes: Array

    def readings(self, quantity: Quantity) -> Array:
        """Readings (N + 1, c) of a sensor."""
        return self.sensed[str(quantity)]

    def states(self, rows: Index) -> Array:
        """States at some of the times, of segments that are taken again."""
        of, length = np.minimum(rows // self.segments.length, len(self.segments.starts) - 1), self.segments.length
        return np.concatenate([self.segments.again(int(k))[0][rows[of == k] - k * length] for k in np.unique(of)])

    def pieces(self) -> Iterator[Piece]:
        """Segments from the last one on."""
        for k in reversed(range(len(self.segments.starts))):
            yield Piece(k * self.segments.length, *self.segments.again(k))


GradientRun = WholeRun | SegmentedRun


def whole_run(problem: Problem, times: Sequence[float] | Array, *, progress: bool) -> WholeRun:
    """Integrate, with all states."""
    own = integrate(
        problem.mechanism, problem.start, times, method=problem.method, inputs=problem.inputs, progress=progress
    )
    return WholeRun(problem, own)


def segmented_run(problem: Problem, quantities: Sequence[Quantity], *, progress: bool) -> SegmentedRun:
    """Integrate in segments of 3√N steps, of which the starts are kept."""
    read = _Readings(problem, {str(own): own for own in quantities})
    times = problem.table.times
    segments = Segments(int(np.ceil(LENGTH * np.sqrt(len(times) - 1))), read.add)
    options = RunOptions(inputs=problem.inputs, progress=progress, segments=segments)
    own = run_mechanism(problem.mechanism, problem.start, times, method=problem.method, options=options)
    return SegmentedRun(problem, own, segments, times, read.done(), read.largest)


class _Readings:
    """Readings of sensors along a run, segment by segment, and the largest sizes of the entries of its states."""

    def __init__(self, problem: Problem, quantities: Mapping[str, Quantity]) -> None:
        self.problem, self.quantities = problem, quantities
        self.known: dict[str, list[Array]] = {name: [] for name in quantities}
        self.panels = {name: panel_of(problem.mechanism, quantity) for name, quantity in quantities.items()}
        self.largest = np.abs(problem.start.x)

    def add(self, states: Array) -> None:
        """Read the sensors at the states of a segment, which begin with the last one; angles go on from there."""
        np.maximum(self.largest, np.abs(states).max(axis=0), out=self.largest)
        for name, quantity in self.quantities.items():
            known = self.known[name]
            rows = readings(self.problem.mechanism, quantity, states, self.panels[name])
            if known:
                last = known[-1][-1]
                rows = rows[1:] + (last - rows[0] - change(quantity, last, rows[0]))
            known.append(rows)

    def done(self) -> dict[str, Array]:
        """Readings at all times."""
        return {name: np.concatenate(known) for name, known in self.known.items()}


class ByNumbers(NamedTuple):
    """Derivatives of a functional by the numbers of a run: constants, start, and table; the largest relative defect."""

    arrays: list[Array]
    inputs: Array
    defect: float


def recorded_piece(
    problem: Problem, piece: Piece, by_state: Array, varied: Index, by_unknown: Array | None = None
) -> tuple[Backward, Index]:
    """Arrays with which the loops go over steps of a run again, and the addresses of their recorded numbers.

    ``by_state`` are derivatives of the functional by the states between the steps, as the loops have them.
    """
    mechanism, steps = problem.mechanism, len(piece.multipliers)
    states = in_loops(mechanism, piece.states)
    ends = np.cumsum([0, *(part.size for part in configuration(mechanism, piece.states[0]))])
    velocities = states[:, ends[3] : ends[6]]
    means = np.concatenate([0.5 * (velocities[1:] + velocities[:-1]), piece.multipliers], axis=1)
    inputs = np.broadcast_to(problem.table.inputs, (len(problem.table.times) - 1, problem.table.inputs.shape[1]))
    table = _part(problem.table._replace(inputs=inputs), piece.first, steps)
    return backward_of(problem.memory, problem.kinds, table, (states, means, by_state), varied, by_unknown)


def _part(table: Table, first: int, steps: int) -> Table:
    """Table of some of its steps."""
    whole = len(table.times) - 1
    rows = [
        own if len(own) == 1 else own[first : first + steps + (1 if len(own) == whole + 1 else 0)] for own in table[1:]
    ]
    return Table(table.times[first : first + steps + 1], *map(np.ascontiguousarray, rows))


def refuse_bent(of: Backward) -> None:
    """Raise ValueError for functions in Python that are not smooth."""
    if of.audit[4] > AGREED:
        raise ValueError(
            "a law that is a function in Python bends within the steps of 1e-3 of its differences: give a table or a "
            "law of flexph.laws"
        )


def back_over(run: GradientRun, by_state: tuple[Index, Array], by_unknown: Array | None, varied: Index) -> ByNumbers:
    """Take all steps back; of constants only the ``varied`` ones have derivatives.

    ``by_state`` has the times at which the functional has derivatives by states, and these, as the loops have them.
    """
    problem = run.problem
    table, whole = problem.table, len(problem.table.times) - 1
    each = whole // (len(run.times) - 1)
    totals = [np.zeros_like(part) for part in (table.coefficient, table.offset, table.moved)]
    by_inputs, by_varied = np.zeros((whole, table.inputs.shape[1])), np.zeros(varied.size)
    carried, defect = np.zeros(0), 0.0
    rows, weights = by_state[0] * each, by_state[1]
    forget()
    try:
        for piece in run.pieces():
            steps = len(piece.multipliers)
            inside = (rows >= piece.first) & (rows <= piece.first + steps)
            own = np.zeros((steps + 1, weights.shape[1]))
            own[rows[inside] - piece.first] = weights[inside]
            unknown = None if by_unknown is None else by_unknown[piece.first : piece.first + steps]
            of, addresses = recorded_piece(problem, piece, own, varied, unknown)
            parts = [
                part if len(part) == 1 else part[piece.first : piece.first + len(segment)]
                for part, segment in zip(totals, (of.by_coefficient, of.by_offset, of.by_moved), strict=True)
            ]
            of = of._replace(
                by_coefficient=parts[0],
                by_offset=parts[1],
                by_moved=parts[2],
                by_inputs=by_inputs[piece.first : piece.first + steps],
                by_constants=by_varied,
                carried=carried if carried.size else of.carried,
            )
            failed = back(problem.memory.address, address_of(addresses), problem.mechanism.layout.dim, of, 0, steps)
            if failed >= 0:
                time = of.table.times[failed]
                raise ValueError(f"the step from {time:.6g} s has no adjoint: its Jacobian is singular")
            carried, defect = of.carried, max(defect, float(of.audit[0]))
            _refuse_unsolved(of)
    finally:
        forget()
    if not all(np.isfinite(part).all() for part in (carried, by_varied, totals[0], by_inputs)):
        raise ValueError("a step of the run has no adjoint: a derivative in it is not finite")
    by_constants = np.zeros(problem.memory.constants.reals.size)
    by_constants[varied] = by_varied
    return ByNumbers([by_constants, carried, *totals], by_inputs, defect)


def _refuse_unsolved(of: Backward) -> None:
    """Raise ValueError for functions that bend, and for steps that are not solved well enough."""
    refuse_bent(of)
    if of.audit[6] > SOLVED:
        raise ValueError(f"the steps of the run with contacts are solved to {of.audit[6]:.1g} only: take shorter ones")
