"""Sensor of the position of a port along its curve, and of its speed."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..joints.rows.curve_laws import PointOnCurve
from ..kernels.arrays import Arrays
from ..kernels.rates.on_curves import OnCurve
from ..kernels.state import Configuration, Derived, derive, node_velocities, product_changes
from ..mechanisms.model.model import Model
from ..mechanisms.model.state import configuration
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from .quantities import Quantity, Reading, no_measures


@checked
def place_on_curve(joint: str) -> Quantity:
    """Position s of a port on its curve, in the coordinate ``at`` of :func:`flexph.joints.point_on_curve`.

    If ``at`` are metres along the undeformed body, s is the material point under the port [m]; :func:`rate` of it is
    the speed of sliding, positive towards larger s.

    Parameters
    ----------
    joint : str
        Name of the joint, as in ``mechanism.connections``.

    Returns
    -------
    Quantity
        Quantity for sensors of runs.

    Examples
    --------
    >>> import numpy as np
    >>> import rigid
    >>> from flexph import GROUND, connect, integrate
    >>> from flexph.joints import point_on_curve
    >>> from flexph.sensors import place_on_curve, rate
    >>> rail = point_on_curve("bead.point", [GROUND.at(0.0, 0.0), GROUND.at(3.0, 4.0)], at=(0.0, 5.0))
    >>> mechanism = connect({"bead": rigid.point(1.0)}, [rail])
    >>> pose = mechanism.assemble(guess={"bead": (0.6, 0.8, 0.0)})
    >>> start = mechanism.consistent_state(pose, velocities={"bead": (1.2, 1.6)})
    >>> run = integrate(mechanism, start, np.linspace(0.0, 1.0, 11))
    >>> place = place_on_curve(rail.name)
    >>> round(float(run.measured(place)[-1]), 9), round(float(run.measured(rate(place))[-1]), 9)
    (3.0, 2.0)
    """

    def place(a: Arrays, at: OnCurve, index: int, moving: tuple[Configuration, Derived]) -> float:
        return at.places[1]

    def speed(a: Arrays, at: OnCurve, index: int, moving: tuple[Configuration, Derived]) -> float:
        c, d = moving
        change = product_changes(a, a.incidence @ node_velocities(a, c, c.R, d.arm), d.vector)
        return float(np.vdot(at.moved, change[a.curves[index].products]))

    label = f"place of {joint!r} on its curve"
    of_state, of_rate = (_reading(joint, read) for read in (place, speed))
    return Quantity(label, (), "of its places", no_measures, of_state=of_state, of_rate=of_rate)


Read = Callable[[Arrays, OnCurve, int, tuple[Configuration, Derived]], float]


def _reading(joint: str, read: Read) -> Callable[[Model], Reading]:
    def of_state(mechanism: Model) -> Reading:
        curves = [c.name for c in mechanism.connections if any(isinstance(r.law, PointOnCurve) for r in c.rows)]
        check.lookup("point_on_curve", joint, dict.fromkeys(curves))
        index = curves.index(joint)
        a = mechanism.network.arrays

        def of(x: Array) -> float:
            c = configuration(mechanism, x)
            d = derive(a, c)
            return read(a, d.on_curves[index], index, (c, d))

        return of

    return of_state
