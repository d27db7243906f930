"""Extremes of the stress quantities of bodies over a run, and their largest value over time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..bodies.fields import StressField, TensorField, View
from ..bodies.stress_fields import peak_von_mises
from ..export.frames import chunks, instants
from ..numerics import checks as check
from ..numerics.arrays import Array
from ..results.solution import Solution
from ..sensors.body_points import drawn_places


@dataclass(frozen=True, eq=False)
class StressExtremes:
    """The lowest and highest value of a stress quantity at c places of a body over the saved times.

    They are the middles of its drawn cells and, along a line, its ends: ``places`` (c, d) [m] in body axes. Of a tensor
    it is the largest von Mises stress in the cell. ``times`` (k,) [s] that were looked at and ``largest`` (k,), the
    largest size there; ``worst`` is the place of the largest of all, at ``time``.
    """

    body: str
    quantity: str
    unit: str
    places: Array
    lowest: Array
    highest: Array
    times: Array
    largest: Array
    worst: int
    time: float


def quantities(view: View | None) -> dict[str, StressField | TensorField]:
    """The stress quantities of a view by name."""
    return {} if view is None else {**view.stresses, **view.tensors}


def stress_extremes(solution: Solution, body: str, quantity: str, *, most: int = 0) -> StressExtremes:
    """The extremes of one quantity of a body; at ``most`` so many times are looked at, evenly spread, 0 for all.

    Raises ValueError for a body or quantity that is not there.
    """
    view = check.lookup("body", body, solution.mechanism.bodies).view
    field = check.lookup("stress quantity", quantity, quantities(view), f"body {body!r}")
    assert view is not None
    count = len(solution.times)
    pick = np.arange(count) if not 0 < most < count else np.linspace(0, count - 1, most).round().astype(int)
    places, shares = drawn_places(view, ends=isinstance(field, StressField))
    low, high = np.full(len(places), np.inf), np.full(len(places), -np.inf)
    largest, where = [], []
    width = 6 * len(field.positions) if isinstance(field, TensorField) else len(view.cells)
    for some in chunks(pick, width):
        values = (shares @ _values(field, instants(solution, some)[f"{body}.stress"]).T).T
        low, high = np.minimum(low, values.min(axis=0)), np.maximum(high, values.max(axis=0))
        where.append(np.abs(values).argmax(axis=1))
        largest.append(np.abs(values).max(axis=1))
    history = np.concatenate(largest)
    worst = int(history.argmax())
    name = f"{quantity}, von Mises" if isinstance(field, TensorField) else quantity
    at, time = int(np.concatenate(where)[worst]), float(solution.times[pick[worst]])
    return StressExtremes(body, name, field.unit, places, low, high, solution.times[pick], history, worst=at, time=time)


def _values(field: StressField | TensorField, sigma: Array) -> Array:
    """(k, cells)."""
    if isinstance(field, TensorField):
        return peak_von_mises(field, sigma)[:, field.drawn]
    return np.asarray((field.cells @ sigma.T).T)
