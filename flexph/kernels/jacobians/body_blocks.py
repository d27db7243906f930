"""Jacobian blocks of contacts between rigid bodies, where each row has the velocities of two bodies only.

The rows of :mod:`.contacts` over all velocities are stored here as (c, 2, n) over the n = d + s velocities of the
bodies on both sides of each contact.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ...numerics.arrays import Array
from ...numerics.rotations import moment, spin_map
from ..arrays import Arrays
from ..contacts.gap_arrays import DISTANCE, OFFSET
from ..contacts.gaps import TINY, Touch
from ..gradient import body_levers, is_sparse, velocity_count
from ..values import Point
from .blocks import node_blocks, rigid_blocks
from .dense import dense_jacobian
from .sparse import sparse_jacobian


class Sides(NamedTuple):
    """Bodies on both sides of contacts (2, c), −1 for the ground, and the sides of the nodes of V, W, U.

    ``on`` (3, 2, c) is 0 or 1, −1 without a node; ``nodes`` (3, 2, c) are their indices.
    """

    body: Array
    on: Array
    nodes: Array


def sides_of(a: Arrays) -> Sides | None:
    """Sides of contacts if all bodies are rigid and each contact has at most two bodies; else None."""
    return None if a.body_u.size else contact_sides(a)


def contact_sides(a: Arrays) -> Sides | None:
    """Sides of contacts at the frames of bodies, which may deform; None if a contact has more than two bodies."""
    if a.node_means is not None:
        return None
    nodes = np.stack([a.contacts.plus, a.contacts.minus], axis=1)
    body = np.append(a.node_body, -1)[nodes]
    flat = body.reshape(6, -1)
    first = flat.max(axis=0, initial=-1)
    second = np.where(flat != first, flat, -1).max(axis=0, initial=-1)
    on = np.where(body == -1, -1, np.where(body == first, 0, np.where(body == second, 1, 2)))
    return None if (on == 2).any() else Sides(np.stack([first, second]), on, nodes)


def vector_blocks(a: Arrays, sides: Sides, spin: Array, scale: float = 1.0) -> list[Array | None]:
    """Derivatives (2, c, n, d) of V, W, U by the velocities on both sides, from the spin rows of nodes (k, s, d).

    None for constant vectors. ``scale``: displacement of points by unit translation.
    """
    (_, s, d), count = spin.shape, sides.body.shape[1]
    blocks: list[Array | None] = []
    for on, nodes in zip(sides.on, sides.nodes, strict=True):
        if not (nodes >= 0).any():
            blocks.append(None)
            continue
        block = np.zeros((2, count, d + s, d))
        for sign, side, node in zip((1.0, -1.0), on, nodes, strict=True):
            own = np.flatnonzero(side >= 0)
            block[side[own], own, d:] += sign * spin[node[own]]
            moves = sign * scale * a.node_moves[node[own], None]
            block[side[own, None], own[:, None], np.arange(d), np.arange(d)] += moves
        blocks.append(block)
    return blocks


def gap_blocks(gradient: Array, blocks: list[Array | None]) -> Array:
    """Rows (2, c, n) of gaps from their gradients (3, c, d) by vectors and the blocks of these."""
    parts = [
        np.einsum("pcnd,cd->pcn", block, g) for g, block in zip(gradient, blocks, strict=True) if block is not None
    ]
    return sum(parts[1:], parts[0])


def slip_blocks(a: Arrays, sides: Sides, apart: Array, touch: Touch, frame: Array) -> list[Array]:
    """Rows (2, c, n) of the slips along each tangent, from the blocks of V; frames transform spins to the world."""
    rows, d, c = [], a.dim, a.contacts
    to_world = spin_map(frame)
    for tangent in touch.tangent:
        row = np.einsum("pcnd,cd->pcn", apart, tangent)
        for side in range(2):
            own = np.flatnonzero(c.body[side] >= 0)
            bodies = c.body[side, own]
            torque = -moment(touch.arm[side, own], tangent[own])
            place = np.where(sides.body[0, own] == bodies, 0, 1)
            row[place, own, d:] += np.einsum("mi,mij->mj", torque, to_world[bodies])
        rows.append(row)
    return rows


def columns(a: Arrays) -> Array:
    """Columns of the velocities of each body, (b + 1, n): −1 for spins of point masses and for the ground, the last."""
    own = np.concatenate([a.columns.v, a.columns.omega], axis=1)
    return np.vstack([own, np.full((1, own.shape[1]), -1)])


def as_rows(a: Arrays, sides: Sides, blocks: Array, width: int) -> Any:
    """Sparse rows (c, width) from their blocks (2, c, n)."""
    place = columns(a)[sides.body]
    keep = place >= 0
    row = np.broadcast_to(np.arange(place.shape[1])[:, None], place.shape)
    return sparse.csr_array((blocks[keep], (row[keep], place[keep])), shape=(place.shape[1], width))


def turning(a: Arrays, touch: Touch, on: list[Array | None], moved: list[Array | None]) -> Array:
    """Derivatives (2, 2, c, n, n) of contact forces by the directions of their vectors; see :mod:`.contacts`."""
    c, (v0, v1) = a.contacts, touch.gaps.vectors[:, 0]
    d0, d1 = (np.maximum(np.linalg.norm(v, axis=1), TINY) for v in (v0, v1))
    own = np.where(c.kind == DISTANCE, c.sign * touch.force / (d0 + d1), 0.0)
    normal, last = (v0 + v1) / (d0 + d1)[:, None], v1 / d1[:, None]
    core = own[:, None, None] * (np.eye(a.dim) - normal[:, :, None] * last[:, None])
    assert on[0] is not None and moved[0] is not None
    total = _across(on[0], core, moved[0])
    if on[1] is not None and moved[1] is not None:
        half = np.where(c.kind == OFFSET, 0.5 * c.sign * touch.force, 0.0)
        both = half[:, None, None] * np.eye(a.dim)
        total += _across(on[0], both, moved[1]) + _across(on[1], both, moved[0])
    return total


def _across(on: Array, core: Array, moved: Array) -> Array:
    left = np.matmul(on, core)  # (2, c, n, d)
    return np.matmul(left[:, None], np.swapaxes(moved, 2, 3)[None])


def pair_rows(a: Arrays, sides: Sides, at: Point, touch: Touch) -> tuple[Any, Any, Array]:
    """Rows (m, n_v) of forces and of rates of contacts, normal rows first, and their geometric stiffness blocks."""
    frame, width = np.swapaxes(at.trial.inverse, 1, 2), velocity_count(a)
    arm_omega = node_blocks(a, at)[0]
    on = vector_blocks(a, sides, body_levers(a, at.trial.inverse, at.trial.lever))
    moved = vector_blocks(a, sides, arm_omega, at.h)
    acting, rates = [gap_blocks(touch.gaps.mean, on)], [gap_blocks(touch.gaps.end, moved) / at.h]
    if a.contacts.friction.any():
        assert on[0] is not None
        slips = slip_blocks(a, sides, on[0], touch, frame)
        acting, rates = acting + slips, rates + slips
    both = (
        sparse.csr_array(sparse.vstack([as_rows(a, sides, row, width) for row in rows])) for rows in (acting, rates)
    )
    return *both, -at.h * turning(a, touch, on, moved)


def motion_matrix(a: Arrays, at: Point, sides: Sides, blocks: Array) -> Any:
    """Sparse matrix K of rigid bodies, including the blocks of contacts (:mod:`.factor`)."""
    width = velocity_count(a)
    if are_apart(a):
        return as_matrix(a, body_matrix(a, at), (sides, blocks), width)
    alone = at._replace(trial=at.trial._replace(touch=None))
    K = sparse_jacobian(a, alone).K if is_sparse(a) else sparse.csc_array(dense_jacobian(a, alone))
    return sparse.csc_array(K + as_matrix(a, np.zeros((0, *blocks.shape[3:])), (sides, blocks), K.shape[0]))


def are_apart(a: Arrays) -> bool:
    """True if there are only rigid bodies with no connections other than contacts."""
    return not (a.body_u.size or a.first.size or a.follow_input.size)


def mass_blocks(a: Arrays) -> Array:
    """Mass matrices of rigid bodies, (b, n, n)."""
    d, s = a.dim, a.n.shape[0]
    whole = np.zeros((len(a.mass), d + s, d + s))
    whole[:, np.arange(d), np.arange(d)] = a.mass[:, None]
    whole[:, d:, d:] = a.J
    return whole


def body_matrix(a: Arrays, at: Point) -> Array:
    """Derivatives (b, n, n) of the momentum defects of free rigid bodies by mean velocities, without contact terms."""
    d, s = a.dim, a.n.shape[0]
    whole = np.zeros((len(a.mass), d + s, d + s))
    whole[:, np.arange(d), np.arange(d)] = 2.0 * a.mass[:, None]
    arm_omega, torque, _ = node_blocks(a, at)
    whole[:, d:, d:] = rigid_blocks(a, at)[0]
    np.add.at(whole[:, d:, d:], a.node_body, np.matmul(torque, arm_omega.transpose(0, 2, 1)))
    return whole


def as_matrix(a: Arrays, by_body: Array, pairs: tuple[Sides, Array] | None, size: int) -> Any:
    """Sparse matrix (CSC) from blocks of bodies (b, n, n), and of contacts (2, 2, c, n, n)."""
    place, n = columns(a), by_body.shape[1]
    body, blocks = (
        (np.zeros((2, 0), dtype=int), np.zeros((2, 2, 0, n, n))) if pairs is None else (pairs[0].body, pairs[1])
    )
    own, pair = place[: len(by_body)], place[body]
    rows = (np.broadcast_to(own[:, :, None], by_body.shape), np.broadcast_to(pair[:, None, :, :, None], blocks.shape))
    cols = (np.broadcast_to(own[:, None], by_body.shape), np.broadcast_to(pair[None, :, :, None], blocks.shape))
    row, col, value = (np.concatenate([part.ravel() for part in parts]) for parts in (rows, cols, (by_body, blocks)))
    keep = (row >= 0) & (col >= 0)
    return sparse.csc_array((value[keep], (row[keep], col[keep])), shape=(size, size))
