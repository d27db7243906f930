"""Angles of two shafts against their carrier, and the checks of what couples them."""

from __future__ import annotations

from collections.abc import Sequence

from ..rows.connection import PortName, Row, planar_or_about
from ..rows.directions import Axes, unit
from ..rows.rate_laws import Transmission
from ..rows.vectors import Direction, Weighed, turning

Directions = Sequence[Sequence[float]]


def shaft_axes(
    axis: Sequence[float] | None, second_axis: Sequence[float] | None, carrier_axes: Directions | None
) -> tuple[Axes | None, Axes | None]:
    """The axes of two shafts, each in its own section and in that of the carrier; None in the plane."""
    if axis is None:
        if second_axis is not None or carrier_axes is not None:
            raise ValueError("second_axis and carrier_axes need axis: directions of space")
        return None, None
    first = unit("axis", axis)
    second = first if second_axis is None else unit("second_axis", second_axis)
    if carrier_axes is None:
        return (first, first), (second, second)
    if len(carrier_axes) != 2:
        raise ValueError(f"carrier_axes must be two directions, of both shafts, got {len(carrier_axes)}")
    own = [unit("carrier_axes", direction) for direction in carrier_axes]
    return (first, own[0]), (second, own[1])


def turn_of(
    port: str, carrier: PortName, dim: int, *, kind: str, axes: Axes | None, weight: float = 1.0
) -> tuple[Weighed, Weighed]:
    """The terms of w θ̇, θ the angle of a section against the carrier's."""
    sine, cosine = planar_or_about(port, carrier, dim, kind=kind, axes=axes)
    return turning(sine, cosine, weight)


def coupled(name: str, *terms: tuple[Weighed, ...], unit: str = "N") -> Row:
    """The row that holds the sum of the terms."""
    return Row(name, Transmission(tuple(term for own in terms for term in own)), unit)


def refuse_equal(kind: str, *ports: PortName) -> None:
    """Raise ValueError where two of the ports are on the same body."""
    bodies = [port.partition(".")[0] if isinstance(port, str) else port for port in ports]
    for i, body in enumerate(bodies):
        if body in bodies[:i]:
            first, same = ports[bodies.index(body)], ports[i]
            raise ValueError(f"a {kind} joins different bodies, got {first!r} and {same!r} of {body!r}")


def shaft_directions(axes: tuple[Axes | None, Axes | None]) -> tuple[Direction | None, Direction | None]:
    """The axes of both shafts in their own sections, as signs are drawn."""
    return tuple(None if own is None else own[0] for own in axes)  # type: ignore[return-value]
