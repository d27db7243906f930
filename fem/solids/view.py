"""Views of a solid: cells, and stresses at its stress points, also as smooth fields and for finite strains."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from flexph.bodies.fields import TensorField, View
from flexph.bodies.nodal_body import PointLaw
from flexph.bodies.stresses import CurrentTensor
from flexph.numerics.arrays import Array, compact

from ..materials.elastic import normal_stress
from ..materials.strain_laws import whole_stress
from ..meshes.cells import table, through_points
from ..meshes.drawing import Drawing, drawing, node_values
from .model import SolidModel

FLAT = 1e-9
"""Relative moment of the points around a corner below which no slope along its direction is fitted."""
FAR = 30.0
"""Squared distance of a corner from the centre of the points around it, divided by their moments, above which their
mean is taken: a corner of a single cell has up to 15."""


def smoothing(model: SolidModel, linear: list[Array], positions: Array, weights: Array) -> tuple[Any, Any, list[Array]]:
    """Matrices of a smooth stress field: (p, g) from corner values to points, and (g, p) from points to corner values.

    The second one fits by least squares over the cells around a corner (O. C. Zienkiewicz, J. Z. Zhu, Int. J. Numer.
    Meth. Engng 33 (1992)). ``positions`` (p, d) and volumes ``weights`` (p,) are those of the points; ``linear`` (k, q,
    corners), by block, are the functions of the corners there. The third value has the numbers (k, corners) of the
    corners of each cell among the g, for each block. At an interface of materials each material has a separate corner
    value.
    """
    mesh, kinds = model.mesh, len(model.materials)
    starts = mesh.starts
    keys = [
        kinds * block.corners() + model.material_of[starts[b] : starts[b + 1], None]
        for b, block in enumerate(mesh.blocks)
    ]
    distinct = np.unique(np.concatenate([k.ravel() for k in keys]))
    corners = [np.searchsorted(distinct, k) for k in keys]
    columns = np.concatenate(
        [np.broadcast_to(c[:, None], v.shape).ravel() for c, v in zip(corners, linear, strict=True)]
    )
    rows = np.repeat(np.arange(len(weights)), np.concatenate([np.full(v[..., 0].size, v.shape[2]) for v in linear]))
    shape = len(weights), len(distinct)
    spread = sparse.coo_array((np.concatenate([v.ravel() for v in linear]), (rows, columns)), shape=shape).tocsr()
    share = _fitted(mesh.points[distinct // kinds], positions, weights, points=rows, corners=columns)
    gather = sparse.coo_array((share, (columns, rows)), shape=shape[::-1]).tocsr()
    return spread, gather, corners


def _fitted(at: Array, positions: Array, weights: Array, *, points: Array, corners: Array) -> Array:
    """Weights by which values at points add up to values at corners, for each pair (``points``, ``corners``).

    A corner has the value of a weighted linear fit: the mean of the points plus slope · lever, with the lever from
    their mean position to the corner. ``at`` (g, d) are the corners, ``positions`` (p, d) and ``weights`` (p,) belong
    to the points.
    """
    d, size = at.shape[1], len(at)
    summed = lambda v: np.bincount(corners, v, size)  # noqa: E731 - over the points of each corner
    w = weights[points]
    w = w / summed(w)[corners]
    middle = np.column_stack([summed(w * positions[points, i]) for i in range(d)])
    lever = positions[points] - middle[corners]
    moments = np.stack([np.stack([summed(w * lever[:, i] * lever[:, j]) for j in range(d)], 1) for i in range(d)], 1)
    slope = np.einsum("gij,gj->gi", np.linalg.pinv(moments, rcond=FLAT, hermitian=True), at - middle)
    slope[np.einsum("gi,gi->g", slope, at - middle) > FAR] = 0.0
    return w * (1.0 + np.einsum("ki,ki->k", slope[corners], lever))


ORDER = {2: ((0, 0), (1, 1), (3, 2)), 3: ((0, 0), (1, 1), (2, 2), (3, 5), (4, 3), (5, 4))}
"""Positions of the components in a drawn tensor (xx, yy, zz, xy, yz, xz), and in the state."""
VOIGT_OF_DRAWN = [0, 1, 2, 5, 3, 4]
"""Voigt numbers of the components of a drawn tensor."""


def solid_view(model: SolidModel, shapes: Any) -> View:
    """View of a solid with its stress tensor: the cells of the mesh, or simplices if it mixes types.

    ``shapes`` (N·d, n) give the nodal displacements from the coordinates.
    """
    shown = drawing(model.mesh)
    return replace(shape_view(model, shown, shapes), tensors={"stress": stress_tensor(model, shown)})


def shape_view(model: SolidModel, shown: Drawing, shapes: Any) -> View:
    """View of a solid without stresses, of the drawn cells ``shown``.

    ``shapes`` (N·d, n) give the nodal displacements from the coordinates.
    """
    rows = (model.dim * shown.used[:, None] + np.arange(model.dim)).ravel()
    return View(
        points=model.mesh.points[shown.used],
        cells=shown.cells,
        cell_type=shown.name,
        shape=sparse.csr_array(shapes)[rows],
    )


def stress_tensor(model: SolidModel, shown: Drawing) -> TensorField:
    """Stress tensor field of a solid, with maps from the stress coordinates.

    They give means of the drawn cells, values at the stress points, and a smooth field.
    """
    linear = [
        np.broadcast_to(values := table(b.kind.shape, b.kind.stress)[0].T, (len(b.nodes), *values.shape))
        for b in model.mesh.blocks
    ]
    points = TensorPoints(
        tensors=tensor_rows(model),
        positions=model.positions,
        weights=model.weights,
        cell=model.cell_of_point,
        linear=linear,
        nodal=[through_points(b.kind, b.kind.positions) for b in model.mesh.blocks],
        first=np.cumsum([0, *model.point_counts]),
    )
    return tensor_field(model, shown, points)


class TensorPoints(NamedTuple):
    """Points (p,) at which a stress tensor is known, with the matrix ``tensors`` (6p, m) from the stress coordinates.

    ``positions`` are (p, d) [m], ``weights`` volumes [m³], and ``cell`` is the cell of each. For each block, ``linear``
    are the functions of the corners at the points of a cell, ``nodal`` the polynomials through the points at all nodes
    of a cell, and ``first`` is the number of the first point.
    """

    tensors: Any
    positions: Array
    weights: Array
    cell: Array
    linear: list[Array]
    nodal: list[Array]
    first: Array


def tensor_field(model: SolidModel, shown: Drawing, points: TensorPoints, height: Array | None = None) -> TensorField:
    """Field of a stress tensor that is known at points, with maps to drawn cells and to a smooth field.

    Points of a plate are at the ``height`` (p,) [m] above the plane of its mesh.
    """
    spread, gather, corners = smoothing(model, points.linear, points.positions, points.weights)
    volumes = np.bincount(points.cell, points.weights)
    share = points.weights / volumes[points.cell]
    mean = sparse.csr_array((share, (points.cell, np.arange(len(share)))), (len(volumes), len(share)))
    six, compliances = sparse.eye_array(6), np.array([m.compliance for m in model.materials.values()])
    return TensorField(
        unit="Pa",
        cells=compact(sparse.kron(mean[shown.drawn], six) @ points.tensors),
        drawn=shown.drawn,
        at=points.tensors,
        positions=points.positions if height is None else np.column_stack([points.positions, height]),
        weights=points.weights,
        cell=points.cell,
        nodal=compact(sparse.kron(gather, six) @ points.tensors),
        spread=compact(spread),
        compliances=compliances[:, VOIGT_OF_DRAWN][:, :, VOIGT_OF_DRAWN],
        material=model.material_of[points.cell],
        nodes=node_values(model.mesh, shown, points.nodal, firsts=points.first, corners=corners),
    )


def tensor_rows(model: SolidModel) -> Any:
    """Sparse matrix (6p, m) from the stress coordinates to tensors (xx, yy, zz, xy, yz, xz) at all p stress points."""
    c, count = model.components, len(model.weights)
    of = model.material_of[model.cell_of_point]
    maps = np.zeros((len(model.materials), 6, c))
    for to, component in ORDER[model.dim]:
        maps[:, to, component] = 1.0
    if model.plane is not None:
        maps[:, 2] = [normal_stress(m.compliance, model.plane) for m in model.materials.values()]
    blocks = sparse.bsr_array((maps[of], np.arange(count), np.arange(count + 1)), shape=(6 * count, c * count))
    rows = sparse.csr_array(blocks)
    rows.eliminate_zeros()
    return compact(rows)


KIRCHHOFF = "second_piola_kirchhoff"
VOIGT = np.array([[0, 5, 4], [5, 1, 3], [4, 3, 2]])
"""Index of Voigt's components (xx, yy, zz, yz, xz, xy) in the symmetric matrix."""


