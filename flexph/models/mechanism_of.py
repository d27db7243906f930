"""The mechanism of a model file, its start, and what its runs and outputs name."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from flexph.bodies.body import Body
from flexph.bodies.nodal_body import FramedBody
from flexph.export.series_files import SUFFIXES
from flexph.joints.rows.connection import Connection
from flexph.joints.rows.vectors import Ground
from flexph.mechanisms.connected_bodies import connect
from flexph.mechanisms.mechanism import Mechanism
from flexph.mechanisms.model.state import Pose, State
from flexph.mechanisms.model.time_table import Anchors
from flexph.numerics.rotations import spins
from flexph.sensors.contacts import gaps_of
from flexph.sensors.step_panel import StepPanel

from .reading.problems import nearest
from .schema.contacts import SHAPES
from .schema.entry import Builder, Entry
from .schema.functions import Driven
from .schema.runs import Outputs, PoseEntry, Reading, Start

ENDS = (
    *("first", "second", "shapes", "port", "rail", "reference", "ground"),
    *("carrier", "rack", "pinion", "housing", "wheel", "chassis"),
)
"""Fields of connections that name ports or the ground, or have shapes there."""


def build_mechanism(document: Any, builder: Builder) -> Mechanism:
    """Bodies and connections, joined. Raises Misfit."""
    bodies = {name: builder.of(entry, "bodies", name) for name, entry in document.bodies.items()}
    dim = next(iter(bodies.values())).dim
    connections: list[Connection] = []
    for i, entry in enumerate(document.connections):
        here = builder.at("connections", i)
        _check_ends(entry, bodies, here)
        with here.refusals(entry):
            connections.append(entry.build(here))
            connections[-1].formed(dim)  # what is wrong with it is said here
    with builder.refusals(document):
        return connect(bodies, connections, gravity=document.gravity)


def _check_ends(entry: Any, bodies: dict[str, Body], here: Builder) -> None:
    """Raise Misfit, with the nearest name, for a port that no body has, and for a place of another dimension."""
    dim = next(iter(bodies.values())).dim
    ends = [end for field in ENDS for end in _places(getattr(entry, field, None), here.at(field))]
    for given, place in ends:
        if isinstance(given, str):
            check_port(given, bodies, place, loads=entry.kind == "distributed_load")
        elif isinstance(given, Ground) and given.position is not None and len(given.position) != dim:
            raise place.misfit(f"got a place of {len(given.position)} coordinates: write {dim}")


def _places(given: Any, here: Builder) -> Iterator[tuple[Any, Builder]]:
    """What stands at the ends of a connection: of shapes their ports, of a list one after the other."""
    if isinstance(given, list):
        for i, one in enumerate(given):
            yield from _places(one, here.at(i))
    elif isinstance(given, SHAPES):
        yield given.port, here.at("port")
    else:
        yield given, here


def check_motions(document: Any, builder: Builder, time: float) -> None:
    """Raise Misfit for a drive whose function has no value at a time [s], where a run begins."""
    for i, entry in enumerate(document.connections):
        if isinstance(entry, Driven):
            entry.check_at(time, builder.at("connections", i))


def check_port(given: str, bodies: Any, here: Builder, *, loads: bool = False) -> None:
    """Raise Misfit, with the nearest name, for a port that no body has."""
    body, _, port = given.partition(".")
    if body not in bodies:
        raise here.misfit(f"no body {body!r}: {nearest(body, bodies)}")
    known = bodies[body].loads if loads else bodies[body].ports
    if port not in known:
        raise here.misfit(f"{body!r} has no {'load ' if loads else ''}port {port!r}: {nearest(port, known)}")


def pose_of(mechanism: Mechanism, entry: PoseEntry, builder: Builder, time: float = 0.0) -> Pose:
    """The pose of an entry. Raises Misfit."""
    for field in ("fixed", "guess"):
        check_names(getattr(entry, field), mechanism.bodies, builder.at(field), "body")
    here = replace(builder, dim=mechanism.layout.dim)
    with builder.refusals():
        fixed, guess = here.of(entry.fixed, "fixed"), here.of(entry.guess, "guess")
        return mechanism.assemble(fixed, guess=guess, time=time)


def state_of(mechanism: Mechanism, start: Start, builder: Builder) -> State:
    """The state in which a run begins. Raises Misfit."""
    check_names(start.velocities, mechanism.bodies, builder.at("velocities"), "body")
    pose = pose_of(mechanism, start, builder, start.time)
    with builder.refusals(start):
        velocities = replace(builder, dim=mechanism.layout.dim).of(start.velocities, "velocities")
        return mechanism.consistent_state(pose, velocities=velocities, elastic=start.elastic, time=start.time)


def check_names(given: Iterable[str], known: Iterable[str], here: Builder, kind: str) -> None:
    """Raise Misfit, with the nearest name, for one that is not known."""
    names = list(known)
    for name in given:
        if name not in names:
            raise here.at(name).misfit(f"no {kind} {name!r}: {nearest(name, names)}")


def check_sensor(sensor: Entry, mechanism: Mechanism, here: Builder) -> None:
    """Raise Misfit for what a sensor cannot read of the mechanism; nothing is read."""
    quantity, none = sensor.build(here), np.zeros(0)
    with here.refusals():
        StepPanel(mechanism, {"it": quantity}, Anchors(none, none))


def check_reading(reading: Reading | Entry, mechanism: Mechanism, here: Builder) -> None:
    """Raise Misfit, with the nearest name, for what a run of the mechanism has not."""
    if isinstance(reading, Entry):
        check_sensor(reading, mechanism, here)
        return
    if reading.what in ("displacement", "position", "velocity"):
        check_port(reading.of, mechanism.bodies, here)
        if reading.what == "displacement" and isinstance(mechanism.bodies[reading.of.partition(".")[0]], FramedBody):
            raise here.misfit(
                f"a body of several frames has no own one for the displacement of {reading.of!r}: take its position"
            )
        return
    known = {
        "spin": [name for name, body in mechanism.bodies.items() if not isinstance(body, FramedBody)],
        "reaction": [connection.name for connection in mechanism.connections if connection.rows],
        "state": list(mechanism.layout.parts),
        "place": (curves := [c.name for c in mechanism.connections if c.kind == "point_on_curve"]),
        "place_rate": curves,
        "gap": (contacts := [c.name for c in mechanism.connections if c.touches]),
    }.get(reading.what, contacts + [c.name for c in mechanism.connections if c.form.bearing is not None])
    if reading.of not in known:
        raise here.misfit(f"no {reading.what} of {reading.of!r}: {nearest(reading.of, known)}")


def components_of(reading: Reading, mechanism: Mechanism) -> int:
    """How many components there are of what is read."""
    dim = mechanism.layout.dim
    if reading.what == "state":
        part = mechanism.layout.parts[reading.of]
        return int(part.stop - part.start)
    if reading.what == "gap":
        return gaps_of(mechanism, reading.of).number
    if reading.what in ("normal_force", "friction_force", "place", "place_rate"):
        return 1
    return {"spin": spins(dim), "reaction": dim + spins(dim)}.get(reading.what, dim)


def _is_of_steps(reading: Reading | Entry, mechanism: Mechanism) -> bool:
    """Whether what is read belongs to steps, which have times of their own, and not to instants."""
    if isinstance(reading, Entry):
        return False
    multiplier = reading.what == "state" and mechanism.layout.parts[reading.of].start >= mechanism.layout.size
    return reading.what == "reaction" or multiplier


def check_outputs(outputs: Outputs, mechanism: Mechanism, here: Builder) -> None:
    """Raise Misfit for readings and bodies that a run of the mechanism has not."""
    for file, columns in outputs.tables.items():
        for name, reading in columns.items():
            check_reading(reading, mechanism, here.at("tables", file, name))
        if len({_is_of_steps(reading, mechanism) for reading in columns.values()}) > 1:
            own = "reactions and multipliers have times of their own: write them to a table of their own"
            raise here.at("tables", file).misfit(own)
    for name, measure in outputs.measures.items():
        place = here.at("measures", name)
        check_reading(measure.of, mechanism, place.at("of"))
        count = components_of(measure.of, mechanism) if isinstance(measure.of, Reading) else None
        if count is not None and measure.component >= count:
            there = f"0 to {count - 1}" if count > 1 else "0 alone"
            wrong = f"got {measure.component}: {measure.of.what} of {measure.of.of!r} has components {there}"
            raise place.at("component").misfit(wrong)
    for i, name in enumerate(outputs.bodies):
        if name not in mechanism.bodies:
            raise here.at("bodies", i).misfit(f"no body {name!r}: {nearest(name, mechanism.bodies)}")
    if outputs.series and not outputs.series.endswith(SUFFIXES):
        raise here.at("series").misfit(f"got {outputs.series!r}: write a name that ends in {', '.join(SUFFIXES)}")
