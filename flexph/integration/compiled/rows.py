"""The rows that a run books, in large pieces: most runs fill one and need no copy."""

from __future__ import annotations

import numpy as np

from ...numerics.arrays import Array
from .loops.steps import Rows

LARGEST = 4_000_000
"""Numbers that a piece may hold."""


class BookedRows:
    """Rows of a run: the start, one for each saved step, and the one under way where steps are booked between."""

    def __init__(self, widths: tuple[int, ...], state: Array, energy: Array) -> None:
        self.widths = widths
        self._full: list[Rows] = []
        self._piece, self._filled = self._zeros(1), 1
        self._piece.state[0], self._piece.energy[0] = state, energy

    def _zeros(self, rows: int) -> Rows:
        return Rows(*(np.zeros((rows, width)) for width in self.widths))

    def following(self, count: int, left: int) -> Rows:
        """The next rows, the first of them under way; ``left`` is how many the run may still need."""
        if self._filled + count > len(self._piece.state):
            self._add(max(count, min(left, LARGEST // sum(self.widths))))
        return Rows(*(part[self._filled : self._filled + count] for part in self._piece))

    def _add(self, count: int) -> None:
        """Another piece; the row under way moves there, and the start where there is nothing else."""
        old, first = self._piece, 0 if self._filled == 1 and not self._full else self._filled
        piece = self._zeros(self._filled - first + count)
        for mine, given in zip(piece, old, strict=True):
            moved = given[first : self._filled + 1]
            mine[: len(moved)] = moved
        if first:
            self._full.append(Rows(*(part[:first] for part in old)))
        self._piece, self._filled = piece, self._filled - first

    def complete(self, count: int) -> None:
        """So many rows more are complete."""
        self._filled += count

    def state(self, under_way: bool) -> Array:
        """The flat state after the last step."""
        last: Array = self._piece.state[self._filled] if under_way else self._rows(0).state[-1]
        return last

    def _rows(self, under_way: int) -> Rows:
        """Those of the last piece that has any."""
        end = self._filled + under_way
        return Rows(*(part[:end] for part in self._piece)) if end else self._full[-1]

    def all(self, under_way: bool) -> Rows:
        """All rows from the start on, those of flows beginning with an empty one."""
        last = self._rows(int(under_way))
        if self._full:
            pieces = self._full if last is self._full[-1] else [*self._full, last]
            return Rows(*(np.concatenate(parts) for parts in zip(*pieces, strict=True)))
        whole = 2 * len(last.state) > len(self._piece.state)  # else most of a piece is unused
        return last if whole else Rows(*(part.copy() for part in last))
