"""Finite-element mesh of a body with its nodal mass, and its ports and loads in terms of the nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from ..numerics.arrays import Array


class MeshCells(NamedTuple):
    """Cells of one meshio type with their nodes (k, n) and the index of the material of each (k,)."""

    kind: str
    nodes: Array
    material: Array


class MeshMaterial(NamedTuple):
    """Density [kg/m³] and moduli (6, 6) [Pa] over (xx, yy, zz, yz, xz, xy), with shear strains doubled."""

    density: float
    moduli: Array


class MeshPort(NamedTuple):
    """Port in terms of its nodes (k,): ``rows``, sparse (d + s, N·d), give its displacement and rotation.

    The nodes of a ``rigid`` port move as one rigid body.
    """

    nodes: Array
    rows: Any
    rigid: bool


@dataclass(frozen=True, eq=False)
class NodalMesh:
    """Finite-element mesh of a solid, whose N nodes are the points of its view.

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
