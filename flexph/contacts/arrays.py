"""Contacts of a mechanism as arrays for the kernels, and checks of contacts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from itertools import combinations, groupby
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..bodies.nodal_body import AnyBody, NodalBody
from ..bodies.ports import find_port, split_port
from ..joints.rows.connection import Connection, Gap, GapGroup, measures
from ..joints.rows.laws import Distances, PointOnCurve
from ..joints.rows.vectors import BodyVector, Ground, PortName, Vector
from ..kernels.contacts.gap_arrays import (
    ANGLE,
    AXIAL,
    DISTANCE,
    FACE,
    OFFSET,
    RIM,
    SEGMENTS,
    SHAPE,
    VECTORS,
    BallGroup,
    Contacts,
    no_contacts,
)
from ..numerics.arrays import Array
from .laws import Hertz, KelvinVoigt, Rigid

KINDS = {
    "offset": OFFSET, "distance": DISTANCE, "angle": ANGLE, "axial": AXIAL, "rim": RIM, "shape": SHAPE,
    "segments": SEGMENTS, "face": FACE,
}  # fmt: skip

HOLDING = {2: 4, 3: 10}
"""Largest number of sticking pairs in a group, for each of its members, by dimension."""


class _Moves(NamedTuple):
    """Index of the body of a port, and flags that describe how the port moves.

    ``turns``: the section at the port has a rotation. ``bends``: it also rotates relative to the frame of the body.
    ``deforms``: the port moves relative to the frame of the body, or the body is a nodal one.
    """

    body: int
    turns: bool
    bends: bool
    deforms: bool


Owned = tuple[int, Connection, Gap]
Moves = Callable[[str], _Moves]
Factor = tuple[str, Any]


def number_gaps(connections: Sequence[Connection], places: dict[BodyVector, int]) -> None:
    """Add the nodes of all gaps (points and directions of bodies) to the dictionary ``places`` from nodes to indices.

    New nodes get consecutive indices, nodes that ``places`` already has keep their index. The ports of groups of balls
    are added, too.
    """
    for connection in connections:
        for gap in connection.form.gaps:
            for vector in gap.vectors:
                for place in (vector.plus, vector.minus):
                    if place is not None:
                        places.setdefault(place, len(places))
        if connection.form.group is not None:
            for port in connection.form.group.ports:
                places.setdefault(BodyVector(port), len(places))


def contact_arrays(
    bodies: Mapping[str, AnyBody], connections: Sequence[Connection], places: Mapping[BodyVector, int], dim: int
) -> Contacts:
    """Arrays of all contacts and stops among the connections, as single gaps and groups of balls.

    ``places`` are the indices of the nodes. In the state, the friction anchors of groups follow those of single gaps.
    """
    touching = [c for c in connections if c.touches]
    gaps = [(i, c, gap) for i, c in enumerate(touching) for gap in c.form.gaps]
    moves = cache(partial(_moves, bodies))
    for connection in touching:
        _check_bodies(connection, moves)
    first = sum(measure.stiffness > 0.0 for _, measure in measures(connections))
    frictions = numbers_of_factors(connections)
    contacts = _arrays(gaps, places, (moves, frictions), dim, first) if gaps else no_contacts(dim)
    first += dim * int((contacts.holding > 0.0).sum())
    groups = []
    for i, connection in enumerate(touching):
        if connection.form.group is not None:
            groups.append(_group((i, connection, connection.form.group), places, (moves, frictions), dim, first))
            first += (1 + dim) * groups[-1].rows
    return contacts._replace(groups=tuple(groups))


def _arrays(
    gaps: list[Owned], places: Mapping[BodyVector, int], given: tuple[Moves, dict[Any, int]], dim: int, first: int
) -> Contacts:
    """Contact arrays of single gaps, each given with its connection and the connection's index.

    The index counts the connections with contacts. ``given`` are the motions of the ports, and the numbers of the time
    factors of friction by :func:`factor_key`. ``first`` is the index of the first anchor in the state, after all
    springs.
    """
    moves, frictions = given
    for _, connection, gap in gaps:
        _check_restitution(connection, gap, moves)
        _check_face(connection, gap, moves)
    laws, shapes = [gap.law for _, _, gap in gaps], np.empty(len(gaps), dtype=object)
    shapes[:] = [gap.shape for _, _, gap in gaps]
    place = lambda vector, end: -1 if getattr(vector, end) is None else places[getattr(vector, end)]  # noqa: E731
    vectors = [(*gap.vectors, *[Vector()] * (VECTORS - len(gap.vectors))) for _, _, gap in gaps]
    ends = [[[place(v[k], end) for v in vectors] for k in range(VECTORS)] for end in ("plus", "minus")]
    owners = list({id(c): c for _, c, _ in gaps}.values())
    zero, timed = (0.0,) * dim, {id(speed): k for k, (_, speed) in enumerate(surface_speeds(owners))}
    numbers = lambda name: np.array([float(getattr(law, name, 0.0)) for law in laws])  # noqa: E731
    return Contacts(
        kind=np.array([KINDS[gap.kind] for _, _, gap in gaps]),
        sign=np.array([gap.sign for _, _, gap in gaps]),
        offset=np.array([gap.offset for _, _, gap in gaps]),
        plus=np.array(ends[0]),
        minus=np.array(ends[1]),
        fixed=np.array([[v[k].fixed or zero for v in vectors] for k in range(VECTORS)]),
        body=np.array([[_moment_body(c, gap, side, moves) for _, c, gap in gaps] for side in range(2)]),
        share=np.array([[gap.radii[side] for _, _, gap in gaps] for side in range(2)]),
        owner=np.array([i for i, _, _ in gaps]),
        rigid=np.array([isinstance(law, Rigid) for law in laws]),
        stiffness=numbers("stiffness"),
        exponent=np.array([1.5 if isinstance(law, Hertz) else 1.0 for law in laws]),
        loss=numbers("loss"),
        damping=np.array([law.damping if isinstance(law, KelvinVoigt) else 0.0 for law in laws]),
        friction=numbers("friction"),
        slipping=np.array([float(getattr(law, "slip_velocity", None) or 1.0) for law in laws]),
        restitution=np.array([law.restitution if isinstance(law, Rigid) else 0.0 for law in laws]),
        holding=(holding := numbers("holding")),
        anchor=np.where(holding > 0.0, first + dim * (np.cumsum(holding > 0.0) - 1), -1),
        pair=np.zeros(len(gaps), dtype=int),
        rows=np.zeros(len(gaps), dtype=int),
        speed=np.array([0.0 if callable(gap.speed) else gap.speed for _, _, gap in gaps]),
        timed=np.array([timed.get(id(gap.speed), -1) if callable(gap.speed) else -1 for _, _, gap in gaps]),
        driven=np.full(len(gaps), -1),
        rubbing=np.array(
            [frictions.get(factor_key(c, getattr(gap.law, "friction_factor", None)), -1) for _, c, gap in gaps]
        ),
        shape=shapes,
        blend=np.array([gap.blend for _, _, gap in gaps]),
        skin=_skins(gaps),
    )


def _skins(gaps: list[Owned]) -> Array:
    """Numbers (c,) of the pairs of ball and skin to which gaps at faces of skins belong, −1 for other gaps."""
    keys = [(i, gap.skin) if gap.kind == "face" else None for i, _, gap in gaps]
    number = {key: k for k, key in enumerate(dict.fromkeys(keys))}
    return np.array([-1 if key is None else number[key] for key in keys], dtype=int)


def _group(
    owned: tuple[int, Connection, GapGroup],
    places: Mapping[BodyVector, int],
    given: tuple[Moves, dict[Any, int]],
    dim: int,
    first: int,
) -> BallGroup:
    """Arrays of a group of balls, given with its connection and the connection's index.

    Nodes and bodies of the balls are taken from gaps between each ball and the next one in the list. ``given`` is that
    of :func:`_arrays`. ``first`` is the index of the first anchor of the group in the state.
    """
    i, connection, group = owned
    gaps = [(i, connection, group.gap(k, k + 1, dim)) for k in range(len(group.ports) - 1)]
    neighbours = _arrays(gaps, places, given, dim, first)
    whole = BallGroup(
        node=np.append(neighbours.plus[0], neighbours.minus[0, -1]),
        radius=np.array(group.radii),
        body=np.append(neighbours.body[0], neighbours.body[1, -1]),
        law=neighbours.take(np.zeros(1, dtype=int)),
        rows=_rows_of(group, dim),
        left_out=np.zeros(0, dtype=np.int64),
    )
    return whole._replace(left_out=_within_bodies(whole, [given[0](port) for port in group.ports]))


def _within_bodies(group: BallGroup, moves: list[_Moves]) -> Array:
    """Indices of the pairs of balls on the same rigid body, which do not move relative to each other."""
    held = sorted((k for k, sides in enumerate(moves) if not sides.deforms), key=lambda k: moves[k].body)
    pairs = [pair for _, sides in groupby(held, key=lambda k: moves[k].body) for pair in combinations(sides, 2)]
    one, other = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    places: Array = np.sort(group.places(one, other))
    return places


def _rows_of(group: GapGroup, dim: int) -> int:
    """Largest number of friction anchors of a group, the length of their table; 0 if its law has none.

    n discs without overlap touch in at most 3n − 6 pairs, n balls in about 7.5n.
    """
    return min(group.number, HOLDING[dim] * len(group.ports)) if getattr(group.law, "holding", 0.0) else 0


def driven_gaps(contacts: Contacts, connections: Sequence[Connection], slices: Mapping[str, slice]) -> Contacts:
    """Copy of contact arrays of single gaps with the numbers of the inputs that drive their surfaces.

    ``slices`` are the slices of the inputs by the names of connections.
    """
    gaps = [(c, gap) for c in connections for gap in c.form.gaps]
    numbers = [slices[c.name].start if gap.driven else -1 for c, gap in gaps]
    return contacts._replace(driven=np.array(numbers, dtype=int))


def surface_speeds(connections: Sequence[Connection]) -> list[tuple[str, Callable[[float], float]]]:
    """Speeds of moving surfaces that are functions of time: name for messages and function, each function once."""
    speeds: dict[int, tuple[str, Callable[[float], float]]] = {}  # by identity: functions need no hash
    for connection in connections:
        for gap in connection.form.gaps:
            if callable(gap.speed):
                speeds.setdefault(id(gap.speed), (f"{connection.name}: the speed of the surface", gap.speed))
    return list(speeds.values())


def friction_factors(connections: Sequence[Connection]) -> list[Factor]:
    """Factors of the friction of contacts and joints, as pairs of a name for messages and the factor.

    A function of time occurs once, also if several connections have it; "input" occurs once for each connection.
    """
    return [factor for _, factor in _keyed_factors(connections)]


def numbers_of_factors(connections: Sequence[Connection]) -> dict[Any, int]:
    """Index of each factor of friction in the list of :func:`friction_factors`, by its key (:func:`factor_key`)."""
    return {key: k for k, (key, _) in enumerate(_keyed_factors(connections))}


def factor_key(connection: Connection, factor: Any) -> Any:
    """Key of a factor of friction in dictionaries: the identity of a function, or the connection's name for "input"."""
    return connection.name if factor == "input" else id(factor)


