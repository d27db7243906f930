"""Stress tensors, von Mises and principal stresses at the stress points of bodies, and the largest value in each cell.

Pictures, reports, envelopes, files and sensors take stresses from here. The stress points of a linear solid
are the points of its stress coordinates, of a plate those of its moments, at both faces, of a solid of finite strain
those of its strains (Cauchy stress), and of a beam or rod points of the sections at both ends of each drawn piece.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.rotations import entry_count, from_entries
from .fields import SectionStress, TensorField
from .nodal_body import AnyBody, NodalBody

_MATRIX = np.array([[0, 3, 5], [3, 1, 4], [5, 4, 2]])
"""Indices of the six components (xx, yy, zz, xy, yz, xz) in the symmetric matrix."""


@checked
def tensors(rows: Any, sigma: Array) -> Array:
    """Stress tensors from stress coordinates, by one of the matrices of a :class:`TensorField` (``rows``).

    Parameters
    ----------
    rows : matrix
        Rows (k·6, m) of a :class:`TensorField`.
    sigma : array
        Stress coordinates (..., m), as ``solution["body.stress"]``.

    Returns
    -------
    array
        Tensors (..., k, 6) [Pa].
    """
    flat = np.asarray(sigma).reshape(-1, np.shape(sigma)[-1])
    return (rows @ flat.T).T.reshape(*np.shape(sigma)[:-1], -1, 6)


def _six(stress: Array) -> Array:
    given = np.asarray(stress)
    if given.shape[-1] != 6:
        raise ValueError(f"stress must have shape (..., 6), got {given.shape}")
    return given


@checked
def principal_stresses(stress: Array) -> Array:
    """Principal stresses σ₁ ≥ σ₂ ≥ σ₃ of tensors.

    Parameters
    ----------
    stress : array
        Tensors (..., 6) [Pa]: xx, yy, zz, xy, yz, xz.

    Returns
    -------
    array
        Principal stresses (..., 3) [Pa].
    """
    return np.linalg.eigvalsh(_six(stress)[..., _MATRIX])[..., ::-1]


@checked
def von_mises(stress: Array) -> Array:
    """Von Mises stress √(3/2 s:s) of tensors with deviator s.

    Parameters
    ----------
    stress : array
        Tensors (..., 6) [Pa]: xx, yy, zz, xy, yz, xz.

    Returns
    -------
    array
        Von Mises stresses (...) [Pa].
    """
    stress = _six(stress)
    normal, shear = stress[..., :3], stress[..., 3:]
    apart = (normal - normal[..., [1, 2, 0]]) ** 2
    return np.sqrt(0.5 * apart.sum(axis=-1) + 3.0 * (shear**2).sum(axis=-1))


@checked
def at_nodes(field: TensorField, sigma: Array, *, smoothed: bool = False) -> Array:
    """Stress tensors at the n nodes of each of the c drawn cells.

    Parameters
    ----------
    field : TensorField
        Stress tensors of a body at points of its cells.
    sigma : array
        Stress coordinates (..., m), as ``solution["body.stress"]``.
    smoothed : bool
        True for the smooth field of :func:`stress_error`, continuous within each material; False for the polynomial
        through the values at the stress points of each cell, discontinuous between cells.

    Returns
    -------
    array
        Tensors (..., c, n, 6) [Pa].
    """
    values = tensors(field.nodal if smoothed else field.at, sigma)
    fields = []
    for group in field.nodes:
        k, q = len(group.corners), group.own.shape[-1]
        if smoothed:
            fields.append(group.smooth @ values[..., group.corners, :])
        else:
            of_group = values[..., group.first : group.first + k * q, :]
            fields.append(group.own @ of_group.reshape(*of_group.shape[:-2], k, q, 6))
    return np.concatenate(fields, axis=-3)


@checked
def stress_error(field: TensorField, sigma: Array) -> Array:
    """Stress error indicator η of each cell of the mesh: ``η² = ∫ (σ* − σ) : S (σ* − σ)``.

    σ* is the smooth field of the same stresses (means at the corners, interpolated): O. C. Zienkiewicz, J. Z. Zhu, Int.
    J. Numer. Meth. Engng 24 (1987). Divided by the energy norm √(∫σ:Sσ), it estimates the relative error of the
    stresses.

    Parameters
    ----------
    field : TensorField
        Stress tensors of a body at points of its cells.
    sigma : array
        Stress coordinates (..., m), as ``solution["body.stress"]``.

    Returns
    -------
    array
        Indicators (..., cells) [√J].
    """
    smooth = np.moveaxis(tensors(field.nodal, sigma), -2, 0)
    spread = np.moveaxis((field.spread @ smooth.reshape(len(smooth), -1)).reshape(-1, *smooth.shape[1:]), 0, -2)
    return np.sqrt(_by_cells(field, spread - tensors(field.at, sigma)))


@checked
def energy_norm(field: TensorField, sigma: Array) -> Array:
    """Energy norm √(∫σ:Sσ) of a body; its square is twice the elastic energy.

    Parameters
    ----------
    field : TensorField
        Stress tensors of a body at points of its cells.
    sigma : array
        Stress coordinates (..., m), as ``solution["body.stress"]``.

    Returns
    -------
    array
        Energy norm (...) [√J].
    """
    return np.sqrt(_by_cells(field, tensors(field.at, sigma)).sum(axis=-1))


@checked
def peak_von_mises(field: TensorField, sigma: Array) -> Array:
    """Largest von Mises stress among the points of each cell of the mesh.

    Parameters
    ----------
    field : TensorField
        Stress tensors of a body at points of its cells.
    sigma : array
        Stress coordinates (..., m), as ``solution["body.stress"]``.

    Returns
    -------
    array
        Largest stresses (..., cells) [Pa].
    """
    values = von_mises(tensors(field.at, sigma))
    return np.maximum.reduceat(values, first_points(field), axis=-1)


def first_points(field: TensorField) -> Array:
    """Index of the first stress point of each cell of the mesh, as points are sorted by cell."""
    return np.flatnonzero(np.diff(field.cell, prepend=-1))


def _by_cells(field: TensorField, stress: Array) -> Array:
    """Integrals ∫ σ:Sσ over each cell, with compliances S, for stress tensors at the points (…, p, 6)."""
    if not len(field.compliances):
        raise ValueError("energies of stresses need compliances, which this stress field does not have")
    density = np.empty(stress.shape[:-1])
    for k, compliance in enumerate(field.compliances):
        mine = field.material == k
        density[..., mine] = np.einsum("...i,ij,...j->...", stress[..., mine, :], compliance, stress[..., mine, :])
    return np.add.reduceat(density * field.weights, first_points(field), axis=-1)


@dataclass(frozen=True, eq=False)
class CurrentTensor:
    """Stress tensor at p points of a body that depends on its deformation, as in solids of finite strain.

    ``of(F, σ)`` returns its components (xx, yy, zz, xy, yz, xz), (k, p, 6), in k states of the body with deformation
    gradients F (k, p, d, d) at the points and stress coordinates σ (k, m). The points have ``positions`` (p, d) [m] and
    integration weights (volumes) ``weights`` (p,), and lie in the mesh cells ``cell`` (p,). ``drawn`` (c,) is the mesh
    cell of each drawn cell.
    """

    unit: str
    of: Callable[[Array, Array], Array]
    positions: Array
    weights: Array
    cell: Array
    drawn: Array

    def in_cells(self, values: Array) -> Array:
        """Means (k, c, …) over the drawn cells, weighted by volume, of values at the points (k, p, …)."""
        volumes = np.bincount(self.cell, self.weights)
        means = np.zeros((volumes.size, *np.moveaxis(values, 1, 0).shape[1:]))
        share = (self.weights / volumes[self.cell]).reshape(-1, *[1] * (values.ndim - 1))
        np.add.at(means, self.cell, share * np.moveaxis(values, 1, 0))
        return np.moveaxis(means[self.drawn], 0, 1)


def deformation_gradients(body: NodalBody, centres: Array, rotations: Array) -> Array:
    """Deformation gradients F at the points of a solid, (k, p, d, d), from the centres and rotations of its nodes."""
    (k, _, d), turning = centres.shape, body.turning
    offsets = np.array([frame.centre for frame in body.frames[:turning]]).reshape(turning, d)
    R = rotations[:, :turning]
    origins = centres[:, :turning] - np.einsum("knij,nj->kni", R, offsets)
    frame_points = np.concatenate([origins[:, :, None], R.transpose(0, 1, 3, 2)], axis=2).reshape(
        k, turning * (d + 1), d
    )
    places = np.concatenate([frame_points, centres[:, turning:]], axis=1)
    columns = body.elasticity.vectors @ np.moveaxis(places, 1, 0).reshape(places.shape[1], k * d)
    return np.asarray(columns.reshape(-1, d, k, d).transpose(2, 0, 3, 1))


VON_MISES, AXIAL = "von_mises", "axial_size"
LABELS = {VON_MISES: "von Mises stress, largest in cell", AXIAL: "size of axial stress, largest in cell"}
"""Labels of the largest stress of a cell by kind; it is the axial stress if shear stresses are unknown."""
CURRENT = "cauchy"
"""Name of the tensor of solids of finite strain."""
ENTRIES = 4_000_000
"""Largest number of stress values in memory at a time (32 MB for each array)."""
LOOKED, FEWEST = 100_000_000, 40
"""Largest number of stress values evaluated over a run, and least number of times."""


class BodyState(NamedTuple):
    """Stress coordinates (k, m) of a body at k times, with the configuration of a solid of finite strain.

    ``centres`` (k, N, d) and ``rotations`` (k, T, d, d) are those of its N nodes and of the T nodes that turn;
    N = T = 0 for other bodies.
    """

    stress: Array
    centres: Array
    rotations: Array

    def rows(self, pick: slice) -> BodyState:
        """State of the body at those of the k times that ``pick`` selects."""
        return BodyState(*(part[pick] for part in self))


def body_state(body: AnyBody, part: Callable[[str], Array]) -> BodyState:
    """Stresses and configuration of a body at k times, from a function that returns its states by part name.

    ``part("stress")`` is (k, m), for instance.
    """
    sigma = part("stress")
    k, d = len(sigma), body.dim
    if not isinstance(body, NodalBody) or not body.current:
        return BodyState(sigma, np.zeros((k, 0, d)), np.zeros((k, 0, d, d)))
    entries = part("rotation").reshape(k, body.turning, entry_count(d)) if body.turning else np.zeros((k, 0, 1))
    rotations = from_entries(entries, d) if body.turning else np.zeros((k, 0, d, d))
    return BodyState(sigma, part("centre").reshape(k, len(body.frames), d), rotations)


@dataclass(frozen=True, eq=False)
class StressPoints:
    """Stress invariants at p points of the cells of a body.

    ``von_mises(state)`` is (k, p), ``principal(state)`` the largest and smallest principal stress, (k, p) each. The
    points are at ``positions`` (p, d) [m] and in the mesh cells ``cell`` (p,), ascending; ``drawn`` (c,) is the mesh
    cell of each drawn cell. ``numbers`` is the number of stress values of a state. ``kind`` is :data:`VON_MISES`, or
    :data:`AXIAL` for sections with unknown shear stresses.
    """

    unit: str
    positions: Array
    cell: Array
    drawn: Array
    von_mises: Callable[[BodyState], Array]
    principal: Callable[[BodyState], tuple[Array, Array]]
    numbers: int
    kind: str = VON_MISES

    @cached_property
    def first(self) -> Array:
        """Index of the first point of each cell of the mesh."""
        return np.flatnonzero(np.diff(self.cell, prepend=-1))

    def largest(self, values: Array) -> Array:
        """Largest value in each drawn cell, (…, c), of values at the points (…, p)."""
        return np.asarray(np.maximum.reduceat(values, self.first, axis=-1)[..., self.drawn])


def stress_points(body: AnyBody) -> Mapping[str, StressPoints]:
    """Stress points of a body by tensor name; empty for a body without stresses or view."""
    return body.once(_stress_points)


def _stress_points(body: AnyBody) -> Mapping[str, StressPoints]:
    view = body.view
    if view is None or not body.stress_size:
        return {}
    if isinstance(body, NodalBody) and CURRENT in body.current:
        return {CURRENT: _of_current(body, body.current[CURRENT])}
    if view.sections is not None:
        return {"stress" if view.sections.complete else "axial_stress_alone": _of_sections(view.sections)}
    units = [field.unit for field in view.tensors.values()]
    unit = "Pa" if "Pa" in units else next(iter(units), "")  # tensors of other programs may have other units
    return {name: _of_tensor(field) for name, field in view.tensors.items() if field.unit == unit}


def _of_tensor(field: TensorField) -> StressPoints:
    return _of_tensors(field, lambda state: tensors(field.at, state.stress))


def _of_current(body: NodalBody, tensor: CurrentTensor) -> StressPoints:
    def of(state: BodyState) -> Array:
        return tensor.of(deformation_gradients(body, state.centres, state.rotations), state.stress)

    return _of_tensors(tensor, of)


def _of_tensors(field: TensorField | CurrentTensor, of: Callable[[BodyState], Array]) -> StressPoints:
    """Stress points with the von Mises and principal stresses of the tensors (k, p, 6) that ``of(state)`` returns."""

    def principal(state: BodyState) -> tuple[Array, Array]:
        values = principal_stresses(of(state))
        return values[..., 0], values[..., 2]

    mises = lambda state: von_mises(of(state))  # noqa: E731
    numbers = 6 * len(field.cell)
    return StressPoints(field.unit, field.positions, field.cell, field.drawn, mises, principal, numbers)


def _of_sections(section_stress: SectionStress) -> StressPoints:
    return StressPoints(
        unit="Pa",
        positions=section_stress.positions,
        cell=section_stress.cell,
        drawn=section_stress.drawn,
        von_mises=lambda state: section_stress.von_mises(state.stress),
        principal=lambda state: section_stress.principal(state.stress),
        numbers=3 * len(section_stress.cell) * section_stress.factors.shape[1],
        kind=VON_MISES if section_stress.complete else AXIAL,
    )


def largest_in_cells(body: AnyBody, state: BodyState) -> Array:
    """Largest von Mises stress of each drawn cell over its points and over all tensors of the body, (k, cells) [Pa].

    For sections with unknown shear stresses it is the absolute axial stress.
    """
    points = stress_points(body)
    size = max(1, ENTRIES // numbers_of(body))
    parts = [state.rows(slice(i, i + size)) for i in range(0, max(len(state.stress), 1), size)]
    largest = [np.max([group.largest(group.von_mises(part)) for group in points.values()], axis=0) for part in parts]
    return np.concatenate(largest)


def numbers_of(body: AnyBody) -> int:
    """Number of stress values that a body has at one time, at least 1."""
    return max(sum(group.numbers for group in stress_points(body).values()), body.stress_size, 1)


def times_to_look_at(bodies: Iterable[AnyBody], count: int) -> Array:
    """Indices of the times, among ``count``, at which stresses are evaluated; evenly spaced if all take too long."""
    most = max(FEWEST, LOOKED // max(sum(numbers_of(body) for body in bodies if body.stress_size), 1))
    return np.arange(count) if count <= most else np.linspace(0, count - 1, most).round().astype(int)


def kind_of(body: AnyBody) -> str | None:
    """Kind of stress that :func:`largest_in_cells` returns, a key of :data:`LABELS`; None without stress points."""
    return next((group.kind for group in stress_points(body).values()), None)
