"""Runs of general port-Hamiltonian systems."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import zip_longest
from pathlib import Path

import h5py
import numpy as np

from ..numerics import checks as check
from ..numerics.arrays import Array
from ..systems.linear import LinearPHDAE
from ..systems.nonlinear import PHDAE, from_linear
from .balance import relative_error, sizes
from .storage import put, texts, write_whole

FORMAT = "flexph trajectory 1"
BALANCE = ("energy", "dissipation", "residual", "iterations")
ADAPTIVE = ("radau", "bdf", "ida")
"""Methods whose runs count no steps."""
NEARER = 1e-6
"""Part of a state by which it is moved where the curvature of H along it is measured."""
AT_REST = 1e-12
"""Energy exchanged over the energy carried up to which a system is at rest: states are rounded to some 1e-16."""
MEASURED = 200
"""States of a run, evenly chosen, at which the energy that went to and fro is measured: it is a scale, no account."""


@dataclass(frozen=True)
class Balance:
    """Energy accounts of a run of a general system, all in [J]: ΔH = work − dissipation + residual.

    energy (k + 1,) at the saved times; work by port, dissipation, (k,) between them; residual, the largest
    |ΔH − work + dissipation| of a step, and Newton iterations between saved times, (k,); ``steps`` and ``rejected``,
    steps taken there and steps that step control rejected, (k,). Of adaptive methods, residual is that from one saved
    time to the next, and iterations counts the solver's own steps that end between them; steps and rejected are empty.
    ``exchanged`` is the energy that went to and fro between states, see :func:`exchanged_energy`.
    """

    energy: Array
    work: Mapping[str, Array]
    dissipation: Array
    residual: Array
    iterations: Array
    steps: Array = field(default_factory=partial(np.zeros, 0))
    rejected: Array = field(default_factory=partial(np.zeros, 0))
    exchanged: float = 0.0

    @property
    def scale(self) -> float:
        """Energy to which errors are relative: H = 0 may be any height [J].

        The largest size of the energy, of work and dissipation between two saved times, or of ``exchanged``.
        """
        return max(sizes([self.energy]), sizes([*self.work.values(), self.dissipation]), self.exchanged)

    @property
    def relative_residual(self) -> Array:
        """Balance residuals over ``scale``, (k,)."""
        return self.relative(self.residual)

    @property
    def largest_residual(self) -> float:
        """The largest ``relative_residual``; 0 for a system at rest."""
        return float(self.relative_residual.max(initial=0.0))

    @property
    def drift(self) -> float:
        """Largest |H(t) − H(0) − work + dissipation| over ``scale``: what all residuals add up to."""
        moved = sum(self.work.values(), np.zeros(len(self.dissipation))) - self.dissipation
        return float(self.relative(self.energy[1:] - self.energy[0] - np.cumsum(moved)).max(initial=0.0))

    def relative(self, error: Array) -> Array:
        """Errors of the balance [J] over ``scale``."""
        return relative_error(error, self.scale)


def exchanged_energy(system: PHDAE, states: Array) -> float:
    """The most that some states together have taken, or others given, since the first of ``states`` (k, n) [J].

    Of a system at rest, where that is round-off, what the states carry (see :func:`carried_energy`).

    A pendulum let go at the height where H = 0 keeps H = 0, and still turns potential into kinetic energy. To state i
    goes ``½ (∇H(x₀) + ∇H(x))ᵢ (x − x₀)ᵢ``, exact for parts of H that are linear or quadratic in it, with ∇H = Eᵀz; the
    positive and the negative ones are summed apart, and the larger sum counts, at up to MEASURED of the states.
    """

    def slope(x: Array) -> Array:
        made: Array = system.E(x).T @ system.z(x)
        return made

    first, x0, most = slope(states[0]), states[0], 0.0
    for x in states[np.unique(np.linspace(0, len(states) - 1, MEASURED).astype(int))[1:]]:
        taken = 0.5 * (first + slope(x)) * (x - x0)
        most = max(most, float(taken.clip(0.0).sum()), float((-taken).clip(0.0).sum()))
    carried = max(carried_energy(system, x) for x in (states[0], states[-1]))
    return most if most > AT_REST * carried else carried


def carried_energy(system: PHDAE, x: Array) -> float:
    """½ Σ|xᵢ| max(|∇H|ᵢ, |∇²H x|ᵢ): energy whose round-off is that of H where states are rounded [J].

    Of H = ½ xᵀQx with a diagonal Q ≥ 0 it is H, whatever the height at which a potential energy is zero.
    """
    slope, nearer = (system.E(y).T @ system.z(y) for y in (x, (1.0 - NEARER) * x))
    curved = (slope - nearer) / NEARER
    carried = float(0.5 * np.abs(x) @ np.maximum(np.abs(slope), np.abs(curved)))
    return carried if np.isfinite(carried) else 0.0


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
        file.attrs["layout"] = texts(_layout(self.system))
        for name in ("times", "states", "output_times"):
            put(file, name, getattr(self, name))
        for name, values in self.outputs.items():
            put(file, f"outputs/{name}", values)
            put(file, f"balance/work/{name}", self.balance.work[name])
        for name in BALANCE:
            put(file, f"balance/{name}", getattr(self.balance, name))
        put(file, "balance/exchanged", np.array([self.balance.exchanged]))
        counts = np.column_stack([self.balance.steps, self.balance.rejected])
        if np.any(counts != (1, 0)):
            put(file, "balance/steps", counts)
        for name, event in self.events.items():
            put(file, f"events/{name}/times", event.times)
            put(file, f"events/{name}/states", event.states)

    @staticmethod
    def load(path: str | Path, system: PHDAE | LinearPHDAE) -> Trajectory:
        """Read a run back. The system is given again, since its equations are not stored; it must fit.

        Raises ValueError for a file that is missing, damaged, of another format, or of a system with other states,
        parts or ports.
        """
        own = from_linear(system) if isinstance(system, LinearPHDAE) else system
        if not isinstance(own, PHDAE):
            raise ValueError(f"system must be a PHDAE or LinearPHDAE, got {type(system).__name__}")
        if not Path(path).is_file():
            raise ValueError(f"cannot read the saved run {str(path)!r}: there is no such file")
        try:
            with h5py.File(path, "r") as file:
                return _read(file, own)
        except (OSError, KeyError, RuntimeError) as error:
            raise ValueError(
                f"cannot read the saved run {str(path)!r}: damaged or not a flexph trajectory ({error})"
            ) from None

    def energy_drift(self) -> float:
        """Largest |H(t) − H(0) − work + dissipation| over ``balance.scale``: what all residuals add up to."""
        return self.balance.drift


def _layout(system: PHDAE) -> list[str]:
    """Parts of the states with their places."""
    return [f"{name} {part.start} {part.stop}" for name, part in system.parts.items()]


def _read(file: h5py.File, system: PHDAE) -> Trajectory:
    if file.attrs.get("format") != FORMAT:
        raise OSError(f"format is {file.attrs.get('format')!r}, expected {FORMAT!r}")
    get: Callable[[str], Array] = lambda name: _numbers(file, name)  # noqa: E731
    _check_system(file, system)
    rows = len(get("times")) - 1
    counts = get("balance/steps") if "balance/steps" in file else np.tile([1.0, 0.0], (rows, 1))
    if file.attrs["method"] in ADAPTIVE:  # these count none
        counts = np.zeros((0, 2))
    balance = Balance(
        work={name: get(f"balance/work/{name}") for name in system.ports},
        energy=get("balance/energy"),
        dissipation=get("balance/dissipation"),
        residual=get("balance/residual"),
        iterations=get("balance/iterations"),
        steps=counts[:, 0],
        rejected=counts[:, 1],
        exchanged=float(get("balance/exchanged")[0]) if "balance/exchanged" in file else 0.0,
    )
    made = Trajectory(
        system=system,
        times=get("times"),
        states=get("states"),
        output_times=get("output_times"),
        outputs={name: get(f"outputs/{name}") for name in system.ports},
        balance=balance,
        method=str(file.attrs["method"]),
        events={
            name: Occurrences(get(f"events/{name}/times"), get(f"events/{name}/states"))
            for name in file.get("events", {})
        },
    )
    _check_shapes(made)
    return made


def _numbers(file: h5py.File, name: str) -> Array:
    made: Array = np.asarray(file[name][()])
    if made.dtype.kind != "f" or not np.all(np.isfinite(made)):
        raise OSError(f"{name} holds what is no number")
    return made


def _check_system(file: h5py.File, system: PHDAE) -> None:
    """Raise ValueError unless states, parts and ports of a file are those of the system."""
    saved, own = [text.decode() for text in np.atleast_1d(file.attrs["layout"])], _layout(system)
    if saved != own:
        pair = next(((a, b) for a, b in zip_longest(saved, own, fillvalue="nothing") if a != b))
        raise ValueError(f"the saved run belongs to another system: part {pair[0]!r} there, {pair[1]!r} here")
    size = file["states"].shape[-1]
    if size != system.size:
        raise ValueError(f"the saved run belongs to another system: it has {size} states, the system {system.size}")
    ports: dict[str, int] = {}
    if "outputs" in file:
        file["outputs"].visititems(lambda name, of: ports.update({name: of.shape[-1]} if _is_data(of) else {}))
    widths = {name: part.stop - (part.start or 0) for name, part in system.ports.items()}
    if ports != widths:
        there, here = (", ".join(f"{name} ({width})" for name, width in sorted(of.items())) for of in (ports, widths))
        raise ValueError(
            f"the saved run belongs to another system: its ports are {there or 'none'}, the system has {here or 'none'}"
        )


def _is_data(of: h5py.Dataset | h5py.Group) -> bool:
    return isinstance(of, h5py.Dataset)


def _check_shapes(run: Trajectory) -> None:
    """Raise OSError unless the arrays of a file fit each other."""
    k, n, b = len(run.times) - 1, run.system.size, run.balance
    found = {"states": (run.states, (k + 1, n)), "energy": (b.energy, (k + 1,))}
    found |= {name: (getattr(b, name), (k,)) for name in BALANCE if name != "energy"}
    found |= {f"work/{name}": (values, (k,)) for name, values in b.work.items()}
    for name, values in run.outputs.items():
        found[f"outputs/{name}"] = (values, (len(run.output_times), values.shape[-1]))
    for name, event in run.events.items():
        found[f"events/{name}/states"] = (event.states, (len(event.times), n))
    if len(b.steps):
        found["steps"] = (b.steps, (k,))
    for name, (values, shape) in found.items():
        if values.shape != shape:
            raise OSError(f"{name} has shape {values.shape}, expected {shape}")
