"""Starts and ends of steps of mechanisms, and the velocity defect of their constraints."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ...kernels.arrays import Arrays
from ...kernels.rolling import state_rates
from ...kernels.state import Configuration, Derived, constraint_sums, node_velocities, product_changes
from ...mechanisms.model.consistency import Checked
from ...numerics.arrays import Array

Rates = tuple[Array, Array]
"""Time derivatives of the term coefficients and row offsets at the end of a step."""


Place = tuple[Configuration, Derived]
"""The arrays of a state, and quantities that follow from them."""


class EvaluatedState:
    """Flat state x between steps, with its arrays c, derived quantities d, and velocity defect G v + ∂g/∂t, (g,).

    The end of a block gives its ``place`` (c, d) as a function, since its arrays are seldom needed.
    """

    def __init__(self, x: Array, place: Place | Callable[[], Place], defect: Array) -> None:
        self.x, self.defect, self._place = x, defect, place

    @cached_property
    def place(self) -> Place:
        """Arrays c of the state and quantities d derived from them."""
        return self._place if isinstance(self._place, tuple) else self._place()

    @property
    def c(self) -> Configuration:
        """Arrays of the state."""
        return self.place[0]

    @property
    def d(self) -> Derived:
        """Quantities derived from the arrays."""
        return self.place[1]


class StepStart(NamedTuple):
    """End of a step, from which the next one starts.

    ``history`` has a row for each of the last steps: mean velocities, multipliers, velocity defect, length [s].
    """

    time: float
    state: EvaluatedState
    energy: Array
    history: Array

    @property
    def x(self) -> Array:
        """Flat state."""
        return self.state.x


class StepResult(NamedTuple):
    """Record of a finished step.

    ``stage`` are the mean multipliers over it, ``multipliers`` those at its ``middle``; ``residuals`` (4,) the largest
    balance residual, gap, velocity defect and mean rate of nonholonomic rows; ``counts`` (3,) are the numbers of
    iterations, of steps (several if it was divided) and of rejected steps; ``complementarity`` is the defect of rigid
    contacts, divided by its scale; ``output`` are the mean velocities conjugate to the inputs.
    """

    end: StepStart
    middle: float
    stage: Array
    multipliers: Array
    flows: Array
    residuals: Array
    counts: Array
    complementarity: float
    output: Array

    def row(self) -> dict[str, Any]:
        """Recorded columns of the step."""
        end, own = self.end, self._asdict()
        del own["end"], own["output"]
        return {"time": end.time, "state": end.x, "energy": end.energy, **own}


def velocity_defect(a: Arrays, at: Place, coefficient: Array, rates: Rates) -> Array:
    """Velocity defect G v + ∂g/∂t at a state, with the rates of prescribed quantities."""
    if not rates[1].size:
        return np.zeros(0)
    c, d = at
    speed = a.incidence @ node_velocities(a, c, c.R, d.arm)
    rate = product_changes(a, speed, d.vector)
    defect = constraint_sums(a, rate, coefficient, prescribed_rate(a, d, rates))
    return defect + state_rates(a, c, d, rate)


def defect_at(start: Checked) -> Array:
    """Velocity defect of a consistent state."""
    coefficient, _, *rates = start.prescribed
    return velocity_defect(start.mechanism.network.arrays, (start.c, start.d), coefficient, (rates[0], rates[1]))


def prescribed_rate(a: Arrays, d: Derived, rates: Rates) -> Array:
    """Right-hand side −∂g/∂t (g,), which G v equals where the constraints hold."""
    by_coefficient, by_offset = rates
    return -constraint_sums(a, d.product, by_coefficient, by_offset)
