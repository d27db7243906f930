"""Sense of whirl of small motions about the axis of a steady rotation."""

from __future__ import annotations

import numpy as np

from ...kernels.arrays import Arrays
from ...kernels.gradient import node_rows, world_spin_levers
from ...kernels.state import Configuration, Derived
from ...numerics.arrays import Array, dense
from ...numerics.rotations import spin_map

COMMON = 1e-6
"""Square of the common motion of all bodies, relative to those of single bodies, above which it gives the sense."""


def whirl(a: Arrays, at: tuple[Configuration, Derived], spin: Array, shapes: Array) -> Array:
    """Shift k |Ω| (m,), k = 1, −1 or 0, of Im s from the rotating to the fixed frame, for shapes (n_v, m).

    Displacements x, y across the axis with e^{st} are superpositions of the circles x + iy and x − iy, one of which
    whirls with the rotation in the sense of Im s and one against it; in the fixed frame their s differ by iΩ and −iΩ.
    The larger circle counts, or neither if more of the motion is along or about the axis. Circles are those of all
    bodies together, which show the whirl of blades that swing to and fro, or those of single bodies if these cancel.
    """
    axis = _in_space(spin[None, :, None])[0, :, 0]
    speed = float(np.linalg.norm(axis))
    first = np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
    first /= np.linalg.norm(first)
    frame = np.array([first, np.cross(axis / speed, first), axis / speed])
    circles, along = np.zeros((2, 2, shapes.shape[1])), 2.0 * _turned(a, at, shapes, frame[2])
    for moved, weight in _displacements(a, at, shapes):
        x, y, z = np.einsum("ij,kjm->ikm", frame, moved)
        circles += [_sizes(x + 1j * y, weight), _sizes(x - 1j * y, weight)]
        along += 2.0 * _sizes(z, weight).sum(axis=0)
    whole = circles.sum(axis=1)
    single, together = circles[:, 0], circles[:, 1]
    chosen = np.where(together.sum(axis=0) > COMMON * single.sum(axis=0), together, single)
    turn = np.where(chosen[0] >= chosen[1], speed, -speed)
    return np.where(whole.max(axis=0) > along, turn, 0.0)


def _sizes(z: Array, weight: Array) -> Array:
    """Sums Σ w |z|² and |Σ w z|²/Σ w, (2, m), for z (k, m)."""
    return np.array([weight @ np.abs(z) ** 2, np.abs(weight @ z) ** 2 / max(float(weight.sum()), 1e-300)])


def _turned(a: Arrays, at: tuple[Configuration, Derived], shapes: Array, axis: Array) -> Array:
    """Squared angular momentum about the axis through the centre of mass, divided by the moment of inertia, (m,)."""
    c = at[0]
    arms = _in_space((c.r - a.mass @ c.r / a.mass.sum())[:, :, None])[:, :, 0]
    around = np.cross(axis, arms)
    (centres, weight), *others = _displacements(a, at, shapes)
    sums, inertia = np.einsum("k,kj,kjm->m", weight, around, centres), float(weight @ np.sum(around**2, axis=1))
    turned, own = others[0]
    sums, inertia = sums + np.einsum("k,j,kjm->m", own, axis, turned), inertia + float(own.sum())
    return np.abs(sums) ** 2 / max(inertia, 1e-300)


def _displacements(a: Arrays, at: tuple[Configuration, Derived], shapes: Array) -> list[tuple[Array, Array]]:
    """Displacements of centres, points and rotations (k, 3, m) in m shapes, with their inertial weights (k,)."""
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
    """Planar vectors or spins (k, d, m) embedded in space."""
    full = np.zeros((len(vectors), 3, vectors.shape[2]), dtype=vectors.dtype)
    size = vectors.shape[1]
    if size == 1:
        full[:, 2:] = vectors
    else:
        full[:, :size] = vectors
    return full