def _keyed_factors(connections: Sequence[Connection]) -> list[tuple[Any, Factor]]:
    factors: dict[Any, Factor] = {}
    for connection in connections:
        laws = [gap.law for gap in connection.form.gaps]
        laws += [] if connection.form.group is None else [connection.form.group.law]
        given = [getattr(law, "friction_factor", None) for law in laws]
        given += [] if connection.form.bearing is None else [connection.form.bearing.friction.factor]
        for factor in given:
            if factor is not None:
                named = f"{connection.name}: the factor of its friction", factor
                factors.setdefault(factor_key(connection, factor), named)
    return list(factors.items())


def anchor_sizes(connections: Sequence[Connection], dim: int) -> dict[str, int]:
    """Numbers of entries that friction anchors have in the state, by names of these entries, in the order of the state.

    A single anchor has d names with one entry each, such as ``floor: anchor 1 x``; the anchors of a group have one
    name, such as ``discs: anchors``. In a state, anchors follow the springs.
    """
    single = {
        f"{c.name}: anchor {k + 1} {axis}": 1
        for c in connections
        for k, gap in enumerate(c.form.gaps)
        if getattr(gap.law, "holding", 0.0)
        for axis in "xyz"[:dim]
    }
    groups = [(c.name, _rows_of(c.form.group, dim)) for c in connections if c.form.group is not None]
    return single | {f"{name}: anchors": (1 + dim) * rows for name, rows in groups if rows}


