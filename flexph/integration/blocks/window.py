"""Table of one step of a block."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...numerics.arrays import Array


class Window:
    """Table of one step of a block, with further inputs that are constant over the step.

    Its arrays are overwritten for each step, which takes a third of the time of new ones.
    """

    def __init__(self, table: Any, spans: Mapping[str, tuple[int, int]]) -> None:
        varying = {name: span for name, span in spans.items() if name == "inputs" or len(getattr(table, name)) > 1}
        own = {name: getattr(table, name)[: span[1]].copy() for name, span in varying.items()}
        self._table = table._replace(**own)
        self._inputs, self._given = self._table.inputs, table.inputs
        self._points = spans["inputs"][0] if len(table.inputs) > 1 else 0
        del varying["inputs"]
        self._rows = [(own[name], getattr(table, name), *span) for name, span in varying.items()]

    def at(self, k: int, inputs: Array) -> Any:
        """Table of the k-th step, with ``inputs`` added."""
        for own, given, step, rows in self._rows:
            own[:] = given[k * step : k * step + rows]
        first = k * self._points
        np.add(self._given[first : first + (self._points or 1)], inputs, out=self._inputs)
        return self._table
