"""Outputs of a model file: checks against the mechanism, and tables read from a finished run."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

import numpy as np

from flexph.bodies.nodal_body import FramedBody
from flexph.exchange.load_steps import mesh_of
from flexph.export.series import SUFFIXES
from flexph.mechanisms.mechanism import Mechanism
from flexph.mechanisms.model.time_table import Anchors
from flexph.numerics.arrays import Array
from flexph.numerics.rotations import spins
from flexph.sensors.contacts import gaps_of
from flexph.sensors.panel import StepPanel

from ..units.words import nearest
from .measures import level_of, quantity_of, series_of
from .mechanism import check_port
from .schema.entry import Builder, Entry
from .schema.runs import Outputs, Reading


def headings(name: str, width: int) -> list[str]:
    """Headings of the components of a reading in a table: the name, followed by a number if there are several."""
    return [name] if width == 1 else [f"{name} {i}" for i in range(width)]


def table_of(run: Any, columns: dict[str, Reading | Entry]) -> dict[str, Array]:
    """Table of readings of a run: its times under ``t [s]``, and each component of each reading, by heading.

    ``columns`` are the readings by name; all must have the same times.
    """
    table: dict[str, Array] = {}
    for name, reading in columns.items():
        times, values = series_of(run, reading)
        table.setdefault("t [s]", times)
        table |= dict(zip(headings(name, values.shape[1]), values.T, strict=True))
    return table


def check_sensor(sensor: Entry, mechanism: Mechanism, here: Builder) -> None:
    """Raise Misfit if a sensor does not fit the mechanism.

    The sensor is built, but not evaluated.
    """
    quantity, none = sensor.build(here), np.zeros(0)
    with here.refusals():
        StepPanel(mechanism, {"it": quantity}, Anchors(none, none))


def check_reading(reading: Reading | Entry, mechanism: Mechanism, here: Builder) -> None:
    """Raise Misfit for a reading that a run of the mechanism does not have, naming the nearest one."""
    if isinstance(reading, Entry):
        check_sensor(reading, mechanism, here)
        return
    if reading.what in ("displacement", "position", "velocity"):
        check_port(reading.of, mechanism.bodies, here)
        if reading.what == "displacement" and isinstance(mechanism.bodies[reading.of.partition(".")[0]], FramedBody):
            raise here.misfit(
                f"a body of several frames has no single frame for the displacement of {reading.of!r}: use its position"
            )
        return
    known = {
        "mass": list(mechanism.bodies),
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
    """Number of components of a reading."""
    dim = mechanism.layout.dim
    if reading.what == "state":
        part = mechanism.layout.parts[reading.of]
        return int(part.stop - part.start)
    if reading.what == "gap":
        return gaps_of(mechanism, reading.of).number
    if reading.what in ("normal_force", "friction_force", "place", "place_rate", "mass"):
        return 1
    return {"spin": spins(dim), "reaction": dim + spins(dim)}.get(reading.what, dim)


def _is_of_steps(reading: Reading | Entry, mechanism: Mechanism) -> bool:
    """True for a reading with one value per step, whose times differ from the saved instants."""
    if isinstance(reading, Entry):
        return False
    multiplier = reading.what == "state" and mechanism.layout.parts[reading.of].start >= mechanism.layout.size
    return reading.what == "reaction" or multiplier


def _check_files(outputs: Outputs, here: Builder) -> None:
    """Raise Misfit if two output files have one name, ignoring case, or one is the folder of another."""
    names = [*outputs.tables, *outputs.loads, *([outputs.series] if outputs.series else [])]
    places = [("tables", name) for name in outputs.tables] + [("loads", name) for name in outputs.loads] + [("series",)]
    paths = [PurePosixPath(name.lower()) for name in names]
    for k, path in enumerate(paths):
        for other in (*paths[:k], *paths[k + 1 :]):
            if path == other or path in other.parents:
                raise here.at(*places[k]).misfit("two outputs would be one file, or one in the other: use another name")


SEVERAL = 9
"""Upper bound of the components of a sensor that is no scalar."""


def _check_headings(file: str, columns: dict[str, Any], mechanism: Mechanism, here: Builder) -> None:
    """Raise Misfit if two columns of a table would have the same heading."""
    known = {"t [s]": ""}
    for name, reading in columns.items():
        place = here.at("tables", file, name)
        check_reading(reading, mechanism, place)
        for heading in headings(name, _width(reading, mechanism, place)):
            if heading in known:
                of = f"of column {known[heading]!r}" if known[heading] else "of the times"
                raise place.misfit(f"its heading {heading!r} is that {of}, too: use another name")
            known[heading] = name


def _width(reading: Reading | Entry, mechanism: Mechanism, here: Builder) -> int:
    if isinstance(reading, Reading):
        return components_of(reading, mechanism)
    return 1 if reading.build(here).scalar else SEVERAL


def check_outputs(outputs: Outputs, mechanism: Mechanism, here: Builder) -> None:
    """Raise Misfit for outputs that a run of the mechanism cannot write.

    These are unknown readings or bodies, equal names of files or headings, a table of readings at different times, and
    measures with a wrong unit or component.
    """
    _check_files(outputs, here)
    for file, columns in outputs.tables.items():
        _check_headings(file, columns, mechanism, here)
        if len({_is_of_steps(reading, mechanism) for reading in columns.values()}) > 1:
            reason = "reactions and multipliers belong to steps, whose times differ: write them to a separate table"
            raise here.at("tables", file).misfit(reason)
    for name, measure in outputs.measures.items():
        place = here.at("measures", name)
        check_reading(measure.of, mechanism, place.at("of"))
        if measure.margin is not None and quantity_of(measure.of) is None:
            raise place.at("margin").misfit(
                f"{measure.of.what} of {measure.of.of!r} has no smooth bound: use a sensor, {{measure: …}}"
            )
        for setting, given in (("target", measure.target), ("margin", measure.margin)):
            if given is not None:
                with place.at(setting).refusals():
                    level_of(measure, given)
        count = components_of(measure.of, mechanism) if isinstance(measure.of, Reading) else None
        if count is not None and measure.component >= count:
            there = f"0 to {count - 1}" if count > 1 else "0 alone"
            wrong = f"got {measure.component}: {measure.of.what} of {measure.of.of!r} has components {there}"
            raise place.at("component").misfit(wrong)
    for i, name in enumerate(outputs.bodies):
        if name not in mechanism.bodies:
            raise here.at("bodies", i).misfit(f"no body {name!r}: {nearest(name, mechanism.bodies)}")
    for name, loads in outputs.loads.items():
        if loads.body not in mechanism.bodies:
            wrong = f"no body {loads.body!r}: {nearest(loads.body, mechanism.bodies)}"
            raise here.at("loads", name, "body").misfit(wrong)
        with here.at("loads", name, "body").refusals():
            mesh_of(loads.body, mechanism.bodies[loads.body])
    if outputs.series and not outputs.series.endswith(SUFFIXES):
        raise here.at("series").misfit(f"got {outputs.series!r}: write a name that ends in {', '.join(SUFFIXES)}")
