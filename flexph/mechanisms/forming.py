"""Connections of a mechanism: checks of their ports, and their forms in the plane or in space."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from ..bodies.nodal_body import AnyBody
from ..bodies.ports import find_port
from ..bodies.split_body import SplitBody
from ..joints.rows.connection import Connection
from ..joints.rows.vectors import Ground
from ..joints.weld import weld
from ..numerics import checks as check


def formed(bodies: Mapping[str, AnyBody], connections: Sequence[Connection]) -> tuple[Connection, ...]:
    """Connections in their form for the plane or for space, followed by the welds between the parts of split bodies.

    Raises ValueError if ``connections`` is one connection instead of a list, for unknown ports, and for connections of
    the same name.
    """
    if isinstance(connections, Connection):
        raise ValueError("connections must be a list of joints and force elements, got a single one")
    dim = next(iter(bodies.values())).dim
    for connection in connections:
        _check_ports(connection, bodies)
    names = {c.name for c in connections}
    connections = [*connections, *(c for c in split_welds(bodies) if c.name not in names)]
    all_formed = tuple(connection.formed(dim) for connection in connections)
    for name, count in Counter(c.name for c in all_formed).items():
        if count > 1:
            raise ValueError(f"connection given twice: {name}; give the second one another name=")
    return all_formed


def split_welds(bodies: Mapping[str, AnyBody]) -> list[Connection]:
    """Welds that join the frames of each split body, one body of several frames."""
    pairs = [(name, *pair) for name, body in bodies.items() if isinstance(body, SplitBody) for pair in body.joints]
    return [weld(f"{name}.{first}", f"{name}.{second}") for name, first, second in pairs]


def _check_ports(connection: Any, bodies: Mapping[str, AnyBody]) -> None:
    if not isinstance(connection, Connection):
        raise ValueError(f"connections must hold joints and force elements, got {check.shown(connection)}")
    if connection.input is not None and connection.input.kind in ("load", "face"):
        return
    dim = next(iter(bodies.values())).dim
    for port in connection.ports:
        if not isinstance(port, Ground):
            find_port(port, bodies)
        elif port.position is not None and len(port.position) != dim:
            raise ValueError(f"{connection.kind}: a ground position must have {dim} coordinates, got {port.position}")
    if len(connection.ports) == 2 and connection.ports[0] == connection.ports[1]:
        raise ValueError(f"{connection.kind} joins port {connection.ports[0]!r} to itself")
