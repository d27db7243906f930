"""Shapes of the links of a robot: boxes, spheres, cylinders, capsules and meshes, also as contact shapes at ports."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from ...bodies.body import Body
from ...contacts.shapes import Plane, Sphere
from ...contacts.surfaces import Box, Capsule, Mesh
from ...joints.rows.vectors import PortName
from ...numerics.arrays import Array

Use = Literal["visual", "collision"]
SIDES = 32
"""Sides of the prism that stands for a cylinder."""


class LinkShape(NamedTuple):
    """Shape of a link: its kind, its pose (4, 4) on the link, and its size.

    The size [m] is three lengths for a box, the radius for a sphere, radius and length without round ends for a
    cylinder or capsule along z, and the normal for a plane. A mesh has a ``file`` with a ``scale`` (3,), or a
    ``surface``: points (n, 3) [m] and triangles.
    """

    kind: Literal["box", "sphere", "cylinder", "capsule", "plane", "mesh"]
    pose: Array
    size: tuple[float, ...] = ()
    file: Path | None = None
    scale: tuple[float, ...] = (1.0, 1.0, 1.0)
    surface: tuple[Array, Array] | None = None

    def triangles(self) -> tuple[Array, Array]:
        """Points (n, 3) [m] and triangles of a mesh, in the axes of the shape."""
        if self.surface is not None:
            return self.surface
        assert self.file is not None
        with np.errstate(over="ignore"):  # meshio's test for binary files overflows when the bytes are letters
            mesh = Mesh("shape.origin", str(self.file))
        scaled, cells = mesh.points * np.array(self.scale), mesh.cells
        return scaled, cells if np.prod(self.scale) > 0.0 else cells[:, ::-1]


ShapesOf = Callable[[str, Use], tuple[LinkShape, ...]]
"""Function from a link and a use to its shapes."""


def none_of(link: str, use: Use) -> tuple[LinkShape, ...]:
    """Return no shapes, for any link and use: the reader of shapes for robots without shapes."""
    return ()


def port_names(link: str, shapes: Iterable[LinkShape]) -> dict[str, LinkShape]:
    """Shapes of a link by the names of the ports at their origins."""
    return {f"{link} collision {number}": shape for number, shape in enumerate(shapes, 1)}


def contact_shape(shape: LinkShape, port: PortName, turned: Array) -> Any:
    """Contact shape for a shape of a link, at the port at the origin of this shape.

    ``turned`` (3, 3): axes of the shape in the section at the port.
    """
    if shape.kind == "sphere":
        return Sphere(port, shape.size[0])
    if shape.kind == "box":
        return Box(port, shape.size, axes=turned.tolist())
    if shape.kind == "capsule":
        radius, length = shape.size
        return Capsule(port, length, radius, axis=turned[:, 2].tolist())
    if shape.kind == "plane":
        return Plane(port, (turned @ np.array(shape.size)).tolist())
    points, cells = prism(*shape.size) if shape.kind == "cylinder" else shape.triangles()
    return Mesh(port, (points @ turned.T, cells))


def prism(radius: float, length: float) -> tuple[Array, Array]:
    """Points (p, 3) and triangles (t, 3) of a prism along z with SIDES sides, inscribed in a cylinder."""
    angles = 2.0 * np.pi * np.arange(SIDES) / SIDES
    ring = radius * np.column_stack([np.cos(angles), np.sin(angles)])
    ends = [np.column_stack([ring, np.full(SIDES, z)]) for z in (-0.5 * length, 0.5 * length)]
    points = np.vstack([*ends, [[0.0, 0.0, -0.5 * length], [0.0, 0.0, 0.5 * length]]])
    k = np.arange(SIDES)
    after, below, above = (k + 1) % SIDES, np.full(SIDES, 2 * SIDES), np.full(SIDES, 2 * SIDES + 1)
    sides = [np.column_stack([k, after, after + SIDES]), np.column_stack([k, after + SIDES, k + SIDES])]
    lids = [np.column_stack([below, after, k]), np.column_stack([above, k + SIDES, after + SIDES])]
    return points, np.vstack([*sides, *lids])


class LinkGeometry(NamedTuple):
    """Geometry of a link, in its frame [m], for a function that creates its flexible body.

    ``places``: positions (3,) of the origin, by the name ``root``, and of the joints to the children of the link, by
    their ports; ``shapes`` by use; ``mass`` [kg] and ``centre`` of mass (3,) of the file.
    """

    name: str
    places: Mapping[str, Array]
    shapes: ShapesOf
    mass: float = 0.0
    centre: Array = np.zeros(3)

    def shape(self, use: Use) -> LinkShape:
        """The only shape of the link for a use (visual or collision); raises ValueError for none or several."""
        found = self.shapes(self.name, use)
        if len(found) != 1:
            raise ValueError(
                f"link {self.name!r} must have one {use} shape, got {len(found)}: make a body of it by hand"
            )
        return found[0]


class FlexibleLink(ABC):
    """Base of classes that create the flexible body of a link, in the frame of the link."""

    @abstractmethod
    def body(self, link: LinkGeometry) -> Body | Callable[[float], Body]:
        """Create the flexible body of a link, with a port for each of ``link.places`` and sections in its axes.

        The result can also be a function from the length [m] of the link to a body along it, with the ports ``root``
        and ``tip``.
        """
