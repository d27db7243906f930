"""Limits of the stresses of a scene over all saved times of the run, including those that it does not show."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..bodies.stresses import ENTRIES, numbers_of, times_to_look_at
from ..numerics.arrays import Array
from ..results.solution import Solution
from .scene import Part, Scene
from .stresses import Rows, stress_fields


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
