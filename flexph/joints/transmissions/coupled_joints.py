"""Coupled joints: two coordinates of joints, each with ends of its own, in a constant ratio."""

from __future__ import annotations

from typing import NamedTuple

from ..rows.connection import Connection, Form, PortName
from ..rows.directions import Axes
from ..rows.signs import Solid
from ..rows.vectors import Direction, Product, Vector, Weighed, along, between
from .coordinates import coupled, turn_of


class Turning(NamedTuple):
    """The angle [rad] of a section against that of its carrier."""

    port: str
    carrier: PortName
    axes: Axes

    def terms(self, dim: int, weight: float) -> tuple[Weighed, ...]:
        """The terms of its weighed increment."""
        return turn_of(self.port, self.carrier, dim, kind="a gear", axes=self.axes, weight=weight)


class Sliding(NamedTuple):
    """The offset [m] of a port from a place of its rail, along a direction of the section there."""

    port: str
    carrier: PortName
    direction: Direction

    def terms(self, dim: int, weight: float) -> tuple[Weighed, ...]:
        """The terms of its weighed increment."""
        one = Vector(fixed=self.direction)
        offset = Product(between(self.port, self.carrier), along(self.carrier, self.direction))
        return (Weighed(offset, Product(one, one), weight),)


def coupled_joints(
    first: Turning | Sliding, second: Turning | Sliding | None, *, ratio: float = 0.0, name: str
) -> Connection:
    """Hold ``0 = Δq₁ − i Δq₂``, counted from the assembled pose; of one coordinate alone ``0 = Δq₁``.

    The rows are those of :func:`flexph.gear`, whose shafts have one carrier; here each coordinate has its own. The
    multiplier is the torque [N m] or force [N] on the first one.
    """
    both = [(first, 1.0)] if second is None else [(first, 1.0), (second, -ratio)]
    signs = tuple(Solid("wheel", own.port, own.axes[0]) for own, _ in both if isinstance(own, Turning))

    def make(dim: int) -> Form:
        terms = [own.terms(dim, weight) for own, weight in both]
        return Form((coupled("ratio", *terms, unit="N m" if isinstance(first, Turning) else "N"),), signs=signs)

    ports = (*(own.port for own, _ in both), *(own.carrier for own, _ in both))
    return Connection("gear", ports, make, label=name)
