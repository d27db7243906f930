"""Tree of links and joints: root, tree order, and joints that follow other joints."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from .elements import FIXED, SEVERAL, JointElement, Mimic, several


class Coupling(NamedTuple):
    """Leader of a joint that follows another one, and ratio of the rate of the follower to that of the leader.

    A leader "" means that the follower does not move.
    """

    leader: str
    ratio: float


def root_of(links: Mapping[str, object], joints: Sequence[JointElement]) -> str:
    """Link that is no child of a joint; raises ValueError for unknown links, links with two parents, several roots."""
    above: dict[str, str] = {}
    for joint in joints:
        for end, name in (("parent", joint.parent), ("child", joint.child)):
            if name not in links:
                raise ValueError(f"the {end} of joint {joint.name!r} must be a link of the file, got {name!r}")
        if joint.parent == joint.child:
            raise ValueError(f"joint {joint.name!r} joins link {joint.parent!r} to itself")
        if joint.child in above:
            raise ValueError(
                f"link {joint.child!r} must be the child of one joint, got {above[joint.child]!r} and {joint.name!r}"
            )
        above[joint.child] = joint.name
    roots = [name for name in links if name not in above]
    if not roots:
        raise ValueError(f"the robot must have one root, got a circle of joints: {several(list(above.values()))}")
    if len(roots) > 1:
        raise ValueError(f"the robot must have one root, got {len(roots)} links that are no child: {several(roots)}")
    return roots[0]


def ordered(root: str, joints: Sequence[JointElement]) -> tuple[JointElement, ...]:
    """Joints in tree order; raises ValueError for joints that are not connected to the root."""
    after: dict[str, list[JointElement]] = {}
    for joint in joints:
        after.setdefault(joint.parent, []).append(joint)
    reached, queue = [], deque([root])
    while queue:
        for joint in after.get(queue.popleft(), []):
            reached.append(joint)
            queue.append(joint.child)
    if len(reached) < len(joints):
        names = {joint.name for joint in reached}
        left = several([joint.name for joint in joints if joint.name not in names])
        raise ValueError(f"joints {left} are not connected to the root {root!r}")
    return tuple(reached)


def leaders(joints: Sequence[JointElement]) -> dict[str, Mimic]:
    """Laws of all followers by name, combined along chains so that no leader follows another joint.

    Laws of fixed joints are ignored; a follower of a fixed joint has the constant coordinate ``offset``. Raises
    ValueError for a law that names an unknown joint, leads back to its own joint, or involves a joint with several
    degrees of freedom.
    """
    by_name = {joint.name: joint for joint in joints}
    resolved: dict[str, Mimic] = {}
    for joint in joints:
        law, chain = joint.mimic if joint.kind != FIXED else None, [joint.name]
        while law is not None:
            leader = by_name.get(law.leader)
            if leader is None:
                raise ValueError(f"joint {joint.name!r} mimics {law.leader!r}, which is no joint of the file")
            for one in (joint, leader):
                if one.kind in SEVERAL:
                    raise ValueError(f"joint {joint.name!r} mimics {leader.name!r}: {one.name!r} must turn or slide")
            if leader.name in chain:
                raise ValueError(f"joint {joint.name!r} mimics itself: {' → '.join([*chain, leader.name])}")
            if leader.kind == FIXED:
                law = Mimic(leader.name, 0.0, law.offset)
            resolved[joint.name] = law
            chain.append(leader.name)
            law = _after(law, leader.mimic if leader.kind != FIXED else None)
    return resolved


def _after(law: Mimic, mimic: Mimic | None) -> Mimic | None:
    """Law by which a joint follows the leader of its own leader; None if its leader follows no joint.

    ``law`` relates the joint to its leader, ``mimic`` the leader to the next leader.
    """
    if mimic is None:
        return None
    return Mimic(mimic.leader, law.multiplier * mimic.multiplier, law.multiplier * mimic.offset + law.offset)


def couplings(followers: Mapping[str, Mimic], kept: Collection[str]) -> dict[str, Coupling]:
    """Leader and ratio of rates of each of the joints ``kept`` that follows another one.

    If the leader is not among ``kept``, the first of its followers becomes the leader of the others.
    """
    led: dict[str, list[str]] = {}
    joint_couplings = {}
    for name, law in followers.items():
        if name in kept and law.multiplier == 0.0:
            joint_couplings[name] = Coupling("", 0.0)
        elif name in kept:
            led.setdefault(law.leader, []).append(name)
    for leader, names in led.items():
        first, ratio = (leader, 1.0) if leader in kept else (names[0], followers[names[0]].multiplier)
        joint_couplings |= {
            name: Coupling(first, followers[name].multiplier / ratio) for name in names if name != first
        }
    return joint_couplings
