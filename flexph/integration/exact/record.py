"""The rows of a run under way."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...mechanisms.model.accounts import Accounts
from ...mechanisms.poses.resolution import resolution
from ...numerics.arrays import Array
from ...results.ledger import make_ledger
from ...results.result import Occurrences
from ...results.solution import Solution
from .step import Station, Step

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ...mechanisms.mechanism import Mechanism
    from ...mechanisms.model.state import State


class Record:
    """What a run has finished: a row for each saved time, and the one under way, into which steps are merged."""

    def __init__(self, mechanism: Mechanism, accounts: Accounts, start: State, first: Station) -> None:
        self.mechanism, self.accounts, self.anchors, self.start = mechanism, accounts, start.anchors, first
        self.rows: list[Step] = []
        self.pending: Step | None = None
        self.memory, self.count = first.memory, 0

    def keep(self, step: Step) -> None:
        """Merge a step into the row under way: flows and iterations add up, residuals keep the largest."""
        self.memory, self.count = step.end.memory, self.count + int(step.audit[5])
        step = step._replace(end=step.end._replace(memory=step.end.memory[:0]))  # only the last one is continued from
        self.pending = step if self.pending is None else merged(self.pending, step)

    def save(self) -> None:
        """Close the row under way."""
        if self.pending is not None:
            end = self.pending.end
            place = self.start.place._replace(x=end.x)  # what else is known at its end takes several times the memory
            self.rows.append(self.pending._replace(end=end._replace(place=place)))
            self.pending = None

    def solution(self, events: Mapping[str, Occurrences]) -> Solution:
        """The finished steps as a Solution; the last one is always kept."""
        self.save()
        rows, stations = self.rows, [self.start, *(row.end for row in self.rows)]
        accounts, constraints = self.accounts, self.mechanism.layout.multipliers
        stack = lambda name, width: np.array([getattr(r, name) for r in rows]).reshape(len(rows), width)  # noqa: E731
        flows = len(accounts.work) + len(accounts.joint_work) + len(accounts.dissipation)
        energy: Array = np.array([s.energy for s in stations])
        times, states = np.array([s.time for s in stations]), np.array([s.x for s in stations])
        audit = stack("audit", 7)
        resolved = resolution(self.mechanism, states, np.diff(times) / audit[:, 5])
        return Solution(
            mechanism=self.mechanism,
            times=times,
            states=states,
            multiplier_times=np.array([r.middle for r in rows]),
            multipliers=stack("multipliers", constraints),
            stage_multipliers=stack("stage", constraints),
            ledger=make_ledger(accounts, energy, stack("flows", flows), audit, resolution=resolved),
            anchors=self.anchors,
            memory=self.memory,
            events=events,
        )


def merged(first: Step, second: Step) -> Step:
    """Two steps as one row: flows and counts add up, residuals keep the largest, the rest is the second's."""
    audit = np.append(np.maximum(first.audit, second.audit)[:4], (first.audit + second.audit)[4:])
    return second._replace(flows=first.flows + second.flows, audit=audit)
