"""The columns of the rows of a run of a mechanism, and the solution from them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ...mechanisms.model.accounts import Accounts
from ...mechanisms.poses.resolution import resolution
from ...results.ledger import Ledger, make_ledger
from ...results.result import Occurrences
from ...results.solution import Solution
from ..times.observer import Observer
from ..times.recorder import COUNTS, Column, Recorder
from .step import StepStart

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from ...control.sampled import ControlLoops
    from ...mechanisms.mechanism import Mechanism
    from ...mechanisms.model.time_table import Anchors
    from ...numerics.arrays import Array


def recorder_of(
    accounts: Accounts, start: StepStart, expected: int, folder: Path | None, loops: ControlLoops | None = None
) -> Recorder:
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
    if accounts.arrays.contacts.rigid.any():
        columns["complementarity"] = Column(1, "largest")
    if loops is not None:
        columns["held"] = Column(loops.held.size, "last")
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
    loops: ControlLoops | None = None,
) -> Solution:
    """The finished steps of a run; ``history`` is that of the last one, from which a run goes on."""
    rows = recorder.rows()
    times, states, counts = rows["time"][:, 0], rows["state"], rows["counts"][1:]
    audit = np.hstack([rows["residuals"][1:], counts])
    resolved = resolution(mechanism, states, np.diff(times) / counts[:, 1])
    ledger = make_ledger(accounts, rows["energy"], rows["flows"][1:], audit, resolution=resolved)
    if "complementarity" in rows:
        ledger = replace(ledger, complementarity_residual=rows["complementarity"][1:, 0])
    return Solution(
        mechanism=mechanism,
        times=times,
        states=states,
        multiplier_times=rows["middle"][1:, 0],
        multipliers=rows["multipliers"][1:],
        stage_multipliers=rows["stage"][1:],
        ledger=ledger if loops is None else replace(ledger, controllers=_given(ledger, loops)),
        anchors=anchors,
        memory=history,
        events=events,
        controls={} if loops is None else _controls(mechanism, loops, rows["held"][1:]),
        observations=np.zeros(0) if observer is None else observer.observations(len(times)),
        steps_by=steps_by,
    )


def _given(ledger: Ledger, loops: ControlLoops) -> dict[str, Array]:
    """The work of each controller at its ports."""
    none = np.zeros(len(ledger.residual))
    return {name: sum((ledger.work[port] for port in ports), none) for name, ports in loops.ports.items()}


def _controls(mechanism: Mechanism, loops: ControlLoops, held: Array) -> dict[str, Array]:
    """What was held, by the ports that controllers set."""
    slices = mechanism.network.input_slices
    return {port: held[:, slices[port]].copy() for ports in loops.ports.values() for port in ports}
