"""Stresses of bodies at their stress points, and the largest value in each cell.

Pictures, reports, envelopes, files and sensors use this definition. The points of a linear solid are those of its
stresses, of a plate those of its moments at both faces, of a solid of finite strain those of its strains (Cauchy
stress), and of a beam or rod points of the sections at both ends of each drawn piece.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...numerics.arrays import Array
from ...numerics.rotations import entry_count, from_entries
from ..fields import TensorField
from ..nodal_body import AnyBody, NodalBody
from ..section_stress import SectionStress
from ..stress_fields import principal_stresses, tensors, von_mises
from .deformation import CurrentTensor, deformation_gradients

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
        """State at some of the times."""
        return BodyState(*(part[pick] for part in self))


def body_state(body: AnyBody, part: Callable[[str], Array]) -> BodyState:
    """Body state from a function of part names, such as ``stress`` (k, m)."""
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

    ``von_mises(state)`` is (k, p); ``principal(state)`` the largest and smallest principal stress, (k, p) each.
    ``positions`` (p, d) [m]; ``cell`` (p,) is the mesh cell of each point, ascending, ``drawn`` (c,) the mesh cell of
    each drawn cell; ``numbers`` is the number of stress values of a state; ``kind`` is :data:`VON_MISES`, or
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

    @property
    def first(self) -> Array:
        """First point of each cell of the mesh."""
        return np.flatnonzero(np.diff(self.cell, prepend=-1))

    def largest(self, values: Array) -> Array:
        """Largest values in the drawn cells (…, c) of values at the points (…, p)."""
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
    """Stress points with the invariants of tensors (k, p, 6)."""

    def principal(state: BodyState) -> tuple[Array, Array]:
        values = principal_stresses(of(state))
        return values[..., 0], values[..., 2]

    mises = lambda state: von_mises(of(state))  # noqa: E731
    numbers = 6 * len(field.cell)
    return StressPoints(field.unit, field.positions, field.cell, field.drawn, mises, principal, numbers)


def _of_sections(own: SectionStress) -> StressPoints:
    return StressPoints(
        unit="Pa",
        positions=own.positions,
        cell=own.cell,
        drawn=own.drawn,
        von_mises=lambda state: own.von_mises(state.stress),
        principal=lambda state: own.principal(state.stress),
        numbers=3 * len(own.cell) * own.factors.shape[1],
        kind=VON_MISES if own.complete else AXIAL,
    )


def largest_in_cells(body: AnyBody, state: BodyState) -> Array:
    """Largest von Mises stress of each cell over its points and tensors, (k, drawn cells) [Pa].

    For sections with unknown shear stresses, the absolute axial stress.
    """
    points = stress_points(body)
    size = max(1, ENTRIES // numbers_of(body))
    parts = [state.rows(slice(i, i + size)) for i in range(0, max(len(state.stress), 1), size)]
    largest = [np.max([own.largest(own.von_mises(part)) for own in points.values()], axis=0) for part in parts]
    return np.concatenate(largest)


def numbers_of(body: AnyBody) -> int:
    """Number of stress values of a body at one time."""
    return max(sum(own.numbers for own in stress_points(body).values()), body.stress_size, 1)


def times_to_look_at(bodies: Iterable[AnyBody], count: int) -> Array:
    """Indices of the times at which stresses are evaluated: all of ``count``, or evenly spaced ones of a long run."""
    most = max(FEWEST, LOOKED // max(sum(numbers_of(body) for body in bodies if body.stress_size), 1))
    return np.arange(count) if count <= most else np.linspace(0, count - 1, most).round().astype(int)


def kind_of(body: AnyBody) -> str | None:
    """Kind of the largest stress of a cell, a key of :data:`LABELS`; None without stress points."""
    return next((own.kind for own in stress_points(body).values()), None)
