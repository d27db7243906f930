"""Mesh of a solid with its nodal mass, and its ports and loads in terms of the nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from flexph.bodies.nodal_mesh import MeshCells, MeshMaterial, MeshPort, NodalMesh

from ..meshes.drawing import drawing
from .loads import loaded_elements
from .model import SolidModel
from .ties import TiedPort


def nodal_mesh(model: SolidModel, ports: Mapping[str, TiedPort], loads: Mapping[str, Any]) -> NodalMesh | None:
    """Mesh of a spatial solid with its nodal mass, and its ports and loads in terms of the nodes.

    It is None for a plane body, and if a view does not show all nodes.
    """
    if model.dim != 3 or len(drawing(model.mesh).used) < len(model.mesh.points):
        return None
    materials = np.split(model.material_of, model.mesh.starts[1:-1])
    return NodalMesh(
        cells=tuple(
            MeshCells(b.kind.name, b.nodes, of_block) for b, of_block in zip(model.mesh.blocks, materials, strict=True)
        ),
        materials=tuple(
            MeshMaterial(m.density, C) for m, C in zip(model.materials.values(), model.moduli, strict=True)
        ),
        mass=model.mass,
        ports={name: MeshPort(port.nodes, port.rows, port.rigid) for name, port in ports.items()},
        loads={
            name: sparse.kron(loaded_elements(model, name, given)[0], sparse.eye_array(3)).tocsr()
            for name, given in loads.items()
        },
    )