def finite_view(model: SolidModel, weights: Any, laws: tuple[PointLaw, ...]) -> View:
    """View of a body of finite strain with its second Piola-Kirchhoff stress.

    ``weights`` (N, nodes) give the mesh nodes from the nodes of the body. The stress is left out if S_zz of a law in
    plane strain is a nonlinear function of the other components.
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
    """Stress tensors of the current state by name: Cauchy stress and, in some bodies, second Piola-Kirchhoff stress.

    The latter is included for laws in plane strain only, where it is a nonlinear function of the states.
    """
    drawn = drawing(model.mesh).drawn
    place = (model.positions, model.weights, model.cell_of_point, drawn)
    stress = FiniteStress(model, laws)
    tensors = {"cauchy": CurrentTensor("Pa", stress.cauchy, *place)}
    if laws and model.plane == "strain":
        tensors[KIRCHHOFF] = CurrentTensor("Pa", stress.kirchhoff, *place)
    return tensors


@dataclass(frozen=True, eq=False)
class FiniteStress:
    """Stresses at the p stress points of a body of finite strain, at k times.

    Its methods take the deformation gradients F, ``gradients`` (k, p, d, d), and the stress states ``sigma`` (k, m).
    """

    model: SolidModel
    laws: tuple[PointLaw, ...]

    def kirchhoff(self, gradients: Array, sigma: Array) -> Array:
        """Second Piola-Kirchhoff stress S (k, p, 6) in the order of drawn tensors: xx, yy, zz, xy, yz, xz."""
        return _drawn(self._spatial(gradients, sigma)[1])

    def cauchy(self, gradients: Array, sigma: Array) -> Array:
        """Cauchy stress F S Fᵀ / det F (k, p, 6) in the order of drawn tensors: xx, yy, zz, xy, yz, xz."""
        F, S = self._spatial(gradients, sigma)
        return _drawn(F @ S @ np.swapaxes(F, -1, -2) / np.linalg.det(F)[..., None, None])

    def _spatial(self, gradients: Array, sigma: Array) -> tuple[Array, Array]:
        """Deformation gradients F and second Piola-Kirchhoff stresses S as spatial tensors, (k, p, 3, 3) each."""
        (k, p), c = gradients.shape[:2], self.model.components
        stress = sigma.reshape(k, p, c)
        if self.model.plane is None:
            return gradients, stress[..., VOIGT]
        F, S = np.zeros((k, p, 3, 3)), np.zeros((k, p, 3, 3))
        F[..., :2, :2] = gradients
        S[..., :2, :2] = stress[..., [[0, 2], [2, 1]]]
        stretch, S[..., 2, 2] = self._transverse(gradients, stress)
        F[..., 2, 2] = np.sqrt(1.0 + 2.0 * stretch)
        return F, S

    def _transverse(self, gradients: Array, stress: Array) -> tuple[Array, Array]:
        """Transverse strain E_zz and transverse stress S_zz of a planar body, (k, p) each.

        ``stress`` (k, p, 3) has the components in the plane.
        """
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
