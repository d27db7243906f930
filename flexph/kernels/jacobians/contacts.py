"""Contribution of contacts to the Jacobian of a step."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ...numerics.arrays import Array
from ...numerics.rotations import moment, spin_map
from ..arrays import Arrays
from ..contacts.gap_arrays import DISTANCE, OFFSET, Contacts
from ..contacts.gaps import TINY, Touch
from ..values import Point


def vector_rows(a: Arrays, nodes: Any) -> list[Any]:
    """Rows (c·d, n_v) of the vectors V, W, U from rows (k·d, n_v) of the nodes, dense or sparse like these."""
    c, d, width = a.contacts, a.dim, nodes.shape[1]
    if a.node_means is not None:
        nodes = nodes + sparse.kron(a.node_means, sparse.eye_array(d)) @ nodes
    if not sparse.issparse(nodes):
        padded = np.concatenate([nodes.reshape(-1, d, width), np.zeros((1, d, width))])
        return [(padded[p] - padded[m]).reshape(-1, width) for p, m in zip(c.plus, c.minus, strict=True)]
    return [(_selection(p, d, nodes) - _selection(m, d, nodes)) @ nodes for p, m in zip(c.plus, c.minus, strict=True)]


def _selection(nodes: Array, d: int, rows: Any) -> Any:
    """Sparse selection matrix (c·d, k·d) of the rows of some nodes, −1 for none."""
    at = np.flatnonzero(nodes >= 0)
    place, column = ((d * index[:, None] + np.arange(d)).ravel() for index in (at, nodes[at]))
    return sparse.csr_array((np.ones(place.size), (place, column)), shape=(d * nodes.size, rows.shape[0]))


def along(values: Array, rows: Any) -> Any:
    """Projection (c, n) of rows (c·d, n) on the vectors ``values`` (c, d)."""
    count, d = values.shape
    if not sparse.issparse(rows):
        summed: Array = np.matmul(values[:, None], rows.reshape(count, d, rows.shape[1]))[:, 0]
        return summed
    blocks = (values.ravel(), np.arange(count * d), d * np.arange(count + 1))
    return sparse.csr_array(blocks, shape=(count, count * d)) @ rows


def gap_rows(gradient: Array, rows: list[Any]) -> Any:
    """Rows (c, n_v) of gaps from their gradients (3, c, d) by vectors with rows (c·d, n_v)."""
    total = along(gradient[0], rows[0])
    for part, row in zip(gradient[1:], rows[1:], strict=True):
        if part.any():
            total = total + along(part, row)
    return total


def slip_rows(a: Arrays, apart: Any, touch: Touch, frame: Array) -> list[Any]:
    """Rows (c, n_v) of the slips along each tangent, from the rows (c·d, n_v) of V.

    ``frame`` (b, d, d) transforms spins to the world.
    """
    return [_turning(a, t, touch.arm, (frame, along(t, apart))) for t in touch.tangent]


def _turning(a: Arrays, tangent: Array, arm: Array, at: tuple[Array, Any]) -> Any:
    """Rows (c, n_v) of the slips along a tangent (c, d): those of points plus the spins of bodies."""
    c, (frame, rows) = a.contacts, at
    for side in range(2):
        own = np.flatnonzero(c.body[side] >= 0)
        own = own[a.columns.omega[c.body[side, own], 0] >= 0]
        if not own.size:
            continue
        torque, columns = -moment(arm[side, own], tangent[own]), a.columns.omega[c.body[side, own]]
        turned = np.einsum("mi,mij->mj", torque, spin_map(frame).take(c.body[side, own], axis=0))
        place = np.broadcast_to(own[:, None], columns.shape)
        if sparse.issparse(rows):
            spins = (turned.ravel(), (place.ravel(), columns.ravel()))
            rows = rows + sparse.csr_array(spins, shape=rows.shape)
        else:
            rows[place, columns] += turned
    return rows


def contact_stiffness(a: Arrays, at: Point, B: Any, W: Any) -> Any:
    """Jacobian −h ∂(contact forces)/∂(mean velocities), from the discrete gradient and end derivative of the nodes.

    None without contact.
    """
    touch = at.trial.touch
    assert touch is not None
    active = np.flatnonzero((touch.force != 0.0) | (touch.slope != 0.0))
    if not active.size:
        return None
    touch = taken(touch, active)
    a = a._replace(contacts=touch.contacts)
    on, moved = vector_rows(a, B), vector_rows(a, W)
    rate = gap_rows(touch.gaps.end, moved)
    stiffness = gap_rows(touch.gaps.mean, on).T @ _scaled(-at.h * touch.slope, rate)
    for part in (_flat(a.contacts, touch, on, moved), _round(a.contacts, touch, on, moved)):
        stiffness = stiffness if part is None else stiffness - at.h * part
    if touch.rubbing is not None:
        stiffness = stiffness + _resisting(a, at, touch, (on[0], rate))
    return stiffness


def _flat(c: Contacts, touch: Touch, on: list[Any], moved: list[Any]) -> Any:
    """Geometric stiffness of offsets V·W as V and W change; None if all W are constant."""
    d = touch.gaps.mean.shape[2]
    if not ((c.kind == OFFSET) & ((c.plus[1] >= 0) | (c.minus[1] >= 0))).any():
        return None
    half = np.repeat(np.where(c.kind == OFFSET, 0.5 * c.sign * touch.force, 0.0), d)
    return on[0].T @ _scaled(half, moved[1]) + on[1].T @ _scaled(half, moved[0])


def _round(c: Contacts, touch: Touch, on: list[Any], moved: list[Any]) -> Any:
    """Geometric stiffness of distances |V| as V rotates; None without distances."""
    if not (c.kind == DISTANCE).any():
        return None
    (v0, v1), d = touch.gaps.vectors[:, 0], touch.gaps.mean.shape[2]
    d0, d1 = (np.maximum(np.linalg.norm(v, axis=1), TINY) for v in (v0, v1))
    own = np.where(c.kind == DISTANCE, c.sign * touch.force / (d0 + d1), 0.0)
    turned = _scaled(np.repeat(own, d), moved[0])
    normal, last = (v0 + v1) / (d0 + d1)[:, None], v1 / d1[:, None]
    return on[0].T @ turned - along(normal, on[0]).T @ along(last, turned)


def _resisting(a: Arrays, at: Point, touch: Touch, rows: tuple[Any, Any]) -> Any:
    """Jacobian (n_v, n_v) of the friction of compliant contacts, by slip and by normal force."""
    (apart, rate), h, own = rows, at.h, touch.rubbing
    assert own is not None
    slip_row = slip_rows(a, apart, touch, np.swapaxes(at.trial.inverse, 1, 2))
    parts = [-h * (row.T @ _scaled(own.by_normal[i] * touch.slope, rate)) for i, row in enumerate(slip_row)]
    for i, row in enumerate(slip_row):
        parts += [h * h * (row.T @ _scaled(own.by_slip[i, j], other)) for j, other in enumerate(slip_row)]
    return sum(parts[1:], parts[0])


def taken(touch: Touch, index: Array) -> Touch:
    """The contact forces of some of the gaps."""
    gaps = touch.gaps
    own = gaps._replace(
        before=gaps.before[index], after=gaps.after[index], mean=gaps.mean[:, index], end=gaps.end[:, index],
        vectors=gaps.vectors[:, :, index],
    )  # fmt: skip
    return Touch(
        touch.contacts.take(index), own, touch.force[index], touch.elastic[index], touch.slope[index],
        touch.tangent[:, index], touch.arm[:, index], touch.slip[:, index], touch.friction[:, index],
        None if touch.rubbing is None else touch.rubbing.take(index),
    )  # fmt: skip


def _scaled(values: Array, rows: Any) -> Any:
    return sparse.diags_array(values) @ rows if sparse.issparse(rows) else values[:, None] * rows
