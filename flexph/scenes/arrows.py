"""Arrows for weights, joint forces and contact forces, and marks at closed contacts."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..bodies.body import Body
from ..drawing.shapes import axes_along, sphere_shape
from ..joints.rows.signs import arrow
from ..numerics.arrays import Array
from ..results.contact_history import contact_points
from ..results.motion import MotionByName
from ..results.solution import Solution
from ..sensors.contacts import gaps_of
from .places import PortPlaces, spatial
from .scene import Part

MOST = 40
"""Largest number of joints and bodies with drawn forces."""
PARALLEL = 0.999
"""Length of the mean of unit normals above which they count as parallel."""
GAPS = 400
"""Largest number of gaps of a drawn contact."""
ROUND = 40.0
"""Ratio of the length of the longest arrow to the radius of the balls at closed contacts."""
SLIGHT = 1e-9
"""Share of the largest force below which forces are not drawn."""


class Pull(NamedTuple):
    """Force (k, 3) [N] at places (k, 3) [m] with a name; its arrow starts at the place, or ends there if ``ends``.

    ``undeformed``: the places without the deformation of the body.
    """

    name: str
    places: Array
    force: Array
    ends: bool = False
    undeformed: Array | None = None


def arrows(solution: Solution, motion: MotionByName, rows: Array, *, longest: float) -> list[Part]:
    """Arrows of joints, contacts and weights at saved times, and balls at closed contacts.

    The longest arrow of each kind is ``longest`` [m].
    """
    return [
        part
        for own in (_reactions(solution, motion, rows), _contacts(solution, rows), _weights(motion, len(rows)))
        for part in _drawn(own, longest)
    ] + _points(solution, rows, radius=longest / ROUND)


def _drawn(pulls: list[Pull], longest: float) -> list[Part]:
    largest = max([float(np.linalg.norm(pull.force, axis=1).max()) for pull in pulls], default=0.0)
    if not largest > 0.0:
        return []
    shape, parts = arrow(), []
    for name, places, force, ends, undeformed in pulls:
        size = np.linalg.norm(force, axis=1)
        axes = np.array(
            [axes_along(f) if s > SLIGHT * largest else np.zeros((3, 3)) for f, s in zip(force, size, strict=True)]
        )
        reach = (longest * size / largest)[:, None, None] * (shape.points - [float(ends), 0.0, 0.0])
        points = places[:, None] + np.einsum("kij,kpj->kpi", axes, reach)
        part = Part(f"{name}, at most {size.max():.3g} N", "arrow", points, shape.triangles)
        moved = None if undeformed is None else np.repeat((places - undeformed)[:, None], len(shape.points), axis=1)
        parts.append(part if moved is None or not moved.any() else replace(part, deformation=moved))
    return parts


def _reactions(solution: Solution, motion: MotionByName, rows: Array) -> list[Pull]:
    """Forces of joints on their first bodies, each of the step before a time (at the start, after it)."""
    joints = [c for c in solution.mechanism.connections if c.rows][:MOST]
    if not joints or not len(solution.multiplier_times):
        return []
    steps = np.maximum(rows - 1, 0)
    ends = np.concatenate([[0], steps + 1])
    run = replace(
        solution,
        times=solution.times[ends],
        states=solution.states[ends],
        multiplier_times=solution.multiplier_times[steps],
        multipliers=solution.multipliers[steps],
    )
    pulls = []
    for joint in joints:
        port, force = joint.ports[0], spatial(run.reaction(joint.name).force)
        places = PortPlaces(motion, len(rows), port)
        undeformed = replace(places, undeformed=True).position(port) if places.deformed([port]) else None
        pulls.append(Pull(f"force of {joint.name}", places.position(port), force, undeformed=undeformed))
    return pulls


def _contacts(solution: Solution, rows: Array) -> list[Pull]:
    """Resultant normal forces of contacts on their first shapes, each the mean over the step before a time.

    Contacts with closed gaps of different normals are left out.
    """
    pulls = []
    for name in _touching(solution):
        if not len(solution.multiplier_times):
            break
        at = contact_points(solution.mechanism, name, solution.states[rows])
        size = solution.ledger.impulses[f"{name}: normal"] / np.diff(solution.times)
        nearest = np.arange(at.gap.shape[1]) == at.gap.argmin(axis=1)[:, None]
        closed = np.where(at.touches.any(axis=1, keepdims=True), at.touches, nearest)[:, :, None]
        place, normal = ((closed * values).sum(axis=1) / closed.sum(axis=1) for values in (at.place, at.normal))
        if (np.linalg.norm(normal, axis=1) > PARALLEL).all():
            force = size[np.maximum(rows - 1, 0)][:, None] * normal
            pulls.append(Pull(f"normal force of {name}", spatial(place), spatial(force), ends=True))
    return pulls


def _points(solution: Solution, rows: Array, *, radius: float) -> list[Part]:
    """Balls at closed gaps, one part for each contact."""
    ball, parts = sphere_shape(radius), []
    for name in _touching(solution):
        at = contact_points(solution.mechanism, name, solution.states[rows])
        if not at.touches.any() or at.gap.shape[1] > MOST:
            continue
        shown = at.touches[:, :, None, None] * ball.points  # shrunk to a point at open gaps
        points = (spatial(at.place)[:, :, None] + shown).reshape(len(rows), -1, 3)
        count = at.gap.shape[1]
        triangles = np.vstack([len(ball.points) * k + ball.triangles for k in range(count)])
        parts.append(Part(f"points of {name}", "arrow", points, triangles))
    return parts


def _touching(solution: Solution) -> list[str]:
    """Names of the contacts between shapes with few gaps; stops of joints, which have no place, are left out."""
    mechanism = solution.mechanism
    placed = (c for c in mechanism.connections if c.touches and all(gap.sides is not None for gap in c.form.gaps))
    return [c.name for c in placed if gaps_of(mechanism, c.name).number <= GAPS][:MOST]


def _weights(motion: MotionByName, count: int) -> list[Pull]:
    """Weights of the bodies at their centres of mass; for nodal bodies at the mean of the node centres."""
    mechanism = motion.mechanism
    gravity, dim = spatial(np.array(mechanism.gravity, dtype=float)), mechanism.layout.dim
    pulls = []
    for name, body in list(mechanism.bodies.items())[:MOST]:
        centres = motion[f"{name}.centre"].reshape(count, -1, dim).mean(axis=1)
        undeformed = None
        if isinstance(body, Body) and body.size:
            undeformed = spatial(motion.points(name, body.inertia.centre[None], np.zeros((dim, body.size)))[:, 0])
        force = np.tile(body.mass * gravity, (count, 1))
        pulls.append(Pull(f"weight of {name}", spatial(centres), force, undeformed=undeformed))
    return pulls