def _moves(bodies: Mapping[str, AnyBody], port: str) -> _Moves:
    (index, place), (_, body, _) = find_port(port, bodies), split_port(port, bodies)
    bends = place.rotation is not None and bool(sparse.csr_array(place.rotation).count_nonzero())
    deforms = isinstance(body, NodalBody) or bool(sparse.csr_array(place.shape).count_nonzero())
    return _Moves(index, place.rotation is not None, bends, deforms)


def _moment_body(connection: Connection, gap: Gap, side: int, moves: Moves) -> int:
    """Index of the body to which friction at a gap applies a moment, on side 0 or 1 of the gap; −1 if to none.

    Raises ValueError if the port has no rotation, or rotates relative to its body.
    """
    if gap.sides is None or not getattr(gap.law, "friction", 0.0):
        return -1
    port: PortName = gap.sides[side]
    if isinstance(port, Ground) or (
        gap.radii[side] == 0.0 and gap.kind != "segments" and not (side == 1 and gap.kind in ("offset", "rim", "shape"))
    ):
        return -1
    move = moves(port)
    if not move.turns:
        raise ValueError(
            f"{connection.name}: friction exerts a moment on {port!r}, a point mass: use a body with inertia"
        )
    if move.bends:
        raise ValueError(
            f"{connection.name}: the section at {port!r} rotates relative to its body when that deforms: use a "
            "radius of 0 there, or weld a rigid body to it and use that in the contact"
        )
    return move.body


