"""The rows of a run: one for each saved step, into which the steps before it are merged."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np

from ...numerics.arrays import Array

LARGEST_PIECE = 4_000_000
"""Numbers that are reserved at once: most runs fill one piece and need no copy."""
FIRST_PIECE = 64
"""Rows that are reserved at least, where so many are expected."""


class Column(NamedTuple):
    """Numbers of a row, and how those of steps are merged: the last ones stay, they add up, or the largest stay."""

    width: int
    merge: Literal["last", "sum", "largest"]


COUNTS = Column(3, "sum")
"""The column ``counts`` of every run: iterations, steps, and steps that step control rejected."""

Values = Mapping[str, Any]
"""Numbers by column. ``state_before`` replaces the state that the last step, or the start, has."""


class Recorder:
    """Rows of a run from its start on, which is the first row; the last step is kept even if it is not to be saved.

    ``expected`` is the number of rows that the run will save, as far as it is known; ``steps`` counts finished steps.
    The last row ``is_open`` while its step is not to be saved.
    """

    def __init__(self, columns: Mapping[str, Column], start: Values, expected: int) -> None:
        self.columns = dict(columns)
        self._width = sum(column.width for column in columns.values())
        self._left = expected
        self._full: list[dict[str, Array]] = []
        self._piece, self._filled = self._zeros(1 + min(expected, self._largest())), 1
        self.is_open, self.steps = False, 0
        for name, values in start.items():
            self._piece[name][0] = values

    def add(self, values: Values, *, saved: bool, rejected: int = 0) -> None:
        """Merge a step into the row under way, and close that if the step is saved."""
        if "state_before" in values:
            self._last()["state"][-1] = values["state_before"]
        self._reserve(1)
        row = self._filled
        for name, (_, merge) in self.columns.items():
            column = self._piece[name]
            if merge == "last":
                column[row] = values[name]
            elif merge == "sum":
                column[row] += values[name]
            else:
                np.maximum(column[row], values[name], out=column[row])
        self._piece["counts"][row, 2] += rejected
        self.steps += int(values["counts"][1])
        self._close(int(saved), open_row=not saved)

    def extend(self, values: Values, saved: Array, carried: Sequence[str] = ()) -> None:
        """Merge k steps, arrays (k, …) by column, of which those marked in ``saved`` (k,) close a row.

        Of the columns ``carried``, whose rows are those of the recorder, the first holds what the row under way held.
        Sums are those of the steps one by one, to the bits: a row may begin in one block and end in another.
        """
        ends, count = np.flatnonzero(saved), len(saved)
        if not count:
            return
        firsts = np.append(0, ends + 1)
        firsts = firsts[firsts < count]
        self._reserve(len(firsts))
        rows = slice(self._filled, self._filled + len(firsts))
        lasts = np.append(ends, count - 1)[: len(firsts)]
        for name, (_, merge) in self.columns.items():
            column, given = self._piece[name][rows], values[name]
            if merge == "last":
                column[:] = given if len(lasts) == count else given[lasts]
            elif name in carried:
                column[:] = given
            elif merge == "sum":
                _add_up(column, given, firsts, lasts)
            else:
                largest = given if len(lasts) == count else np.maximum.reduceat(given, firsts, axis=0)
                np.maximum(column, largest, out=column)
        self.steps += int(values["counts"][:, 1].sum())
        self._close(len(ends), open_row=len(firsts) > len(ends))

    def under_way(self, name: str) -> Array:
        """What a column of the row under way holds, zeros where there is none."""
        row: Array = self._piece[name][self._filled] if self.is_open else np.zeros(self.columns[name].width)
        return row.copy()

    def rows(self, first: int = 0) -> dict[str, Array]:
        """All rows from one on, by default from the start, (…, …) by column, the row under way included."""
        pieces, left = (
            [*self._full, self._last()] if self._end else [*self._full],
            self.saved + int(self.is_open) - first,
        )
        own: list[dict[str, Array]] = []
        while left > 0:
            piece = pieces.pop()
            count = len(next(iter(piece.values())))
            own.insert(0, {name: values[max(count - left, 0) :] for name, values in piece.items()})
            left -= count
        if len(own) > 1:
            return {name: np.concatenate([piece[name] for piece in own]) for name in self.columns}
        if 2 * self._end >= len(next(iter(self._piece.values()))) or not self._end:
            return own[0]
        return {name: values.copy() for name, values in own[0].items()}  # most of the piece is unused

    @property
    def saved(self) -> int:
        """Rows that are closed, the start among them."""
        return self._filled + sum(len(next(iter(piece.values()))) for piece in self._full)

    def restore(self, pieces: Sequence[dict[str, Array]], *, is_open: bool, steps: int) -> None:
        """Set the rows of a run that goes on, the row under way in the last of the pieces; all are written anew."""
        *self._full, last = pieces
        self._full = [piece for piece in self._full if len(next(iter(piece.values())))]
        count = len(next(iter(last.values())))
        self._left += 1 - sum(len(next(iter(piece.values()))) for piece in pieces) + int(is_open)
        self._piece, self._filled = self._zeros(count + max(min(self._left, self._largest()), 1)), count - int(is_open)
        for name, values in last.items():
            self._piece[name][:count] = values
        self.is_open, self.steps = is_open, steps

    @property
    def _end(self) -> int:
        return self._filled + int(self.is_open)

    def _last(self) -> dict[str, Array]:
        """The rows of the last piece that has any."""
        return {name: values[: self._end] for name, values in self._piece.items()} if self._end else self._full[-1]

    def _close(self, count: int, *, open_row: bool) -> None:
        self._filled, self._left, self.is_open = self._filled + count, self._left - count, open_row

    def _largest(self) -> int:
        return max(1, LARGEST_PIECE // max(self._width, 1))

    def _zeros(self, rows: int) -> dict[str, Array]:
        return {name: np.zeros((rows, column.width)) for name, column in self.columns.items()}

    def _reserve(self, count: int) -> None:
        """Room for further rows, the one under way among them: another piece, to which that one moves."""
        old, first = self._piece, self._filled
        if first + count <= len(next(iter(old.values()))):
            return
        wanted = max(self._left, min(FIRST_PIECE, self._largest()))
        self._piece, self._filled = self._zeros(max(count, min(wanted, self._largest()))), 0
        if first:
            self._full.append({name: values[:first] for name, values in old.items()})
        if self.is_open:
            for name, values in old.items():
                self._piece[name][0] = values[first]


def _add_up(rows: Array, steps: Array, firsts: Array, lasts: Array) -> None:
    """Add to each row its steps, one after the other."""
    if len(rows) == len(steps):
        rows += steps
        return
    for row, first, last in zip(rows, firsts, lasts, strict=True):
        row[:] = np.add.accumulate(np.vstack([row, steps[first : last + 1]]))[-1]
