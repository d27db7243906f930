"""Fast drawing of a single state: all parts fixed to rigid bodies at once, and groups of equal flexible bodies.

Live views draw one state at a time, for which the overhead of Python for each part is larger than the arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..bodies.body import Body
from ..bodies.nodal_body import AnyBody
from ..joints.rows.connection import Connection
from ..joints.rows.signs import Solid
from ..mechanisms.model.model import Model
from ..numerics.arrays import Array
from ..numerics.rotations import from_entries
from ..results.motion import MotionByName
from .arrows import PortPlaces, spatial
from .scene import Part
from .stresses import Rows

Draw = Callable[[MotionByName, int, int, bool], Part]
"""Function of a motion, its number of times, the number of a part and whether it is scalable, that draws the part."""


class EqualBodies(MotionByName):
    """Motion of one body whose rows are several equal bodies at a single state, so that all are drawn by one call.

    ``tables`` gives, for each quantity such as ``centre``, the indices of its entries in the state, one row for each
    body.
    """

    __slots__ = ("_state", "_tables", "mechanism")

    def __init__(self, mechanism: Model, state: Array, tables: dict[str, Array]) -> None:
        self.mechanism, self._state, self._tables = mechanism, state, tables

    def __getitem__(self, part: str) -> Array:
        return self._state[self._tables[part.partition(".")[2]]]


@dataclass(frozen=True, eq=False)
class _Group:
    """Parts of equal flexible bodies that are drawn together.

    ``numbers`` are the numbers of the parts. ``tables`` gives, for each quantity of a body, the indices of its entries
    in the state, one row for each body.
    """

    numbers: tuple[int, ...]
    tables: dict[str, Array]


class StateDrawing:
    """Plan for drawing the parts of a mechanism at single states, with the same result as drawing each separately.

    Parameters
    ----------
    motion : Rows
        States, the first of which is drawn.
    bodies : sequence of str
        Names of the bodies that are drawn, the first parts.
    connections : sequence of Connection
        Connections that are drawn, the parts after the bodies.
    draw : callable
        Function that draws a part.
    """

    def __init__(self, motion: Rows, bodies: Sequence[str], connections: Sequence[Connection], draw: Draw) -> None:
        self._mechanism, self._draw = motion.mechanism, draw
        owners: dict[int, str] = {}
        groups: dict[Hashable, list[int]] = {}
        names = list(bodies)
        for number, name in enumerate(bodies):
            body = self._mechanism.bodies[name]
            if _is_rigid(body):
                owners[number] = name
            else:
                groups.setdefault(("body", id(body)), []).append(number)
        for number, connection in enumerate(connections, len(names)):
            name, key = _owner_of(connection)
            names.append(name)
            if name and _is_rigid(self._mechanism.bodies[name]) and not _deforms(motion, connection):
                owners[number] = name
            elif name:
                whole = "sign", id(self._mechanism.bodies[name]), _deforms(motion, connection), connection.touches, key
                groups.setdefault(whole, []).append(number)
            else:
                groups[number] = [number]
        self._names = (*bodies, *(connection.name for connection in connections))
        self._groups = [
            _Group(tuple(own), _tables(self._mechanism, [names[k] for k in own])) for own in groups.values()
        ]
        self._fixed = _RigidParts(
            motion.first, {number: (name, draw(motion.first, 1, number, False)) for number, name in owners.items()}
        )

    def parts(self, motion: Rows, *, scalable: bool) -> list[Part]:
        """Parts of all bodies and connections at the first state of a motion.

        ``scalable`` as in :meth:`Drawing.scene`.
        """
        parts: dict[int, Part] = self._fixed.parts(motion)
        state = motion.state
        for group in self._groups:
            if len(group.numbers) == 1:
                parts[group.numbers[0]] = self._draw(motion, 1, group.numbers[0], scalable)
                continue
            copies = EqualBodies(self._mechanism, state, group.tables)
            whole = self._draw(copies, len(group.numbers), group.numbers[0], scalable)
            for row, number in enumerate(group.numbers):
                parts[number] = _row(whole, row, self._names[number])
        return [parts[number] for number in range(len(parts))]


class _RigidParts:
    """Parts that are fixed to rigid bodies, by number; their points are stored in body axes and move with the body."""

    def __init__(self, motion: Rows, parts: dict[int, tuple[str, Part]]) -> None:
        self._parts = {number: part for number, (_, part) in parts.items()}
        owners = list(dict.fromkeys(name for name, _ in parts.values()))
        self._dim = motion.mechanism.layout.dim
        tables = _tables(motion.mechanism, owners) if owners else {}
        none = np.zeros((0, 0), dtype=int)
        self._centre, self._rotation = (tables.get(own, none) for own in ("centre", "rotation"))
        counts = [part.points.shape[1] for part in self._parts.values()]
        self._owner = np.repeat([owners.index(name) for name, _ in parts.values()], counts).astype(int)
        self._ends = np.cumsum(counts)[:-1]
        if owners:
            points = np.concatenate([part.points[0] for part in self._parts.values()])
            centres, rotations = self._frames(motion)
            self._local = np.einsum("pji,pj->pi", rotations[self._owner], points - centres[self._owner])

    def _frames(self, motion: Rows) -> tuple[Array, Array]:
        """Centres (n, 3) and rotations (n, 3, 3) of the bodies at the first state of a motion."""
        state, d = motion.state, self._dim
        rotations = np.tile(np.eye(3), (len(self._centre), 1, 1))
        rotations[:, :d, :d] = from_entries(state[self._rotation], d)
        return spatial(state[self._centre]), rotations

    def parts(self, motion: Rows) -> dict[int, Part]:
        """Parts, by number, at the first state of a motion."""
        if not self._parts:
            return {}
        centres, rotations = self._frames(motion)
        points = centres[self._owner] + np.einsum("pij,pj->pi", rotations[self._owner], self._local)
        parts_here = np.split(points, self._ends)
        return {
            number: replace(part, points=place[None])
            for (number, part), place in zip(self._parts.items(), parts_here, strict=True)
        }


def _is_rigid(body: AnyBody) -> bool:
    """True for a body that moves with a single frame and does not deform."""
    return isinstance(body, Body) and body.turns and not body.size and not body.stress_size


def _owner_of(connection: Connection) -> tuple[str, Hashable]:
    """Name of the only body to which all symbols of a connection are fixed, and a key that is equal for equal symbols.

    The name is "" if there is no such body.
    """
    names, key = set(), []
    for sign in connection.signs:
        if type(sign) is not Solid or not all(isinstance(port, str) for port in (sign.port, sign.axes or sign.port)):
            return "", ()
        ports = [str(port).partition(".") for port in (sign.port, sign.axes or sign.port)]
        names |= {name for name, _, _ in ports}
        direction = None if sign.direction is None else tuple(map(float, sign.direction))
        key.append((sign.kind, *(port_key for _, _, port_key in ports), direction, sign.radius))
    return (names.pop(), tuple(key)) if len(names) == 1 else ("", ())


def _deforms(motion: Rows, connection: Connection) -> bool:
    """True if the deformation of a body, which may be enlarged in pictures, moves symbols of a connection."""
    return not connection.touches and PortPlaces(motion, 1, connection.ports[0]).deformed(connection.ports)


def _tables(mechanism: Model, names: Sequence[str]) -> dict[str, Array]:
    """Indices (n, m) of each quantity of n bodies in the flat state, by the name of the quantity.

    The bodies with the given names have the same quantities.
    """
    if not names[0]:
        return {}
    parts, first = mechanism.layout.parts, names[0]
    part_names = [part.partition(".")[2] for part in parts if part.partition(".")[0] == first]
    whole = np.arange(mechanism.layout.size)
    return {part: np.stack([whole[parts[f"{name}.{part}"]] for name in names]) for part in part_names}


def _row(part: Part, row: int, name: str) -> Part:
    """Part at the time with the index ``row`` only, with another name."""
    pick = slice(row, row + 1)
    fields = {field_name: replace(field, values=field.values[pick]) for field_name, field in part.point_fields.items()}
    deformation = part.deformation[pick] if len(part.deformation) > 1 else part.deformation
    return replace(part, name=name, points=part.points[pick], deformation=deformation, point_fields=fields)
