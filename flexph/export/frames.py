"""Frames of a time series: positions of points of bodies, and data at points and in cells."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import meshio
import numpy as np

from ..bodies.fields import TensorField, View
from ..bodies.nodal_body import AnyBody, NodalBody
from ..bodies.stresses import (
    BodyState,
    at_nodes,
    body_state,
    deformation_gradients,
    kind_of,
    largest_in_cells,
    numbers_of,
    principal_stresses,
    stress_error,
    stress_points,
    tensors,
    von_mises,
)
from ..numerics.arrays import Array
from ..results.solution import Solution

if TYPE_CHECKING:
    from ..mechanisms.mechanism import Mechanism

ENTRIES = 4_000_000
"""Largest number of tensor entries held at a time (32 MB each array)."""
Viewed = tuple[int, str, AnyBody, View]


class Points(NamedTuple):
    """Options for stresses at the points of frames.

    ``discontinuous``: True for separate points of each cell with its own stresses; ``smoothed``: True for smoothed
    stresses.
    """

    discontinuous: bool = False
    smoothed: bool = False


class Layout(NamedTuple):
    """Points of a body at which frames have data, and the cells (c, n) that connect them.

    A point of the view, which is the drawn mesh of the body, can occur several times among these P points, once for
    each cell or material. ``places`` (P,): index of each of the P points in the view; ``cells``: node indices among the
    P points; ``corners`` (P,): index of each among the nodes of all cells, one cell after another, empty if the points
    are just those of the view.
    """

    places: Array
    cells: Array
    corners: Array


def _layout(view: View, points: Points) -> Layout:
    if points.discontinuous:
        keys = np.arange(view.cells.size)
    elif points.smoothed and view.tensors:
        kinds = _material(next(iter(view.tensors.values())))  # all tensors of a body are of the same cells
        keys = view.cells * (int(kinds.max()) + 1) + kinds[:, None]
    else:
        return Layout(np.arange(len(view.points)), view.cells, np.zeros(0, dtype=int))
    _, corners, number = np.unique(keys, return_index=True, return_inverse=True)
    return Layout(view.cells.ravel()[corners], number.reshape(view.cells.shape), corners)


def _material(field: TensorField) -> Array:
    """Material number (cells,) of each drawn cell of a stress tensor."""
    of_cell = np.zeros(int(field.cell.max()) + 1, dtype=int)
    of_cell[field.cell] = field.material
    drawn: Array = of_cell[field.drawn]
    return drawn


def spatial(vectors: Array) -> Array:
    """Vectors (…, d) padded with zeros to three components, as viewers require."""
    return np.pad(vectors, [(0, 0)] * (vectors.ndim - 1) + [(0, 3 - vectors.shape[-1])])


def viewed(mechanism: Mechanism, names: Sequence[str] = ()) -> list[Viewed]:
    """Index, name, body and view of each body with a view, or of each of the named bodies."""
    bodies = enumerate(mechanism.bodies.items())
    return [(i, k, b, b.view) for i, (k, b) in bodies if b.view is not None and (not names or k in names)]


def numbered_cells(views: Sequence[View]) -> list[tuple[str, Array]]:
    """Cell types and cells of several views, with indices into the concatenated points of all views."""
    starts = np.cumsum([0, *(len(view.points) for view in views)])
    return [(view.cell_type, view.cells + start) for view, start in zip(views, starts, strict=False)]


def chunks(pick: Array, entries: int) -> list[Array]:
    """Indices ``pick`` of saved times in parts, each so short that it needs at most ENTRIES numbers in memory.

    ``entries``: numbers that are needed for each time.
    """
    size = max(1, ENTRIES // max(entries, 1))
    return [pick[i : i + size] for i in range(0, len(pick), size)]


def instants(solution: Solution, pick: Array) -> Solution:
    """Run at the saved times ``pick`` (indices) only, for quantities that depend only on states."""
    return replace(solution, times=solution.times[pick], states=solution.states[pick])


def frames_of(
    solution: Solution, shown: Sequence[Viewed], pick: Array, points: Points
) -> Iterator[tuple[float, meshio.Mesh]]:
    """Yield time and mesh of the bodies ``shown`` for each of the saved times ``pick`` (indices).

    The mesh has displacements, velocities and stresses; ``points`` says how stresses at points are given.
    """
    layouts = [_layout(view, points) for *_, view in shown]
    starts = np.cumsum([0, *(len(layout.places) for layout in layouts)])
    cells = [(shown[j][3].cell_type, layout.cells + starts[j]) for j, layout in enumerate(layouts)]
    owner = [np.full(len(view.cells), i) for i, _, _, view in shown]
    largest = max([numbers_of(body) for _, _, body, _ in shown], default=0)
    first = _moved(instants(solution, pick[:1]), shown, layouts, deformed=len(solution.times) > 1)[0][0]
    for some in chunks(pick, largest + 6 * int(starts[-1])):
        part = instants(solution, some)
        positions, velocities = _moved(part, shown, layouts)
        stresses = by_name([_quantities(part, name, body, view) for _, name, body, view in shown], owner)
        pairs = zip(shown, layouts, strict=True)
        inside = by_name(
            [_at_points(part, name, view=v, corners=of.corners, points=points) for (_, name, _, v), of in pairs],
            [layout.places for layout in layouts],
        )
        for k, time in enumerate(part.times):
            point_data = {name: np.concatenate([block[k] for block in blocks]) for name, blocks in inside.items()}
            moved = {"displacement": spatial(positions[k] - first), "velocity": spatial(velocities[k])}
            of_cells = {name: [block[k] for block in blocks] for name, blocks in stresses.items()}
            data = {"point_data": moved | point_data, "cell_data": {"body": owner, **of_cells}}
            yield float(time), meshio.Mesh(spatial(positions[k]), cells, **data)


def _moved(
    part: Solution, shown: Sequence[Viewed], layouts: Sequence[Layout], *, deformed: bool = True
) -> tuple[Array, Array]:
    """World positions (k, P, d) and velocities (k, P, d) of the points of all bodies at the k times of a run.

    ``deformed``: False for the positions without deformation.
    """
    pairs = [(name, view, layout.places) for (_, name, _, view), layout in zip(shown, layouts, strict=True)]
    factors = [float(deformed or isinstance(body, NodalBody)) for _, _, body, _ in shown]
    positions = [
        part.points(name, view.points, factor * view.shape)[:, places]
        for (name, view, places), factor in zip(pairs, factors, strict=True)
    ]
    velocities = [part.velocities(name, view.points, view.shape)[:, places] for name, view, places in pairs]
    return np.concatenate(positions, axis=1), np.concatenate(velocities, axis=1)


def by_name(quantities: Sequence[dict[str, Array]], like: Sequence[Array]) -> dict[str, list[Array]]:
    """Quantities of several bodies by name, as lists with an array (k, n, …) for each body.

    Arrays of bodies without a quantity are NaN; ``like`` has an array of n points or cells for each body.
    """
    shapes = {name: (len(values), values.shape[2:]) for group in quantities for name, values in group.items()}
    return {
        name: [group.get(name, np.full((k, len(n), *width), np.nan)) for group, n in zip(quantities, like, strict=True)]
        for name, (k, width) in shapes.items()
    }


def state_at(solution: Solution, body: str, pick: Array) -> BodyState:
    """State of a body, for its stress laws, at the saved times ``pick`` (indices)."""
    part = instants(solution, pick)
    return body_state(solution.mechanism.bodies[body], lambda name: part[f"{body}.{name}"])


def _quantities(part: Solution, name: str, body: AnyBody, view: View) -> dict[str, Array]:
    """Stress quantities (k, cells, …) in the cells of a body, by name.

    Tensors are means over the cells. Quantities that are nonlinear in the stresses are the largest values over the
    stress points of each cell.
    """
    if not body.stress_size:
        return {}
    state = body_state(body, lambda own: part[f"{name}.{own}"])
    quantities = {own: (field.cells @ state.stress.T).T for own, field in view.stresses.items()}
    for own, field in view.tensors.items():
        quantities[own] = tensors(field.cells, state.stress)
        if len(field.compliances):
            quantities[f"{own}_error"] = stress_error(field, state.stress)[:, field.drawn]
    quantities |= _current(body, state)
    for own, points in stress_points(body).items():
        largest, smallest = points.principal(state)
        quantities[f"{own}_peak_von_mises"] = points.largest(points.von_mises(state))
        quantities[f"{own}_largest_principal"] = points.largest(largest)
        quantities[f"{own}_smallest_principal"] = -points.largest(-smallest)
    kind = kind_of(body)
    return quantities if kind is None else quantities | {f"{kind}_largest_in_cell": largest_in_cells(body, state)}


def _current(body: AnyBody, state: BodyState) -> dict[str, Array]:
    """Stress tensors that depend on the deformation, such as Cauchy stress, by name, (k, cells, 6).

    They are means over each cell.
    """
    if not isinstance(body, NodalBody) or not body.current:
        return {}
    gradients = deformation_gradients(body, state.centres, state.rotations)
    return {name: field.in_cells(field.of(gradients, state.stress)) for name, field in body.current.items()}


def _at_points(part: Solution, body: str, *, view: View, corners: Array, points: Points) -> dict[str, Array]:
    """Stress tensors (k, P, 6), and their principal and von Mises stresses, at the points of a body, by name.

    ``corners`` (P,) as in :class:`Layout`. Empty unless ``points`` asks for discontinuous or smoothed stresses.
    """
    quantities: dict[str, Array] = {}
    invariant = stress_points(part.mechanism.bodies[body])
    if not (points.discontinuous or points.smoothed):
        return quantities
    for name, field in view.tensors.items():
        if not field.nodes:
            raise ValueError(f"tensor {name!r} of body {body!r} is not known at the nodes of its cells")
        sigma = part[f"{body}.stress"]
        at = lambda smooth, f=field, s=sigma: at_nodes(f, s, smoothed=smooth)  # noqa: E731
        if points.discontinuous:
            at_corners = at(False).reshape(len(sigma), -1, 6)[:, corners]
            quantities |= {name: at_corners}
            if name in invariant:
                quantities |= {
                    f"{name}_principal": principal_stresses(at_corners),
                    f"{name}_von_mises": von_mises(at_corners),
                }
        if points.smoothed:
            even = at(True).reshape(len(sigma), -1, 6)[:, corners]
            quantities |= {f"{name}_smoothed": even}
            if name in invariant:
                quantities |= {f"{name}_smoothed_von_mises": von_mises(even)}
    return quantities
