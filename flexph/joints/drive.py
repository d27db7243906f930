"""Drives: prescribed rotation or point motion."""

from collections.abc import Callable, Sequence

import numpy as np

from .connection import (
    GROUND,
    Angle,
    Connection,
    Offset,
    PortName,
    Product,
    Row,
    Vector,
    axis,
    between,
    relative_angle,
)


def drive(
    port: str,
    reference: PortName = GROUND,
    *,
    angle: Callable[[float], float] | None = None,
    position: Callable[[float], Sequence[float]] | None = None,
) -> Connection:
    """Prescribe a motion as a function of time [s]; its work is the multiplier times the prescribed increment.

    ``angle``: the angle [rad] of the section at ``port`` relative to that at ``reference``; it may turn on without
    bound. The work of a step is its stage multiplier times sin Δθ. ``position``: the world position (x, y) [m] of the
    port, the reference must be GROUND ([flex] eq. (49)).
    """
    if (angle is None) == (position is None):
        raise ValueError("drive takes either angle= or position=, a function of time")
    given = angle if angle is not None else position
    if not callable(given):
        raise ValueError(f"{'angle' if angle is not None else 'position'} must be a function of time, got {given!r}")
    if angle is not None:
        turn = Row("angle", Angle(*relative_angle(port, reference), angle), unit="N m")
        return Connection("drive", (port, reference), (turn,))
    if reference != GROUND:
        raise ValueError("a driven position is given in the world: the reference must be GROUND")
    place = between(port, GROUND)
    rows = tuple(Row("xy"[i], Offset(Product(place, Vector(fixed=axis(i))), _component(position, i))) for i in range(2))
    return Connection("drive", (port, GROUND), rows)


def _component(position: Callable[[float], Sequence[float]] | None, index: int) -> Callable[[float], float]:
    assert position is not None

    def component(t: float) -> float:
        given = position(t)
        if np.shape(given) != (2,):
            raise ValueError(f"a driven position must be (x, y) at all times, got {given!r} at t = {t} s")
        return float(given[index])

    return component
