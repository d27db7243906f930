"""Controllers that a loop of compiled steps calls: before steps that begin at a call, and after each try of a step."""

from __future__ import annotations

import cython

from ....control.loops.data import BEGIN as _BEGIN
from ....control.loops.data import GO_BACK as _GO_BACK
from ....numerics.arrays import Array

if not cython.compiled:
    from ....numerics.loops.views import call_one, call_two, copy
    from ..memory.memory import Memory
    from ..memory.structures import Calls, Within
    from .rows import store

BEGIN = cython.declare(cython.Py_ssize_t, _BEGIN)
GO_BACK = cython.declare(cython.Py_ssize_t, _GO_BACK)


def hold(calls: Calls, inputs: Array, step: int, points: int) -> bool:
    """Call those whose time has come, and add what all hold to the inputs of a step; False where a call fails.

    Inputs have so many rows for each step.
    """
    if calls.due[step]:
        failed = call_one(calls.address, step) if calls.data == 0 else call_two(calls.address, step, calls.data)
        if failed != 0:
            return False
    for p in range(step * points, (step + 1) * points):
        for i in range(calls.held.size):
            inputs[p][i] += calls.held[i]
    copy(calls.held, calls.held_in_steps[step])
    return True


def begin_within(m: Memory, within: Within, inputs: Array, step: int) -> None:
    """Keep where a step starts, or a part of one, and add to its inputs what is tried first."""
    if within.address == 0:
        return
    points = within.given.shape[0]
    copy(m.at, within.start)
    copy(m.run_under_way, within.under_way)
    for p in range(points):
        copy(inputs[step * points + p], within.given[p])
    _add(within, inputs, step)


def begin_pair_within(m: Memory, dim: int, within: Within) -> None:
    """Let what acts within steps know that they begin and may be taken back, at velocities that may have changed."""
    if within.address != 0:
        store(m, dim, within.state[0])
        call_two(within.address, within.data, BEGIN)


def take_back_within(within: Within) -> None:
    """Let what acts within steps stand where they began."""
    if within.address != 0:
        call_two(within.address, within.data, GO_BACK)


def is_to_be_tried(m: Memory, dim: int, within: Within, inputs: Array, step: int) -> int:
    """Ask what acts within a step after a try of it: 0 where all agree, 1 to try it again, from its start."""
    if within.address == 0:
        return 0
    store(m, dim, within.state[0])
    copy(m.run_step_output, within.output)
    return ask_again(m, within, inputs, step)


def ask_again(m: Memory, within: Within, inputs: Array, step: int) -> int:
    """Ask the same of states that are stored; inputs are those beside theirs again where no try follows."""
    points = within.given.shape[0]
    answer = call_two(within.address, within.data, step)
    if answer == 1:
        _add(within, inputs, step)
        copy(within.start, m.at)
        copy(within.under_way, m.run_under_way)
    else:
        for p in range(points):
            copy(within.given[p], inputs[step * points + p])
    return answer


def _add(within: Within, inputs: Array, step: int) -> None:
    points = within.given.shape[0]
    for p in range(points):
        for i in range(within.given.shape[1]):
            inputs[step * points + p][i] = within.given[p][i] + within.inputs[p][i]
