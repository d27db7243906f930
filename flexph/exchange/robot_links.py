"""Links of robots as bodies: rigid with their inertia, or beams between two joints."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy import sparse

from ..bodies.body import Body, Port
from ..bodies.fields import View
from ..bodies.inertia import rigid_inertia
from ..numerics import checks as check
from ..numerics.arrays import Array

Flexible = Callable[[float], Body]
"""From the length of a link [m] to a body along x from its port ``root`` to ``tip``."""
STRAIGHT = 1e-9
"""Length of a link [m] below which it has no direction."""


def rigid_link(link: Any, points: Mapping[str, Array]) -> Body:
    """A rigid body in the frame of a link of yourdfpy, with the port ``origin`` and those at points of it."""
    own, mass = link.inertial, float(link.inertial.mass)
    if own.inertia is None:
        raise ValueError(f"link {link.name!r} has mass but no inertia: give it one in the file")
    place = np.eye(4) if own.origin is None else np.asarray(own.origin, dtype=float)
    centre, turned = place[:3, 3], place[:3, :3]
    J = turned @ np.asarray(own.inertia, dtype=float) @ turned.T
    second = 0.5 * np.trace(J) * np.eye(3) - J
    if np.linalg.eigvalsh(second)[0] < -check.ROUND_OFF * np.trace(J):
        raise ValueError(f"the inertia of link {link.name!r} must have J1 + J2 >= J3, got {J.tolist()}")
    integrals = rigid_inertia(mass, mass * centre, second + mass * np.outer(centre, centre), np.zeros((3, 3)))
    points = {"origin": np.zeros(3), **points}
    none = sparse.csr_array((3, 0))
    ends = np.array([centre, *points.values()])
    lines = np.column_stack([np.zeros(len(points), dtype=int), np.arange(1, len(ends))])
    view = View(ends, lines, "line", sparse.csr_array((ends.size, 0)))
    return Body(integrals, {name: Port(point, none, none) for name, point in points.items()}, view=view)


def flexible_link(name: str, points: Mapping[str, Array], make: Flexible) -> tuple[Body, Array]:
    """A flexible link, and its frame in that of the link of the file, (4, 4)."""
    if len(points) != 1:
        raise ValueError(f"a flexible link must have one joint after it, {name!r} has {len(points)}")
    (along,) = points.values()
    length = float(np.linalg.norm(along))
    if length <= STRAIGHT:
        raise ValueError(f"the joints of the flexible link {name!r} are in one place")
    body = make(length)
    if body.dim != 3 or not {"root", "tip"} <= set(body.ports):
        raise ValueError(f"the body of the flexible link {name!r} must be in space and have the ports root and tip")
    x = along / length
    y = np.cross(np.eye(3)[np.abs(x).argmin()], x)
    y /= np.linalg.norm(y)
    frame = np.eye(4)
    frame[:3, :3] = np.column_stack([x, y, np.cross(x, y)])
    return body, frame
