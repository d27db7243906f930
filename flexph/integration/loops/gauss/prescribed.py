"""Prescribed quantities at the nodes of steps."""

from __future__ import annotations

import cython

from ....numerics.arrays import Array

if not cython.compiled:
    from ..memory.structures import AtNodes


def row_of(values: Array, given: AtNodes, i: int) -> int:
    """Row of a stage in a table, which has one row if nothing varies."""
    return given.first + i if values.shape[0] > 1 else 0
