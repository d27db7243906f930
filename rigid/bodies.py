"""Makers of planar rigid bodies."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from scipy import sparse

from flexph import Body, Port, View, rigid_inertia
from flexph import checks as check

Point = tuple[float, float]


def body(
    mass: float,
    *,
    inertia: float,
    ports: Mapping[str, Point],
    centre: Point = (0.0, 0.0),
) -> Body:
    """A planar rigid body: mass m [kg], inertia J [kg m²] about its centre of mass, named ports in body axes [m].

    Kinetic energy ½ m |ṙ|² + ½ J ω² with r the centre of mass ([flex] remark 3 in the plane). ``centre`` is the
    centre of mass in the body axes in which the ports are given. Raises ValueError for a mass or an inertia that is
    not positive.
    """
    mass, inertia = check.positive("mass", mass, "kg"), check.positive("inertia", inertia, "kg m²")
    c = check.array("centre", centre, (2,))
    made = rigid_inertia(mass, mass * c, mass * np.outer(c, c), np.array([[inertia]]))
    return Body(made, {name: _port(name, x, turns=True) for name, x in ports.items()}, view=_view(c, ports))


def bar(length: float, mass: float, *, inertia: float | None = None) -> Body:
    """A rigid bar along the body x axis from port ``root`` (the origin) over ``middle`` to ``tip``.

    Uniform unless the inertia about the centre [kg m²] is given: J = m L²/12.
    """
    length, mass = check.positive("length", length, "m"), check.positive("mass", mass, "kg")
    j = mass * length**2 / 12.0 if inertia is None else inertia
    ports = {"root": (0.0, 0.0), "middle": (0.5 * length, 0.0), "tip": (length, 0.0)}
    return body(mass, inertia=j, ports=ports, centre=(0.5 * length, 0.0))


def point(mass: float) -> Body:
    """A point mass [kg] with the one port ``point``; it has no rotation."""
    mass = check.positive("mass", mass, "kg")
    made = rigid_inertia(mass, np.zeros(2), np.zeros((2, 2)), np.zeros((1, 1)))
    return Body(made, {"point": _port("point", (0.0, 0.0), turns=False)}, turns=False)


def _view(centre: np.ndarray, ports: Mapping[str, Point]) -> View | None:
    """Lines from the centre of mass to the ports."""
    ends = [np.array(x, dtype=float) for x in ports.values() if np.any(np.array(x) != centre)]
    if not ends:
        return None
    points = np.vstack([centre, *ends])
    cells = np.column_stack([np.zeros(len(ends), dtype=int), np.arange(1, len(ends) + 1)])
    return View(points, cells, "line", sparse.csr_array((2 * len(points), 0)))


def _port(name: str, position: Point, *, turns: bool) -> Port:
    x = check.array(f"port {name!r}", position, (2,))
    return Port(x, sparse.csr_array((2, 0)), sparse.csr_array((1, 0)) if turns else None)
