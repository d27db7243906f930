"""Solids that fill a shape of a link of a robot."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field, replace
from pathlib import Path
from typing import get_args

import meshio
import numpy as np
import skfem

from flexph.bodies.body import Body
from flexph.bodies.reduced_body import reduce_body
from flexph.meshes.drawings.drawing import MeshRequest
from flexph.meshes.files.reading import read_contents
from flexph.numerics import checks as check
from flexph.numerics.arguments import checked
from flexph.numerics.arrays import Array
from flexph.robots.links.shapes import FlexibleLink, LinkGeometry, LinkShape, Use
from flexph.units.arguments import quantities

from ..materials.damping import Damping
from ..materials.elastic import Elastic
from ..meshes.solid_mesh import box_mesh
from .solid import solid
from .ties import Tie


@quantities(reach="m", size="m")
@checked
@dataclass(frozen=True)
class LinkSolid(FlexibleLink):
    """Linear elastic solid that fills the shape of a link of a robot, reduced to a few modes, see :func:`fem.solid`.

    The shape is a box, or the closed surface of an STL file, which gmsh meshes (extra ``cad``). The link is held at its
    own joint; there and at the joints after it, all nodes within ``reach`` of the place are tied rigidly. Mass and
    inertia are those of the shape with the density of the material, instead of those of the file.

    Parameters
    ----------
    material : Material, Orthotropic or Anisotropic
        Its material.
    size : float
        Length of the cells [m].
    use : {"visual", "collision"}
        Which shape of the link; it must have one.
    modes : int
        Number of modes with its joints held, to which static shapes of the joints are added.
    reach : float, optional
        Distance from a joint to the nodes that are tied to it [m]; by default up to the nearest node, and the length of
        a cell.
    damping : Damping, optional
        Structural damping.

    Raises
    ------
    ValueError
        For a number that is not positive. When the robot is read: for a link with no or several shapes of this use, or
        with another one, and for a mesh that is not watertight or is scaled differently along its axes.

    Examples
    --------
    >>> import fem
    >>> alloy = fem.Material(young=7e10, density=2700.0, poisson=0.33)
    >>> fem.LinkSolid(alloy, size=0.01).use  # read_urdf("arm.urdf", flexible={"upper": fem.LinkSolid(alloy, size=…)})
    'visual'
    """

    material: Elastic
    _: KW_ONLY
    size: float
    use: Use = "visual"
    modes: int = 6
    reach: float | None = None
    damping: Damping = field(default_factory=Damping)

    def __post_init__(self) -> None:
        check.positive("size", self.size, "m")
        check.choice("use", self.use, get_args(Use))
        check.count("modes", self.modes)
        if self.reach is not None:
            check.positive("reach", self.reach, "m")

    def body(self, link: LinkGeometry) -> Body:
        """Reduced body in the frame of the link."""
        shape = link.shape(self.use)
        mesh = self._of_box(shape) if shape.kind == "box" else self._of_file(shape, link.name)
        points = mesh.p.T if isinstance(mesh, skfem.Mesh) else mesh.points
        ports = {name: self._tie(points, place) for name, place in link.places.items()}
        whole = solid(mesh, self.material, ports=ports, reference="root", degree=2, damping=self.damping)
        assert isinstance(whole, Body)
        return reduce_body(whole, modes=self.modes, static=tuple(name for name in ports if name != "root"))

    def _tie(self, points: Array, place: Array) -> Tie:
        """Rigid tie of the nodes near a place."""
        reach = self.reach or float(np.linalg.norm(points - place, axis=1).min()) + self.size
        middle = np.asarray(place)[:, None]
        return Tie(lambda x: np.linalg.norm(x - middle, axis=0) <= reach, "rigid", at=tuple(place.tolist()))

    def _of_box(self, shape: LinkShape) -> skfem.Mesh:
        """Hexahedra of a box in the frame of the link."""
        mesh = box_mesh(shape.size, [max(int(np.ceil(length / self.size)), 1) for length in shape.size])
        return replace(mesh, doflocs=_placed(mesh.p.T - 0.5 * np.array(shape.size), shape).T)

    def _of_file(self, shape: LinkShape, name: str) -> meshio.Mesh:
        """Tetrahedra within an STL file in the frame of the link."""
        if shape.file is None or Path(shape.file).suffix.lower() != ".stl":
            what = shape.kind if shape.file is None else Path(shape.file).name
            raise ValueError(f"the {self.use} shape of link {name!r} must be a box or an STL file, got {what}")
        if len(set(shape.scale)) > 1 or shape.scale[0] <= 0.0:
            raise ValueError(f"the mesh of link {name!r} must have one positive scale, got {shape.scale}")
        held = read_contents(shape.file, (), MeshRequest(size=self.size, unit=shape.scale[0])).mesh
        return meshio.Mesh(_placed(held.points, shape), {"tetra10": held.cells_dict["tetra10"]})


def _placed(points: Array, shape: LinkShape) -> Array:
    """Points (n, 3) of a shape in the frame of its link."""
    return np.asarray(points @ shape.pose[:3, :3].T + shape.pose[:3, 3])
