"""Readers of robots from URDF, SDF and MJCF files."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from ...numerics import checks as check
from ...numerics.arguments import checked, warn
from ...numerics.memo import Named
from ...robots.links.actuators import efforts_of
from ...robots.links.assembly import Options, assembled
from ...robots.links.elements import FIXED, SEVERAL, SLIDING, JointElement, LinkElement, Mimic, several
from ...robots.links.masses import Handling, checked_links
from ...robots.links.parts import Flexible
from ...robots.links.robot import Robot
from ...robots.links.tree import leaders, ordered, root_of
from . import mjcf_files, sdf_files, urdf_files
from .contents import Contents


@checked
def read_urdf(
    path: str | Path,
    *,
    flexible: Mapping[str, Flexible] | None = None,
    fixed: bool = True,
    friction_speed: float | None = None,
    inertia: Handling = "accept",
    collisions: Collection[str] | Literal["all"] = (),
    arguments: Mapping[str, str | float | bool] | None = None,
) -> Robot:
    """Read the robot of a URDF file: rigid links with inertias, joints, dampers, and motors at rotating joints.

    Links without mass, point masses and rotors without mass are merged into the link that they are fixed to. Between
    moving joints they get a mass and moments of 1e-9 of what they carry; if the file then does not determine the
    motion, they are refused by name. Massless links that lead to no mass are left out, with their joints.

    Parameters
    ----------
    path : path
        URDF file; one with the suffix ``.xacro`` is expanded by the library xacro (extra ``xacro``).
    flexible : mapping, optional
        Function by link that has one joint after it, from the length of the link [m] to a body in space with the ports
        ``root`` and ``tip``, such as ``lambda length: fem.beam(length, metal, section, elements=4, dim=3)``: a beam
        from the joint before to the joint after it replaces the mass of the link. Or :class:`fem.LinkSolid`: a solid
        that fills a shape of the link, with any number of joints after it.
    fixed : bool
        True to weld the root to the ground at the origin; a massless root is then the ground. A massless root with only
        floating joints is the ground in any case.
    friction_speed : float, optional
        Speed [rad/s, m/s] below which the dry friction of joints sticks by creeping, see
        :func:`flexph.laws.coulomb`. Without it dry friction is left out, with a warning that names the joints.
    inertia : {"accept", "repair", "refuse"}
        Treatment of principal moments with J1 + J2 < J3, which no body has: accept them with a warning that names the
        links, replace them by the nearest possible ones, or refuse them.
    collisions : collection of str or "all"
        Links whose collision shapes become contact shapes, in ``Robot.collisions``: spheres, boxes, capsules and meshes
        (STL and whatever meshio reads, in the folder of the file or of its package), and cylinders as prisms of 32
        sides. Contacts are made of them by :func:`flexph.contacts.contact`.
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
        sign, zero axes, masses without inertia, negative moments, joints that mimic one without a coordinate, motions
        without inertia, and flexible links that do not exist or do not have one joint after them; for shapes that are
        asked for and cannot be read, or lie outside of the folder; for a xacro file with expressions that are no
        arithmetic, that includes files outside of its folder or package, or asks for the environment.
    ModuleNotFoundError
        For a xacro file without the library; the message says what to install.
    """
    read = urdf_files.read_contents(Path(path), arguments)
    _warn_of_limits(read.joints)
    return _robot(read, Options(dict(flexible or {}), fixed, friction_speed), inertia, collisions)


@checked
def read_mjcf(
    path: str | Path,
    *,
    rotors: bool = False,
    flexible: Mapping[str, Flexible] | None = None,
    friction_speed: float | None = None,
    inertia: Handling = "accept",
    collisions: Collection[str] | Literal["all"] = (),
) -> Robot:
    """Read the robot of an MJCF file (MuJoCo): rigid bodies with inertias, joints, dampers, springs and closed loops.

    MuJoCo compiles the file, so that defaults, units of angles and inertias of shapes are its own. Several joints of
    one body become a chain, whose links between them have a mass and moments of 1e-9 of what they carry. Equality
    constraints ``connect`` become spherical joints, linear ones of two joints become gears. Actuators at joints and
    fixed tendons follow commands by :meth:`flexph.robots.Robot.actuated`. Contacts, spatial tendons and actuators with
    activation are left out with a warning. Gravity is that of :func:`flexph.connect`.

    Parameters
    ----------
    path : path
        MJCF file; it must not name files outside of its folder.
    rotors : bool
        Make bodies of the ``armature`` of joints, see :meth:`flexph.robots.Robot.with_rotors`.
    flexible : mapping, optional
        Functions that make flexible links, as in :func:`read_urdf`.
    friction_speed : float, optional
        Speed [rad/s, m/s] below which the dry friction of joints sticks by creeping, as in :func:`read_urdf`.
    inertia : {"accept", "repair", "refuse"}
        Treatment of principal moments that no body has, as in :func:`read_urdf`.
    collisions : collection of str or "all"
        Links whose collision shapes become contact shapes, as in :func:`read_urdf`.

    Returns
    -------
    Robot
        Robot for ``connect(robot.bodies, robot.connections)`` and ``mechanism.assemble(robot.placed({...}))``.

    Raises
    ------
    ModuleNotFoundError
        Without mujoco; the message says what to install.
    ValueError
        For a file that MuJoCo does not compile, flexible parts and plugins of MuJoCo, constraints of sites, couplings
        of joints that are not linear, and springs of ball and free joints.
    """
    read = mjcf_files.read_contents(Path(path), rotors=rotors)
    return _robot(read, Options(dict(flexible or {}), True, friction_speed), inertia, collisions)


@checked
def read_sdf(
    path: str | Path,
    *,
    flexible: Mapping[str, Flexible] | None = None,
    fixed: bool = False,
    friction_speed: float | None = None,
    inertia: Handling = "accept",
    collisions: Collection[str] | Literal["all"] = (),
) -> Robot:
    """Read the model of an SDF file (Gazebo, Drake): rigid links, joints, dampers, springs and closed loops.

    Joints are revolute, continuous, prismatic, ball or fixed, between links or frames. Of several joints that lead to
    one link the first of the file belongs to the tree, the others close loops and have no coordinate.

    Parameters
    ----------
    path : path
        SDF file (SDFormat 1.7 or later) with one model, without ``include``.
    flexible : mapping, optional
        Functions that make flexible links, as in :func:`read_urdf`.
    fixed : bool
        True to weld links that no joint leads to at their pose in the file, as those of a static model; otherwise they
        float, and ``placed`` places them relative to that pose by the joint ``LINK free``.
    friction_speed : float, optional
        Speed [rad/s, m/s] below which the dry friction of joints sticks by creeping, as in :func:`read_urdf`.
    inertia : {"accept", "repair", "refuse"}
        Treatment of principal moments that no body has, as in :func:`read_urdf`.
    collisions : collection of str or "all"
        Links whose collision shapes become contact shapes, as in :func:`read_urdf`.

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
    return _robot(read, Options(dict(flexible or {}), True, friction_speed), inertia, collisions)


