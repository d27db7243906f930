"""Stresses of bodies at the points where they are computed, and the largest of each cell: the one definition of it.

Pictures, reports, envelopes, files and sensors ask here. Of a linear solid the points are those of its stresses, of a
plate those of its moments at both faces, of a solid of finite strain those of its strains, with the stress of Cauchy;
of a beam or rod they are points of the sections at both ends of each drawn piece.
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
"""What the largest stress of a cell is; of axial stress alone where shear stresses are not known."""
CURRENT = "cauchy"
"""The tensor of which solids of finite strain have invariants."""
ENTRIES = 4_000_000
"""Numbers of stresses that are held at a time (32 MB each array)."""
LOOKED, FEWEST = 100_000_000, 40
"""Numbers of stresses of all bodies that are looked at over a run, and times at least."""


class BodyState(NamedTuple):
    """Stress coordinates (k, m) of a body at k times, and of a solid of finite strain where its nodes are.

    centres (k, N, d) and rotations (k, T, d, d) are those of the N nodes and of the T of them that turn; N = T = 0 of
    other bodies.
    """

    stress: Array
    centres: Array
    rotations: Array

    def rows(self, pick: slice) -> BodyState:
        """The state at some of its times."""
        return BodyState(*(part[pick] for part in self))


def body_state(body: AnyBody, part: Callable[[str], Array]) -> BodyState:
    """The state from parts of the states by name, such as ``stress`` (k, m)."""
    sigma = part("stress")
    k, d = len(sigma), body.dim
    if not isinstance(body, NodalBody) or not body.current:
        return BodyState(sigma, np.zeros((k, 0, d)), np.zeros((k, 0, d, d)))
    entries = part("rotation").reshape(k, body.turning, entry_count(d)) if body.turning else np.zeros((k, 0, 1))
    rotations = from_entries(entries, d) if body.turning else np.zeros((k, 0, d, d))
    return BodyState(sigma, part("centre").reshape(k, len(body.frames), d), rotations)


@dataclass(frozen=True, eq=False)
class StressPoints:
    """Invariants of stresses at p points of the cells of a body.

    ``von_mises(state)`` (k, p), ``principal(state)`` the largest and the smallest principal stress, (k, p) each.
    positions (p, d) [m]; cell (p,): the cell of the mesh of each, ascending; drawn (c,): the cell of the mesh that each
    drawn cell is (a part) of; numbers: how many of them a state takes; kind: :data:`VON_MISES`, or :data:`AXIAL` of
    sections whose shear stresses are not known.
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
        """The first point of each cell of the mesh."""
        return np.flatnonzero(np.diff(self.cell, prepend=-1))

    def largest(self, values: Array) -> Array:
        """Largest values (…, drawn cells) of those at the points (…, p)."""
        return np.asarray(np.maximum.reduceat(values, self.first, axis=-1)[..., self.drawn])


def stress_points(body: AnyBody) -> Mapping[str, StressPoints]:
    """The points of a body by the names of their tensors; none of a body without stresses or without a view."""
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
    unit = "Pa" if "Pa" in units else next(iter(units), "")  # tensors of other programs may be others
    return {name: _of_tensor(field) for name, field in view.tensors.items() if field.unit == unit}


def _of_tensor(field: TensorField) -> StressPoints:
    return _of_tensors(field, lambda state: tensors(field.at, state.stress))


def _of_current(body: NodalBody, tensor: CurrentTensor) -> StressPoints:
    def of(state: BodyState) -> Array:
        return tensor.of(deformation_gradients(body, state.centres, state.rotations), state.stress)

    return _of_tensors(tensor, of)


def _of_tensors(field: TensorField | CurrentTensor, of: Callable[[BodyState], Array]) -> StressPoints:
    """Invariants of tensors (k, p, 6)."""

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
    """Largest von Mises stress (k, drawn cells) [Pa] of each cell, over all of its points and tensors.

    Of sections whose shear stresses are not known the size of the axial stress.
    """
    points = stress_points(body)
    size = max(1, ENTRIES // numbers_of(body))
    parts = [state.rows(slice(i, i + size)) for i in range(0, max(len(state.stress), 1), size)]
    found = [np.max([own.largest(own.von_mises(part)) for own in points.values()], axis=0) for part in parts]
    return np.concatenate(found)


def numbers_of(body: AnyBody) -> int:
    """Numbers that the stresses of a body take at one time."""
    return max(sum(own.numbers for own in stress_points(body).values()), body.stress_size, 1)


def times_to_look_at(bodies: Iterable[AnyBody], count: int) -> Array:
    """Which of ``count`` times stresses are looked at, by their numbers: all, or of a long run evenly spread ones."""
    most = max(FEWEST, LOOKED // max(sum(numbers_of(body) for body in bodies if body.stress_size), 1))
    return np.arange(count) if count <= most else np.linspace(0, count - 1, most).round().astype(int)


def kind_of(body: AnyBody) -> str | None:
    """What the largest stress of a cell of a body is, a key of :data:`LABELS`; None without stresses at points."""
    return next((own.kind for own in stress_points(body).values()), None)
