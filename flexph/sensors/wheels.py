"""Slip of wheels with friction or creep, and the friction forces on them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from ..contacts.arrays import has_slipping_wheel
from ..kernels.arrays import Arrays
from ..kernels.rates.slips import slip_forces, slip_rows
from ..kernels.state import derive, node_velocities, product_changes
from ..laws.creep_laws import CreepLaw
from ..mechanisms.model.model import Model
from ..mechanisms.model.state import configuration
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from .quantities import Quantity, Reading, no_measures


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
    return Quantity(f"slip of {joint!r}", (), "m/s", no_measures, scalar=False, of_state=_reading(joint, _slips))


@checked
def wheel_force(joint: str) -> Quantity:
    """Force (k,) [N] of the ground on a wheel against the components of its slip.

    Parameters
    ----------
    joint : str
        Name of a ``slipping_wheel`` or ``railway_wheel``, as in ``mechanism.connections``.

    Returns
    -------
    Quantity
        Quantity for sensors of runs; see :func:`wheel_slip`.
    """
    return Quantity(f"grip of {joint!r}", (), "N", no_measures, scalar=False, of_state=_reading(joint, _grip))


def _slips(a: Arrays, rates: Array) -> Array:
    return rates


def _grip(a: Arrays, rates: Array) -> Array:
    return slip_forces(a.slips, rates)[0]


def _reading(joint: str, read: Callable[[Arrays, Array], Array]) -> Callable[[Model], Reading]:
    def of_state(mechanism: Model) -> Reading:
        wheels = [c.name for c in mechanism.connections if has_slipping_wheel(c)]
        check.lookup("slipping wheel", joint, dict.fromkeys(wheels))
        slips = [c for c in mechanism.connections for _ in c.form.slips]
        own = np.flatnonzero(mechanism.network.arrays.slips.slip == [c.name for c in slips].index(joint))
        creeps = isinstance(next(c for c in slips if c.name == joint).form.slips[0].friction, CreepLaw)
        return partial(_read, mechanism, own[:-1] if creeps else own, read)

    return of_state


def _read(mechanism: Model, own: Array, read: Callable[[Arrays, Array], Array], x: Array) -> Array:
    a, c = mechanism.network.arrays, configuration(mechanism, x)
    d = derive(a, c)
    change = product_changes(a, a.incidence @ node_velocities(a, c, c.R, d.arm), d.vector)
    values: Array = read(a, slip_rows(a.slips, d.product) @ change)[own]
    return values
