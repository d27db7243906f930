"""The film of the README: ``python docs/_ext/crank_film.py`` writes docs/crank-slider.gif.

A crank and a connecting rod are solids of polyoxymethylene; a flywheel turns the crank at constant speed, a crosshead
compresses a spring. Two turns pass before the one that is shown, so that the film ends as it begins.
"""

from __future__ import annotations

import sys
import time
from itertools import pairwise
from pathlib import Path

import meshio
import numpy as np

import fem
import rigid
from flexph import (
    GROUND,
    Body,
    Mechanism,
    Solution,
    connect,
    drive,
    integrate,
    prismatic,
    revolute,
    spherical,
    spring_damper,
    universal,
    weld,
)
from flexph.bodies import reduce_body
from flexph.drawing import Shape, box_shape, cylinder_shape, merged_shapes
from flexph.numerics.arrays import Array
from flexph.scenes import motion_scene
from flexph.view import write_film

SPEED = 180.0
"""Speed of the crank [rad/s]."""
CRANK, ROD = 0.055, 0.19
"""Lengths between the bores [m]."""
CRANK_AT, BEHIND = 0.0165, 0.042
"""How far crank and flywheel lie behind the rod [m]."""
TURNS, STEPS, FRAMES = 2, 1000, 80
"""Turns before the one that is shown, and steps and frames of a turn."""
PLASTIC = fem.Material(young=2.9e9, density=1410.0, poisson=0.35)
Y, X = (0.0, 1.0, 0.0), (1.0, 0.0, 0.0)
SCALE = 20.0
"""Factor of the deformations in the film."""
FILM = Path(__file__).parents[1] / "crank-slider.gif"


def two_eyes(
    length: float, radii: tuple[float, float], bores: tuple[float, float], *, thick: float, waist: float
) -> meshio.Mesh:
    """A link in the x–z plane with an eye at x = 0 and another at ``length``; its shank narrows by a share."""
    around, across, along, arc = 32, 2, 14, 5
    points: list[tuple[float, float]] = []
    cells: list[list[int]] = []
    outer = []
    for centre, outside, bore, turn in ((0.0, radii[0], bores[0], 0.0), (length, radii[1], bores[1], np.pi)):
        first = len(points)
        angles = turn + 2.0 * np.pi * np.arange(around) / around
        for radius in np.linspace(bore, outside, across + 1):
            points += [(centre + radius * np.cos(angle), radius * np.sin(angle)) for angle in angles]
        rings = first + np.arange((across + 1) * around).reshape(across + 1, around)
        for inside, beyond in pairwise(rings):
            cells += np.column_stack([inside, beyond, np.roll(beyond, -1), np.roll(inside, -1)]).tolist()
        outer.append(rings[-1])
    left = outer[0][np.arange(-arc, arc + 1)]
    right = outer[1][np.arange(arc, -arc - 1, -1)]
    start, end = np.array(points)[left], np.array(points)[right]
    columns = [left]
    for share in np.arange(1, along) / along:
        row = (1.0 - share) * start + share * end
        row[:, 1] *= 1.0 - waist * 4.0 * share * (1.0 - share)
        columns.append(len(points) + np.arange(len(row)))
        points += [tuple(point) for point in row]
    for a, b in pairwise([*columns, right]):
        cells += np.column_stack([a[:-1], b[:-1], b[1:], a[1:]]).tolist()
    return _thickened(np.array(points), np.array(cells), thick)


def _thickened(points: Array, cells: Array, thick: float, layers: int = 2) -> meshio.Mesh:
    """Quadrilaterals of the x–z plane as hexahedra, so many over the thickness."""
    heights = thick * (0.5 - np.arange(layers + 1) / layers)
    places = np.concatenate([np.column_stack([points[:, 0], np.full(len(points), y), points[:, 1]]) for y in heights])
    count = len(points)
    bricks = np.concatenate([np.hstack([cells + k * count, cells + (k + 1) * count]) for k in range(layers)])
    return meshio.Mesh(places, [("hexahedron", bricks)])


def link(length: float, radii: tuple[float, float], bores: tuple[float, float], **form: float) -> Body:
    """A link of plastic as a reduced solid, with rigid bores ``first`` and ``second``."""
    near = lambda x0, bore: lambda x: np.hypot(x[0] - x0, x[2]) < 1.001 * bore  # noqa: E731
    first, second = near(0.0, bores[0]), near(length, bores[1])
    ports = {"first": fem.Tie(first, "rigid"), "second": fem.Tie(second, "rigid")}
    ports |= {"ends": fem.Tie(lambda x: first(x) | second(x), "mean")}
    mesh, damping = two_eyes(length, radii, bores, **form), fem.Damping(stiffness=4e-5)
    solid = fem.solid(mesh, PLASTIC, ports=ports, reference="ends", damping=damping)
    return reduce_body(solid, modes=6, static=("first", "second"), inertia=True)


