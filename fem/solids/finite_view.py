"""View of a solid of finite strain: its cells, with Piola-Kirchhoff and Cauchy stresses."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from flexph.bodies.fields import View
from flexph.bodies.nodal_body import PointLaw
from flexph.bodies.stresses import CurrentTensor
from flexph.numerics.arrays import Array

from ..materials.elastic import normal_stress
from ..materials.strain_laws import whole_stress
from ..meshes.drawing import drawing
from .model import SolidModel
from .view import stress_tensor

KIRCHHOFF = "second_piola_kirchhoff"
VOIGT = np.array([[0, 5, 4], [5, 1, 3], [4, 3, 2]])
"""Index of Voigt's components (xx, yy, zz, yz, xz, xy) in the symmetric matrix."""


def finite_view(model: SolidModel, weights: Any, laws: tuple[PointLaw, ...]) -> View:
    """View of the mesh, with nodes moved by ``weights`` (N, nodes), and the second Piola-Kirchhoff stress.

    The stress is left out if S_zz of a law in plane strain is a nonlinear function of the other components.
    """
    shown = drawing(model.mesh)
    tensor = stress_tensor(model, shown)
    if laws:  # the compliances hold at zero strain
        tensor = replace(tensor, compliances=np.zeros((0, 6, 6)))
    return View(
        points=model.mesh.points[shown.used],
        cells=shown.cells,
        cell_type=shown.name,
        shape=weights[shown.used],
        tensors={} if laws and model.plane == "strain" else {KIRCHHOFF: tensor},
    )


def current_tensors(model: SolidModel, laws: tuple[PointLaw, ...]) -> dict[str, CurrentTensor]:
    """Cauchy stress, and the second Piola-Kirchhoff stress where it is a nonlinear function of the states, by name."""
    drawn = drawing(model.mesh).drawn
    place = (model.positions, model.weights, model.cell_of_point, drawn)
    stress = FiniteStress(model, laws)
    tensors = {"cauchy": CurrentTensor("Pa", stress.cauchy, *place)}
    if laws and model.plane == "strain":
        tensors[KIRCHHOFF] = CurrentTensor("Pa", stress.kirchhoff, *place)
    return tensors


@dataclass(frozen=True, eq=False)
class FiniteStress:
    """Stresses at the points of a model from its deformation gradients F (k, p, d, d) and states (k, m), at k times."""

    model: SolidModel
    laws: tuple[PointLaw, ...]

    def kirchhoff(self, gradients: Array, sigma: Array) -> Array:
        """Second Piola-Kirchhoff stress S, (k, p, 6)."""
        return _drawn(self._spatial(gradients, sigma)[1])

    def cauchy(self, gradients: Array, sigma: Array) -> Array:
        """Cauchy stress F S Fᵀ / det F, (k, p, 6)."""
        F, S = self._spatial(gradients, sigma)
        return _drawn(F @ S @ np.swapaxes(F, -1, -2) / np.linalg.det(F)[..., None, None])

    def _spatial(self, gradients: Array, sigma: Array) -> tuple[Array, Array]:
        """F and S as spatial tensors, (k, p, 3, 3) each."""
        (k, p), c = gradients.shape[:2], self.model.components
        stress = sigma.reshape(k, p, c)
        if self.model.plane is None:
            return gradients, stress[..., VOIGT]
        F, S = np.zeros((k, p, 3, 3)), np.zeros((k, p, 3, 3))
        F[..., :2, :2] = gradients
        S[..., :2, :2] = stress[..., [[0, 2], [2, 1]]]
        stretch, S[..., 2, 2] = self._across(gradients, stress)
        F[..., 2, 2] = np.sqrt(1.0 + 2.0 * stretch)
        return F, S

    def _across(self, gradients: Array, stress: Array) -> tuple[Array, Array]:
        """E_zz and S_zz of a planar body, (k, p)."""
        model, plane = self.model, str(self.model.plane)
        of = model.material_of[model.cell_of_point]
        materials = list(model.materials.values())
        normal = np.array([normal_stress(m.compliance, plane) for m in materials])[of]
        side = np.array([m.compliance[2, [0, 1, 5]] for m in materials])[of]
        strain = np.einsum("kpc,pc->kp", stress, side) if plane == "stress" else np.zeros(stress.shape[:2])
        across = np.einsum("kpc,pc->kp", stress, normal)
        green = 0.5 * (np.swapaxes(gradients, -1, -2) @ gradients - np.eye(2))
        voigt = np.stack([green[..., 0, 0], green[..., 1, 1], 2.0 * green[..., 0, 1]], axis=-1)
        for part in self.laws:
            points = part.rows[:, 0] // model.components
            whole, own = whole_stress(part.law, voigt[:, points].reshape(-1, 3))
            strain[:, points], across[:, points] = (x[:, 2].reshape(-1, points.size) for x in (whole, own))
        return strain, across


def _drawn(tensor: Array) -> Array:
    """Components (…, 6) of symmetric tensors (…, 3, 3) in the order of drawn tensors: xx, yy, zz, xy, yz, xz."""
    return np.stack([tensor[..., i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (0, 2))], axis=-1)
