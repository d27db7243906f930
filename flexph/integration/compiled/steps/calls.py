"""Controllers that a loop of compiled steps calls: before steps that begin at a call, and after each try of a step."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....numerics.arrays import Array
from ....numerics.compiled.by_address import call_at
from ....numerics.compiled.kernel import kernel
from ..loops.motion import copy, copy_field
from ..memory.data import Index
from ..memory.memory import Memory
from .rows import store


class Within(NamedTuple):
    """What acts within steps, and is asked after each try of one: zeros where nothing does."""

    address: int
    """Of a function of ``data`` and the number of a step; 0 where all agree, 1 where ``inputs`` are to be tried."""
    data: int
    state: Array  # (s,), the flat state at the end of a try
    output: Array  # (i,), its mean outputs
    inputs: Array  # (i,), what they give in the next try
    given: Array  # (i,), inputs beside theirs
    start: Array  # motion where the step starts


class Calls(NamedTuple):
    """Who is called before which of n steps, and what is held in them; none of it where there are no controllers."""

    address: int
    """Of a function of the number of a step, which returns zero where all is well and has set ``held``."""
    data: int
    """What a compiled function is given behind that; zero where it is one of Python."""
    due: Index  # (n,), 1 before steps at whose start it is called
    held: Array  # (i,), inputs that go on until the next call
    held_in_steps: Array  # (n, i), what was held in each step
    within: Within


def nothing_within() -> Within:
    """Of steps within which nothing acts."""
    return Within(0, 0, *(np.zeros(0) for _ in range(5)))


def no_calls() -> Calls:
    """Of steps under inputs that are known before."""
    return Calls(0, 0, np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros((0, 0)), nothing_within())


@kernel
def hold(calls: Calls, inputs: Array, step: int, points: int) -> bool:
    """Call those whose time has come, and add what all hold to the inputs of a step; False where a call fails.

    Inputs have so many rows for each step.
    """
    if calls.due[step]:
        failed = call_at(calls.address, (step,)) if calls.data == 0 else call_at(calls.address, (step, calls.data))
        if failed != 0:
            return False
    for p in range(step * points, (step + 1) * points):
        for i in range(calls.held.size):
            inputs[p, i] += calls.held[i]
    copy(calls.held, calls.held_in_steps[step])
    return True


@kernel
def begin_within(m: Memory, within: Within, inputs: Array, step: int) -> None:
    """Keep where a step starts, and add to its inputs what is tried first."""
    copy(m.at, within.start)
    copy(inputs[step], within.given)
    _add(within, inputs, step)


@kernel
def is_to_be_tried(m: Memory, axes: tuple[int, ...], within: Within, inputs: Array, step: int) -> int:
    """Ask what acts within a step after a try of it: 0 where all agree, 1 to try it again, from its start."""
    store(m, axes, within.state)
    copy(m.run_output, within.output)
    answer = call_at(within.address, (within.data, step))
    if answer == 1:
        _add(within, inputs, step)
        copy(within.start, m.at)
        copy_field(m.run_back_history, m.run_history)
        copy(m.run_back_energy, m.run_energy)
        copy(m.run_back_defect, m.run_defect)
        m.run_step[:] = 0.0
    return answer


@kernel
def _add(within: Within, inputs: Array, step: int) -> None:
    for i in range(within.inputs.size):
        inputs[step, i] = within.given[i] + within.inputs[i]
