"""Stops of joint coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..joints.rows.connection import Connection, Form, planar_or_about
from ..joints.rows.directions import Axes, fitting, transported_frame, unit, unit_axes
from ..joints.rows.gaps import Gap
from ..joints.rows.signs import Sign
from ..joints.rows.vectors import GROUND, Ground, PortName, Product, Vector, along, between, body_port
from ..numerics import checks as check
from ..numerics.arguments import checked
from .laws import ContactLaw
from .signs import Barriers, Spokes


@checked
def stop(
    first: str,
    second: PortName,
    law: Any,
    *,
    lower: float | None = None,
    upper: float | None = None,
    along_axis: Sequence[float] | None = None,
    axis: Sequence[float] | None = None,
    name: str | None = None,
) -> Connection:
    """End stops of a joint coordinate: lower ≤ q ≤ upper, by the law of a contact.

    Parameters
    ----------
    first, second : str, str or Ground
        The ports of the joint.
    law : Hertz, KelvinVoigt or Rigid
        What holds at the stops; stiffness in [N m/rad] for angles. Friction has no meaning here.
    lower, upper : float, optional
        The stops, one of them at least: angles [rad] of the first section from the second (see :func:`flexph.hinge`),
        each within half a turn of where the joint moves, or offsets [m].
    along_axis : sequence of float, optional
        With it q is the offset of the first port from the second along this direction of the second's section
        (see :func:`flexph.slider`).
    axis : sequence of float, optional
        In space the axis of the angle in both sections.
    name : str, optional
        A name of its own.

    Returns
    -------
    Connection
        The element, for :func:`flexph.connect`.

    Raises
    ------
    ValueError
        For no stop at all, stops in the wrong order, and a law with friction.
    """
    body_port(first)
    if not isinstance(law, ContactLaw):
        raise ValueError(f"law must be a ContactLaw, {ContactLaw.remedy}, got {law!r}")
    if getattr(law, "friction", 0.0):
        raise ValueError("a stop takes no friction: nothing slides there")
    given = [(s, w, check.number(w, v)) for s, w, v in ((1.0, "lower", lower), (-1.0, "upper", upper)) if v is not None]
    if not given:
        raise ValueError("a stop needs lower, upper or both")
    if lower is not None and upper is not None and lower >= upper:
        raise ValueError(f"lower must be below upper, got {lower} and {upper}")
    if along_axis is not None and axis is not None:
        raise ValueError("a stop is along a direction or about an axis, not both")
    limits = tuple(v for _, _, v in given)
    way, axes = None if along_axis is None else unit("along_axis", along_axis), unit_axes(axis, None)

    def make(dim: int) -> Form:
        none = Vector(fixed=(0.0,) * dim)
        if way is not None:
            vectors = (_apart(first, second, dim), along(second, fitting("along_axis", way, dim)), none)
            gaps = tuple(Gap("offset", vectors, s, s * v, law, name=w) for s, w, v in given)
            place = GROUND.at(*none.fixed or ()) if second == GROUND else second
            signs: tuple[Sign, ...] = (Barriers(place, way, limits),)
        else:
            sine, cosine = planar_or_about(first, second, dim, kind="a stop", axes=axes)
            gaps = tuple(Gap("angle", _turning(sine, cosine), s, s * v, law, name=w) for s, w, v in given)
            signs = (Spokes(first, second, limits, _directions(axes, dim)),)
        return Form(gaps=gaps, signs=signs)

    return Connection("stop", (first, second), make, label=name)


def _apart(first: str, second: PortName, dim: int) -> Vector:
    place = Ground((0.0,) * dim) if isinstance(second, Ground) and second.position is None else second
    return between(first, place)


def _directions(axes: Axes | None, dim: int) -> Axes:
    """Where the first section points at the angle zero and at a right angle, in the axes of the second section."""
    if dim == 2 or axes is None:
        return (1.0, 0.0), (0.0, 1.0)
    return transported_frame(*axes)


def _turning(sine: Product, cosine: Product) -> tuple[Vector, Vector, Vector]:
    return sine.first, sine.second, cosine.second
