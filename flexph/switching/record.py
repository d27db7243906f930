"""Record of a switching run."""

from __future__ import annotations

import numpy as np

from ..integration.general.system_run import SystemRun
from ..integration.times.events import Observer
from ..numerics.arrays import Array
from ..results.ledger import Ledger, join_ledgers, system_ledger
from .arrival import Instant
from .system import SwitchingPHDAE
from .trajectory import ModeChange, SwitchingTrajectory


class Record:
    """Record of a switching run: saved times, states and modes, ledgers between them, outputs and switches."""

    def __init__(self, system: SwitchingPHDAE, start: Instant, method: str, observer: Observer) -> None:
        self.system, self.method, self.observer = system, method, observer
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

    def segment(self, run: SystemRun, mode: str, last: Array) -> None:
        """Record the steps of a run within a mode; ``last`` is its end with consistent algebraic states."""
        steps = run.trajectory(self.method)
        k = len(steps.times) - 1
        if not k:
            return
        if run.recorder.is_open:
            self.observer.saved(run.start.time, last)
        self.observer.redefine(last)
        self._add(steps.times[1:], np.vstack([steps.states[1:-1], last]), mode, steps.ledger)
        self.output_times.append(steps.output_times)
        for name, width in self.system.ports.items():
            self.outputs[name].append(steps.outputs.get(name, np.full((k, width), np.nan)))

    def switch(self, switch: ModeChange) -> None:
        """Record a switch and the state after it, at the same time as the state before."""
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
        self.observer.saved(switch.time, switch.after)

    def _add(self, times: Array, states: Array, mode: str, ledger: Ledger) -> None:
        self.times.append(times)
        self.states.append(states)
        self.modes.extend([mode] * len(times))
        self.ledgers.append(ledger)
        self.time, self.mode = float(times[-1]), mode

    def trajectory(self) -> SwitchingTrajectory:
        """Trajectory of the finished steps and switches."""
        outputs = {
            name: np.concatenate([np.empty((0, width)), *self.outputs[name]])
            for name, width in self.system.ports.items()
        }
        times = np.concatenate(self.times)
        return SwitchingTrajectory(
            system=self.system,
            times=times,
            states=np.concatenate(self.states),
            modes=np.array(self.modes),
            output_times=np.concatenate([np.empty(0), *self.output_times]),
            outputs=outputs,
            ledger=join_ledgers(self.ledgers),
            switches=tuple(self.switches),
            method=self.method,
            observations=self.observer.observations(len(times)),
        )
