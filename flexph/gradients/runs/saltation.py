"""Adjoint of runs with impacts: jumps of the adjoint where gaps close, with the derivative of the time of each impact.

With the step up to the time τ of an impact, x₁(τ), and all that follows as a function Φ(x₁, τ), the gap g(x₁) = 0 gives

    a₁ = ∂Φ/∂x₁ + λ ∂g/∂x₁,   λ = −(∂Φ/∂τ + ∂Φ/∂x₁·x₁′)/(∂g/∂x₁·x₁′),

so that the derivative of the whole with respect to τ vanishes. Both products with x₁′ = dx₁/dτ follow from two sweeps
back over the step, one with ∂Φ/∂x₁ and one with ∂g/∂x₁: τ is the end of the step and changes those rows of its table
that depend on time.
"""

from __future__ import annotations

import numpy as np

from ...integration.blocks.block_stepper import table_over
from ...integration.loops.memory.structures import Table
from ...mechanisms.mechanism import Mechanism
from ...numerics.arrays import Array
from ...numerics.differences import central_of_order_six
from ...numerics.rotations import entry_count, spins
from .impacts import LATER, jump_back
from .kept_steps import Piece
from .problems import in_loops
from .struck_runs import StruckRun
from .sweeps import SweepDerivatives, Sweeps, with_inputs


def back_over_impacts(run: StruckRun, sweeps: Sweeps) -> SweepDerivatives:
    """Derivatives of a functional with respect to the data of a run with impacts, by sweeps back over its pieces."""
    jumps: list[Array] = []
    pieces, impacts = list(run.divided), list(run.impacts)
    sweeps.sweep(pieces[-1])
    for piece, impact in zip(reversed(pieces[:-1]), reversed(impacts), strict=True):
        row, mechanism = impact.row, run.problem.mechanism
        jump = jump_back(run.problem, impact, out_of_loops(mechanism, sweeps.sums.carried))
        later = _table_by_time(run, sweeps.table, row, impact.span)
        by_time = jump.by_time + sweeps.sums.table.times[row] + _derivative_by_time(later, sweeps.sums.table, row)
        last = Piece(row - 1, piece.states[-2:], piece.multipliers[-1:])
        sweeps_back = []
        for adjoint, alone in ((jump.adjoint, False), (jump.by_gap, True)):
            sums_back = sweeps.none(sweeps.sums.carried.size)
            sums_back.carried[:] = in_loops(mechanism, adjoint[None], weights=True)[0]
            sweeps.sweep(last, sums_back, alone=alone)
            sweeps_back.append(
                (sums_back, sums_back.table.times[row] + _derivative_by_time(later, sums_back.table, row))
            )
        (through, rate), (by_gap, closing) = sweeps_back
        share = -(by_time + rate) / closing
        sums = sweeps.sums._replace(carried=np.zeros_like(sweeps.sums.carried))
        sweeps.sums = sums.plus(1.0, through).plus(share, by_gap)
        jumps.append(np.append(-jump.multipliers, share))
        if len(piece.multipliers) > 1:
            sweeps.sweep(Piece(piece.first, piece.states[:-1], piece.multipliers[:-1]))
    return sweeps.found(np.concatenate(jumps[::-1]))


def out_of_loops(mechanism: Mechanism, weights: Array) -> Array:
    """Derivatives with respect to a flat state, from those with respect to a state in the layout of the loops.

    That layout has whole rotation matrices.
    """
    layout, turning = mechanism.layout, mechanism.network.arrays.turning
    dim, frames = layout.dim, layout.frames
    sizes = [part.size for part in layout.split(np.zeros(layout.size))]
    counts = [dim * frames, dim * dim * frames, sizes[2], sizes[3], spins(dim) * frames, *sizes[5:]]
    r, R, u, v, spin, *rest = np.split(weights, np.cumsum(counts)[:-1])
    R = R.reshape(frames, dim, dim)[turning]
    if dim == 2:  # the second column follows from the first
        R = np.stack([R[:, 0, 0] + R[:, 1, 1], R[:, 1, 0] - R[:, 0, 1]], axis=1)
    kept = R.reshape(len(turning), entry_count(dim)).ravel()
    return np.concatenate([r, kept, u, v, spin.reshape(frames, spins(dim))[turning].ravel(), *rest])


def _table_by_time(run: StruckRun, table: Table, row: int, span: float) -> Table:
    """Derivatives of the rows of a table of steps with respect to the time of an impact.

    ``row`` is the step after the impact; only its row and the one before depend on the time. ``span`` [s] is the length
    of the undivided step.
    """
    times = table.times[row - 1 : row + 2]
    constant = [len(rows) == 1 for rows in table[1:]]
    if all(constant) and not table.inputs.size:
        return Table(times, *(np.zeros_like(rows) for rows in table[1:]))

    def later(by: float) -> Array:
        rows = with_inputs(table_over(run.scheme, times + np.array([0.0, by, 0.0])))
        return np.concatenate([part.ravel() for part in rows[1:]])

    size = min(LATER * span, 0.1 * float(np.diff(times).min()))
    parts = table.part(row - 1, 2)[1:]
    ends = np.cumsum([part.size for part in parts])[:-1]
    found = np.split(central_of_order_six(later, 0.0, size) / size, ends)
    return Table(times, *(rows.reshape(part.shape) for rows, part in zip(found, parts, strict=True)))


def _derivative_by_time(later: Table, sums: Table, row: int) -> float:
    """Contribution of the table of steps to the derivative of a functional with respect to the time of an impact.

    ``later`` are the derivatives of the rows with respect to the time, ``sums`` the derivatives of the functional with
    respect to the rows. Rows that are the same for all steps do not depend on the time.
    """
    table = sums.part(row - 1, 2)
    return sum(float((a * b).sum()) for a, b in zip(later[1:], table[1:], strict=True) if len(a) > 1)
