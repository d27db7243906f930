"""Mechanism of a model file, and its initial pose and state."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, cast

from flexph.bodies.body import Body
from flexph.contacts.skins import Skin
from flexph.joints.rows.connection import Connection
from flexph.joints.rows.vectors import Ground
from flexph.mechanisms.connected_bodies import connect
from flexph.mechanisms.mechanism import Mechanism
from flexph.mechanisms.model.state import Pose, State

from ..units.words import nearest
from .schema.connections import SHAPES
from .schema.entry import Builder
from .schema.functions import Driven
from .schema.runs import PoseEntry, Start

ENDS = (
    *("first", "second", "shapes", "port", "rail", "reference", "ground"),
    *("carrier", "rack", "pinion", "housing", "wheel", "chassis"),
)
"""Fields of connections that hold ports, the ground, or shapes at ports."""


def build_mechanism(document: Any, builder: Builder) -> Mechanism:
    """Mechanism of the bodies and connections of a file. Raises Misfit."""
    bodies = {name: builder.of(entry, "bodies", name) for name, entry in document.bodies.items()}
    dim = next(iter(bodies.values())).dim
    connections: list[Connection] = []
    for i, entry in enumerate(document.connections):
        here = builder.at("connections", i)
        _check_ends(entry, bodies, here)
        with here.refusals(entry):
            connections.append(entry.build(here))
            connections[-1].formed(dim)  # checks the connection here, where its path is known
    with builder.refusals(document):
        return connect(bodies, connections, gravity=document.gravity)


def _check_ends(entry: Any, bodies: dict[str, Body], here: Builder) -> None:
    """Raise Misfit for an unknown port, naming the nearest one, or for a ground point of the wrong dimension."""
    dim = next(iter(bodies.values())).dim
    ends = [end for field in ENDS for end in _places(getattr(entry, field, None), here.at(field))]
    for given, place in ends:
        if isinstance(given, str):
            check_port(given, bodies, place, loads=entry.kind == "distributed_load")
        elif isinstance(given, Ground) and given.position is not None and len(given.position) != dim:
            raise place.misfit(f"got a place of {len(given.position)} coordinates: write {dim}")


def _places(given: Any, here: Builder) -> Iterator[tuple[Any, Builder]]:
    """Yield each port and each ground point of one end of a connection, with the Builder of its position in the file.

    The value ``given`` of the end is a port, a ground point, a contact shape with one or more ports, or a list of
    these.
    """
    if isinstance(given, list):
        for i, one in enumerate(given):
            yield from _places(one, here.at(i))
    elif isinstance(given, SHAPES):
        entries = cast("Any", given)
        if entries.makes is Skin:
            yield from _places(entries.ports, here.at("ports"))
        else:
            yield entries.port, here.at("port")
    else:
        yield given, here


def check_motions(document: Any, builder: Builder, time: float, when: str = "the start") -> None:
    """Raise Misfit if the function of a driven connection has no value at a time [s].

    ``when`` names the time in the error.
    """
    for i, entry in enumerate(document.connections):
        if isinstance(entry, Driven):
            entry.check_at(time, builder.at("connections", i), when)


def check_port(given: str, bodies: Any, here: Builder, *, loads: bool = False) -> None:
    """Raise Misfit if ``given``, written ``body.port``, is no port of the bodies; the error names the nearest one.

    ``loads``: True to look for a load port, a port of a body for distributed loads instead of connections.
    """
    body, _, port = given.partition(".")
    if body not in bodies:
        raise here.misfit(f"no body {body!r}: {nearest(body, bodies)}")
    known = bodies[body].loads if loads else bodies[body].ports
    if port not in known:
        raise here.misfit(f"{body!r} has no {'load ' if loads else ''}port {port!r}: {nearest(port, known)}")


def pose_of(mechanism: Mechanism, entry: PoseEntry, builder: Builder, time: float = 0.0) -> Pose:
    """Assembled pose from a start entry, with driven joints at their values at ``time`` [s]. Raises Misfit."""
    for field in ("fixed", "guess"):
        check_names(getattr(entry, field), mechanism.bodies, builder.at(field), "body")
    here = replace(builder, dim=mechanism.layout.dim)
    with builder.refusals():
        fixed, guess = here.of(entry.fixed, "fixed"), here.of(entry.guess, "guess")
        return mechanism.assemble(fixed, guess=guess, time=time)


def state_of(mechanism: Mechanism, start: Start, builder: Builder) -> State:
    """Initial state of a run: assembled pose and consistent velocities from its start entry. Raises Misfit."""
    check_names(start.velocities, mechanism.bodies, builder.at("velocities"), "body")
    pose = pose_of(mechanism, start, builder, start.time)
    with builder.refusals(start):
        velocities = replace(builder, dim=mechanism.layout.dim).of(start.velocities, "velocities")
        return mechanism.consistent_state(
            pose, velocities=velocities, elastic=start.elastic, joints=start.joints, time=start.time
        )


def check_names(given: Iterable[str], known: Iterable[str], here: Builder, kind: str) -> None:
    """Raise Misfit if one of the names ``given`` is not among the ``known`` ones; the error names the nearest one.

    ``kind`` is the word for what is named, such as body.
    """
    names = list(known)
    for name in given:
        if name not in names:
            raise here.at(name).misfit(f"no {kind} {name!r}: {nearest(name, names)}")
