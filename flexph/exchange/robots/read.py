"""Reader of robots from URDF files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ...numerics import checks as check
from ...numerics.arguments import checked, warn
from .assembling import Options, assembled
from .bodies import Flexible
from .elements import FIXED, FLOATING, PLANAR, SLIDING, JointElement, Mimic, several
from .masses import Handling, checked_links
from .robot import Robot
from .tree import leaders, ordered, root_of
from .urdf_files import read_elements


@checked
def read_urdf(
    path: str | Path,
    *,
    flexible: Mapping[str, Flexible] | None = None,
    fixed: bool = True,
    friction_speed: float | None = None,
    inertia: Handling = "accept",
) -> Robot:
    """The robot of a URDF file: rigid links with their inertias, joints, dampers, and motors at joints that turn.

    Links without mass, point masses and rotors without mass belong to the link that they are fixed to. Between joints
    that move they get a mass and moments of 1e-9 of what they carry; where the file does not determine the motion they
    are refused by name. Links without mass from which none with mass hangs are left out, with their joints.

    Parameters
    ----------
    path : path
        The file. Its shapes and meshes are not read.
    flexible : mapping, optional
        By link with one joint after it, a function of its length [m] that makes a body in space with the ports
        ``root`` and ``tip``, such as ``lambda length: fem.beam(length, metal, section, elements=4, dim=3)``: a beam
        from the joint before to the joint after it takes the place of the mass of the link.
    fixed : bool
        Whether the root is welded to the ground in the origin; without mass it then is the ground. A root without mass
        from which floating joints alone lead is the ground in any case.
    friction_speed : float, optional
        Speed [rad/s, m/s] below which the dry friction of joints sticks by creeping, see
        :func:`flexph.systems.coulomb`. Without it that friction is left out, with a warning that names the joints.
    inertia : {"accept", "repair", "refuse"}
        Principal moments with J1 + J2 < J3, which no body has: taken as they are with a warning that names the links,
        replaced by the nearest ones that a body can have, or refused.

    Returns
    -------
    Robot
        For ``connect(robot.bodies, robot.connections)`` and ``mechanism.assemble(robot.placed({...}))``.

    Raises
    ------
    ValueError
        With the name of the link or joint: for a file that is no URDF or holds xacro elements, names given twice,
        joints of unknown links or kinds, more or less than one root, numbers that are missing, not finite or of the
        wrong sign, axes that are zero, masses without inertia, negative moments, joints that mimic none that turns or
        slides, motions without inertia, and flexible links that are not there or have not one joint after them.
    """
    links, joints = read_elements(Path(path))
    root = root_of(links, joints)
    in_order, followers = ordered(root, joints), leaders(joints)
    if friction_speed is not None:
        check.positive("friction_speed", friction_speed)
    for name in flexible or {}:
        check.lookup("link", name, links, "the robot")
    sound = checked_links(links, inertia)
    _warn_of_friction(joints, friction_speed)
    _warn_of_losses(joints)
    _warn_of_limits(joints)
    _warn_of_mimics(in_order, followers)
    return assembled(sound, in_order, root, followers, options=Options(dict(flexible or {}), fixed, friction_speed))


def _warn_of_friction(joints: Sequence[JointElement], speed: float | None) -> None:
    """Warn of dry friction that is left out, as the speed below which it sticks is not known."""
    dry = [
        f"{joint.name} ({joint.friction:g} {'N' if joint.kind in SLIDING else 'N m'})"
        for joint in joints
        if joint.friction and joint.kind not in (FIXED, PLANAR, FLOATING)
    ]
    if dry and speed is None:
        told = "dry friction of the file is left out, give friction_speed=, below which it sticks, to have it: joints"
        warn(f"{told} {several(dry)}")


def _warn_of_losses(joints: Sequence[JointElement]) -> None:
    """Warn of damping and friction of joints with several freedoms, for which the format has no law."""
    lossy = [joint.name for joint in joints if joint.kind in (PLANAR, FLOATING) and joint.damping + joint.friction]
    if lossy:
        warn(f"damping and friction of planar and floating joints are left out: joints {several(lossy)}")


def _warn_of_limits(joints: Sequence[JointElement]) -> None:
    """Warn of limits that are missing, and of those that no angle meets; nothing imposes them here."""
    bounded = [joint for joint in joints if joint.kind in ("revolute", *SLIDING)]
    endless = [joint.name for joint in bounded if joint.limit is None or not joint.limit.is_bounded]
    if endless:
        right = "revolute and prismatic joints must have a <limit> with lower and upper"
        warn(f"{right}, they are taken without limits: joints {several(endless)}")
    crossed = [joint.name for joint in joints if joint.limit is not None and joint.limit.lower > joint.limit.upper]
    if crossed:
        warn(f"limits of joints must have lower <= upper, their stops are refused: {several(crossed)}")


def _warn_of_mimics(joints: Sequence[JointElement], followers: Mapping[str, Mimic]) -> None:
    """Warn of joints that follow others without moving."""
    fixed = {joint.name for joint in joints if joint.kind == FIXED}
    still = [
        f"{name} at {law.offset:g} ({f'{law.leader} is fixed' if law.leader in fixed else 'the multiplier is 0'})"
        for name, law in followers.items()
        if law.multiplier == 0.0
    ]
    if still:
        warn(f"joints that mimic others are held where they are: {several(still)}")
