"""Spectrum of small motions about a steady motion with relative motion, such as steady rolling, without its symmetries.

A symmetry shifts the whole motion: a translation or rotation in the world, or the turn of a wheel about its axis. Its
directions g in state space are an invariant subspace of A (A g is a combination of such directions). Small motions
within it lead to a shifted steady motion; the spectrum names them and omits their exponents.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.linalg import eig, lstsq, null_space, qr

from ...contacts.arrays import has_slipping_wheel, refuse_contacts
from ...joints.rows.connection import refuse_other_laws
from ...kernels.state import derive
from ...numerics.arrays import Array
from ...numerics.ranks import singular_vectors
from ...numerics.rotations import skew, spin_map, spins, unit_sweeps
from ...systems.inputs import Input
from ..model.constraints import velocities_of
from ..model.state import State, configuration
from ..model.time_table import laws
from ..statics.small_motion import Spectrum, shape_parts
from ..statics.steady_rotation import is_rigid_motion
from ..statics.whirl import separated, whirl
from .linearised import Reduced, system_of
from .moving_frame import SteadyMotion, moving

if TYPE_CHECKING:
    from ..model.model import Model


SAME = 1e-7
"""Deviation, relative to the size of a direction, up to which a state stays among the symmetries."""


class Symmetries(NamedTuple):
    """Names of the motions that only shift a steady motion, and an orthonormal basis (n, k) of their states z."""

    names: tuple[str, ...]
    basis: Array


def symmetries(motion: SteadyMotion, system: Reduced) -> Symmetries:
    """Symmetries of a steady motion: its translations, rotations and turns of bodies that only shift it.

    They span the largest subspace of such states that is invariant under ż = A z, with A the matrix of ``system``.
    """
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
    amplitudes = basis.T @ z[:, known]
    order = qr(amplitudes, mode="r", pivoting=True)[1][: basis.shape[1]] if known else []
    listed = [names[known[i]] for i in sorted(order)]
    further = basis.shape[1] - len(listed)
    return Symmetries((*listed, *["a combined motion"] * further), basis)


def _null(rows: Array, size: float) -> Array:
    return singular_vectors(rows, tolerance=SAME, size=size).null


def _range(columns: Array) -> Array:
    return singular_vectors(columns, tolerance=SAME, economy=True).range


def _candidates(motion: SteadyMotion) -> tuple[list[str], Array]:
    """Names and states (ξ, ξ̇), the columns of (2 n_v, k), of all motions that may be symmetries.

    These are translations, rotations about the first centre of mass, and turns of single bodies about their axes.
    """
    c, a = motion.c, motion.given.mechanism.network.arrays
    dim, (cv, cw, _) = c.r.shape[1], a.columns
    spin, s, size = motion.given.steady.spin, spins(dim), motion.given.mechanism.layout.velocities
    names = [f"translation along {'xyz'[i]}" for i in range(dim)]
    names += [f"rotation about {'z' if dim == 2 else 'xyz'[i]}" for i in range(s)]
    turns = [i for i, of_frame in enumerate(motion.own) if of_frame.any()]
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


NEUTRAL = 1e-15
"""Singular value, relative to the largest, below which a matrix has the eigenvalue zero."""


def has_relative_motion(mechanism: Model, state: State) -> bool:
    """True if a mechanism moves in a state, but not as one rigid body, or if it rolls or its wheels slip."""
    c = configuration(mechanism, state.x)
    if not np.any(velocities_of(mechanism, c)):
        return False
    rolls = any(law.of_rates for law in laws(mechanism)) or any(map(has_slipping_wheel, mechanism.connections))
    return rolls or not is_rigid_motion(mechanism, state)


class _Modes(NamedTuple):
    """Exponents (k,) [1/s], their states z (n, k), and upper bounds of the errors of the exponents (k,)."""

    values: Array
    states: Array
    doubts: Array


def steady_spectrum(mechanism: Model, state: State, inputs: Mapping[str, Input]) -> Spectrum:
    """Exponents and shapes of small motions about the steady motion of a state, without those along its symmetries."""
    refuse_contacts(mechanism.connections, "mechanism.spectrum about a steady motion", has_slips=True)
    refuse_other_laws(mechanism, "mechanism.spectrum")
    motion = moving(mechanism, state, inputs)
    system = system_of(motion)
    known = symmetries(motion, system)
    modes = _modes(system.matrix, known.basis)
    order = np.lexsort((np.abs(modes.values.real), np.abs(modes.values.imag).round(12)))
    values, shapes = modes.values[order], system.positions @ modes.states[: system.positions.shape[1], order]
    a, spin = mechanism.network.arrays, motion.given.steady.spin
    at = motion.c, derive(a, motion.c)
    if np.any(spin):
        shapes = separated(a, at, spin, values, shapes)
    top = np.take_along_axis(shapes, np.abs(shapes).argmax(axis=0)[None], axis=0)
    shapes = shapes / np.where(top == 0.0, 1.0, top)
    turned = 1j * whirl(a, at, spin, shapes) if np.any(spin) else 0.0
    growing = modes.values.real > modes.doubts
    growth = float(modes.values.real[growing].max(initial=0.0))
    return Spectrum(
        values=values,
        shapes=shapes,
        about="steady motion",
        message=_message(known.names, growth, neutral=int(np.sum(values == 0.0))),
        parts=shape_parts(mechanism),
        fixed_values=values + turned,
        symmetries=known.names,
    )


def _message(names: tuple[str, ...], growth: float, *, neutral: int) -> str:
    verdict = f"unstable: grows with {growth:.4g} 1/s" if growth else "no growing motion"
    left = f"; without its symmetries ({', '.join(names)})" if names else ""
    others = f"; {neutral} of value zero lead to other steady motions, such as another speed" if neutral else ""
    return f"small motions about a steady motion, in the frame that moves with it ({verdict}){left}{others}"


def _modes(matrix: Array, symmetric: Array) -> _Modes:
    """Exponents and states of ż = A z, without those within the invariant subspace with the basis ``symmetric``.

    If A is singular on the complement of this subspace, its zero eigenvalues are returned as exact zeros.
    """
    others = null_space(symmetric.T) if symmetric.shape[1] else np.eye(len(matrix))
    rest = others.T @ matrix @ others
    inner, regular = _regular(rest)
    zeros = len(rest) - len(regular)
    values, y, x = eig(regular, left=True) if regular.size else (np.zeros(0), *[np.zeros((0, 0))] * 2)
    noise = 10.0 * np.finfo(float).eps * len(matrix) * float(np.linalg.norm(regular))
    doubts = noise / np.maximum(np.abs(np.sum(y.conj() * x, axis=0)), np.finfo(float).tiny)
    states = np.hstack(
        [_completed(matrix, symmetric, others @ inner @ x, values), others @ _neutral_directions(rest, zeros)]
    )
    return _Modes(np.append(values, np.zeros(zeros)), states, np.append(doubts, np.zeros(zeros)))


def _regular(matrix: Array) -> tuple[Array, Array]:
    """Orthonormal basis Q (n, r) of an invariant subspace of a matrix A on which A is regular, and QᵀAQ (r, r).

    The subspace contains the range of a power of A, so that A has the eigenvalue zero outside of it.
    """
    inner, rest = np.eye(len(matrix)), matrix
    while rest.size:
        left, size, _ = np.linalg.svd(rest)
        rank = int(np.sum(size > NEUTRAL * size[0]))
        if rank == len(rest):
            break
        inner, rest = inner @ left[:, :rank], left[:, :rank].T @ rest @ left[:, :rank]
    return inner, rest


def _neutral_directions(rest: Array, count: int) -> Array:
    """Unit vectors v (n, count) with the least ‖rest · v‖, as states of the exponent zero."""
    if not count:
        return np.zeros((len(rest), 0), dtype=complex)
    right = np.linalg.svd(rest)[2].conj().T[:, ::-1]
    return right[:, [0] * count].astype(complex) if count > right.shape[1] else right[:, :count].astype(complex)


def _completed(matrix: Array, symmetric: Array, states: Array, values: Array) -> Array:
    """Eigenvectors of a matrix, from their parts outside of its invariant subspace with the basis ``symmetric``.

    ``values`` are the eigenvalues, ``states`` these parts as columns.
    """
    if not symmetric.shape[1]:
        return states
    within, back = symmetric.T @ matrix @ symmetric, symmetric.T @ matrix @ states
    parts = [
        np.linalg.lstsq(s * np.eye(len(within)) - within, column, rcond=None)[0]
        for s, column in zip(values, back.T, strict=True)
    ]
    return states + symmetric @ np.array(parts).T if parts else states
