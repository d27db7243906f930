"""Compiled steps of a mechanism with continuous controllers in Python, iterated until both agree."""

from __future__ import annotations

import numpy as np

from ...control.joined import Joined
from ...numerics.arrays import Array
from ...numerics.step_failed import StepFailed
from ..blocks.window import Window
from ..loops.memory.structures import Rows
from .chunk import Chunk


def take_joined(chunk: Chunk, joined: Joined) -> None:
    """Take the steps of a chunk, up to one that is not solved."""
    window, x, times = Window(chunk.table(), chunk.blocks.spans()), chunk.run.start.x, chunk.times.tolist()
    for k in range(len(times) - 1):
        chunk.loops.call(times[k], x, chunk.last(k))
        chunk.held[k] = chunk.loops.held
        if not _agree(chunk, joined, (k, x), window):
            chunk.failed = True
            return
        chunk.done, x = k + 1, chunk.rows.state[k]


def _agree(chunk: Chunk, joined: Joined, at: tuple[int, Array], window: Window) -> bool:
    """Repeat the k-th step from the state x until mechanism and controllers agree; True if it is solved."""
    (k, x), compiled = at, chunk.blocks.compiled
    solved, held = np.zeros(1, dtype=np.int64), chunk.held[k].copy()
    rows, start = Rows(*(column[k : k + 1] for column in chunk.rows)), compiled.kept()
    before = chunk.rows.energy[k - 1] if k else chunk.run.start.energy

    def take(answers: Array) -> tuple[None, Array, Array]:
        compiled.go_back(start)
        chunk.loops.held[:] = held + answers  # read by steps that are split
        try:
            if not compiled.step(window.at(k, held + answers), rows, solved):
                raise StepFailed("the compiled loops do not solve it", 0, 0.0)
        finally:
            chunk.loops.held[:] = held
        return None, rows.state[0], compiled.memory.run_step_output

    try:
        _, agreed = joined.step(x, (float(chunk.times[k]), float(chunk.times[k + 1])), take)
    except StepFailed:
        return False
    rows.audit[0, 0] = abs(chunk.blocks.accounts.balance(before, rows.energy[0], rows.flow[0]) + agreed.error)
    chunk.held[k] = held + agreed.held
    chunk.joined.append(agreed)
    joined.commit(agreed)
    return True
