"""What a run of a switching system has finished."""

from __future__ import annotations

import numpy as np

from ..numerics.arrays import Array
from ..results.ledger import system_ledger
from ..results.trajectory import Trajectory
from .arrival import Instant
from .system import SwitchingPHDAE
from .trajectory import ModeChange, SwitchingTrajectory

COUNTED = ("dissipation", "residual", "iterations", "steps", "rejected")


class Record:
    """Instants, and a row of accounts between each and the next."""

    def __init__(self, system: SwitchingPHDAE, start: Instant, method: str) -> None:
        self.system, self.method = system, method
        self.time, self.mode = start.time, start.mode
        self.times, self.states, self.modes = [np.array([start.time])], [start.state[None]], [start.mode]
        self.energy = [np.array([float(system.H(start.state))])]
        self.rows: list[Array] = []  # work by port, then what COUNTED names
        self.output_times: list[Array] = []
        self.outputs: dict[str, list[Array]] = {name: [] for name in system.ports}
        self.switches: list[ModeChange] = []
        self.exchanged = 0.0  # the most of a run within a mode

    def segment(self, run: Trajectory, mode: str, last: Array) -> None:
        """A run within a mode, and the state at its end with its own algebraic states."""
        k = len(run.times) - 1
        if not k:
            return
        states = np.array(run.states[1:])
        states[-1] = last
        self._add(run.times[1:], states, mode, run.ledger.total_energy[1:])
        self.exchanged = max(self.exchanged, run.ledger.exchanged)
        works = [run.ledger.work.get(name, np.zeros(k)) for name in self.system.ports]
        counted = [run.ledger.total_dissipation, *(getattr(run.ledger, name) for name in COUNTED[1:])]
        self.rows.append(np.column_stack([*works, *counted]))
        self.output_times.append(run.output_times)
        for name, width in self.system.ports.items():
            self.outputs[name].append(run.outputs.get(name, np.full((k, width), np.nan)))

    def switch(self, switch: ModeChange) -> None:
        """A switch: one instant after it."""
        self._add(np.array([switch.time]), switch.after[None], switch.target, np.array([switch.energy[1]]))
        work = [switch.work[name] for name in self.system.ports]
        residual = abs(switch.energy[1] - switch.energy[0] - sum(work) + switch.lost)
        self.rows.append(np.array([[*work, switch.lost, residual, 0.0, 0.0, 0.0]]))
        self.switches.append(switch)

    def _add(self, times: Array, states: Array, mode: str, energy: Array) -> None:
        self.times.append(times)
        self.states.append(states)
        self.energy.append(energy)
        self.modes.extend([mode] * len(times))
        self.time, self.mode = float(times[-1]), mode

    def trajectory(self) -> SwitchingTrajectory:
        """The finished steps and switches."""
        ports = self.system.ports
        rows = np.vstack([np.empty((0, len(ports) + len(COUNTED))), *self.rows])
        counted = dict(zip(COUNTED, rows[:, len(ports) :].T, strict=True))
        return SwitchingTrajectory(
            system=self.system,
            times=np.concatenate(self.times),
            states=np.concatenate(self.states),
            modes=np.array(self.modes),
            output_times=np.concatenate([np.empty(0), *self.output_times]),
            outputs={n: np.concatenate([np.empty((0, w)), *self.outputs[n]]) for n, w in ports.items()},
            ledger=system_ledger(
                energy=np.concatenate(self.energy),
                work={name: rows[:, i] for i, name in enumerate(ports)},
                **counted,
                exchanged=self.exchanged,
            ),
            switches=tuple(self.switches),
            method=self.method,
        )
