"""Backward sweeps over the steps of a run, for the derivatives of a functional with respect to the data of the run."""

from __future__ import annotations

import numpy as np

from ...integration.loops.memory.data import Index
from ...integration.loops.memory.memory import address_of
from ...integration.loops.memory.structures import GaussTable, Table
from ...integration.loops.recorded.backward import BACK_BY_NODES, BACK_DECAYING
from ...integration.loops.recorded.decayed import GIVEN, decayed_of
from ...integration.loops.recorded.entry import forget, sweep
from ...integration.loops.recorded.nodes import add_by_given, collocated_of
from ...integration.methods.exact import Decaying
from ...numerics.arrays import Array
from ...numerics.gauss_tableau import Tableau
from .kept_steps import GradientRun, Piece
from .problems import in_loops
from .saltation import back_over_impacts
from .struck_runs import StruckRun
from .sweeps import SweepDerivatives, Sweeps, VariedData, refuse_failed, spread, steps_of_piece, weights_of


def back_over(
    run: GradientRun, by_state: tuple[Index, Array], by_unknown: Array | None, varied: VariedData
) -> SweepDerivatives:
    """Derivatives of a functional with respect to the data of a run, by a backward sweep over all steps.

    ``by_state`` are indices of times, and the derivatives with respect to the states at these times, in the layout of
    the loops; ``by_unknown`` those with respect to the unknowns of the steps. Raises ValueError if a step has no
    adjoint.
    """
    forget()
    try:
        if isinstance(run.problem.method, Decaying):
            sweep_derivatives = _back_over_decaying(run, by_state, varied)
        elif run.problem.tableau is None:
            sweep_derivatives = _back_over_steps(run, by_state, by_unknown, varied)
        else:
            sweep_derivatives = _back_over_nodes(run, run.problem.tableau, by_state, varied)
    finally:
        forget()
    if not all(np.isfinite(part).all() for part in (*sweep_derivatives.arrays, sweep_derivatives.inputs)):
        raise ValueError("a step of the run has no adjoint: a derivative in it is not finite")
    return sweep_derivatives


def _back_over_steps(
    run: GradientRun, by_state: tuple[Index, Array], by_unknown: Array | None, varied: VariedData
) -> SweepDerivatives:
    """Derivatives as in :func:`back_over`, for the method Exact and for compositions of its steps, such as Exact4."""
    at = run.numbers(by_state[0]), by_state[1]
    if isinstance(run, StruckRun):
        return back_over_impacts(run, Sweeps(run.problem, at, by_unknown, varied._replace(times=True)))
    sweeps = Sweeps(run.problem, at, by_unknown, varied)
    for piece in run.pieces():
        sweeps.sweep(piece)
    return sweeps.found(np.zeros(0))


def _back_over_decaying(run: GradientRun, by_state: tuple[Index, Array], varied: VariedData) -> SweepDerivatives:
    """Derivatives as in :func:`back_over`, for steps of the method Decaying, which lose energy."""
    problem, states = run.problem, run.solution.states
    table, steps = problem.table, len(states) - 1
    assert isinstance(table, Table)
    piece = Piece(0, states, run.solution.stage_multipliers)
    given = *steps_of_piece(problem, piece), weights_of(piece, by_state)
    of, addresses = decayed_of(problem.memory, table, given, varied.constants, problem.decay())
    dim = problem.mechanism.layout.dim
    failed = sweep(problem.memory.address, address_of(addresses), dim, BACK_DECAYING, of, (0, steps))
    refuse_failed(of.run, table.times, failed)
    widths = [getattr(table, name).shape[1] for name in GIVEN]
    inputs, *rates = np.split(of.by_given, np.cumsum(widths)[:-1], axis=1)
    rates = [
        rate if len(getattr(table, name)) > 1 else rate.sum(axis=0, keepdims=True)
        for name, rate in zip(GIVEN[1:], rates, strict=True)
    ]
    totals = [of.run.by_coefficient, of.run.by_offset, of.run.by_moved, *rates]
    arrays = [spread(problem, varied.constants, of.run.by_constants), of.run.carried, *totals, of.by_matrices]
    return SweepDerivatives(arrays, np.ascontiguousarray(inputs), float(of.run.audit[0]), np.zeros(0))


def _back_over_nodes(
    run: GradientRun, tableau: Tableau, by_state: tuple[Index, Array], varied: VariedData
) -> SweepDerivatives:
    """Derivatives as in :func:`back_over`, for steps of Gauss collocation with a ``tableau``."""
    problem, states = run.problem, run.solution.states
    table = problem.table
    assert isinstance(table, GaussTable)
    piece = Piece(0, states, np.zeros((len(states) - 1, 0)))
    given = in_loops(problem.mechanism, states), weights_of(piece, by_state)
    of, kept = collocated_of(problem.memory, table, tableau, given, varied.constants, timed=varied.times)
    dim = problem.mechanism.layout.dim
    failed = sweep(problem.memory.address, address_of(kept[0]), dim, BACK_BY_NODES, of, (0, len(states) - 1))
    refuse_failed(of.run, table.times, failed)
    totals = {name: np.zeros_like(getattr(table, name)) for name in problem.timed}
    by_inputs = np.zeros((len(problem.sampled.points), table.inputs.shape[1]))
    add_by_given(of.by_given, table, tableau, {**totals, "inputs": by_inputs})
    if varied.times:
        totals["times"] = of.run.by_times
    arrays = [spread(problem, varied.constants, of.run.by_constants), of.run.carried, *totals.values()]
    return SweepDerivatives(arrays, by_inputs, float(of.run.audit[0]), np.zeros(0))
