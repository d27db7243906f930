"""A rope with a mass at its end, released from a slope, swings in space: a pendulum with a bending string."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import numpy as np

import fem
import rigid
from flexph import GROUND, Mechanism, Solution, connect, integrate, spherical
from flexph.case import Case, Check, Option
from flexph.export.tables import write_table
from flexph.numerics.arrays import Array
from flexph.plot.axes import new_figure

from .checks import converges, vanishes
from .files import write_run
from .rods import draw_axes, drift, kept

LENGTH, LINE, MASS = 2.0, 0.3, 0.5  # [m], [kg/m], [kg] of the ball
AXIAL, BENDING = 1e4, 0.05  # [N], [N m²]
HEIGHT, SLOPE = 3.0, 0.5  # [m] of the support, [rad] of the rope under the horizontal plane
ASIDE = 1.5  # speed of the ball across [m/s]
SHOWN = 6  # pictures of the rope
FINE = 3  # elements and steps of a fine run, over those of the run


def rope(elements: int, axial: float = AXIAL) -> Mechanism:
    """Mechanism of the rope, hung on a spherical joint, with a ball at its tip; ``axial`` is EA [N]."""
    ports = {f"p{i}": float(s) for i, s in enumerate(np.linspace(0.0, LENGTH, 4 * elements + 1)[1:-1], 1)}
    line = fem.cable(LENGTH, mass_per_length=LINE, axial=axial, bending=BENDING, elements=elements, ports=ports)
    joints = [spherical("rope.root", GROUND.at(0.0, 0.0, HEIGHT)), spherical("rope.tip", "ball.point")]
    return connect({"rope": line, "ball": rigid.point(MASS, 3)}, joints, gravity=(0.0, 0.0, -9.81))


def solve(step: float, elements: int, end: float, axial: float = AXIAL) -> Solution:
    """Run of the rope, which starts straight and turns about the vertical through its support, up to ``end`` [s]."""
    mechanism, c, s = rope(elements, axial), np.cos(SLOPE), np.sin(SLOPE)
    axes = np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
    turn = (0.0, 0.0, ASIDE / (LENGTH * c))
    pose = mechanism.assemble({"rope": ((0.0, 0.0, HEIGHT), axes)})
    start = mechanism.consistent_state(
        pose, velocities={"rope": ((0.0, 0.0, 0.0), turn), "ball": ((0.0, ASIDE, 0.0), (0.0, 0.0, 0.0))}
    )
    return integrate(mechanism, start, np.linspace(0.0, end, max(1, round(end / step)) + 1))


def run(
    *,
    step: Annotated[float, Option("time step", "s")] = 0.01,
    elements: Annotated[int, Option("elements of the rope")] = 8,
    end: Annotated[float, Option("end of the run", "s")] = 2.0,
) -> Solution:
    """A rope swings with a mass (fem.cable): position of the mass, and conserved quantities."""
    if not 0.0 < step <= end:
        raise ValueError(f"step must be positive and not above end = {end} s, got {step} s")
    return solve(step, elements, end)


def figures(solution: Solution) -> dict[str, Any]:
    """Summary numbers: final position of the ball, conserved quantities, and drift of the vertical angular momentum."""
    turning = solution.angular_momentum()[:, 2:]
    return {
        "tip_m": solution.position("rope.tip")[-1].tolist(),
        **{k: v for k, v in kept(solution).items() if "momentum" not in k and "orthogonality" not in k},
        "vertical_momentum_drift_rel": drift(turning),
    }


def line_of(solution: Solution, at: int) -> Array:
    """Points (n, 3) [m] along the rope at the saved time with index ``at``."""
    inner = sum(name.startswith("p") for name in solution.mechanism.bodies["rope"].ports)
    names = ["root", *(f"p{i}" for i in range(1, inner + 1)), "tip"]
    return np.array([solution.position(f"rope.{name}")[at] for name in names])


def write(solution: Solution, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: table of the ball, pictures of rope and tension, the moving rope, and the run.

    Return the summary numbers.
    """
    write_run(solution, folder)
    tip = solution.position("rope.tip")
    write_table(folder / "tip.csv", {"t_s": solution.times, **{f"{a}_m": tip[:, k] for k, a in enumerate("xyz")}})
    pick = np.linspace(0, len(solution.times) - 1, SHOWN).round().astype(int)
    draw_axes(
        folder / "motion.png", {f"{solution.times[i]:.3g} s": line_of(solution, i) for i in pick}, ("xz",), stacked=True
    )
    tension = solution.mechanism.bodies["rope"].view.stresses["tension"].cells @ solution["rope.stress"].T
    figure = new_figure(6.0, 3.5)
    axes = figure.add_subplot()
    for name, row in (("at the support", tension[0]), ("at the ball", tension[-1])):
        axes.plot(solution.times, row, label=name)
    axes.set(xlabel="t [s]", ylabel="tension [N]")
    axes.legend()
    axes.grid(alpha=0.3)
    figure.savefig(folder / "tension.png")
    return figures(solution)


def checks() -> Iterable[Check]:
    """Checks: conserved quantities at two step sizes, a finer mesh and shorter steps, the order for soft rubber."""
    for step in (0.01, 0.02):
        for name, value in figures(solve(step, 8, 2.0)).items():
            if name.endswith(("_rel", "drift_max_m")):
                yield vanishes(f"step {step} s: {name}", value, 1e-12)
    coarse, fine = (solve(0.01 / k, 8 * k, 1.0).position("rope.tip") for k in (1, FINE))
    apart = np.linalg.norm(coarse - fine[::FINE], axis=1).max() / LENGTH
    source = "3 times the elements and steps"
    yield vanishes("way of the ball over the length, 1 s", apart, 1e-3, source=source, kind="theorem")
    tips = [solve(0.02 / 2**k, 1, 0.5, axial=30.0).position("rope.tip")[-1] for k in range(4)]
    moved = np.linalg.norm(np.diff(tips, axis=0), axis=1)
    yield converges("order in time", np.log2(moved[1] / moved[2]), 0.1)


case = Case(run, write, checks, needs=("matplotlib",), figures=figures)
