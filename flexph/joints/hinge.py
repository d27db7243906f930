"""Hinge (revolute joint of the plane)."""

from .connection import Connection, PortName, coincidence


def hinge(first: str, second: PortName) -> Connection:
    """Both ports at one point, free to turn: ``0 = p₁ − p₂`` ([flex] eq. (41)). Leaves one relative freedom."""
    return Connection("hinge", (first, second), coincidence(first, second))
