"""Projection of given velocities onto those that satisfy all constraint rates, nearest in kinetic energy."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from ...bodies.nodal_body import AnyBody, FramedBody
from ...bodies.ports import first_frame
from ...kernels.continuous import mass_of, rigid_mass
from ...kernels.gradient import velocity_count
from ...kernels.state import Configuration, constraint_sizes, derive, displacement_sizes, lever
from ...numerics import checks as check
from ...numerics.arrays import Array, dense
from ...numerics.factors.singular_systems import nearest_change
from ...numerics.rotations import nearest_rotation, skew, spin_map
from ..model.constraints import CONSISTENT, rate_doubt, rate_scale, rates_at, with_velocities
from ..model.placement import Motion, read_motion
from ..model.time_table import TimeTable
from .locked_joints import joint_rates, nearest_locked

if TYPE_CHECKING:
    from ..model.model import Model

AT_REST = 1e-13
"""Velocity, relative to the wanted ones, that counts as zero: round-off of projection for bodies that cannot move."""


def move_with(
    mechanism: Model,
    c: Configuration,
    velocities: Mapping[str, Motion],
    *,
    table: TimeTable,
    time: float,
    at_rest: bool = False,
) -> Configuration:
    """Configuration whose velocities satisfy all constraints and are nearest to given ones of some bodies.

    ``velocities`` maps names of bodies to their motions, which are unchanged if the constraints allow all of them. With
    ``at_rest``, the rates of joints that can rest are minimised first.
    """
    wanted, given = wanted_velocities(mechanism, c, velocities)
    locks = joint_rates(mechanism, c) if at_rest else None
    v = project(mechanism, c, wanted, given, table=table, time=time, locks=locks)
    return with_velocities(mechanism, c, v)


def wanted_velocities(mechanism: Model, c: Configuration, velocities: Mapping[str, Motion]) -> tuple[Array, Array]:
    """Velocities (n_v,) before the projection, and the indices of those that the user gave.

    Given motions are converted to those of the centres of mass; all other velocities are zero.
    """
    cv, cw, _ = mechanism.network.arrays.columns
    wanted, given = np.zeros(velocity_count(mechanism.network.arrays)), []
    for name, motion in velocities.items():
        body = check.lookup("body", name, mechanism.bodies)
        first = first_frame(name, mechanism.bodies)
        velocity, spin = read_motion(name, motion, body.dim, body.turns)
        for i, arm in enumerate(_arms(mechanism, c, body, first), first):
            wanted[cv[i]] = (0.0 if velocity is None else velocity) + skew(spin, body.dim) @ arm
            given += [] if velocity is None else list(cv[i])
            if cw[i, 0] >= 0:
                wanted[cw[i]] = spin_map(c.R[[i]])[0].T @ spin
                given += list(cw[i])
    return wanted, np.array(given, dtype=int)


def _arms(mechanism: Model, c: Configuration, body: AnyBody, first: int) -> Array:
    """World vectors from the origin P of a body to the centres of mass of its frames, (frames, d) [m]."""
    if isinstance(body, FramedBody):
        r = c.r[first : first + len(body.frames)]
        R = c.R[first] if body.turning else nearest_rotation(body.centres, r)
        mean = body.frames[0].inertia.mean_shape @ c.u[mechanism.network.arrays.body_u == first]
        return np.asarray(r - (r[0] - R @ (body.centres[0] + mean)))
    u = c.u[mechanism.network.arrays.body_u == first]
    return np.array([c.R[first] @ (body.inertia.centre + body.inertia.mean_shape @ u)])


def project(
    mechanism: Model, c: Configuration, wanted: Array, given: Array, *, table: TimeTable, time: float, locks: Any = None
) -> Array:
    """Velocities (n_v,) that satisfy G v = b, nearest to the wanted ones in kinetic energy.

    Deformation rates differ from the wanted ones only if rigid motions cannot satisfy the constraints. The velocities
    with the indices ``given`` are kept if the constraints allow all of them, and otherwise projected like all others.
    With ``locks`` L, only velocities with the least ‖L v‖ are admitted. Raises ValueError if no velocities satisfy G v
    = b.
    """
    a = mechanism.network.arrays
    d = derive(a, c)
    G, b = rates_at(mechanism, (c, d), table, time)
    if not b.size:
        return wanted
    sizes, conditions = constraint_sizes(a, d.vector), [(G, b, given[:0])]
    doubt = rate_doubt(a, d, table.doubts(time))
    if given.size:
        sizes = np.concatenate([sizes, np.where(np.isin(given, a.columns[0]), lever(a), 1.0)])
        conditions.insert(0, (*_with_kept((G, b), given, wanted), given))
    projections = ((mass, condition) for mass in _masses(mechanism, c) for condition in conditions)
    for (M, own, directions, unit), (rows, rates, kept) in projections:
        begin = wanted
        if locks is not None:
            units, of_rows = (unit, sizes[: rates.size]), (rows, rates)
            begin = nearest_locked(own, locks, wanted, conditions=of_rows, units=units, spread=directions)
        velocities = _nearest_of(own, begin, conditions=(rows, rates, kept), directions=directions)
        defect = np.abs(rows @ velocities - rates) / sizes[: rates.size]
        scale = max(rate_scale(a, (rows, rates), v, sizes[: rates.size]) for v in (velocities, wanted))
        if defect.max() <= CONSISTENT * scale + doubt:
            moves = _energy(M, velocities) > AT_REST**2 * _energy(M, wanted) or np.any(b)
            return velocities if moves else np.zeros_like(velocities)
    worst = int(np.argmax(defect))
    raise ValueError(
        f"no velocity satisfies all constraints: {mechanism.constraint_names[worst]} is violated by "
        f"{defect[worst] * sizes[worst]:.3g}; the drives contradict the joints"
    )


def _masses(mechanism: Model, c: Configuration) -> Iterator[tuple[Any, Any, Array | None, Array]]:
    """Yield mass matrices for successive projections of velocities: first of rigid motions, then of all velocities.

    Each result has four values. The first is the mass matrix M of those leading velocities of v that the projection may
    change; the second is the mass matrix of the coordinates of their changes. ``directions`` (n_v, n) map these
    coordinates to velocities; they are None if the coordinates are the velocities themselves. The last value has the
    units of the coordinates.
    """
    a, rigid = mechanism.network.arrays, mechanism.rigid_motion
    unit = displacement_sizes(a, lever(a))
    if rigid is not None:
        M, directions = rigid_mass(a, c.u), rigid.frame_velocities(c.r, c.R)
        scale = np.where(np.arange(rigid.size) < rigid.centres.size, lever(a), 1.0)
        yield M, directions.T @ M @ directions + np.diag(rigid.lines), directions, scale
    for mass in (rigid_mass, mass_of):
        M = mass(a, c.u)
        yield M, M, None, unit[: M.shape[0]]


def _nearest_of(M: Any, wanted: Array, *, conditions: tuple[Any, Array, Array], directions: Array | None) -> Array:
    """Velocities nearest to the wanted ones in the metric of the mass matrix M, under conditions.

    ``conditions`` are a matrix, its right-hand side, and the indices of velocities that must not change. The rows of M
    are the leading velocities, or coordinates along the ``directions``.
    """
    rows, rates, kept = conditions
    is_sparse = sparse.issparse(M) and sparse.issparse(rows)
    change = _sparse_change(M, rows, rates - rows @ wanted, kept) if is_sparse else None
    return _nearest(dense(M), rows, rates, wanted=wanted, directions=directions) if change is None else wanted + change


def _with_kept(conditions: tuple[Any, Array], given: Array, wanted: Array) -> tuple[Any, Array]:
    """Matrix and right-hand side of G v = b, extended by rows that prescribe the wanted values of some velocities.

    ``given`` are the indices of these velocities.
    """
    G, b = conditions
    keep = sparse.csr_array((np.ones(given.size), (np.arange(given.size), given)), shape=(given.size, wanted.size))
    rows = sparse.vstack([G, keep]).tocsr() if sparse.issparse(G) else np.vstack([G, keep.toarray()])
    return rows, np.concatenate([b, wanted[given]])


def _sparse_change(M: Any, rows: Any, missing: Array, kept: Array) -> Array | None:
    """Change of all velocities by sparse matrices, as in :func:`_nearest`; None if the rows may be dependent.

    ``missing`` are the defects of the rows. The last rows prescribe the velocities with the indices ``kept``, which do
    not change.
    """
    free = np.setdiff1d(np.arange(M.shape[0]), kept)
    moved = sparse.csr_array(rows[: missing.size - kept.size])[:, free]
    change = np.zeros(rows.shape[1])
    if np.any(missing) and free.size:
        step = nearest_change(sparse.csr_array(M)[free][:, free], moved, missing[: moved.shape[0]])
        if step is None:
            return None
        change[free] = step
    return change


def _nearest(M: Array, rows: Any, rates: Array, *, wanted: Array, directions: Array | None) -> Array:
    """Velocities v with rows · v = rates whose difference from the ``wanted`` ones has the least kinetic energy.

    The equations hold in the sense of least squares. M is the mass matrix of the leading velocities, or of their
    coordinates along the ``directions``; only these velocities are changed.
    """
    active = slice(0, len(M if directions is None else directions))
    moved = dense(rows[:, active])
    moved = moved if directions is None else moved @ directions
    root = np.linalg.cholesky(M)  # in scaled coordinates the nearest solution is the least-norm one
    scaled = np.linalg.solve(root, moved.T).T
    length = np.linalg.norm(scaled, axis=1)
    length = np.where(length > 0.0, length, 1.0)  # rows have different units
    velocities = wanted.copy()
    change = np.linalg.lstsq(scaled / length[:, None], (rates - rows @ wanted) / length, rcond=1e-11)[0]
    step = np.linalg.solve(root.T, change)
    velocities[active] += step if directions is None else directions @ step
    return velocities


def _energy(M: Any, v: Array) -> float:
    """Kinetic energy [J] of the first velocities of v, as many as the mass matrix M has rows."""
    leading = v[: M.shape[0]]
    return 0.5 * float(leading @ (M @ leading))
