"""Links of robots as rigid bodies, or as beams between two joints."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from scipy import sparse

from ...bodies.body import Body, Port
from ...bodies.fields import View
from ...bodies.inertia import rigid_inertia
from ...numerics.arrays import Array
from .masses import Masses

Flexible = Callable[[float], Body]
"""Function from the length of a link [m] to a body along x with ports ``root`` and ``tip``."""
STRAIGHT = 1e-9
"""Length of a link [m] below which its direction is undefined."""


def rigid_body(masses: Masses, points: Mapping[str, Array], shown: int) -> Body:
    """Rigid body with ports at points; lines are drawn from the centre of mass to the first ``shown`` of them."""
    mass, centre, J = masses
    second = 0.5 * np.trace(J) * np.eye(3) - J
    integrals = rigid_inertia(mass, mass * centre, second + mass * np.outer(centre, centre), np.zeros((3, 3)))
    none = sparse.csr_array((3, 0))
    ends = np.array([centre, *list(points.values())[:shown]])
    lines = np.column_stack([np.zeros(len(ends) - 1, dtype=int), np.arange(1, len(ends))])
    view = View(ends, lines, "line", sparse.csr_array((ends.size, 0)))
    return Body(integrals, {name: Port(point, none, none) for name, point in points.items()}, view=view)


def flexible_body(name: str, points: Mapping[str, Array], make: Flexible) -> tuple[Body, Array]:
    """Body of a flexible link, and the pose (4, 4) of its frame relative to the frame of the link in the file."""
    if len(points) != 1:
        raise ValueError(f"a flexible link must have one joint after it, {name!r} has {len(points)}")
    (along,) = points.values()
    length = float(np.linalg.norm(along))
    if length <= STRAIGHT:
        raise ValueError(f"the joints of the flexible link {name!r} are in one place")
    body = make(length)
    if not isinstance(body, Body) or body.dim != 3 or not {"root", "tip"} <= set(body.ports):
        raise ValueError(f"the body of the flexible link {name!r} must be in space and have the ports root and tip")
    x = along / length
    y = np.cross(np.eye(3)[np.abs(x).argmin()], x)
    y /= np.linalg.norm(y)
    frame = np.eye(4)
    frame[:3, :3] = np.column_stack([x, y, np.cross(x, y)])
    return body, frame
