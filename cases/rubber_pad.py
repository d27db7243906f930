"""A ball that rolls over a rubber pad, and one at rest on it: faces of a solid that deforms, in contact.

The top of the pad is a skin of triangles between nodes of the solid. At rest the height of the ball follows from the
solid without contact: its weight is shared by the corners of the face below, according to the projection of its centre.
The height is also computed by a damped run and by the equilibrium with contact.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np

import fem
import rigid
from fem.meshes.surface_nodes import SurfacePorts
from flexph import GROUND, Solution, connect, force, integrate, prismatic, weld
from flexph.bodies import Body
from flexph.case import Case, Check, Option
from flexph.contacts import KelvinVoigt, Skin, Sphere, contact
from flexph.export.tables import write_table
from flexph.numerics import checks as check
from flexph.numerics.arrays import Array
from flexph.plot.axes import new_figure
from flexph.results import static_solution

from .checks import at_most, near, vanishes
from .contact_figures import balance, figures, least_taken
from .files import write_run

LENGTH, WIDTH, HEIGHT = 0.2, 0.1, 0.05  # of the pad [m]
RUBBER = fem.Material(young=1e6, density=1100.0, poisson=0.4)
RADIUS, DENSITY, GRAVITY = 0.04, 2000.0, (0.0, 0.0, -9.81)  # of the ball [m], [kg/m³]; [m/s²]
STIFFNESS = 2e5  # of the contact [N/m]
MASS, PLACE = 0.5, (0.11, 0.03)  # of the ball at rest [kg], [m]
PLACED = weld("pad.base", GROUND.at(0.5 * LENGTH, 0.5 * WIDTH, 0.0))  # the port is at the centre of the bottom
STEPS, STATICS = 500, 4  # of the run until the ball rests; passes of the static solution


@dataclass(frozen=True)
class Result:
    """A run of the ball that rolls over the pad."""

    solution: Solution

    @property
    def path(self) -> Array:
        """Positions (k, 3) [m] of the centre of the ball at the saved times."""
        return self.solution["ball.centre"]


def pad(elements: int) -> tuple[Body, SurfacePorts]:
    """Elastic pad with a number of cells along it, held at its base, and the ports and triangles of its top."""
    mesh = fem.box_mesh((LENGTH, WIDTH, HEIGHT), (elements, max(elements // 2, 1), 1))
    top = fem.surface_ports(mesh, "top")
    damping, ports = fem.Damping(stiffness=4e-3), {"base": "bottom", **top.ports}
    return fem.solid(mesh, RUBBER, ports=ports, reference="base", damping=damping), top


def run(
    *,
    elements: Annotated[int, Option("elements along the pad")] = 4,
    speed: Annotated[float, Option("initial speed of the ball", "m/s")] = 0.5,
    end: Annotated[float, Option("end of the run", "s")] = 0.2,
    step: Annotated[float, Option("time step", "s")] = 1e-3,
) -> Result:
    """A ball that rolls over a rubber pad, from face to face."""
    body, top = pad(check.count("elements", elements))
    law = KelvinVoigt(STIFFNESS, damping=50.0, friction=0.5, slip_velocity=1e-3)
    touch = contact(Sphere("ball.centre", RADIUS), Skin(top.of("pad"), top.cells), law, name="touch")
    ball = rigid.sphere(RADIUS, density=DENSITY)
    mechanism = connect({"pad": body, "ball": ball}, [PLACED, touch], gravity=GRAVITY)
    start = mechanism.consistent_state(
        mechanism.assemble({"ball": ((0.04, 0.5 * WIDTH, HEIGHT + RADIUS), np.eye(3))}),
        velocities={"ball": ((check.positive("speed", speed, "m/s"), 0.0, 0.0), (0.0, speed / RADIUS, 0.0))},
    )
    steps = round(check.positive("end", end, "s") / check.positive("step", step, "s"))
    return Result(integrate(mechanism, start, np.linspace(0.0, end, steps + 1)))


def at_rest(elements: int) -> tuple[float, float, float]:
    """Three heights [m] of a guided ball at rest: after a damped run, in equilibrium, by statics of the loaded pad."""
    body, top = pad(elements)
    ball = rigid.body(MASS, inertia=(1e-3,) * 3, ports={"centre": (0.0, 0.0, 0.0)})
    guide = prismatic("ball.centre", GROUND.at(*PLACE, 0.0), direction=(0.0, 0.0, 1.0))
    law, skin = KelvinVoigt(STIFFNESS, damping=100.0), Skin(top.of("pad"), top.cells)
    touch = contact(Sphere("ball.centre", RADIUS), skin, law, name="touch")
    mechanism = connect({"pad": body, "ball": ball}, [PLACED, guide, touch], gravity=GRAVITY)
    pose = mechanism.assemble({"ball": ((*PLACE, HEIGHT + RADIUS), np.eye(3))})
    solution = integrate(mechanism, mechanism.consistent_state(pose), np.linspace(0.0, 1.0, STEPS + 1))
    corners = np.array([solution.position(port)[-1] for port in top.of("pad")])
    centre = solution["ball.centre"][-1]
    cell, shares = face_below(centre, corners, top.cells)
    ports = [top.of("pad")[k] for k in cell]
    balanced = float(mechanism.position(mechanism.equilibrium(pose), "ball.centre")[2])
    return float(centre[2]), balanced, static_height(body, ports, shares, float(centre[2]))


def face_below(centre: Array, corners: Array, cells: Iterable[tuple[int, ...]]) -> tuple[tuple[int, ...], Array]:
    """Corners of the face nearest to the point ``centre`` (3,), and the part of a load there that each corner carries.

    Only faces on which the projection of the point falls count. ``corners`` are positions, ``cells`` the faces.
    """
    inside = []
    for cell in cells:
        a, b, c = corners[list(cell)]
        s, t = np.linalg.lstsq(np.column_stack([b - a, c - a]), centre - a)[0]
        if min(s, t, 1.0 - s - t) > 0.0:
            foot = a + s * (b - a) + t * (c - a)
            inside.append((float(np.linalg.norm(centre - foot)), cell, np.array([1.0 - s - t, s, t])))
    _, cell, shares = min(inside, key=lambda own: own[0])
    return cell, shares


def static_height(body: Body, ports: list[str], shares: Array, height: float) -> float:
    """Height [m] of the ball at rest on a face of the pad by statics, without contact.

    The iteration begins with the height and with the ``shares`` (3,) of the weight at the three ``ports``.
    """
    loads = [force(port, name=f"load {k}") for k, port in enumerate(ports)]
    mechanism = connect({"pad": body}, [PLACED, *loads], gravity=GRAVITY)
    normal, pose = np.array([0.0, 0.0, 1.0]), mechanism.assemble({})
    for _ in range(STATICS):
        pressing = -MASS * GRAVITY[2] / normal[2]
        inputs = {f"load {k}": tuple(-pressing * share * normal) for k, share in enumerate(shares)}
        rest = static_solution(mechanism, mechanism.equilibrium(pose, inputs=inputs))
        a, b, c = (rest.position(port)[-1] for port in ports)
        normal = np.cross(b - a, c - a)
        normal *= np.sign(normal[2]) / np.linalg.norm(normal)
        s, t, _ = np.linalg.solve(np.column_stack([b - a, c - a, normal]), np.array([*PLACE, height]) - a)
        shares = np.array([1.0 - s - t, s, t])
        height = float((a @ normal + RADIUS - pressing / STIFFNESS - np.array(PLACE) @ normal[:2]) / normal[2])
    return height


def write(result: Result, folder: Path) -> dict[str, Any]:
    """Write to ``folder``: path and height of the ball; return summary numbers."""
    solution, t = result.solution, result.solution.times
    write_run(solution, folder)
    x, _, z = result.path.T
    slip = solution["ball.velocity"][:, 0] - RADIUS * solution["ball.spin"][:, 1]
    write_table(folder / "path.csv", {"t_s": t, "x_m": x, "z_m": z, "slip_m_per_s": slip})
    figure = new_figure(7.0, 4.0)
    axes = figure.subplots()
    axes.plot(1e3 * x, 1e3 * (z - HEIGHT - RADIUS))
    axes.set(xlabel="place of the ball [mm]", ylabel="height over the undeformed pad [mm]")
    axes.grid(alpha=0.3)
    figure.savefig(folder / "path.png")
    return {"travel_m": float(x[-1] - x[0]), "slip_end_m_per_s": float(slip[-1])} | figures(solution)


def checks() -> Iterable[Check]:
    """Checks: balance, no energy generated, travel of the rolling ball, and its height at rest against statics."""
    for elements in (4, 6):
        result = run(elements=elements)
        solution, name = result.solution, f"{elements} elements"
        yield vanishes(f"balance, {name}", balance(solution), 1e-12)
        yield vanishes(f"energy given, {name}", least_taken(solution), 1e-13)
        way = float(result.path[-1, 0] - result.path[0, 0])
        yield at_most(f"way, {name} [m]", 0.1, way, source="speed · time, without loss")
        yield at_most(f"lack of way, {name} [m]", 1e-3, 0.1 - way, source="one percent")
        height, balanced, expected = at_rest(elements)
        source = "statics of the pad under loads at corners"
        yield near(f"height at rest, {name} [m]", expected, height, 1e-9, source=source, kind="independent code")
        yield near(
            f"height by equilibrium, {name} [m]", expected, balanced, 1e-9, source=source, kind="independent code"
        )


case = Case(run, write, checks, needs=("matplotlib",))
