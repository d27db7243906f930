"""Extremes of stress quantities of bodies over a run, and their maximum over the body at each time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..bodies.fields import StressField
from ..bodies.nodal_body import AnyBody
from ..bodies.stresses import LABELS, BodyState, StressPoints, kind_of, stress_points
from ..export.frames import chunks, state_at
from ..numerics import checks as check
from ..numerics.arrays import Array
from ..results.solution import Solution
from ..sensors.body_points import drawn_places


@dataclass(frozen=True, eq=False)
class StressExtremes:
    """Lowest and highest value of a stress quantity at c places of a body, among the saved times.

    ``places`` (c, d) [m] in body axes are the middles of the drawn cells and the ends of a line. For a tensor the
    value is the largest von Mises stress in the cell. ``times`` (k,) [s] are the evaluated times and ``largest`` (k,)
    the largest size at each; ``worst`` is the index of the place of the overall maximum, at ``time``.
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


@dataclass(frozen=True)
class StressQuantity:
    """Stress quantity of the drawn cells of a body: ``of(state)`` (k, c), with ``numbers`` in memory for each time.

    ``ends``: True if it is linear between the pieces of a line, so that it extends to the ends.
    """

    name: str
    unit: str
    of: Callable[[BodyState], Array]
    numbers: int
    ends: bool = False


def quantities(body: AnyBody) -> dict[str, StressQuantity]:
    """Stress quantities of a body by name: the largest stresses of its cells, its tensors, and its fields."""
    view, points, kind = body.view, stress_points(body), kind_of(body)
    if view is None or not body.stress_size:
        return {}
    whole = {} if kind is None else {LABELS[kind]: _largest(LABELS[kind], list(points.values()))}
    tensors = {name: _largest(f"{name}, von Mises", [own]) for name, own in points.items()}
    return whole | tensors | {name: _linear(name, field) for name, field in view.stresses.items()}


def told_quantities(body: AnyBody) -> list[str]:
    """Names of the quantities in a report: with a single tensor only its largest stress, as both would be the same."""
    points = stress_points(body)
    return [name for name in quantities(body) if len(points) > 1 or name not in points]


def _largest(name: str, points: Sequence[StressPoints]) -> StressQuantity:
    of = lambda state: np.max([own.largest(own.von_mises(state)) for own in points], axis=0)  # noqa: E731
    return StressQuantity(name, points[0].unit, of, sum(own.numbers for own in points))


def _linear(name: str, field: StressField) -> StressQuantity:
    of = lambda state: np.asarray((field.cells @ state.stress.T).T)  # noqa: E731
    return StressQuantity(name, field.unit, of, int(field.cells.shape[0]), ends=True)


def stress_extremes(solution: Solution, body: str, quantity: str, *, times: Array | None = None) -> StressExtremes:
    """Extremes of one quantity of a body at the saved times of the indices ``times``, by default all.

    The largest stresses of cells are also accepted under the sensor names ``von_mises`` and ``axial_size``. Raises
    ValueError for an unknown body or quantity.
    """
    own = check.lookup("body", body, solution.mechanism.bodies)
    known, kind = quantities(own), kind_of(own)
    short = {kind: known[LABELS[kind]]} if kind is not None and known else {}
    asked = check.lookup("stress quantity", quantity, known | short, f"body {body!r}")
    assert own.view is not None
    pick = np.arange(len(solution.times)) if times is None else times
    places, shares = drawn_places(own.view, ends=asked.ends)
    low, high = np.full(len(places), np.inf), np.full(len(places), -np.inf)
    largest, where = [], []
    for some in chunks(pick, asked.numbers):
        values = (shares @ asked.of(state_at(solution, body, some)).T).T
        low, high = np.minimum(low, values.min(axis=0)), np.maximum(high, values.max(axis=0))
        where.append(np.abs(values).argmax(axis=1))
        largest.append(np.abs(values).max(axis=1))
    history = np.concatenate(largest)
    worst = int(history.argmax())
    return StressExtremes(
        body=body,
        quantity=asked.name,
        unit=asked.unit,
        places=places,
        lowest=low,
        highest=high,
        times=solution.times[pick],
        largest=history,
        worst=int(np.concatenate(where)[worst]),
        time=float(solution.times[pick[worst]]),
    )
