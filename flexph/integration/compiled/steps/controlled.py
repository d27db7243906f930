"""Pairs of compiled steps chosen by their error, as many as a block has (see integration.times.step_control)."""

from __future__ import annotations

import math

from ....numerics.arrays import Array
from ....numerics.compiled.kernel import kernel
from ....numerics.compiled.lanes import brief
from ...times import step_size
from ...times.step_size import LEFT
from ..loops.motion import copy, copy_field
from ..memory.data import Index
from ..memory.memory import Memory
from .pairs import Pair
from .rows import Rows, begin_row, close_row
from .step import Parts, Table, take_step

TRIES, H, LAST, ENERGY, TOLERANCE, SMALLEST = 0, 1, 2, 3, 4, 5
"""Pairs that are tried at most; the next step [s] and the error of the last one; the largest kinetic energy [J]."""
ORDER, SAFETY, LEAST, MOST = 6, 7, 8, 9
"""The fields of a controller."""
REJECTED, LONGEST, ERROR, REACHED, STATUS = 10, 11, 12, 13, 14
"""Steps rejected since the last accepted one, the longest [s], the last error, how many times are reached, and why
the block ends."""
CONTROLS = 15

GOES_ON, UNSOLVED, TOO_SMALL = 0.0, 1.0, 2.0
"""Why a block ends: the pairs that it may try are used up, one is not solved, or control fell below its limit."""

factor_of, blocks_to = kernel(step_size.factor_of), kernel(step_size.blocks_to)


@kernel
def is_controlled(
    m: Memory,
    axes: tuple[int, ...],
    pair: tuple[Pair, ...],
    table: Table,
    parts: Parts,
    save_every: int,
    count: int,
    known: int,
    rows: Rows,
    solved: Index,
) -> bool:
    """Whether pairs of steps are chosen by their error; they are taken then."""
    if len(pair) == 0:
        return False
    else:
        if not (pair[0].control.size > 0 and pair[0].control[TRIES] > 0.0):
            return False
        _take_controlled(m, axes, pair[0], table, parts, save_every, count, known, rows, solved)
        return True


@kernel
def _take_controlled(
    m: Memory,
    axes: tuple[int, ...],
    pair: Pair,
    table: Table,
    parts: Parts,
    save_every: int,
    count: int,
    known: int,
    rows: Rows,
    solved: Index,
) -> None:
    """Take pairs of steps through the times of a table, of which ``count`` were reached before, as their error allows.

    ``solved[0]`` counts the accepted pairs; a pair that is not solved or not accepted leaves all as it was.
    """
    brief()
    c, times, time, row = pair.control, pair.times, table.times[0], 0
    own = Table(
        times, table.coefficient, table.offset, table.own_coefficient, table.own_offset, table.inputs, table.moved
    )
    c[STATUS] = GOES_ON
    for _ in range(int(c[TRIES])):
        saved = table.times[int(c[REACHED]) + 1]
        _divide(times, time, saved, c[H])
        h = 0.5 * (times[2] - time)
        begin_row(m)
        copy(m.at, pair.start)
        if not take_step(m, axes, own, parts, 0, known, False):
            _go_back(m, pair)
            c[STATUS] = UNSOLVED
            return
        energy = max(c[ENERGY], pair.found[2])
        error = _error(pair, energy)
        factor = factor_of(error, c[LAST], c[ORDER], c[SAFETY], c[LEAST], c[MOST])
        c[ERROR], c[H] = error, max(h * factor, c[SMALLEST]) if error <= 1.0 else h * factor
        if not error <= 1.0:
            _go_back(m, pair)
            c[REJECTED] += 2.0
            if c[H] < c[SMALLEST]:
                c[STATUS] = TOO_SMALL
                return
            continue
        c[LAST], c[ENERGY], c[LONGEST] = error, energy, max(c[LONGEST], h)
        close_row(m, axes, rows, row)
        rows.audit[row, 5] += 1.0  # of two steps
        rows.audit[row, 6] += c[REJECTED]
        pair.spans[row, 0], pair.spans[row, 1], c[REJECTED] = time, times[2], 0.0
        time, known = times[2], min(known + 2, parts.depth)
        solved[0] += 1
        if time == saved:
            c[REACHED] += 1.0
            count += 1
            row += count % save_every == 0
            if int(c[REACHED]) == table.times.size - 1:
                return


@kernel
def _divide(times: Array, start: float, end: float, h: float) -> None:
    """The times of the next pair of steps, of a whole number of such pairs that meets the end."""
    blocks = blocks_to(start, end, 2, h)
    step = (end - start) / (2 * blocks)
    times[0], times[1], times[2] = start, start + step, end if blocks == 1 else start + step * 2


@kernel
def _error(pair: Pair, energy: float) -> float:
    """The error of a pair over its tolerance (see exact.pairs_of_steps.PairStepper.judged)."""
    squared = max(pair.found[0], pair.found[1] / (LEFT * LEFT))
    return math.sqrt(squared / energy) / pair.control[TOLERANCE] if squared > 0.0 else 0.0


@kernel
def _go_back(m: Memory, pair: Pair) -> None:
    """Stand where a pair started from."""
    copy(pair.start, m.at)
    copy_field(m.run_back_history, m.run_history)
    copy(m.run_back_energy, m.run_energy)
    copy(m.run_back_defect, m.run_defect)
