"""Construction of contacts: of two shapes at ports, or of each shape of a group with every other.

A pair of shapes is put in order, split into parts (:mod:`.parts`), and each pair of parts gets a gap.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

from ..joints.rows.connection import Connection, Form, Gap, GapGroup, GapKind, Input
from ..joints.rows.signs import Sign
from ..joints.rows.vectors import BodyVector, Direction, Ground, Vector, along, fitting
from ..numerics import checks as check
from ..numerics.arguments import checked
from .laws import Compliant, ContactLaw
from .parts import check_slender, parts_of
from .shapes import Cylinder, Edge, Hole, Plane, Rim, Round, Shape, Sphere
from .signs import TouchingPort
from .skins import Skin
from .surfaces import Surface

POINTS = "two points have no side from which they touch: give one of them a radius"


@checked
def contact(first: Any, second: Any, law: Any, *, name: str | None = None) -> Connection:
    """Contact of two shapes that cannot penetrate each other, by a contact law.

    Parameters
    ----------
    first, second : str, Sphere, Rim, Plane, Cylinder, Hole, Box, Capsule, Mesh, Skin, or a list of them
        Shapes at ports; the name of a port is a point. Supported are a point or sphere against a point, sphere, plane,
        cylinder, hole, box, capsule or mesh, a cylinder (a pin) in a hole, and the rim of a disc on a plane. In space
        the contact acts at the port of the pin, so that a clearance joint takes one contact at each end. With lists,
        each shape of the first is in contact with each of the second: the nodes of a rod against a plane.

        Boxes, capsules and meshes also touch planes, cylinders, holes and each other: by the corners of boxes, the ends
        of capsules and the nodes of meshes, and in space by the edges of boxes and capsules, of which one has a radius.
        Where several of these parts are in contact, their forces add up. A skin is touched by balls on its faces, and
        touches all these shapes by its corners.
    law : Hertz, KelvinVoigt or Rigid
        The contact law.
    name : str, optional
        Name of the contact, under which the ledger shows its energy.

    Returns
    -------
    Connection
        The contact, for :func:`flexph.connect`.

    Raises
    ------
    ValueError
        For unsupported pairs of shapes, and for two shapes on the ground.

    Examples
    --------
    >>> from flexph import GROUND
    >>> from flexph.contacts import Hertz, Plane, Sphere, contact
    >>> contact(Sphere("ball.centre", 0.1), Plane(GROUND.at(0.0, 0.0), (0.0, 1.0)), Hertz(1e7)).name
    'contact ball.centre–GROUND at (0.0, 0.0)'
    """
    firsts, seconds = _shapes("first", first), _shapes("second", second)
    return _touching([(a, b) for a in firsts for b in seconds], law, name)


@checked
def mutual_contact(shapes: Sequence[Any], law: Any, *, name: str | None = None) -> Connection:
    """Contact of each shape of a group with every other: n(n − 1)/2 pairs of n spheres under one name.

    For spheres on bodies, memory grows with n, and the time of a step with the number of near pairs. The gaps are
    numbered by pairs of shapes, (0, 1), (0, 2), …, (1, 2), …; pairs on the same rigid body, whose gap is constant, are
    left out.

    Parameters
    ----------
    shapes : sequence
        At least two shapes of :mod:`flexph.contacts`, or names of ports, which are points.
    law : ContactLaw
        The contact law of each pair.
    name : str, optional
        Name of the element.

    Returns
    -------
    Connection
        The element, for :func:`flexph.connect`.

    Raises
    ------
    ValueError
        For fewer than two shapes, or shapes of which some cannot touch each other.
    """
    group = _shapes("shapes", shapes)
    if len(group) < 2:
        raise ValueError(f"shapes must be at least two, got {len(group)}")
    balls = [shape for shape in group if isinstance(shape, Sphere) and isinstance(shape.port, str)]
    if 2 < len(group) == len(balls):
        return _grouped(balls, _law(law), name)
    return _touching(list(combinations(group, 2)), law, name)


def _shapes(argument: str, given: Any) -> list[Shape]:
    many = list(given) if isinstance(given, Sequence) and not isinstance(given, str) else [given]
    shapes = [Sphere(one) if isinstance(one, str) else one for one in many]
    for shape in shapes:
        if not isinstance(shape, Shape):
            raise ValueError(
                f"{argument} must be a port or a Sphere, Rim, Plane, Cylinder, Hole, Box, Capsule, Mesh or Skin, "
                f"got {check.shown(shape)}"
            )
    if not shapes:
        raise ValueError(f"{argument} must not be empty")
    return shapes


def _law(law: Any) -> ContactLaw:
    if not isinstance(law, ContactLaw):
        raise ValueError(f"law must be a ContactLaw, {ContactLaw.remedy}, got {check.shown(law)}")
    return law


def _grouped(balls: list[Sphere], law: ContactLaw, name: str | None) -> Connection:
    """Connection of a group of balls, each in contact with every other.

    Raises ValueError if two of them are points.
    """
    ports, radii = tuple(str(ball.port) for ball in balls), tuple(ball.radius for ball in balls)
    if radii.count(0.0) > 1:
        raise ValueError(POINTS)

    def make(dim: int) -> Form:
        return Form(group=GapGroup(ports, radii, law), signs=tuple(ball.sign(dim, ()) for ball in balls))

    distinct = tuple(dict.fromkeys(ports))
    return Connection("contact", distinct, make, label=f"contact of {len(distinct)}" if name is None else name)


def _touching(pairs: list[tuple[Shape, Shape]], law: Any, name: str | None) -> Connection:
    law = _law(law)
    ordered = [_ordered(*pair) for pair in pairs]

    def make(dim: int) -> Form:
        gaps: list[Gap] = []
        for pair in ordered:
            parts = parts_of(*pair)
            edges = _edges_at(parts, dim)
            for a, b in parts:
                if isinstance(a, Edge) and isinstance(b, Edge):
                    gaps.append(_crossing(a, b, edges, law))
                elif isinstance(a, Sphere) and isinstance(b, Skin):
                    gaps += b.gaps(a, law, _centre(a), len(gaps))
                else:
                    gaps.append(_gap(a, b, dim, law))
        return Form(gaps=tuple(gaps), signs=_signs(ordered, dim))

    ports = tuple(dict.fromkeys(port for pair in ordered for shape in pair for port in _ports_of(shape)))
    label = name if name is not None or len(pairs) == 1 else f"contact of {len(ports)}"
    if len(pairs) == 1 and not any(isinstance(shape, Skin) for shape in ordered[0]):
        ports = (ordered[0][0].port, ordered[0][1].port)
    ports = tuple(sorted(ports, key=lambda port: isinstance(port, Ground)))  # moving ports first
    return Connection("contact", ports, make, _speed_of(ordered, law), label=label)


def _ports_of(shape: Shape) -> Sequence[Any]:
    return shape.ports if isinstance(shape, Skin) else (shape.port,)


def _speed_of(pairs: list[tuple[Shape, Shape]], law: ContactLaw) -> Input | None:
    """Input of a contact that sets the speed of a driven surface; None if no surface is driven.

    Raises ValueError for a driven surface whose law is not compliant or has no friction.
    """
    ports = [shape.port for pair in pairs for shape in pair if isinstance(shape, Plane) and shape.driven]
    if ports and not (isinstance(law, Compliant) and law.friction):
        raise ValueError(f"a driven plane needs a compliant law with friction, Hertz or KelvinVoigt, got {law}")
    return Input("speed", str(ports[0])) if ports else None


def _signs(pairs: list[tuple[Shape, Shape]], dim: int) -> tuple[Sign, ...]:
    """Drawing signs of the shapes of all pairs, each shape once; skins have none, as the bodies show them."""
    touching: dict[Shape, list[TouchingPort]] = {}
    for pair in pairs:
        for first, other in (pair, pair[::-1]):
            touching.setdefault(first, []).append(TouchingPort(other.port, other.reach))
    drawn = {shape: others for shape, others in touching.items() if not isinstance(shape, Skin)}  # bodies show it
    return tuple(shape.sign(dim, tuple(others)) for shape, others in drawn.items())


def _ordered(first: Shape, second: Shape) -> tuple[Shape, Shape]:
    """Two shapes in the order that :func:`_gap` needs; raises ValueError for pairs that are not supported.

    First comes a ball, a pin, a rim or, of larger shapes, a box, capsule or mesh; a ball on the ground comes second.
    """
    if isinstance(first, Rim) or isinstance(second, Rim):
        return _ordered_rim(first, second)
    if isinstance(first, Skin) or isinstance(second, Skin):
        return (second, first) if isinstance(first, Skin) and isinstance(second, Sphere) else (first, second)
    if _are_bodies(first, second):
        if isinstance(first.port, Ground) and isinstance(second.port, Ground):
            raise ValueError("at least one shape of a contact must be on a body, got both on the ground")
        return (first, second) if isinstance(first, Surface) else (second, first)
    round_ = isinstance(first, Sphere) or (isinstance(first, Cylinder) and isinstance(second, Hole))
    if not round_ and (isinstance(second, Sphere) or (isinstance(second, Cylinder) and isinstance(first, Hole))):
        first, second, round_ = second, first, True
    if not round_:
        kinds = " and ".join(type(shape).__name__ for shape in (first, second))
        raise ValueError(
            f"a contact needs a point or sphere, or a pin in a hole, got {kinds}: in the plane use a Sphere for a "
            "disc, in space points or spheres along what is longer"
        )
    if isinstance(first.port, Ground):
        if isinstance(second.port, Ground):
            raise ValueError("at least one shape of a contact must be on a body, got both on the ground")
        if isinstance(second, Sphere):
            first, second = second, first
    return first, second


def _are_bodies(first: Shape, second: Shape) -> bool:
    """True if one shape is a box, a capsule or a mesh, and the other is one of these, a plane, a cylinder or a hole."""
    kinds = Surface | Plane | Round
    return (isinstance(first, Surface) and isinstance(second, kinds)) or (
        isinstance(second, Surface) and isinstance(first, kinds)
    )


def _ordered_rim(first: Shape, second: Shape) -> tuple[Shape, Shape]:
    """The rim and the plane of two shapes, in this order.

    Raises ValueError unless one is a rim on a body and the other one a plane.
    """
    first, second = (first, second) if isinstance(first, Rim) else (second, first)
    if not isinstance(second, Plane):
        raise ValueError(f"a Rim can only touch a Plane, got a {type(second).__name__}: use spheres on the rim instead")
    if isinstance(first.port, Ground):
        raise ValueError("a Rim must be on a body, got one on the ground")
    return first, second


EdgeAt = tuple[BodyVector | None, Direction | None, Vector]
"""Centre of an edge, on a body or on the ground, and its half length."""


def _edges_at(parts: list[tuple[Shape, Shape]], dim: int) -> dict[int, EdgeAt]:
    """Centres and half lengths of all edges among the parts of two shapes, by the identities of the edges."""
    edges = {id(part): part for pair in parts for part in pair if isinstance(part, Edge)}
    return {key: (*_centre(edge), along(edge.port, fitting("axis", edge.half, dim))) for key, edge in edges.items()}


def _crossing(first: Edge, second: Edge, edges: dict[int, EdgeAt], law: ContactLaw) -> Gap:
    """Gap of two edges, whose centres are in ``edges`` (:func:`_edges_at`); raises ValueError for too thin edges."""
    check_slender(first, second)
    (plus, ahead, half), (minus, back, other) = edges[id(first)], edges[id(second)]
    apart = Vector(plus, minus, ahead if back is None else tuple(-x for x in back))
    radii = first.radius, second.radius
    return Gap("segments", (apart, half, other), 1.0, sum(radii), law, (first.port, second.port), radii)


def _gap(first: Shape, second: Shape, dim: int, law: ContactLaw) -> Gap:
    """Gap of two shapes in the order of :func:`_ordered`; raises ValueError if they do not fit."""
    for shape in (first, second):
        if dim == 2 and isinstance(shape, Round) and shape.axis is not None:
            raise ValueError(f"a {type(shape).__name__.lower()} has no axis in the plane, got {shape.axis}")
    if dim == 2 and isinstance(first, Rim):
        raise ValueError("a Rim exists in three dimensions only: in the plane use a Sphere for a disc")
    apart, none = _between(first, second), Vector(fixed=(0.0,) * dim)
    sides, radius = (first.port, second.port), first.reach
    if isinstance(second, Plane):
        normal = along(second.port, fitting("normal", tuple(second.normal), dim))
        if isinstance(first, Rim):
            axis, radii = along(first.port, tuple(first.axis)), (first.radius, first.crown)
            return Gap("rim", (apart, normal, axis), 1.0, first.crown, law, sides, radii)
        way = along(second.port, second.way) if second.is_moving else none
        return Gap(
            "offset",
            (apart, normal, way),
            1.0,
            radius,
            law,
            sides,
            (radius, 0.0),
            speed=second.speed,
            driven=second.driven,
        )
    if isinstance(second, Surface):
        return _to_surface(first, second, dim, law)
    kind: GapKind = "distance"
    if isinstance(second, Hole):
        clearance = second.reach - radius
        if clearance <= 0.0:
            raise ValueError(f"the hole must be wider than the shape in it, got radii {second.reach} and {radius} m")
        sign, offset = -1.0, -clearance
        radii = (-radius / clearance, second.reach / clearance)
    else:
        sign, offset = 1.0, radius + second.reach
        if offset == 0.0:
            raise ValueError(POINTS)
        radii = (radius / offset, second.reach / offset)
    axis = none
    if dim == 3 and isinstance(second, Hole | Cylinder):
        if second.axis is None:
            raise ValueError(f"a {type(second).__name__.lower()} in space needs an axis")
        kind, axis = "axial", along(second.port, fitting("axis", tuple(second.axis), dim))
    return Gap(kind, (apart, axis, none), sign, offset, law, sides, radii)


def _to_surface(first: Shape, second: Surface, dim: int, law: ContactLaw) -> Gap:
    """Gap between a ball or point and a box, capsule or mesh.

    It is the distance from the surface at the coordinates of the centre of the ball in the axes of the surface.
    """
    radius, apart = first.reach, _between(first, second)
    if radius == 0.0 and not second.encloses:
        raise ValueError(
            f"a point passes through a {type(second).__name__.lower()} without an inside: give it a radius, "
            "Sphere(port, radius)"
        )
    axes = [along(second.port, direction) for direction in second.directions(dim)]
    sides, offset = (first.port, second.port), radius + second.rounding
    return Gap(
        "shape", (apart, *axes), 1.0, offset, law, sides, (radius, 0.0), shape=second.arrays, blend=second.blend(radius)
    )


def _between(first: Shape, second: Shape) -> Vector:
    """Vector from the centre of the second shape to that of the first.

    A centre on the ground enters as a constant part of the vector.
    """
    (plus, ahead), (minus, back) = _centre(first), _centre(second)
    fixed = ahead if back is None else tuple(-x for x in back)
    return Vector(plus, minus, fixed)


def _centre(shape: Shape) -> tuple[BodyVector | None, Direction | None]:
    """Centre of a shape: a point of a body and None, or None and world coordinates for a shape on the ground."""
    offset: Direction | None = getattr(shape, "offset", None)
    if not isinstance(shape.port, Ground):
        return BodyVector(shape.port, offset=offset if offset and any(offset) else None), None
    assert shape.port.position is not None
    return None, shape.port.position if not offset else tuple(map(sum, zip(shape.port.position, offset, strict=True)))
