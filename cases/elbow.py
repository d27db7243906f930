"""A right-angled cantilever excited by a pulse out of its plane at the elbow.

Source: J. C. Simo, L. Vu-Quoc, On the dynamics in space of rods undergoing large motions – a geometrically exact
approach, Comput. Methods Appl. Mech. Engrg. 66 (1988) 125.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import numpy as np

import fem
from flexph import GROUND, Mechanism, Solution, connect, force, integrate, weld
from flexph.case import Case, Check, Option
from flexph.export.tables import write_table
from flexph.plot.axes import new_figure

from .checks import near, vanishes
from .files import write_run
from .rods import kept, rod_section

ARM = 10.0  # [m], of each of both
SECTION = rod_section(1e6, 1e3, mass=1.0, inertia=(20.0, 10.0, 10.0))  # EA = GA [N], EI = GJ [N m²], ρA, ρI
TURNED = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])  # axes of the second arm


def pulse(t: float) -> float:
    """Force at the elbow [N] at the time t: it rises linearly to 50 N at 1 s and falls to zero at 2 s."""
    return max(0.0, 50.0 * min(t, 2.0 - t))


def elbow(elements: int, order: int) -> Mechanism:
    """Mechanism of two arms at a right angle, the first clamped to the ground and the second to the first."""
    arm = fem.rod(ARM, None, SECTION, elements=elements, order=order)
    joints = [weld("first.root", GROUND.at(0.0, 0.0, 0.0)), weld("second.root", "first.tip")]
    return connect({"first": arm, "second": arm}, [*joints, force("first.tip", name="pulse")])


def solve(step: float, elements: int, order: int, end: float) -> Solution:
    """Run from rest under the pulse at the elbow, up to the time ``end`` [s]."""
    mechanism = elbow(elements, order)
    pose = mechanism.assemble({"first": ((0.0, 0.0, 0.0), np.eye(3)), "second": ((ARM, 0.0, 0.0), TURNED)})
    times = np.linspace(0.0, end, max(1, round(end / step)) + 1)
    loads = {"pulse": lambda t: np.array([0.0, 0.0, pulse(t)])}
    return integrate(mechanism, mechanism.consistent_state(pose), times, inputs=loads)


def run(
    *,
    step: Annotated[float, Option("time step", "s")] = 0.025,
    elements: Annotated[int, Option("elements of each arm")] = 4,
    order: Annotated[int, Option("their order: 1, 2 or 3")] = 2,
    end: Annotated[float, Option("end of the run", "s")] = 30.0,
) -> Solution:
    """A right-angle cantilever swings out of its plane (Simo, Vu-Quoc): largest displacements of its free end."""
    if not 0.0 < step <= end:
        raise ValueError(f"step must be positive and not above end = {end} s, got {step} s")
    return solve(step, elements, order, end)


def figures(solution: Solution) -> dict[str, Any]:
    """Summary numbers: largest and smallest displacement of the free end along the force, and their times."""
    tip, times = solution.position("second.tip")[:, 2], solution.times
    return {
        "tip_max_m": float(tip.max()),
        "tip_max_at_s": float(times[tip.argmax()]),
        "tip_min_m": float(tip.min()),
        "tip_min_at_s": float(times[tip.argmin()]),
        **{k: v for k, v in kept(solution).items() if "momentum" not in k},
    }


def write(solution: Solution, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: table and picture of the displacements, the moving rods, and the run itself.

    Return the summary numbers.
    """
    write_run(solution, folder)
    ends = {"tip": "second.tip", "elbow": "first.tip"}
    moved = {f"{name}_z_m": solution.position(port)[:, 2] for name, port in ends.items()}
    write_table(folder / "displacements.csv", {"t_s": solution.times, **moved})
    figure = new_figure(8.0, 4.0)
    axes = figure.add_subplot()
    for name, port in ends.items():
        axes.plot(solution.times, solution.position(port)[:, 2], label=name)
    axes.set(xlabel="t [s]", ylabel="displacement out of the plane [m]")
    axes.legend()
    axes.grid(alpha=0.3)
    figure.savefig(folder / "displacements.png")
    return figures(solution)


def checks() -> Iterable[Check]:
    """Checks: displacements of the free end against an independent prototype and an independent derivation.

    The elements have order 2, with 17 nodes; steps have 0.025 s. The meshes of Simo and Vu-Quoc are too coarse, and
    their printed curves not precise enough, for a comparison.
    """
    computed = figures(solve(0.025, 4, 2, 30.0))
    for name, reference in (("tip_max_m", 8.229), ("tip_min_m", -9.707)):
        bound = 0.01 * abs(reference)
        yield near(name, reference, computed[name], bound, source="our own prototype", kind="independent code")
    yield vanishes("step balance", computed["energy_residual_max_rel"], 1e-12)
    yield vanishes("joint drift [m]", computed["joint_drift_max_m"], 1e-12)
    yield vanishes("orthogonality", computed["orthogonality_max"], 1e-12)


case = Case(run, write, checks, needs=("matplotlib",), figures=figures)
