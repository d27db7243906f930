"""Natural frequencies of a mechanism at many poses, with terms that do not depend on the pose computed once.

Bodies at rest are described by their free modes, M-orthonormal, with the squares Λ of their frequencies (zero for rigid
motions). A pose enters by the rows Ĝ of its joints over these coordinates. The lowest frequencies on the null space of
Ĝ follow from the largest eigenvalues 1/(ω² + s) of

    (1 − QQᵀ) (Λ + s)⁻¹ (1 − QQᵀ),   range Q = range (Λ + s)⁻½ Ĝᵀ,

in coordinates scaled by (Λ + s)½, with a shift s below all frequencies of the bodies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.linalg import cholesky, solve_triangular, svd

from ...bodies.body import Body
from ...bodies.floating.linear_system import matrices_at_rest
from ...contacts.arrays import refuse_contacts
from ...display.bars import progress
from ...joints.rows.connection import measures, refuse_other_laws
from ...linear.eigenmodes.modes import eigenfrequencies
from ...linear.responses.sweep import SPARE as SPARE_MODES
from ...linear.responses.sweep import Sweep, followed, sweep, swept
from ...numerics import checks as check
from ...numerics.arrays import Array
from ...numerics.ranks import rank_of
from ...numerics.rotations import unit_sweeps
from ..model.state import Pose
from ..model.time_table import laws
from ..poses.pose_stack import closed_joints, stacked
from .linearization import linearize, refuse_gravity

if TYPE_CHECKING:
    from ..model.model import Model

FEW = 300
"""Number of modes of all bodies up to which this method is used."""
BELOW = 1e-3
"""Shift, relative to the square of the lowest frequency of a body."""
STEPS, KEPT, SPARE = 5, 3, 2
"""Number of Krylov blocks, number of last blocks that span the space, and extra vectors in a block."""
AT_ONCE = 10_000
"""Number of entries of joint rows in poses that are treated together; small arrays stay in the cache."""
MARGIN = 1e-9
"""Admitted relative error of ω²."""
DEPENDENT = 1e-8
"""Sine of the angle between a row and those before it up to which it may be dependent."""
ZERO, CERTAIN = 1e-13, 1e-6
"""Square of a frequency, relative to the shift, up to which it is zero, and from which on it certainly is not."""


def eigenfrequencies_at(mechanism: Model, poses: Sequence[Pose], count: int) -> Array:
    """Implementation of :meth:`flexph.Mechanism.eigenfrequencies`."""
    refuse_contacts(mechanism.connections, "mechanism.eigenfrequencies", has_curves=True)
    refuse_other_laws(mechanism, "mechanism.eigenfrequencies")
    count = check.count("count", count)
    refuse_gravity(mechanism)
    if not len(poses):
        return np.zeros((0, count))
    given = stacked(poses)
    squares, certain = np.zeros((len(given), count)), np.zeros(len(given), dtype=bool)
    if _has_modes(mechanism):
        (joints, tangents), basis = closed_joints(mechanism, given), mechanism.once(_basis)
        rows = np.tensordot(
            joints.forces(tangents), basis.motions, axes=([2, 3], [0, 1])
        )  # joint rows over the modes, (k, g, N)
        squares, certain = _squares(basis, rows, count)
    frequencies = np.sqrt(squares)
    for i in progress(np.flatnonzero(~certain).tolist(), delay=1.0, unit="pose"):
        frequencies[i] = _alone(mechanism, given[i], count)
    return frequencies


def sweep_over(mechanism: Model, poses: Sequence[Pose], values: Array, *, count: int, name: str, follow: bool) -> Sweep:
    """Implementation of :meth:`flexph.Mechanism.sweep`."""
    refuse_contacts(mechanism.connections, "mechanism.sweep", has_curves=True)
    refuse_other_laws(mechanism, "mechanism.sweep")
    count = check.count("count", count)
    grid = check.array("values", values, (None,))
    if not grid.size or len(poses) != grid.size:
        raise ValueError(f"poses and values must be equally many, at least one, got {len(poses)} and {grid.size}")
    refuse_gravity(mechanism)
    given = stacked(poses)
    if _has_modes(mechanism):
        (joints, tangents), basis = closed_joints(mechanism, given), mechanism.once(_basis)
        rows = np.tensordot(joints.forces(tangents), basis.motions, axes=([2, 3], [0, 1]))
        for wanted in (count + SPARE_MODES, count) if follow else (count,):
            lowest = _projected(basis, rows, wanted, len(basis.squares))
            if lowest.certain.all():
                return swept(name, grid, _branches(basis, lowest, count, follow=follow))
    by_value = dict(zip(range(grid.size), given, strict=True))
    one_by_one = sweep(lambda k: linearize(mechanism, by_value[int(k)]), range(grid.size), count=count, follow=follow)
    return replace(one_by_one, name=name, values=grid)


def _branches(basis: _Basis, lowest: _Lowest, count: int, *, follow: bool) -> tuple[Array, Array]:
    """Poles iω (k, count) of the modes at k poses, and the similarity of the modes at successive poses (k − 1, count).

    The similarity is |aᴴE b|²/4 by kinetic and elastic energy. Modes are followed from pose to pose, or sorted by
    frequency.
    """
    omega, x = np.sqrt(lowest.squares), lowest.shapes
    if not follow:
        return 1j * omega[:, :count], np.ones((len(omega) - 1, count))
    kinetic = np.matmul(x[:-1].transpose(0, 2, 1), x[1:])
    elastic = np.matmul((basis.squares[:, None] * x[:-1]).transpose(0, 2, 1), x[1:])
    alike = 0.25 * (kinetic + elastic / (omega[:-1, :, None] * omega[1:, None])) ** 2
    return followed(list(1j * omega), count, lambda k, own: np.minimum(alike[k - 1][own], 1.0))


def _alone(mechanism: Model, pose: Pose, count: int) -> Array:
    """Lowest natural frequencies [rad/s] at a single pose, (count,); raises ValueError if there are fewer."""
    lowest = eigenfrequencies(linearize(mechanism, pose), count)
    if lowest.size < count:
        raise ValueError(f"count={count} exceeds the number of frequencies of the mechanism, {lowest.size}")
    return lowest


class _Basis(NamedTuple):
    """N modes of all bodies at rest, each body free of its joints.

    ``squares`` Λ (N,) are the squares of their frequencies, ``shift`` is s of the module, ``motions`` (nodes, d, N) are
    the motions of the nodes in body axes.
    """

    squares: Array
    shift: float
    motions: Array


def _has_modes(mechanism: Model) -> bool:
    """True if the frequencies of a mechanism can follow from the modes of its bodies.

    It must be small, undamped, without springs and nodal bodies, and its constraints must be functions of products V·W.
    """
    bodies = mechanism.frames.values()
    if sum(b.size for b in bodies) > FEW or not any(b.size for b in bodies) or list(measures(mechanism.connections)):
        return False
    if mechanism.rigid_motion is not None:
        return False
    undamped = not any(b.elasticity is not None and b.elasticity.is_damped for b in bodies)
    joints = [law.products for law in laws(mechanism)]
    return undamped and bool(joints) and all(joints) and not any(b.unshifted for b in bodies)


def _basis(mechanism: Model) -> _Basis:
    a, bodies = mechanism.network.arrays, list(mechanism.frames.values())
    modes_of = [body.once(_modes) for body in bodies]
    squares = np.concatenate([values for values, _ in modes_of])
    columns = np.cumsum([0, *(values.size for values, _ in modes_of)])
    shape = mechanism.network.unshifted["node_shape"].toarray().reshape(len(a.node_body), a.dim, -1)
    motions = np.zeros((len(a.node_body), a.dim, squares.size))
    for node, number in enumerate(a.node_body):
        body, moves = bodies[number], a.node_moves[node]
        lever = a.node_position[node] + moves * body.inertia.centre
        turning = unit_sweeps(lever[None])[0].T if body.turns else np.zeros((a.dim, 0))
        states = np.hstack([moves * np.eye(a.dim), turning, shape[node][:, a.body_u == number]])
        motions[node][:, columns[number] : columns[number + 1]] = states @ modes_of[number][1]
    return _Basis(squares, BELOW * float(squares[squares > 0.0].min()), motions)


def _modes(body: Body) -> tuple[Array, Array]:
    """Squares of the frequencies of a free body at rest, (n,), and its M-orthonormal modes (n, n).

    Rigid motions have the frequency zero.
    """
    M, C, D = (part.toarray() for part in matrices_at_rest(body))
    mass, compliance = cholesky(M, lower=True), cholesky(C, lower=True)
    scaled = solve_triangular(mass, solve_triangular(compliance, D, lower=True).T, lower=True).T
    _, values, modes = svd(scaled, full_matrices=True)
    squares = np.zeros(len(modes))
    rank = rank_of(D)
    squares[:rank] = values[:rank] ** 2
    return squares, solve_triangular(mass, modes.T, lower=True, trans=1)


def _squares(basis: _Basis, rows: Array, count: int) -> tuple[Array, Array]:
    """Lowest ω² > 0 of k poses, (k, count), and True for each pose whose values are verified (see :func:`_projected`).

    ``rows`` (k, g, N) are the joints of the poses over the modes of the bodies.
    """
    k, g, n = rows.shape
    squares, certain = np.zeros((k, count)), np.zeros(k, dtype=bool)
    width = count + max(int((basis.squares == 0.0).sum()) - g, 0) + SPARE
    for size in (width, n) if 2 * KEPT * width < n else (n,):
        left = np.flatnonzero(~certain)
        for some in np.array_split(left, -(-left.size * g * n // AT_ONCE)) if left.size else ():
            lowest = _projected(basis, rows[some], count, size, shapes=False)
            squares[some], certain[some] = lowest.squares, lowest.certain
    return squares, certain


class _Lowest(NamedTuple):
    """Lowest ω² > 0 of k poses, (k, count), with their M-orthonormal shapes (k, N, count).

    ``certain`` is True for verified poses, (k,).
    """

    squares: Array
    certain: Array
    shapes: Array


def _projected(basis: _Basis, rows: Array, count: int, width: int, *, shapes: bool = True) -> _Lowest:
    """Lowest ω² > 0 of poses with the joint rows (k, g, N), by a Krylov space with blocks of ``width`` vectors.

    If ``width`` is N, the whole space is used. A pose is verified if its rows are independent, no square lies between
    round-off and the shift, and the numbers of squares just below and just above the last one agree with Sylvester's
    law of inertia (projected ones are never low).
    """
    root = 1.0 / np.sqrt(basis.squares + basis.shift)
    scaled = rows * root
    length = np.linalg.norm(scaled, axis=2, keepdims=True)
    Q, R = np.linalg.qr((scaled / np.where(length > 0.0, length, 1.0)).transpose(0, 2, 1))
    independent = np.abs(np.diagonal(R, axis1=1, axis2=2)).min(axis=1, initial=1.0) > DEPENDENT
    space, matrix = _compressed(Q, root**2, width)
    values, vectors = np.linalg.eigh(matrix) if shapes else (np.linalg.eigvalsh(matrix), np.zeros((len(rows), 0, 0)))
    squares = 1.0 / np.maximum(values[:, ::-1][:, : rows.shape[2] - rows.shape[1]], np.finfo(float).tiny) - basis.shift
    zeros, last = (squares <= ZERO * basis.shift).sum(axis=1), squares.shape[1] - 1
    wanted = np.minimum(zeros[:, None] + np.arange(count), last)
    lowest = np.take_along_axis(squares, wanted, axis=1)
    certain = independent & (zeros + count <= last + 1) & (lowest[:, 0] > CERTAIN * basis.shift)
    lowest = np.where(certain[:, None], lowest, 1.0)
    below = _below(basis, rows, lowest[:, -1:] * (1.0 + MARGIN * np.array([-1.0, 1.0])))
    certain &= (below[:, 0] < zeros + count) & (below[:, 1] == zeros + count)
    if shapes:
        wanted_vectors = np.take_along_axis(vectors[:, :, ::-1], wanted[:, None], axis=2)
        vectors = root[:, None] * np.matmul(space, wanted_vectors)
        vectors = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
    return _Lowest(lowest, certain, vectors)


def _compressed(Q: Array, held: Array, width: int) -> tuple[Array, Array]:
    """Bases V = (1 − QQᵀ)W (k, N, j), and matrices Vᵀ diag(held) V (k, j, j), for k poses.

    The columns of Q (k, N, g) are orthonormal. W spans a Krylov space of (1 − QQᵀ) diag(held) by blocks of ``width``
    vectors, or the whole space if ``width`` is N.
    """
    n = held.size
    off = lambda x: x - np.matmul(Q, np.matmul(Q.transpose(0, 2, 1), x))  # noqa: E731
    space = np.broadcast_to(np.eye(n), (len(Q), n, n))
    if width < n:
        space = _krylov(lambda x: off(held[:, None] * x), off(np.random.default_rng(0).normal(size=(n, width))))
    inner = off(space)
    return inner, np.matmul(inner.transpose(0, 2, 1), held[:, None] * inner)


def _krylov(product: Callable[[Array], Array], block: Array) -> Array:
    """Orthonormal basis of the last Krylov blocks A^j X for k poses, by Gram-Schmidt twice.

    The first blocks are dropped. ``product`` multiplies a block by A; ``block`` is X.
    """
    for _ in range(STEPS - KEPT):
        block = np.linalg.qr(product(block))[0]
    space = block
    while space.shape[2] < KEPT * block.shape[2]:
        block = product(block)
        for _ in range(2):
            block = block - np.matmul(space, np.matmul(space.transpose(0, 2, 1), block))
        block = np.linalg.qr(block)[0]
        space = np.concatenate([space, block], axis=2)
    return space


def _below(basis: _Basis, rows: Array, squares: Array) -> Array:
    """Numbers (k, j) of ω² of each pose that are below ``squares`` (k, j), by Sylvester's law of inertia.

    The matrix is Λ − s bordered by the joint rows, for each s of ``squares``.
    """
    apart = basis.squares - squares[:, :, None]
    length = np.linalg.norm(rows[:, None] / np.sqrt(np.abs(apart))[:, :, None], axis=3)
    unit = rows[:, None] / np.where(length > 0.0, length, 1.0)[:, :, :, None]
    inner = np.matmul(unit / apart[:, :, None], unit.transpose(0, 1, 3, 2))
    positive = (np.linalg.eigvalsh(inner) > 0.0).sum(axis=2)
    return (apart < 0.0).sum(axis=2) + positive - rows.shape[1]
