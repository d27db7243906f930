"""Runs of general port-Hamiltonian systems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import h5py
import numpy as np

from . import checks as check
from .phdae import PHDAE
from .space import Array
from .storage import put, texts, write_whole

FORMAT = "flexph trajectory 1"


@dataclass(frozen=True)
class Balance:
    """Energy accounts of a run of a general system, all in [J]: ΔH = work − dissipation + residual.

    energy (k + 1,) at the saved times; work by port, dissipation, (k,) between them; residual, the largest
    |ΔH − work + dissipation| of a step, and Newton iterations between saved times, (k,); ``steps`` and ``rejected``,
    steps taken there and steps that step control rejected, (k,). Of adaptive methods, residual is that from one saved
    time to the next, and iterations counts the solver's own steps that end between them; steps and rejected are empty.
    """

    energy: Array
    work: Mapping[str, Array]
    dissipation: Array
    residual: Array
    iterations: Array
    steps: Array = field(default_factory=partial(np.zeros, 0))
    rejected: Array = field(default_factory=partial(np.zeros, 0))

    @property
    def scale(self) -> float:
        """The largest size of the energy [J]."""
        return float(np.abs(self.energy).max(initial=0.0))

    @property
    def largest_residual(self) -> float:
        """Largest balance residual of a step over the largest energy."""
        return float(self.residual.max(initial=0.0)) / max(self.scale, np.finfo(float).tiny)


@dataclass(frozen=True)
class Occurrences:
    """When an event occurred, times (k,) [s], and the states there, (k, n)."""

    times: Array
    states: Array


@dataclass(frozen=True, repr=False)
class Trajectory:
    """A run of a :class:`PHDAE`: k + 1 saved times, states (k + 1, n), outputs and the energy balance.

    ``outputs`` by port (k, m) are B̄ᵀz̄ of the step that ends at each saved time after the first, at ``output_times``,
    the middle of that step; of adaptive methods Bᵀz in the middle between saved times. Of structure-preserving
    methods, algebraic states are stage values too: they belong to the middle of the step that ends at their time,
    where they are of second order. ``trajectory["name"]`` is a part of the states. ``events`` by name: when each event
    occurred, and where; a terminal one is the last saved time.
    """

    system: PHDAE
    times: Array
    states: Array
    output_times: Array
    outputs: Mapping[str, Array]
    balance: Balance
    method: str
    events: Mapping[str, Occurrences] = field(default_factory=dict)

    def __repr__(self) -> str:
        span = f"{self.times[0]:.6g} to {self.times[-1]:.6g} s"
        return f"<Trajectory of {self.system.size} states by {self.method!r}: {len(self.times)} times from {span}>"

    def __getitem__(self, part: str) -> Array:
        return self.states[:, check.lookup("part", part, self.system.parts)]

    @property
    def final(self) -> Array:
        """The last state, from which a run can be continued."""
        return self.states[-1]

    def save(self, path: str | Path) -> None:
        """Write the run as HDF5 (docs/solution-format.md); the file appears whole or not at all."""
        write_whole(path, self._write)

    def _write(self, file: h5py.File) -> None:
        file.attrs["format"] = FORMAT
        file.attrs["method"] = self.method
        file.attrs["layout"] = texts(f"{name} {part.start} {part.stop}" for name, part in self.system.parts.items())
        for name in ("times", "states", "output_times"):
            put(file, name, getattr(self, name))
        for name, values in self.outputs.items():
            put(file, f"outputs/{name}", values)
            put(file, f"balance/work/{name}", self.balance.work[name])
        for name in ("energy", "dissipation", "residual", "iterations"):
            put(file, f"balance/{name}", getattr(self.balance, name))
        counts = np.column_stack([self.balance.steps, self.balance.rejected])
        if np.any(counts != (1, 0)):
            put(file, "balance/steps", counts)
        for name, event in self.events.items():
            put(file, f"events/{name}/times", event.times)
            put(file, f"events/{name}/states", event.states)

    def energy_drift(self) -> float:
        """Largest |H(t) − H(0) − work + dissipation| over the largest energy: what all residuals add up to."""
        b = self.balance
        moved = sum(b.work.values(), np.zeros(len(b.dissipation))) - b.dissipation
        drift = np.abs(b.energy[1:] - b.energy[0] - np.cumsum(moved)).max(initial=0.0)
        return float(drift) / max(b.scale, np.finfo(float).tiny)
