"""Drives: prescribed rotation, displacement or point motion."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..laws.resistive_relations import Relation, resisting
from ..laws.spring_law import SpringLaw, check_law
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.rotations import rotation_matrix
from ..units.arguments import quantities
from .rows.connection import GROUND, Connection, Form, Measure, PortName, Row, angle_row, planar_or_about, same_rotation
from .rows.laws import Offset
from .rows.signs import Solid
from .rows.vectors import (
    Axes,
    Product,
    Vector,
    along,
    between,
    fitting,
    frame_about,
    transported_frame,
    unit,
    unit_axes,
)
from .rows.vectors import axis as unit_axis

Motion = Callable[[float], Any]


@quantities(damping=("N*s/m", "N*m*s/rad"), zero="rad")
@checked
def drive(
    port: str,
    reference: PortName = GROUND,
    *,
    angle: Callable[[float], float] | None = None,
    displacement: Callable[[float], float] | None = None,
    position: Callable[[float], Sequence[float]] | None = None,
    rotation: Motion | None = None,
    axis: Sequence[float] | None = None,
    second_axis: Sequence[float] | None = None,
    zero: float = 0.0,
    direction: Sequence[float] | None = None,
    law: SpringLaw | None = None,
    damping: float | Relation = 0.0,
    name: str | None = None,
) -> Connection:
    """Motion of a port prescribed as a function of time.

    The work of the drive over a step is its multiplier times the prescribed increment.

    With a ``law`` the drive is compliant: an angle or displacement x follows the motion x₀(t) with the force or torque
    V'(x − x₀) + ρ(ẋ − ẋ₀). Its energy V(x − x₀) is stored, and the ledger shows the work of x₀ under the name of the
    drive.

    Parameters
    ----------
    port : str
        Port of the driven body.
    reference : str or Ground
        Port relative to which the motion is measured.
    angle : function of time, optional
        The angle [rad] of the section at ``port`` relative to that at ``reference``, in space about ``axis`` (see
        :func:`flexph.hinge`), which a joint must hold; any number of turns. The work of a step is its stage
        multiplier times sin Δθ.
    displacement : function of time, optional
        The displacement [m] of the port from the reference port along ``direction``.
    position : function of time, optional
        The world position [m] of the port; the reference must be GROUND ([flex] eq. (49)).
    rotation : function of time, optional
        In space, the rotation of the section relative to that at ``reference``, a matrix (3, 3) or a
        ``scipy.spatial.transform.Rotation``.
    axis, second_axis : sequence of float, optional
        The axis of an angle in space, in the sections of both ports.
    zero : float
        Offset of a driven angle [rad], see :func:`flexph.sensors.joint_angle`.
    direction : sequence of float, optional
        Direction of a driven displacement, fixed in the section of ``reference``.
    law : ElasticLaw, HysteresisLaw or ForceLaw, optional
        Law of a compliant drive of an angle or a displacement, see :mod:`flexph.laws`.
    damping : float or Relation
        Damping of a compliant drive [N s/m or N m s/rad], or a :class:`flexph.laws.Relation`.
    name : str, optional
        Name of the joint; by default its kind and its ports.

    Returns
    -------
    Connection
        The drive, with one constraint row for each prescribed component; a compliant one has none.

    Raises
    ------
    ValueError
        Unless exactly one motion is given, and for arguments that do not belong to it.

    Examples
    --------
    >>> from flexph import drive
    >>> motor = drive("crank.root", angle=lambda t: 2.0 * t)
    >>> motor.is_driven, motor.formed(2).is_driven
    (False, True)

    A servo with play and a stiffness of 500 N m/rad:

    >>> from flexph.laws import backlash
    >>> servo = drive("crank.root", angle=lambda t: 2.0 * t, law=backlash(500.0, play=0.01), damping=0.5)
    """
    given: dict[str, Any] = {"angle": angle, "displacement": displacement, "position": position, "rotation": rotation}
    named = [name for name, value in given.items() if value is not None]
    if len(named) != 1:
        raise ValueError("drive takes one of angle=, displacement=, position= or rotation=, a function of time")
    what = named[0]
    motion: Motion | None = given[what]
    if not callable(motion):
        raise ValueError(f"{what} must be a function of time, got {motion!r}")
    if what == "position" and reference != GROUND:
        raise ValueError("a driven position is given in the world: the reference must be GROUND")
    if (direction is not None) != (what == "displacement"):
        raise ValueError("direction= and displacement= must be given together")
    if (axis is not None or second_axis is not None) and what != "angle":
        raise ValueError("axis= and second_axis= need angle=, a driven angle")
    if (origin := check.number("zero", zero)) and what != "angle":
        raise ValueError("zero= needs angle=, a driven angle")

    elastic_law, rate = _compliance(what, law, damping)
    axes = unit_axes(axis, second_axis)
    line = None if direction is None else unit("direction", direction)

    def make(dim: int) -> Form:
        if what == "angle":
            turn = planar_or_about(port, reference, dim, kind="a driven angle", axes=axes, zero=origin)
            signs = (Solid("turn", port, None if axes is None else axes[0], axes=reference),)
            if elastic_law is not None:
                return Form(measures=(Measure("angle", turn, 0.0, rate, motion, law=elastic_law),), signs=signs)
            parallel = () if axes is None else (_driven_directions(axes, motion, origin),)
            return Form((angle_row(turn, motion),), parallel=parallel, signs=signs)
        if what == "rotation":
            rows = _rotation_rows(port, reference, dim, motion)
            return Form(rows, parallel=tuple(_row_of(motion, i) for i in range(3)))
        if what == "position":
            return Form(_position_rows(port, dim, motion))
        assert line is not None
        way = Product(between(port, reference), along(reference, fitting("direction", line, dim)))
        if elastic_law is not None:
            return Form(measures=(Measure("component", (way,), 0.0, rate, motion, law=elastic_law),))
        return Form((Row("along", Offset(way, motion)),))

    return Connection("drive", (port, reference), make, label=name)


def _compliance(
    what: str, law: SpringLaw | None, damping: float | Relation
) -> tuple[SpringLaw | None, float | Relation]:
    """Law and damping of a drive after their checks; they let the motion deviate from the prescribed one.

    ``what`` is the name of the prescribed quantity. The law is None for a drive without deviation, which has no
    damping.
    """
    rate = resisting("damping", damping)
    if check_law("law", law) is None and rate != 0.0:
        raise ValueError("damping= needs law=: a motion that is prescribed has no deviation to damp")
    if law is not None and what not in ("angle", "displacement"):
        raise ValueError(f"law= needs angle= or displacement=, got {what}=: use a drive for each component")
    return law, rate


def _driven_directions(axes: Axes, angle: Motion, zero: float) -> Callable[[float], Axes]:
    """Pairs of directions, as a function of time [s], that a driven angle makes coincide.

    They are the direction of the first section from which the angle is measured, and its wanted direction in the second
    section.
    """
    x = frame_about(axes[0])[0]
    along_x, along_y = (np.array(d) for d in transported_frame(*axes, zero))
    return lambda t: (x, tuple((np.cos(angle(t)) * along_x + np.sin(angle(t)) * along_y).tolist()))


def _row_of(rotation: Motion, index: int) -> Callable[[float], Axes]:
    """Pairs of directions, as a function of time [s], that a driven rotation makes coincide.

    They are the axis ``index`` of the first section, and its wanted direction in the second section.
    """
    return lambda t: (
        unit_axis(index, 3),
        tuple(rotation_matrix(f"the driven rotation at t = {t} s", rotation(t))[:, index].tolist()),
    )


def _rotation_rows(port: str, reference: PortName, dim: int, rotation: Motion) -> tuple[Row, ...]:
    if dim == 2:
        raise ValueError("rotation= exists in three dimensions only; in the plane drive the angle=")

    def relative(t: float) -> Array:
        return rotation_matrix(f"the driven rotation at t = {t} s", rotation(t)).T.ravel()

    return same_rotation(port, reference, relative)


def _position_rows(port: str, dim: int, position: Motion) -> tuple[Row, ...]:
    place = between(port, GROUND)
    return tuple(
        Row("xyz"[i], Offset(Product(place, Vector(fixed=unit_axis(i, dim))), _component(position, i, dim)))
        for i in range(dim)
    )


def _component(position: Motion, index: int, dim: int) -> Callable[[float], float]:
    def component(t: float) -> float:
        given = position(t)
        if np.shape(given) != (dim,):
            wanted = "(x, y)" if dim == 2 else "(x, y, z)"
            raise ValueError(f"a driven position must be {wanted} at all times, got {given!r} at t = {t} s")
        return float(given[index])

    return component
