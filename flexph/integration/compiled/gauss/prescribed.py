"""What time prescribes at the nodes of steps."""

from __future__ import annotations

from typing import NamedTuple

from ....numerics.arrays import Array
from ....numerics.compiled.kernel import kernel


class Prescribed(NamedTuple):
    """What time prescribes at the nodes of all steps of a run, a row for each or one for all; the step's first row."""

    coefficient: Array  # (rows, terms)
    coefficient_rate: Array  # h times the rate
    offset_rate: Array  # (rows, g), h times the rate
    inputs: Array  # (rows, i)
    first: int


@kernel
def row_of(values: Array, given: Prescribed, i: int) -> int:
    """The row of a stage: there is only one where nothing changes."""
    return given.first + i if values.shape[0] > 1 else 0
