"""Bodies of robots with their ports, rigid or flexible, from the links that belong to them."""

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
from .carriers import WORLD, CarrierPose
from .elements import JointElement, LinkElement, free_names
from .masses import Masses, check_moments, masses_of, sum_of_masses
from .massless import Skeleton, completed
from .shapes import FlexibleLink, LinkGeometry, ShapesOf, port_names

Flexible = Callable[[float], Body] | FlexibleLink
"""Function from the length of a link [m] to a body along x with the ports ``root`` and ``tip``, or a value."""
STRAIGHT = 1e-9
"""Length of a link [m] below which its direction is undefined."""


def rigid_body(masses: Masses, points: Mapping[str, Array], shown: int) -> Body:
    """Rigid body with ports at points.

    Its picture has lines from the centre of mass to the first ``shown`` ports.
    """
    mass, centre, J = masses
    second = 0.5 * np.trace(J) * np.eye(3) - J
    integrals = rigid_inertia(mass, mass * centre, second + mass * np.outer(centre, centre), np.zeros((3, 3)))
    none = no_entries(3, 0)
    ends = np.array([centre, *list(points.values())[:shown]])
    lines = np.column_stack([np.zeros(len(ends) - 1, dtype=int), np.arange(1, len(ends))])
    view = View(ends, lines, "line", no_entries(ends.size, 0))
    return Body(integrals, {name: Port(point, none, none) for name, point in points.items()}, view=view)


class FlexedBody(NamedTuple):
    """Flexible link: its body, pose (4, 4) of the body's frame in the link's, and the port of each joint on it."""

    body: Body
    frame: Array
    ports: Mapping[str, str]


def flexible_body(link: LinkElement, points: Mapping[str, Array], make: Flexible, shapes: ShapesOf) -> FlexedBody:
    """Body of a flexible link, created by ``make``.

    ``points``: position (3,), in the frame of the link, of each joint to a child link, by the name of the joint.
    """
    name = link.name
    if not isinstance(make, FlexibleLink):
        return _straight_link(name, points, make)
    ports = free_names(points, ("root", *PARTS))
    places = {"root": np.zeros(3)} | {ports[joint]: place for joint, place in points.items()}
    body = make.body(LinkGeometry(name, places, shapes, link.mass, link.centre))
    if not isinstance(body, Body) and callable(body):
        return _straight_link(name, points, body)
    if not isinstance(body, Body) or body.dim != 3 or not places.keys() <= set(body.ports):
        raise ValueError(f"the body of the flexible link {name!r} must be in space, with the ports {', '.join(places)}")
    return FlexedBody(body, np.eye(4), ports)


def _straight_link(name: str, points: Mapping[str, Array], make: Callable[[float], Body]) -> FlexedBody:
    """Body of a flexible link along the line from its origin to its only other joint, made by ``make`` from the length.

    Raises ValueError for another number of joints, and for a body without the ports ``root`` and ``tip``.
    """
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
    return FlexedBody(body, frame, dict.fromkeys(points, "tip"))


Points = dict[str, Array]
"""Points [m] by name in the frame of a body."""


class Parts(NamedTuple):
    """Bodies of a robot by link, and the data to find their ports.

    ``frames``: pose of the frame of each flexible body in its link; ``names``: name of the body of a link;
    ``carrier_poses``: body and pose of each link; ``link_ports``, ``joint_ports``: port at a link or a joint.
    """

    bodies: Mapping[str, Body]
    frames: Mapping[str, Array]
    names: Mapping[str, str]
    carrier_poses: Mapping[str, CarrierPose]
    link_ports: Mapping[str, str]
    joint_ports: Mapping[str, str]

    def section(self, link: str) -> Array:
        """Rotation (3, 3) of vectors from the axes of a link to those of the sections of its body."""
        carrier, pose = self.carrier_poses[link]
        return np.asarray(self.frames.get(carrier, np.eye(4))[:3, :3].T @ pose[:3, :3])

    def port_of(self, link: str) -> PortName:
        """Port or ground point at the origin of a link."""
        carrier, pose = self.carrier_poses[link]
        if carrier == WORLD:
            return GROUND.at(*pose[:3, 3].tolist())
        return f"{self.names[carrier]}.{self.link_ports[link]}"

    def shape_port(self, link: str, name: str, pose: Array) -> tuple[PortName, Array]:
        """Port or ground point at the origin of a shape of a link, and axes (3, 3) of the shape in its section.

        ``pose`` (4, 4) is the pose of the shape on the link; ``name`` names the port among the ports of links and
        shapes.
        """
        carrier, held = self.carrier_poses[link]
        placed = held @ pose
        if carrier == WORLD:
            return GROUND.at(*placed[:3, 3].tolist()), placed[:3, :3]
        return f"{self.names[carrier]}.{self.link_ports[name]}", placed[:3, :3]

    def port_before(self, joint: JointElement) -> PortName:
        """Port or ground point of a joint on its parent link."""
        carrier, pose = self.carrier_poses[joint.parent]
        if carrier == WORLD:
            return GROUND.at(*(pose @ joint.origin)[:3, 3].tolist())
        return f"{self.names[carrier]}.{self.joint_ports[joint.name]}"


