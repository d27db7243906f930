"""Sums of fields over the nodes of a step."""

from __future__ import annotations

from ....numerics.arrays import Array
from ....numerics.compiled.kernel import kernel
from ....numerics.compiled.lanes import brief, get, put


@kernel
def add_field(factor: float, source: Array, target: Array) -> None:
    """Add a factor times all entries of a field."""
    brief()
    for i in range(target.size):
        put(target, i, get(target, i) + factor * get(source, i))
