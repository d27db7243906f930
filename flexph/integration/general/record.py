"""The columns of the rows of a run of a general system, and the trajectory from them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...results.exchanged_energy import exchanged_energy
from ...results.ledger import system_ledger
from ...results.result import Occurrences
from ...results.trajectory import Trajectory
from ...systems.nonlinear import PHDAE
from ..times.recorder import COUNTS, Column, Recorder


def recorder_of(system: PHDAE, start: Any, expected: int) -> Recorder:
    """A recorder of a run of a general system from its start on, which saves so many rows (see stepper.StepResult)."""
    columns = {
        "time": Column(1, "last"),
        "middle": Column(1, "last"),
        "state": Column(system.size, "last"),
        "energy": Column(1, "last"),
        "output": Column(system.inputs_size, "last"),
        "flows": Column(len(system.ports) + 1, "sum"),
        "residual": Column(1, "largest"),
        "counts": COUNTS,
    }
    return Recorder(columns, {"time": start.time, "state": start.x, "energy": start.energy}, expected)


def trajectory_of(
    system: PHDAE, recorder: Recorder, method: str, events: Mapping[str, Occurrences], **accounts: Any
) -> Trajectory:
    """The finished steps of a run; ``accounts`` replace those of the rows."""
    rows = recorder.rows()
    states, outputs, flows, counts = rows["state"], rows["output"][1:], rows["flows"][1:], rows["counts"][1:]
    given = {
        "energy": rows["energy"][:, 0],
        "dissipation": flows[:, -1],
        "residual": rows["residual"][1:, 0],
        "iterations": counts[:, 0],
        "steps": counts[:, 1],
        "rejected": counts[:, 2],
    }
    return Trajectory(
        system=system,
        times=rows["time"][:, 0],
        states=states,
        output_times=rows["middle"][1:, 0],
        outputs={name: outputs[:, part] for name, part in system.ports.items()},
        ledger=system_ledger(
            exchanged=exchanged_energy(system, states),
            work={name: flows[:, i] for i, name in enumerate(system.ports)},
            **given | accounts,
        ),
        method=method,
        events=events,
    )
