"""Newton's cradle: five balls in a row, struck by the first one, with Hertz's law or Newton's.

Rigid balls in contact follow Newton's law of restitution for all contacts at once; with gaps between them, however
small, the impacts are successive and each ball passes its velocity to the next one. Elastic balls (Hertz) in contact
follow neither law: the last ball receives nearly all of the velocity.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

import rigid
from flexph import Mechanism, Solution, connect, integrate
from flexph.case import Case, Check, Option
from flexph.contacts import Hertz, Rigid, Sphere, contact
from flexph.drawing import cylinder_shape
from flexph.export.tables import write_table
from flexph.numerics import checks as check
from flexph.plot.axes import new_figure

from .checks import near, vanishes
from .contact_figures import balance, figures
from .files import write_run

RADIUS, BALLS, AHEAD = 0.05, 5, 1e-3  # [m]; gap before the first impact [m]
STIFFNESS = 1e7  # K of Hertz's law [N/m^{3/2}]
NAMES = [f"ball{i + 1}" for i in range(BALLS)]
Law = Literal["compliant", "rigid"]
HERTZ = (-0.0711, -0.0303, -0.0145, 0.1271, 0.9888)  # independent integration of the five equations of motion
NEWTON = (-0.6, 0.4, 0.4, 0.4, 0.4)


def cradle(law: Law) -> Mechanism:
    """Mechanism of five discs of 1 kg in a row with contacts; the length of their strings is irrelevant here."""
    disc = cylinder_shape(0.5 * RADIUS, RADIUS, axis=(0.0, 0.0, 1.0))
    ball = rigid.body(1.0, inertia=0.4 * RADIUS**2, ports={"centre": (0.0, 0.0)}, shape=disc)
    touch = Hertz(STIFFNESS) if law == "compliant" else Rigid(restitution=1.0)
    spheres = [Sphere(f"{name}.centre", RADIUS) for name in NAMES]
    pairs = pairwise(spheres)
    return connect(
        dict.fromkeys(NAMES, ball), [contact(*pair, touch, name=f"touch {i + 1}") for i, pair in enumerate(pairs)]
    )


def run(
    *,
    law: Annotated[Law, Option("elastic balls of Hertz, or rigid ones of Newton")] = "compliant",
    gap: Annotated[float, Option("gap between the balls that rest", "m")] = 0.0,
    step: Annotated[float, Option("time step", "s")] = 5e-5,
    end: Annotated[float, Option("end of the run", "s")] = 0.02,
) -> Solution:
    """Newton's cradle of five balls, compliant (Hertz) or rigid (Newton's restitution e = 1)."""
    mechanism = cradle(law)
    apart = 2.0 * RADIUS + check.not_negative("gap", gap, "m")
    places = {name: (i * apart - (AHEAD if i == 0 else 0.0), 0.0, 0.0) for i, name in enumerate(NAMES)}
    start = mechanism.consistent_state(mechanism.assemble(guess=places), velocities={NAMES[0]: (1.0, 0.0, 0.0)})
    count = math.ceil(check.positive("end", end, "s") / check.positive("step", step, "s") - 1e-9)
    return integrate(mechanism, start, np.linspace(0.0, count * step, count + 1))


def velocities_out(solution: Solution) -> list[float]:
    """Velocities of the five balls at the end of the run [m/s]; the first ball starts at 1 m/s."""
    return [float(solution[f"{name}.velocity"][-1, 0]) for name in NAMES]


def write(solution: Solution, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: velocities over time; return the summary numbers."""
    write_run(solution, folder)
    speeds = {f"{name}_m_s": solution[f"{name}.velocity"][:, 0] for name in NAMES}
    write_table(folder / "motion.csv", {"t_s": solution.times} | speeds)
    figure = new_figure(7.0, 4.0)
    axes = figure.subplots()
    for name in NAMES:
        axes.plot(1e3 * solution.times, solution[f"{name}.velocity"][:, 0], linewidth=1.2, label=name)
    axes.set(xlabel="t [ms]", ylabel="velocity [m/s]")
    axes.legend(frameon=False)
    axes.grid(alpha=0.3)
    figure.savefig(folder / "velocities.png")
    return {"velocities_out": velocities_out(solution)} | figures(solution)


def checks() -> Iterable[Check]:
    """Checks: velocities of all balls after the impact, by Hertz's law and by Newton's without and with gaps.

    References are the integrated equations of motion, and Newton's law of restitution.
    """
    elastic = run(step=2e-5)
    for name, reference, value in zip(NAMES, HERTZ, velocities_out(elastic), strict=True):
        yield near(
            f"Hertz, {name} [m/s]", reference, value, 2e-4, source="equations of motion", kind="independent code"
        )
    yield vanishes("balance, Hertz", balance(elastic), 1e-13)
    for gap, references in ((0.0, NEWTON), (1e-4, (0.0, 0.0, 0.0, 0.0, 1.0))):
        solid = run(law="rigid", gap=gap, step=1e-3)
        for name, reference, value in zip(NAMES, references, velocities_out(solid), strict=True):
            yield near(f"Newton, gap {gap:g} m, {name} [m/s]", reference, value, 1e-12, source="Newton's law")


case = Case(run, write, checks, needs=("matplotlib",))