def _robot(read: Contents, options: Options, inertia: Handling, collisions: Collection[str]) -> Robot:
    """Robot from the contents of a file."""
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
    acting = {name: own for name, own in read.actuators.items() if all(joint in robot.joints for joint in own.gears)}
    ports = efforts_of(robot.joints, acting)
    placing = robot._placing._replace(unread=tuple(read.unread))
    whole = (*robot.connections, *springs, *ports)
    robot = replace(robot, connections=whole, actuators=Named(acting, "actuators"), _placing=placing)
    rotors = {name: inertia for name, inertia in read.rotors.items() if name in robot.joints}
    return robot.with_rotors(rotors) if rotors else robot


def _touching(read: Contents, collisions: Collection[str], flexible: Collection[str]) -> dict[str, LinkElement]:
    """Links, those of ``collisions`` with shapes; ValueError for an unknown or flexible one, or without shapes."""
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
    """Warn of damping and friction of joints with several degrees of freedom, for which the format has no law."""
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
    """Warn of limits that no coordinate satisfies; limits are not enforced here."""
    crossed = [joint.name for joint in joints if joint.limit is not None and joint.limit.lower > joint.limit.upper]
    if crossed:
        warn(f"limits of joints must have lower <= upper, their stops are refused: {several(crossed)}")


def _warn_of_mimics(joints: Sequence[JointElement], followers: Mapping[str, Mimic]) -> None:
    """Warn of joints that mimic others but cannot move."""
    fixed = {joint.name for joint in joints if joint.kind == FIXED}
    still = [
        f"{name} at {law.offset:g} ({f'{law.leader} is fixed' if law.leader in fixed else 'the multiplier is 0'})"
        for name, law in followers.items()
        if law.multiplier == 0.0
    ]
    if still:
        warn(f"joints that mimic others without moving are held in place: {several(still)}")
