"""A clamped and a free Euler-Bernoulli beam joined by a gyrator, with a manufactured solution ([flex] sec. 5.1).

Together they are a beam of length 2, ``ρA ẅ + EI w'''' = p`` with all constants 1, clamped at x = 0. The solution
w = f(x) sin 4t, f = x²(x² − 8x + 24)/48, has f(0) = f'(0) = 0, a free end without loads, f''(2) = f'''(2) = 0, and
f(2) = 1: the tip moves by sin 4t. Since f'''' = ½, the load per length on both beams is p = (½ − 16 f(x)) sin 4t.

The inputs of the clamped beam, x from 0 to 1, are velocities at its ends, zero at the clamp; those of the free beam, x
from 1 to 2, are forces. At x = 1 the velocities of the free beam are inputs of the clamped beam, and the forces of the
clamped beam inputs of the free beam.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from scipy.sparse.linalg import spsolve

import fem
from flexph import LinearPHDAE, Trajectory, integrate
from flexph.case import Case, Check, Option
from flexph.export.tables import write_table
from flexph.interconnection import couple, substructure
from flexph.linear.shifted import split
from flexph.methods import Gauss
from flexph.numerics.arrays import Array
from flexph.numerics.gauss_tableau import gauss_points
from flexph.plot.axes import new_figure
from flexph.systems import from_linear

from .checks import converges, near, vanishes

END, FREQUENCY, DEGREE = 1.0, 4.0, 1
MESHES, STEPS = (1, 2, 4, 8), (25, 50, 100)
MATERIAL = fem.Material(young=1.0, density=1.0)
SECTION = fem.Section(area=1.0, second_moment=1.0)


def shape(x: Any) -> Any:
    """Deflection f(x) [m] of the motion w = f(x) sin 4t at the positions x [m]."""
    return x**2 * (x**2 - 8.0 * x + 24.0) / 48.0


def load(x: Any, t: float) -> Any:
    """Load per length p(x, t) [N/m] that causes the motion w, at the positions x [m] and the time t."""
    return (0.5 - FREQUENCY**2 * shape(x)) * math.sin(FREQUENCY * t)


def beams(elements: int) -> LinearPHDAE:
    """Linear system of both beams with ``elements`` in each and piecewise linear loads, coupled without multipliers."""
    options: dict[str, Any] = {"elements": elements, "load": DEGREE}
    return substructure(
        {
            "clamped": fem.bending(1.0, MATERIAL, SECTION, causality="velocity", clamped=("root",), **options),
            "free": fem.bending(1.0, MATERIAL, SECTION, **options),
        },
        [couple("free.root", "clamped.tip")],
    )


def load_points(elements: int) -> Array:
    """Distances [m] from the root of a beam at which the piecewise linear load is given, element by element."""
    return (np.arange(elements)[:, None] + gauss_points(DEGREE + 1)[0]).ravel() / elements


def start(elements: int) -> Array:
    """States (size,) at t = 0: no moments, and the velocities 4 f.

    f is the finite-element solution of f'''' = ½. Exact nodal values would excite vibrations that never decay.
    """
    system = beams(elements)
    parts = split(system)
    assert parts is not None  # the coupling joins velocities to moments
    loads = [i for name in ("clamped.load", "free.load") for i in range(system.B.shape[1])[system.ports[name]]]
    deflection = spsolve(parts.stiffness().tocsc(), parts.B[:, loads] @ np.full(len(loads), 0.5))
    states = np.zeros(system.size)
    states[parts.velocities] = FREQUENCY * deflection
    return states


def solve(elements: int, steps: int) -> Trajectory:
    """Run of both beams over [0, 1] s in ``steps`` steps, under the manufactured load."""
    x = load_points(elements)
    return integrate(
        from_linear(beams(elements)),
        start(elements),
        np.linspace(0.0, END, steps + 1),
        method=Gauss(2),
        inputs={"clamped.load": lambda t: load(x, t), "free.load": lambda t: load(1.0 + x, t)},
        progress=False,
    )


def tip(trajectory: Trajectory) -> Array:
    """Displacement of the tip (k + 1,) [m], summed from the mean velocities of the steps."""
    moved = np.diff(trajectory.times) * trajectory.outputs["free.tip"][:, 0]
    return np.concatenate([[0.0], np.cumsum(moved)])


def error(trajectory: Trajectory) -> float:
    """Largest error of the displacement of the tip over the run [m]; its amplitude is 1 m."""
    return float(np.abs(tip(trajectory) - np.sin(FREQUENCY * trajectory.times)).max())


@dataclass(frozen=True)
class Result:
    """A run of the beams, and the errors of the tip by number of elements (``meshes``) and by number of steps."""

    motion: Trajectory
    meshes: list[tuple[int, float]]
    steps: list[tuple[int, float]]


def run(
    *,
    elements: Annotated[int, Option("elements of each beam")] = 6,
    steps: Annotated[int, Option("time steps over 1 s")] = 100,
) -> Result:
    """A clamped and a free beam joined by a gyrator: the tip moves by sin 4t ([flex] sec. 5.1)."""
    for name, value in (("elements", elements), ("steps", steps)):
        if value < 1:
            raise ValueError(f"{name} must be at least 1, got {value}")
    return Result(solve(elements, steps), mesh_errors(), step_errors())


def mesh_errors() -> list[tuple[int, float]]:
    """Numbers of elements, and largest error of the tip with each [m].

    Errors are differences from a run with 16 elements and the same steps, so that errors in time cancel.
    """
    fine = tip(solve(16, 50))
    return [(n, float(np.abs(tip(solve(n, 50)) - fine).max())) for n in MESHES]


def step_errors() -> list[tuple[int, float]]:
    """Numbers of steps, and largest error of the tip with each [m].

    All runs have 12 elements, which leave only the error in time.
    """
    return [(k, error(solve(12, k))) for k in STEPS]


def slope(rows: list[tuple[int, float]]) -> float:
    """Order of convergence from the last two rows, each a number of elements or steps and an error."""
    (n0, e0), (n1, e1) = rows[-2:]
    return math.log(e0 / e1) / math.log(n1 / n0)


def figures(result: Result) -> dict[str, Any]:
    """Summary numbers: error of the tip, energy balance and orders."""
    return {
        "states": result.motion.system.size,
        "tip_error_max_m": error(result.motion),
        "balance_residual_max_rel": result.motion.ledger.largest_residual,
        "energy_drift_rel": result.motion.energy_drift(),
        "order_in_h": slope(result.meshes),
        "order_in_time": slope(result.steps),
    }


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: table of the tip, tables of errors, and a picture; return the summary numbers."""
    trajectory, exact = result.motion, np.sin(FREQUENCY * result.motion.times)
    columns = {
        "t_s": trajectory.times,
        "tip_m": tip(trajectory),
        "exact_m": exact,
        "energy_J": trajectory.ledger.total_energy,
    }
    write_table(folder / "tip.csv", columns)
    for name, rows in (("elements", result.meshes), ("steps", result.steps)):
        write_table(folder / f"{name}.csv", {name: [n for n, _ in rows], "error": [e for _, e in rows]})
    draw(result, folder / "tip.png")
    return figures(result)


def draw(result: Result, path: Path) -> None:
    """Draw the tip against sin 4t, its error, and the errors against mesh and step."""
    figure = new_figure(12.0, 4.2)
    motion, away, orders = figure.subplots(1, 3)
    t, fine = result.motion.times, np.linspace(0.0, END, 200)
    motion.plot(fine, np.sin(FREQUENCY * fine), "k-", linewidth=0.8, label="sin 4t")
    motion.plot(t[::5], tip(result.motion)[::5], "o", markersize=4, label="computed")
    motion.set_ylabel("tip displacement [m]")
    away.plot(t, tip(result.motion) - np.sin(FREQUENCY * t))
    away.set_ylabel("error of the tip [m]")
    for rows, length, label in ((result.meshes, 1.0, "element length [m]"), (result.steps, END, "time step [s]")):
        size = [length / n for n, _ in rows]
        orders.loglog(size, [e for _, e in rows], "o-", markersize=4, label=f"{label}: order {slope(rows):.2f}")
    orders.set_ylabel("largest error of the tip [m]")
    orders.set_xlabel("h")
    for axes in (motion, away):
        axes.set_xlabel("t [s]")
    for axes in (motion, orders):
        axes.legend(fontsize="small")
    for axes in (motion, away, orders):
        axes.grid(alpha=0.3)
    figure.savefig(path)


def checks() -> Iterable[Check]:
    """Checks: motion of the tip against sin 4t, energy balance, orders of convergence in element length and step."""
    trajectory = solve(6, 100)
    exact = "manufactured solution"
    # the midpoint rule lags by (4h)²/12 of the phase of 4 rad, 5.3e-4 rad at h = 0.01
    yield vanishes("tip displacement, largest error [m]", error(trajectory), 6e-4, source=exact, kind="closed form")
    yield near("tip displacement at 1 s [m]", math.sin(4.0), tip(trajectory)[-1], 6e-4, source=exact)
    residual = trajectory.ledger.largest_residual
    yield vanishes("balance residual / energy", residual, 1e-13)
    yield converges("order in time", slope(step_errors()), 0.05, source="midpoint rule: 2")
    yield converges("order in h", slope(mesh_errors()), 0.1, theory=4.0, source="cubic elements: 4")


case = Case(run, write, checks, needs=("matplotlib",), system=lambda: beams(4))
