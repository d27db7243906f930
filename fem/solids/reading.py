"""Reading of a solid: mesh, materials, masses and ports of a file as a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, get_args

import meshio
import numpy as np
import skfem

from flexph.meshes.contents import MeshContents, refuse_left_out
from flexph.meshes.drawings.drawing import PLAIN, MeshRequest
from flexph.meshes.files.reading import Source, read_contents
from flexph.numerics import checks as check
from flexph.numerics.arguments import warn
from flexph.systems.nonlinear import ValidityWarning

from ..materials.damping import Damping
from ..materials.elastic import Elastic
from ..materials.file_materials import file_damping, file_materials, warn_of_elements, warn_of_laws
from ..meshes.reading import solid_mesh
from .inertia import with_file_masses
from .model import SolidModel, solid_model
from .ties import Tie, given_ties

Plane = Literal["stress", "strain"]
LOCKING = 0.1 * (1.0 - 1e-9)
"""Smallest eigenvalue of a compliance with unit diagonal (1 − 2ν if isotropic) below which degree 1 locks."""


class Shape(NamedTuple):
    """Arguments of :func:`fem.solid`: degree of the shape functions, kind of a plane body, thickness [m]."""

    degree: int | None = None
    plane: Plane | None = None
    thickness: float | None = None


class GivenSolid(NamedTuple):
    """A solid as it was read: its model, the ties of its ports by name, and its damping."""

    model: SolidModel
    ports: dict[str, Tie]
    damping: Damping


def read_solid(
    mesh: Source | skfem.Mesh,
    material: Elastic | Mapping[str, Elastic] | None,
    shape: Shape,
    *,
    ports: Mapping[str, Any],
    damping: Damping | None = None,
    omit: Sequence[str] = (),
    request: MeshRequest = PLAIN,
) -> GivenSolid:
    """Read a solid: its model, the ties of its ports, with couplings of the file, and its damping.

    Warns of contents of the file that are ignored, and of locking. Raises ValueError for contents that change mass or
    stiffness.
    """
    plane = shape.plane
    if plane is not None:
        check.choice("plane", plane, get_args(Plane))
    scikit = isinstance(mesh, skfem.Mesh)
    held = read_contents(meshio.Mesh([], []) if scikit else mesh, omit, request)
    if scikit and request != PLAIN:
        raise ValueError("unit must be left out for a mesh of scikit-fem: scale its points, mesh.scaled(1e-3)")
    ties = given_ties(ports)
    refuse_left_out(held, ("mass", "stiffness"), ports={t.region for t in ties.values() if isinstance(t.region, str)})
    warn_of_elements(held)
    if material is None:
        warn_of_laws(held)
    read = solid_mesh(mesh if scikit else held.mesh, plane=plane is not None, degree=shape.degree)
    from_file = file_materials(held) if material is None else material
    model = solid_model(read, from_file, plane=plane, thickness=shape.thickness)
    model = with_file_masses(model, held)
    _warn_of_locking(model)
    of_file = file_damping(held) if material is None and damping is None else Damping()
    return GivenSolid(model, _with_couplings(ties, held), of_file if damping is None else damping)


def _with_couplings(ties: Mapping[str, Tie], held: MeshContents) -> dict[str, Tie]:
    """Ties in which names of couplings of a file are replaced by the data of these couplings.

    These are regions, kinds, reference points and weights. What the tie itself gives takes precedence.
    """
    resolved = {}
    for name, tie in ties.items():
        coupling = held.couplings.get(tie.region) if isinstance(tie.region, str) else None
        if coupling is None:
            resolved[name] = tie
        else:
            how, at = tie.how or coupling.how, coupling.at if tie.at is None else tie.at
            weights = coupling.weights if how == "mean" and tie.weights is None else tie.weights
            resolved[name] = Tie(coupling.region, how, at, weights)
    return resolved


def _warn_of_locking(model: SolidModel) -> None:
    """Warn if cells of degree 1 lock because a material is nearly incompressible; ν = ½ raises ValueError."""
    assert len(model.compliances) == len(model.materials)
    if model.mesh.degree > 1 or model.plane == "stress":
        return
    for material in model.materials.values():
        size = np.sqrt(material.compliance.diagonal())
        if np.linalg.eigvalsh(material.compliance / np.outer(size, size))[0] < LOCKING:
            text = "cells of degree 1 lock with a nearly incompressible material (poisson above 0.45): use degree=2"
            warn(text, ValidityWarning)
            return
