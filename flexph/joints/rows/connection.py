"""Connections: joints, force elements and contacts between named ports.

A connection consists of constraint rows, measures of springs and dampers, gaps, slips and inputs.

Constraints and spring measures are functions of products of two world vectors: their increments over a step are then
exact, and momentum and angular momentum are conserved ([dg] sec. 6.3, invariants).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from ...kernels.surfaces.surfaces import Surfaces
from ...laws.creep_laws import CreepLaw
from ...laws.elastic_laws import ElasticLaw
from ...laws.hysteresis import HysteresisLaw
from ...laws.resistive_relations import Relation, ScheduledRelation
from ...laws.spring_law import SpringLaw
from ...numerics import checks as check
from ...numerics.memo import PickledByCall
from .distances import Distance
from .friction import Bearing
from .laws import Alignment, Angle, Law, Offset
from .rope_path import RopePath
from .signs import Sign, Solid
from .vectors import (
    GROUND,
    Axes,
    Direction,
    Ground,
    PortName,
    Product,
    Vector,
    Weighed,
    along,
    axis,
    between,
    body_port,
    frame_about,
    spatial_axes,
    transported_frame,
    turned_by,
)

GapKind = Literal["offset", "distance", "angle", "axial", "rim", "shape", "segments", "face"]


@dataclass(frozen=True)
class Gap:
    """Gap g = ±m − c of a contact, open where it is positive; m is a scalar function of world vectors V, W, U, D.

    The function m by kind: ``offset`` V·W, ``distance`` |V|, ``angle`` with sine V·W and cosine V·U, ``axial``
    |V − (V·W) W/|W|²|, ``rim`` V·W − r √(1 − (W·U)²) with the first of the ``radii``, ``segments`` the distance of two
    segments with half lengths W and U (:mod:`flexph.kernels.surfaces.segments`). Friction acts on the ports
    ``sides`` (None without friction); ``radii`` are the distances [m] from these to the point of contact along the
    normal. An angle is measured from ``origin`` [rad] and unique within half a turn from there. The surface of a plane
    moves with ``speed`` along its third vector; if it is ``driven``, the input of its contact is added to this speed.

    ``shape`` is the distance to a surface ``shape`` at the coordinates V·W, V·U, V·D, with blends of width ``blend``
    between its faces. ``face`` is the distance to a face of moving corners with the sides W and U; among the
    faces with the same index ``skin``, only the one closest to the ball counts.
    """

    kind: GapKind
    vectors: tuple[Vector, ...]
    sign: float
    offset: float
    law: Any
    sides: tuple[PortName, PortName] | None = None
    radii: tuple[float, float] = (0.0, 0.0)
    name: str = ""
    origin: float = 0.0
    speed: float | Callable[[float], float] = 0.0
    driven: bool = False
    shape: Surfaces | None = field(default=None, compare=False)
    blend: float = 0.0
    skin: int = -1

    @property
    def is_carried(self) -> bool:
        """True if the surface of a plane moves."""
        return callable(self.speed) or self.speed != 0.0


@dataclass(frozen=True)
class GapGroup:
    """Gaps |V| − r₁ − r₂ between every two of many balls (in the plane, discs) about ports of bodies."""

    ports: tuple[str, ...]
    radii: tuple[float, ...]
    law: Any

    @property
    def number(self) -> int:
        """Number of pairs of balls, including pairs on one body."""
        return len(self.ports) * (len(self.ports) - 1) // 2

    def gap(self, i: int, j: int, dim: int) -> Gap:
        """Gap between the balls with the indices i and j, in ``dim`` dimensions."""
        sides, radii, none = (self.ports[i], self.ports[j]), (self.radii[i], self.radii[j]), Vector(fixed=(0.0,) * dim)
        offset = sum(radii)
        shares = (radii[0] / offset, radii[1] / offset)
        return Gap("distance", (between(*sides), none, none), 1.0, offset, self.law, sides, shares)


@dataclass(frozen=True)
class Row:
    """Scalar constraint of a joint: its name, its law and the unit of its multiplier."""

    name: str
    law: Law
    unit: str = "N"


@dataclass(frozen=True)
class Measure:
    """Scalar coordinate in which a spring-damper or friction acts, called its measure.

    It is a length √Π, a component Π, an angle given by its sine and cosine, the length of a rope along its ``path``, or
    the ``distance`` of a contact at rest.

    ``damping`` is a coefficient, or a relation between force and rate of the measure. ``free`` is the length, component
    [m] or angle [rad] without force, None for that of the assembled pose, or a function of time. ``name`` distinguishes
    the measures of one element. A measure with a ``lever`` (for an angle: a radius [m]) is a slip of the bearing of its
    joint. A ``law``, a function of measure − free, replaces the stiffness, which is then zero.
    """

    kind: Literal["length", "component", "angle", "rope", "distance"]
    products: tuple[Product, ...]
    stiffness: float
    damping: float | Relation | ScheduledRelation
    free: float | Callable[[float], float] | None
    name: str = ""
    lever: float = 0.0
    law: SpringLaw | None = None
    path: RopePath | None = None
    distance: Distance | None = None

    @property
    def is_driven(self) -> bool:
        """True if the free length, component or angle is a function of time."""
        return callable(self.free)

    @property
    def is_scheduled(self) -> bool:
        """True if the elastic law has a factor that changes with time."""
        return isinstance(self.law, ElasticLaw) and self.law.varies

    @property
    def relation(self) -> Relation | None:
        """Resistive relation of the damping, None if it has a coefficient."""
        relation = self.damping.relation if isinstance(self.damping, ScheduledRelation) else self.damping
        return relation if isinstance(relation, Relation) else None

    @property
    def is_controlled(self) -> bool:
        """True if an input sets the factor of the elastic law of the measure."""
        return isinstance(self.law, ElasticLaw) and self.law.is_controlled

    @property
    def has_state(self) -> bool:
        """True if the measure has a stiffness or a law; its force or its extension is then a state."""
        return self.stiffness > 0.0 or self.law is not None


@dataclass(frozen=True)
class Slip:
    """Slip velocity of one or two components, and the friction force [N] as a function of its magnitude [m/s].

    A component is a sum of weighted terms; one without terms is the velocity of the port along the element's curve. For
    a creep law the rolling speed is an additional last component; a law with spin has the rate of spin as the component
    before the rolling speed. If a creep law depends on the wheel load, the load is the multiplier of the row with index
    ``load``, or the normal force of the compliant ``contact``.
    """

    components: tuple[tuple[Weighed, ...], ...]
    friction: Relation | CreepLaw
    load: int | None = None
    contact: str | None = None


@dataclass(frozen=True)
class Input:
    """External port, of kind ``force``, ``torque``, ``load``, ``face``, ``along`` (a curve), ``factor`` or ``speed``.

    A ``load`` or ``face`` is a force per length, area or volume on a load port. Components are in world axes, or in the
    axes of the section at the port if it ``follows``; those of a ``face`` are in the axes of the face. The reaction of
    a torque acts on the section at the port ``against``, that of a force ``along`` a curve on the curve there.
    """

    kind: str
    port: str
    follows: bool = False
    against: str | None = None


@dataclass(frozen=True)
class Form:
    """Constraint rows, measures, gaps, slips and bearing of a connection in the plane or in space.

    ``group`` are the gaps between every two of many balls.

    ``parallel`` are pairs of directions, one in the section of each port, that coincide in the assembled pose (for
    drives, functions of time): they let the assembly converge from any guess. ``signs`` are the shapes that a picture
    draws; a connection without any is drawn as a ball at its first port.
    """

    rows: tuple[Row, ...] = ()
    measures: tuple[Measure, ...] = ()
    parallel: tuple[Axes | Callable[[float], Axes], ...] = ()
    signs: tuple[Sign, ...] = field(default=(), compare=False)
    gaps: tuple[Gap, ...] = ()
    group: GapGroup | None = None
    slips: tuple[Slip, ...] = ()
    bearing: Bearing | None = None


NOTHING = Form()


@dataclass(frozen=True)
class Connection(PickledByCall):
    """Joint or force element between ports, ready for :func:`flexph.connect`.

    ``make(dim)`` gives its :class:`Form` in 2 or 3 dimensions; :meth:`formed` stores the result as ``form``. ``breaks``
    is the name of a body and the index of its element that is broken in every mechanism with this connection.
    """

    kind: str
    ports: tuple[PortName, ...]
    make: Callable[[int], Form] | None = field(default=None, compare=False, repr=False)
    input: Input | None = None
    label: str | None = None
    form: Form = NOTHING
    breaks: tuple[str, int] | None = None

    def __post_init__(self) -> None:
        if self.label is not None:
            check.name(f"a {self.kind}", self.label)
        if len(self.ports) == 2 and self.kind != "rope":
            body_port(self.ports[0])

    @property
    def name(self) -> str:
        """Name of the connection: the given one, else kind and ports, e.g. ``hinge crank.tip–rod.root``."""
        return self.label or f"{self.kind} {'–'.join(map(str, self.ports))}"

    @property
    def owners(self) -> list[str]:
        """Names of the bodies to which the ports of the connection belong, without the ground."""
        return [port.partition(".")[0] for port in self.ports if isinstance(port, str)]

    @property
    def is_load(self) -> bool:
        """True if the connection has an external port for forces or torques, not for a factor or a speed."""
        return self.input is not None and self.input.kind not in ("factor", "speed")

    @property
    def rows(self) -> tuple[Row, ...]:
        """Scalar constraint rows of the connection in the dimension of its mechanism."""
        return self.form.rows

    @property
    def signs(self) -> tuple[Sign, ...]:
        """Shapes that pictures draw for the connection."""
        return self.form.signs or (() if self.breaks else (Solid("ball", self.ports[0]),))

    @property
    def touches(self) -> bool:
        """True for contacts and stops."""
        return bool(self.form.gaps) or self.form.group is not None

    @property
    def is_driven(self) -> bool:
        """True if a constraint depends on time."""
        return any(callable(row.law.value) for row in self.rows)

    def formed(self, dim: int) -> Connection:
        """This connection in the plane (``dim`` 2) or in space (3), with its rows and measures as ``form``.

        Raises ValueError if the joint or force element does not exist in this dimension.
        """
        try:
            return _with_port(self if self.make is None else replace(self, make=None, form=self.make(dim)))
        except ValueError as error:
            raise ValueError(f"{self.name}: {error}") from None


def is_controlled_friction(form: Form) -> bool:
    """True if an input sets the factor of the friction in a :class:`Form`."""
    laws = [gap.law for gap in form.gaps] + ([] if form.group is None else [form.group.law])
    factors = [getattr(law, "friction_factor", None) for law in laws]
    factors += [m.damping.factor for m in form.measures if isinstance(m.damping, ScheduledRelation)]
    factors += [] if form.bearing is None else [form.bearing.friction.factor]
    return "input" in factors


def _with_port(formed: Connection) -> Connection:
    """Add an external port to a connection if an input sets the factor of its friction, unless there is such a port."""
    if not is_controlled_friction(formed.form) or (formed.input is not None and formed.input.kind == "factor"):
        return formed
    if formed.input is not None:
        raise ValueError(
            f"an input sets its friction, but it has one of kind {formed.input.kind!r} already: leave one of them out"
        )
    port = next(str(port) for port in formed.ports if isinstance(port, str))
    return replace(formed, input=Input("factor", port))


def offset_at(second: PortName) -> float | None:
    """Value of a position constraint: zero, or None for GROUND without a position.

    None stands for the value in the assembled pose.
    """
    return None if second == GROUND else 0.0


def coincidence(first: PortName, second: PortName, dim: int) -> tuple[Row, ...]:
    """Constraint rows that hold both ports at one point, one for each world axis."""
    gap = between(first, second)
    return tuple(Row("xyz"[i], Offset(Product(gap, Vector(fixed=axis(i, dim))), offset_at(second))) for i in range(dim))


def across(first: PortName, second: PortName, directions: Sequence[Direction]) -> tuple[Row, ...]:
    """Constraint rows that forbid an offset of the first port along given directions of the second section."""
    gap = between(first, second)
    names = ["across"] if len(directions) == 1 else [f"across {i + 1}" for i in range(len(directions))]
    return tuple(
        Row(name, Offset(Product(gap, along(second, d)), offset_at(second)))
        for name, d in zip(names, directions, strict=True)
    )


def parallel_axes(first: PortName, second: PortName, axes: Axes) -> tuple[Row, ...]:
    """Two constraint rows that keep an axis of the first section parallel to one of the second.

    The rows keep the first of the ``axes`` perpendicular to two directions of the second section, which are
    perpendicular to the second of the ``axes``.
    """
    turning = along(body_port(first), axes[0])
    return tuple(
        Row(f"tilt {i + 1}", Offset(Product(turning, along(second, d))), unit="N m")
        for i, d in enumerate(transported_frame(*axes))
    )


def same_rotation(
    first: PortName, second: PortName, value: tuple[tuple[float, ...], ...] | Callable[[float], object] | None
) -> tuple[Row, ...]:
    """Three constraint rows that fix the rotation of the second section relative to the first, in space.

    ``value`` is this rotation as a matrix, or a function of time; None for that of the assembled pose.
    """
    body_port(first)
    relative = tuple(Product(along(first, axis(i, 3)), along(second, axis(j, 3))) for i in range(3) for j in range(3))
    return tuple(Row(f"turn {'xyz'[k]}", Alignment(relative, k, value), unit="N m") for k in range(3))


def relative_angle(
    first: PortName, second: PortName, dim: int, axes: Axes | None = None, *, zero: float = 0.0
) -> tuple[Product, Product]:
    """Sine and cosine, as products, of the angle from the second section to the first, in space about common ``axes``.

    It is measured from the second section after the smallest rotation of this section that aligns the axes; ``zero``
    [rad] is subtracted.
    """
    x, (cosine, sine) = along(body_port(first), angle_origin(axes)), angle_frame(dim, axes, zero)
    return Product(x, along(second, sine)), Product(x, along(second, cosine))


def angle_origin(axes: Axes | None) -> Direction:
    """Direction of the first section whose angle in the second section is the relative angle.

    ``axes`` is None in the plane.
    """
    return axis(0, 2) if axes is None else frame_about(axes[0])[0]


def angle_frame(dim: int, axes: Axes | None, zero: float) -> tuple[Direction, Direction]:
    """Directions of the second section at the relative angles 0 and 90°, see :func:`relative_angle`."""
    if dim == 2 or axes is None:
        return turned_by(zero, axis(0, 2), axis(1, 2))
    return transported_frame(*axes, zero)


def planar_or_about(
    first: PortName, second: PortName, dim: int, *, kind: str, axes: Axes | None, zero: float = 0.0
) -> tuple[Product, Product]:
    """Sine and cosine, as products, of a relative angle, as in :func:`relative_angle`.

    Raises ValueError for an axis in the plane and without one in space; ``kind`` is that of the element.
    """
    if dim == 2:
        if axes is not None:
            raise ValueError(f"{kind} has no axis in the plane: leave axis= out")
        return relative_angle(first, second, 2, zero=zero)
    return relative_angle(first, second, 3, spatial_axes(axes, 3, kind), zero=zero)


def owned_measures(connections: Sequence[Connection]) -> list[tuple[Connection, Measure]]:
    """All measures, each with its connection, sorted by kind: lengths, components, angles, ropes, distances."""
    order = ("length", "component", "angle", "rope", "distance")
    pairs = [(c, m) for c in connections for m in c.form.measures]
    return sorted(pairs, key=lambda pair: order.index(pair[1].kind))


def measures(connections: Sequence[Connection]) -> Iterator[tuple[str, Measure]]:
    """Yield the name and measure of each spring-damper, sorted by kind as in :func:`owned_measures`."""
    for c, m in owned_measures(connections):
        yield (f"{c.name}: {m.name}" if m.name else c.name), m


def refuse_other_laws(mechanism: Any, caller: str, *, has_schedules: bool = False, takes_flows: bool = False) -> None:
    """Raise ValueError for laws that cannot be linearised, with the name of the method ``caller``.

    These are inelastic laws, and laws, friction, masses or speeds that vary in time. Elastic laws of springs that
    depend on time are accepted if ``has_schedules``, flows of constant speed if ``takes_flows``.
    """
    for name, body in mechanism.bodies.items():
        if body.mass_factor is not None:
            raise ValueError(
                f"{caller} supports no masses that depend on time, got that of {name!r}: use "
                "mechanism.with_masses_at(time), which holds the masses of that time constant"
            )
        if body.flow is not None and not takes_flows:
            raise ValueError(f"{caller} supports no flows, got that along {name!r}: use spectrum() or integrate()")
        if body.flow is not None and callable(body.flow.speed):
            raise ValueError(f"{caller} takes flows of constant speed, got that of {name!r}: use integrate()")
        for law in body.scheduled_laws:
            raise ValueError(
                f"{caller} supports no laws of rods that depend on time, got {law} of {name}: use integrate()"
            )
    for name, measure in measures(mechanism.connections):
        if isinstance(measure.damping, ScheduledRelation):
            raise ValueError(
                f"{caller} supports no friction that depends on time, got {measure.damping} of {name}: use integrate()"
            )
        if measure.is_scheduled and not has_schedules:
            raise ValueError(
                f"{caller} supports no laws that depend on time, got {measure.law} of {name}: small motions are then "
                "not exponential; if the schedule is periodic use flexph.analysis.floquet, else integrate()"
            )
        if not (measure.law is None or isinstance(measure.law, ElasticLaw)):
            raise ValueError(f"{caller} takes elastic laws only, got {measure.law} of {name}: use integrate()")


def refuse_hysteresis(connections: Sequence[Connection], caller: str) -> None:
    """Raise ValueError for springs with hysteresis, whose force at rest depends on the path.

    ``caller`` is the name of the method in the message.
    """
    for name, measure in measures(connections):
        if isinstance(measure.law, HysteresisLaw):
            raise ValueError(
                f"{caller} supports no hysteresis, got {measure.law} of {name}: use integrate() until the motion ends"
            )


def angle_row(sine_cosine: tuple[Product, Product], value: object) -> Row:
    """Constraint row that keeps an angle at a ``value`` [rad]: a number, a function of time, or None (as assembled).

    ``sine_cosine`` are its sine and cosine as products.
    """
    return Row("angle", Angle(*sine_cosine, value), unit="N m")  # type: ignore[arg-type]


__all__ = ["GROUND", "Connection", "Direction", "Form", "Ground", "Input", "Measure", "PortName", "Row"]
