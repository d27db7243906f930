"""Compiled steps of runs with controllers, in chunks of about 0.1 s of computing time.

Steps with continuous controllers in Python are repeated until mechanism and controllers agree.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from ...control.control_loops import ControlLoops
from ...control.coupled_controllers import CoupledControllers
from ...numerics.arrays import Array
from ...numerics.step_failed import StepFailed
from ..blocks import block_stepper
from ..blocks.block_stepper import BlockStepper
from ..blocks.in_blocks import single
from ..blocks.single_steps import StepTable
from ..loops.memory.structures import Calls, Rows, Within, nothing_within
from ..times.controlled_runs import CoupledResult, plan_of
from ..times.loop import Entry, Going
from .calls import CallsByStep, Chunk, call, calls_read_compiled
from .coupled_steps import stepper_with_controllers

if TYPE_CHECKING:
    from ...control.coupling import CompiledCoupling


def take_coupled(chunk: Chunk, coupled: CoupledControllers) -> None:
    """Take the steps of a chunk, up to one that fails, with continuous controllers that Python solves within them."""
    window, x, times = StepTable(chunk.table(), chunk.blocks.spans()), chunk.run.start.x, chunk.times.tolist()
    for k in range(len(times) - 1):
        chunk.loops.call(times[k], x, chunk.last(k))
        chunk.held[k] = chunk.loops.held
        if not _couple(chunk, coupled, (k, x), window):
            chunk.failed = True
            return
        chunk.done, x = k + 1, chunk.rows.state[k]


def _couple(chunk: Chunk, coupled: CoupledControllers, at: tuple[int, Array], window: StepTable) -> bool:
    """Repeat step k of a chunk until mechanism and controllers agree, and record it; True if it is solved.

    ``at`` has k and the state at the start of the step, ``window`` the table of prescribed quantities by step.
    """
    (k, x), compiled = at, chunk.blocks.compiled
    solved, held = np.zeros(1, dtype=np.int64), chunk.held[k].copy()
    rows, start = Rows(*(column[k : k + 1] for column in chunk.rows)), compiled.snapshot()
    before = chunk.rows.energy[k - 1] if k else chunk.run.start.energy

    def take(answers: Array) -> tuple[None, Array, Array]:
        compiled.go_back(start)
        chunk.loops.held[:] = held + answers  # read by steps that are split
        try:
            if not compiled.step(window.at(k, held + answers), rows, solved):
                raise StepFailed("the compiled loops did not solve the step", 0, 0.0)
        finally:
            chunk.loops.held[:] = held
        return None, rows.state[0], compiled.memory.run_step_output

    try:
        _, controllers = coupled.step(x, (float(chunk.times[k]), float(chunk.times[k + 1])), take)
    except StepFailed:
        return False
    rows.audit[0, 0] = abs(chunk.blocks.accounts.balance(before, rows.energy[0], rows.flow[0]) + controllers.error)
    chunk.held[k] = held + controllers.held
    chunk.coupled.append(controllers)
    coupled.commit(controllers)
    return True


FEW = 16
"""Number of steps up to which Python reads sensors faster than their layout for the loops takes; readings agree."""


def in_chunks(run: Going, blocks: BlockStepper, loops: ControlLoops, grid: Array, save_every: int) -> Iterator[Entry]:
    """Take the steps of a run with controllers, and yield them in chunks of about 0.1 s of computing time."""
    plan, size = plan_of(run, loops, grid, save_every), block_stepper.FIRST
    k = plan.next
    while k < plan.times.size:
        clock, size = time.perf_counter(), min(size, blocks.limit, run.follower.block_limit(plan.times, k - 1))
        chunk = Chunk(run, blocks, loops, (plan._replace(next=k), size))
        try:
            _take(chunk)
        finally:  # an error of a controller or an interruption keeps the finished steps
            if chunk.done:
                yield chunk.block()
        k += chunk.done
        if chunk.failed:
            end, saved = float(plan.times[k]), bool(plan.saved[k])
            step = single(run, stepper_with_controllers(blocks, loops), time=end, saved=saved)
            if isinstance(step.result, CoupledResult) and loops.coupled is not None:
                loops.coupled.commit(step.result.controllers)
            loops.follow(step.result, end, run.start)
            yield step._replace(reached=int(plan.of_grid[k]), restart=loops.snapshot)
            k += 1
        else:
            size = block_stepper.next_size(size, time.perf_counter() - clock)


def _take(chunk: Chunk) -> None:
    """Take the steps of a chunk, up to one that the loops do not solve, in the way that suits its controllers."""
    chunk.run.begin_trial(float(chunk.times[0]), float(chunk.times[-1]))
    chunk.blocks.put(chunk.run.start)
    coupled = chunk.loops.coupled
    if coupled is None:
        _take_in_one(chunk, nothing_within())
    elif chunk.loops.is_compiled:
        _take_compiled(chunk, coupled)
    else:
        take_coupled(chunk, coupled)


def _take_in_one(chunk: Chunk, within: Within, coupling: CompiledCoupling | None = None) -> None:
    """Take the steps of a chunk in one call of the loops, which call the sampled controllers.

    ``within`` are the data of controllers solved within steps for the loops, ``coupling`` the same controllers in
    Python.
    """
    loops, due, solved = chunk.loops, chunk.loops.due(chunk.times[:-1]), np.zeros(1, dtype=np.int64)
    compiled = loops.are_read_compiled and (len(due) > FEW or any(c.feedback is not None for c in loops.called))
    calls = calls_read_compiled(chunk, due, coupling) if compiled else CallsByStep(chunk, coupling)
    table = Calls(calls.address, calls.data, due.max(axis=1, initial=0), loops.held, chunk.held, within)
    try:
        chunk.blocks.compiled.take(chunk.own_inputs(), 1, 0, rows=chunk.rows, solved=solved, calls=table)
    finally:
        k = chunk.done = int(solved[0])
        loops.end_calls(calls.calls())
    error = calls.error if coupling is None or calls.error is not None else coupling.error
    if error is not None:
        raise error
    if k < len(due) and compiled and (due[k] == 1).any():
        call(chunk, k)  # raises the error of an unusable answer
    chunk.failed = k < len(due) and not chunk.blocks.compiled.leaves_list


def _take_compiled(chunk: Chunk, coupled: CoupledControllers) -> None:
    """Take the steps of a chunk in one call of the loops, with compiled controllers that are solved within them."""
    from ...control.coupling import CompiledCoupling

    start, states, ports = chunk.run.start, coupled.states, chunk.loops.held.size
    try:
        coupling = CompiledCoupling(coupled, chunk.times, start.x, ports, evaluation=chunk.blocks.evaluation)
    except ValueError:  # a time of the chunk has no value: single steps raise the error
        take_coupled(chunk, coupled)
        return
    try:
        _take_in_one(chunk, chunk.blocks.compiled.within(coupling), coupling)
    finally:
        k = chunk.done
        coupling.commit(k)
        chunk.held[:k] += coupling.held(k)
        chunk.controller_rows, error = coupling.rows(states, k)
        energies, accounts = np.vstack([start.energy, chunk.rows.energy[:k]]), chunk.blocks.accounts
        chunk.rows.audit[:k, 0] = abs(accounts.balances(energies, chunk.rows.flow[:k]) + error)