def _check_bodies(connection: Connection, moves: Moves) -> None:
    """Raise ValueError if both shapes of a gap, or all balls of a group, are on the same rigid body.

    Also raises it for edges at a section that rotates relative to its body.
    """
    group, pairs = connection.form.group, [gap.sides for gap in connection.form.gaps if gap.sides is not None]
    if group is not None and len({moves(port).body for port in group.ports}) == 1:
        pairs = [] if any(moves(port).deforms for port in group.ports) else [(group.ports[0], group.ports[1])]
    for gap in connection.form.gaps if group is None else ():
        for port in gap.sides or ():
            if gap.kind == "segments" and not isinstance(port, Ground) and moves(port).bends:
                raise ValueError(
                    f"{connection.name}: the section at {port!r} rotates relative to its body when the body deforms: "
                    "weld a rigid body to it, and put the edges on the rigid body"
                )
    for one, other in pairs:
        if isinstance(one, Ground) or isinstance(other, Ground) or moves(one).body != moves(other).body:
            continue
        if not moves(one).deforms and not moves(other).deforms:
            raise ValueError(
                f"{connection.name}: {one!r} and {other!r} are on the same rigid body, so that their gap never "
                "changes: leave out one of them (mutual_contact of balls on several bodies leaves out such pairs)"
            )


def _check_restitution(connection: Connection, gap: Gap, moves: Moves) -> None:
    """Raise ValueError for restitution at a port of a body that deforms: the mass involved depends on the mesh."""
    if not (isinstance(gap.law, Rigid) and gap.law.restitution):
        return
    for vector in gap.vectors:
        for place in (vector.plus, vector.minus):
            if place is not None and moves(place.port).deforms:
                raise ValueError(
                    f"{connection.name}: restitution is not defined at {place.port!r}, where the body deforms (the "
                    "effective mass depends on the mesh): use Rigid() without it, or a compliant law"
                )


def _check_face(connection: Connection, gap: Gap, moves: Moves) -> None:
    """Raise ValueError for a rigid contact with a face whose corners are on several bodies or nodal frames."""
    if gap.kind != "face" or not isinstance(gap.law, Rigid):
        return
    corners = [vector.minus for vector in gap.vectors[:1]] + [vector.plus for vector in gap.vectors[1:]]
    ports = [corner.port for corner in corners if corner is not None]
    if len({moves(port).body for port in ports}) > 1:
        raise ValueError(
            f"{connection.name}: an impulse of a Rigid contact acts on two bodies, and the corners {ports} of a face "
            "are on several frames: use a solid of strain='linear', whose nodes are in one frame, or a compliant law"
        )


def has_slipping_wheel(connection: Connection) -> bool:
    """True if a connection is a slipping wheel, i.e. has friction against a slip that is not along a curve."""
    return any(terms for slip in connection.form.slips for terms in slip.components)


def _is_closed(connection: Connection) -> bool:
    """True if a connection is the substitute, in a mechanism at rest, for a closed contact at an edge or face.

    Such a connection is a spring on the distance of the gap, or a constraint of this distance.
    """
    form = connection.form
    return any(m.distance for m in form.measures) or any(isinstance(row.law, Distances) for row in form.rows)


def refuse_contacts(
    connections: Sequence[Connection],
    what: str,
    *,
    has_curves: bool = False,
    has_slips: bool = False,
    at_rest: bool = False,
) -> None:
    """Raise ValueError for a connection that an analysis does not support, such as a contact, with its name.

    ``what`` is the name of the analysis. Contacts and Coulomb friction are never supported. With ``at_rest`` the
    analysis supports connections that replace closed contacts at edges and faces, with ``has_curves`` points on curves,
    and with ``has_slips`` slipping wheels.
    """
    for connection in connections:
        if not at_rest and _is_closed(connection):
            raise ValueError(
                f"{what} does not support contacts closed at edges, in grooves or on skins, and {connection.name!r} is "
                "one: use equilibrium, linearize or spectrum at a state"
            )
        if connection.touches:
            raise ValueError(f"{what} does not support contacts, and {connection.name!r} is one: leave it out")
        if not has_curves and any(isinstance(row.law, PointOnCurve) for row in connection.rows):
            raise ValueError(f"{what} does not support points on curves, and {connection.name!r} is one: leave it out")
        if connection.form.bearing is not None:
            raise ValueError(
                f"{what} does not support CoulombFriction, and {connection.name!r} has it: leave it out, or use "
                "coulomb(force, speed=...)"
            )
        if not has_slips and has_slipping_wheel(connection):
            raise ValueError(f"{what} does not support slipping wheels, and {connection.name!r} is one: leave it out")
