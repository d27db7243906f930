"""Sums of fields over the nodes of a step."""

from __future__ import annotations

import cython

from ....numerics.arrays import Array

if not cython.compiled:
    from ....numerics.loops.views import get, put


def add_field(factor: float, source: Array, target: Array) -> None:
    """Add a factor times all entries of a field."""
    for i in range(target.size):
        put(target, i, get(target, i) + factor * get(source, i))
