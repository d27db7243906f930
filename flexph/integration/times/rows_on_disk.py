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
    """Rows in one file for each column; the files have no names, and are gone with the last array that shows them.

    ``count`` rows are kept. What is written is written by calls that raise OSError where the disk is full, and only
    read through the memory of the process, which the system takes back where it needs it.
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
        """Keep further rows."""
        self._write(rows)
        self.count += _length(rows)

    def rows(self) -> dict[str, Array]:
        """All rows."""
        return {name: self._mapped(name, 0, self.count) for name in self._widths}

    def followed_by(self, rows: Rows, first: int) -> dict[str, Array]:
        """All rows from one on, and behind them others, which are not kept."""
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
