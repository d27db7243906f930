"""Inputs of a run at the evaluation points of its steps, and derivatives of a functional with respect to them.

A table is linear in the values at its nodes. Derivatives with respect to the inputs of steps are therefore converted
once to derivatives with respect to these values; for each parameter of a table, a product of the size of the table is
then sufficient.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field

import numpy as np

from ...numerics.arrays import Array
from ...numerics.memo import Memo, once
from ...systems.inputs import Forcing


@dataclass(frozen=True, eq=False)
class RunInputs(Memo):
    """Inputs of a run at the times (k,) [s] at which its steps evaluate them.

    These ``points`` are the middles of steps, or the nodes of collocation. ``ends`` are the first and last time of a
    run with substeps; points outside are moved to them.
    """

    forcing: Forcing
    points: Array
    ends: tuple[float, float] | None = None

    @once
    def rows(self) -> Array:
        """Inputs (k, m) at the points, one row for each."""
        rows = self.forcing.at_times(self.points, self.ends)
        return np.broadcast_to(rows, (len(self.points), rows.shape[1]))

    def nodal_ports(self, *others: RunInputs) -> list[str]:
        """Ports whose inputs are tables with the same nodes in this run and in ``others``.

        Only tables count that have a value at each node for each entry of the input.
        """
        if not all(
            run_inputs.points is self.points or np.array_equal(run_inputs.points, self.points) for run_inputs in others
        ):
            return []
        tables, parts = self.forcing.tables, self.forcing.slices
        single = [
            p
            for p, run_inputs in tables.items()
            if run_inputs.values.size == run_inputs.times.size * (parts[p].stop - parts[p].start)
        ]
        return [
            port
            for port in single
            if all(
                (run_inputs := other.forcing.tables.get(port)) is not None
                and run_inputs.values.shape == tables[port].values.shape
                and np.array_equal(run_inputs.times, tables[port].times)
                for other in others
            )
        ]

    def numbers(self, nodal: Collection[str]) -> list[Array]:
        """Numbers that define the inputs of each port, in the order of the ports.

        They are the values at the nodes of its table for a port in ``nodal``, else the inputs at the points of the run.
        """
        tables, parts = self.forcing.tables, self.forcing.slices
        return [tables[port].values if port in nodal else self.rows[:, part] for port, part in parts.items()]

    def changes(self, before: RunInputs, nodal: Collection[str]) -> list[Array]:
        """Differences of the :meth:`numbers` from those of the inputs ``before``, for each port."""
        pairs = zip(self.numbers(nodal), before.numbers(nodal), strict=True)
        return [array_change(last, first) for last, first in pairs]


@dataclass(frozen=True, eq=False)
class InputWeights:
    """Derivatives of a functional with respect to the inputs of all steps.

    ``by_step`` (N, m) are the derivatives at the points at which the run evaluates its inputs ``origin``.
    """

    origin: RunInputs
    by_step: Array
    _by_node: dict[str, Array] = field(default_factory=dict)

    def by_port(self, nodal: Collection[str]) -> list[Array]:
        """Derivatives with respect to the numbers of each port, as in :meth:`RunInputs.numbers`."""
        parts = self.origin.forcing.slices
        return [self.by_node(port) if port in nodal else self.by_step[:, part] for port, part in parts.items()]

    def by_node(self, port: str) -> Array:
        """Derivatives with respect to the values of the table of a port, in an array of the shape of the table."""
        if port not in self._by_node:
            forcing = self.origin.forcing
            table, by_step = forcing.tables[port], self.by_step[:, forcing.slices[port]]
            self._by_node[port] = table.by_values(self.origin.points, by_step).reshape(table.values.shape)
        return self._by_node[port]


def array_change(last: Array, first: Array) -> Array:
    """Difference ``last`` − ``first`` of arrays, zero where they are equal, even if both are infinite."""
    return np.subtract(last, first, out=np.zeros(np.broadcast_shapes(last.shape, first.shape)), where=last != first)
