"""Positions of ports over a motion; arrows for weights, joint forces and contact forces; marks at closed contacts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..bodies.body import Body, Port
from ..bodies.nodal_body import AnyBody, FramedBody, NodalBody
from ..bodies.ports import find_place
from ..bodies.split_body import SplitBody
from ..drawing.shapes import axes_along, sphere_shape
from ..joints.rows.signs import arrow
from ..joints.rows.vectors import Ground, PortName
from ..mechanisms.model.model import Model
from ..numerics.arrays import Array
from ..numerics.rotations import spins
from ..results.contact_history import contact_points
from ..results.motion import MotionByName
from ..results.solution import Solution
from ..sensors.contacts import gaps_of
from .scene import Part


def spatial(vectors: Array) -> Array:
    """Vectors (…, d) of the plane or of space as vectors (…, 3), padded with zeros."""
    if vectors.shape[-1] == 3:
        return vectors
    padded = np.zeros((*vectors.shape[:-1], 3))
    padded[..., : vectors.shape[-1]] = vectors
    return padded


def axes_from(x: Array, y: Array) -> Array:
    """Orthonormal axes as columns (k, 3, 3), the first along x (k, 3), the third perpendicular to x and y (k, 3)."""
    x = x / np.linalg.norm(x, axis=1, keepdims=True)
    z = _cross(x, y)
    z /= np.linalg.norm(z, axis=1, keepdims=True)
    return np.stack([x, _cross(z, x), z], axis=-1)


def _cross(a: Array, b: Array) -> Array:
    """Cross products of vectors (k, 3); for few vectors five times as fast as ``np.cross``."""
    first, second = [1, 2, 0], [2, 0, 1]
    return np.asarray(a[:, first] * b[:, second] - a[:, second] * b[:, first])


@dataclass(frozen=True, eq=False)
class PortPlaces:
    """World positions and section axes of the ports of a mechanism at the k times of a motion, for pictures.

    A ground point without a position is at the first position of the port ``anchor``. ``undeformed``: True to leave out
    the deformation of bodies with a floating frame.
    """

    motion: MotionByName
    times: int
    anchor: PortName | None = None
    undeformed: bool = False

    @property
    def mechanism(self) -> Model:
        """Mechanism whose ports these are."""
        return self.motion.mechanism

    def position(self, port: PortName) -> Array:
        """World positions (k, 3) of a port or ground point [m]."""
        if isinstance(port, Ground):
            return np.broadcast_to(self._of_ground(port), (self.times, 3))
        body, at = self._owner(port)
        if isinstance(body, FramedBody):
            places = spatial(self.motion.position(port)).reshape(-1, 3)
        else:
            name = port.partition(".")[0]
            places = spatial(self.motion.points(name, at.position[None], at.shape)[..., 0, :]).reshape(-1, 3)
        return places - self._deflection(port) if self.undeformed and self.deformed([port]) else places

    def _deflection(self, port: str) -> Array:
        """Displacement (k, 3) [m] of a port due to the deformation of its body, in world axes."""
        (body, at), (name, _, port_name) = self._owner(port), port.partition(".")
        rotations = self.motion.rotations(name)
        if isinstance(body, SplitBody):
            at, rotations = body.ports[port_name], rotations[..., body.node_of(port_name), :, :]
        local = np.asarray((at.shape @ self.motion.deformation(name).reshape(self.times, -1).T).T)
        return spatial(np.einsum("kij,kj->ki", rotations.reshape(self.times, *rotations.shape[-2:]), local))

    def axes(self, port: PortName) -> Array:
        """Axes of the section at a port as columns (k, 3, 3) at k times; those of the world for a ground point.

        The axes of the body are turned by the rotation vector ψu of its deformation and made orthonormal.
        """
        if isinstance(port, Ground):
            return np.broadcast_to(np.eye(3), (self.times, 3, 3))
        (body, at), dim, name = self._owner(port), self.mechanism.layout.dim, port.partition(".")[0]
        axes, turned = np.tile(np.eye(3), (self.times, 1, 1)), self.motion.rotations(name)
        if isinstance(body, NodalBody):
            axes[:, :dim, :dim] = turned.reshape(-1, len(body.frames), dim, dim)[
                :, body.node_of(port.partition(".")[2])
            ]
            return axes
        if isinstance(body, SplitBody):
            name_of_port = port.partition(".")[2]
            turned, at = turned[..., body.node_of(name_of_port), :, :], body.ports[name_of_port]
        axes[:, :dim, :dim] = turned
        if at.rotation is None or not body.size or self.undeformed:
            return axes
        psi = np.zeros((self.times, 3))
        turned = np.asarray((at.rotation @ self.motion.deformation(name).reshape(self.times, -1).T).T)
        psi[:, 3 - spins(dim) :] = turned
        turned = (axes @ psi[:, :, None])[..., 0]
        x = axes[:, :, 0] + _cross(turned, axes[:, :, 0])
        y = axes[:, :, 1] + _cross(turned, axes[:, :, 1])
        return axes_from(x, y)

    def deformed(self, ports: Sequence[PortName]) -> bool:
        """True if one of the ports is on a body that deforms relative to a floating frame."""
        owners = (self._owner(port)[0] for port in ports if not isinstance(port, Ground))
        return any(body.size and not isinstance(body, NodalBody) for body in owners)

    def _owner(self, port: str) -> tuple[AnyBody, Port]:
        """Body to which a port ``body.port`` belongs, and the port."""
        return self.mechanism.bodies[port.partition(".")[0]], find_place(port, self.mechanism.bodies)[1]

    def _of_ground(self, ground: Ground) -> Array:
        if ground.position is not None:
            return spatial(np.array(ground.position))
        deformed = replace(self, undeformed=False)  # the ground does not depend on the scale of deformations
        return np.zeros(3) if self.anchor is None else deformed.position(self.anchor)[0]


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


class ForceArrow(NamedTuple):
    """Force (k, 3) [N] to be drawn as an arrow at positions (k, 3) [m], with its name.

    The arrow starts at the position, or ends there if ``ends`` is True. ``undeformed`` are positions (k, 3) without the
    deformation of the body.
    """

    name: str
    places: Array
    force: Array
    ends: bool = False
    undeformed: Array | None = None


def arrows(solution: Solution, motion: MotionByName, rows: Array, *, longest: float) -> list[Part]:
    """Arrows of the forces of joints, of contacts and of weights in a run, and balls at its closed contacts.

    They are at the saved times with the indices ``rows``. The longest arrow of each kind is ``longest`` [m].
    """
    return [
        part
        for force_arrows in (_reactions(solution, motion, rows), _contacts(solution, rows), _weights(motion, len(rows)))
        for part in _drawn(force_arrows, longest)
    ] + _points(solution, rows, radius=longest / ROUND)


def _drawn(pulls: list[ForceArrow], longest: float) -> list[Part]:
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


def _reactions(solution: Solution, motion: MotionByName, rows: Array) -> list[ForceArrow]:
    """Forces of joints on their first bodies at the saved times ``rows``, each the mean over the step before.

    At the start of the run the force is the mean over the first step.
    """
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
        pulls.append(ForceArrow(f"force of {joint.name}", places.position(port), force, undeformed=undeformed))
    return pulls


def _contacts(solution: Solution, rows: Array) -> list[ForceArrow]:
    """Normal forces of contacts on their first shapes at the saved times ``rows``, each the mean over the step before.

    A force is the resultant of all gaps of a contact; contacts whose closed gaps have different normals are left out.
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
            pulls.append(ForceArrow(f"normal force of {name}", spatial(place), spatial(force), ends=True))
    return pulls


