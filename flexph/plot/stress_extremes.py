"""Extremes of stress quantities of bodies over a run, by time and by cell, and their pictures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..bodies.fields import StressField
from ..bodies.nodal_body import AnyBody
from ..bodies.stresses import LABELS, BodyState, StressPoints, kind_of, stress_points
from ..export.frames import chunks, state_at
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..results.solution import Solution
from ..sensors.body_points import drawn_places
from .axes import axes_of, root_of
from .panels import PREFIXES, prefix_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, eq=False)
class StressExtremes:
    """Lowest and highest value of a stress quantity at c points of a body over k saved times.

    The points ``places`` (c, d) [m], in body axes, are the centres of the drawn cells, and for a quantity that is
    linear along a line also the ends of the line. Values ``lowest`` and ``highest`` are (c,); those of a tensor are
    largest von Mises stresses in cells. ``times`` (k,) [s]: evaluated times; ``largest`` (k,): largest magnitude at
    each of them; ``worst``: index of the point with the largest magnitude of all, which occurs at ``time``.
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
    """Stress quantity of a body: ``of`` is the function from states at k times to its values (k, c) in the drawn cells.

    ``numbers``: numbers in memory that it needs for each time. ``ends``: True if it is linear along a line, and
    extrapolated to its ends.
    """

    name: str
    unit: str
    of: Callable[[BodyState], Array]
    numbers: int
    ends: bool = False


def quantities(body: AnyBody) -> dict[str, StressQuantity]:
    """Stress quantities of a body by name: largest stress in cells, von Mises stress of tensors, and components."""
    view, points, kind = body.view, stress_points(body), kind_of(body)
    if view is None or not body.stress_size:
        return {}
    whole = {} if kind is None else {LABELS[kind]: _largest(LABELS[kind], list(points.values()))}
    tensors = {name: _largest(f"{name}, von Mises", [group]) for name, group in points.items()}
    return whole | tensors | {name: _linear(name, field) for name, field in view.stresses.items()}


def reported_quantities(body: AnyBody) -> list[str]:
    """Names of the stress quantities of a body that a report lists.

    If the body has one stress tensor only, its von Mises stress is left out, as it is the largest stress.
    """
    points = stress_points(body)
    return [name for name in quantities(body) if len(points) > 1 or name not in points]


def _largest(name: str, points: Sequence[StressPoints]) -> StressQuantity:
    of = lambda state: np.max([group.largest(group.von_mises(state)) for group in points], axis=0)  # noqa: E731
    return StressQuantity(name, points[0].unit, of, sum(group.numbers for group in points))


def _linear(name: str, field: StressField) -> StressQuantity:
    of = lambda state: np.asarray((field.cells @ state.stress.T).T)  # noqa: E731
    return StressQuantity(name, field.unit, of, int(field.cells.shape[0]), ends=True)


def stress_extremes(solution: Solution, body: str, quantity: str, *, times: Array | None = None) -> StressExtremes:
    """Extremes of one quantity of a body at the saved times with the indices ``times``, by default all.

    The largest stresses of cells are also accepted under the sensor names ``von_mises`` and ``axial_size``. Raises
    ValueError for an unknown body or quantity.
    """
    flexible_body = check.lookup("body", body, solution.mechanism.bodies)
    known, kind = quantities(flexible_body), kind_of(flexible_body)
    short = {kind: known[LABELS[kind]]} if kind is not None and known else {}
    asked = check.lookup("stress quantity", quantity, known | short, f"body {body!r}")
    assert flexible_body.view is not None
    pick = np.arange(len(solution.times)) if times is None else times
    places, shares = drawn_places(flexible_body.view, ends=asked.ends)
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


