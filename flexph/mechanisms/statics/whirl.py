"""Sense of whirl of small motions about the axis of a steady rotation."""

from __future__ import annotations

import numpy as np
from scipy.linalg import eigh

from ...kernels.arrays import Arrays
from ...kernels.gradient import node_rows, world_spin_levers
from ...kernels.state import Configuration, Derived
from ...numerics.arrays import Array, dense
from ...numerics.rotations import spin_map

COMMON = 1e-6
"""Square of the common motion, relative to that of single bodies, above which the common motion gives the sense."""
EQUAL = 1e-8
"""Distance of exponents, relative to the largest and to the spin, up to which they count as equal."""
INDEPENDENT = 1e-6
"""Smallest singular value of the unit shapes of one exponent from which on they span its space of motions."""


def whirl(a: Arrays, at: tuple[Configuration, Derived], spin: Array, shapes: Array) -> Array:
    """Differences (m,) of Im s in the fixed frame from that in the rotating frame, for m shapes: k |Ω|, k = 1, −1 or 0.

    Displacements x, y across the axis with e^{st} are superpositions of the circles x + iy and x − iy, one of which
    whirls with the rotation in the sense of Im s and one against it; in the fixed frame their s differ by iΩ and −iΩ.
    The larger circle counts, or neither if more of the motion is along or about the axis. Circles are those of all
    bodies together, which show the whirl of blades that swing to and fro, or those of single bodies if these cancel.
    ``at`` are the configuration and its derived quantities.
    """
    frame, speed = _frame(spin)
    circles, along = np.zeros((2, 2, shapes.shape[1])), 2.0 * _common_rotation(a, at, shapes, frame[2])
    for moved, weight in _displacements(a, at, shapes):
        x, y, z = np.einsum("ij,kjm->ikm", frame, moved)
        circles += [_sizes(x + 1j * y, weight), _sizes(x - 1j * y, weight)]
        along += 2.0 * _sizes(z, weight).sum(axis=0)
    whole = circles.sum(axis=1)
    single, together = circles[:, 0], circles[:, 1]
    chosen = np.where(together.sum(axis=0) > COMMON * single.sum(axis=0), together, single)
    turn = np.where(chosen[0] >= chosen[1], speed, -speed)
    return np.where(whole.max(axis=0) > along, turn, 0.0)


def separated(a: Arrays, at: tuple[Configuration, Derived], spin: Array, values: Array, shapes: Array) -> Array:
    """Shapes (n_v, m) of exponents (m,), with those of equal exponents combined so that each has one sense of whirl.

    An eigenvalue solver returns an arbitrary basis for the shapes of a repeated exponent. Here the basis consists of
    the shapes for which the difference of the two circles of :func:`whirl`, relative to the whole motion, is
    stationary.
    """
    frame, speed = _frame(spin)
    shapes = np.array(shapes, dtype=complex)
    scale, left = EQUAL * max(float(np.abs(values).max(initial=0.0)), speed), values != 0.0
    for k in range(values.size):
        same = np.flatnonzero(left & (np.abs(values - values[k]) <= scale)) if left[k] else np.zeros(0, dtype=int)
        left[same] = False
        if same.size > 1:
            unit_shapes = shapes[:, same] / np.linalg.norm(shapes[:, same], axis=0)
            if np.linalg.svd(unit_shapes, compute_uv=False)[-1] > INDEPENDENT:
                shapes[:, same] = unit_shapes @ _circling(a, at, frame, unit_shapes)
    return shapes


def _circling(a: Arrays, at: tuple[Configuration, Derived], frame: Array, shapes: Array) -> Array:
    """Coefficients (m, m) of combinations of m shapes of one exponent that separate the two senses of whirl.

    The columns are eigenvectors of the squared size of the circle x + iy minus that of x − iy, relative to the whole
    motion; the last one has the largest share of x + iy, the first one of x − iy. ``frame`` (3, 3) are the axes of
    :func:`_frame`.
    """
    m = shapes.shape[1]
    difference, whole = np.zeros((m, m), dtype=complex), np.zeros((m, m), dtype=complex)
    for moved, weight in _displacements(a, at, shapes):
        x, y, z = np.einsum("ij,kjm->ikm", frame, moved)
        with_spin, against, along = (_squares(part, weight) for part in (x + 1j * y, x - 1j * y, z))
        difference += with_spin - against
        whole += with_spin + against + along
    whole += EQUAL * np.trace(whole).real * np.eye(m)
    return eigh(difference, whole)[1]


def _squares(z: Array, weight: Array) -> Array:
    """Products (m, m) of m motions: Zᴴ W Z, summed over points, plus (Zᴴ w)(wᵀ Z)/Σ w of their mean displacements.

    ``z`` (k, m) are displacements of k points along one axis, ``weight`` w (k,) their weights, W = diag(w).
    """
    sums = weight @ z
    return (z.conj().T * weight) @ z + np.outer(sums.conj(), sums) / max(float(weight.sum()), 1e-300)


def _frame(spin: Array) -> tuple[Array, float]:
    """Orthonormal vectors (3, 3), of which the third is along the spin, and the magnitude of the spin."""
    axis = _in_space(spin[None, :, None])[0, :, 0]
    speed = float(np.linalg.norm(axis))
    first = np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
    first /= np.linalg.norm(first)
    return np.array([first, np.cross(axis / speed, first), axis / speed]), speed


def _sizes(z: Array, weight: Array) -> Array:
    """Squared sizes (2, m) of m motions: Σ w |z|², summed over points, and |Σ w z|²/Σ w of the mean displacement.

    ``z`` (k, m) are displacements of k points along one axis, ``weight`` w (k,) their weights.
    """
    return np.array([weight @ np.abs(z) ** 2, np.abs(weight @ z) ** 2 / max(float(weight.sum()), 1e-300)])


def _common_rotation(a: Arrays, at: tuple[Configuration, Derived], shapes: Array, axis: Array) -> Array:
    """Squared sizes (m,) of the common rotation of all bodies about an axis through the centre of mass, in m motions.

    It is the squared angular momentum about the axis divided by the moment of inertia.
    """
    c = at[0]
    arms = _in_space((c.r - a.mass @ c.r / a.mass.sum())[:, :, None])[:, :, 0]
    around = np.cross(axis, arms)
    (centres, weight), *others = _displacements(a, at, shapes)
    sums, inertia = np.einsum("k,kj,kjm->m", weight, around, centres), float(weight @ np.sum(around**2, axis=1))
    turned, moments = others[0]
    sums, inertia = sums + np.einsum("k,j,kjm->m", moments, axis, turned), inertia + float(moments.sum())
    return np.abs(sums) ** 2 / max(inertia, 1e-300)


def _displacements(a: Arrays, at: tuple[Configuration, Derived], shapes: Array) -> list[tuple[Array, Array]]:
    """Displacements (k, 3, m) of bodies in m shapes, and their weights (k,), as pairs.

    The pairs are for centres of mass, rotations, and points of bodies.
    """
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
    """Vectors (k, 3, m) in space from those of a plane or of space (k, d, m); planar spins (k, 1, m) are along z."""
    full = np.zeros((len(vectors), 3, vectors.shape[2]), dtype=vectors.dtype)
    size = vectors.shape[1]
    if size == 1:
        full[:, 2:] = vectors
    else:
        full[:, :size] = vectors
    return full
