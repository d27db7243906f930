"""Two jaws pick a box from a table by friction, lift it and hold it.

Each jaw presses with N, so that friction holds up to 2μN: a box of mass m stays in the jaws while 2μN ≥ m(g + a) with
the acceleration a of the lift. With less than 2μN = mg it stays on the table, which then carries mg − 2μN.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any

import numpy as np

import rigid
from flexph import GROUND, Mechanism, Solution, connect, drive, force, integrate, prismatic
from flexph.case import Case, Check, Option
from flexph.contacts import Box, KelvinVoigt, Plane, contact
from flexph.drawing import box_shape
from flexph.export.tables import write_table
from flexph.numerics import checks as check
from flexph.numerics.arrays import Array
from flexph.plot.axes import new_figure

from .checks import near, vanishes
from .contact_figures import balance, figures
from .files import write_run

MASS, JAW, PALM, GRAVITY, FRICTION = 0.5, 0.2, 1.0, 9.81, 0.6  # [kg], [kg], [kg], [m/s²]
SIZE, PAD, ROUND = (0.06, 0.08, 0.1), (0.02, 0.06, 0.06), 0.002  # of the box and of the jaws [m]
STIFFNESS, DAMPING, TABLE = 2e5, 150.0, 5e4  # [N/m], [N s/m], [N/m] of each corner
CLOSED, LIFTED, HEIGHT = 0.15, 0.55, 0.1  # [s], [s], [m]
ABOVE = 0.15
"""Height of the palm above the jaws [m]."""
X = (1.0, 0.0, 0.0)


def lift(t: float) -> float:
    """Height [m] of the palm above its start at the time t."""
    share = min(max((t - CLOSED) / (LIFTED - CLOSED), 0.0), 1.0)
    return float(0.5 * HEIGHT * (1.0 - np.cos(np.pi * share)))


def acceleration() -> float:
    """Largest acceleration of the lift [m/s²]."""
    return float(0.5 * HEIGHT * (np.pi / (LIFTED - CLOSED)) ** 2)


def limit(lifted: float = 0.0) -> float:
    """Least force of a jaw [N] that holds the box by friction at the upward acceleration ``lifted`` [m/s²]."""
    return MASS * (GRAVITY + lifted) / (2.0 * FRICTION)


def _block(mass: float, size: tuple[float, float, float]) -> Any:
    a, b, c = (x * x for x in size)
    inertia = (mass * (b + c) / 12.0, mass * (a + c) / 12.0, mass * (a + b) / 12.0)
    return rigid.body(mass, inertia=inertia, ports={"own": (0.0, 0.0, 0.0)}, shape=box_shape(size))


def gripper() -> Mechanism:
    """Mechanism of a palm that a drive lifts, two jaws that slide in it, and a box on a table."""
    ports = {"own": (0.0, 0.0, 0.0), "rail": (0.0, 0.0, -ABOVE)}
    palm = rigid.body(PALM, inertia=(1e-3,) * 3, ports=ports, shape=box_shape((0.2, 0.04, 0.03)))
    law = KelvinVoigt(STIFFNESS, damping=DAMPING, friction=FRICTION)
    box = Box("box.own", SIZE, round=ROUND)
    table = KelvinVoigt(TABLE, damping=100.0, friction=FRICTION)
    joints = [
        prismatic("palm.own", GROUND.at(0.0, 0.0, ABOVE), direction=(0.0, 0.0, 1.0)),
        drive("palm.own", GROUND.at(0.0, 0.0, ABOVE), displacement=lift, direction=(0.0, 0.0, 1.0)),
        contact(box, Plane(GROUND.at(0.0, 0.0, -0.5 * SIZE[2]), (0.0, 0.0, 1.0)), table, name="table"),
    ]
    for name in ("left", "right"):
        joints += [
            prismatic(f"{name}.own", "palm.rail", direction=X),
            force(f"{name}.own", name=f"press {name}"),
            contact(box, Box(f"{name}.own", PAD, round=ROUND), law, name=f"{name} grip"),
        ]
    bodies = {"palm": palm, "left": _block(JAW, PAD), "right": _block(JAW, PAD), "box": _block(MASS, SIZE)}
    return connect(bodies, joints, gravity=(0.0, 0.0, -GRAVITY))


def run(
    *,
    press: Annotated[float, Option("force of each jaw", "N")] = 8.0,
    end: Annotated[float, Option("end of the run", "s")] = 0.8,
    step: Annotated[float, Option("time step", "s")] = 1e-3,
) -> Solution:
    """Two jaws that pick a box from a table."""
    check.positive("press", press, "N")
    mechanism, gap = gripper(), 0.5 * (SIZE[0] + PAD[0]) + 1e-4
    depth = MASS * GRAVITY / (4.0 * TABLE)
    places = {"palm": (0.0, 0.0, ABOVE), "left": (-gap, 0.0, 0.0), "right": (gap, 0.0, 0.0), "box": (0.0, 0.0, -depth)}
    start = mechanism.consistent_state(mechanism.assemble({name: (at, np.eye(3)) for name, at in places.items()}))

    def pressing(way: float) -> Any:
        return lambda t: (way * press * min(t / (0.5 * CLOSED), 1.0), 0.0, 0.0)

    steps = round(check.positive("end", end, "s") / check.positive("step", step, "s"))
    inputs = {"press left": pressing(1.0), "press right": pressing(-1.0)}
    return integrate(mechanism, start, np.linspace(0.0, end, steps + 1), inputs=inputs)


def heights(solution: Solution) -> tuple[Array, Array]:
    """Heights (k,) [m] of the palm and of the box above their starts, at the saved times."""
    palm, box = (solution[f"{name}.centre"][:, 2] for name in ("palm", "box"))
    return palm - palm[0], box - box[0]


def mean_force(solution: Solution, name: str, since: float, until: float) -> float:
    """Mean of a force of the ledger [N], such as ``table: normal``, over the steps from ``since`` to ``until`` [s]."""
    selected = (solution.times[:-1] >= since - 1e-9) & (solution.times[1:] <= until + 1e-9)
    return float(solution.ledger.impulses[name][selected].sum() / (until - since))


def write(solution: Solution, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: heights and friction over time; return the summary numbers."""
    palm, box = heights(solution)
    t, grip = solution.times, solution.ledger.impulses["left grip: friction"] / np.diff(solution.times)
    grip = np.append(grip[:1], grip)  # means of the steps up to each time
    write_run(solution, folder)
    write_table(folder / "motion.csv", {"t_s": t, "palm_m": palm, "box_m": box, "friction_N": grip})
    figure = new_figure(7.0, 5.0)
    above, below = figure.subplots(2, 1, sharex=True)
    above.plot(t, palm, "--", label="palm")
    above.plot(t, box, label="box")
    above.set_ylabel("height [m]")
    above.legend(frameon=False)
    below.plot(t, grip)
    below.set(xlabel="t [s]", ylabel="friction of a jaw [N]")
    for axes in (above, below):
        axes.grid(alpha=0.3)
    figure.savefig(folder / "motion.png")
    return {"height_m": float(box[-1]), "slip_m": float(palm[-1] - box[-1])} | figures(solution)


