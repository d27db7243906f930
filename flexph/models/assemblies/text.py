"""Text of a model file for the mechanism of a drawing, with comments on the evidence for each entry."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ...meshes.drawings.drawing import CELLS_ALONG, Drawing, Part
from ...meshes.drawings.flat_parts import THIN, flat_part
from ...numerics import checks as check
from ...numerics.arrays import Array
from .gears import ProposedGear
from .proposal import Proposal, ProposedJoint, direction, loops
from .touching import SURE

ENDS = {"hinge": ("first", "second"), "prismatic": ("port", "rail"), "cylindrical": ("first", "second")}
ENDS |= {"spherical": ("first", "second"), "weld": ("first", "second"), "slot": ("port", "rail")}
WRITTEN = {"slot": "slider"}
"""Kinds of connections for pairs with another name."""
PLAIN = re.compile(r"(?!(?:null|true|false|yes|no|on|off|y|n)$)[^\W\d][\w./-]*", re.IGNORECASE)
"""Texts that YAML reads as texts without quotes."""
DIRECTION = {"hinge": "axis", "cylindrical": "axis", "prismatic": "direction", "slot": "direction"}


@dataclass(frozen=True)
class Choices:
    """Data that a drawing does not contain: density [kg/m³], names of flexible parts, and their cell size [m]."""

    density: float | None = None
    flexible: tuple[str, ...] = ()
    size: float | None = None


@dataclass
class _Ports:
    """Collector of the ports of bodies: positions for rigid bodies, names of regions for flexible bodies."""

    flexible: Sequence[str]
    places: dict[str, dict[str, Array]] = field(default_factory=dict)
    regions: dict[str, dict[str, str]] = field(default_factory=dict)

    def add(self, body: str, other: str, at: Array, region: str) -> str:
        """Add a port to a body for its joint with the body ``other``; return its name, such as ``body.other``.

        ``at`` is its position (3,) [m], ``region`` the name of its faces. A number is appended to a name that is in
        use.
        """
        known = self.places.setdefault(body, {})
        name = next(n for n in (other, *(f"{other}{k}" for k in range(2, 1000))) if n not in known)
        known[name] = at
        self.regions.setdefault(body, {})[name] = region
        return f"{body}.{name}"

    def carrying(self, body: str, at: Array) -> str:
        """Name of a port of the carrier ``body``, from which a gear pair reads the rotation of the carrier.

        For a flexible body that has ports already, it is the first of these; otherwise a port is added at ``at`` (3,)
        [m].
        """
        if body in self.flexible and body in self.places:
            return f"{body}.{next(iter(self.places[body]))}"
        return self.add(body, "carrier", at, "")


def model_text(drawing: Drawing, proposal: Proposal, choices: Choices, *, folder: Path, name: str) -> str:
    """Text of the model file ``name`` in a folder, for :func:`flexph.models.load_model`.

    Raises ValueError for a part without density, an unknown flexible part, and a drawing outside of the folder if parts
    are flexible.
    """
    known = {part.name: part for part in drawing.parts}
    for flexible in choices.flexible:
        check.lookup("part", flexible, known, f"flexible: {drawing.path.name}")
        if flexible == proposal.ground:
            raise ValueError(f"flexible must be a part that moves, got {flexible!r}, the ground")
        if flexible in proposal.free:
            raise ValueError(f"flexible must be a part with a joint, got {flexible!r}, which nothing holds")
    _refuse_light([part for part in drawing.parts if part.name != proposal.ground], choices)
    ports = _Ports(choices.flexible)
    joints = [line for joint in proposal.joints for line in _joint(joint, proposal, ports)]
    gears = [line for gear in proposal.gears.pairs for line in _gear(gear, proposal, ports)]
    joints = [*_weld_to_ground(known[proposal.ground], proposal, ports), *joints, *gears]
    mesh = _mesh(drawing, choices, folder)
    bodies = [line for part in drawing.parts for line in _body(part, ports, choices, mesh=mesh, proposal=proposal)]
    return "\n".join(
        [
            *_head(drawing, proposal, name),
            *_gravity(proposal),
            *(_materials(drawing, choices) if choices.flexible else ()),
            "bodies:",
            *bodies,
            "",
            "connections:",
            *joints,
            *_left_out(proposal),
            "",
            "start:",
            "  guess:                       # all parts have the axes of the drawing",
            *(f"    {part.name}: [0, 0, 0]" for part in drawing.parts),
            "",
            *_runs(proposal),
            "",
        ]
    )


def _refuse_light(parts: Sequence[Part], choices: Choices) -> None:
    light = [part.name for part in parts if part.density is None and choices.density is None]
    if light:
        names = ", ".join(map(repr, light))
        raise ValueError(f"density must be given, the drawing has none for {names}: --density 7850 for steel [kg/m³]")


def _mesh(drawing: Drawing, choices: Choices, folder: Path) -> str | None:
    """Path of the drawing relative to ``folder``, that of the model file; None if the drawing is not there or below.

    Raises ValueError instead of returning None if parts are flexible, as their meshes come from the drawing.
    """
    path = os.path.relpath(drawing.path.resolve(), folder.resolve())
    if not path.startswith(".."):
        return Path(path).as_posix()
    if choices.flexible:
        raise ValueError(f"the model must be written in the folder of the drawing or above, got {str(folder)!r}")
    return None


def _head(drawing: Drawing, proposal: Proposal, name: str) -> list[str]:
    return [
        f"# Proposed by the drawing {drawing.path.name} (unit {drawing.unit}). Look at each joint: a drawing has",
        "# surfaces, and does not say what slides or is glued. Lengths are in m, axes are those of the drawing.",
        f"#   flexph check {name}       flexph show {name}       flexph run {name}",
        "",
        f"description: {json.dumps(f'{len(drawing.parts)} parts of {drawing.path.name}', ensure_ascii=False)}",
        "",
    ]


def _gravity(proposal: Proposal) -> list[str]:
    """Lines of the entry for gravity: along −y if all hinges and cylindrical joints turn about z, else along −z."""
    axes = [j.pair.axis for j in proposal.joints if j.pair.kind in ("hinge", "cylindrical")]
    flat = bool(axes) and all(abs(axis[2]) > 0.999 for axis in axes)
    if flat:
        return ["gravity: [0, -9.81, 0]         # not in the drawing; along -y, as all joints turn about z", ""]
    return ["gravity: [0, 0, -9.81]         # not in the drawing; along -z", ""]


def _materials(drawing: Drawing, choices: Choices) -> list[str]:
    lines = ["materials:                     # moduli are not in a drawing: these are of steel, write yours"]
    for part in drawing.parts:
        if part.name in choices.flexible:
            density = part.density if choices.density is None else choices.density
            lines.append(f"  of_{part.name}: {{young: 210 GPa, poisson: 0.3, density: {density:.10g} kg/m^3}}")
    return [*lines, ""]


def _body(part: Part, ports: _Ports, choices: Choices, *, mesh: str | None, proposal: Proposal) -> Iterator[str]:
    density, source = _density(part, choices, is_ground=part.name == proposal.ground)
    yield f"  {part.name}:  # {1e6 * part.volume:.6g} cm³, density {density:.6g} kg/m³ ({source})"
    if part.name in choices.flexible:
        assert mesh is not None
        yield from _flexible(part, ports, choices, mesh)
        return
    if mesh is None:
        yield from _numbers(part, density)
    else:
        yield "    kind: rigid_solid"
        yield f"    mesh: {_text(mesh)}"
        yield f"    select: {_text(part.name)}"
        yield f"    density: {density:.10g} kg/m^3"
    places = ports.places.get(part.name, {"middle": part.centre})
    yield "    ports:"
    yield from (f"      {name}: {_list(at)}" for name, at in places.items())


def _density(part: Part, choices: Choices, *, is_ground: bool) -> tuple[float, str]:
    """Density of a part [kg/m³], and a text on its source."""
    if choices.density is not None:
        return choices.density, "given"
    if part.density is not None:
        return part.density, f"of {part.material or 'its material'} in the drawing"
    assert is_ground
    return 1000.0, "a guess without effect, as it stands still"


def _numbers(part: Part, density: float) -> Iterator[str]:
    """Yield the lines of a rigid body that is given by mass, inertia and centre of mass."""
    yield "    kind: rigid_body"
    yield f"    mass: {density * part.volume:.12g}"
    yield "    inertia:"
    inertia = density * part.inertia
    yield from (f"      - {_list(row, scale=np.abs(inertia).max())}" for row in inertia)
    yield f"    centre: {_list(part.centre)}"


def _flexible(part: Part, ports: _Ports, choices: Choices, mesh: str) -> Iterator[str]:
    assert part.size is not None
    size = choices.size or float(np.linalg.norm(part.size[1] - part.size[0])) / CELLS_ALONG
    regions = ports.regions.get(part.name, {})
    flat = flat_part(part.faces, part.volume / part.scale**3)
    thin = not isinstance(flat, str) and flat.slenderness >= THIN
    yield "    kind: reduced"
    yield "    modes: 6"
    yield "    body:"
    if thin:
        assert not isinstance(flat, str)
        yield f"      # flat and {1e3 * part.scale * flat.thickness:.6g} mm thick: its middle surface as a plate"
    yield f"      kind: {'plate' if thin else 'solid'}"
    yield f"      mesh: {_text(mesh)}"
    yield f"      select: {_text(part.name)}"
    yield f"      size: {1e3 * size:.6g} mm"
    yield f"      material: of_{part.name}"
    yield "      ports:"
    places = ports.places.get(part.name, {})
    yield from (f"        {name}: {{region: {face}, at: {_list(places[name])}}}" for name, face in regions.items())
    if regions:
        yield f"      reference: {_text(next(iter(regions)))}"


def _joint(joint: ProposedJoint, proposal: Proposal, ports: _Ports) -> Iterator[str]:
    first, second = joint.first, joint.second
    main = next((t for t in joint.touches if {t.first, t.second} == {first, second}), joint.touches[0])
    names = {main.first: main.ports[0], main.second: main.ports[1]}
    if first == proposal.ground and joint.pair.kind != "slot":  # the port of a slider is the pin
        first, second = second, first
    place = joint.pair.at
    kind = joint.pair.kind
    one, two = ENDS[kind]
    start = ports.add(first, second, place, names.get(first, ""))
    end = _text(ports.add(second, first, place, names.get(second, "")))
    along = f", {DIRECTION[kind]}: {_list(direction(joint.pair.axis))}" if kind in DIRECTION else ""
    yield f"  # {_certainty(joint)}: {'; '.join(t.words() for t in joint.touches)}"
    yield from (f"  #   {remark}" for remark in joint.remarks)
    along += ", turning: true" if kind == "slot" else ""
    yield f"  - {{kind: {WRITTEN.get(kind, kind)}, {one}: {_text(start)}, {two}: {end}{along}}}"


def _gear(gear: ProposedGear, proposal: Proposal, ports: _Ports) -> Iterator[str]:
    """Yield the lines of the entry of a gear pair, which names the carrier unless the carrier is the ground."""
    meshing = gear.meshing
    wheels = zip((meshing.first, meshing.second), meshing.places, meshing.regions, strict=True)
    ends = [ports.add(body, "wheel", at, region) for body, at, region in wheels]
    along = f"ratio: {meshing.ratio:.12g}, axis: {_list(direction(meshing.axis))}"
    if gear.carrier != proposal.ground:
        along += f", carrier: {_text(ports.carrying(gear.carrier, meshing.places[0]))}"
    yield f"  # {_gear_sureness(gear)}: {meshing.words}"
    yield f"  - {{kind: gear, first: {_text(ends[0])}, second: {_text(ends[1])}, {along}}}"


def _gear_sureness(gear: ProposedGear) -> str:
    return "sure" if gear.meshing.toothed else "likely"


def _weld_to_ground(part: Part, proposal: Proposal, ports: _Ports) -> list[str]:
    """Lines of the entry for the weld of the fixed part to the ground."""
    port = ports.add(part.name, "ground", part.centre, "")
    return [
        f"  # the ground: {part.name}, {proposal.reason}",
        f"  - {{kind: weld, first: {_text(port)}, second: {{ground: {_list(part.centre)}}}}}",
    ]


def _kind(joint: ProposedJoint) -> str:
    return "pin in a slot" if joint.pair.kind == "slot" else joint.pair.kind


def _certainty(joint: ProposedJoint) -> str:
    if any("they share one plane" in remark for remark in joint.remarks):
        return "not sure"
    words = {SURE[t.kind] for t in joint.touches}
    if "not sure" in words:
        return "not sure"
    return "likely" if "likely" in words or joint.pair.kind == "cylindrical" else "sure"


def _left_out(proposal: Proposal) -> list[str]:
    lines = []
    for joint in proposal.left_out:
        what = "; ".join(t.words() for t in joint.touches)
        planar, count = joint.pair.kind == "planar", joint.pair.freedoms
        why = "others hold them already" if planar else f"no joint here has these {count} freedoms"
        lines.append(f"  # left out: {what} ({why})")
    lines += [f"  # left out: {words}" for words in proposal.gears.left_out]
    lines += [f"  # nothing holds {name}: it is free" for name in proposal.free]
    lines += [f"  # {words}" for words in _overlaps(proposal)]
    return lines


def _overlaps(proposal: Proposal) -> list[str]:
    """Texts for comments, one on each pair of parts that penetrate each other."""
    return [
        f"{one} and {two} overlap by {1e9 * volume:.4g} mm³: a press fit, or drawn in a wrong place"
        for one, two, volume in proposal.overlaps
    ]


def _runs(proposal: Proposal) -> list[str]:
    lines = ["runs:", "  motion:", "    end: 1 s", "    steps: 1000"]
    if loops(proposal):
        lines.append(
            "    # A loop of parallel hinges or of gears holds more than it needs; leave this out if none is redundant."
        )
        lines.append("    method: {name: exact, redundant: least_norm}")
    return lines


def _text(text: str) -> str:
    """Text as a scalar of YAML, in quotes if YAML would read it as another type."""
    return text if PLAIN.fullmatch(text) else json.dumps(text, ensure_ascii=False)


def _list(values: Sequence[float] | Array, scale: float = 1e-3) -> str:
    """Text of a list of numbers with twelve digits, in which round-off becomes 0.

    Round-off is less than 1e-13 times the largest absolute value, or times ``scale`` if that is larger.
    """
    array = np.asarray(values, dtype=float)
    array = np.where(np.abs(array) < 1e-13 * max(np.abs(array).max(initial=0.0), scale), 0.0, array)
    return "[" + ", ".join(f"{x:.12g}" for x in array) + "]"


def _gear_words(gear: ProposedGear) -> str:
    meshing = gear.meshing
    return f"{_gear_sureness(gear)}: gear pair of {meshing.first} and {meshing.second} with ratio {meshing.ratio:.6g}"


def summary(proposal: Proposal) -> list[str]:
    """Lines of text that name the ground, the joints, the gears (also those left out), free parts and overlaps."""
    return [
        f"ground: {proposal.ground}, {proposal.reason}",
        *(f"{_certainty(joint)}: {_kind(joint)} of {joint.first} and {joint.second}" for joint in proposal.joints),
        *(_gear_words(gear) for gear in proposal.gears.pairs),
        *(f"left out: {words}" for words in proposal.gears.left_out),
        *(f"nothing holds {name}" for name in proposal.free),
        *_overlaps(proposal),
    ]
