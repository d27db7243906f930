"""Packing of constant arrays and work space into one memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np

from .constants import Constants
from .data import Index
from .memory import FIELDS, REAL, Memory, Place
from .workspace import Workspace

FEW = 20_000
"""Whole numbers of a mechanism up to which its layout is cached for mechanisms with the same ones."""
_FLOAT, _WHOLE = np.dtype(np.float64), np.dtype(np.int64)
_KINDS = [_FLOAT if real else _WHOLE for real in REAL.tolist()]


def pack(constants: Constants, space: Callable[[], Workspace], sizes: tuple[int, ...]) -> Memory:
    """Pack all arrays of a mechanism into one memory: the values of constants, and work space of zeros.

    The shapes of the space depend on the shapes and whole numbers of the constants, and on ``sizes``.
    """
    arrays = [np.asarray(value, kind) for value, kind in zip(chain(*constants), _KINDS, strict=False)]
    wholes = np.concatenate([array.ravel() for array in arrays if array.dtype == _WHOLE])
    shapes = tuple(array.shape for array in arrays)
    lay_out = _laid_out if wholes.size <= FEW else _laid_out.__wrapped__
    table, reals, count, places = lay_out(_Layout((shapes, wholes.tobytes(), sizes), space))
    values = np.zeros(reals)
    own = [array.ravel() for array in arrays if array.dtype == _FLOAT and array.size]
    np.concatenate(own, out=values[: sum(array.size for array in own)])
    return Memory(values, np.concatenate([wholes, np.zeros(count - wholes.size, _WHOLE)]), table, places)


class _Layout:
    """Shapes of constants and space, with a key that determines both."""

    def __init__(self, key: tuple[Any, ...], space: Callable[[], Workspace]) -> None:
        self.key, self._space = key, [space]

    def shapes(self) -> Iterator[tuple[int, ...]]:
        """Shapes of all fields; can be called once."""
        yield from self.key[0]
        for array in chain(*self._space.pop()()):
            yield array.shape

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Layout) and self.key == other.key


@lru_cache(maxsize=16)
def _laid_out(layout: _Layout) -> tuple[Index, int, int, dict[str, Place]]:
    """Table of all fields, numbers of floats and of whole numbers, and the (still empty) places of fields by name."""
    table = np.ones((len(FIELDS), 4), dtype=np.int64)
    for row, shape in enumerate(layout.shapes()):
        table[row, 1 : 1 + len(shape)] = shape
    sizes, counts = table[:, 1:].prod(axis=1), []
    for own in (REAL, ~REAL):
        ends = np.cumsum(sizes[own])
        table[own, 0] = ends - sizes[own]
        counts.append(int(ends[-1]))
    table.setflags(write=False)
    return table, counts[0], counts[1], {}
