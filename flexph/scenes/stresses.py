"""Stresses at the points of drawn surfaces, and their limits over all saved times of the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..bodies.nodal_body import AnyBody
from ..bodies.stresses import (
    ENTRIES,
    LABELS,
    BodyState,
    body_state,
    kind_of,
    largest_in_cells,
    numbers_of,
    stress_points,
    times_to_look_at,
)
from ..joints.rows.signs import tube
from ..mechanisms.model.model import Model
from ..numerics import checks as check
from ..numerics.arrays import Array
from ..results.motion import MotionByName
from ..results.solution import Solution
from .scene import Field, Part, Scene
from .surfaces import outer_triangles


class Rows(MotionByName):
    """Motion given by the states of a mechanism at k times; ``rows[part]`` (k, n) is a named part of the states."""

    __slots__ = ("_states", "mechanism")

    def __init__(self, mechanism: Model, states: Array) -> None:
        self.mechanism, self._states = mechanism, states

    def __getitem__(self, part: str) -> Array:
        return self._states[:, check.lookup("part", part, self.mechanism.layout.parts)]

    @property
    def state(self) -> Array:
        """First state of the motion as a flat array (n,)."""
        return np.asarray(self._states[0])

    @property
    def first(self) -> Rows:
        """Motion that consists of the first state of this one only."""
        return Rows(self.mechanism, self._states[:1])


def stress_fields(motion: MotionByName, name: str) -> Mapping[str, Field]:
    """Stresses of the body ``name`` in a motion at the points of its surface, by field; empty for rigid bodies."""
    body = motion.mechanism.bodies[name]
    return stresses_of(body, body_state(body, lambda part: motion[f"{name}.{part}"])) if body.stress_size else {}


def stresses_of(body: AnyBody, state: BodyState) -> dict[str, Field]:
    """Stresses of a body at the points of its surface, by field, in states at k times.

    The first field is the largest stress in the cells that meet at a point, if it can be computed.
    """
    view, kind = body.view, kind_of(body)
    assert view is not None
    drawn: CellsAtPoints = body.once(_cells_at_points)
    fields: dict[str, Field] = {}
    if kind is not None:
        of_cells = drawn.values(largest_in_cells(body, state), np.maximum)
        fields[LABELS[kind]] = Field(next(iter(stress_points(body).values())).unit, of_cells)
    if view.sections is not None:
        corners = view.sections.axial(state.stress).reshape(len(state.stress), -1)
        axial = corners if view.sweep is not None else corners[:, drawn.used]
        return fields | {"axial stress": Field("Pa", axial, signed=True)}
    if kind is not None:
        return fields
    cells = {name: (f.unit, np.asarray((f.cells @ state.stress.T).T)) for name, f in view.stresses.items()}
    return {
        name.replace("_", " "): Field(unit, drawn.values(values, np.add), signed=True)
        for name, (unit, values) in cells.items()
    }


class CellsAtPoints(NamedTuple):
    """Cells of a body that meet at each of its p drawn points.

    ``cells``: indices of the cells at each of n nodes, concatenated; ``first`` (n,) and ``numbers`` (n,): start and
    count for each node; ``used``: indices of the nodes of the surface; ``node`` (p,): which of the n nodes each drawn
    point is.
    """

    cells: Array
    first: Array
    numbers: Array
    used: Array
    node: Array

    def values(self, of_cells: Array, combine: np.ufunc) -> Array:
        """Values (k, p) at the points from values of the cells (k, c).

        ``combine`` is np.maximum for the largest value of the cells that meet at a point, or np.add for their mean.
        """
        values = combine.reduceat(of_cells[:, self.cells], self.first, axis=1)
        return np.asarray((values / self.numbers if combine is np.add else values)[:, self.node])


def _cells_at_points(body: AnyBody) -> CellsAtPoints:
    """Cells that meet at each drawn point of a body with a view.

    For a swept section these are the cells that meet at the node around which the point is drawn.
    """
    view = body.view
    assert view is not None
    if view.sweep is None and view.cell_type == "line":  # points of a bar take the value of the bar
        each = np.arange(len(view.cells))
        corners = len(tube(np.eye(3)[None, :2], 1.0).points[0])
        return CellsAtPoints(each, each, np.ones_like(each), each, np.repeat(each, corners))
    nodes = view.cells.ravel()
    order = np.argsort(nodes, kind="stable")
    points, first, count = np.unique(nodes[order], return_index=True, return_counts=True)
    cells = order // view.cells.shape[1]
    if view.sweep is not None:
        return CellsAtPoints(cells, first, count, points, np.repeat(np.arange(len(points)), view.sweep.corners))
    used = np.unique(outer_triangles(view.cells, view.cell_type))
    return CellsAtPoints(cells, first, count, used, np.searchsorted(points, used))


def over_run(scene: Scene, solution: Solution, shown: Array) -> Scene:
    """Scene whose stress fields have limits over the whole run.

    ``shown`` are the indices of the saved times in the scene.
    """
    if not any(part.kind == "body" and part.point_fields for part in scene.parts):
        return scene
    times = times_to_look_at(solution.mechanism.bodies.values(), len(solution.times))
    return replace(scene, parts=tuple(_over_run(part, solution, np.setdiff1d(times, shown)) for part in scene.parts))


def _over_run(part: Part, solution: Solution, hidden: Array) -> Part:
    """Part of a body whose fields have limits that include saved times that are not shown.

    ``hidden`` are the indices of these times.
    """
    if part.kind != "body" or not part.point_fields:
        return part
    size = max(ENTRIES // numbers_of(solution.mechanism.bodies[part.name]), 1)
    fields = dict(part.point_fields)
    for i in range(0, len(hidden), size):
        rows = Rows(solution.mechanism, np.asarray(solution.states[hidden[i : i + size]]))
        stress = stress_fields(rows, part.name)
        fields = {
            name: replace(f, limits=replace(f, values=stress[name].values).extremes) for name, f in fields.items()
        }
    return replace(part, point_fields=fields)
