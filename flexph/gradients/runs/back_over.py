"""Sweeps back over the steps of a run: derivatives of a functional by its numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...integration.loops.memory.data import Index
from ...integration.loops.memory.memory import address_of
from ...integration.loops.memory.structures import GaussTable, Table
from ...integration.loops.recorded.backward import BACK, BACK_BY_NODES, Backward, backward_of
from ...integration.loops.recorded.entry import forget, sweep
from ...integration.loops.recorded.nodes import add_by_given, collocated_of
from ...mechanisms.model.state import configuration
from ...numerics.arrays import Array
from ...numerics.gauss_tableau import Tableau
from .kept_steps import GradientRun, Piece
from .problems import REPEATED, Problem, in_loops
from .readings import AGREED

SOLVED = 1e-6
"""Largest Newton correction of a step with contacts at its solution, relative to its largest unknown."""


class Varied(NamedTuple):
    """Numbers of a run by which derivatives are wanted: some constants, and the times of steps or not."""

    constants: Index
    times: bool


class ByNumbers(NamedTuple):
    """Derivatives of a functional by the numbers of a run: constants, start, and table; the largest relative defect."""

    arrays: list[Array]
    inputs: Array
    defect: float


def recorded_piece(
    problem: Problem, piece: Piece, by_state: Array, varied: Varied, by_unknown: Array | None = None
) -> tuple[Backward, Index]:
    """Arrays with which the loops go over steps of a run again, and the addresses of their recorded numbers.

    ``by_state`` are derivatives of the functional by the states between the steps, as the loops have them.
    """
    mechanism, steps, table = problem.mechanism, len(piece.multipliers), problem.table
    assert isinstance(table, Table)
    states = in_loops(mechanism, piece.states)
    ends = np.cumsum([0, *(part.size for part in configuration(mechanism, piece.states[0]))])
    velocities = states[:, ends[3] : ends[6]]
    means = np.concatenate([0.5 * (velocities[1:] + velocities[:-1]), piece.multipliers], axis=1)
    inputs = np.broadcast_to(table.inputs, (len(table.times) - 1, table.inputs.shape[1]))
    table = _part(table._replace(inputs=inputs), piece.first, steps)
    run = states, means, by_state
    return backward_of(problem.memory, problem.kinds, table, run, varied.constants, by_unknown, int(varied.times))


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
            "a law given by a Python function must be smooth: differences by steps of 1e-3 disagree; give a table "
            "or a law of flexph.laws"
        )


def back_over(run: GradientRun, by_state: tuple[Index, Array], by_unknown: Array | None, varied: Varied) -> ByNumbers:
    """Take all steps back; of constants and times only the ``varied`` ones have derivatives.

    ``by_state`` has the times at which the functional has derivatives by states, and these, as the loops have them.
    """
    forget()
    try:
        if run.problem.tableau is None:
            own = _back_over_steps(run, by_state, by_unknown, varied)
        else:
            own = _back_over_nodes(run, run.problem.tableau, by_state, varied)
    finally:
        forget()
    if not all(np.isfinite(part).all() for part in (*own.arrays, own.inputs)):
        raise ValueError("a step of the run has no adjoint: a derivative in it is not finite")
    return own


def _back_over_steps(
    run: GradientRun, by_state: tuple[Index, Array], by_unknown: Array | None, varied: Varied
) -> ByNumbers:
    """Take steps of the exact scheme back, piece by piece."""
    problem = run.problem
    table, whole = problem.table, len(problem.table.times) - 1
    each = whole // (len(run.times) - 1)
    by_times, *totals = (np.zeros_like(getattr(table, name)) for name in problem.timed)
    by_inputs, by_varied = np.zeros((whole, table.inputs.shape[1])), np.zeros(varied.constants.size)
    carried, defect = np.zeros(0), 0.0
    for piece in run.pieces():
        steps = len(piece.multipliers)
        own = _weights_of(piece, (by_state[0] * each, by_state[1]))
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
            by_times=by_times[piece.first : piece.first + steps + 1] if varied.times else of.by_times,
            carried=carried if carried.size else of.carried,
        )
        failed = sweep(problem.memory.address, address_of(addresses), problem.mechanism.layout.dim, BACK, of, 0, steps)
        _refuse_failed(of, of.table.times, failed)
        carried, defect = of.carried, max(defect, float(of.audit[0]))
    constants = _spread(problem, varied.constants, by_varied)
    return ByNumbers([constants, carried, by_times, *totals], by_inputs, defect)


def _back_over_nodes(run: GradientRun, tableau: Tableau, by_state: tuple[Index, Array], varied: Varied) -> ByNumbers:
    """Take steps of Gauss collocation back."""
    problem, states = run.problem, run.solution.states
    table = problem.table
    assert isinstance(table, GaussTable)
    piece = Piece(0, states, np.zeros((len(states) - 1, 0)))
    given = in_loops(problem.mechanism, states), _weights_of(piece, by_state)
    of, kept = collocated_of(problem.memory, table, tableau, given, varied.constants, timed=varied.times)
    dim = problem.mechanism.layout.dim
    failed = sweep(problem.memory.address, address_of(kept[0]), dim, BACK_BY_NODES, of, 0, len(states) - 1)
    _refuse_failed(of.run, table.times, failed)
    totals = {name: np.zeros_like(getattr(table, name)) for name in problem.timed}
    by_inputs = np.zeros((len(problem.sampled.points), table.inputs.shape[1]))
    add_by_given(of.by_given, table, tableau, {**totals, "inputs": by_inputs})
    if varied.times:
        totals["times"] = of.run.by_times
    arrays = [_spread(problem, varied.constants, of.run.by_constants), of.run.carried, *totals.values()]
    return ByNumbers(arrays, by_inputs, float(of.run.audit[0]))


def _weights_of(piece: Piece, by_state: tuple[Index, Array]) -> Array:
    """Derivatives of a functional by the states of a piece, from those at some times."""
    (rows, weights), steps = by_state, len(piece.states) - 1
    inside = (rows >= piece.first) & (rows <= piece.first + steps)
    own = np.zeros((steps + 1, weights.shape[1]))
    own[rows[inside] - piece.first] = weights[inside]
    return own


def _spread(problem: Problem, varied: Index, by_varied: Array) -> Array:
    """Derivatives by all constants, from those by the varied ones."""
    by_constants = np.zeros(problem.memory.constants.reals.size)
    by_constants[varied] = by_varied
    return by_constants


def _refuse_failed(of: Backward, times: Array, failed: int) -> None:
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
