"""Scenes of runs and of poses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..drawing.shapes import Shape, box_shape
from ..joints.rows.connection import Connection
from ..joints.rows.signs import PortPlacements
from ..joints.rows.vectors import Ground
from ..mechanisms.mechanism import Mechanism
from ..mechanisms.model.model import Model
from ..mechanisms.model.state import Pose, State, at_rest, flat
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..results.motion import MotionByName
from ..results.solution import Solution
from .arrows import PortPlaces, arrows, spatial
from .at_once import StateDrawing
from .scene import Part, PartKind, Scene, account_of
from .stresses import Rows, over_run, stress_fields
from .surfaces import Surface, surface_of

SIGN = 0.018
"""Size of signs, relative to the size of a mechanism."""
ARROW = 12.0
"""Ratio of the length of the longest arrow to the size of signs."""


@checked
def motion_scene(solution: Solution, *, frames: int = 101, scale: float = 1.0, forces: bool = False) -> Scene:
    """Scene of a run at up to ``frames`` of the saved times, equally spaced, with deformations times ``scale``.

    Bodies are drawn by their :class:`flexph.bodies.View`, joints and force elements by symbols
    (:mod:`flexph.joints.rows.signs`); the stresses of bodies are fields at the points of their surfaces.

    Parameters
    ----------
    solution : Solution
        Run of a mechanism.
    frames : int
        Largest number of times shown.
    scale : float
        Factor of the deformations.
    forces : bool
        True to show weights, and the forces of joints on their first bodies, as arrows.

    Returns
    -------
    Scene
        Surfaces, lines and fields at these times.
    """
    check.count("frames", frames, least=1)
    rows = np.unique(np.linspace(0, len(solution.times) - 1, frames).round().astype(int))
    scene = over_run(scene_at(solution, rows), solution, rows)
    scene = replace(scene, account=account_of(solution.ledger, solution.times))
    if forces:
        parts = arrows(solution, _rows(solution, rows), rows, longest=ARROW * scene.size)
        scene = replace(scene, parts=(*scene.parts, *parts))
    return scene.deformed(scale)


def scene_at(solution: Solution, rows: Array) -> Scene:
    """Scene of a run at the saved times with the indices ``rows``; limits of fields are taken over these times only."""
    scene = scene_of(_rows(solution, rows), np.asarray(solution.times)[rows], "s")
    if not solution.holding.size:
        return scene
    holds = dict(zip((c.name for c in solution.mechanism.connections), solution.holding[rows].T > 0.0, strict=True))
    parts = (part if part.kind == "body" else _only_where(part, holds.get(part.name)) for part in scene.parts)
    return replace(scene, parts=tuple(parts))


def _only_where(part: Part, holds: Array | None) -> Part:
    """Part of a connection that is shrunk to a point at the times at which the connection does not act.

    ``holds`` (k,) is True where it acts; None for a connection that always does.
    """
    if holds is None or holds.all():
        return part
    points = np.repeat(part.points, len(holds), axis=0) if len(part.points) == 1 else part.points.copy()
    points[~holds] = points[~holds].mean(axis=1, keepdims=True)
    return replace(part, points=points)


def _rows(solution: Solution, rows: Array) -> Rows:
    return Rows(solution.mechanism, np.asarray(solution.states[rows]))


@checked
def pose_scene(mechanism: Mechanism, about: Pose | State) -> Scene:
    """Scene of a mechanism at a pose or a state.

    Parameters
    ----------
    mechanism : Mechanism
        The mechanism.
    about : Pose or State
        A pose, or a state with its deformations.

    Returns
    -------
    Scene
        Scene with one time.
    """
    x = about.x if isinstance(about, State) else flat(mechanism, at_rest(mechanism, about.centres, about.rotations))
    time = about.time if isinstance(about, State) else 0.0
    return scene_of(Rows(mechanism, np.asarray(x)[None]), np.array([time]), "s")


def scene_of(motion: Rows, times: Array, unit: str) -> Scene:
    """Scene of the states of a motion at given times, whose unit is ``unit``."""
    return Drawing(motion).scene(motion, times, unit)


class Drawing:
    """Surfaces of bodies and symbols of connections, prepared at the first state of a motion, to draw any states."""

    def __init__(self, motion: Rows) -> None:
        self.mechanism, self.size = motion.mechanism, size_of_signs(motion)
        shown = {name: body for name, body in self.mechanism.bodies.items() if body.view is not None}
        self._surfaces = {name: surface_of(body.view, self.size) for name, body in shown.items() if body.view}
        self._names = list(self._surfaces)
        self._connections = shown_connections(self.mechanism)
        self._ground: list[Part] | None = None
        self._at_once: StateDrawing | None = None

    def scene(self, motion: Rows, times: Array, unit: str = "s", *, scalable: bool = True) -> Scene:
        """Scene of the states of a motion at given times.

        ``scalable``: True to add the deformations of parts, so that they can be enlarged.
        """
        count = len(times)
        if self._at_once is not None and count == 1:
            moving = self._at_once.parts(motion, scalable=scalable)
        else:
            parts = len(self._names) + len(self._connections)
            moving = [self._part(motion, count, number, scalable) for number in range(parts)]
        if self._ground is None:  # the first scene
            self._ground = ground_parts(motion, count, self.size, moving[: len(self._names)])
        elif self._at_once is None and count == 1:
            self._at_once = StateDrawing(motion, self._names, self._connections, self._part)
        dim = self.mechanism.layout.dim
        return Scene(times, (*moving, *self._ground), self.size, dim, unit=unit)

    def _part(self, motion: MotionByName, count: int, number: int, scalable: bool) -> Part:
        """Part with the index ``number`` at ``count`` times: bodies come first, then connections.

        ``scalable`` is that of :meth:`scene`.
        """
        if number < len(self._names):
            name = self._names[number]
            return body_part(motion, name, self.size, self._surfaces[name], scalable=scalable)
        connection = self._connections[number - len(self._names)]
        draw = _connection if scalable else connection_part
        return draw(PortPlaces(motion, count, connection.ports[0]), connection, self.size)


def extent_of(motion: Rows) -> float:
    """Diagonal [m] of the box around all bodies at the first time of a motion."""
    return _diagonal(_ends(motion.first))


def size_of_signs(motion: Rows) -> float:
    """Size of symbols [m], a share of the box around bodies and ports at the first time of a motion."""
    start, places = motion.first, _ends(motion.first)
    for connection in shown_connections(motion.mechanism):
        if not connection.touches:  # planes are unbounded
            ports = PortPlaces(start, 1, connection.ports[0])
            places += [ports.position(port) for port in connection.ports]
    return SIGN * _diagonal(places)


def _ends(start: Rows) -> list[Array]:
    """World positions (n, 3) [m] of the drawn points of each body at the first time of a motion."""
    return [
        spatial(start.points(name, body.view.points, body.view.shape)[0])
        for name, body in start.mechanism.bodies.items()
        if body.view is not None
    ]


def _diagonal(places: list[Array]) -> float:
    """Diagonal [m] of the box around all points of the arrays (n, 3); 1 without points, or if they are all equal."""
    return float(np.linalg.norm(np.ptp(np.vstack(places), axis=0))) or 1.0 if places else 1.0


def shown_connections(mechanism: Model) -> list[Connection]:
    """Joints and force elements that are drawn: all connections except external ports."""
    return [c for c in mechanism.connections if c.signs and (c.rows or not c.is_load)]


def body_part(
    motion: MotionByName, name: str, size: float, surface: Surface | None = None, *, scalable: bool = True
) -> Part:
    """Drawn part of the body ``name`` in a motion: its surface and stresses, and if ``scalable`` its deformation.

    ``surface`` is one that was prepared earlier, if any; ``size`` [m] is that of symbols.
    """
    body = motion.mechanism.bodies[name]
    assert body.view is not None
    surface, dim = surface or surface_of(body.view, size), body.dim
    points = spatial(motion.points(name, surface.points, surface.shape))
    points[..., 2] += surface.heights if dim == 2 else 0.0
    deformation = np.zeros((len(points), 0, 3))
    fields = stress_fields(motion, name)
    if body.size and scalable:
        straight = motion.points(name, surface.points, 0.0 * surface.shape)
        deformation = spatial(motion.points(name, surface.points, surface.shape) - straight)
    return Part(name, "body", points, surface.triangles, deformation=deformation, point_fields=fields)


def connection_part(places: PortPlacements, connection: Connection, size: float) -> Part:
    """Drawn part of a joint or force element, with its symbols of a ``size`` [m]."""
    moving_surfaces = [sign.surface(places, size) for sign in connection.signs]
    starts = np.cumsum([0, *(surface.points.shape[1] for surface in moving_surfaces)])
    triangles = [surface.triangles + start for surface, start in zip(moving_surfaces, starts, strict=False)]
    count = max(len(surface.points) for surface in moving_surfaces)
    points = np.concatenate([np.broadcast_to(s.points, (count, *s.points.shape[1:])) for s in moving_surfaces], axis=1)
    kind: PartKind = "contact" if connection.touches else "joint" if connection.rows else "force"
    return Part(connection.name, kind, points, np.vstack(triangles))


def _connection(places: PortPlaces, connection: Connection, size: float) -> Part:
    """Drawn part of a joint, force element or contact, with the displacement of its symbols by deformations of bodies.

    The displacement is left out for contacts.
    """
    part = connection_part(places, connection, size)
    if part.kind == "contact" or not places.deformed(connection.ports):
        return part
    straight = connection_part(replace(places, undeformed=True), connection, size)
    return replace(part, deformation=part.points - straight.points)


def ground_parts(motion: Rows, count: int, size: float, bodies: Sequence[Part] = ()) -> list[Part]:
    """Part with bearing blocks at the joints with the ground, in a list; the list is empty without such joints.

    The blocks are drawn on the side away from the ``bodies``, judged at the first of ``count`` times.
    """
    dim = motion.mechanism.layout.dim
    places = set()
    for connection in (c for c in motion.mechanism.connections if not c.touches):  # contacts draw the ground
        for port in connection.ports:
            if isinstance(port, Ground):
                at = PortPlaces(motion, count, connection.ports[0]).position(port)[0]
                places.add(tuple(at.tolist()))
    if not places:
        return []
    heights = [float(part.points[..., dim - 1].mean()) for part in bodies]
    middle = float(np.mean(heights)) if heights else np.inf
    standing, hanging = (bearing_block(size, dim, hangs) for hangs in (False, True))
    ends = [(hanging if middle < at[dim - 1] - size else standing).moved(at) for at in sorted(places)]
    triangles = np.vstack([len(standing.points) * k + standing.triangles for k in range(len(ends))])
    return [Part("ground", "ground", np.vstack([shape.points for shape in ends])[None], triangles)]


def bearing_block(size: float, dim: int, hangs: bool) -> Shape:
    """Shape of a bearing block: a plate with a foot that narrows to the pin at the origin.

    The block is below the pin, or above it if ``hangs``.
    """
    edges = np.full(3, 1.5)
    edges[dim - 1] = 1.3
    foot = box_shape(tuple(size * edges)).points.copy()
    foot[foot[:, dim - 1] > 0.0] *= np.where(np.arange(3) == dim - 1, 1.0, 0.5)
    edges = np.full(3, 3.2)
    edges[dim - 1] = 0.5
    plate, triangles = box_shape(tuple(size * edges)).points.copy(), box_shape((1.0, 1.0, 1.0)).triangles
    foot[:, dim - 1] -= 0.85 * size
    plate[:, dim - 1] -= 1.75 * size
    points = np.vstack([foot, plate])
    if hangs:  # turned about a horizontal axis, so that triangles keep their sense
        points *= np.where(np.arange(3) == 3 - dim, 1.0, -1.0)
    return Shape(points, np.vstack([triangles, triangles + len(foot)]))
