"""Bodies of robots with their ports, rigid or as beams between two joints, from the links that they carry."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...bodies.body import Body, Port
from ...bodies.fields import View
from ...bodies.inertia import rigid_inertia
from ...joints.rows.vectors import GROUND, PortName
from ...mechanisms.model.model import PARTS
from ...numerics.arrays import Array, no_entries
from .carriers import WORLD, Carried
from .elements import JointElement, LinkElement, free_names
from .masses import Masses, check_moments, masses_of, together
from .massless import Skeleton, completed

Flexible = Callable[[float], Body]
"""Function from the length of a link [m] to a body along x with ports ``root`` and ``tip``."""
STRAIGHT = 1e-9
"""Length of a link [m] below which its direction is undefined."""


def rigid_body(masses: Masses, points: Mapping[str, Array], shown: int) -> Body:
    """Rigid body with ports at points; lines are drawn from the centre of mass to the first ``shown`` of them."""
    mass, centre, J = masses
    second = 0.5 * np.trace(J) * np.eye(3) - J
    integrals = rigid_inertia(mass, mass * centre, second + mass * np.outer(centre, centre), np.zeros((3, 3)))
    none = no_entries(3, 0)
    ends = np.array([centre, *list(points.values())[:shown]])
    lines = np.column_stack([np.zeros(len(ends) - 1, dtype=int), np.arange(1, len(ends))])
    view = View(ends, lines, "line", no_entries(ends.size, 0))
    return Body(integrals, {name: Port(point, none, none) for name, point in points.items()}, view=view)


def flexible_body(name: str, points: Mapping[str, Array], make: Flexible) -> tuple[Body, Array]:
    """Body of a flexible link, and the pose (4, 4) of its frame relative to the frame of the link in the file."""
    if len(points) != 1:
        raise ValueError(f"a flexible link must have one joint after it, {name!r} has {len(points)}")
    (along,) = points.values()
    length = float(np.linalg.norm(along))
    if length <= STRAIGHT:
        raise ValueError(f"the joints of the flexible link {name!r} are in one place")
    body = make(length)
    if not isinstance(body, Body) or body.dim != 3 or not {"root", "tip"} <= set(body.ports):
        raise ValueError(f"the body of the flexible link {name!r} must be in space and have the ports root and tip")
    x = along / length
    y = np.cross(np.eye(3)[np.abs(x).argmin()], x)
    y /= np.linalg.norm(y)
    frame = np.eye(4)
    frame[:3, :3] = np.column_stack([x, y, np.cross(x, y)])
    return body, frame


Points = dict[str, Array]
"""Points [m] by name in the frame of a body."""


class Parts(NamedTuple):
    """Bodies by link, poses of the frames of flexible bodies relative to their links, and ports of links and joints."""

    bodies: Mapping[str, Body]
    frames: Mapping[str, Array]
    names: Mapping[str, str]
    carried: Mapping[str, Carried]
    link_ports: Mapping[str, str]
    joint_ports: Mapping[str, str]

    def section(self, link: str) -> Array:
        """Rotation (3, 3) from the axes of a link to the sections of its body."""
        carrier, pose = self.carried[link]
        return np.asarray(self.frames.get(carrier, np.eye(4))[:3, :3].T @ pose[:3, :3])

    def port_of(self, link: str) -> PortName:
        """Port or ground point at the origin of a link."""
        carrier, pose = self.carried[link]
        if carrier == WORLD:
            return GROUND.at(*pose[:3, 3].tolist())
        return f"{self.names[carrier]}.{self.link_ports[link]}"

    def port_before(self, joint: JointElement) -> PortName:
        """Port or ground point at which a joint holds its parent."""
        carrier, pose = self.carried[joint.parent]
        if carrier == WORLD:
            return GROUND.at(*(pose @ joint.origin)[:3, 3].tolist())
        return f"{self.names[carrier]}.{self.joint_ports[joint.name]}"


def parts_of(
    links: Mapping[str, LinkElement],
    carried: Mapping[str, Carried],
    kept: Sequence[JointElement],
    *,
    flexible: Mapping[str, Flexible],
    skeleton: Skeleton,
) -> Parts:
    """Bodies of a robot; raises ValueError if there are none or moments are missing."""
    own = [name for name in links if name in carried and carried[name].carrier == name]
    if not own:
        empty = all(link.is_empty for link in links.values())
        lacking = "no link has mass or inertia" if empty else "all links with mass are fixed to the ground"
        raise ValueError(f"the robot must have a link with mass that is not the ground: {lacking}")
    flexed = {name: flexible_body(name, _after(name, kept), flexible[name]) for name in own if name in flexible}
    given = {name: together([(_masses_of_body(body), frame)]) for name, (body, frame) in flexed.items()}
    masses = _sums(links, carried, [name for name in own if name not in flexed]) | given
    check_moments(masses)
    whole, starts, members = completed(masses, skeleton), _starts(own, carried, kept), _members(own, carried)
    bodies: dict[str, Body] = {}
    link_ports: dict[str, str] = {}
    joint_ports: dict[str, str] = {}
    for name in own:
        if name in flexed:
            bodies[name], link_ports[name] = flexed[name][0], "root"
            joint_ports |= dict.fromkeys(starts[name], "tip")
        else:
            bodies[name], ports = _rigid(whole[name], starts[name], members[name])
            link_ports |= {link: ports[f"link {link}"] for link in members[name]} | {name: "origin"}
            joint_ports |= {joint: ports[f"joint {joint}"] for joint in starts[name]}
    frames = {name: frame for name, (_, frame) in flexed.items()}
    return Parts(bodies, frames, free_names(own, replaced="/."), carried, link_ports, joint_ports)


def _rigid(masses: Masses, starts: Points, members: Points) -> tuple[Body, dict[str, str]]:
    """Rigid body with ports at its outgoing joints and its links, and the names of these ports."""
    after = free_names(starts, ("origin", *PARTS))
    inner = free_names(members, ("origin", *PARTS, *after.values()))
    points = {"origin": np.zeros(3)} | {after[name]: place for name, place in starts.items()}
    body = rigid_body(masses, points | {inner[name]: place for name, place in members.items()}, len(points))
    names = {f"joint {name}": port for name, port in after.items()}
    return body, names | {f"link {name}": port for name, port in inner.items()}


def _after(name: str, kept: Sequence[JointElement]) -> Points:
    return {joint.name: joint.origin[:3, 3] for joint in kept if joint.parent == name}


def _starts(own: Sequence[str], carried: Mapping[str, Carried], kept: Sequence[JointElement]) -> dict[str, Points]:
    """Positions of the outgoing joints of each body, by joint."""
    starts: dict[str, Points] = {name: {} for name in own}
    for joint in kept:
        carrier, pose = carried[joint.parent]
        if carrier != WORLD:
            starts[carrier][joint.name] = (pose @ joint.origin)[:3, 3]
    return starts


def _members(own: Sequence[str], carried: Mapping[str, Carried]) -> dict[str, Points]:
    """Origins of the other links that belong to each body, by link."""
    members: dict[str, Points] = {name: {} for name in own}
    for name, (carrier, pose) in carried.items():
        if carrier not in (WORLD, name):
            members[carrier][name] = pose[:3, 3]
    return members


def _masses_of_body(body: Body) -> Masses:
    return Masses(body.mass, body.centre, body.moments)


def _sums(links: Mapping[str, LinkElement], carried: Mapping[str, Carried], own: Sequence[str]) -> dict[str, Masses]:
    """Masses of each rigid body, summed over its links."""
    held: dict[str, list[tuple[Masses, Array]]] = {name: [] for name in own}
    for name, (carrier, pose) in carried.items():
        if carrier in held and not links[name].is_empty:
            held[carrier].append((masses_of(links[name]), pose))
    return {name: together(parts) for name, parts in held.items()}
