"""Helpers for single steps of a block: the table of one step, and the division of a step into two parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...contacts.broad_phase import shares_of_contact
from ...kernels.contacts.gaps import vectors_of
from ...kernels.state import Configuration, derive, touching_points
from ...numerics.arrays import Array
from ..schemes.scheme import StepResult, StepStart

if TYPE_CHECKING:
    from ..schemes.scheme import Scheme


class StepTable:
    """Table of prescribed quantities for one step at a time of a longer table.

    Its arrays are overwritten for each step, which takes a third of the time of new arrays.
    """

    def __init__(self, table: Any, spans: Mapping[str, tuple[int, int]]) -> None:
        varying = {name: span for name, span in spans.items() if name == "inputs" or len(getattr(table, name)) > 1}
        tables = {name: getattr(table, name)[: span[1]].copy() for name, span in varying.items()}
        self._table = table._replace(**tables)
        self._inputs, self._given = self._table.inputs, table.inputs
        self._points = spans["inputs"][0] if len(table.inputs) > 1 else 0
        del varying["inputs"]
        self._rows = [(tables[name], getattr(table, name), *span) for name, span in varying.items()]

    def at(self, k: int, inputs: Array) -> Any:
        """Table for step ``k``, with the constant ``inputs`` added to the inputs of the longer table."""
        for target, given, step, rows in self._rows:
            target[:] = given[k * step : k * step + rows]
        first = k * self._points
        np.add(self._given[first : first + (self._points or 1)], inputs, out=self._inputs)
        return self._table


BEFORE, NEXT = 1e-9, 1e-6
"""Share of a step before a contact of balls at which it is divided, and share up to which a contact is imminent."""


def time_of_contact(scheme: Scheme, start: StepStart, end: Configuration, time: float) -> float:
    """Time [s] at which to divide a step in which balls would pass through each other.

    ``end`` is the configuration at the end of the undivided step. The time is shortly before two balls touch, so that
    the impact at the start of the second part has the right direction. If balls touch very soon after the start, the
    time is just after their contact: the impact is then at the start of the first part. If no balls pass through each
    other, the time is the middle of the step.
    """
    a, contacts = scheme.arrays, scheme.arrays.contacts.all()
    places = (start.state.c, start.state.d.arm), (end, derive(a, end).arm)
    first, last = (vectors_of(contacts, touching_points(a, c.r, arm)) for c, arm in places)
    entry, inside = shares_of_contact(contacts, first, last) or (0.5, 0.5)
    return start.time + (inside if entry <= NEXT else entry - BEFORE) * (time - start.time)


def as_one(start: StepStart, parts: tuple[StepResult, StepResult], tried: int) -> StepResult:
    """Merge two successive steps into the result of one; ``tried`` are the iterations of the whole step that failed.

    Flows and counts add up, so that the merged step counts as several. Multipliers are means over both steps, so that
    their impulses add up. Residuals are the largest of both.
    """
    end = parts[-1].end
    lengths = [p.end.time - p.middle for p in parts]
    shares = np.array(lengths) / sum(lengths)
    return StepResult(
        end=end,
        middle=0.5 * (start.time + end.time),
        stage=shares @ [p.stage for p in parts],
        multipliers=shares @ [p.multipliers for p in parts],
        flows=np.sum([p.flows for p in parts], axis=0),
        residuals=np.max([p.residuals for p in parts], axis=0),
        counts=np.array([tried, 0.0, 0.0]) + sum(p.counts for p in parts),
        complementarity=max(p.complementarity for p in parts),
        output=shares @ [p.output for p in parts],
    )
