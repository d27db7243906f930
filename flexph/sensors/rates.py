"""Rates and accelerations of quantities."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..mechanisms.model.model import Model
from ..mechanisms.model.time_table import Anchors
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from .forces import at_saved_times, refuse_state
from .panel import Panel
from .quantities import LastStep, Quantity, StepReading, no_measures, rate_of, velocity


@checked
def rate(quantity: Quantity) -> Quantity:
    """Rate of an angle, distance, offset, position or place on a curve, or the rate of such a rate.

    Rates are computed from states. Rates of rates are accelerations, which are means over steps as in
    :func:`acceleration`: ``rate(joint_rate("elbow.axle", "stator.axle"))`` is the angular acceleration of a joint.

    Parameters
    ----------
    quantity : Quantity
        Quantity between ports, its rate, or :func:`place_on_curve`.

    Returns
    -------
    Quantity
        Rate of the quantity, for sensors of runs.

    Raises
    ------
    ValueError
        For an acceleration, and for a quantity of states that has no rate.
    """
    if quantity.of_rate is not None:
        kind, unit = f"rate of the {quantity.kind}", f"{quantity.unit}/s"
        return replace(quantity, kind=kind, unit=unit, of_state=quantity.of_rate, of_rate=None, slopes=None)
    if quantity.of_state is not None:
        raise ValueError(f"rate must be of an angle, distance, offset, position or place on a curve, got {quantity}")
    return _mean_rate(quantity) if quantity.is_rate else rate_of(quantity)


@checked
def acceleration(port: str) -> Quantity:
    """Acceleration (d,) [m/s²] of a port in world axes: the change of its velocity over a step, per unit time.

    It is the mean over a step. ``run.measured`` interpolates between the means of the saved intervals to second order;
    a :class:`flexph.control.Sampled` reads the mean of the last step, to first order, and zero before the first step.
    An accelerometer shows this acceleration minus gravity, in the axes of its section.

    Parameters
    ----------
    port : str
        Port ``body.port`` of a body.

    Returns
    -------
    Quantity
        Quantity (d,) for finished runs and sampled controllers.

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
    """Sensor of the mean acceleration over a step: the change of a rate over the step, divided by its length."""
    label = f"rate of the {quantity}"

    def over(run: Any) -> Array:
        values, times = run.measured(quantity), run.times
        lengths = np.diff(times).reshape(-1, *np.ones(values.ndim - 1, dtype=int))
        return at_saved_times(times, 0.5 * (times[1:] + times[:-1]), np.diff(values, axis=0) / lengths)

    def of_step(mechanism: Model, anchors: Anchors) -> StepReading:
        panel = Panel(mechanism, {label: quantity})

        def read(time: float, x: Array, last: LastStep) -> Any:
            now = panel.read(x)[0][label]
            mean = (now - panel.read(last.before)[0][label]) / last.length if last.length else 0.0 * now
            return mean if quantity.scalar else np.asarray(mean)

        return read

    return Quantity(
        kind=f"rate of the {quantity.kind}",
        ports=quantity.ports,
        unit=f"{quantity.unit}²" if quantity.unit.endswith("/s") else quantity.unit,
        make=no_measures,
        scalar=quantity.scalar,
        of_state=partial(refuse_state, label),
        of_run=over,
        of_step=of_step,
    )