def _points(solution: Solution, rows: Array, *, radius: float) -> list[Part]:
    """Balls of a radius [m] at the closed gaps of each contact, at the saved times ``rows``."""
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
    """Names of the contacts to be drawn: those between shapes, with few gaps.

    Stops of joints are left out, as they have no position.
    """
    mechanism = solution.mechanism
    placed = (c for c in mechanism.connections if c.touches and all(gap.sides is not None for gap in c.form.gaps))
    return [c.name for c in placed if gaps_of(mechanism, c.name).number <= GAPS][:MOST]


def _weights(motion: MotionByName, count: int) -> list[ForceArrow]:
    """Weights of all bodies at their centres of mass, or for nodal bodies at the mean of the node centres.

    ``count`` is the number of times of the motion.
    """
    mechanism = motion.mechanism
    gravity, dim = spatial(np.array(mechanism.gravity, dtype=float)), mechanism.layout.dim
    pulls = []
    for name, body in list(mechanism.bodies.items())[:MOST]:
        centres = motion[f"{name}.centre"].reshape(count, -1, dim).mean(axis=1)
        undeformed = None
        if isinstance(body, Body) and body.size:
            undeformed = spatial(motion.points(name, body.inertia.centre[None], np.zeros((dim, body.size)))[:, 0])
        force = np.tile(body.mass * gravity, (count, 1))
        pulls.append(ForceArrow(f"weight of {name}", spatial(centres), force, undeformed=undeformed))
    return pulls
