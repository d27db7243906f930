"""Prescribed quantities of a step, such as inputs and drives, from a table."""

from __future__ import annotations

import cython

if not cython.compiled:
    from .structures import Given, Table


def given_of(table: Table, k: int) -> Given:
    """Length and prescribed quantities of step ``k`` of a table."""
    return given_over(table, k, table.times[k + 1] - table.times[k])


def given_over(table: Table, k: int, h: float) -> Given:
    """Prescribed quantities of step ``k`` of a table, with the length h [s] instead of its own."""
    moves = cython.declare(cython.bint)
    moves = table.coefficient.shape[0] > 1
    first = k if moves else 0
    last = k + 1 if moves else 0
    middle = k if moves else 0
    return Given(
        h,
        table.inputs[k if table.inputs.shape[0] > 1 else 0],
        table.coefficient[first],
        table.coefficient[last],
        table.offset[last],
        table.offset[first],
        table.coefficient_rate[middle],
        table.offset_rate[middle],
        moves,
    )
