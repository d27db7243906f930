"""Run of a general system: the columns of its rows, its warnings, and its trajectory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ...numerics.arguments import warn
from ...numerics.arrays import Array
from ...results.ledger import exchanged_energy, system_ledger
from ...results.trajectory import Trajectory
from ...systems.nonlinear import PHDAE, ValidityWarning
from ..times.events import Observer
from ..times.loop import Run, Watch
from ..times.recorder import COUNTS, Column, Recorder


class Cautions:
    """Warnings of a system that its model leaves its range of validity; each is given once in a run."""

    def __init__(self, system: PHDAE) -> None:
        self._waiting = list(system.cautions)
        self._said: list[str] = []

    def check(self, time: float, x: Array) -> None:
        """Evaluate the cautions not yet given at a state of the run, and warn of those that apply."""
        for text in self._ask(time, x):
            warn(text, ValidityWarning)

    def reason(self, time: float, x: Array) -> str:
        """Text of all cautions that applied so far, including this state, for the message of a run that failed."""
        self._ask(time, x)
        return "".join(f". Before: {text}" for text in self._said)

    def _ask(self, time: float, x: Array) -> list[str]:
        fresh = []
        for caution in list(self._waiting):
            text = caution(x)
            if text is not None:
                self._waiting.remove(caution)
                fresh.append(f"at t = {time:.6g} s, {text}")
        self._said += fresh
        return fresh


class SystemRun(Run):
    """Run of a general system in progress, with the columns of its recorder and its cautions."""

    def __init__(
        self,
        system: PHDAE,
        start: Any,
        expected: int,
        *,
        watch: Watch,
        observer: Observer,
        folder: Path | None = None,
    ) -> None:
        self.system, self.cautions = system, Cautions(system)
        self.cautions.check(start.time, start.x)
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
        first = {"time": start.time, "state": start.x, "energy": start.energy}
        recorder = Recorder(columns, first, expected, folder=folder)
        super().__init__(
            recorder, watch, start, observer=observer, after_step=self.cautions.check if system.cautions else None
        )

    def trajectory(self, method: str, **accounts: Any) -> Trajectory:
        """Trajectory of the finished steps; ``accounts`` (such as energies) replace those recorded in the rows."""
        rows, system = self.recorder.rows(), self.system
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
            events=self.watch.occurrences(),
            observations=self.observer.observations(len(states)),
        )
