"""Finite-element mesh of a body with its nodal mass, and its ports and loads in terms of the nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..numerics.arrays import Array


class MeshCells(NamedTuple):
    """Cells of one meshio type: their nodes (k, n), and the index of the material of each cell (k,)."""

    kind: str
    nodes: Array
    material: Array


class MeshMaterial(NamedTuple):
    """Material of cells: density [kg/m³] and matrix (6, 6) of elastic moduli [Pa].

    The moduli map strains (xx, yy, zz, yz, xz, xy), with shear strains doubled, to stresses.
    """

    density: float
    moduli: Array


class MeshPort(NamedTuple):
    """Port of a mesh: its nodes (k,), and its motion as a sparse matrix ``rows`` (d + s, N·d) of nodal displacements.

    The motion is the displacement and the rotation of the port. The nodes of a ``rigid`` port move as one rigid body.
    """

    nodes: Array
    rows: Any
    rigid: bool


@dataclass(frozen=True, eq=False)
class NodalMesh:
    """Finite-element mesh of a solid, whose N nodes are the points of the :class:`View` of its body.

    Attributes
    ----------
    cells : tuple of MeshCells
        Cells by type.
    materials : tuple of MeshMaterial
        Materials by number.
    mass : matrix
        Nodal mass m, sparse (N, N), the same in all directions [kg].
    ports : mapping
        Ports by name.
    loads : mapping
        Mean displacements of the elements of the load ports by name, sparse (k·d, N·d).
    """

    cells: tuple[MeshCells, ...]
    materials: tuple[MeshMaterial, ...]
    mass: Any
    ports: Mapping[str, MeshPort]
    loads: Mapping[str, Any]