@checked
def stress_envelope(solution: Solution, body: str, quantity: str | None = None, ax: Any = None) -> Any:
    """Draw the range of a stress quantity along a beam over all saved times, or its largest magnitude on a solid.

    Parameters
    ----------
    solution : Solution
        Run of a mechanism.
    body : str
        Name of a body with stresses.
    quantity : str, optional
        One of ``view.stresses``, or a stress tensor of the body (its von Mises stress is drawn), or the sensor name
        ``von_mises`` or ``axial_size`` for the largest stress in each cell; by default the largest stress in each cell,
        otherwise the first quantity in Pa, otherwise the first quantity.
    ax : Axes, optional
        Axes to draw into; by default those of a new figure.

    Returns
    -------
    Axes

    Examples
    --------
    >>> from flexph import plot
    >>> axes = plot.stress_envelope(solution, "rod")  # doctest: +SKIP
    """
    asked = check.lookup("body", body, solution.mechanism.bodies)
    known, view = quantities(asked), asked.view
    if not known or view is None:
        raise ValueError(f"body {body!r} has no stresses to be drawn")
    if quantity is None:
        quantity = next((k for k, stress_quantity in known.items() if stress_quantity.unit == "Pa"), next(iter(known)))
    extremes = stress_extremes(solution, body, quantity)
    (axes,) = axes_of(ax, 1, size=(8.0, 4.0))
    (_draw_band if view.cell_type.startswith("line") else _draw_cells)(axes, extremes)
    axes.grid(alpha=0.3)
    return axes


def _label(extremes: StressExtremes) -> tuple[float, str]:
    """Factor from SI units to the unit of the picture, and the name of this unit."""
    prefix = prefix_of([extremes.largest], extremes.unit)
    return 1.0 / PREFIXES[prefix], prefix + extremes.unit


def _worst(extremes: StressExtremes) -> str:
    factor, unit = _label(extremes)
    return f"{factor * extremes.largest.max():.4g} {unit} at t = {extremes.time:.4g} s"


def _draw_band(axes: Axes, extremes: StressExtremes) -> None:
    """Draw the band between the lowest and highest values along a line."""
    factor, unit = _label(extremes)
    x, low, high = extremes.places[:, 0], factor * extremes.lowest, factor * extremes.highest
    axes.fill_between(x, low, high, alpha=0.25, linewidth=0.0)
    axes.plot(x, high, color="C0", label="highest")
    axes.plot(x, low, color="C0", linestyle="--", label="lowest")
    worst = extremes.worst
    y = high[worst] if high[worst] >= -low[worst] else low[worst]
    axes.plot(x[worst], y, "ko", markersize=4, label=_worst(extremes))
    axes.set(xlabel=f"x along {extremes.body} [m]", ylabel=f"{extremes.quantity.replace('_', ' ')} [{unit}]")
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), fontsize="small", ncols=3, frameon=False)


def _draw_cells(axes: Axes, extremes: StressExtremes) -> None:
    """Draw the centres of cells, coloured by the largest magnitude of a quantity, seen along the body's shortest side.

    Larger values are drawn over smaller ones.
    """
    factor, unit = _label(extremes)
    sizes = factor * np.maximum(np.abs(extremes.lowest), np.abs(extremes.highest))
    places = extremes.places
    a, b = np.sort(np.argsort(np.ptp(places, axis=0))[::-1][:2])
    order = np.argsort(sizes)
    points = axes.scatter(places[order, a], places[order, b], c=sizes[order], s=9.0, cmap="viridis", vmin=0.0)
    axes.plot(*places[extremes.worst, [a, b]], "r+", markersize=12, label=_worst(extremes))
    label = f"largest {extremes.quantity.replace('_', ' ')} [{unit}]"
    root_of(axes).colorbar(points, ax=axes, label=label, location="bottom", aspect=40, shrink=0.8)
    axes.set(xlabel=f"{'xyz'[a]} of {extremes.body} [m]", ylabel=f"{'xyz'[b]} [m]", aspect="equal")
    axes.legend(loc="lower left", bbox_to_anchor=(0.0, 1.0), fontsize="small", frameon=False)
