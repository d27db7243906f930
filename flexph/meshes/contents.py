"""What a mesh file holds: a mesh with regions, node numbers, element types, materials and where they are."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import meshio

from ..numerics.arrays import Array


@dataclass(frozen=True)
class FileMaterial:
    """A material of a mesh file: density ρ and isotropic moduli E, ν in units of the file, None where it has none.

    ``refused`` says, in words, what the file has in their place.
    """

    density: float | None = None
    young: float | None = None
    poisson: float | None = None
    refused: str = ""


@dataclass(frozen=True, eq=False)
class MeshContents:
    """A mesh, and what its file says beside it.

    ``numbers`` (N,) are the node numbers of the program, None where the file has only their order; ``types`` its
    element types; ``materials`` by name; ``sections`` pairs of a region of cells and the name of its material.
    """

    mesh: meshio.Mesh
    numbers: Array | None = None
    types: tuple[str, ...] = ()
    materials: Mapping[str, FileMaterial] = field(default_factory=dict)
    sections: tuple[tuple[str, str], ...] = ()
