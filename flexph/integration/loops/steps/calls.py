"""Controllers that a loop of compiled steps calls: before steps that begin at a call, and after each try of a step."""

from __future__ import annotations

import cython

from ....numerics.arrays import Array

if not cython.compiled:
    from ....numerics.loops.views import call_one, call_two, copy, fill
    from ..memory.memory import Memory
    from ..memory.structures import Calls, Within
    from .rows import store


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
    """Keep where a step starts, and add to its inputs what is tried first."""
    copy(m.at, within.start)
    copy(inputs[step], within.given)
    _add(within, inputs, step)


def is_to_be_tried(m: Memory, dim: int, within: Within, inputs: Array, step: int) -> int:
    """Ask what acts within a step after a try of it: 0 where all agree, 1 to try it again, from its start."""
    store(m, dim, within.state)
    copy(m.run_output, within.output)
    answer = call_two(within.address, within.data, step)
    if answer == 1:
        _add(within, inputs, step)
        copy(within.start, m.at)
        copy(m.run_back_history, m.run_history)
        copy(m.run_back_energy, m.run_energy)
        copy(m.run_back_defect, m.run_defect)
        fill(m.run_step, 0.0)
    return answer


def _add(within: Within, inputs: Array, step: int) -> None:
    for i in range(within.inputs.size):
        inputs[step][i] = within.given[i] + within.inputs[i]
