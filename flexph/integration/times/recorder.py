"""The rows of a run: one for each saved step, into which the steps before it are merged."""

from __future__ import annotations

from collections.abc import Mapping
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

    def extend(self, values: Values, saved: Array) -> None:
        """Merge k steps, arrays (k, …) by column, of which those marked in ``saved`` (k,) close a row."""
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
            elif merge == "sum":
                column += given if len(lasts) == count else np.add.reduceat(given, firsts, axis=0)
            else:
                largest = given if len(lasts) == count else np.maximum.reduceat(given, firsts, axis=0)
                np.maximum(column, largest, out=column)
        self.steps += int(values["counts"][:, 1].sum())
        self._close(len(ends), open_row=len(firsts) > len(ends))

    def rows(self) -> dict[str, Array]:
        """All rows from the start on, (k + 1, …) by column, the row under way included."""
        last = self._last()
        if self._full:
            pieces = self._full if last is self._full[-1] else [*self._full, last]
            return {name: np.concatenate([piece[name] for piece in pieces]) for name in self.columns}
        if 2 * self._end >= len(next(iter(self._piece.values()))):
            return last
        return {name: values.copy() for name, values in last.items()}  # most of the piece is unused

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
