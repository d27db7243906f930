"""Constraints of a mechanism at a configuration: gaps, rates, admissible velocities, and checks of states."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from ...bodies.nodal_body import AnyBody, FramedBody
from ...bodies.ports import first_frame
from ...kernels.arrays import Arrays
from ...kernels.constraint_sizes import constraint_sizes, lever
from ...kernels.continuous import mass_of, rigid_mass
from ...kernels.gradient import constraint_matrix, velocity_count
from ...kernels.jacobians.blocks import flatten, unflatten
from ...kernels.rates.on_curves import all_at_state, curve_gaps
from ...kernels.rolling import squares
from ...kernels.state import Configuration, Derived, constraint_sums, derive, node_arms, vectors
from ...kernels.values import Means
from ...numerics import checks as check
from ...numerics.arrays import Array, dense
from ...numerics.factors.nearest import nearest_change
from ...numerics.rotations import finite_rotation, nearest_rotation, skew, spin_map
from .placement import Motion, read_motion
from .rate_scales import rate_doubt, rate_scale
from .time_table import TimeTable, spring_values

if TYPE_CHECKING:
    from .model import Model


def move(mechanism: Model, centres: Array, rotations: Array, step: Array) -> tuple[Array, Array]:
    """Centres and rotations moved by rigid increments (translations [m], turns [rad])."""
    a = mechanism.network.arrays
    cv, cw, _ = a.columns
    largest = max((abs(step[k]) for k in cw[cw >= 0]), default=0.0)
    step = step * min(1.0, 0.5 / largest) if largest > 0.0 else step  # at most half a radian at a time
    moved = centres + step[cv]
    turned = np.array(
        [R @ finite_rotation(step[k], a.dim) if k[0] >= 0 else R for R, k in zip(rotations, cw, strict=True)]
    )
    return moved, turned


def extent(mechanism: Model, centres: Array, rotations: Array) -> float:
    """A length of the size of the mechanism [m]: of its bodies, their distances, and the vectors of its joints."""
    a = mechanism.network.arrays
    vector = vectors(a, centres, node_arms(a, rotations, np.zeros(mechanism.layout.flexible)))
    points, between = a.node_moves > 0.0, abs(a.incidence) @ a.node_moves > 0.0  # the others are unit directions
    lengths = (centres - centres[0], a.node_position[points], a.vector_fixed[between], vector[between])
    size = float(max(np.abs(part).max(initial=0.0) for part in lengths))
    return size if size > 0.0 else 1.0  # where there is no length, any will do


AT_REST = 1e-13
"""Velocity over the wanted ones that counts as zero: what projection leaves of bodies that cannot move."""

CONSISTENT = 1e-9
"""Relative defect up to which a projected velocity counts as consistent: rates of drives are known to about this."""


def move_with(
    mechanism: Model, c: Configuration, velocities: Mapping[str, Motion], *, table: TimeTable, time: float
) -> Configuration:
    """The configuration with the admissible velocities nearest to those given by body."""
    wanted, given = wanted_velocities(mechanism, c, velocities)
    return with_velocities(mechanism, c, project(mechanism, c, wanted, given, table=table, time=time))


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


def velocities_of(mechanism: Model, c: Configuration) -> Array:
    """(ṙ, ω, u̇) of a configuration as one vector."""
    return flatten(mechanism.network.arrays, Means(c.v, c.omega, c.du, np.zeros(0)))


def with_velocities(mechanism: Model, c: Configuration, v: Array) -> Configuration:
    """The configuration with other velocities."""
    means = unflatten(mechanism.network.arrays, v, np.zeros(0))
    return c._replace(v=means.v, omega=means.omega, du=means.du)


def spring_forces(mechanism: Model, c: Configuration, table: TimeTable, time: float) -> Array:
    """k (measure − free measure) of every spring-damper."""
    a = mechanism.network.arrays
    if not a.springs.stiffness.size:
        return np.zeros(0)
    return a.springs.stiffness * (spring_values(mechanism, derive(a, c).product) - table.references.at(time))


def constraint_rates(mechanism: Model, c: Configuration, table: TimeTable, time: float) -> tuple[Any, Array]:
    """G and b of the velocity constraints G v = b, b from the drives."""
    G, b = rates_at(mechanism, (c, derive(mechanism.network.arrays, c)), table, time)
    return sparse.csr_array(G), b


def rates_at(
    mechanism: Model, place: tuple[Configuration, Derived], table: TimeTable, time: float
) -> tuple[Any, Array]:
    """G and b at an evaluated configuration; G may be dense."""
    return rates_under(mechanism, place, table.at(time)[0], table.rates(time))


def rates_under(
    mechanism: Model, place: tuple[Configuration, Derived], coefficient: Array, rates: tuple[Array, Array]
) -> tuple[Any, Array]:
    """The same under coefficients, and rates of these and of offsets."""
    a, (c, d), (rate_c, rate_o) = mechanism.network.arrays, place, rates
    G = constraint_matrix(a, c.R, coefficient, arm=d.arm, vector=d.vector)
    return G, -constraint_sums(a, d.product, rate_c, rate_o)


def constraint_gap(mechanism: Model, c: Configuration, table: TimeTable, time: float) -> Array:
    """g(q, t) of all constraints, (g,); zero for nonholonomic rows, which no position breaks."""
    a = mechanism.network.arrays
    return gap_of(a, derive(a, c).product, *table.at(time))


def gap_of(a: Arrays, product: Array, coefficient: Array, offset: Array) -> Array:
    """g(q, t) of all constraints from the products, (g,)."""
    gap = constraint_sums(a, product, coefficient, offset) + squares(a, product)
    return gap + curve_gaps(a.curves, all_at_state(a.curves, product), gap.size)


def project(mechanism: Model, c: Configuration, wanted: Array, given: Array, *, table: TimeTable, time: float) -> Array:
    """Velocities nearest to the wanted ones in kinetic energy with G v = b; deformation rates only if need be.

    Those ``given`` are kept where the constraints allow it, and otherwise take part like the others.
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
    velocities = wanted
    masses: list[tuple[Callable[[Arrays, Array], Any], Array | None]] = [(rigid_mass, None), (mass_of, None)]
    rigid = mechanism.rigid_motion
    if rigid is not None:
        masses.insert(0, (rigid_mass, rigid.ways(c.r, c.R)))
    lines = None if rigid is None else np.diag(rigid.lines)
    tries = itertools.product(masses, conditions)  # of large bodies the last mass is full
    for (mass, ways), (rows, rates, kept) in tries:
        M = mass(a, c.u)
        own = M if ways is None or lines is None else ways.T @ M @ ways + lines
        is_sparse = sparse.issparse(own) and sparse.issparse(rows)
        change = _sparse_change(own, rows, rates - rows @ wanted, kept) if is_sparse else None
        velocities = _nearest(dense(own), rows, rates, wanted=wanted, ways=ways) if change is None else wanted + change
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
