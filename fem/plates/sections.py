"""Section maps of plates: forces and moments through named lines."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from flexph.bodies.fields import SectionMap
from flexph.numerics.arrays import Array
from flexph.numerics.rotations import cross

from ..solids.section_maps import cell_weights, named_regions, side_weights
from ..solids.section_surfaces import Surface, oriented, surface
from .model import PlateModel
from .ties import rigid_motion


def plate_sections(
    model: PlateModel, shapes: Any, sections: Mapping[str, Any], rigid: Mapping[str, Array], *, quadratic: bool
) -> dict[str, SectionMap]:
    """Maps from stresses to section forces on named lines of a plate; ``quadratic`` for von Kármán strain."""
    return {
        name: _plate(model, shapes, surface(model.solid, name, given), rigid, quadratic=quadratic)
        for name, given in named_regions(sections).items()
    }


def _plate(model: PlateModel, shapes: Any, s: Surface, rigid: Mapping[str, Array], *, quadratic: bool) -> SectionMap:
    mesh, at = model.mesh, oriented(model.solid, s.back)
    moved, centre, radius = rigid_motion(model, s.nodes)
    turn, lever = radius * moved[:, 3:], np.append(at.centre, 0.0) - centre
    about = sparse.hstack([moved[:, :3], turn - moved[:, :3] @ np.einsum("aij,j->ia", cross(3), lever)]).tocsr()
    share = cell_weights(mesh, s, side_weights(mesh, s, rigid))
    cells = [(model.solid.cell_of_point, 3), (model.moment_cells, 3), (model.shear_cells, 2)]
    sign = np.concatenate([np.repeat(share[cell], count) for cell, count in cells])
    m, n = model.strain.shape[0], shapes.shape[1]
    bent, weights, slopes = np.zeros((0, 6)), sparse.csr_array((m, 0)), sparse.csr_array((0, n))
    if quadratic:
        own, spread = model.quadratic
        signed = sparse.csr_array(sparse.diags_array(np.tile(share[model.moment_cells], 3)) @ own @ about)
        near = np.flatnonzero(np.diff(signed.indptr))
        bent, weights, slopes = signed[near].toarray(), spread[:, near], own[near] @ shapes
    return SectionMap(
        position=np.append(at.centre, 0.0),
        normal=np.append(at.normal / at.area, 0.0),
        area=at.area,
        nodal=sparse.csr_array((sparse.diags_array(sign) @ model.strain @ about).T),
        lever=bent,
        weights=sparse.csr_array(weights),
        slopes=sparse.csr_array(slopes),
        traction=None,
    )
