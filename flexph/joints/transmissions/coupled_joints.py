"""Coupled joints: two joint coordinates, each between two ports, in a constant ratio."""

from __future__ import annotations

from typing import NamedTuple

from ..rows.connection import Connection, Form, PortName
from ..rows.directions import Axes
from ..rows.signs import Solid
from ..rows.vectors import Direction, Product, Vector, Weighed, along, between
from .coordinates import coupled, turn_of


class Turning(NamedTuple):
    """Angle [rad] of a section relative to that of its carrier."""

    port: str
    carrier: PortName
    axes: Axes

    def terms(self, dim: int, weight: float) -> tuple[Weighed, ...]:
        """Terms of the weighted increment of the coordinate."""
        return turn_of(self.port, self.carrier, dim, kind="a gear", axes=self.axes, weight=weight)


class Sliding(NamedTuple):
    """Offset [m] of a port from a port of its rail, along a direction of the section there."""

    port: str
    carrier: PortName
    direction: Direction

    def terms(self, dim: int, weight: float) -> tuple[Weighed, ...]:
        """Terms of the weighted increment of the coordinate."""
        one = Vector(fixed=self.direction)
        offset = Product(between(self.port, self.carrier), along(self.carrier, self.direction))
        return (Weighed(offset, Product(one, one), weight),)


def coupled_joints(
    first: Turning | Sliding, second: Turning | Sliding | None, *, ratio: float = 0.0, name: str
) -> Connection:
    """Couple two joint coordinates by ``0 = Δq₁ − i Δq₂``, counted from the assembled pose; one alone by ``0 = Δq₁``.

    The rows are those of :func:`flexph.gear`, but each coordinate has its own carrier. The multiplier is the torque
    [N m] or force [N] on the first coordinate.
    """
    both = [(first, 1.0)] if second is None else [(first, 1.0), (second, -ratio)]
    signs = tuple(Solid("wheel", own.port, own.axes[0]) for own, _ in both if isinstance(own, Turning))

    def make(dim: int) -> Form:
        terms = [own.terms(dim, weight) for own, weight in both]
        return Form((coupled("ratio", *terms, unit="N m" if isinstance(first, Turning) else "N"),), signs=signs)

    ports = (*(own.port for own, _ in both), *(own.carrier for own, _ in both))
    return Connection("gear", ports, make, label=name)
