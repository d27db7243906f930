"""Comparison of general methods, those for any port-Hamiltonian system ([dg] sec. 4), with the exact scheme.

Cases of mechanisms use :func:`compare` for a run by such a method and :func:`checks` for differences of short runs.
"""

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
"""Methods of order 2 compared with the exact scheme at equal steps."""
ADAPTIVE = ("radau", "bdf", "ida")
RELATIVE = 1e-6
"""Relative tolerance of adaptive methods; absolute ones are this share of the largest values of each part."""
REFINEMENT = 16
"""Number of steps of the exact scheme of order 4 in one step of the others."""
MODULES = {"radau": "scipy_dae", "bdf": "scipy_dae", "ida": "sksundae"}
"""Optional modules of the methods."""


@dataclass(frozen=True)
class Comparison:
    """A run of a mechanism by a general method, and a reference run by the exact scheme at the same times.

    ``body`` is the flexible body whose states are compared.
    """

    trajectory: Trajectory
    reference: Solution
    body: str

    def differences(self) -> dict[str, float]:
        """Largest differences of the body's states and of the energy between both runs, by name.

        Each is divided by the largest magnitude in the reference run.
        """
        exact, trajectory = self.reference, self.trajectory
        parts = ("deformation", "spin", "stress")
        rows = {name: (trajectory[f"{self.body}.{name}"], exact[f"{self.body}.{name}"]) for name in parts}
        rows["energy"] = trajectory.ledger.total_energy, exact.ledger.total_energy
        return {name: float(np.abs(one - other).max() / np.abs(other).max()) for name, (one, other) in rows.items()}

    def figures(self) -> dict[str, Any]:
        """Summary numbers: the method, its balance, its differences from the exact scheme, number of saved steps."""
        return {
            "method": self.trajectory.method,
            "energy_residual_max_rel": self.trajectory.ledger.largest_residual,
            **{f"{name}_difference_max_rel": value for name, value in self.differences().items()},
            "steps": len(self.trajectory.times) - 1,
        }


def compare(
    start: tuple[Mechanism, State], times: Array, *, body: str, method: str, inputs: Mapping[str, Any] | None = None
) -> Comparison:
    """Run a mechanism from a state by a general method and, for comparison, by the exact scheme.

    ``start`` are the mechanism and the state. Raises ImportError if a module of the method is not installed, and
    IntegrationError if a run fails.
    """
    mechanism, state = start
    if method in SAME_STEPS:
        reference = integrate(mechanism, state, times, inputs=inputs)
        return Comparison(integrate(mechanism, state, times, method=by_name(method), inputs=inputs), reference, body)
    parts = [np.linspace(a, b, REFINEMENT, endpoint=False) for a, b in pairwise(times)]
    fine = np.append(np.concatenate(parts), times[-1])
    reference = integrate(mechanism, state, fine, method=Exact4(), inputs=inputs, save_every=REFINEMENT)
    tolerance = (RELATIVE, RELATIVE * _sizes(reference)) if method in ADAPTIVE else None
    trajectory = integrate(mechanism, state, times, method=by_name(method, tolerance=tolerance), inputs=inputs)
    return Comparison(trajectory, reference, body)


def _sizes(solution: Solution) -> Array:
    """Scale (size,) of each state and multiplier in the tolerances of adaptive methods.

    It is the largest magnitude in the run of all states of the same part, such as ``beam.spin``; 1 if that is zero.
    """
    layout = solution.mechanism.layout
    sizes = np.ones(layout.size + layout.multipliers)
    for name, part in layout.parts.items():
        sizes[part] = np.abs(solution[name]).max(initial=0.0) or 1.0
    return sizes


def write(result: Comparison, folder: Path, curves: Mapping[str, Array]) -> dict[str, Any]:
    """Write to ``folder``: the run by the general method, and a table of its energy and further ``curves`` over time.

    Return the summary numbers, with the differences from the exact scheme.
    """
    trajectory, energy = result.trajectory, result.trajectory.ledger.total_energy
    trajectory.save(folder / "trajectory.h5")
    write_table(folder / "history.csv", {"t_s": trajectory.times, "energy_J": energy, **curves})
    return result.figures()


def checks(
    start: tuple[Mechanism, State],
    times: Array,
    tolerances: Mapping[str, float],
    *,
    body: str,
    inputs: Mapping[str, Any] | None = None,
) -> Iterable[Check]:
    """Yield checks that general methods agree with the exact scheme, within a tolerance for each method.

    Methods whose packages are not installed are left out. See :func:`compare` for the other arguments.
    """
    for method, tolerance in tolerances.items():
        if method in MODULES and find_spec(MODULES[method]) is None:
            continue
        differences = compare(start, times, body=body, method=method, inputs=inputs).differences()
        for name in ("deformation", "energy"):
            quantity = f"{name} over the first {times[-1]:.2g} s by {method}, relative difference"
            yield vanishes(quantity, differences[name], tolerance, source="exact scheme", kind="independent code")
