"""The beam on a spherical joint by the methods of general systems, beside the exact scheme ([dg] sec. 4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import numpy as np

from flexph import Mechanism, Solution, State, Trajectory, integrate
from flexph.case import Check
from flexph.export.tables import write_table
from flexph.methods import Exact4, by_name
from flexph.numerics.arrays import Array

from .checks import vanishes

Method = Literal["exact", "gonzalez", "mean_value", "midpoint", "dirac", "gauss4", "gauss6", "radau", "bdf", "ida"]
SAME_STEPS = ("gonzalez", "mean_value", "midpoint", "dirac")
"""Methods of order 2 that are compared with the exact scheme in steps of the same length."""
ADAPTIVE = ("radau", "bdf", "ida")
RELATIVE = 1e-6
"""Relative tolerance of adaptive methods; absolute ones are as much of the largest values of each part."""
REFINEMENT = 16
"""Steps of the exact scheme of order 4 in one step of the others."""
MODULES = {"radau": "scipy_dae", "bdf": "scipy_dae", "ida": "sksundae"}
"""Optional modules of methods."""
CHECKED = {"radau": 1e-5, "ida": 1e-5, "gauss4": 1e-3, "gonzalez": 1e-7, "dirac": 1e-7}
"""Methods that are checked, and how far their deformations and energies may be from those of the exact scheme, over the
largest ones: ten tolerances; what the input in the middle of a step leaves of a ramp to Gauss' methods, of second order
(3.7e-4 in 40 steps); and between schemes of the same steps what H beyond its second degree makes (5e-9)."""
WINDOW, STEPS = 0.2, 40
"""Length of the checks [s], the rise of the torque, and their steps."""


@dataclass(frozen=True)
class Comparison:
    """A run by a general method, and that of the exact scheme at the same times."""

    trajectory: Trajectory
    reference: Solution

    def differences(self) -> dict[str, float]:
        """Largest differences of parts of the state and of the energy over the largest values of the exact scheme."""
        exact, trajectory = self.reference, self.trajectory
        rows = {name: (trajectory[f"beam.{name}"], exact[f"beam.{name}"]) for name in ("deformation", "spin", "stress")}
        rows["energy"] = trajectory.balance.total_energy, exact.ledger.total_energy
        return {name: float(np.abs(one - other).max() / np.abs(other).max()) for name, (one, other) in rows.items()}

    def spin(self) -> Array:
        """World spin of the root section, (k, 3) [rad/s]."""
        R = self.trajectory["beam.rotation"].reshape(-1, 3, 3)
        return np.einsum("tij,tj->ti", R, self.trajectory["beam.spin"])


def compare(mechanism: Mechanism, start: State, times: Array, *, method: str, inputs: Mapping[str, Any]) -> Comparison:
    """Both runs from a start at rest."""
    if method in SAME_STEPS:
        reference = integrate(mechanism, start, times, inputs=inputs)
        return Comparison(integrate(mechanism, start, times, method=by_name(method), inputs=inputs), reference)
    parts = [np.linspace(a, b, REFINEMENT, endpoint=False) for a, b in pairwise(times)]
    fine = np.append(np.concatenate(parts), times[-1])
    reference = integrate(mechanism, start, fine, method=Exact4(), inputs=inputs, save_every=REFINEMENT)
    tolerance = (RELATIVE, RELATIVE * _sizes(reference)) if method in ADAPTIVE else None
    trajectory = integrate(mechanism, start, times, method=by_name(method, tolerance=tolerance), inputs=inputs)
    return Comparison(trajectory, reference)


def _sizes(solution: Solution) -> Array:
    """Largest values of the parts of states and multipliers; one where a part rests."""
    layout = solution.mechanism.layout
    sizes = np.ones(layout.size + layout.multipliers)
    for name, part in layout.parts.items():
        sizes[part] = np.abs(solution[name]).max(initial=0.0) or 1.0
    return sizes


def write(result: Comparison, folder: Path) -> dict[str, Any]:
    """The run, energy and spin over time, and the differences from the exact scheme."""
    trajectory, balance, spin = result.trajectory, result.trajectory.balance, result.spin()
    trajectory.save(folder / "trajectory.h5")
    history = {
        "t_s": trajectory.times,
        "energy_J": balance.total_energy,
        "omega_z_world_rad_s": spin[:, 2],
        "omega_y_world_rad_s": spin[:, 1],
    }
    write_table(folder / "history.csv", history)
    return {
        "method": trajectory.method,
        "energy_residual_max_rel": balance.largest_residual,
        **{f"{name}_difference_max_rel": value for name, value in result.differences().items()},
        "steps": len(trajectory.times) - 1,
    }


def checks(mechanism: Mechanism, start: State, inputs: Mapping[str, Any]) -> Iterable[Check]:
    """Deformations and energies of the methods whose packages are installed against the exact scheme."""
    times = np.linspace(0.0, WINDOW, STEPS + 1)
    for method, tolerance in CHECKED.items():
        if method in MODULES and find_spec(MODULES[method]) is None:
            continue
        differences = compare(mechanism, start, times, method=method, inputs=inputs).differences()
        for name in ("deformation", "energy"):
            quantity = f"{name} over {WINDOW} s by {method}, relative difference"
            yield vanishes(quantity, differences[name], tolerance, source="exact scheme", kind="independent code")
