"""The columns of the rows of a run of a mechanism, and the solution from them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...mechanisms.model.accounts import Accounts
from ...mechanisms.poses.resolution import resolution
from ...results.ledger import make_ledger
from ...results.result import Occurrences
from ...results.solution import Solution
from ..times.observer import Observer
from ..times.recorder import COUNTS, Column, Recorder
from .step import StepStart

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ...mechanisms.mechanism import Mechanism
    from ...mechanisms.model.time_table import Anchors
    from ...numerics.arrays import Array


def recorder_of(accounts: Accounts, start: StepStart, expected: int, folder: Path | None) -> Recorder:
    """A recorder of a run of a mechanism from its start on, see :class:`Recorder` and step.StepResult."""
    g = accounts.mechanism.layout.multipliers
    columns = {
        "time": Column(1, "last"),
        "middle": Column(1, "last"),
        "state": Column(accounts.mechanism.layout.size, "last"),
        "energy": Column(len(accounts.energy), "last"),
        "multipliers": Column(g, "last"),
        "stage": Column(g, "last"),
        "flows": Column(accounts.flow_count, "sum"),
        "residuals": Column(4, "largest"),
        "counts": COUNTS,
    }
    return Recorder(columns, {"time": start.time, "state": start.x, "energy": start.energy}, expected, folder=folder)


def solution_of(
    mechanism: Mechanism,
    accounts: Accounts,
    recorder: Recorder,
    *,
    anchors: Anchors,
    history: Array,
    events: Mapping[str, Occurrences],
    observer: Observer | None = None,
    steps_by: str = "NumPy",
) -> Solution:
    """The finished steps of a run; ``history`` is that of the last one, from which a run goes on."""
    rows = recorder.rows()
    times, states, counts = rows["time"][:, 0], rows["state"], rows["counts"][1:]
    audit = np.hstack([rows["residuals"][1:], counts])
    resolved = resolution(mechanism, states, np.diff(times) / counts[:, 1])
    return Solution(
        mechanism=mechanism,
        times=times,
        states=states,
        multiplier_times=rows["middle"][1:, 0],
        multipliers=rows["multipliers"][1:],
        stage_multipliers=rows["stage"][1:],
        ledger=make_ledger(accounts, rows["energy"], rows["flows"][1:], audit, resolution=resolved),
        anchors=anchors,
        memory=history,
        events=events,
        observations=np.zeros(0) if observer is None else observer.observations(len(times)),
        steps_by=steps_by,
    )
