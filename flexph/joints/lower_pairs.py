"""Lower kinematic pairs (hinge, slider, cylindrical, screw, planar, spherical), and the universal joint."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace

from ..laws.resistive_relations import Relation, ScheduledRelation
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..units.arguments import quantities
from .rows.connection import (
    Connection,
    Form,
    Row,
    across,
    angle_row,
    coincidence,
    parallel_axes,
    relative_angle,
    same_rotation,
)
from .rows.friction import CoulombFriction
from .rows.laws import Offset
from .rows.resistance import friction_of_sliding, friction_of_turning, resists_sliding, resists_turning
from .rows.signs import Rail, Solid
from .rows.vectors import (
    Axes,
    PortName,
    Product,
    Vector,
    Weighed,
    along,
    between,
    fitting,
    frame_about,
    perpendicular,
    spatial_axes,
    unit,
    unit_axes,
)
from .transmissions import coupled, turn_of


@checked
def hinge(
    first: str,
    second: PortName,
    *,
    axis: Sequence[float] | None = None,
    second_axis: Sequence[float] | None = None,
    friction: Relation | ScheduledRelation | CoulombFriction | None = None,
    name: str | None = None,
) -> Connection:
    """Hinge: a joint at one point that leaves one rotation free, ``0 = p₁ − p₂`` ([flex] eq. (41)).

    In space its axes in both sections stay parallel, too.

    Parameters
    ----------
    first : str
        The port of a body, as ``"body.port"``.
    second : str or Ground
        The port of another body, or ``GROUND``.
    axis : sequence of float, optional
        Axis in the section at the first port, in space only; in the plane leave it out.
    second_axis : sequence of float, optional
        The same axis in the section at the second port (world axes for GROUND); by default the same components.
    friction : Relation, ScheduledRelation or CoulombFriction, optional
        The torque [N m] against the relative spin [rad/s] (:class:`flexph.laws.Relation`), or dry friction in
        proportion to the force of the joint (:class:`flexph.joints.CoulombFriction`, with the radius of the bearing).
    name : str, optional
        Name of the joint; by default its kind and its ports.

    Returns
    -------
    Connection
        The joint, for :func:`flexph.connect`; it leaves one relative freedom.

    Raises
    ------
    ValueError
        For ``GROUND`` as the first port; on connecting the mechanism, for an axis in the plane or none in space.

    See Also
    --------
    revolute : The same joint under its kinematic name, in space only.
    weld : Rigid connection, also called a fixed joint.

    Examples
    --------
    >>> from flexph import GROUND, hinge
    >>> joint = hinge("rod.root", GROUND)
    >>> [row.name for row in joint.formed(2).rows]
    ['x', 'y']
    >>> [row.name for row in hinge("rod.root", GROUND, axis=(0.0, 0.0, 1.0)).formed(3).rows]
    ['x', 'y', 'z', 'tilt 1', 'tilt 2']
    """

    def axes_in(dim: int) -> Axes | None:
        if dim == 2 and axis is not None:
            raise ValueError("a hinge has no axis in the plane, where it turns about the normal: leave axis= out")
        return None if dim == 2 else spatial_axes(unit_axes(axis, second_axis), dim, "a hinge")

    unit_axes(axis, second_axis)
    return pin("hinge", first, second, axes=axes_in, friction=friction, name=name)


def pin(
    kind: str,
    first: str,
    second: PortName,
    *,
    axes: Callable[[int], Axes | None],
    friction: Relation | ScheduledRelation | CoulombFriction | None,
    name: str | None,
) -> Connection:
    """Joint of a ``kind``, hinge or revolute, which holds two ports at one point and turns about ``axes(dim)``."""
    resists = friction_of_turning("friction", friction)

    def make(dim: int) -> Form:
        about, rows = axes(dim), coincidence(first, second, dim)
        measures, bearing = resists_turning(first, second, about, resists, pressing=dim)
        if about is None:
            return Form(rows, measures, signs=(Solid("pin", first),), bearing=bearing)
        signs = (Solid("pin", first, about[0]),)
        rows = (*rows, *parallel_axes(first, second, about))
        return Form(rows, measures, parallel=(about,), signs=signs, bearing=bearing)

    return Connection(kind, (first, second), make, label=name)


@checked
def revolute(
    first: str,
    second: PortName,
    *,
    axis: Sequence[float],
    second_axis: Sequence[float] | None = None,
    friction: Relation | ScheduledRelation | CoulombFriction | None = None,
    name: str | None = None,
) -> Connection:
    """Revolute joint with one common point and axis: ``0 = p₁ − p₂``, ``0 = a₁·x₂ = a₁·y₂``; one relative freedom.

    The directions x₂, y₂ are perpendicular to the axis in the second section.

    Parameters
    ----------
    first : str
        Port ``body.port`` of a body.
    second : str or Ground
        Port of another body, or a place ``GROUND.at(...)`` of the world.
    axis : array_like
        Direction in the axes of the section at the first port.
    second_axis : array_like, optional
        The same direction in the section at the second port, for ``GROUND`` in world axes; the same components by
        default.
    friction : Relation, ScheduledRelation or CoulombFriction, optional
        Torque [N m] against the relative spin [rad/s] (:func:`flexph.laws.coulomb`,
        :func:`flexph.laws.viscous`), or dry friction in proportion to the force of the joint
        (:class:`flexph.joints.CoulombFriction`, with the radius of the bearing).
    name : str, optional
        Name of the joint; by default its kind and its ports.

    Returns
    -------
    Connection
        The joint, for :func:`flexph.connect`.

    Raises
    ------
    ValueError
        For ``GROUND`` as the first port; on connecting, if the mechanism is planar.

    See Also
    --------
    hinge : The same joint, also in the plane.
    weld : Rigid connection, also called a fixed joint.

    Examples
    --------
    A bar that turns about the vertical has one freedom:

    >>> import rigid
    >>> from flexph import GROUND, connect, revolute
    >>> door = rigid.box((0.8, 0.04, 2.0), density=600.0, ports={"hinge": (-0.4, 0.0, 0.0)})
    >>> mechanism = connect({"door": door}, [revolute("door.hinge", GROUND, axis=(0.0, 0.0, 1.0))])
    >>> "freedoms 1" in mechanism.describe()
    True
    """
    given = unit_axes(axis, second_axis)

    def axes_in(dim: int) -> Axes:
        return spatial_axes(given, dim, "a revolute joint", instead="hinge(first, second)")

    return pin("revolute", first, second, axes=axes_in, friction=friction, name=name)


@checked
def slider(
    port: str,
    rail: PortName,
    *,
    direction: Sequence[float] = (1.0, 0.0),
    turning: bool = False,
    friction: Relation | ScheduledRelation | CoulombFriction | None = None,
    name: str | None = None,
) -> Connection:
    """Slider: the port moves on a line through the rail port, fixed in the rail's section or in the world.

    ``0 = d⊥·(p − p_rail)`` for every d⊥ perpendicular to the direction.

    Parameters
    ----------
    port : str
        Port ``body.port`` of a body.
    rail : str or Ground
        Port of another body, or a place ``GROUND.at(...)``.
    direction : array_like
        Direction d in the section at the rail port, in world axes for ``GROUND``; three components in space.
    turning : bool
        False keeps the relative rotation as assembled: a prismatic joint with one relative freedom. True is a pin in a
        slot with two freedoms in the plane and four in space; point masses need it.
    friction : Relation, ScheduledRelation or CoulombFriction, optional
        Force [N] against the sliding velocity [m/s] along the direction, or dry friction in proportion to the force
        across the line (:class:`flexph.joints.CoulombFriction`; a torque that the joint carries adds no friction).
    name : str, optional
        Name of the joint; by default its kind and its ports.

    Returns
    -------
    Connection
        The joint, for :func:`flexph.connect`.
    """

    along, resists = unit("direction", direction), friction_of_sliding("friction", friction)

    def make(dim: int) -> Form:
        d = fitting("direction", along, dim)
        rows = across(port, rail, (perpendicular(d),) if dim == 2 else frame_about(d))
        measures, bearing = resists_sliding(port, rail, d, resists, pressing=dim - 1)
        signs = (Rail(rail, port, d), Solid("sleeve", port, d, axes=rail))
        if turning:
            return Form(rows, measures, signs=signs, bearing=bearing)
        return Form((*rows, *fixed_rotation(port, rail, dim)), measures, signs=signs, bearing=bearing)

    return Connection("slider", (port, rail), make, label=name)


def fixed_rotation(first: str, second: PortName, dim: int) -> tuple:
    """Constraint rows that keep the rotation of the first section relative to the second as in the assembled pose."""
    if dim == 2:
        return (angle_row(relative_angle(first, second, 2), None),)
    return same_rotation(first, second, None)


@checked
def prismatic(
    port: str,
    rail: PortName,
    *,
    direction: Sequence[float],
    friction: Relation | ScheduledRelation | CoulombFriction | None = None,
    name: str | None = None,
) -> Connection:
    """Prismatic joint: the port moves on a line through the rail port without turning; one relative freedom.

    ``0 = d⊥·(p − p_rail)`` for every d⊥ perpendicular to the direction; the relative rotation stays as assembled.
    It is equal to ``slider(..., turning=False)``.

    Parameters
    ----------
    port : str
        Port ``body.port`` of a body.
    rail : str or Ground
        Port of another body, or a place ``GROUND.at(...)``.
    direction : array_like
        Direction of the line in the section at the rail port, for ``GROUND`` in world axes.
    friction : Relation, ScheduledRelation or CoulombFriction, optional
        See :func:`slider`.
    name : str, optional
        Name of the joint; by default its kind and its ports.

    Returns
    -------
    Connection
        The joint, for :func:`flexph.connect`.
    """
    return replace(slider(port, rail, direction=direction, friction=friction, name=name), kind="prismatic")


@checked
def cylindrical(
    first: str,
    second: PortName,
    *,
    axis: Sequence[float],
    second_axis: Sequence[float] | None = None,
    turning_friction: Relation | ScheduledRelation | None = None,
    sliding_friction: Relation | ScheduledRelation | None = None,
    friction: CoulombFriction | None = None,
    name: str | None = None,
) -> Connection:
    """Cylindrical joint along and about one axis: ``0 = x₂·(p₁ − p₂) = y₂·(p₁ − p₂) = a₁·x₂ = a₁·y₂``.

    a₁ is the axis in the first section; x₂, y₂ are perpendicular to the axis in the second one. The joint leaves two
    relative freedoms. Over a step the constraint force is perpendicular to the mean axis of the second
    section; exchanging the ports therefore changes the motion by the square of the step.

    Parameters
    ----------
    first : str
        Port ``body.port`` of a body.
    second : str or Ground
        Port of another body, or a place ``GROUND.at(...)`` of the world.
    axis : array_like
        Direction in the axes of the section at the first port.
    second_axis : array_like, optional
        The same direction in the section at the second port, for ``GROUND`` in world axes; the same components by
        default.
    turning_friction : Relation or ScheduledRelation, optional
        Torque [N m] against the relative spin [rad/s] (:func:`flexph.laws.coulomb`, :func:`flexph.laws.viscous`).
    sliding_friction : Relation or ScheduledRelation, optional
        Force [N] against the velocity [m/s] along the axis.
    friction : CoulombFriction, optional
        Dry friction in proportion to the force across the axis, with the radius of the bearing. It opposes the slip
        along and around the axis as one vector: a shaft that turns slides along the axis almost without force.
    name : str, optional
        Name of the joint; by default its kind and its ports.

    Returns
    -------
    Connection
        The joint, for :func:`flexph.connect`.
    """

    given = unit_axes(axis, second_axis)
    turns = friction_of_turning("turning_friction", turning_friction)
    slides = friction_of_sliding("sliding_friction", sliding_friction)
    rubs = friction_of_turning("friction", friction)

    def make(dim: int) -> Form:
        axes = spatial_axes(given, dim, "a cylindrical joint")
        rows = (*across(first, second, frame_about(axes[1])), *parallel_axes(first, second, axes))
        turning, _ = resists_turning(first, second, axes, turns, name="turning")
        sliding, _ = resists_sliding(first, second, axes[1], slides, name="sliding")
        around, bearing = resists_turning(first, second, axes, rubs, pressing=2, name="around")
        if bearing is not None:
            alone = CoulombFriction(bearing.friction.coefficient, factor=bearing.friction.factor)
            way, _ = resists_sliding(first, second, axes[1], alone, name="along")
            around = (*around, *way)
        signs = (Rail(second, first, axes[1]), Solid("pin", first, axes[0]))
        return Form(rows, (*turning, *sliding, *around), parallel=(axes,), signs=signs, bearing=bearing)

    return Connection("cylindrical", (first, second), make, label=name)


@quantities(lead="m")
@checked
def screw(
    first: str,
    second: PortName,
    *,
    lead: float,
    axis: Sequence[float],
    second_axis: Sequence[float] | None = None,
    name: str | None = None,
) -> Connection:
    """Screw joint in space, which advances by its lead in each turn; one relative freedom.

    Its rows are those of :func:`flexph.cylindrical` and ``0 = Δs − (lead/2π) Δθ``, counted from the assembled pose over
    any number of turns. The increments of offset s and angle θ are exact in every step, so that they do not drift
    apart.

    Parameters
    ----------
    first : str
        Port ``body.port`` of a body.
    second : str or Ground
        Port of another body, or a place ``GROUND.at(...)`` of the world.
    lead : float
        Advance [m] of the first port along the axis of the second in a positive turn; negative for left-hand threads.
    axis : array_like
        Direction in the axes of the section at the first port.
    second_axis : array_like, optional
        The same direction in the section at the second port, for ``GROUND`` in world axes; the same components by
        default.
    name : str, optional
        Name of the joint; by default its kind and its ports.

    Returns
    -------
    Connection
        The joint, for :func:`flexph.connect`; the multiplier of its last row is the force along the axis [N].

    Raises
    ------
    ValueError
        For a lead of zero, which would be a hinge, and in the plane.
    """
    advance = check.number("lead", lead) / (2.0 * math.pi)
    if advance == 0.0:
        raise ValueError("lead must not be zero: a screw without advance is a revolute(...) or hinge(...)")
    given, held = unit_axes(axis, second_axis), cylindrical(first, second, axis=axis, second_axis=second_axis)

    def make(dim: int) -> Form:
        axes = spatial_axes(given, dim, "a screw")
        one = Vector(fixed=axes[1])
        moved = Weighed(Product(between(first, second), along(second, axes[1])), Product(one, one))
        turned = turn_of(first, second, dim, kind="a screw", axes=axes, weight=-advance)
        form = held.formed(dim).form
        return replace(form, rows=(*form.rows, coupled("advance", (moved,), turned)))

    return Connection("screw", (first, second), make, label=name)


@checked
def planar(
    first: str,
    second: PortName,
    *,
    normal: Sequence[float],
    second_normal: Sequence[float] | None = None,
    name: str | None = None,
) -> Connection:
    """Planar joint: the first section glides on a plane of the second, ``0 = n₂·(p₁ − p₂) = n₁·x₂ = n₁·y₂``.

    The normals n₁ and n₂ stay parallel; x₂, y₂ are perpendicular to n₂. The joint leaves three relative freedoms.

    Parameters
    ----------
    first : str
        Port ``body.port`` of a body.
    second : str or Ground
        Port of another body, or a place ``GROUND.at(...)`` of the world.
    normal : array_like
        n₁ in the axes of the section at the first port.
    second_normal : array_like, optional
        n₂ in the section at the second port, for ``GROUND`` in world axes; the same components by default.
    name : str, optional
        Name of the joint; by default its kind and its ports.

    Returns
    -------
    Connection
        The joint, for :func:`flexph.connect`.
    """

    given = unit_axes(normal, second_normal, "normal")

    def make(dim: int) -> Form:
        axes = spatial_axes(given, dim, "a planar joint", "normal")
        rows = (*across(first, second, axes[1:]), *parallel_axes(first, second, axes))
        signs = (Solid("plate", second, axes[1]), Solid("ball", first))
        return Form(rows, parallel=(axes,), signs=signs)

    return Connection("planar", (first, second), make, label=name)


@checked
def spherical(first: str, second: PortName, *, name: str | None = None) -> Connection:
    """Spherical joint (ball joint) at one point: ``0 = p₁ − p₂`` ([flex] eq. (41)); three relative freedoms.

    Parameters
    ----------
    first : str
        Port ``body.port`` of a body.
    second : str or Ground
        Port of another body, or a place ``GROUND.at(...)`` of the world.
    name : str, optional
        Name of the joint; by default its kind and its ports.

    Returns
    -------
    Connection
        The joint, for :func:`flexph.connect`.
    """

    def make(dim: int) -> Form:
        if dim == 2:
            raise ValueError("a spherical joint exists in three dimensions only; in the plane use hinge(...)")
        return Form(coincidence(first, second, dim), signs=(Solid("ball", first),))

    return Connection("spherical", (first, second), make, label=name)


@checked
def universal(
    first: str, second: PortName, *, axis: Sequence[float], second_axis: Sequence[float], name: str | None = None
) -> Connection:
    """Universal joint at one point with two perpendicular axes: ``0 = p₁ − p₂``, ``0 = a₁·a₂``.

    It leaves two relative freedoms, the rotations about both axes of the cross.

    Parameters
    ----------
    first : str
        Port ``body.port`` of a body.
    second : str or Ground
        Port of another body, or a place ``GROUND.at(...)`` of the world.
    axis : array_like
        a₁ in the axes of the section at the first port.
    second_axis : array_like
        a₂ in the section at the second port, for ``GROUND`` in world axes.
    name : str, optional
        Name of the joint; by default its kind and its ports.

    Returns
    -------
    Connection
        The joint, for :func:`flexph.connect`.
    """

    a1, a2 = unit("axis", axis), unit("second_axis", second_axis)

    def make(dim: int) -> Form:
        if dim == 2:
            raise ValueError("a universal joint exists in three dimensions only; in the plane use hinge(...)")
        axes = Product(along(first, fitting("axis", a1, 3)), along(second, fitting("second_axis", a2, 3)))
        row = Row("cross", Offset(axes), unit="N m")
        return Form((*coincidence(first, second, dim), row), signs=(Solid("cross", first, a1),))

    return Connection("universal", (first, second), make, label=name)
