"""Readers of robots from URDF, SDF and MJCF files."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from importlib.metadata import entry_points
from itertools import combinations
from pathlib import Path
from typing import Literal

from ...contacts.laws import ContactLaw, Rigid
from ...contacts.pairs import contact
from ...joints.rows.vectors import PortName
from ...numerics import checks as check
from ...numerics.arguments import checked, warn
from ...numerics.memo import Named
from ...robots.links.actuators import efforts_of
from ...robots.links.assembly import Options, assembled
from ...robots.links.elements import FIXED, FLOATING, SEVERAL, SLIDING, JointElement, LinkElement, Mimic, several
from ...robots.links.masses import Handling, checked_links
from ...robots.links.parts import Flexible
from ...robots.links.robot import Robot
from ...robots.links.tree import leaders, ordered, root_of
from . import mjcf_files, sdf_files, urdf_files
from .contents import Contents

ASSUMED = "flexph.flexible_links"
"""Entry-point group of the default body of a flexible link that is given by its name alone."""


@checked
def read_urdf(
    path: str | Path,
    *,
    flexible: Mapping[str, Flexible] | Sequence[str] | None = None,
    fixed: bool = True,
    friction_speed: float | None = None,
    inertia: Handling = "accept",
    collisions: Collection[str] | Literal["all"] = (),
    contacts: bool | ContactLaw = False,
    arguments: Mapping[str, str | float | bool] | None = None,
) -> Robot:
    """Read the robot of a URDF file: rigid links with inertias, joints, dampers, and motors at rotating joints.

    Massless links, point masses and massless rotors are merged into the link to which they are fixed. Between moving
    joints they get a mass and moments of 1e-9 of those of the bodies farther from the root; an error names them if a
    motion depends on these. Massless links beyond which no link has mass are left out, with their joints.

    Parameters
    ----------
    path : path
        URDF file; one with the suffix ``.xacro`` is expanded by the library xacro (extra ``xacro``).
    flexible : mapping or sequence of str, optional
        Flexible bodies by link. A function from the length of the link [m] to a body in space with the ports ``root``
        and ``tip``, such as ``lambda length: fem.beam(length, metal, section, elements=4, dim=3)``, is for a link with
        one joint after it: the body, from the joint before to the joint after, replaces the mass of the link.
        :class:`fem.LinkSolid` is a solid that fills a shape of a link, with any number of joints after it. For a list
        of names, links become solids of their only visual or collision shape, else beams, with the mass in the file;
        a warning lists the assumptions.
    fixed : bool
        True to weld the root to the ground at the origin; a massless root is then the ground. A massless root that only
        has floating joints is always the ground.
    friction_speed : float, optional
        Speed [rad/s, m/s] below which the dry friction of joints sticks by creeping, see
        :func:`flexph.laws.coulomb`. Without it dry friction is left out, with a warning that names the joints.
    inertia : {"accept", "repair", "refuse"}
        Treatment of physically impossible principal moments, J1 + J2 < J3: accept them with a warning that names the
        links, replace them by the nearest possible ones, or raise an error.
    collisions : collection of str or "all"
        Links whose collision shapes become contact shapes, in ``Robot.collisions``: spheres, boxes, capsules and meshes
        (STL and other formats of meshio, in the folder of the file or of its package), and cylinders as prisms of 32
        sides. :func:`flexph.contacts.contact` creates contacts from them.
    contacts : bool or contact law
        Law of contacts between the collision shapes of all rigid links that no joint connects, and between these links
        and the ground; True for ``Rigid()``, with a warning that it has neither friction nor restitution.
    arguments : mapping, optional
        Values of the arguments of a xacro file by name.

    Returns
    -------
    Robot
        Robot for ``connect(robot.bodies, robot.connections)`` and ``mechanism.assemble(robot.placed({...}))``.

    Raises
    ------
    ValueError
        With the name of the link or joint, for a file that is no URDF or contains xacro elements, duplicate names,
        joints of unknown links or kinds, no or several roots, numbers that are missing, not finite or of the wrong
        sign, zero axes, masses without inertia, negative moments, joints that mimic a joint without a coordinate,
        motions without inertia, and flexible links that do not exist or do not have one joint after them; for requested
        shapes that cannot be read or are outside of the folder; for a xacro file with expressions other than
        arithmetic, included files outside of its folder or package, or references to the environment.
    ModuleNotFoundError
        For a xacro file if the library is missing; the message names the extra to install.
    """
    read = urdf_files.read_contents(Path(path), arguments)
    _warn_of_limits(read.joints)
    return _robot(read, Options(flexible_links(flexible), fixed, friction_speed), inertia, collisions, contacts)


@checked
def read_mjcf(
    path: str | Path,
    *,
    rotors: bool = False,
    flexible: Mapping[str, Flexible] | Sequence[str] | None = None,
    friction_speed: float | None = None,
    inertia: Handling = "accept",
    collisions: Collection[str] | Literal["all"] = (),
    contacts: bool | ContactLaw = False,
) -> Robot:
    """Read the robot of an MJCF file (MuJoCo): rigid bodies with inertias, joints, dampers, springs and closed loops.

    MuJoCo compiles the file, so that defaults, units of angles and inertias of shapes are those of MuJoCo. Several
    joints of one body become a chain with links of a mass and moments of 1e-9 of those of the bodies after them.
    Equality constraints ``connect`` become spherical joints, linear ones of two joints become gears.
    :meth:`flexph.robots.Robot.actuated` applies actuators at joints and fixed tendons. Contacts (without ``contacts``),
    spatial tendons and actuators with activation are left out with a warning. Gravity is an argument of
    :func:`flexph.connect`.

    Parameters
    ----------
    path : path
        MJCF file; it must not name files outside of its folder.
    rotors : bool
        True to add rotors with the ``armature`` of joints, see :meth:`flexph.robots.Robot.with_rotors`.
    flexible : mapping or sequence of str, optional
        Flexible bodies by link, or names of flexible links, as in :func:`read_urdf`.
    friction_speed : float, optional
        Speed [rad/s, m/s] below which the dry friction of joints sticks by creeping, as in :func:`read_urdf`.
    inertia : {"accept", "repair", "refuse"}
        Treatment of physically impossible principal moments, as in :func:`read_urdf`.
    collisions : collection of str or "all"
        Links whose collision shapes become contact shapes, as in :func:`read_urdf`.
    contacts : bool or contact law
        Law of contacts between collision shapes, as in :func:`read_urdf`.

    Returns
    -------
    Robot
        Robot for ``connect(robot.bodies, robot.connections)`` and ``mechanism.assemble(robot.placed({...}))``.

    Raises
    ------
    ModuleNotFoundError
        If mujoco is missing; the message names the extra to install.
    ValueError
        For a file that MuJoCo does not compile, flexible parts and plugins of MuJoCo, constraints of sites, couplings
        of joints that are not linear, and springs of ball and free joints.
    """
    read = mjcf_files.read_contents(Path(path), rotors=rotors, contacts=contacts is not False)
    return _robot(read, Options(flexible_links(flexible), True, friction_speed), inertia, collisions, contacts)


@checked
def read_sdf(
    path: str | Path,
    *,
    flexible: Mapping[str, Flexible] | Sequence[str] | None = None,
    fixed: bool = False,
    friction_speed: float | None = None,
    inertia: Handling = "accept",
    collisions: Collection[str] | Literal["all"] = (),
    contacts: bool | ContactLaw = False,
) -> Robot:
    """Read the model of an SDF file (Gazebo, Drake): rigid links, joints, dampers, springs and closed loops.

    Joints are revolute, continuous, prismatic, ball or fixed, between links or frames. If several joints have the same
    child, the first joint in the file belongs to the tree; the other joints close loops and have no coordinate.

    Parameters
    ----------
    path : path
        SDF file (SDFormat 1.7 or later) with one model, without ``include``.
    flexible : mapping or sequence of str, optional
        Flexible bodies by link, or names of flexible links, as in :func:`read_urdf`.
    fixed : bool
        True to weld links that are no child of a joint to the ground at their pose in the file, as in a static model;
        otherwise they float, and the joint ``LINK free`` in ``placed`` moves them relative to that pose.
    friction_speed : float, optional
        Speed [rad/s, m/s] below which the dry friction of joints sticks by creeping, as in :func:`read_urdf`.
    inertia : {"accept", "repair", "refuse"}
        Treatment of physically impossible principal moments, as in :func:`read_urdf`.
    collisions : collection of str or "all"
        Links whose collision shapes become contact shapes, as in :func:`read_urdf`.
    contacts : bool or contact law
        Law of contacts between collision shapes, as in :func:`read_urdf`.

    Returns
    -------
    Robot
        Robot for ``connect(robot.bodies, robot.connections)`` and ``mechanism.assemble(robot.placed({...}))``.

    Raises
    ------
    ValueError
        With the name of the link or joint, for a file that is no SDF, older versions, several models, joints of unknown
        links or kinds, numbers that are missing, not finite or of the wrong sign, and zero axes.
    """
    read = sdf_files.read_contents(Path(path), fixed=fixed)
    return _robot(read, Options(flexible_links(flexible), True, friction_speed), inertia, collisions, contacts)


def flexible_links(given: Mapping[str, Flexible] | Sequence[str] | None) -> dict[str, Flexible]:
    """Functions that create flexible bodies, by link.

    For a list of links they are instances of the class in the entry-point group ``flexph.flexible_links``.
    """
    if given is None or isinstance(given, Mapping):
        return dict(given or {})
    defaults = list(entry_points(group=ASSUMED))
    if not defaults:
        raise ValueError(f"flexible must map links to bodies: no installed package has an entry point {ASSUMED!r}")
    return {name: defaults[0].load()() for name in given}


def _robot(
    read: Contents, options: Options, inertia: Handling, collisions: Collection[str], contacts: bool | ContactLaw
) -> Robot:
    """Robot from the contents ``read`` of a file, with the options of the reader."""
    if contacts is not False:
        collisions = "all"
    links, joints = _touching(read, collisions, options.flexible), read.joints
    options = options._replace(shapes=read.shapes)
    root = root_of(links, joints)
    in_order, followers = ordered(root, joints), leaders(joints)
    if options.friction_speed is not None:
        check.positive("friction_speed", options.friction_speed)
    for name in options.flexible:
        check.lookup("link", name, links, "the robot")
    sound = checked_links(links, inertia)
    _warn_of_crossed_limits(joints)
    _warn_of_friction(joints, options.friction_speed)
    _warn_of_losses(joints)
    _warn_of_mimics(in_order, followers)
    robot = assembled(sound, in_order, root, followers, options=options, loops=read.loops)
    springs = [
        robot.joints[spring.joint].spring(stiffness=spring.stiffness, rest=spring.rest)
        for spring in read.springs
        if spring.joint in robot.joints
    ]
    acting = {
        name: actuator
        for name, actuator in read.actuators.items()
        if all(joint in robot.joints for joint in actuator.gears)
    }
    ports = efforts_of(robot.joints, acting)
    layout = robot._layout._replace(unread=tuple(read.unread))
    whole = (*robot.connections, *springs, *ports)
    robot = replace(robot, connections=whole, actuators=Named(acting, "actuators"), _layout=layout)
    if contacts is not False:
        robot = _with_contacts(robot, read, Rigid() if contacts is True else contacts)
        if contacts is True:
            warn("contacts of links are rigid, without friction and restitution: contacts=Rigid(friction=…) has others")
    rotors = {name: inertia for name, inertia in read.rotors.items() if name in robot.joints}
    return robot.with_rotors(rotors) if rotors else robot


def _touching(read: Contents, collisions: Collection[str], flexible: Collection[str]) -> dict[str, LinkElement]:
    """Links of a file by name, with contact shapes for those named in ``collisions``.

    Raises ValueError for a link that is unknown, flexible or without shapes.
    """
    links = dict(read.links)
    asked = [name for name in links if name not in flexible] if collisions == "all" else collisions
    for name in asked:
        check.lookup("link", name, links, "the robot")
        if name in flexible:
            raise ValueError(f"collisions must be of rigid links, got {name!r}, which is flexible")
        links[name] = links[name]._replace(shapes=read.shapes(name, "collision"))
        if not links[name].shapes and collisions != "all":
            raise ValueError(f"collisions must be of links with collision shapes, got {name!r}, which has none")
    return links


def _with_contacts(robot: Robot, read: Contents, law: ContactLaw) -> Robot:
    """Robot with contacts between the shapes of links of different bodies that no joint connects."""
    bodies = {name: _body_of(robot.ports[name]) for name in robot.collisions}
    held = [joint for joint in (*read.joints, *read.loops) if joint.kind != FLOATING]
    ends = [(robot.ports.get(joint.parent), robot.ports.get(joint.child)) for joint in held]
    joined = {frozenset(map(_body_of, both)) for both in ends}
    pairs = [
        (one, other)
        for one, other in combinations(robot.collisions, 2)
        if bodies[one] != bodies[other] and frozenset((bodies[one], bodies[other])) not in joined
    ]
    if not pairs:
        raise ValueError("contacts need collision shapes of two links that no joint connects, or of one and the ground")
    touching = []
    for one, other in pairs:
        try:
            shapes = list(robot.collisions[one]), list(robot.collisions[other])
            touching.append(contact(*shapes, law, name=f"contact {one}–{other}"))
        except ValueError as error:
            raise ValueError(f"contact of links {one!r} and {other!r}: {error}") from None
    return replace(robot, connections=(*robot.connections, *touching))


def _body_of(port: PortName | None) -> str:
    """Name of the body of a port; empty for the ground."""
    return port.partition(".")[0] if isinstance(port, str) else ""


def _warn_of_friction(joints: Sequence[JointElement], speed: float | None) -> None:
    """Warn if dry friction is left out because its creep speed was not given."""
    dry = [
        f"{joint.name} ({joint.friction:g} {'N' if joint.kind in SLIDING else 'N m'})"
        for joint in joints
        if joint.friction and joint.kind not in (FIXED, *SEVERAL)
    ]
    if dry and speed is None:
        message = (
            "dry friction of the file is ignored, give friction_speed=, the speed of its creep, to include it: joints"
        )
        warn(f"{message} {several(dry)}")


def _warn_of_losses(joints: Sequence[JointElement]) -> None:
    """Warn of damping and friction of joints with several degrees of freedom, for which the format defines no law."""
    lossy = [joint.name for joint in joints if joint.kind in SEVERAL and joint.damping + joint.friction]
    if lossy:
        warn(f"damping and friction of planar, floating and ball joints are ignored: joints {several(lossy)}")


def _warn_of_limits(joints: Sequence[JointElement]) -> None:
    """Warn of missing limits of a URDF file."""
    bounded = [joint for joint in joints if joint.kind in ("revolute", *SLIDING)]
    endless = [joint.name for joint in bounded if joint.limit is None or not joint.limit.is_bounded]
    if endless:
        right = "revolute and prismatic joints must have a <limit> with lower and upper"
        warn(f"{right}; treated as unlimited: joints {several(endless)}")


def _warn_of_crossed_limits(joints: Sequence[JointElement]) -> None:
    """Warn of joints whose lower limit is above the upper one, and so cannot have stops."""
    crossed = [joint.name for joint in joints if joint.limit is not None and joint.limit.lower > joint.limit.upper]
    if crossed:
        warn(f"limits of joints must have lower <= upper; these joints cannot have stops: {several(crossed)}")


def _warn_of_mimics(joints: Sequence[JointElement], followers: Mapping[str, Mimic]) -> None:
    """Warn of joints that mimic others without moving, because the leader cannot move or the multiplier is zero."""
    fixed = {joint.name for joint in joints if joint.kind == FIXED}
    still = [
        f"{name} at {law.offset:g} ({f'{law.leader} is fixed' if law.leader in fixed else 'the multiplier is 0'})"
        for name, law in followers.items()
        if law.multiplier == 0.0
    ]
    if still:
        warn(f"joints that mimic others without moving are held in place: {several(still)}")
