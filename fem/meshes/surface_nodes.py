"""Ports at the nodes of a surface of a solid, and the faces between them, for contacts of the surface."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import skfem

from flexph.meshes.drawings.drawing import PLAIN, is_drawing
from flexph.meshes.files.reading import Source
from flexph.numerics.arguments import checked

from .reading import solid_mesh
from .regions import region
from .solid_mesh import facet_groups

DIVIDED = {
    "line": ((0, 1),),
    "line3": ((0, 2), (2, 1)),
    "triangle": ((0, 1, 2),),
    "triangle6": ((0, 3, 5), (3, 1, 4), (5, 4, 2), (3, 4, 5)),
    "quad": ((0, 1, 2), (0, 2, 3)),
    "quad8": ((0, 4, 7), (4, 1, 5), (5, 2, 6), (6, 3, 7), (4, 5, 6), (4, 6, 7)),
    "quad9": ((0, 4, 8), (0, 8, 7), (4, 1, 5), (4, 5, 8), (8, 5, 2), (8, 2, 6), (7, 8, 6), (7, 6, 3)),
}
"""Segments and triangles between the nodes of facets."""


class SurfacePorts(NamedTuple):
    """Node numbers by the names of ports, and the faces, whose corners are numbers of these ports from 0."""

    ports: dict[str, list[int]]
    cells: list[tuple[int, ...]]

    def of(self, body: str) -> list[str]:
        """Full names of the ports in a mechanism with the name ``body`` of the solid, such as ``block.node 3``."""
        return [f"{body}.{name}" for name in self.ports]


@checked
def surface_ports(mesh: Source | skfem.Mesh, surface: Any, *, name: str = "node", plane: bool = False) -> SurfacePorts:
    """Ports at all nodes of a surface of a mesh, and its faces, for a :class:`flexph.contacts.Skin`.

    The faces are triangles, in the plane segments; facets of second-order cells are divided between all of their
    nodes. The nodes that ``degree=2`` of :func:`fem.solid` adds have no ports: faces are straight between the nodes of
    the mesh.

    Parameters
    ----------
    mesh : meshio.Mesh, path or skfem.Mesh
        The mesh or file that :func:`fem.solid` takes. Drawings have no node numbers: mesh them first.
    surface : str, callable or sequence of int
        Region of facets on the boundary: a name in the mesh, node numbers, or a function of positions x (d, N) that is
        true on it, in the unit of the mesh.
    name : str, optional
        First word of the names of ports, ``node 17`` for node 17.
    plane : bool, optional
        True for the mesh of a plane body.

    Returns
    -------
    SurfacePorts
        ``ports`` for ``ports=`` of the solid; ``of(body)`` and ``cells`` for the skin.

    Raises
    ------
    ValueError
        For an unknown region, a region without facets, and a drawing.

    Examples
    --------
    >>> import fem
    >>> from flexph.contacts import Skin
    >>> mesh = fem.box_mesh((0.2, 0.1, 0.1), (2, 1, 1))
    >>> top = fem.surface_ports(mesh, "top")
    >>> rubber = fem.Material(young=1e6, density=1100.0, poisson=0.4)
    >>> block = fem.solid(mesh, rubber, ports={"base": "bottom", **top.ports}, reference="base")
    >>> len(top.ports), len(Skin(top.of("block"), top.cells).cells)
    (6, 4)
    """
    if isinstance(mesh, str | os.PathLike) and is_drawing(Path(mesh), PLAIN):
        raise ValueError(f"mesh must have node numbers, got the drawing {mesh}: write its mesh to a file first")
    whole = solid_mesh(mesh, plane=plane, degree=None)
    chosen = region(whole, "surface", surface)
    if not len(chosen.facets):
        raise ValueError(f"surface must have facets on the boundary of the mesh, got {chosen.kind} without any")
    faces = [
        nodes[:, list(part)] for kind, nodes, _ in facet_groups(whole, chosen.facets) for part in DIVIDED[kind.name]
    ]
    used, number = np.unique(np.concatenate([part.ravel() for part in faces]), return_inverse=True)
    width = faces[0].shape[1]
    numbers = whole.numbers[used].tolist()
    cells = [tuple(cell) for cell in number.reshape(-1, width).tolist()]
    return SurfacePorts({f"{name} {n}": [n] for n in numbers}, cells)
