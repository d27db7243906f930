"""What time prescribes over a step with rigid contacts."""

from __future__ import annotations

from typing import NamedTuple

from ....numerics.arrays import Array
from ....numerics.compiled.kernel import kernel
from ..steps.step import Table


class Given(NamedTuple):
    """The length of a step, its inputs, and coefficients and offsets of the joints (see steps.step.Table).

    ``before`` and ``after`` are the coefficients at both ends, ``offset``, ``own_coefficient`` and ``own_offset`` those
    at its end, ``last_offset`` at its start; ``moves`` says whether they change.
    """

    h: float
    inputs: Array
    before: Array
    after: Array
    offset: Array
    last_offset: Array
    own_coefficient: Array
    own_offset: Array
    moves: bool


@kernel
def given_of(table: Table, k: int) -> Given:
    """What a table has of a step."""
    moves = table.coefficient.shape[0] > 1
    first, last, own = (k, k + 1, k) if moves else (0, 0, 0)
    return Given(
        table.times[k + 1] - table.times[k],
        table.inputs[k if table.inputs.shape[0] > 1 else 0],
        table.coefficient[first],
        table.coefficient[last],
        table.offset[last],
        table.offset[first],
        table.own_coefficient[own],
        table.own_offset[own],
        moves,
    )
