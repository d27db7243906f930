"""Callback that evaluates prescribed quantities at times within a compiled step, when the loops split it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...numerics.arrays import Array
from ...numerics.loops.callbacks import WHOLE, Callback
from .memory.structures import AT_TIME, OVER_PART, RATES_AT_END, Between, Table

if TYPE_CHECKING:
    from ...mechanisms.model.model import Model
    from ...mechanisms.model.time_table import TimeTable
    from ...systems.inputs import Forcing


class TimeCallback:
    """Callback that evaluates driven joints, springs and loads of a mechanism at times within a step."""

    def __init__(self, mechanism: Model, table: TimeTable, forcing: Forcing) -> None:
        self._prescribed, self._forcing, self._times = table, forcing, np.zeros(2)
        terms, rows = mechanism.network.arrays.term_row.size, mechanism.layout.multipliers
        inputs = sum(part.stop - part.start for part in mechanism.network.input_slices.values())
        springs = table.references.width
        ends, at_middle = (np.zeros((2, terms)), np.zeros((2, rows))), (np.zeros((1, terms)), np.zeros((1, rows)))
        self._table = Table(self._times, *ends, *at_middle, np.zeros((1, inputs)), np.zeros((1, springs)))
        self._callback: Callback | None = None
        self.controller_inputs: Array | None = None  # inputs of controllers within the steps, (1, i)

    def arguments(self) -> Between:
        """Address of the callback, its times and the table that it fills, for loops; address 0 if nothing varies."""
        if not (self._prescribed.varies or self._forcing.varying.any()):
            return Between(0, self._times, self._table)
        if self._callback is None or self._callback.error is not None:
            self._callback = Callback(self._fill_table, WHOLE, 1)
        return Between(self._callback.address, self._times, self._table)

    def _fill_table(self, kind: int) -> int:
        """Fill the table of one step with the quantities that ``kind`` asks for, and return 0.

        These are the values over the step between two times, the rates at its end, or all quantities at one time.
        """
        given, table, (begin, end) = self._prescribed, self._table, self._times.tolist()
        if kind != OVER_PART:
            rates = given.rates(begin) if kind == AT_TIME else given.rates(end, end - begin)
            table.coefficient_rate[:], table.offset_rate[:] = rates
        if kind != RATES_AT_END:
            for k, time in enumerate((begin, end)):
                table.coefficient[k], table.offset[k] = given.at(time)
            table.inputs[:] = self._forcing.at(0.5 * (begin + end)) + (
                0.0 if self.controller_inputs is None else self.controller_inputs
            )
            table.moved[:] = given.references.moved(begin, end)
        return 0

    @property
    def error(self) -> BaseException | None:
        """Exception that the callback raised, or None."""
        return None if self._callback is None else self._callback.error
