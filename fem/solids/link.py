"""Solids that fill a shape of a link of a robot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import get_args

import meshio
import numpy as np
import skfem

from flexph.bodies.body import Body
from flexph.bodies.reduced_body import reduce_body
from flexph.meshes.drawings.drawing import MM, surface_mesh
from flexph.meshes.drawings.triangles import closed, file_surface
from flexph.numerics import checks as check
from flexph.numerics.arguments import checked, warn
from flexph.numerics.arrays import Array
from flexph.robots.links.shapes import FlexibleLink, LinkGeometry, LinkShape, Use, prism
from flexph.units.arguments import quantities

from ..beams.beam import beam
from ..materials.damping import Damping
from ..materials.elastic import Elastic
from ..materials.materials import Material, Section
from ..meshes.solid_mesh import box_mesh
from .solid import solid
from .ties import Tie

FIRM = 2.6e7
"""Young's modulus over density of steel, aluminium and titanium [m²/s²]; it is the same for hollow parts."""
ALONG, POISSON = 20, 0.3
"""Largest number of cells along the longest edge, and Poisson's ratio, if these are not given."""
UNIT = Material(young=1.0, density=1.0, poisson=POISSON)
"""Material with which the mass of a body is its volume."""
ALLOY = Material(young=7e10, density=2700.0, poisson=0.33)
"""Material of a beam that stands for a link without a shape."""


@quantities(reach="m", size="m")
@checked
@dataclass(frozen=True)
class LinkSolid(FlexibleLink):
    """Linear elastic solid that fills the shape of a link of a robot, reduced to a few modes, see :func:`fem.solid`.

    The shape is a box, or a cylinder (a prism of 32 sides) or mesh, which gmsh meshes (extra ``cad``). The link is held
    at its parent joint; there and at its child joints, all nodes within ``reach`` of the joint are tied rigidly. Mass
    and inertia are those of the shape with the density of the material, instead of those of the file.

    Parameters
    ----------
    material : Material, Orthotropic or Anisotropic, optional
        Material of the solid. By default its density gives the shape the mass of the link in the file, and its Young's
        modulus is 2.6e7 m²/s² times the density, as of steel or aluminium; a warning states both.
    size : float, optional
        Length of the cells [m]; by default the shortest edge of the box around the shape, at least a twentieth of the
        longest.
    use : {"visual", "collision"}
        Kind of the shape that the solid fills; the link must have exactly one shape of this kind.
    modes : int
        Number of modes of the link with its joints held, in addition to the static responses of the joints.
    reach : float, optional
        Distance from a joint to the nodes that are tied to it [m]; by default that of the nearest node plus the length
        of a cell.
    damping : Damping, optional
        Structural damping.

    Raises
    ------
    ValueError
        For a number that is not positive. When the robot is read: for a link with no or several shapes of this use, for
        a shape other than a box, cylinder or mesh, for a mesh that is not watertight and cannot be repaired, and for a
        link without mass if ``material`` is not given.

    Examples
    --------
    >>> import fem
    >>> alloy = fem.Material(young=7e10, density=2700.0, poisson=0.33)
    >>> fem.LinkSolid(alloy, size=0.01).use  # read_urdf("arm.urdf", flexible={"upper": fem.LinkSolid(alloy, size=…)})
    'visual'
    """

    material: Elastic | None = None
    _: KW_ONLY
    size: float | None = None
    use: Use = "visual"
    modes: int = 6
    reach: float | None = None
    damping: Damping = field(default_factory=Damping)

    def __post_init__(self) -> None:
        if self.size is not None:
            check.positive("size", self.size, "m")
        check.choice("use", self.use, get_args(Use))
        check.count("modes", self.modes)
        if self.reach is not None:
            check.positive("reach", self.reach, "m")

    def body(self, link: LinkGeometry) -> Body:
        """Reduced body that fills the shape of the link, in the frame of the link.

        Raises ValueError for the reasons of the class.
        """
        shape = link.shape(self.use)
        surface = None if shape.kind == "box" else self._surface(shape, link.name)
        edges = np.array(shape.size) if surface is None else np.ptp(surface[0], axis=0)
        size = self.size or float(max(edges.min(), edges.max() / ALONG))
        mesh = self._of_box(shape, size) if surface is None else _within(surface, shape, size)
        points = mesh.p.T if isinstance(mesh, skfem.Mesh) else mesh.points
        ports = {name: self._tie(points, place, size) for name, place in link.places.items()}

        def filled(material: Elastic) -> Body:
            whole = solid(mesh, material, ports=ports, reference="root", degree=2, damping=self.damping)
            assert isinstance(whole, Body)
            return whole

        whole = filled(self.material or self._assumed(link, filled(UNIT), size))
        return reduce_body(whole, modes=self.modes, static=tuple(name for name in ports if name != "root"))

    def _assumed(self, link: LinkGeometry, unit: Body, size: float) -> Material:
        """Assumed material, whose density gives the shape the mass of the link; warns of the assumptions.

        ``unit`` is the body of density 1, ``size`` the length of the cells. Raises ValueError for a link without mass.
        """
        if not link.mass > 0.0:
            raise ValueError(f"link {link.name!r} has no mass in the file: give the material of its LinkSolid")
        density = link.mass / unit.mass
        off = float(np.linalg.norm(unit.centre - link.centre))
        elsewhere = f"its centre of mass is {off:.3g} m from that of the file, " if off > 0.1 * size else ""
        warn(
            f"link {link.name!r} is flexible by assumptions: its {self.use} shape is filled with "
            f"a density of {density:.4g} kg/m³ (mass over volume), {elsewhere}and Young's modulus is "
            f"{FIRM * density:.4g} Pa (2.6e7 m²/s² times the density, as of steel and aluminium), on cells of "
            f"{size:.3g} m; give fem.LinkSolid(material, size=…) with known data"
        )
        return Material(young=FIRM * density, density=density, poisson=POISSON)

    def _tie(self, points: Array, place: Array, size: float) -> Tie:
        """Rigid tie of all nodes within ``reach`` of the joint at ``place`` (3,) [m], for a mesh with nodes ``points``.

        By default ``reach`` is the distance of the nearest node plus the cell length ``size``.
        """
        reach = self.reach or float(np.linalg.norm(points - place, axis=1).min()) + size
        middle = np.asarray(place)[:, None]
        return Tie(lambda x: np.linalg.norm(x - middle, axis=0) <= reach, "rigid", at=tuple(place.tolist()))

    def _of_box(self, shape: LinkShape, size: float) -> skfem.Mesh:
        """Mesh of hexahedra in the box ``shape``, with edges of at most ``size`` [m], in the frame of the link."""
        mesh = box_mesh(shape.size, [max(int(np.ceil(length / size)), 1) for length in shape.size])
        return replace(mesh, doflocs=_placed(mesh.p.T - 0.5 * np.array(shape.size), shape).T)

    def _surface(self, shape: LinkShape, name: str) -> tuple[Array, Array]:
        """Points [m] and triangles of the watertight surface of a cylinder or a mesh, in the axes of the shape.

        ``name`` is that of the link in messages. Raises ValueError for another shape, or a surface that is not
        watertight.
        """
        if shape.kind == "cylinder":
            return closed(*prism(*shape.size))
        if shape.kind != "mesh":
            raise ValueError(f"the {self.use} shape of link {name!r} must be a box, cylinder or mesh, got {shape.kind}")
        if shape.surface is not None:
            return closed(*shape.surface)
        assert shape.file is not None
        try:
            points, cells = file_surface(Path(shape.file))
        except ValueError as error:
            raise ValueError(f"the mesh {Path(shape.file).name} of link {name!r}: {error}") from None
        return points * np.array(shape.scale), cells if np.prod(shape.scale) > 0.0 else cells[:, ::-1]


