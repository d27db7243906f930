"""Rates of what sensors measure, and accelerations: how fast these change over steps."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..mechanisms.model.model import Model
from ..mechanisms.model.time_table import Anchors
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from .forces import not_of_a_state, over_saved_times
from .panel import Panel
from .quantities import LastStep, Quantity, StepReading, no_measures, rate_of, velocity


@checked
def rate(quantity: Quantity) -> Quantity:
    """How fast an angle, a distance, an offset, a position or a place on a curve changes, or its rate.

    Rates are read of states. Rates of rates are accelerations, means of steps as :func:`acceleration`: so
    ``rate(joint_rate("elbow.axle", "stator.axle"))`` is the angular acceleration of a joint.

    Parameters
    ----------
    quantity : Quantity
        What is measured between ports, or its rate, or :func:`place_on_curve`.

    Returns
    -------
    Quantity
        Its rate, for sensors of runs.

    Raises
    ------
    ValueError
        For accelerations, and for all else that is read of a state.
    """
    if quantity.of_rate is not None:
        kind, unit = f"rate of the {quantity.kind}", f"{quantity.unit}/s"
        return replace(quantity, kind=kind, unit=unit, of_state=quantity.of_rate, of_rate=None)
    if quantity.of_state is not None:
        raise ValueError(f"rates are of angles, distances, offsets, positions and places on curves, not of {quantity}")
    return _mean_rate(quantity) if quantity.is_rate else rate_of(quantity)


@checked
def acceleration(port: str) -> Quantity:
    """The acceleration (d,) [m/s²] of a port in world axes: the change of its velocity over a step, by its length.

    It is the mean of a step. In ``run.measured`` it is interpolated between the means of the saved intervals, of second
    order; a :class:`flexph.control.Sampled` reads that of the last step, of first order, zero before the first one.
    What accelerometers show is less by gravity, in the axes of their section.

    Parameters
    ----------
    port : str
        Port ``body.port`` of a body.

    Returns
    -------
    Quantity
        (d,), read after runs and by sampled controllers.

    Examples
    --------
    >>> import numpy as np
    >>> import rigid
    >>> from flexph import connect, integrate
    >>> from flexph.sensors import acceleration
    >>> stone = connect({"stone": rigid.point(1.0)}, [], gravity=(0.0, -9.81))
    >>> start = stone.consistent_state(stone.assemble({"stone": (0.0, 0.0, 0.0)}))
    >>> run = integrate(stone, start, np.linspace(0.0, 1.0, 11))
    >>> [round(float(a), 9) for a in run.measured(acceleration("stone.point"))[-1]]
    [0.0, -9.81]
    """
    return _mean_rate(velocity(port))


def _mean_rate(quantity: Quantity) -> Quantity:
    """The change of a rate over a step, by its length."""
    told = f"rate of the {quantity}"

    def over(run: Any) -> Array:
        values, times = run.measured(quantity), run.times
        lengths = np.diff(times).reshape(-1, *np.ones(values.ndim - 1, dtype=int))
        return over_saved_times(times, 0.5 * (times[1:] + times[:-1]), np.diff(values, axis=0) / lengths)

    def of_step(mechanism: Model, anchors: Anchors) -> StepReading:
        panel = Panel(mechanism, {told: quantity})

        def read(time: float, x: Array, last: LastStep) -> Any:
            now = panel.read(x)[0][told]
            mean = (now - panel.read(last.before)[0][told]) / last.length if last.length else 0.0 * now
            return mean if quantity.scalar else np.asarray(mean)

        return read

    return Quantity(
        kind=f"rate of the {quantity.kind}",
        ports=quantity.ports,
        unit=f"{quantity.unit}²" if quantity.unit.endswith("/s") else quantity.unit,
        make=no_measures,
        scalar=quantity.scalar,
        of_state=partial(not_of_a_state, told),
        of_run=over,
        of_step=of_step,
    )
