"""Runs in compiled blocks of prescribed steps: the same steps and rows as one by one."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import suppress
from functools import partial
from typing import Any

import numpy as np

from ...numerics.arrays import Array
from ..times.events import Watch
from ..times.loop import Accepted, Going, Run
from ..times.protocols import Entry
from . import sizes
from .block_stepper import BlockStepper
from .saving import EACH, Save


def in_blocks(run: Run, blocks: BlockStepper, grid: Array, save_every: int) -> Iterator[Entry]:
    """Entries of steps from each time to the next, in blocks of about 0.1 s of computing time."""
    done, size = run.reached, blocks.first
    while done < len(grid) - 1:
        clock, before = time.perf_counter(), done
        asked = slice(done, done + min(size, blocks.limit, len(grid) - 1 - done))
        save = Save(save_every, done)
        for entry in _entries(run, blocks, grid[asked.start : asked.stop + 1], save):
            done += entry.reached
            yield entry
        elapsed = time.perf_counter() - clock
        if isinstance(entry, Accepted) or elapsed > sizes.LONGEST:  # the rest of the block was prepared in vain
            size = max((asked.stop - before) // 2, 1)
        elif done == asked.stop:
            size = sizes.next_size(size, elapsed)


def _entries(run: Run, blocks: BlockStepper, times: Array, save: Save) -> Iterator[Entry]:
    """Entries of at least one step between the times, up to one that the loops do not solve."""
    run.trying(float(times[0]), float(times[-1]))
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


def _watched(run: Run, blocks: BlockStepper, given: tuple[Array, Any], save: Save) -> Iterator[Entry]:
    """Yield the steps between the times of a table up to one in which an event may occur; that one is taken singly."""
    times, table = given
    block = blocks.steps(run, times, table, EACH)
    reached = block.reached
    assert isinstance(run.watch, Watch)
    quiet = run.watch.quiet(times[1 : reached + 1], block.rows["state"]) if reached else 0
    if 0 < quiet < reached:  # repeat, up to the start of the step in which an event occurs
        block = blocks.steps(run, times[: quiet + 1], blocks.table(times[: quiet + 1]), EACH)
    if quiet:
        saved = np.array([save.closes(k) for k in range(1, quiet + 1)])
        yield block._replace(saved=saved, carried=())
    if quiet < reached:
        start, end = run.start, float(times[quiet + 1])
        run.trying(start.time, end)
        step = partial(blocks.step, start)
        yield Accepted(start, step(end), step, saved=save.closes(quiet + 1))
    elif reached < len(times) - 1 and not blocks.compiled.leaves_list:
        yield single(run, blocks, time=float(times[reached + 1]), saved=save.closes(reached + 1))


def _in_time(run: Run, blocks: BlockStepper, times: Array, save: Save) -> Iterator[Entry]:
    """Yield the steps of a block one by one, after an interrupt, for at most the duration of a block."""
    clock = time.perf_counter()
    with suppress(ValueError):  # of drives and inputs at times that the run does not reach
        for k in range(len(times) - 1):
            if time.perf_counter() - clock > sizes.LONGEST:
                return
            step = times[k : k + 2]
            block = blocks.steps(run, step, blocks.table(step), save._replace(before=save.before + k))
            if not block.reached:
                return
            yield block


def single(run: Going, stepper: Any, *, time: float, saved: bool) -> Accepted:
    """Take one step, whose errors tell the reason of a failure."""
    start = run.start
    run.trying(start.time, time)
    return Accepted(start, stepper.step(start, time), partial(stepper.step, start), saved=saved)
