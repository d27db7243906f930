"""Helpers for the nodes of a step: weighted sums of fields, and row numbers in tables of prescribed values."""

from __future__ import annotations

import cython

from ....numerics.arrays import Array

if not cython.compiled:
    from ....numerics.loops.views import get, put
    from ..memory.structures import AtNodes


def add_field(factor: float, source: Array, target: Array) -> None:
    """Add ``factor`` times all entries of field ``source`` to ``target``."""
    for i in range(target.size):
        put(target, i, get(target, i) + factor * get(source, i))


def row_of(values: Array, given: AtNodes, i: int) -> int:
    """Row of stage i in a table of prescribed ``values``, which has only one row if nothing varies."""
    return given.first + i if values.shape[0] > 1 else 0
