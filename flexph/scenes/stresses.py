"""Stresses at the points of drawn surfaces, and their limits over all saved times of the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ..bodies.fields import View
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
    """States of a mechanism at several times; ``rows[part]`` is a part of them by name."""

    __slots__ = ("_states", "mechanism")

    def __init__(self, mechanism: Model, states: Array) -> None:
        self.mechanism, self._states = mechanism, states

    def __getitem__(self, part: str) -> Array:
        return self._states[:, check.lookup("part", part, self.mechanism.layout.parts)]

    @property
    def first(self) -> Rows:
        """First state alone."""
        return Rows(self.mechanism, self._states[:1])


def stress_fields(motion: Rows, name: str) -> Mapping[str, Field]:
    """Stresses at the points of the surface of a body; empty for rigid bodies."""
    body = motion.mechanism.bodies[name]
    return stresses_of(body, body_state(body, lambda part: motion[f"{name}.{part}"])) if body.stress_size else {}


def stresses_of(body: AnyBody, state: BodyState) -> dict[str, Field]:
    """Stress fields at the points of the surface of a body at k times, by name; first the largest stress of cells."""
    view, kind = body.view, kind_of(body)
    assert view is not None
    fields: dict[str, Field] = {}
    if kind is not None:
        own = _on_surface(view, largest_in_cells(body, state), np.maximum)
        fields[LABELS[kind]] = Field(next(iter(stress_points(body).values())).unit, own)
    if view.sections is not None:
        return fields | {"axial stress": Field("Pa", _axial(view, state.stress), signed=True)}
    if kind is not None:
        return fields
    cells = {name: (f.unit, np.asarray((f.cells @ state.stress.T).T)) for name, f in view.stresses.items()}
    return {
        name.replace("_", " "): Field(unit, _on_surface(view, values, np.add), signed=True)
        for name, (unit, values) in cells.items()
    }


def _axial(view: View, sigma: Array) -> Array:
    """Axial stress at the points of the surface, section by section."""
    assert view.sections is not None
    corners = view.sections.axial(sigma).reshape(len(sigma), -1)
    return corners if view.sweep is not None else corners[:, np.unique(outer_triangles(view.cells, view.cell_type))]


def _on_surface(view: View, of_cells: Array, combine: np.ufunc) -> Array:
    """Point values (k, p) of a surface from its cells (k, c): the largest of the adjacent cells, or their mean.

    Points of a swept section take the value of their ring, points of a bar that of the bar.
    """
    if view.sweep is None and view.cell_type == "line":
        return np.repeat(of_cells, len(tube(np.eye(3)[None, :2], 1.0).points[0]), axis=1)
    nodes = view.cells.ravel()
    order = np.argsort(nodes, kind="stable")
    points, first, count = np.unique(nodes[order], return_index=True, return_counts=True)
    values = combine.reduceat(of_cells.T[order // view.cells.shape[1]], first)
    if combine is np.add:
        values = values / count[:, None]
    if view.sweep is not None:
        return np.repeat(values.T, view.sweep.corners, axis=1)
    used = np.unique(outer_triangles(view.cells, view.cell_type))
    return np.asarray(values[np.searchsorted(points, used)].T)


def over_run(scene: Scene, solution: Solution, shown: Array) -> Scene:
    """Scene with the limits of its stresses over the whole run; ``shown`` are the indices of its times."""
    if not any(part.kind == "body" and part.point_fields for part in scene.parts):
        return scene
    times = times_to_look_at(solution.mechanism.bodies.values(), len(solution.times))
    return replace(scene, parts=tuple(_over_run(part, solution, np.setdiff1d(times, shown)) for part in scene.parts))


def _over_run(part: Part, solution: Solution, hidden: Array) -> Part:
    """Part with limits of its fields that include the times that are not shown."""
    if part.kind != "body" or not part.point_fields:
        return part
    size = max(ENTRIES // numbers_of(solution.mechanism.bodies[part.name]), 1)
    fields = dict(part.point_fields)
    for i in range(0, len(hidden), size):
        rows = Rows(solution.mechanism, np.asarray(solution.states[hidden[i : i + size]]))
        found = stress_fields(rows, part.name)
        fields = {name: replace(f, limits=replace(f, values=found[name].values).extremes) for name, f in fields.items()}
    return replace(part, point_fields=fields)
