"""Rows and sizes of blocks of steps: which rows are saved, tables of single steps, and two steps as one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...contacts.broad_phase import shares_of_contact
from ...kernels.contacts.gaps import vectors_of
from ...kernels.state import Configuration, derive, touching_points
from ...numerics.arrays import Array
from ..schemes.scheme import StepResult, StepStart
from ..times.recorder import LARGEST_PIECE

if TYPE_CHECKING:
    from ..schemes.scheme import Scheme


FIRST, SHORTEST, LONGEST = 16, 0.05, 0.2
"""Least number of steps of the first block; durations [s] between which the size of blocks is kept, as a run can be
interrupted only at the end of a block."""
SLOW = 4e-7
"""Duration of a substep per velocity [s], measured with planar chains; others take half or twice as long. It sets the
size of the first block."""
GROWTH = 32
"""Largest growth factor from one block to the next: the first steps may be easy."""


def first_size(substeps: int, velocities: int) -> int:
    """Number of steps of the first block, with ``substeps`` each."""
    return max(FIRST, int(SHORTEST / (SLOW * substeps * max(velocities, 1))))


def next_size(size: int, elapsed: float) -> int:
    """Number of steps of the block after one of ``size`` steps that took ``elapsed`` [s]."""
    return int(size * min(GROWTH, max(SHORTEST / elapsed, 2.0))) if elapsed < SHORTEST else size


def largest_size(numbers: int) -> int:
    """Largest number of steps of a block that keeps ``numbers`` values for each step."""
    return max(1, LARGEST_PIECE // numbers)


class Save(NamedTuple):
    """Selection of every ``every``-th step of a run; ``before`` steps precede the block."""

    every: int
    before: int

    def closes(self, step: int) -> bool:
        """True if a step of the block, counted from one, is saved."""
        return (self.before + step) % self.every == 0

    def rows(self, steps: int) -> int:
        """Number of rows for so many ``steps``, including the open one at their end."""
        return (self.before % self.every + steps) // self.every + 1


EACH = Save(1, 0)
"""One row for every step."""


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


BEFORE, NEXT = 1e-9, 1e-6
"""Share of a step before a contact of balls at which it is divided, and share up to which a contact is imminent."""


def time_of_contact(scheme: Scheme, start: StepStart, end: Configuration, time: float) -> float:
    """Time [s] to divide a step at in which balls pass through each other on the way from a start to an end.

    It is shortly before they touch, so that an impact at the start of the rest has its direction; if that is imminent,
    just after they touch, so that the impact is at the start of the first part. Else the middle of the step.
    """
    a, contacts = scheme.arrays, scheme.arrays.contacts.all()
    places = (start.state.c, start.state.d.arm), (end, derive(a, end).arm)
    first, last = (vectors_of(contacts, touching_points(a, c.r, arm)) for c, arm in places)
    entry, inside = shares_of_contact(contacts, first, last) or (0.5, 0.5)
    return start.time + (inside if entry <= NEXT else entry - BEFORE) * (time - start.time)


def as_one(start: StepStart, parts: tuple[StepResult, StepResult], tried: int) -> StepResult:
    """Two successive steps as one, after ``tried`` iterations of the whole that was not solved.

    Flows and counts add up, so that the step counts as those that were taken. Multipliers are means over both, so that
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
