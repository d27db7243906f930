"""Contact forces in a step, on nodes and bodies."""

from __future__ import annotations

import numpy as np

from ...numerics.arrays import Array
from ...numerics.rotations import moment
from .gap_arrays import Contacts
from .gaps import Touch, gaps_between, slips, tangents, vectors_of
from .laws import contact_forces
from .rubbing import compliant_friction


def touched(
    c: Contacts,
    points: tuple[Array, Array],
    h: float,
    turned: Array,
    *,
    held: Array,
    push: tuple[Array, Array] | None,
) -> Touch:
    """Contact forces in a step, from node positions (k, d) at both ends and world rotations of the bodies (b, s).

    ``held``: forces of springs and anchors at the start; ``push``: forces of rigid contacts, normal (c,) and friction
    (t, c).
    """
    c = c.closed(*points)
    gaps = gaps_between(c, *(vectors_of(c, place) for place in points))
    none = np.zeros(c.kind.size)
    force, elastic, slope = (none,) * 3 if c.rigid.all() else contact_forces(c, gaps.before, gaps.after, h)
    tangent, arm = tangents(c, gaps)
    rubbing = None
    slip, friction = np.zeros(tangent.shape[:2]), np.zeros(tangent.shape[:2])
    if c.friction.any():
        slip = slips(c, tangent, arm, gaps.vectors[1, 0] - gaps.vectors[0, 0], turned)
    if c.friction[~c.rigid].any():
        rubbing = compliant_friction(c, (gaps.after, force), h, (tangent, slip), held)
        friction = rubbing.force
    if push is not None:
        force, friction = force + push[0], friction + push[1]
    return Touch(c, gaps, force, elastic, slope, tangent, arm, slip, friction, rubbing)


def node_and_body_forces(touch: Touch, nodes: int, turned_bodies: tuple[int, ...]) -> tuple[Array, Array]:
    """Contact forces on the nodes (k, d), and friction torques on the bodies (b, s)."""
    c = touch.contacts
    force, dim = touch.force[None, :, None] * touch.gaps.mean, touch.gaps.mean.shape[2]
    push = np.einsum("tc,tcd->cd", touch.friction, touch.tangent)
    force[0] += push
    on_node, torque = np.zeros((nodes + 1, dim)), np.zeros(turned_bodies)
    np.add.at(on_node, c.plus, force)
    np.add.at(on_node, c.minus, -force)
    for side in range(2):
        own = np.flatnonzero((c.body[side] >= 0) & push.any(axis=1))
        np.add.at(torque, c.body[side, own], -moment(touch.arm[side, own], push[own]))
    return on_node[:-1], torque
