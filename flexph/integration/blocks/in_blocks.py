"""Runs in blocks of compiled steps: the stepper of a scheme, prescribed steps, and steps chosen by their error."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...control.control_loops import ControlLoops
from ...numerics.arrays import Array
from ..loops.steps.controls import GOES_ON, TOO_SMALL, UNSOLVED
from ..times.events import Watch
from ..times.loop import Accepted, Entry, Going, Run
from ..times.step_control import ErrorEstimate, controlled
from ..times.step_size import StepControlFailed, StepSize, StepSizeControl, StepTooSmall
from .block_stepper import EACH, LONGEST, BlockStepper, SavingRule, next_size
from .gauss import GaussBlocks
from .pairs import ControlState, PairBlocks
from .strikes import StrikeBlocks

if TYPE_CHECKING:
    from ..schemes.scheme import Scheme


def blocks_of(scheme: Scheme) -> BlockStepper:
    """Block stepper that takes the steps of a scheme."""
    if scheme.tableau is not None:
        return GaussBlocks(scheme)
    if scheme.accounts.rigid.size:
        return StrikeBlocks(scheme)
    return BlockStepper(scheme) if scheme.tolerance is None else PairBlocks(scheme)


def in_blocks(run: Run, blocks: BlockStepper, grid: Array, save_every: int) -> Iterator[Entry]:
    """Take steps from each time to the next, and yield them in blocks of about 0.1 s of computing time."""
    done, size = run.reached, blocks.first
    while done < len(grid) - 1:
        clock, before = time.perf_counter(), done
        size = min(size, blocks.limit, run.follower.block_limit(grid, done))
        span = slice(done, done + min(size, len(grid) - 1 - done))
        save = SavingRule(save_every, done)
        for entry in _entries(run, blocks, grid[span.start : span.stop + 1], save):
            done += entry.reached
            yield entry
        elapsed = time.perf_counter() - clock
        if isinstance(entry, Accepted) or elapsed > LONGEST:  # the rest of the block was prepared in vain
            size = max((span.stop - before) // 2, 1)
        elif done == span.stop:
            size = next_size(size, elapsed)


def _entries(run: Run, blocks: BlockStepper, times: Array, save: SavingRule) -> Iterator[Entry]:
    """Yield at least one of the steps between ``times``: a block, and singly a step that the loops do not solve."""
    run.begin_trial(float(times[0]), float(times[-1]))
    try:
        table = blocks.table(times)
    except KeyboardInterrupt:
        if not run.watch.active:
            yield from _in_time(run, blocks, times, save)
        raise
    except ValueError:  # a time of the block has no value: if the next step needs it, that step raises the error
        yield single(run, blocks, time=float(times[1]), saved=save.closes(1))
        return
    if run.watch.active:
        yield from _watched(run, blocks, (times, table), save)
        return
    block = blocks.steps(run, times, table, save)
    k = block.reached
    if k:
        yield block
    if k < len(times) - 1 and not blocks.compiled.leaves_list:
        yield single(run, blocks, time=float(times[k + 1]), saved=save.closes(k + 1))


def _watched(run: Run, blocks: BlockStepper, given: tuple[Array, Any], save: SavingRule) -> Iterator[Entry]:
    """Yield the steps between the times of a table up to the first one in which an event occurs.

    That step is taken singly, so that it can be shortened. ``given`` are the times and the table.
    """
    times, table = given
    block = blocks.steps(run, times, table, EACH)
    reached = block.reached
    assert isinstance(run.watch, Watch)
    quiet = run.watch.steps_without_events(times[1 : reached + 1], block.rows["state"]) if reached else 0
    if 0 < quiet < reached:  # repeat, up to the start of the step in which an event occurs
        block = blocks.steps(run, times[: quiet + 1], blocks.table(times[: quiet + 1]), EACH)
    if quiet:
        saved = np.array([save.closes(k) for k in range(1, quiet + 1)])
        yield block._replace(saved=saved, carried=())
    if quiet < reached:
        start, end = run.start, float(times[quiet + 1])
        run.begin_trial(start.time, end)
        step = partial(blocks.step, start)
        yield Accepted(start, step(end), step, saved=save.closes(quiet + 1))
    elif reached < len(times) - 1 and not blocks.compiled.leaves_list:
        yield single(run, blocks, time=float(times[reached + 1]), saved=save.closes(reached + 1))


def _in_time(run: Run, blocks: BlockStepper, times: Array, save: SavingRule) -> Iterator[Entry]:
    """After an interrupt, yield steps one by one for at most the computing time of a block."""
    clock = time.perf_counter()
    with suppress(ValueError):  # of drives and inputs at times that the run does not reach
        for k in range(len(times) - 1):
            if time.perf_counter() - clock > LONGEST:
                return
            step = times[k : k + 2]
            block = blocks.steps(run, step, blocks.table(step), save._replace(before=save.before + k))
            if not block.reached:
                return
            yield block


def single(run: Going, stepper: Any, *, time: float, saved: bool) -> Accepted:
    """Take the next step of a run to a time [s]; if it fails, the error raised explains the reason.

    ``saved`` is True if the state at the end of the step is to be saved.
    """
    start = run.start
    run.begin_trial(start.time, time)
    return Accepted(start, stepper.step(start, time), partial(stepper.step, start), saved=saved)


def controlled_in_blocks(
    run: Run,
    blocks: PairBlocks,
    control: StepSizeControl,
    grid: Array,
    save_every: int,
    *,
    estimate: ErrorEstimate | None = None,
    loops: ControlLoops | None = None,
) -> Iterator[Entry]:
    """Take pairs of steps of controlled error, and yield them in blocks of about 0.1 s of computing time.

    A pair that the loops do not solve is tried singly (see :func:`step_control.controlled`). For controllers that are
    solved within the steps, ``loops`` are the control loops and ``estimate`` is the error estimate that includes
    them.
    """
    single, memory = estimate or blocks, loops
    size, history, done, tries, rejected = control.first, blocks.initial(run.start), run.reached, blocks.first, 0.0
    if run.restart:
        size, history = StepSize(*run.restart[0]), run.restart[1]
        if memory is not None:
            memory.restore(run.restart[2])
    while done < len(grid) - 1:
        clock, tries = time.perf_counter(), min(tries, blocks.limit, run.follower.block_limit(grid, done))
        times = np.append(run.start.time, grid[done + 1 : done + 1 + tries])
        at = ControlState(size, history, rejected)
        block, (size, history, rejected), status, error, raised = blocks.controlled(
            run, control, at, times, save=SavingRule(save_every, done), tries=tries, loops=loops
        )
        if block is not None:
            done += block.reached
            yield block
        if raised is not None:
            raise raised
        if status == TOO_SMALL:
            small, cause = StepTooSmall(size.h, control.controller.smallest), blocks.error.cause(error)
            raise StepControlFailed(f"{small}: {cause}", run.start.time)
        if status == GOES_ON:
            tries = next_size(tries, time.perf_counter() - clock)
        if status == UNSOLVED and not blocks.compiled.leaves_list:
            run.reached, run.restart = done, (size, history, None if memory is None else memory.snapshot())
            entry = next(controlled(run, single, control, grid, save_every=save_every, memory=memory))
            done += entry.reached
            assert callable(entry.restart)
            size, history, _ = entry.restart()
            yield entry._replace(rejected=entry.rejected + int(rejected))
            rejected = 0.0
