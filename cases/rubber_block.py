"""A rubber block bent on a hinge and released while it tumbles with a rigid hub: finite strain.

Torques of opposite sign bend the block between its ends, grow and vanish: they do work without changing momenta.
The same stored energies in uniaxial tension have closed forms (:mod:`cases.rubber_laws`).
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, get_args

import numpy as np

import rigid
from flexph import Solution, ValidityWarning, connect, integrate, revolute, torque
from flexph.bodies.stresses import LABELS, VON_MISES, largest_in_cells
from flexph.case import Case, Check, Option
from flexph.export.frames import state_at
from flexph.export.tables import write_table
from flexph.numerics.arrays import Array
from flexph.plot.axes import new_figure

from .checks import vanishes
from .files import write_run
from .rods import kept
from .rubber_laws import Law, block, uniaxial_error

MOTION = {"block": ((0.5, 0.2, -0.1), (2.0, 3.0, 1.0)), "hub": ((0.4, 0.1, 0.0), (-1.0, -4.0, 0.5))}  # [m/s], [rad/s]
TORQUE, HELD = 25.0, 0.2  # largest of the bending torques [N m], and how long they act [s]
FACES = ((0, 1, 2, 3), (4, 5, 6, 7), (0, 1, 5, 4), (3, 2, 6, 7), (0, 3, 7, 4), (1, 2, 6, 5))  # of a hexahedron


def solve(law: str, step: float, cells: int, end: float) -> Solution:
    """Run of a straight rubber block on a hinge at a spinning hub, under bending torques on its ends.

    ``law`` names the stored energy, ``cells`` is the number of cells along the block.
    """
    body = block(law, (cells, 1, 1), ports={"root": "left", "tip": "right"})
    hub = rigid.body(2.0, inertia=(0.02, 0.03, 0.04), ports={"pin": (0.1, 0.0, 0.05)})
    bending = {"tip": 1.0, "root": -1.0}
    parts = [revolute("block.root", "hub.pin", axis=(0.0, 1.0, 0.0))]
    parts += [torque(f"block.{port}", name=port) for port in bending]
    mechanism = connect({"block": body, "hub": hub}, parts)
    pose = mechanism.assemble({"block": ((0.0, 0.0, 0.0), np.eye(3))})
    with warnings.catch_warnings():  # the nearest consistent motion is intended
        warnings.filterwarnings("ignore", "the velocities given contradict")
        start = mechanism.consistent_state(pose, velocities=MOTION)
    inputs = {port: lambda t, sign=sign: (0.0, sign * _bending(t), 0.0) for port, sign in bending.items()}
    return integrate(mechanism, start, np.linspace(0.0, end, max(1, round(end / step)) + 1), inputs=inputs)


def _bending(t: float) -> float:
    """Bending torque [N m] at the time t, which grows smoothly and ends abruptly."""
    return float(TORQUE * np.sin(0.5 * np.pi * t / HELD) ** 2) if t < HELD else 0.0


def turned(solution: Solution) -> Array:
    """Angle between the sections at both ends of the block at the saved times (k,) [rad]."""
    ends = solution.rotations("block")
    cosine = 0.5 * (np.einsum("kij,kij->k", ends[:, 0], ends[:, 1]) - 1.0)
    return np.asarray(np.arccos(np.clip(cosine, -1.0, 1.0)))


@dataclass(frozen=True)
class Result:
    """A run of the block, and the largest relative error of uniaxial tension with the same stored energy."""

    solution: Solution
    uniaxial_error: float


def run(
    *,
    law: Annotated[Law, Option("stored energy of the rubber")] = "neo-hooke",
    step: Annotated[float, Option("time step", "s")] = 0.005,
    cells: Annotated[int, Option("hexahedra along the block")] = 3,
    end: Annotated[float, Option("end of the run", "s")] = 0.5,
) -> Result:
    """A block of rubber bent and released on a hinge: closed forms of four laws, and invariants at any step."""
    if not 0.0 < step <= end:
        raise ValueError(f"step must be positive and not above end = {end} s, got {step} s")
    return Result(solve(law, step, cells, end), uniaxial_error(law))


def figures(result: Result) -> dict[str, Any]:
    """Summary numbers: conserved quantities, bending of the block, and the error of uniaxial tension."""
    bend = turned(result.solution)
    return {
        **kept(result.solution),
        "bend_max_rad": float(bend.max()),
        "uniaxial_error_max_rel": result.uniaxial_error,
    }


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: tables and pictures of the motion, the moving bodies with stresses, and the run itself.

    Return the summary numbers.
    """
    solution = result.solution
    write_run(solution, folder)
    energies = {name.replace(" ", "_") + "_J": values for name, values in solution.ledger.energy.items()}
    write_table(folder / "bend.csv", {"t_s": solution.times, "bend_rad": turned(solution), **energies})
    draw(solution, folder / "motion.png")
    return figures(result)


def draw(solution: Solution, path: Path) -> None:
    """Draw one side of the block at six times in the axes of its root, with the largest von Mises stress of cells."""
    from matplotlib.collections import PolyCollection

    view = solution.mechanism.bodies["block"].view
    figure = new_figure(9.0, 4.2)
    axes = figure.add_subplot()
    pick = np.linspace(0, np.searchsorted(solution.times, HELD * 1.5), 6).astype(int)
    pick = np.minimum(pick, len(solution.times) - 1)
    points = solution.points("block", view.points, view.shape)[pick]
    R, r = solution.rotations("block")[pick, 0], solution.position("block.root")[pick]
    local = np.einsum("kji,kpj->kpi", R, points - r[:, None])
    stress = largest_in_cells(solution.mechanism.bodies["block"], state_at(solution, "block", pick))
    quads = view.cells[:, next(corners for corners in FACES if _on_side(view, corners))]
    for k, time in enumerate(solution.times[pick]):
        corner = np.array([0.5 * (k % 3), -0.3 * (k // 3)])
        drawn = PolyCollection(local[k][:, [0, 2]][quads] + corner, edgecolors="0.2", cmap="viridis")
        drawn.set_array(1e-3 * stress[k])
        drawn.set_clim(0.0, 1e-3 * stress.max())
        axes.add_collection(drawn)
        axes.text(corner[0], corner[1] + 0.07, f"{time:.3g} s")
    figure.colorbar(drawn, ax=axes, label=f"{LABELS[VON_MISES]} [kPa]")
    axes.set(xlabel="along the undeformed block [m]", ylabel="across [m]", aspect="equal")
    axes.margins(0.05, 0.12)
    figure.savefig(path)


def _on_side(view: Any, corners: tuple[int, ...]) -> bool:
    """True if the corners with the indices ``corners`` lie on the side y = 0 in all cells."""
    return bool(np.all(np.abs(view.points[view.cells[:, corners], 1]) < 1e-9))


def checks() -> Iterable[Check]:
    """Checks: uniaxial tension against closed forms, and conserved quantities of a run at two steps, for each law.

    The shorter step resolves the bending, the other one is twice as long.
    """
    for law in get_args(Law):
        stretch = uniaxial_error(law)
        yield vanishes(
            f"{law}: stretches of uniaxial tension", stretch, 1e-10, source="closed form", kind="closed form"
        )
        for step in (0.005, 0.01):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ValidityWarning)
                kept_values = kept(solve(law, step, 2, 0.3))
            for name, value in kept_values.items():
                if not name.startswith("newton"):
                    yield vanishes(f"{law}, step {step} s: {name}", value, 1e-12)


case = Case(run, write, checks, needs=("matplotlib",), figures=figures)
