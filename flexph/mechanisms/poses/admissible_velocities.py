"""Admissible velocities: those nearest to given ones in kinetic energy that keep the rates of all constraints."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from ...bodies.nodal_body import AnyBody, FramedBody
from ...bodies.ports import first_frame
from ...kernels.constraint_sizes import constraint_sizes, displacement_sizes, lever
from ...kernels.continuous import mass_of, rigid_mass
from ...kernels.gradient import velocity_count
from ...kernels.state import Configuration, derive
from ...numerics import checks as check
from ...numerics.arrays import Array, dense
from ...numerics.factors.nearest import nearest_change
from ...numerics.rotations import nearest_rotation, skew, spin_map
from ..model.constraints import CONSISTENT, rates_at, with_velocities
from ..model.placement import Motion, read_motion
from ..model.rate_scales import rate_doubt, rate_scale
from ..model.time_table import TimeTable
from .locked_joints import joint_rates, nearest_locked

if TYPE_CHECKING:
    from ..model.model import Model

AT_REST = 1e-13
"""Velocity over the wanted ones that counts as zero: what projection leaves of bodies that cannot move."""


def move_with(
    mechanism: Model,
    c: Configuration,
    velocities: Mapping[str, Motion],
    *,
    table: TimeTable,
    time: float,
    at_rest: bool = False,
) -> Configuration:
    """The configuration with the admissible velocities nearest to those given by body, free joints perhaps at rest."""
    wanted, given = wanted_velocities(mechanism, c, velocities)
    locks = joint_rates(mechanism, c) if at_rest else None
    v = project(mechanism, c, wanted, given, table=table, time=time, locks=locks)
    return with_velocities(mechanism, c, v)


def wanted_velocities(mechanism: Model, c: Configuration, velocities: Mapping[str, Motion]) -> tuple[Array, Array]:
    """Velocities before projection, those given at P carried to the centre of mass, and the numbers of those given."""
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
    """From the origin P of a body to the centres of mass of its frames in the world, (frames, d) [m]."""
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
    """Velocities nearest to the wanted ones in kinetic energy with G v = b; deformation rates only if need be.

    Those ``given`` are kept where the constraints allow it, and otherwise take part like the others. Of those with the
    least ‖L v‖, with ``locks`` L.
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
    tries = ((mass, condition) for mass in _masses(mechanism, c) for condition in conditions)
    for (M, own, ways, unit), (rows, rates, kept) in tries:
        begin = wanted
        if locks is not None:
            units, of_rows = (unit, sizes[: rates.size]), (rows, rates)
            begin = nearest_locked(own, locks, wanted, conditions=of_rows, units=units, spread=ways)
        velocities = _nearest_of(own, begin, conditions=(rows, rates, kept), ways=ways)
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
    """The masses by which velocities change least, one after the other: without deformation, then with it.

    Each as the mass of the leading velocities, and that of the coordinates whose ``ways`` (n_v, n) they are, None where
    these are the velocities themselves, and the units of the coordinates. Of large bodies the last one is full.
    """
    a, rigid = mechanism.network.arrays, mechanism.rigid_motion
    unit = displacement_sizes(a, lever(a))
    if rigid is not None:
        M, ways = rigid_mass(a, c.u), rigid.ways(c.r, c.R)
        own = np.where(np.arange(rigid.size) < rigid.centres.size, lever(a), 1.0)
        yield M, ways.T @ M @ ways + np.diag(rigid.lines), ways, own
    for mass in (rigid_mass, mass_of):
        M = mass(a, c.u)
        yield M, M, None, unit[: M.shape[0]]


def _nearest_of(M: Any, wanted: Array, *, conditions: tuple[Any, Array, Array], ways: Array | None) -> Array:
    """The velocities nearest to the wanted ones in a mass that meet conditions: rows, rates, and what they keep."""
    rows, rates, kept = conditions
    is_sparse = sparse.issparse(M) and sparse.issparse(rows)
    change = _sparse_change(M, rows, rates - rows @ wanted, kept) if is_sparse else None
    return _nearest(dense(M), rows, rates, wanted=wanted, ways=ways) if change is None else wanted + change


def _with_kept(conditions: tuple[Any, Array], given: Array, wanted: Array) -> tuple[Any, Array]:
    """Conditions G v = b and those that keep what is given of the wanted velocities."""
    G, b = conditions
    keep = sparse.csr_array((np.ones(given.size), (np.arange(given.size), given)), shape=(given.size, wanted.size))
    rows = sparse.vstack([G, keep]).tocsr() if sparse.issparse(G) else np.vstack([G, keep.toarray()])
    return rows, np.concatenate([b, wanted[given]])


def _sparse_change(M: Any, rows: Any, missing: Array, kept: Array) -> Array | None:
    """What :func:`_nearest` adds to the wanted velocities of which rows are ``missing`` rates, by sparse matrices.

    The last rows are those that keep velocities as they are. None where rows may depend on others.
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


def _nearest(M: Array, rows: Any, rates: Array, *, wanted: Array, ways: Array | None) -> Array:
    """Change the leading velocities least in kinetic energy to meet rows v = rates as nearly as can be.

    By all of those that M is the mass of, or in the span of the ``ways``, which then have the mass M.
    """
    active = slice(0, len(M if ways is None else ways))
    moved = dense(rows[:, active])
    moved = moved if ways is None else moved @ ways
    root = np.linalg.cholesky(M)  # scaled, nearest is least-norm
    scaled = np.linalg.solve(root, moved.T).T
    length = np.linalg.norm(scaled, axis=1)
    length = np.where(length > 0.0, length, 1.0)  # rows have different units
    velocities = wanted.copy()
    change = np.linalg.lstsq(scaled / length[:, None], (rates - rows @ wanted) / length, rcond=1e-11)[0]
    step = np.linalg.solve(root.T, change)
    velocities[active] += step if ways is None else ways @ step
    return velocities


def _energy(M: Any, v: Array) -> float:
    """Kinetic energy of the leading velocities, those of M [J]."""
    leading = v[: M.shape[0]]
    return 0.5 * float(leading @ (M @ leading))
