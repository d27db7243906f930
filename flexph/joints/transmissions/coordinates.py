"""Angles of two shafts relative to their carrier, and checks of the arguments of transmissions."""

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
    """Axes of two shafts, each in its own section and in that of the carrier; None in the plane."""
    if axis is None:
        if second_axis is not None or carrier_axes is not None:
            raise ValueError(
                "second_axis and carrier_axes were given without axis: give axis=(x, y, z), too (in space only)"
            )
        return None, None
    first = unit("axis", axis)
    second = first if second_axis is None else unit("second_axis", second_axis)
    if carrier_axes is None:
        return (first, first), (second, second)
    if len(carrier_axes) != 2:
        raise ValueError(f"carrier_axes must be two directions, one for each shaft, got {len(carrier_axes)}")
    own = [unit("carrier_axes", direction) for direction in carrier_axes]
    return (first, own[0]), (second, own[1])


def turn_of(
    port: str, carrier: PortName, dim: int, *, kind: str, axes: Axes | None, weight: float = 1.0
) -> tuple[Weighed, Weighed]:
    """Terms of w θ̇, θ the angle of a section relative to the carrier's."""
    sine, cosine = planar_or_about(port, carrier, dim, kind=kind, axes=axes)
    return turning(sine, cosine, weight)


def coupled(name: str, *terms: tuple[Weighed, ...], unit: str = "N") -> Row:
    """Constraint row that keeps the sum of the terms constant."""
    return Row(name, Transmission(tuple(term for own in terms for term in own)), unit)


def refuse_equal(kind: str, *ports: PortName) -> None:
    """Raise ValueError if two of the ports are on the same body."""
    bodies = [port.partition(".")[0] if isinstance(port, str) else port for port in ports]
    for i, body in enumerate(bodies):
        if body in bodies[:i]:
            first, same = ports[bodies.index(body)], ports[i]
            raise ValueError(f"a {kind} joins different bodies, got {first!r} and {same!r} of {body!r}")


def shaft_directions(axes: tuple[Axes | None, Axes | None]) -> tuple[Direction | None, Direction | None]:
    """Axes of both shafts in their own sections, for pictures."""
    return tuple(None if own is None else own[0] for own in axes)  # type: ignore[return-value]
