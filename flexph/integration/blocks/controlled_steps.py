"""Runs in pairs of steps of controlled error, chosen by compiled loops."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from ...control.control_loops import ControlLoops
from ...numerics.arrays import Array
from ..loops.steps.controls import GOES_ON, TOO_SMALL, UNSOLVED
from ..times.loop import Run
from ..times.protocols import Entry
from ..times.step_control import ErrorEstimate, controlled
from ..times.step_size import StepControlFailed, StepSize, StepSizeControl, StepTooSmall
from . import sizes
from .pairs import PairBlocks, Standing
from .saving import Save


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
    """Entries of a run in pairs of steps of controlled error, in blocks of about 0.1 s of computing time.

    A pair that is not solved is tried singly (see step_control.controlled). For controllers within the steps
    ``loops`` are the control loops and ``estimate`` the error estimate that includes them.
    """
    single, memory = estimate or blocks, loops
    size, known, done, tries, rejected = control.first, blocks.known(run.start), run.reached, blocks.first, 0.0
    if run.then:
        size, known = StepSize(*run.then[0]), run.then[1]
        if memory is not None:
            memory.restore(run.then[2])
    while done < len(grid) - 1:
        clock = time.perf_counter()
        times = np.append(run.start.time, grid[done + 1 : done + 1 + min(tries, blocks.limit)])
        at = Standing(size, known, rejected)
        block, (size, known, rejected), status, error, raised = blocks.controlled(
            run, control, at, times, save=Save(save_every, done), tries=tries, loops=loops
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
            tries = sizes.next_size(tries, time.perf_counter() - clock)
        if status == UNSOLVED and not blocks.compiled.leaves_list:
            run.reached, run.then = done, (size, known, None if memory is None else memory.kept())
            entry = next(controlled(run, single, control, grid, save_every=save_every, memory=memory))
            done += entry.reached
            assert callable(entry.then)
            size, known, _ = entry.then()
            yield entry._replace(rejected=entry.rejected + int(rejected))
            rejected = 0.0
