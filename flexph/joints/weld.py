"""Weld (rigid connection)."""

from .. import checks as check
from .connection import Angle, Connection, PortName, Row, coincidence, relative_angle


def weld(first: str, second: PortName, *, angle: float | None = None) -> Connection:
    """Both ports at one point and at a fixed relative angle; leaves no relative freedom.

    ``angle`` of the first section relative to the second [rad]; None keeps that of the assembled pose.
    """
    value = None if angle is None else check.number("angle", angle)
    turn = Row("angle", Angle(*relative_angle(first, second), value), unit="N m")
    return Connection("weld", (first, second), (*coincidence(first, second), turn))
