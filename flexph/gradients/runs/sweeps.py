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


class VariedData(NamedTuple):
    """Data of a run with respect to which derivatives are computed.

    ``constants`` are indices among the constants of the loops; ``times`` is True if the data include times of steps.
    """

    constants: Index
    times: bool


class SweepDerivatives(NamedTuple):
    """Derivatives of a functional with respect to the numbers of a run, and the largest relative defect of the sweep.

    ``arrays`` are derivatives with respect to constants, start and table of steps, ``inputs`` with respect to the
    inputs of steps, and ``jumps`` with respect to the defects of impacts (:meth:`StruckRun.jumps`).
    """

    arrays: list[Array]
    inputs: Array
    defect: float
    jumps: Array


def recorded_run(problem: Problem, piece: Piece, by_state: Array, varied: VariedData) -> tuple[Backward, Index]:
    """Arrays with which the loops compute the steps of a piece again and record their operations.

    Also returned are the addresses of the recorded numbers. ``by_state`` are derivatives of the functional with
    respect to the states of the piece, in the layout of the loops.
    """
    table = with_inputs(problem.table).part(piece.first, len(piece.multipliers))
    run = *steps_of_piece(problem, piece), by_state
    return backward_of(problem.memory, problem.kinds, table, run, varied.constants, instants=int(varied.times))


def with_inputs(table: Table | GaussTable) -> Table:
    """Table of steps of the exact scheme in which each step has its own row of inputs."""
    assert isinstance(table, Table)
    inputs = np.broadcast_to(table.inputs, (len(table.times) - 1, table.inputs.shape[1]))
    return table._replace(inputs=np.ascontiguousarray(inputs))


def steps_of_piece(problem: Problem, piece: Piece) -> tuple[Array, Array]:
    """States of a piece in the layout of the loops, and the unknowns of its steps: mean velocities and multipliers."""
    states = in_loops(problem.mechanism, piece.states)
    ends = np.cumsum([0, *(part.size for part in configuration(problem.mechanism, piece.states[0]))])
    velocities = states[:, ends[3] : ends[6]]
    return states, np.concatenate([0.5 * (velocities[1:] + velocities[:-1]), piece.multipliers], axis=1)


def refuse_bent(of: Backward) -> None:
    """Raise ValueError if a function in Python that the loops called was found not to be smooth."""
    if of.audit[4] > AGREED:
        raise ValueError(
            "a law given by a Python function must be smooth: differences by steps of 1e-3 disagree; give a table "
            "or a law of flexph.laws"
        )


class Sums(NamedTuple):
    """Sums of a backward sweep: the adjoint of a state, and derivatives with respect to tables of steps and constants.

    All are sums over the steps after this state.
    """

    carried: Array
    table: Table
    constants: Array

    def plus(self, share: float, other: Sums) -> Sums:
        """Sum of these sums and ``share`` times the ``other`` sums."""
        table = Table(*(first + share * part for first, part in zip(self.table, other.table, strict=True)))
        return Sums(self.carried + share * other.carried, table, self.constants + share * other.constants)


class Sweeps:
    """Backward sweep over a run of the exact scheme, piece by piece, with sums over all pieces."""

    def __init__(
        self, problem: Problem, by_state: tuple[Index, Array], by_unknown: Array | None, varied: VariedData
    ) -> None:
        self.problem, self.table, self.varied = problem, with_inputs(problem.table), varied
        self.by_state, self.by_unknown = by_state, by_unknown
        self.sums = self.none(by_state[1].shape[1])
        self._known: tuple[Backward, Index] | None = None
        self._defect = 0.0

    def none(self, states: int) -> Sums:
        """Sums of zeros; ``states`` is the number of entries of a state in the loops."""
        table = Table(*map(np.zeros_like, self.table))
        return Sums(np.zeros(states), table, np.zeros(self.varied.constants.size))

    def sweep(self, piece: Piece, sums: Sums | None = None, *, alone: bool = False) -> None:
        """Sweep back over the steps of a piece, and add their derivatives to ``sums``, by default to those of the run.

        With ``alone``, direct derivatives of the functional with respect to states of the piece are taken as zero.
        """
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
        (of, addresses), table = self._known, sums.table.part(first, count)
        by_unknown = self.by_unknown
        of = of._replace(
            table=self.table.part(first, count),
            states=steps[0],
            means=steps[1],
            by_state=weights,
            by_unknown=of.by_unknown if by_unknown is None else by_unknown[first : first + count],
            by_coefficient=table.coefficient,
            by_offset=table.offset,
            by_moved=table.moved,
            by_inputs=table.inputs,
            by_constants=sums.constants,
            by_times=table.times if self.varied.times else of.by_times,
            carried=sums.carried,
        )
        failed = sweep(
            problem.memory.address, address_of(addresses), problem.mechanism.layout.dim, BACK, of, (0, count)
        )
        refuse_failed(of, of.table.times, failed)
        self._defect = float(of.audit[0])

    def found(self, jumps: Array) -> SweepDerivatives:
        """Derivatives with respect to all numbers at the end of the sweep.

        ``jumps`` are those with respect to impacts.
        """
        totals = [getattr(self.sums.table, name) for name in self.problem.timed]
        arrays = [spread(self.problem, self.varied.constants, self.sums.constants), self.sums.carried, *totals]
        return SweepDerivatives(arrays, self.sums.table.inputs, self._defect, jumps)


def weights_of(piece: Piece, by_state: tuple[Index, Array]) -> Array:
    """Derivatives of a functional with respect to all states of a piece, from those at the times on which it depends.

    They are zero at other times.
    """
    (rows, weights), steps = by_state, len(piece.states) - 1
    inside = (rows >= piece.first) & (rows <= piece.first + steps)
    by_step = np.zeros((steps + 1, weights.shape[1]))
    by_step[rows[inside] - piece.first] = weights[inside]
    return by_step


def spread(problem: Problem, varied: Index, by_varied: Array) -> Array:
    """Derivatives with respect to all constants, zero except for those that parameters change, ``by_varied``."""
    by_constants = np.zeros(problem.memory.constants.reals.size)
    by_constants[varied] = by_varied
    return by_constants


def refuse_failed(of: Backward, times: Array, failed: int) -> None:
    """Raise ValueError if a sweep failed at a step, called a function that is not smooth, or did not reproduce steps.

    ``failed`` is the index of the step that has no adjoint, −1 for none.
    """
    if failed >= 0:
        raise ValueError(f"the step from {times[failed]:.6g} s has no adjoint: its Jacobian is singular")
    refuse_bent(of)
    if of.audit[6] > SOLVED:
        raise ValueError(f"the steps of the run with contacts are solved to {of.audit[6]:.1g} only: use shorter ones")
    if not of.audit[7] <= REPEATED:
        raise ValueError(
            f"steps of the run that are solved again must lead to its states, they miss them by {of.audit[7]:.1g}"
        )
