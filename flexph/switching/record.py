"""What a run of a switching system has finished."""

from __future__ import annotations

import numpy as np

from ..numerics.arrays import Array
from ..results.ledger import Ledger, join_ledgers, system_ledger
from ..results.trajectory import Trajectory
from .arrival import Instant
from .system import SwitchingPHDAE
from .trajectory import ModeChange, SwitchingTrajectory


class Record:
    """Instants, and the accounts between each and the next."""

    def __init__(self, system: SwitchingPHDAE, start: Instant, method: str) -> None:
        self.system, self.method = system, method
        self.times: list[Array] = []
        self.states: list[Array] = []
        self.modes: list[str] = []
        self.ledgers: list[Ledger] = []
        self.output_times: list[Array] = []
        self.outputs: dict[str, list[Array]] = {name: [] for name in system.ports}
        self.switches: list[ModeChange] = []
        accounts = dict.fromkeys(("dissipation", "residual", "iterations", "steps", "rejected"), np.zeros(0))
        ledger = system_ledger(
            np.array([float(system.H(start.state))]), work=dict.fromkeys(system.ports, np.zeros(0)), **accounts
        )
        self._add(np.array([start.time]), start.state[None], start.mode, ledger)

    def segment(self, run: Trajectory, mode: str, last: Array) -> None:
        """A run within a mode, and the state at its end with its own algebraic states."""
        k = len(run.times) - 1
        if not k:
            return
        self._add(run.times[1:], np.vstack([run.states[1:-1], last]), mode, run.ledger)
        self.output_times.append(run.output_times)
        for name, width in self.system.ports.items():
            self.outputs[name].append(run.outputs.get(name, np.full((k, width), np.nan)))

    def switch(self, switch: ModeChange) -> None:
        """A switch: one instant after it."""
        before, after = switch.energy
        ledger = system_ledger(
            np.array([before, after]),
            np.array([switch.lost]),
            work={name: np.array([work]) for name, work in switch.work.items()},
            residual=np.array([abs(after - before - sum(switch.work.values()) + switch.lost)]),
            **dict.fromkeys(("iterations", "steps", "rejected"), np.zeros(1)),
        )
        self._add(np.array([switch.time]), switch.after[None], switch.target, ledger)
        self.switches.append(switch)

    def _add(self, times: Array, states: Array, mode: str, ledger: Ledger) -> None:
        self.times.append(times)
        self.states.append(states)
        self.modes.extend([mode] * len(times))
        self.ledgers.append(ledger)
        self.time, self.mode = float(times[-1]), mode

    def trajectory(self) -> SwitchingTrajectory:
        """The finished steps and switches."""
        outputs = {
            name: np.concatenate([np.empty((0, width)), *self.outputs[name]])
            for name, width in self.system.ports.items()
        }
        return SwitchingTrajectory(
            system=self.system,
            times=np.concatenate(self.times),
            states=np.concatenate(self.states),
            modes=np.array(self.modes),
            output_times=np.concatenate([np.empty(0), *self.output_times]),
            outputs=outputs,
            ledger=join_ledgers(self.ledgers),
            switches=tuple(self.switches),
            method=self.method,
        )