def ring(inner: float, outer: float, width: float, segments: int = 72) -> Shape:
    """A ring about y, rounder than :func:`flexph.drawing.cylinder_shape`."""
    angle = 2.0 * np.pi * np.arange(segments) / segments
    profile = [(inner, -width), (outer, -width), (outer, width), (inner, width)]
    points = [np.column_stack([r * np.cos(angle), np.full(segments, 0.5 * y), r * np.sin(angle)]) for r, y in profile]
    first, second = np.arange(segments), np.roll(np.arange(segments), -1)
    sides = [(segments * k, segments * ((k + 1) % 4)) for k in range(4)]
    triangles = [[a + first, b + first, b + second, a + first, b + second, a + second] for a, b in sides]
    return Shape(np.vstack(points), np.concatenate([np.stack(t, axis=-1).reshape(-1, 3) for t in triangles]))


def flywheel() -> Body:
    """A wheel with a rim, four spokes and a shaft."""
    rim = ring(0.07, 0.085, 0.018)
    hub = cylinder_shape(0.022, 0.02, axis=Y)
    spokes = [box_shape((0.142, 0.008, 0.012)), box_shape((0.012, 0.008, 0.142))]
    shaft = cylinder_shape(2.0 * BEHIND + 0.02, 0.0079, axis=Y)
    ports = {"axle": (0.0, 0.0, 0.0), "crank": (0.0, CRANK_AT - BEHIND, 0.0)}
    return rigid.body(1.2, inertia=(3e-3, 6e-3, 3e-3), ports=ports, shape=merged_shapes([rim, hub, *spokes, shaft]))


def crank_pin() -> Body:
    """The pin at the end of the crank, about which the rod turns."""
    shape = cylinder_shape(0.04, 0.0089, axis=Y, centre=(0.0, -0.008, 0.0))
    ports = {"eye": (0.0, 0.0, 0.0), "rod": (0.0, -CRANK_AT, 0.0)}
    return rigid.body(0.02, inertia=(2e-6, 1e-6, 2e-6), ports=ports, shape=shape)


def crosshead() -> Body:
    """A fork about the small eye, with a pin through it and a piston."""
    cheeks = [box_shape((0.05, 0.005, 0.03), centre=(0.014, side * 0.0125, 0.0)) for side in (-1.0, 1.0)]
    pin = cylinder_shape(0.034, 0.0074, axis=Y)
    piston = cylinder_shape(0.03, 0.028, axis=X, centre=(0.054, 0.0, 0.0))
    ports = {"pin": (0.0, 0.0, 0.0), "head": (0.069, 0.0, 0.0)}
    return rigid.body(0.12, inertia=(5e-5,) * 3, ports=ports, shape=merged_shapes([*cheeks, pin, piston]))


def mechanism() -> Mechanism:
    """Flywheel, crank, rod and crosshead, before a spring."""
    bodies = {
        "flywheel": flywheel(),
        "crank": link(CRANK, (0.024, 0.019), (0.008, 0.009), thick=0.018, waist=0.0),
        "pin": crank_pin(),
        "rod": link(ROD, (0.019, 0.0145), (0.009, 0.0075), thick=0.011, waist=0.55),
        "crosshead": crosshead(),
    }
    end = GROUND.at(CRANK + ROD + 0.15, 0.0, 0.0)
    joints = [
        revolute("flywheel.axle", GROUND.at(0.0, BEHIND, 0.0), axis=Y),
        drive("flywheel.axle", GROUND, angle=lambda t: SPEED * t, axis=Y),
        weld("crank.first", "flywheel.crank"),
        weld("pin.eye", "crank.second"),
        spherical("rod.first", "pin.rod"),
        universal("rod.second", "crosshead.pin", axis=Y, second_axis=(0.0, 0.0, 1.0)),
        prismatic("crosshead.pin", GROUND.at(CRANK + ROD, 0.0, 0.0), direction=X),
        spring_damper("crosshead.head", end, stiffness=900.0, damping=1.0, length=0.16),
    ]
    return connect(bodies, joints)


def turn() -> Solution:
    """The third turn of the crank, from which all of the start is gone."""
    own, period = mechanism(), 2.0 * np.pi / SPEED
    at = lambda x, y: ((x, y, 0.0), np.eye(3))  # noqa: E731
    guess = {"crank": at(0.0, CRANK_AT), "pin": at(CRANK, CRANK_AT)}
    guess |= {"rod": at(CRANK, 0.0), "crosshead": at(CRANK + ROD, 0.0)}
    pose = own.assemble({"flywheel": at(0.0, BEHIND)}, guess=guess)
    start = own.consistent_state(pose, elastic="quasi_static")
    settled = integrate(own, start, np.linspace(0.0, TURNS * period, TURNS * STEPS + 1))
    times = np.linspace(TURNS * period, (TURNS + 1) * period, STEPS + 1)
    return integrate(own, settled.final, times)


def film(path: Path) -> Path:
    """Write the film of a turn, from its first frame to the one before it begins again."""
    scene = motion_scene(turn(), frames=FRAMES + 1)
    return write_film(
        path,
        scene.picked(range(FRAMES)),
        scale=SCALE,
        frames=FRAMES,
        rate=25.0,
        account=True,
        towards=(0.35, -1.0, 0.42),
        title="Crank-slider of plastic at 1720 rpm",
    )


if __name__ == "__main__":
    started = time.perf_counter()
    written = film(Path(sys.argv[1]) if len(sys.argv) > 1 else FILM)
    print(f"{written}: {written.stat().st_size / 1e6:.2f} MB in {time.perf_counter() - started:.1f} s")
