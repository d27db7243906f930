"""Finished rows of a run in temporary files, for runs that are longer than memory."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ...numerics.arrays import Array

Rows = Mapping[str, Array]
"""Arrays (k, width) by column."""


class RowsOnDisk:
    """Rows in one anonymous file for each column; a file is deleted with the last array that maps it.

    ``count`` rows are stored. Writing raises OSError if the disk is full; reading is by memory maps, which the system
    can page out.
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
        """Append rows."""
        self._write(rows)
        self.count += _length(rows)

    def rows(self) -> dict[str, Array]:
        """All rows."""
        return {name: self._mapped(name, 0, self.count) for name in self._widths}

    def followed_by(self, rows: Rows, first: int) -> dict[str, Array]:
        """All rows from number ``first`` on, followed by ``rows``, which are written but not counted as stored."""
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
