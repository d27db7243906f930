"""Recorder of the rows of a run: one for each saved step, into which the steps since the previous one are merged.

Finished rows of runs that are longer than memory are in temporary files.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from ...numerics.arguments import warn
from ...numerics.arrays import Array
from .options import CheckpointWarning

Rows = Mapping[str, Array]
"""Arrays (k, width) by column."""


class RowsOnDisk:
    """Store for rows on disk, in one anonymous file for each column; ``count`` rows are stored.

    A file is deleted with the last array that maps it. Writing raises OSError if the disk is full; reading is by
    memory maps, which the system can page out.
    """

    def __init__(self, folder: Path, widths: Mapping[str, int]) -> None:
        self.count, self._widths = 0, dict(widths)
        self._files: dict[str, Any] = {}
        for name in widths:
            self._files[name] = tempfile.TemporaryFile(dir=folder, buffering=0)  # noqa: SIM115

    def __del__(self) -> None:
        for file in self._files.values():
            file.close()

    def append(self, rows: Rows) -> None:
        """Append rows to the files of their columns."""
        self._write(rows)
        self.count += _length(rows)

    def rows(self) -> dict[str, Array]:
        """All stored rows by column, as memory maps."""
        return {name: self._mapped(name, 0, self.count) for name in self._widths}

    def followed_by(self, rows: Rows, first: int) -> dict[str, Array]:
        """All stored rows from number ``first`` on, by column, followed by the given ``rows``.

        The latter are written to the files but not counted as stored, so that the next rows overwrite them.
        """
        self._write(rows)
        count = self.count + _length(rows) - first
        return {name: self._mapped(name, first, count) for name in self._widths}

    def _write(self, rows: Rows) -> None:
        for name, width in self._widths.items():
            file, left = self._files[name], np.ascontiguousarray(rows[name]).reshape(-1).view(np.uint8).data
            file.seek(8 * width * self.count)
            while len(left):
                left = left[file.write(left) :]

    def _mapped(self, name: str, first: int, count: int) -> Array:
        width = self._widths[name]
        if not width * count:
            return np.zeros((count, width))
        shown = np.memmap(self._files[name], np.float64, "r", 8 * width * first, (count, width))
        return np.asarray(shown)


def _length(rows: Rows) -> int:
    return len(next(iter(rows.values())))


LARGEST_PIECE, LARGEST_IN_MEMORY = 4_000_000, 64_000_000
"""Numbers that are reserved at once by a run whose rows go to files, and by one that keeps them in memory.