def parts_of(
    links: Mapping[str, LinkElement],
    carrier_poses: Mapping[str, CarrierPose],
    kept: Sequence[JointElement],
    *,
    flexible: Mapping[str, Flexible],
    skeleton: Skeleton,
    shapes: ShapesOf,
) -> Parts:
    """Bodies of a robot with their ports, from its links.

    ``carrier_poses``: body and pose of each link; ``kept``: joints between bodies; ``flexible``: functions that create
    flexible links; ``skeleton``: tree for the check of small masses. Raises ValueError if no link has mass, or if
    moments of inertia are missing.
    """
    carried = [name for name in links if name in carrier_poses and carrier_poses[name].carrier == name]
    if not carried:
        empty = all(link.is_empty for link in links.values())
        lacking = "no link has mass or inertia" if empty else "all links with mass are fixed to the ground"
        raise ValueError(f"the robot must have a link with mass that is not the ground: {lacking}")
    flexed = {n: flexible_body(links[n], _after(n, kept), flexible[n], shapes) for n in carried if n in flexible}
    given = {name: sum_of_masses([(_masses_of_body(of.body), of.frame)]) for name, of in flexed.items()}
    masses = _sums(links, carrier_poses, [name for name in carried if name not in flexed]) | given
    check_moments(masses)
    whole, starts, members = (
        completed(masses, skeleton),
        _joint_positions(carried, carrier_poses, kept),
        _link_positions(links, carried, carrier_poses),
    )
    bodies: dict[str, Body] = {}
    link_ports: dict[str, str] = {}
    joint_ports: dict[str, str] = {}
    for name in carried:
        if name in flexed:
            bodies[name], link_ports[name] = flexed[name].body, "root"
            joint_ports |= flexed[name].ports
        else:
            bodies[name], ports = _rigid(whole[name], starts[name], members[name])
            link_ports |= {link: ports[f"link {link}"] for link in members[name]} | {name: "origin"}
            joint_ports |= {joint: ports[f"joint {joint}"] for joint in starts[name]}
    frames = {name: of.frame for name, of in flexed.items()}
    return Parts(bodies, frames, free_names(carried, replaced="/."), carrier_poses, link_ports, joint_ports)


def _rigid(masses: Masses, starts: Points, members: Points) -> tuple[Body, dict[str, str]]:
    """Rigid body with a port at each position, and names of the ports by ``joint JOINT`` or ``link LINK``.

    ``starts``: positions of the joints to the next bodies, by joint; ``members``: positions of the other links of this
    body, and of shapes, by name.
    """
    after = free_names(starts, ("origin", *PARTS))
    inner = free_names(members, ("origin", *PARTS, *after.values()))
    points = {"origin": np.zeros(3)} | {after[name]: place for name, place in starts.items()}
    body = rigid_body(masses, points | {inner[name]: place for name, place in members.items()}, len(points))
    names = {f"joint {name}": port for name, port in after.items()}
    return body, names | {f"link {name}": port for name, port in inner.items()}


def _after(name: str, kept: Sequence[JointElement]) -> Points:
    return {joint.name: joint.origin[:3, 3] for joint in kept if joint.parent == name}


def _joint_positions(
    own: Sequence[str], carrier_poses: Mapping[str, CarrierPose], kept: Sequence[JointElement]
) -> dict[str, Points]:
    """Positions (3,) of the joints to the next bodies, by body in ``own`` and by name of the joint."""
    starts: dict[str, Points] = {name: {} for name in own}
    for joint in kept:
        carrier, pose = carrier_poses[joint.parent]
        if carrier != WORLD:
            starts[carrier][joint.name] = (pose @ joint.origin)[:3, 3]
    return starts


def _link_positions(
    links: Mapping[str, LinkElement], own: Sequence[str], carrier_poses: Mapping[str, CarrierPose]
) -> dict[str, Points]:
    """Positions (3,) of the other links of each body and of the shapes of all its links, by body and name.

    They are in the frame of the body, one of ``own``. ``carrier_poses`` gives the body of each link, and the pose of
    the link in it.
    """
    members: dict[str, Points] = {name: {} for name in own}
    for name, (carrier, pose) in carrier_poses.items():
        if carrier not in (WORLD, name):
            members[carrier][name] = pose[:3, 3]
        if carrier != WORLD:
            at = {port: pose @ shape.pose for port, shape in port_names(name, links[name].shapes).items()}
            members[carrier] |= {port: place[:3, 3] for port, place in at.items()}
    return members


def _masses_of_body(body: Body) -> Masses:
    return Masses(body.mass, body.centre, body.moments)


def _sums(
    links: Mapping[str, LinkElement], carrier_poses: Mapping[str, CarrierPose], own: Sequence[str]
) -> dict[str, Masses]:
    """Mass, centre and moments of each of the rigid bodies ``own``, summed over the links that belong to it."""
    held: dict[str, list[tuple[Masses, Array]]] = {name: [] for name in own}
    for name, (carrier, pose) in carrier_poses.items():
        if carrier in held and not links[name].is_empty:
            held[carrier].append((masses_of(links[name]), pose))
    return {name: sum_of_masses(parts) for name, parts in held.items()}