class AssumedLink(FlexibleLink):
    """Flexible link that is given by its name only: a :class:`LinkSolid` of its shape, else a beam.

    The beam is a round bar of aluminium with the mass of the link, from its joint to its only child joint.
    """

    def body(self, link: LinkGeometry) -> Body | Callable[[float], Body]:
        """Reduced body of a link with a shape, in the frame of the link; else a function that makes a beam.

        The function is length [m] ↦ beam with the mass of the link.
        """
        for use in get_args(Use):
            shapes = link.shapes(link.name, use)
            if len(shapes) == 1 and shapes[0].kind in ("box", "cylinder", "mesh"):
                return LinkSolid(use=use).body(link)
        if not link.mass > 0.0:
            raise ValueError(
                f"link {link.name!r} has no mass in the file: give its body by flexible={{{link.name!r}: …}}"
            )
        return partial(_bar, link)


def _bar(link: LinkGeometry, length: float) -> Body:
    """Round aluminium beam of the given length [m] with the mass of a link; warns of the assumed diameter."""
    diameter = float(np.sqrt(4.0 * link.mass / (np.pi * ALLOY.density * length)))
    warn(
        f"link {link.name!r} is flexible by assumptions: without one box, cylinder or mesh as its shape "
        f"it is a round bar of aluminium with the mass of the file, {length:.3g} m long, {diameter:.3g} m thick; give "
        f"its body by flexible={{{link.name!r}: …}}"
    )
    return beam(length, ALLOY, Section(diameter=diameter), elements=4, dim=3)


def _within(surface: tuple[Array, Array], shape: LinkShape, size: float) -> meshio.Mesh:
    """Mesh of tetrahedra of about the length ``size`` [m] within a closed surface, in the frame of the link."""
    held = surface_mesh((surface[0] / MM, surface[1]), size, scale=MM)
    return meshio.Mesh(_placed(held.points, shape), {"tetra10": held.cells_dict["tetra10"]})


def _placed(points: Array, shape: LinkShape) -> Array:
    """Points (n, 3), given in the axes of a shape, transformed to the frame of the link that has the shape."""
    return np.asarray(points @ shape.pose[:3, :3].T + shape.pose[:3, 3])
