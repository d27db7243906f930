"""End stops that limit an angle or an offset between two ports: contacts, or springs with an elastic law."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from ..joints.rows.connection import Connection, Form, Gap, Measure, angle_frame, angle_origin, planar_or_about
from ..joints.rows.signs import Sign
from ..joints.rows.vectors import (
    GROUND,
    Axes,
    Ground,
    PortName,
    Product,
    Vector,
    along,
    between,
    body_port,
    fitting,
    unit,
    unit_axes,
)
from ..kernels.arrays import Arrays
from ..kernels.contacts.gap_arrays import ANGLE
from ..kernels.contacts.gaps import gaps_between, vectors_of
from ..kernels.state import Configuration, Derived, touching_points
from ..laws.elastic_laws import ElasticLaw
from ..laws.limits import beyond
from ..laws.spring_law import check_at_rest
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.step_failed import MotionEnded
from ..units.arguments import quantities
from .laws import ContactLaw
from .signs import Barriers, Spokes


@quantities(lower=("rad", "m"), upper=("rad", "m"), zero="rad")
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
    second_axis: Sequence[float] | None = None,
    zero: float = 0.0,
    name: str | None = None,
) -> Connection:
    """End stops of a joint coordinate, lower ≤ q ≤ upper, by a contact law or an elastic law.

    Parameters
    ----------
    first, second : str, str or Ground
        The ports of the joint.
    law : Hertz, KelvinVoigt, Rigid or ElasticLaw
        The contact law at the stops, without friction; stiffness in [N m/rad] for angles. Or an elastic law of
        :mod:`flexph.laws`, which acts as a spring: V(q − upper) above and V(lower − q) below.
    lower, upper : float, optional
        The stops, at least one of them: angles [rad] of the first section relative to the second (see
        :func:`flexph.hinge`), or offsets [m]. Full turns are not counted: a single limit of an angle lies between −π
        and π; with two, the range is less than a full turn, and its middle lies between −π and π. A run ends when the
        angle is half a turn away from the single limit, or from the middle of the two. With an elastic law turns are
        counted, from an angle between −π and π in the assembled pose, and the limits may be any angles.
    along_axis : sequence of float, optional
        Direction in the section of the second port along which q is the offset of the first port from the second
        (see :func:`flexph.slider`); without it q is an angle.
    axis, second_axis : sequence of float, optional
        In space: the axis of the angle in the sections of the first and second port; the same components by default.
    zero : float
        Angle [rad] at which q is zero, see :func:`flexph.sensors.joint_angle`.
    name : str, optional
        Name of the element.

    Returns
    -------
    Connection
        The element, for :func:`flexph.connect`.

    Raises
    ------
    ValueError
        Without limits, for limits in the wrong order, limits of angles out of range, and a law with friction.
    """
    body_port(first)
    if isinstance(law, ElasticLaw):
        check_at_rest("law", law, "use a law of the distance beyond a limit")
    elif not isinstance(law, ContactLaw):
        text = f"law must be a ContactLaw, {ContactLaw.remedy}, or an elastic law such as polynomial(k)"
        raise ValueError(f"{text}, got {check.shown(law)}")
    if getattr(law, "friction", 0.0):
        raise ValueError("law of a stop must be without friction: stops have no sliding direction")
    given = [(s, w, check.number(w, v)) for s, w, v in ((1.0, "lower", lower), (-1.0, "upper", upper)) if v is not None]
    if not given:
        raise ValueError("a stop needs lower, upper or both")
    if lower is not None and upper is not None and lower >= upper:
        raise ValueError(f"lower must be below upper, got {lower} and {upper}")
    origin = check.number("zero", zero)
    if along_axis is not None and (axis is not None or second_axis is not None or origin):
        raise ValueError(
            "give along_axis or axis (and second_axis, zero) of a stop, not both: it limits an offset or an angle"
        )
    limits = tuple(v for _, _, v in given)
    middle = sum(limits) / len(limits)
    ends = -math.inf if lower is None else float(lower), math.inf if upper is None else float(upper)
    if along_axis is None and not isinstance(law, ElasticLaw):
        _check_angles(given, middle)
    way, axes = None if along_axis is None else unit("along_axis", along_axis), unit_axes(axis, second_axis)

    def make(dim: int) -> Form:
        none = Vector(fixed=(0.0,) * dim)
        if way is not None:
            apart, rail = _apart(first, second, dim), along(second, fitting("along_axis", way, dim))
            place = GROUND.at(*none.fixed or ()) if second == GROUND else second
            signs: tuple[Sign, ...] = (Barriers(place, way, limits),)
            if isinstance(law, ElasticLaw):
                return Form(measures=(_spring("component", (Product(apart, rail),), law, ends),), signs=signs)
            gaps = tuple(Gap("offset", (apart, rail, none), s, s * v, law, name=w) for s, w, v in given)
        else:
            turn = planar_or_about(first, second, dim, kind="a stop", axes=axes, zero=origin)
            way_of_zero = angle_frame(dim, axes, origin)
            signs = (Spokes(first, second, limits, way_of_zero),)
            if isinstance(law, ElasticLaw):
                return Form(measures=(_spring("angle", turn, law, ends),), signs=signs)
            vectors = _limit_vectors(first, second, way_of_zero, axes, middle)
            gaps = tuple(Gap("angle", vectors, s, s * (v - middle), law, name=w, origin=middle) for s, w, v in given)
        return Form(gaps=gaps, signs=signs)

    return Connection("stop", (first, second), make, label=name)


def check_stops(
    a: Arrays,
    connections: Sequence[Connection],
    before: tuple[Configuration, Derived],
    after: tuple[Configuration, Derived],
    iterations: int,
) -> None:
    """Raise MotionEnded if the angle of a stop moves half a turn away from the middle of its limits within a step.

    The angle would then jump to the opposite limit, as full turns are not counted. ``before`` and ``after`` are the
    states at the ends of the step, ``iterations`` is the number of iterations that the error reports.
    """
    single = a.contacts._replace(groups=())
    if not (single.kind == ANGLE).any():
        return
    first, last = (vectors_of(single, touching_points(a, c.r, d.arm)) for c, d in (before, after))
    gaps = gaps_between(single, first, last)
    begin, end = (single.sign * (gap + single.offset) for gap in (gaps.before, gaps.after))
    away = np.flatnonzero((single.kind == ANGLE) & (np.abs(end) > np.pi))
    if not away.size:
        return
    k = int(away[0])
    owner, gap = [(c, gap) for c in connections if c.touches for gap in c.form.gaps][k]
    side = float(np.copysign(np.pi, end[k]))
    where, advice = f"half a turn away from its limit {gap.name}", "give both limits, or end the run before by an event"
    if len(owner.form.gaps) > 1:
        where, advice = "through a limit and half way to the other", "use a stiffer law, or shorter steps"
    share = float((side - begin[k]) / (end[k] - begin[k]))
    reason = f"the angle of {owner.name!r} comes to {gap.origin + side:.4g} rad, {where}"
    raise MotionEnded(reason, iterations, share=share, advice=advice)


def _spring(
    kind: Literal["component", "angle"], products: tuple[Product, ...], law: ElasticLaw, ends: tuple[float, float]
) -> Measure:
    """Spring measure with an elastic law that acts beyond both limits ``ends`` of a coordinate.

    The coordinate is given by its kind and the products that define it.
    """
    return Measure(kind, products, 0.0, 0.0, 0.0, law=beyond(law, *ends))


def _apart(first: str, second: PortName, dim: int) -> Vector:
    place = Ground((0.0,) * dim) if isinstance(second, Ground) and second.position is None else second
    return between(first, place)


def _check_angles(given: Sequence[tuple[float, str, float]], middle: float) -> None:
    """Raise ValueError for limits of an angle that are not unique, as full turns are not counted.

    ``given`` are the sign, name and value [rad] of each limit, ``middle`` is the mean of the limits.
    """
    (_, name, first), (_, _, last) = given[0], given[-1]
    if last - first >= 2.0 * math.pi:
        raise ValueError(f"upper must be less than a turn above lower, 2π rad, got {first:g} and {last:g} rad")
    if len(given) == 1 and abs(first) >= math.pi:
        raise ValueError(
            f"{name} must lie between −π and π where it is the only limit of an angle, got {first:g} rad: "
            "give both limits, or measure the angle from another direction (zero=)"
        )
    if abs(middle) > math.pi:
        raise ValueError(
            f"the middle of lower and upper must lie from −π to π, got {first:g} and {last:g} rad: "
            "leave out whole turns"
        )


def _limit_vectors(
    first: str, second: PortName, way: Axes, axes: Axes | None, middle: float
) -> tuple[Vector, Vector, Vector]:
    """Vectors V, W, U with sine V·W and cosine V·U of an angle measured from the middle of its limits.

    Measured like this, the angle jumps by a full turn opposite to the middle, outside of the limits.
    """
    x, y = (np.array(one) for one in way)
    sine = tuple((np.cos(middle) * y - np.sin(middle) * x).tolist())
    cosine = tuple((np.cos(middle) * x + np.sin(middle) * y).tolist())
    return along(first, angle_origin(axes)), along(second, sine), along(second, cosine)
