"""Backward sweeps over the steps of a run: derivatives of a functional by the data of the run."""

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


class ByNumbers(NamedTuple):
    """Derivatives of a functional by the data of a run (constants, start, table, inputs); largest relative defect."""

    arrays: list[Array]
    inputs: Array
    defect: float


def recorded_run(problem: Problem, piece: Piece, by_state: Array, varied: Index) -> tuple[Backward, Index]:
    """Arrays of the loops for the backward sweep over a piece of a run, and the addresses of the recorded numbers.

    ``by_state``: derivatives of the functional by the states between the steps, in the layout of the loops.
    """
    table = _with_inputs(problem).part(piece.first, len(piece.multipliers))
    return backward_of(problem.memory, problem.kinds, table, (*_steps(problem, piece), by_state), varied)


def _with_inputs(problem: Problem) -> Table:
    """Table of a run, with a row of inputs for each step."""
    table = problem.table
    assert isinstance(table, Table)
    inputs = np.broadcast_to(table.inputs, (len(table.times) - 1, table.inputs.shape[1]))
    return table._replace(inputs=np.ascontiguousarray(inputs))


def _steps(problem: Problem, piece: Piece) -> tuple[Array, Array]:
    """States between steps in the layout of the loops, and mean velocities and multipliers of the steps."""
    states = in_loops(problem.mechanism, piece.states)
    ends = np.cumsum([0, *(part.size for part in configuration(problem.mechanism, piece.states[0]))])
    velocities = states[:, ends[3] : ends[6]]
    return states, np.concatenate([0.5 * (velocities[1:] + velocities[:-1]), piece.multipliers], axis=1)


def refuse_bent(of: Backward) -> None:
    """Raise ValueError if a Python function of the run is not smooth at one of its arguments."""
    if of.audit[4] > AGREED:
        raise ValueError(
            "a law given by a Python function must be smooth: differences by steps of 1e-3 disagree; give a table "
            "or a law of flexph.laws"
        )


def back_over(run: GradientRun, by_state: tuple[Index, Array], by_unknown: Array | None, varied: Index) -> ByNumbers:
    """Derivatives of a functional by the data of a run, by a backward sweep over all steps.

    ``varied``: indices of constants for which derivatives are computed. ``by_state``: indices of times, and derivatives
    of the functional by the states at these times, in the layout of the loops.
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
    run: GradientRun, by_state: tuple[Index, Array], by_unknown: Array | None, varied: Index
) -> ByNumbers:
    """Backward sweep over steps of the exact scheme, one piece after another."""
    problem, table = run.problem, _with_inputs(run.problem)
    each = (len(table.times) - 1) // (len(run.times) - 1)
    sums = Table(table.times, *map(np.zeros_like, table[1:]))
    known: tuple[Backward, Index] | None = None
    for piece in run.pieces():
        first, count = piece.first, len(piece.multipliers)
        steps = *_steps(problem, piece), _weights_of(piece, (by_state[0] * each, by_state[1]))
        of, addresses = known = known or backward_of(problem.memory, problem.kinds, table, steps, varied)
        own = sums.part(first, count)
        of = of._replace(
            table=table.part(first, count),
            states=steps[0],
            means=steps[1],
            by_state=steps[2],
            by_unknown=of.by_unknown if by_unknown is None else by_unknown[first : first + count],
            by_coefficient=own.coefficient,
            by_offset=own.offset,
            by_moved=own.moved,
            by_inputs=own.inputs,
        )
        failed = sweep(problem.memory.address, address_of(addresses), problem.mechanism.layout.dim, BACK, of, 0, count)
        _refuse_failed(of, of.table.times, failed)
    totals = [getattr(sums, name) for name in problem.timed]
    arrays = [_spread(problem, varied, of.by_constants), of.carried, *totals]
    return ByNumbers(arrays, sums.inputs, float(of.audit[0]))


def _back_over_nodes(run: GradientRun, tableau: Tableau, by_state: tuple[Index, Array], varied: Index) -> ByNumbers:
    """Backward sweep over steps of Gauss collocation."""
    problem, states = run.problem, run.solution.states
    table = problem.table
    assert isinstance(table, GaussTable)
    piece = Piece(0, states, np.zeros((len(states) - 1, 0)))
    given = in_loops(problem.mechanism, states), _weights_of(piece, by_state)
    of, kept = collocated_of(problem.memory, table, tableau, given, varied)
    dim = problem.mechanism.layout.dim
    failed = sweep(problem.memory.address, address_of(kept[0]), dim, BACK_BY_NODES, of, 0, len(states) - 1)
    _refuse_failed(of.run, table.times, failed)
    totals = {name: np.zeros_like(getattr(table, name)) for name in problem.timed}
    by_inputs = np.zeros((len(problem.sampled.points), table.inputs.shape[1]))
    add_by_given(of.by_given, table, tableau, {**totals, "inputs": by_inputs})
    arrays = [_spread(problem, varied, of.run.by_constants), of.run.carried, *totals.values()]
    return ByNumbers(arrays, by_inputs, float(of.run.audit[0]))


def _weights_of(piece: Piece, by_state: tuple[Index, Array]) -> Array:
    """Derivatives of a functional by all states of a piece, which are nonzero at some times."""
    (rows, weights), steps = by_state, len(piece.states) - 1
    inside = (rows >= piece.first) & (rows <= piece.first + steps)
    own = np.zeros((steps + 1, weights.shape[1]))
    own[rows[inside] - piece.first] = weights[inside]
    return own


def _spread(problem: Problem, varied: Index, by_varied: Array) -> Array:
    """Derivatives by all constants, which are zero except for the varied ones."""
    by_constants = np.zeros(problem.memory.constants.reals.size)
    by_constants[varied] = by_varied
    return by_constants


def _refuse_failed(of: Backward, times: Array, failed: int) -> None:
    """Raise ValueError for a failed step, for functions that are not smooth, and for steps with a large defect."""
    if failed >= 0:
        raise ValueError(f"the step from {times[failed]:.6g} s has no adjoint: its Jacobian is singular")
    refuse_bent(of)
    if of.audit[6] > SOLVED:
        raise ValueError(f"the steps of the run with contacts have a defect of {of.audit[6]:.1g}: take shorter steps")
    if not of.audit[7] <= REPEATED:
        raise ValueError(f"repeated steps of the run must reproduce its states, they differ by {of.audit[7]:.1g}")