def checks() -> Iterable[Check]:
    """Checks: a large grip force lifts the box, a small one leaves it on the table, and the balance holds."""
    firm = run(press=1.05 * limit(acceleration()))
    palm, box = heights(firm)
    yield near("height, firm [m]", HEIGHT, box[-1], 1e-4, source="height of the palm")  # contacts are elastic
    grip = mean_force(firm, "left grip: friction", 0.6, 0.8)  # anchors vibrate about it
    yield near("friction of a jaw [N]", 0.5 * MASS * GRAVITY, grip, 0.02, source="mg/2")
    yield near("slip, firm [m]", 0.0, np.abs(palm - box).max(), 2e-4, source="2μN ≥ m(g + a)")
    weak = run(press=0.8 * limit())
    yield near("height, weak [m]", 0.0, heights(weak)[1][-1], 1e-4, source="2μN < mg")
    load = mean_force(weak, "table: normal", 0.25, 0.35)  # while the jaws slide up
    yield near("load of the table, weak [N]", 0.2 * MASS * GRAVITY, load, 0.02, source="mg − 2μN")
    for name, solution in (("firm", firm), ("weak", weak)):
        yield vanishes(f"balance, {name}", balance(solution), 1e-12)


case = Case(run, write, checks, needs=("matplotlib",))
