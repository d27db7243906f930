"""Pairs of compiled steps under step size control, for one block (see integration.times.step_control)."""

from __future__ import annotations

import cython

from ....kernels.convergence.tolerances import LEFT as _LEFT
from ....numerics.arrays import Array
from .controls import ENERGY as _ENERGY
from .controls import ERROR as _ERROR
from .controls import GOES_ON as _GOES_ON
from .controls import LAST as _LAST
from .controls import LEAST as _LEAST
from .controls import LONGEST as _LONGEST
from .controls import MOST as _MOST
from .controls import ORDER as _ORDER
from .controls import REACHED as _REACHED
from .controls import REJECTED as _REJECTED
from .controls import SAFETY as _SAFETY
from .controls import SMALLEST as _SMALLEST
from .controls import STATUS as _STATUS
from .controls import TOLERANCE as _TOLERANCE
from .controls import TOO_SMALL as _TOO_SMALL
from .controls import TRIES as _TRIES
from .controls import UNSOLVED as _UNSOLVED
from .controls import H as _H

if not cython.compiled:
    from math import sqrt

    from ....kernels.convergence.rules import blocks_to, factor_of
    from ....numerics.loops.views import copy, larger, part, smaller_int
    from ..memory.memory import Memory
    from ..memory.structures import Course, Pair, Table, Within
    from .calls import begin_pair_within, withdraw_within
    from .rows import begin_row, close_row
    from .step import take_step

ENERGY = cython.declare(cython.Py_ssize_t, _ENERGY)
ERROR = cython.declare(cython.Py_ssize_t, _ERROR)
GOES_ON = cython.declare(cython.double, _GOES_ON)
H = cython.declare(cython.Py_ssize_t, _H)
LAST = cython.declare(cython.Py_ssize_t, _LAST)
LEAST = cython.declare(cython.Py_ssize_t, _LEAST)
LEFT = cython.declare(cython.double, _LEFT)
LONGEST = cython.declare(cython.Py_ssize_t, _LONGEST)
MOST = cython.declare(cython.Py_ssize_t, _MOST)
ORDER = cython.declare(cython.Py_ssize_t, _ORDER)
REACHED = cython.declare(cython.Py_ssize_t, _REACHED)
REJECTED = cython.declare(cython.Py_ssize_t, _REJECTED)
SAFETY = cython.declare(cython.Py_ssize_t, _SAFETY)
SMALLEST = cython.declare(cython.Py_ssize_t, _SMALLEST)
STATUS = cython.declare(cython.Py_ssize_t, _STATUS)
TOLERANCE = cython.declare(cython.Py_ssize_t, _TOLERANCE)
TOO_SMALL = cython.declare(cython.double, _TOO_SMALL)
TRIES = cython.declare(cython.Py_ssize_t, _TRIES)
UNSOLVED = cython.declare(cython.double, _UNSOLVED)


def is_controlled(m: Memory, dim: int, table: Table, course: Course) -> bool:
    """Take all pairs of steps of a block if the loops control their length; else return False and take none."""
    pair = course.parts.pair
    if pair.found.size == 0:
        return False
    if not (pair.control.size > 0 and pair.control[TRIES] > 0.0):
        return False
    _take_controlled(m, dim, table, course)
    return True


def _take_controlled(m: Memory, dim: int, table: Table, course: Course) -> None:
    """Take pairs of steps through the times of a table, with lengths that their errors allow.

    ``solved[0]`` counts the accepted pairs; after a pair that is not solved or not accepted, the state is restored.
    """
    accepted = cython.declare(cython.Py_ssize_t)
    count = cython.declare(cython.Py_ssize_t)
    known = cython.declare(cython.Py_ssize_t)
    row = cython.declare(cython.Py_ssize_t)
    pair = course.parts.pair
    within = course.calls.within
    rows = course.rows
    c = pair.control
    accepted = 0
    count = course.before
    known = course.known
    time = table.times[0]
    row = 0
    c[STATUS] = GOES_ON
    for _ in range(cython.cast(cython.Py_ssize_t, c[TRIES])):
        saved = table.times[cython.cast(cython.Py_ssize_t, c[REACHED]) + 1]
        times = part(pair.times, 2 * accepted, 2 * accepted + 3)
        pair_table = Table(
            times, table.coefficient, table.offset, table.coefficient_rate, table.offset_rate, table.inputs, table.moved
        )
        _divide(times, time, saved, c[H])
        h = 0.5 * (times[2] - time)
        begin_row(m)
        copy(m.at, pair.start)
        begin_pair_within(m, dim, within)
        if not take_step(m, dim, pair_table, course, 0, known):
            _go_back(m, pair, within)
            c[STATUS] = UNSOLVED
            return
        energy = larger(c[ENERGY], pair.found[2])
        error = _error(pair, energy)
        factor = factor_of(error, c[LAST], c[ORDER], c[SAFETY], c[LEAST], c[MOST])
        c[ERROR] = error
        c[H] = larger(h * factor, c[SMALLEST]) if error <= 1.0 else h * factor
        if not error <= 1.0:
            _go_back(m, pair, within)
            c[REJECTED] += 2.0
            if c[H] < c[SMALLEST]:
                c[STATUS] = TOO_SMALL
                return
            continue
        accepted += within.address != 0  # controllers within steps read the times of every step
        c[LAST] = error
        c[ENERGY] = energy
        c[LONGEST] = larger(c[LONGEST], h)
        close_row(m, dim, rows, row)
        rows.audit[row][5] += 1.0  # a pair has two steps
        rows.audit[row][6] += c[REJECTED]
        pair.spans[row][0] = time
        pair.spans[row][1] = times[2]
        c[REJECTED] = 0.0
        time = times[2]
        known = smaller_int(known + 2, course.parts.depth)
        course.solved[0] += 1
        if time == saved:
            c[REACHED] += 1.0
            count += 1
            row += count % course.every == 0
            if cython.cast(cython.Py_ssize_t, c[REACHED]) == table.times.size - 1:
                return


def _divide(times: Array, start: float, end: float, h: float) -> None:
    """Write the start, middle and end of the next pair of steps into ``times``.

    The pair is as long as two steps of h or shorter, so that a whole number of equal pairs leads to ``end``.
    """
    blocks = blocks_to(start, end, 2, h)
    step = (end - start) / (2 * blocks)
    times[0] = start
    times[1] = start + step
    times[2] = end if blocks == 1 else start + step * 2


def _error(pair: Pair, energy: float) -> float:
    """Error of a pair of steps, divided by its tolerance (see flexph.integration.blocks.pairs).

    ``energy`` is the largest kinetic energy of the run [J].
    """
    squared = larger(pair.found[0], pair.found[1] / (LEFT * LEFT))
    return sqrt(squared / energy) / pair.control[TOLERANCE] if squared > 0.0 else 0.0


def _go_back(m: Memory, pair: Pair, within: Within) -> None:
    """Restore the state at the start of a pair of steps."""
    withdraw_within(within)
    copy(pair.start, m.at)
    copy(m.run_back, m.run_now)
