"""Calls of controllers in compiled loops: before steps that start at a sampling time, and after trial solutions."""

from __future__ import annotations

import cython

from ....control.loops.data import BEGIN as _BEGIN
from ....control.loops.data import WITHDRAW as _GO_BACK
from ....numerics.arrays import Array

if not cython.compiled:
    from ....numerics.loops.views import call_one, call_two, copy
    from ..memory.memory import Memory
    from ..memory.structures import Calls, Within
    from .rows import store

BEGIN = cython.declare(cython.Py_ssize_t, _BEGIN)
WITHDRAW = cython.declare(cython.Py_ssize_t, _GO_BACK)


def add_held_inputs(calls: Calls, inputs: Array, step: int, points: int) -> bool:
    """Call the controllers that are due before a step, and add all held inputs to its inputs; False if a call fails.

    ``inputs`` has ``points`` rows for each step.
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
    """Store the start of a substep and its inputs, and add the first trial inputs of controllers to these.

    Only the controllers that are solved within the step are concerned.
    """
    if within.address == 0:
        return
    points = within.given.shape[0]
    copy(m.at, within.start)
    copy(m.run_under_way, within.under_way)
    for p in range(points):
        copy(inputs[step * points + p], within.given[p])
    _add(within, inputs, step)


def begin_pair_within(m: Memory, dim: int, within: Within) -> None:
    """Pass the state at the start of a pair of steps to the controllers solved within steps.

    They store their own state, for the case that the pair is rejected.
    """
    if within.address != 0:
        store(m, dim, within.state[0])
        call_two(within.address, within.data, BEGIN)


def withdraw_within(within: Within) -> None:
    """Reset the controllers that are solved within steps to the start of a rejected pair of steps."""
    if within.address != 0:
        call_two(within.address, within.data, WITHDRAW)


def is_repeated(m: Memory, dim: int, within: Within, inputs: Array, step: int) -> int:
    """Call the controllers solved within steps after a trial solution.

    Returns 0 if the trial was solved with the inputs that all controllers now give, 1 to repeat the step from its start
    with new trial inputs, else an error.
    """
    if within.address == 0:
        return 0
    store(m, dim, within.state[0])
    copy(m.run_step_output, within.output)
    return evaluate_controllers(m, within, inputs, step)


def evaluate_controllers(m: Memory, within: Within, inputs: Array, step: int) -> int:
    """Call the controllers solved within steps with the states in ``within.state``.

    Returns 0 if the inputs of all controllers are those of the trial, 1 to repeat the step, else an error. If the step
    is to be repeated, its start is restored and the new trial inputs are added; else they are removed.
    """
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
