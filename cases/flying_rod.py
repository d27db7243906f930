"""A free, very flexible rod, set in motion by a force and a torque at one end: it flies off, tumbles and bends.

Source: J. C. Simo, L. Vu-Quoc, On the dynamics in space of rods undergoing large motions – a geometrically exact
approach, Comput. Methods Appl. Mech. Engrg. 66 (1988) 125.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import numpy as np

import fem
from flexph import Mechanism, Solution, ValidityWarning, connect, force, integrate, torque
from flexph.case import Case, Check, Option
from flexph.export.tables import write_table
from flexph.numerics.arrays import Array

from .checks import at_most, converges, near, vanishes
from .files import write_run
from .rods import axis_of, draw_axes, kept, rod_section

LENGTH = 10.0  # [m]
SECTION = rod_section(1e4, 500.0, mass=1.0, inertia=(20.0, 10.0, 10.0))  # EA = GA [N], EI = GJ [N m²], ρA, ρI
START = np.array([6.0, 0.0, 0.0])  # the loaded end [m]; the other one is at (0, 8, 0)
ALONG = np.array([-0.6, 0.8, 0.0])
PULSE = 5.0  # until then the loads act [s]
LOOK = 6.0  # time at which the ends are compared [s]
SHOWN = (0.0, 2.0, 3.0, 4.0, 5.0, 6.0)  # [s]


def triangle(t: float) -> float:
    """Load T at the time t: it rises linearly from 0 to 200 at 2.5 s and falls to 0 at 5 s."""
    return max(0.0, 80.0 * min(t, PULSE - t))


def flying_rod(elements: int, order: int, section: fem.RodSection = SECTION) -> Mechanism:
    """Mechanism of a free rod with a force and a torque in world axes at its root."""
    rod = fem.rod(LENGTH, None, section, elements=elements, order=order)
    return connect({"rod": rod}, [force("rod.root", name="force"), torque("rod.root", name="torque")])


def solve(step: float, elements: int, order: int, *, end: float = 15.0, section: fem.RodSection = SECTION) -> Solution:
    """Run of the free rod from rest under F₁ = T/10 [N], M₂ = T/2 and M₃ = T [N m] at its root.

    T is the load of :func:`triangle`.
    """
    mechanism = flying_rod(elements, order, section)
    axes = np.column_stack([ALONG, np.cross([0.0, 0.0, 1.0], ALONG), [0.0, 0.0, 1.0]])
    start = mechanism.consistent_state(mechanism.assemble({"rod": (START, axes)}))
    loads = {
        "force": lambda t: np.array([0.1 * triangle(t), 0.0, 0.0]),
        "torque": lambda t: np.array([0.0, 0.5 * triangle(t), triangle(t)]),
    }
    return integrate(mechanism, start, np.linspace(0.0, end, max(1, round(end / step)) + 1), inputs=loads)


def run(
    *,
    step: Annotated[float, Option("time step", "s")] = 0.1,
    elements: Annotated[int, Option("elements of the rod")] = 8,
    order: Annotated[int, Option("their order: 1, 2 or 3")] = 2,
    end: Annotated[float, Option("end of the run", "s")] = 15.0,
) -> Solution:
    """A free flexible rod flies and tumbles (Simo, Vu-Quoc): positions of its ends, and conserved quantities."""
    if not 0.0 < step <= end:
        raise ValueError(f"step must be positive and not above end = {end} s, got {step} s")
    return solve(step, elements, order, end=end)


def ends(solution: Solution) -> Array:
    """Positions of the loaded end and of the free end of the rod at the saved time nearest to 6 s, (2, 3) [m]."""
    at = int(np.argmin(np.abs(solution.times - LOOK)))
    return np.array([solution.position(f"rod.{port}")[at] for port in ("root", "tip")])


def write(solution: Solution, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: tables and pictures of the motion, the moving rod for mesh viewers, and the run itself.

    Return the summary numbers.
    """
    write_run(solution, folder)
    columns = {
        f"{port}_{axis}_m": solution.position(f"rod.{port}")[:, k]
        for port in ("root", "tip")
        for k, axis in enumerate("xyz")
    }
    write_table(folder / "ends.csv", {"t_s": solution.times, **columns})
    pick = [int(np.argmin(np.abs(solution.times - t))) for t in SHOWN]
    lines = {f"{solution.times[i]:g} s": axis_of(solution.mechanism, solution.states[i]) for i in pick}
    draw_axes(folder / "motion.png", lines, stacked=True)
    return {
        "ends_m": ends(solution).tolist(),
        **kept(solution, PULSE),
        "energy_J": float(solution.ledger.total_energy[-1]),
        "steps": len(solution.times) - 1,
    }


def checks() -> Iterable[Check]:
    """Checks: conservation at two step sizes, iterations for large extensional stiffnesses, order of convergence."""
    for step in (0.1, 0.5):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ValidityWarning)  # the long step turns by more than a radian
            solution = solve(step, 8, 2)
        numbers = kept(solution, PULSE)
        for name in ("energy_residual_max_rel", "linear_momentum_drift_rel", "angular_momentum_drift_rel"):
            yield vanishes(f"step {step} s: {name}", numbers[name], 1e-12)
        yield vanishes(f"step {step} s: orthogonality_max", numbers["orthogonality_max"], 1e-12)
        impulse = float(solution.linear_momentum()[-1, 0])
        yield near(f"step {step} s: linear momentum [N s]", 50.0, impulse, 1e-9, source="∫F dt = ½ 5 s · 20 N")
    stiff, source = rod_section(1e8, 500.0, mass=1.0, inertia=(20.0, 10.0, 10.0)), "our own prototype"
    for name, section, most in (("iterations a step", SECTION, 4.6), ("iterations a step at 1e8 N", stiff, 5.0)):
        yield at_most(name, most, solve(0.1, 8, 2, section=section).ledger.iterations.mean(), source=source)
    soft = rod_section(100.0, 500.0, mass=1.0, inertia=(20.0, 10.0, 10.0))  # whose vibrations all steps resolve
    tips = [solve(0.1 / 2**k, 1, 2, end=1.0, section=soft).position("rod.tip")[-1] for k in range(4)]
    apart = np.linalg.norm(np.diff(tips, axis=0), axis=1)
    yield converges("order in time", np.log2(apart[1] / apart[2]), 0.1)


case = Case(run, write, checks, needs=("matplotlib",))
