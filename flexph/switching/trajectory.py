"""Runs of switching systems: what happened between and at the switches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import h5py
import numpy as np

from ..numerics import checks as check
from ..numerics.arrays import Array
from ..results.storage import put, texts, write_whole
from ..results.trajectory import Balance
from .system import SwitchingPHDAE

FORMAT = "flexph switching trajectory 1"


@dataclass(frozen=True)
class ModeChange:
    """One switch: when [s], between which modes, by what, and what it did.

    ``cause`` is the name of the transition, or ``not valid: NAME``. States ``before`` and ``after`` (n,), each with the
    algebraic states of its mode; ``energy`` before and after [J]; ``work`` by port [J], what sources give in impulses;
    ``lost`` [J] with H⁺ − H⁻ = work − lost. ``impulse`` (n,) is ∫(J − R)z dt of the algebraic costates, Eₛ(x⁺ − x⁻)
    where the constraints of the new mode moved the state. ``free`` (k, n) are the linear quantities that they cannot
    change, orthonormal rows a with a·x⁺ = a·x⁻; ``kept`` those that the reset names, with their values.
    """

    time: float
    source: str
    target: str
    cause: str
    before: Array
    after: Array
    energy: tuple[float, float]
    work: Mapping[str, float]
    lost: float
    impulse: Array
    free: Array
    kept: Mapping[str, float]

    @property
    def jump(self) -> Array:
        """x⁺ − x⁻ (n,)."""
        made: Array = self.after - self.before
        return made


@dataclass(frozen=True, repr=False)
class SwitchingTrajectory:
    """A run of a :class:`SwitchingPHDAE`: k + 1 saved instants, the mode in each, the switches, and the energy balance.

    ``times`` (k + 1,) ascend but for switches, which are two instants of one time, before and after, in the modes
    ``modes`` (k + 1,) of names; ``states`` (k + 1, n) belong to them. Several switches at one time follow each other
    so. ``balance`` has a row for each pair of instants that follow each other: at a switch ``dissipation`` is the
    energy lost there, and work what sources give in impulses, so that ΔH = work − dissipation + residual throughout.

    ``outputs`` by port (l, m), at ``output_times`` (l,), are those of the steps as in :class:`flexph.Trajectory`,
    NaN in modes that lack the port. ``states`` at switches have algebraic states that solve the equations at that time,
    others, but for the last one, are stage values.
    """

    system: SwitchingPHDAE
    times: Array
    states: Array
    modes: Array
    output_times: Array
    outputs: Mapping[str, Array]
    balance: Balance
    switches: Sequence[ModeChange]
    method: str

    def __repr__(self) -> str:
        span = f"{self.times[0]:.6g} to {self.times[-1]:.6g} s"
        counts = f"{len(self.times)} instants from {span}, {len(self.switches)} switches"
        return f"<SwitchingTrajectory by {self.method!r}: {counts}>"

    def __getitem__(self, part: str) -> Array:
        return self.states[:, check.lookup("part", part, self.system.parts)]

    @property
    def final(self) -> Array:
        """The last state, from which a run can be continued in the mode ``modes[-1]``."""
        return self.states[-1]

    @property
    def lost_at_switches(self) -> float:
        """What all switches lose together [J]; the rest of the dissipation is that of the modes."""
        return float(sum(switch.lost for switch in self.switches))

    def energy_drift(self) -> float:
        """Largest |H(t) − H(0) − work + dissipation| over ``balance.scale``: what all residuals add up to."""
        return self.balance.drift

    def save(self, path: str | Path) -> None:
        """Write the run as HDF5 (docs/solution-format.md); the file appears whole or not at all."""
        write_whole(path, self._write)

    def _write(self, file: h5py.File) -> None:
        file.attrs["format"], file.attrs["method"] = FORMAT, self.method
        file.attrs["layout"] = texts(f"{name} {part.start} {part.stop}" for name, part in self.system.parts.items())
        file.attrs["modes"] = texts(self.system.modes)
        names = list(self.system.modes)
        for name in ("times", "states", "output_times"):
            put(file, name, getattr(self, name))
        put(file, "modes", np.array([names.index(mode) for mode in self.modes]))
        for name, values in self.outputs.items():
            put(file, f"outputs/{name}", values)
            put(file, f"balance/work/{name}", self.balance.work[name])
        for name in BALANCE:
            put(file, f"balance/{name}", getattr(self.balance, name))
        put(file, "balance/exchanged", np.array([self.balance.exchanged]))
        for number, switch in enumerate(self.switches):
            _write_switch(file, f"switches/{number}", switch)

    @classmethod
    def load(cls, path: str | Path, system: SwitchingPHDAE) -> SwitchingTrajectory:
        """A saved run of the same system. Raises ValueError for another format, size, parts or modes."""
        with h5py.File(path, "r") as file:
            _check_file(file, path, system)
            names = np.array(list(system.modes))
            group: Any = file["balance"]
            kept = {name: group[name][()] for name in BALANCE}
            kept["exchanged"] = float(group["exchanged"][0]) if "exchanged" in group else 0.0  # not in older files
            return cls(
                system=system,
                times=file["times"][()],
                states=file["states"][()],
                modes=names[file["modes"][()].astype(int)],
                output_times=file["output_times"][()],
                outputs={name: file[f"outputs/{name}"][()] for name in system.ports},
                balance=Balance(work={name: group[f"work/{name}"][()] for name in system.ports}, **kept),
                switches=tuple(
                    _read_switch(file[f"switches/{k}"], system) for k in range(len(file.get("switches", ())))
                ),
                method=str(file.attrs["method"]),
            )


BALANCE = ("energy", "dissipation", "residual", "iterations", "steps", "rejected")
ARRAYS = ("before", "after", "energy", "impulse", "free")


def _write_switch(file: h5py.File, place: str, switch: ModeChange) -> None:
    for name in ARRAYS:
        put(file, f"{place}/{name}", np.asarray(getattr(switch, name)))
    put(file, f"{place}/time_and_loss", np.array([switch.time, switch.lost]))
    group = file[place]
    for name in ("source", "target", "cause"):
        group.attrs[name] = getattr(switch, name)
    put(file, f"{place}/work", np.array(list(switch.work.values())))
    group.attrs["ports"] = texts(switch.work)
    put(file, f"{place}/kept", np.array(list(switch.kept.values())))
    group.attrs["kept"] = texts(switch.kept)


def _read_switch(group: Any, system: SwitchingPHDAE) -> ModeChange:
    time, lost = map(float, group["time_and_loss"][()])
    before, after, energy, impulse, free = (group[name][()] for name in ARRAYS)
    return ModeChange(
        time=time,
        lost=lost,
        before=before,
        after=after,
        energy=(float(energy[0]), float(energy[1])),
        impulse=impulse,
        free=free.reshape(-1, system.size),
        work=dict(zip(_names(group, "ports"), map(float, group["work"][()]), strict=True)),
        kept=dict(zip(_names(group, "kept"), map(float, group["kept"][()]), strict=True)),
        **{name: str(group.attrs[name]) for name in ("source", "target", "cause")},
    )


def _names(group: Any, name: str) -> list[str]:
    return [text.decode() for text in np.atleast_1d(group.attrs[name])] if np.size(group.attrs[name]) else []


def _check_file(file: Any, path: str | Path, system: SwitchingPHDAE) -> None:
    if file.attrs.get("format") != FORMAT:
        raise ValueError(f"{path} is not a run of a switching system: format {file.attrs.get('format')!r}")
    modes = _names(file, "modes")
    if modes != list(system.modes):
        raise ValueError(f"{path} has the modes {', '.join(modes)}, the system has {', '.join(system.modes)}")
    layout = [f"{name} {part.start} {part.stop}" for name, part in system.parts.items()]
    size = file["states"].shape[1]
    if size != system.size or _names(file, "layout") != layout:
        raise ValueError(f"{path} has {size} states in the parts {_names(file, 'layout')}, the system has {layout}")
