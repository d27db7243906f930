"""Surfaces that balls and points touch on faces, edges and corners: boxes, capsules, meshes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from itertools import product
from typing import Any

import numpy as np

from ..joints.rows.signs import Sign
from ..joints.rows.vectors import Direction, Ground, axis, fitting, frame_about, perpendicular, unit
from ..kernels.surfaces.meshes import Mesh as Cells
from ..kernels.surfaces.meshes import mesh_of, mesh_surface, sharpness
from ..kernels.surfaces.surfaces import Surfaces, box_surface
from ..meshes.files.reading import read
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.memo import Memo, once
from ..units.arguments import quantities
from .shapes import Edge, Shape, Spot
from .signs import TouchingPort
from .surface_signs import Block, Faces, RoundedBar

BLEND = 0.5
"""Width of blends between faces, relative to the largest one at which the distance is smooth."""
SHARP = 0.01
"""Largest width of blends relative to the radius of a ball, which lowers it by a quarter of that in a groove."""
CELLS = {2: "line", 3: "triangle"}
"""Kinds of cells by dimension."""
ORTHOGONAL = 1e-9
"""Defect of a rotation matrix up to which its columns are axes."""


class Surface(Shape, Memo):
    """Base class of surfaces whose distance to a point is the gap of a contact."""

    port: str | Ground

    @property
    def rounding(self) -> float:
        """Radius [m] of the round edges: the surface is this far outside of the geometry to which distances refer."""
        return 0.0

    @abstractmethod
    def spots(self) -> tuple[Spot, ...]:
        """Corners, nodes or round ends of the surface, as balls at offsets from its port."""

    def edges(self) -> tuple[Edge, ...]:
        """Edges by which the surface touches edges of other surfaces, with its radius of rounding; none by default."""
        return ()

    @property
    @abstractmethod
    def encloses(self) -> bool:
        """True if the surface has an inside, where the distance is negative."""

    @abstractmethod
    def directions(self, dim: int) -> tuple[Direction, ...]:
        """Axes of the surface in the section at its port; raises ValueError if it does not fit ``dim`` dimensions."""

    @property
    @abstractmethod
    def arrays(self) -> Surfaces:
        """Arrays of the surface in its axes."""

    def blend(self, radius: float) -> float:
        """Width [m] over which distances to adjacent faces are blended where a ball of this radius touches both."""
        return 0.0


@quantities(size="m", round="m")
@checked
@dataclass(frozen=True)
class Box(Surface):
    """A box about a port, in the plane a rectangle, with faces, edges and corners.

    With one size of zero it is a plate without thickness, which is touched from both sides, with two a bar. With
    ``round`` its edges and corners are round. Edges touch capsules and edges of other boxes. Where two sharp boxes
    touch, the edges of the first box are round, with 1/100 of the shortest length of both boxes as radius. The corners
    of the first box are then round, too, if a length of one box equals a length of the other. If the radii of two boxes
    are nearly equal, the second box gets half the radius of the first, so that flush edges do not touch in addition to
    the corners.

    Parameters
    ----------
    port : str or Ground
        Centre of the box: a port of a body, or a place of the world.
    size : sequence of float
        Lengths of the edges [m]: three in space, two in the plane.
    axes : sequence of sequence of float, optional
        Rotation matrix whose columns are the directions of the edges in the section at the port; by default the edges
        are along the axes of the section.
    round : float
        Radius of edges and corners [m], less than half of each length.

    Raises
    ------
    ValueError
        For lengths that are negative or all zero, axes that are no rotation matrix, and a radius that is too large.

    Examples
    --------
    >>> from flexph import GROUND
    >>> from flexph.contacts import Box, Hertz, Sphere, contact
    >>> table = Box(GROUND.at(0.0, 0.0, -0.05), (1.0, 0.6, 0.1))
    >>> contact(Sphere("ball.centre", 0.1), table, Hertz(1e7), name="table").name
    'table'
    """

    size: Sequence[float]
    _: KW_ONLY
    axes: Sequence[Sequence[float]] | None = None
    round: float = 0.0

    def __post_init__(self) -> None:
        super().__post_init__()
        size = check.array("size", self.size, (None,))
        if size.size not in (2, 3):
            raise ValueError(f"size must have 2 lengths in the plane or 3 in space, got {size.size}")
        if not (size >= 0.0).all() or not size.any():
            raise ValueError(f"size must have lengths of zero or more, not all zero, got {tuple(size.tolist())} m")
        object.__setattr__(self, "size", tuple(size.tolist()))
        if check.not_negative("round", self.round, "m") and not 2.0 * self.round < size.min():
            raise ValueError(
                f"round must be less than half of each length {tuple(size.tolist())} m, got {self.round} m"
            )
        if self.axes is not None:
            matrix = check.array("axes", self.axes, (size.size, size.size))
            if np.abs(matrix.T @ matrix - np.eye(size.size)).max() > ORTHOGONAL or np.linalg.det(matrix) < 0.0:
                raise ValueError(f"axes must be a rotation matrix, got {matrix.tolist()}")
            object.__setattr__(self, "axes", tuple(map(tuple, matrix.tolist())))

    @property
    def encloses(self) -> bool:
        """True if the box has an inside, where the distance is negative."""
        return min(self.size) > 0.0

    def directions(self, dim: int) -> tuple[Direction, ...]:
        """Axes of the box in the section at its port; raises ValueError if it does not fit the dimension."""
        fitting("size", tuple(self.size), dim)
        if self.axes is None:
            return tuple(axis(i, dim) for i in range(dim))
        return tuple(map(tuple, np.array(self.axes).T.tolist()))

    @property
    def arrays(self) -> Surfaces:
        """Arrays of the surface of the box in its axes."""
        return box_surface(tuple(self._half.tolist()))

    @property
    def _half(self) -> Array:
        """Half sizes of the box without its roundings [m]."""
        return 0.5 * np.array(self.size) - self.round

    @property
    def rounding(self) -> float:
        """Radius [m] of the round edges of the box."""
        return self.round

    def spots(self) -> tuple[Spot, ...]:
        """Corners of the box, as balls at offsets from its port."""
        axes, half = np.array(self.directions(len(self.size))), self._half
        ways = product(*((-x, x) if x else (0.0,) for x in half))
        return tuple(Spot(self.port, self.round, tuple((np.array(way) @ axes).tolist())) for way in ways)

    def edges(self) -> tuple[Edge, ...]:
        """The twelve edges, with the radius of rounding of the box; none in the plane or without an inside."""
        if len(self.size) == 2 or not self.encloses:
            return ()
        axes, half, edges = np.array(self.directions(3)), self._half, []
        for k in range(3):
            for way in product((-1.0, 1.0), repeat=2):
                at = np.insert(np.array(way), k, 0.0) * half @ axes
                edges.append(Edge(self.port, tuple(at.tolist()), tuple((half[k] * axes[k]).tolist()), self.round))
        return tuple(edges)

    @property
    def reach(self) -> float:
        """Bounding radius [m] of the box about its port."""
        return 0.5 * float(np.linalg.norm(self.size))

    def sign(self, dim: int, touching: tuple[TouchingPort, ...]) -> Sign:
        """Drawing sign of the box; ``touching`` are the ports in contact with it."""
        return Block(self.port, tuple(self.size), self.directions(dim))


@quantities(length="m", radius="m")
@checked
@dataclass(frozen=True)
class Capsule(Surface):
    """A cylinder with round ends about a port, in the plane a slot; with radius 0 an edge.

    Parameters
    ----------
    port : str or Ground
        Centre of the capsule: a port of a body, or a place of the world.
    length : float
        Distance of the centres of both ends [m].
    radius : float
        [m].
    axis : sequence of float
        Direction of its axis, in the section at the port.

    Raises
    ------
    ValueError
        For a length that is not positive, and a negative radius.

    Examples
    --------
    >>> from flexph import GROUND
    >>> from flexph.contacts import Capsule, Hertz, Sphere, contact
    >>> bar = Capsule(GROUND.at(0.0, 0.0, 0.0), 0.5, 0.02, axis=(1.0, 0.0, 0.0))
    >>> contact(Sphere("ball.centre", 0.1), bar, Hertz(1e7), name="bar").name
    'bar'
    """

    length: float
    radius: float
    axis: Sequence[float]

    def __post_init__(self) -> None:
        super().__post_init__()
        check.positive("length", self.length, "m")
        check.not_negative("radius", self.radius, "m")
        object.__setattr__(self, "axis", unit("axis", self.axis))

    @property
    def rounding(self) -> float:
        """Radius [m] of the round edges of the capsule."""
        return self.radius

    @property
    def encloses(self) -> bool:
        """True if the capsule has an inside, where the distance is negative."""
        return self.radius > 0.0

    def directions(self, dim: int) -> tuple[Direction, ...]:
        """Axes of the capsule in the section at its port; raises ValueError if it does not fit the dimension."""
        axis = fitting("axis", tuple(self.axis), dim)
        return (axis, perpendicular(axis)) if dim == 2 else (axis, *frame_about(axis))

    @property
    def arrays(self) -> Surfaces:
        """Arrays of the surface of the capsule in its axes."""
        return box_surface((0.5 * self.length, 0.0, 0.0))

    def spots(self) -> tuple[Spot, ...]:
        """Round ends of the capsule, as balls at offsets from its port."""
        half = tuple(0.5 * self.length * x for x in self.axis)
        return tuple(Spot(self.port, self.radius, tuple(sign * x for x in half)) for sign in (1.0, -1.0))

    def edges(self) -> tuple[Edge, ...]:
        """The capsule itself as a single edge, a bar with round ends."""
        half = tuple(0.5 * self.length * x for x in self.axis)
        return (Edge(self.port, (0.0,) * len(half), half, self.radius),)

    @property
    def reach(self) -> float:
        """Bounding radius [m] of the capsule about its port."""
        return 0.5 * self.length + self.radius

    def sign(self, dim: int, touching: tuple[TouchingPort, ...]) -> Sign:
        """Drawing sign of the capsule; ``touching`` are the ports in contact with it."""
        return RoundedBar(self.port, self.length, self.radius, tuple(self.axis))


@quantities(scale="")
@checked
@dataclass(frozen=True, eq=False)
class Mesh(Surface):
    """A surface of triangles about a port, in the plane of segments, which balls and points touch anywhere.

    A closed mesh is touched from the side of its normals, which follow from the order of the corners
    (counterclockwise seen from outside; in the plane the outside is to the right of a segment). With normals that point
    inwards it is a cavity. An open mesh is touched from both sides. The gap to a ball is the distance from its centre
    to the closest point less its radius. A ball that touches two faces along a concave edge is carried by both: their
    distances are blended over a width that vanishes with the angle between them.

    Parameters
    ----------
    port : str or Ground
        Origin of the points: a port of a body, in whose section the points are given, or a place of the world.
    mesh : str, path, meshio.Mesh or (points, cells)
        A file that meshio reads, such as STL, a mesh, or arrays of points (n, d) and of cells (t, d).
    scale : float
        Factor of the points: 1e-3 for a file in millimetres.
    closed : bool, optional
        True raises ValueError for an open mesh; False treats the mesh as open, touched from both sides. By default it
        is treated as closed if it has no border.

    Raises
    ------
    ValueError
        For degenerate cells, sides with more than two cells, normals that do not agree, and an open mesh that should
        be closed.

    Examples
    --------
    >>> from flexph import GROUND
    >>> from flexph.contacts import Hertz, Mesh, Sphere, contact
    >>> points = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (1.0, 1.0, 0.2)]
    >>> ramp = Mesh(GROUND.at(0.0, 0.0, 0.0), (points, [(0, 1, 2), (1, 3, 2)]))
    >>> contact(Sphere("ball.centre", 0.1), ramp, Hertz(1e7), name="ramp").name
    'ramp'
    """

    mesh: Any
    _: KW_ONLY
    scale: float = 1.0
    closed: bool | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        check.positive("scale", self.scale)
        loose = self.topology.loose
        if self.closed and loose:
            what = "sides" if self.points.shape[1] == 3 else "corners"
            raise ValueError(f"closed=True needs a mesh without a border, got one with {loose} {what} of one cell")

    @once
    def _given(self) -> tuple[Array, Array]:
        return _read(self.mesh)

    @property
    def points(self) -> Array:
        """Points (n, d) in the section at the port [m]."""
        return self._given[0] * self.scale

    @property
    def cells(self) -> Array:
        """Numbers of the corners of the cells, (t, d), from 0."""
        return self._given[1]

    @once
    def topology(self) -> Cells:
        """Cells of the mesh after coincident points are merged."""
        return mesh_of(self.points, self.cells)

    @property
    def encloses(self) -> bool:
        """True if the mesh has an inside, where the distance is negative."""
        return self.closed is not False and not self.topology.loose

    def directions(self, dim: int) -> tuple[Direction, ...]:
        """Axes of the mesh in the section at its port; raises ValueError if it does not fit the dimension."""
        if self.points.shape[1] != dim:
            place = "the plane" if dim == 2 else "space"
            raise ValueError(f"mesh must have points of {dim} components in {place}, got {self.points.shape[1]}")
        return tuple(axis(i, dim) for i in range(dim))

    @once
    def arrays(self) -> Surfaces:
        """Arrays of the surface of the mesh in its axes."""
        return mesh_surface(self.topology, closed=self.encloses)

    def spots(self) -> tuple[Spot, ...]:
        """Nodes of the mesh, as balls at offsets from its port."""
        used = np.unique(self.cells)
        return tuple(Spot(self.port, 0.0, tuple(point)) for point in self.points[used].tolist())

    def blend(self, radius: float) -> float:
        """Width [m] over which distances to adjacent faces are blended where a ball of this radius touches both."""
        return radius * min(BLEND * sharpness(self.topology, closed=self.encloses), SHARP)

    @property
    def reach(self) -> float:
        """Bounding radius [m] of the mesh about its port."""
        return float(np.linalg.norm(self.points, axis=1).max())

    def sign(self, dim: int, touching: tuple[TouchingPort, ...]) -> Sign:
        """Drawing sign of the mesh; ``touching`` are the ports in contact with it."""
        return Faces(self.port, self.points, self.cells)


def _read(given: Any) -> tuple[Array, Array]:
    """Points (n, d) and cells (t, d) of a mesh; raises ValueError unless it has triangles, or segments in the plane."""
    if not isinstance(given, tuple | list):
        contents = read(given)
        points, kinds = np.asarray(contents.points, dtype=float), contents.cells_dict
        kind = next((name for name in ("triangle", "line") if name in kinds), None)
        if kind is None:
            raise ValueError(
                f"mesh must have triangles, or in the plane segments, got {', '.join(kinds) or 'no cells'}"
            )
        if others := [name for name in kinds if name not in ("triangle", "line", "vertex")]:
            raise ValueError(
                f"mesh must have triangles or segments only, got {', '.join(others)}, too: split them first"
            )
        if kind == "line" and points.shape[1] > 2 and np.ptp(points[:, 2]) > 0.0:
            raise ValueError("mesh must lie in the plane of x and y if it has segments only")
        return points if kind == "triangle" else points[:, :2], np.asarray(kinds[kind])
    try:
        points, cells = given
    except (TypeError, ValueError):
        raise ValueError(f"mesh must be a file, a meshio.Mesh or (points, cells), got {check.shown(given)}") from None
    points = check.array("points", points, (None, None))
    cells = np.asarray(cells)
    dim = points.shape[1]
    if dim not in CELLS:
        raise ValueError(f"points must have 2 or 3 components, got {dim}")
    if cells.ndim != 2 or cells.shape[1] != dim or cells.dtype.kind not in "iu" or not len(cells):
        raise ValueError(
            f"cells must be whole numbers (t, {dim}), the corners of {CELLS[dim]}s, got shape {cells.shape}"
        )
    if not 0 <= cells.min() <= cells.max() < len(points):
        raise ValueError(f"cells must name points from 0 to {len(points) - 1}, got {cells.min()} to {cells.max()}")
    return points, cells
