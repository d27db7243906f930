"""Sensors of wheels that slip: their slips, and the forces of the ground against them."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..contacts.arrays import has_slipping_wheel
from ..kernels.rates.slips import slip_rows
from ..kernels.state import derive, node_velocities, product_changes
from ..laws.creep_laws import CreepLaw
from ..mechanisms.model.model import Model
from ..mechanisms.model.state import configuration
from ..mechanisms.model.time_table import Anchors
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from .contacts import gaps_of, pressed
from .forces import at_saved_times, refuse_state
from .panel import histories
from .quantities import Quantity, Reading, StepReading, no_measures


@checked
def wheel_slip(joint: str) -> Quantity:
    """Slip velocity (k,) [m/s] of a wheel on the ground: along and across it, or along the axis of its rollers.

    Parameters
    ----------
    joint : str
        Name of a ``slipping_wheel`` or ``railway_wheel``, as in ``mechanism.connections``.

    Returns
    -------
    Quantity
        Quantity for sensors of runs.

    Examples
    --------
    >>> import rigid
    >>> from flexph import GROUND, connect, integrate, slider
    >>> from flexph.joints import slipping_wheel
    >>> from flexph.laws import creep
    >>> from flexph.sensors import wheel_force, wheel_slip
    >>> grip = slipping_wheel("disc.c", radius=0.1, friction=creep(longitudinal=400.0, limit=4.0), name="grip")
    >>> lane = slider("disc.c", GROUND.at(0.0, 0.0), direction=(1.0, 0.0), turning=True)
    >>> disc = connect({"disc": rigid.body(2.0, inertia=0.03, ports={"c": (0.0, 0.0)})}, [lane, grip])
    >>> spun = disc.consistent_state(disc.assemble(), velocities={"disc": (5.0, 0.0, 0.0)})
    >>> run = integrate(disc, spun, [0.0, 0.01])
    >>> [run.measured(sensor("grip"))[0].tolist() for sensor in (wheel_slip, wheel_force)]
    [[5.0], [-4.0]]
    """

    def of_state(mechanism: Model) -> Reading:
        wheel = _Wheel(mechanism, joint)
        return lambda x: wheel.rates(x)[: wheel.components]

    return Quantity(f"slip of {joint!r}", (), "m/s", no_measures, scalar=False, of_state=of_state)


@checked
def wheel_force(joint: str) -> Quantity:
    """Force (k,) [N] of the ground on a wheel against the components of its slip.

    The wheel load on a compliant contact is the force of the contact at the state. If the load is the multiplier of a
    ``ground``, the force is known over steps only, see :func:`joint_force`.

    Parameters
    ----------
    joint : str
        Name of a ``slipping_wheel`` or ``railway_wheel``, as in ``mechanism.connections``.

    Returns
    -------
    Quantity
        Quantity for sensors of runs; see :func:`wheel_slip`.
    """
    label = f"grip of {joint!r}"

    def of_state(mechanism: Model) -> Reading:
        wheel = _Wheel(mechanism, joint)
        return refuse_state(label, mechanism) if wheel.row is not None else wheel.force

    def of_step(mechanism: Model, anchors: Anchors) -> StepReading:
        wheel = _Wheel(mechanism, joint)
        return lambda time, x, last: wheel.force(x, last.multipliers)

    def over(run: Any) -> Array:
        wheel = _Wheel(run.mechanism, joint)
        if wheel.row is None:
            return np.asarray(histories(run.mechanism, {"it": by_state}, run.states)["it"])
        loads = at_saved_times(run.times, run.multiplier_times, run.multipliers)
        return np.array([wheel.force(x, lam) for x, lam in zip(run.states, loads, strict=True)])

    by_state = Quantity(label, (), "N", no_measures, scalar=False, of_state=of_state)
    return Quantity(label, (), "N", no_measures, scalar=False, of_state=of_state, of_run=over, of_step=of_step)


class _Wheel:
    """Slipping wheel of a mechanism, with its law of friction.

    ``row`` is the index of the multiplier that is the wheel load; None if the load is not a multiplier.
    """

    def __init__(self, mechanism: Model, joint: str) -> None:
        wheels = [c.name for c in mechanism.connections if has_slipping_wheel(c)]
        check.lookup("slipping wheel", joint, dict.fromkeys(wheels))
        slips = [(c.name, slip) for c in mechanism.connections for slip in c.form.slips]
        number = [name for name, _ in slips].index(joint)
        slip_arrays, self.mechanism, self.contact = mechanism.network.arrays.slips, mechanism, slips[number][1].contact
        self.entries, self.law = np.flatnonzero(slip_arrays.slip == number), slip_arrays.relations[number]
        self.row = int(slip_arrays.load[number]) if slip_arrays.load[number] >= 0 else None
        creeps = isinstance(self.law, CreepLaw)
        self.components = min(self.entries.size - 1, 2) if creeps else self.entries.size
        """Number of components along and across, without those of spin and rolling."""

    def rates(self, x: Array) -> Array:
        """Components of the slip at a flat state; for a creep law also the spin rate (if any) and the rolling speed."""
        a, c = self.mechanism.network.arrays, configuration(self.mechanism, x)
        d = derive(a, c)
        change = product_changes(a, a.incidence @ node_velocities(a, c, c.R, d.arm), d.vector)
        rates: Array = (slip_rows(a.slips, d.product) @ change)[self.entries]
        return rates

    def force(self, x: Array, multipliers: Array | None = None) -> Array:
        """Force [N] of the ground against each component of slip at a flat state.

        ``multipliers`` are needed if one of them is the wheel load.
        """
        rates, law = self.rates(x), self.law
        if not isinstance(law, CreepLaw):
            return -float(law.resistance(float(np.linalg.norm(rates)))) * rates
        if self.contact is not None:
            law = law.under(float(pressed(self.mechanism, gaps_of(self.mechanism, self.contact), x, "normal").sum()))
        elif self.row is not None and multipliers is not None:
            law = law.under(float(multipliers[self.row]))
        return law.force(rates[:-1], float(rates[-1]))[: self.components]
