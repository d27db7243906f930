"""Reading of a plate: mesh in its plane, materials and thicknesses of a file or drawing."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import skfem

from flexph.meshes.contents import MeshContents, refuse_left_out
from flexph.meshes.drawings.drawing import FORMATS, MeshRequest
from flexph.meshes.files.reading import Source, read_contents

from ..materials.elastic import Elastic
from ..materials.file_materials import file_damping, file_materials, warn_of_laws
from ..materials.materials import Material
from .flat import PLAIN_AXES, PlaneAxes, flattened


class GivenPlate(NamedTuple):
    """A plate as it was read: its mesh in its plane, material, thickness [m], and the axes ``plane``.

    Material and thickness are those of the whole plate, or mappings by region.
    """

    mesh: Any
    material: Elastic | Mapping[str, Elastic]
    thickness: float | Mapping[str, float]
    plane: PlaneAxes


def read_plate(
    mesh: Source | skfem.Mesh,
    material: Elastic | Mapping[str, Elastic] | None,
    thickness: float | Mapping[str, float] | None,
    *,
    omit: Sequence[str],
    request: MeshRequest,
) -> GivenPlate:
    """Read the mesh of a plate in axes of its plane, with the given material and thickness, by default from the file.

    Raises ValueError for a file with other contents that change mass or stiffness, for shells that are not flat, have
    layers or an offset, and if material or thickness is neither given nor in the file.
    """
    if isinstance(mesh, skfem.Mesh):
        if request != MeshRequest(flat=True):
            names = ", ".join(name for name in ("size", "select", "unit", "max_cells", "temperature"))
            raise ValueError(f"{names} must be left out for a mesh of scikit-fem")
        if material is None or thickness is None:
            raise ValueError("material and thickness must be given for a mesh of scikit-fem")
        return GivenPlate(mesh, material, thickness, PLAIN_AXES)
    held = read_contents(mesh, omit, request)
    refuse_left_out(held, ("mass", "stiffness"), masses=True)
    _refuse_offsets(held)
    flat, plane = flattened(held.mesh)
    if material is None:
        warn_of_laws(held)
        material = _materials(held, plane)
        damped = file_damping(held)
        if damped.mass or damped.stiffness:
            raise ValueError("damping of the file must be given to a plate, damping=fem.Damping(...), or by omit=")
    return GivenPlate(flat, material, _thicknesses(held) if thickness is None else thickness, plane)


def is_drawn(mesh: Source | skfem.Mesh) -> bool:
    """True for the path of a drawing."""
    return isinstance(mesh, str | os.PathLike) and Path(mesh).suffix.lower() in FORMATS


def _refuse_offsets(held: MeshContents) -> None:
    """Raise ValueError for shells of a file whose middle surface is offset from their nodes."""
    for region, shell in held.shells.items():
        if shell.offset:
            raise ValueError(
                f"shells of {region!r} must have their middle surface at their nodes, got {shell.offset} "
                f"({shell.keyword}, {shell.place}): a plate has no offset; move the nodes"
            )


def _thicknesses(held: MeshContents) -> dict[str, float]:
    """Thicknesses [m] of the shells of a file, by region.

    Raises ValueError if the file has no section of shells, or one with layers.
    """
    if not held.shells:
        raise ValueError("thickness must be given: the mesh has no section of shells")
    for region, shell in held.shells.items():
        _refuse_layers(region, shell)
    return {region: shell.thickness for region, shell in held.shells.items()}


def _refuse_layers(region: str, shell: Any) -> None:
    if shell.why:
        raise ValueError(
            f"shells of {region!r} must be of one material and thickness, got {shell.words()}: give material= and "
            "thickness="
        )


def _materials(held: MeshContents, plane: PlaneAxes) -> dict[str, Elastic]:
    """Materials of a file by the regions of cells, in axes of the plate.

    Raises ValueError for shells with layers, and for materials that are not isotropic if the axes of the plate are not
    those of the file.
    """
    for region, shell in held.shells.items():
        _refuse_layers(region, shell)
    materials = file_materials(held)
    for name, material in materials.items():
        if not isinstance(material, Material) and np.any(plane.axes != np.eye(3)):
            raise ValueError(
                f"material of {name!r} must be isotropic, or given in axes of the plate: its plane is not z = 0"
            )
    return materials
