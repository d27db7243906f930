"""Sweeps back over steps of the exact scheme, piece by piece."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...integration.loops.memory.data import Index
from ...integration.loops.memory.memory import address_of
from ...integration.loops.memory.structures import GaussTable, Table
from ...integration.loops.recorded.backward import BACK, Backward, backward_of
from ...integration.loops.recorded.entry import sweep
from ...mechanisms.model.state import configuration
from ...numerics.arrays import Array
from .kept_steps import Piece
from .problems import REPEATED, Problem, in_loops
from .readings import AGREED

SOLVED = 1e-6
"""Largest Newton correction of a step with contacts at its solution, relative to its largest unknown."""


class Varied(NamedTuple):
    """Data of a run by which derivatives are computed: indices of constants, and True for the times of steps."""

    constants: Index
    times: bool


class ByNumbers(NamedTuple):
    """Derivatives of a functional by the numbers of a run: constants, start, and table; the largest relative defect.

    ``jumps`` are those by the numbers of impacts (:meth:`StruckRun.jumps`).
    """

    arrays: list[Array]
    inputs: Array
    defect: float
    jumps: Array


def recorded_run(problem: Problem, piece: Piece, by_state: Array, varied: Varied) -> tuple[Backward, Index]:
    """Arrays with which the loops go over steps of a run again, and the addresses of their recorded numbers.

    ``by_state`` are derivatives of the functional by the states between the steps, as the loops have them.
    """
    table = with_inputs(problem.table).part(piece.first, len(piece.multipliers))
    run = *steps_of_piece(problem, piece), by_state
    return backward_of(problem.memory, problem.kinds, table, run, varied.constants, instants=int(varied.times))


def with_inputs(table: Table | GaussTable) -> Table:
    """Table of steps of the exact scheme with a row of inputs for each."""
    assert isinstance(table, Table)
    inputs = np.broadcast_to(table.inputs, (len(table.times) - 1, table.inputs.shape[1]))
    return table._replace(inputs=np.ascontiguousarray(inputs))


def steps_of_piece(problem: Problem, piece: Piece) -> tuple[Array, Array]:
    """States between steps, as the loops have them, and mean velocities and multipliers of these."""
    states = in_loops(problem.mechanism, piece.states)
    ends = np.cumsum([0, *(part.size for part in configuration(problem.mechanism, piece.states[0]))])
    velocities = states[:, ends[3] : ends[6]]
    return states, np.concatenate([0.5 * (velocities[1:] + velocities[:-1]), piece.multipliers], axis=1)


def refuse_bent(of: Backward) -> None:
    """Raise ValueError for functions in Python that are not smooth."""
    if of.audit[4] > AGREED:
        raise ValueError(
            "a law given by a Python function must be smooth: differences by steps of 1e-3 disagree; give a table "
            "or a law of flexph.laws"
        )


class Sums(NamedTuple):
    """Adjoint of a state, and the derivatives that steps add up: by tables with their times, and by constants."""

    carried: Array
    table: Table
    constants: Array

    def plus(self, share: float, other: Sums) -> Sums:
        """These sums and a share of others."""
        table = Table(*(own + share * part for own, part in zip(self.table, other.table, strict=True)))
        return Sums(self.carried + share * other.carried, table, self.constants + share * other.constants)


class Sweeps:
    """Sweeps back over the steps of a run of the exact scheme, one piece after the other, with common sums."""

    def __init__(
        self, problem: Problem, by_state: tuple[Index, Array], by_unknown: Array | None, varied: Varied
    ) -> None:
        self.problem, self.table, self.varied = problem, with_inputs(problem.table), varied
        self.by_state, self.by_unknown = by_state, by_unknown
        self.sums = self.none(by_state[1].shape[1])
        self._known: tuple[Backward, Index] | None = None
        self._defect = 0.0

    def none(self, states: int) -> Sums:
        """Zero sums for a number of entries of the state."""
        table = Table(*map(np.zeros_like, self.table))
        return Sums(np.zeros(states), table, np.zeros(self.varied.constants.size))

    def take(self, piece: Piece, sums: Sums | None = None, *, alone: bool = False) -> None:
        """Take the steps of a piece back and add to the sums; ``alone``, without derivatives by its states."""
        problem, first, count = self.problem, piece.first, len(piece.multipliers)
        sums = sums or self.sums
        weights = weights_of(piece, self.by_state)
        if alone:
            weights[:] = 0.0
        steps = *steps_of_piece(problem, piece), weights
        if self._known is None:
            varied, instants = self.varied.constants, int(self.varied.times)
            self._known = backward_of(problem.memory, problem.kinds, self.table, steps, varied, instants=instants)
            self.sums.carried[:] += weights[-1]
        (of, addresses), own = self._known, sums.table.part(first, count)
        by_unknown = self.by_unknown
        of = of._replace(
            table=self.table.part(first, count),
            states=steps[0],
            means=steps[1],
            by_state=weights,
            by_unknown=of.by_unknown if by_unknown is None else by_unknown[first : first + count],
            by_coefficient=own.coefficient,
            by_offset=own.offset,
            by_moved=own.moved,
            by_inputs=own.inputs,
            by_constants=sums.constants,
            by_times=own.times if self.varied.times else of.by_times,
            carried=sums.carried,
        )
        failed = sweep(
            problem.memory.address, address_of(addresses), problem.mechanism.layout.dim, BACK, of, (0, count)
        )
        refuse_failed(of, of.table.times, failed)
        self._defect = float(of.audit[0])

    def found(self, jumps: Array) -> ByNumbers:
        """Derivatives by all numbers; ``jumps`` are those by the numbers of impacts."""
        totals = [getattr(self.sums.table, name) for name in self.problem.timed]
        arrays = [spread(self.problem, self.varied.constants, self.sums.constants), self.sums.carried, *totals]
        return ByNumbers(arrays, self.sums.table.inputs, self._defect, jumps)


def weights_of(piece: Piece, by_state: tuple[Index, Array]) -> Array:
    """Derivatives of a functional by the states of a piece, from those at some times."""
    (rows, weights), steps = by_state, len(piece.states) - 1
    inside = (rows >= piece.first) & (rows <= piece.first + steps)
    own = np.zeros((steps + 1, weights.shape[1]))
    own[rows[inside] - piece.first] = weights[inside]
    return own


def spread(problem: Problem, varied: Index, by_varied: Array) -> Array:
    """Derivatives by all constants, from those by the varied ones."""
    by_constants = np.zeros(problem.memory.constants.reals.size)
    by_constants[varied] = by_varied
    return by_constants


def refuse_failed(of: Backward, times: Array, failed: int) -> None:
    """Raise ValueError for a step that failed, functions that bend, and steps that are not solved well enough."""
    if failed >= 0:
        raise ValueError(f"the step from {times[failed]:.6g} s has no adjoint: its Jacobian is singular")
    refuse_bent(of)
    if of.audit[6] > SOLVED:
        raise ValueError(f"the steps of the run with contacts are solved to {of.audit[6]:.1g} only: take shorter ones")
    if not of.audit[7] <= REPEATED:
        raise ValueError(
            f"steps of the run that are solved again must lead to its states, they miss them by {of.audit[7]:.1g}"
        )
