"""Packing of constant arrays and work space into one memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np

from .constants import Constants
from .data import Index
from .memory import FIELDS, IS_CONSTANT, REAL, Cells, FieldLocation, Memory
from .workspace import Workspace

MOST, FEW = 128, 20_000
"""Number of layouts in the cache, and largest count of whole numbers for which the layout is cached, for mechanisms
with the same whole numbers.
"""
_FLOAT, _WHOLE = np.dtype(np.float64), np.dtype(np.int64)
_KINDS = [_FLOAT if real else _WHOLE for real in REAL.tolist()]


def pack(constants: Constants, space: Callable[[], Workspace], sizes: tuple[int, ...]) -> Memory:
    """Pack all arrays of a mechanism into one memory: its constants, and a work space of zeros.

    The shapes of the work space depend on the shapes and whole numbers of the constants, and on ``sizes``.
    """
    arrays = [np.asarray(value, kind) for value, kind in zip(chain(*constants), _KINDS, strict=False)]
    values = _cells(arrays)
    shapes = tuple(array.shape for array in arrays)
    is_kept = values.wholes.size <= FEW
    lay_out = _laid_out if is_kept else _laid_out.__wrapped__
    key = shapes, values.wholes.tobytes() if is_kept else b"", sizes
    table, reals, wholes, places = lay_out(_Layout(key, space))
    return Memory(values, Cells.of_zeros(reals, wholes), table, places)


def _cells(arrays: list[Any]) -> Cells:
    """Pack arrays of floats and of whole numbers into read-only cells."""
    reals, wholes = ([array for array in arrays if array.dtype == kind] for kind in (_FLOAT, _WHOLE))
    count = sum(array.size for array in reals)
    cells = np.empty(count + sum(array.size for array in wholes), _WHOLE)
    np.concatenate([array.ravel() for array in reals], out=cells[:count].view(_FLOAT))
    np.concatenate([array.ravel() for array in wholes], out=cells[count:])
    cells.setflags(write=False)
    return Cells(cells, count)


class _Layout:
    """Shapes of constants and work space, both determined by a key; layouts with equal keys count as equal."""

    def __init__(self, key: tuple[Any, ...], space: Callable[[], Workspace]) -> None:
        self.key, self._space = key, [space]

    def shapes(self) -> Iterator[tuple[int, ...]]:
        """Shapes of all fields of constants and work space; can be called once."""
        yield from self.key[0]
        for array in chain(*self._space.pop()()):
            yield array.shape

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Layout) and self.key == other.key


@lru_cache(maxsize=MOST)
def _laid_out(layout: _Layout) -> tuple[Index, int, int, dict[str, FieldLocation]]:
    """Table of all fields, numbers of floats and of whole numbers of the work space, and an empty dict of places."""
    table = np.ones((len(FIELDS), 4), dtype=np.int64)
    for row, shape in enumerate(layout.shapes()):
        table[row, 1 : 1 + len(shape)] = shape
    sizes, counts = table[:, 1:].prod(axis=1), []
    for group in (IS_CONSTANT, ~IS_CONSTANT):
        for kind in (group & REAL, group & ~REAL):
            ends = np.cumsum(sizes[kind])
            table[kind, 0] = ends - sizes[kind]
            counts.append(int(ends[-1]))
    table.setflags(write=False)
    return table, counts[2], counts[3], {}
