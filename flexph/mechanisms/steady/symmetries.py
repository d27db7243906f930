"""Directions in which a steady motion is merely another one of the same kind: symmetries of its mechanism.

A symmetry moves all of the motion: a translation or rotation in the world, or the turn of a wheel about its axis. It
moves a state z₀ along g with A g again along symmetries. Along these, small motions neither grow nor oscillate relative
to a motion that was moved, and their exponents are left out of a spectrum by name.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import lstsq, qr

from ...numerics.arrays import Array
from ...numerics.ranks import singular_vectors
from ...numerics.rotations import skew, spin_map, spins, unit_sweeps
from .linearised import Reduced
from .moving_frame import Moving

SAME = 1e-7
"""Deviation, relative to the size of a direction, up to which a state stays among the symmetries."""


class Symmetries(NamedTuple):
    """Names of the symmetries, and an orthonormal basis of the states along them, (n, k)."""

    names: tuple[str, ...]
    basis: Array


def symmetries(motion: Moving, system: Reduced) -> Symmetries:
    """Largest invariant subspace of states within translations, rotations and turns of bodies."""
    names, moved = _candidates(motion)
    scale = np.tile(1.0 / motion.sizes, 2)[:, None]
    columns, shapes = moved * scale, system.shapes * scale
    z = lstsq(shapes, columns)[0]
    missed = shapes @ z - columns
    inside = _null(missed, np.abs(columns).max(initial=1.0))
    basis = _range(z @ inside)
    while basis.shape[1]:
        out = system.matrix @ basis
        stays = _null(out - basis @ (basis.T @ out), np.abs(system.matrix).max())
        if stays.shape[1] == basis.shape[1]:
            break
        basis = _range(basis @ stays)
    within = [np.linalg.norm(p - basis @ (basis.T @ p)) <= SAME * np.linalg.norm(p) for p in z.T]
    kept = np.abs(missed).max(axis=0, initial=0.0) <= SAME * np.maximum(np.abs(columns).max(axis=0), 1e-300)
    known = [i for i, stays in enumerate(within) if stays and kept[i]]
    own = basis.T @ z[:, known]
    order = qr(own, mode="r", pivoting=True)[1][: basis.shape[1]] if known else []
    listed = [names[known[i]] for i in sorted(order)]
    further = basis.shape[1] - len(listed)
    return Symmetries((*listed, *["a combined motion"] * further), basis)


def _null(rows: Array, size: float) -> Array:
    return singular_vectors(rows, tolerance=SAME, size=size).null


def _range(columns: Array) -> Array:
    return singular_vectors(columns, tolerance=SAME, economy=True).range


def _candidates(motion: Moving) -> tuple[list[str], Array]:
    """Names and states (ξ, ξ̇), (2 n_v, k), of translations, rotations about the first centre, and turns of bodies."""
    c, a = motion.c, motion.given.mechanism.network.arrays
    dim, (cv, cw, _) = c.r.shape[1], a.columns
    spin, s, size = motion.given.steady.spin, spins(dim), motion.given.mechanism.layout.velocities
    names = [f"translation along {'xyz'[i]}" for i in range(dim)]
    names += [f"rotation about {'z' if dim == 2 else 'xyz'[i]}" for i in range(s)]
    turns = [i for i, own in enumerate(motion.own) if own.any()]
    names += [f"turn of {list(motion.given.mechanism.frames)[i]}" for i in turns]
    state, W = np.zeros((2 * size, len(names))), skew(spin, dim)
    for i in range(dim):
        state[cv[:, i], i] = 1.0
        state[size + cv.ravel(), i] = np.tile(-W[:, i], len(c.r))
    arms, moving = (unit_sweeps(x).transpose(1, 0, 2) for x in (c.r - c.r[0], c.v))
    world = spin_map(c.R)
    for i in range(s):
        k, turned = dim + i, world[:, i]
        state[cv.ravel(), k] = arms[i].ravel()
        state[size + cv.ravel(), k] = (moving[i] - arms[i] @ W.T).ravel()
        axis = np.eye(s)[i]
        back = -np.cross(spin, axis) if dim == 3 else np.zeros(s)
        for b in a.turning:
            state[cw[b], k] = turned[b]
            state[size + cw[b], k] = spin_map(c.R[[b]])[0].T @ back
    for j, b in enumerate(turns):
        state[cw[b], dim + s + j] = motion.own[b] / np.linalg.norm(motion.own[b])
    return names, state
