"""Whirl: which way round the axis of a steady rotation its small motions turn."""

from __future__ import annotations

import numpy as np

from ...kernels.arrays import Arrays
from ...kernels.gradient import node_rows, world_spin_levers
from ...kernels.state import Configuration, Derived
from ...numerics.arrays import Array, dense
from ...numerics.rotations import spin_map


def whirl(a: Arrays, at: tuple[Configuration, Derived], spin: Array, shapes: Array) -> Array:
    """k |Ω| (m,), k = 1, −1 or 0: what shapes (n_v, m) in the axes that turn add to Im s as it is seen in the world.

    Displacements x, y across the axis with e^{st} are circles x + iy and x − iy, one of which turns with the bodies in
    the sense of Im s and one against it; in the world their s differ by iΩ and −iΩ. The larger circle counts, or
    neither, where more of the motion is along the axis.
    """
    axis = _in_space(spin[None, :, None] if spin.size == 3 else spin[None, None])[0, :, 0]
    speed = float(np.linalg.norm(axis))
    x = np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
    x /= np.linalg.norm(x)
    frame = np.array([x, np.cross(axis / speed, x), axis / speed])
    with_axis, against, along = (np.zeros(shapes.shape[1]) for _ in range(3))
    for moved, weight in _displacements(a, at, shapes):
        x, y, z = np.einsum("ij,kjm->ikm", frame, moved)
        with_axis += weight @ np.abs(x + 1j * y) ** 2
        against += weight @ np.abs(x - 1j * y) ** 2
        along += 2.0 * weight @ np.abs(z) ** 2
    turn = np.where(with_axis >= against, speed, -speed)
    return np.where(np.maximum(with_axis, against) > along, turn, 0.0)


def _displacements(a: Arrays, at: tuple[Configuration, Derived], shapes: Array) -> list[tuple[Array, Array]]:
    """Displacements of centres and points and turns of bodies (k, 3, m), each with weights (k,) like masses."""
    (c, d), (centres, spins, _), m = at, a.columns, shapes.shape[1]
    turned = spin_map(c.R)[a.turning] @ shapes[spins[a.turning]]
    inertia = np.trace(a.J[a.turning], axis1=1, axis2=2) / a.n.shape[0]
    parts = [(_in_space(shapes[centres]), a.mass), (_in_space(turned), inertia)]
    if a.body_u.size and a.node_body.size:
        rows = dense(node_rows(a, world_spin_levers(a, c.R, d.arm), c.R[a.node_body]))
        moved = (rows @ shapes).reshape(-1, a.dim, m)
        parts.append((_in_space(moved), a.node_moves * a.mass[a.node_body] / a.node_body.size))
    return parts


def _in_space(vectors: Array) -> Array:
    """Vectors or spins (k, d, m) of the plane as those of space."""
    full = np.zeros((len(vectors), 3, vectors.shape[2]), dtype=vectors.dtype)
    size = vectors.shape[1]
    if size == 1:
        full[:, 2:] = vectors
    else:
        full[:, :size] = vectors
    return full