Most runs fill one block and need no copy; the system provides memory for the part of a block that is written only.
"""
FIRST_PIECE = 64
"""Least number of rows that are reserved, if as many are expected."""


class Column(NamedTuple):
    """Column of the rows of a run: its width, and how the steps of a row are merged in it.

    A row has the value of its last step, the sum over its steps, or the largest of their values.
    """

    width: int
    merge: Literal["last", "sum", "largest"]


COUNTS = Column(3, "sum")
"""Column ``counts`` of every run: iterations, steps, and rejected steps."""

Values = Mapping[str, Any]
"""Values by column. ``state_before`` replaces the state of the last step, or of the start."""


class Recorder:
    """Recorder of the rows of a run, of which the first is its start; the last step is kept even if it is not saved.

    ``expected`` is the expected number of saved rows, ``steps`` counts the finished steps. ``is_open`` is True if the
    last row merges further steps, since its last step is not to be saved. Full blocks of rows go to files in a
    ``folder``, if there is one and it can be written to.
    """

    def __init__(
        self, columns: Mapping[str, Column], start: Values, expected: int, *, folder: Path | None = None
    ) -> None:
        self.columns, self._folder = dict(columns), folder
        self._on_disk: RowsOnDisk | None = None
        self._width = sum(column.width for column in columns.values())
        self._left = expected
        self._full: list[Rows] = []
        self._piece, self._filled = self._zeros(1 + min(expected, self._largest())), 1
        self.is_open, self.steps = False, 0
        for name, values in start.items():
            self._piece[name][0] = values

    def add(self, values: Values, *, saved: bool, rejected: int = 0) -> None:
        """Merge a step into the open row, and close the row if the step is saved."""
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
        """Merge k steps, arrays (k, …) by column, into rows; those marked in ``saved`` (k,) close a row.

        Columns ``carried`` are already merged into rows, and their first row includes the open row. Sums are equal,
        to the last bit, to adding the steps one by one: a row may begin in one block and end in another.
        """
        count = len(saved)
        if not count:
            return
        firsts = lasts = ends = saved.nonzero()[0]
        if ends.size < count:  # not every step closes a row
            firsts = np.append(0, ends + 1)
            firsts = firsts[firsts < count]
            lasts = np.append(ends, count - 1)[: len(firsts)]
        self._reserve(len(firsts))
        rows = slice(self._filled, self._filled + len(firsts))
        for name, (_, merge) in self.columns.items():
            given, piece = values[name], self._piece[name]
            if given.base is piece:  # written in place
                continue
            column = piece[rows]
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

    def room(self, count: int) -> dict[str, Array]:
        """Views of the next ``count`` rows by column, which a caller may write.

        Empty if a row is open, or if the block of rows has no space for them.
        """
        end = self._filled + count
        if self.is_open or end > _length(self._piece):
            return {}
        return {name: values[self._filled : end] for name, values in self._piece.items()}

    def open_values(self, name: str) -> Array:
        """Values of the column ``name`` in the open row; zeros if no row is open."""
        row: Array = self._piece[name][self._filled] if self.is_open else np.zeros(self.columns[name].width)
        return row.copy()

    def rows(self, first: int = 0) -> dict[str, Array]:
        """All rows from number ``first`` on, by column and including the open row.

        Rows in files are read-only, and read on demand.
        """
        stored, last = self._stored(), self._last()
        if not (first or stored or self._full) and 2 * self._end >= _length(self._piece):
            return last
        if self._on_disk is not None and first < stored and not self._full:
            with suppress(OSError):  # the disk is full: keep all rows in memory
                return self._on_disk.followed_by(last, first)
        parts, left = [], stored + sum(map(_length, self._full)) + _length(last) - first
        for piece in self._pieces_backwards(last):
            count = _length(piece)
            parts.append({name: values[max(count - left, 0) :] for name, values in piece.items()})
            left -= count
            if left <= 0:
                break
        if len(parts) > 1:
            return {name: np.concatenate([piece[name] for piece in reversed(parts)]) for name in self.columns}
        if 2 * self._end >= _length(self._piece):
            return parts[0]
        return {name: values.copy() for name, values in parts[0].items()}  # most of the piece is unused

    @property
    def saved(self) -> int:
        """Number of closed rows, including the start."""
        return self._stored() + sum(map(_length, self._full)) + self._filled

    def restore(self, rows: Rows) -> None:
        """Add rows of a resumed run that no longer change, in order; to be called before :meth:`restore_last`."""
        if _length(rows):
            self._store_final(rows)

    def restore_last(self, rows: Rows, *, is_open: bool, steps: int) -> None:
        """Set the last rows of a resumed run, including the open one, in a new block."""
        count = _length(rows)
        self._left += 1 - self._stored() - sum(map(_length, self._full)) - count + int(is_open)
        self._piece, self._filled = self._zeros(count + max(min(self._left, self._largest()), 1)), count - int(is_open)
        for name, values in rows.items():
            self._piece[name][:count] = values
        self.is_open, self.steps = is_open, steps

    @property
    def _end(self) -> int:
        return self._filled + int(self.is_open)

    def _stored(self) -> int:
        """Number of rows in files."""
        return 0 if self._on_disk is None else self._on_disk.count

    def _last(self) -> dict[str, Array]:
        """Views of the rows of the last block, which may still change; at least one of them is closed."""
        end = self._end
        return {name: values[:end] for name, values in self._piece.items()}

    def _pieces_backwards(self, last: Rows) -> Iterator[Rows]:
        yield last
        yield from reversed(self._full)
        if self._on_disk is not None:
            yield self._on_disk.rows()

    def _close(self, count: int, *, open_row: bool) -> None:
        self._filled, self._left, self.is_open = self._filled + count, self._left - count, open_row

    def _largest(self) -> int:
        return max(1, (LARGEST_IN_MEMORY if self._folder is None else LARGEST_PIECE) // max(self._width, 1))

    def _zeros(self, rows: int) -> dict[str, Array]:
        return {name: np.zeros((rows, column.width)) for name, column in self.columns.items()}

    def _reserve(self, count: int) -> None:
        """Make space for ``count`` further rows, if needed in a new block, to which the last rows move."""
        old, final, end = self._piece, self._filled - 1, self._end
        if self._filled + count <= _length(old):
            return
        wanted = max(self._left, min(FIRST_PIECE, self._largest()))
        self._piece, self._filled = self._zeros(1 + max(count, min(wanted, self._largest()))), 1
        for name, values in old.items():
            self._piece[name][: end - final] = values[final:end]
        if final:
            self._store_final({name: values[:final] for name, values in old.items()})

    def _store_final(self, rows: Rows) -> None:
        """Move rows that no longer change to files, or to memory if there is no folder or it cannot be written to."""
        if self._folder is not None and not self._full:
            try:
                if self._on_disk is None:
                    widths = {name: column.width for name, column in self.columns.items()}
                    self._on_disk = RowsOnDisk(self._folder, widths)
                return self._on_disk.append(rows)
            except OSError as error:
                warning = (
                    f"the rows of the run stay in memory, since {str(self._folder)!r} cannot be written to: {error}"
                )
                warn(warning, CheckpointWarning)
        self._full.append(dict(rows))
        return None


def _add_up(rows: Array, steps: Array, firsts: Array, lasts: Array) -> None:
    """Add to row r of ``rows`` the values ``steps`` with numbers from ``firsts[r]`` to ``lasts[r]``, in order."""
    if len(rows) == len(steps):
        rows += steps
        return
    for row, first, last in zip(rows, firsts, lasts, strict=True):
        row[:] = np.add.accumulate(np.vstack([row, steps[first : last + 1]]))[-1]
