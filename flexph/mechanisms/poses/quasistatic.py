"""Quasi-static elastic start: the deformation that balances the inertia forces of the rigid motion."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.linalg import null_space

from ...kernels.continuous import (
    elastic_stress,
    gyroscopic_force,
    kinetic_gradient,
    mass_of,
    spring_operator,
    stiffness_of,
    strain_of,
)
from ...kernels.gradient import scale_rows
from ...kernels.springs import resistances, tension_factors
from ...kernels.state import Configuration, derive
from ...numerics.arrays import Array, dense, dense_blocks, sparse_blocks
from ...numerics.corrections import IterationLimits
from ...numerics.factors.singular_systems import least_norm, solve_saddle
from ..model.constraints import (
    constraint_gap,
    move,
    moved,
    rates_at,
    spring_extensions,
    spring_forces,
    spring_states,
    velocities_of,
)
from ..model.placement import Motion
from ..model.time_table import TimeTable
from .admissible_velocities import move_with

if TYPE_CHECKING:
    from ..model.model import Model

SEARCH = IterationLimits(most=60, settled=1e-10, diverged=1e3)
"""Limits of the iteration, on changes relative to the size of the bodies: the smallest is the accuracy of the
accelerations, which are differences; beyond the largest, the iteration diverges."""
FEW = 400
"""Flexible coordinates up to which corrections are least-norm solutions; above, only for singular factors."""


def deform(
    mechanism: Model,
    c: Configuration,
    velocities: Mapping[str, Motion],
    *,
    table: TimeTable,
    time: float,
    at_rest: bool = False,
) -> Configuration:
    """Nearest configuration with closed joints in which elastic forces balance the inertia forces of a rigid motion.

    The motion has u̇ = ü = 0. Newton's method finds the position, the rigid accelerations a and the multipliers
    together; each iteration projects the ``velocities``, given by body, again:

        M_rr a − G_rᵀλ = f_r,   M_ur a + Dᵀσ(u) − G_uᵀλ = f_u,   G_r a = d/dt (b − G v),   g(q) = 0,

    with springs by their tangent stiffness. ``at_rest`` is that of :func:`move_with`.

    Raises ArithmeticError if the iteration does not converge: the motion is then too fast for the stiffness.
    """
    moving = partial(move_with, mechanism, velocities=velocities, table=table, time=time, at_rest=at_rest)
    size = float(np.abs(mechanism.network.arrays.node_position).max(initial=1e-300))

    def corrected(c: Configuration) -> tuple[Configuration, float]:
        c = moving(c)
        step = _correction(mechanism, c, table, time)
        return _moved(mechanism, c, step), float(np.abs(step).max(initial=0.0)) / size

    end = SEARCH.run(c, corrected)
    if not end.settled:
        raise ArithmeticError(
            f"the quasi-static start did not converge (last change {end.defect * size:.1e} m): the motion is too "
            "fast for the stiffness; start undeformed"
        )
    return _close(mechanism, moving(end.value), table, time)


def _moved(mechanism: Model, c: Configuration, step: Array) -> Configuration:
    """Configuration after an increment of positions and deformations, with the stresses of the new deformation."""
    after = moved(mechanism, c, step)
    return after._replace(sigma=elastic_stress(mechanism.network.arrays, after.u))


def _correction(mechanism: Model, c: Configuration, table: TimeTable, time: float) -> Array:
    """Newton correction (n_v,) of positions and deformations; of least norm if it is not unique."""
    a = mechanism.network.arrays
    n = a.body_u.size
    M, elastic = mass_of(a, c.u, deforming=False), strain_of(a, c.u).T @ elastic_stress(a, c.u)
    (K, shift), mean = _stiffness(mechanism, c), _mean(mechanism)
    G, _ = rates_at(mechanism, (c, derive(a, c)), table, time)
    r = M.shape[0] - n
    force = _applied(mechanism, c, table, time)
    g, k = G.shape[0], mean.shape[0]
    _, u, lam, means, size = np.cumsum([r, r, n, g, k]).tolist()  # a, (rigid position, u), λ, means
    blocks = [(0, 0, M[:, :r]), (r, u, K), (0, lam, -G.T), (r, means, shift)]
    if a.springs.stiffness.size:
        S = spring_operator(a, c, derive(a, c))
        slopes = a.springs.slopes(spring_extensions(mechanism, c, table, time), time)
        blocks.append((0, r, S.T @ scale_rows(S, slopes)))
    rows = [(r + n, 0, G[:, :r]), (r + n + g, r, G), (r + n + 2 * g, u, mean), (r + n + 2 * g, means, -np.eye(k))]
    system = (dense_blocks if n <= FEW else sparse_blocks)((r + n + 2 * g + k, size), [*blocks, *rows])
    gap, curvature = constraint_gap(mechanism, c, table, time), _curvature(mechanism, c, table, time)
    rhs = np.concatenate([force[:r], force[r:] - elastic, curvature, -gap, np.zeros(mean.shape[0])])
    solution = least_norm(system, rhs) if n <= FEW else _regular(system, rhs, dense(G[:, :r]))
    return solution[r : 2 * r + n]


def _regular(system: Any, rhs: Array, rigid: Array) -> Array:
    """Solution of the equations of :func:`_correction` for large bodies.

    It contains no rigid motion that the joints leave free. ``rigid`` (g, r) are the constraint rows over the rigid
    velocities.
    """
    open_ways, r = null_space(rigid), rigid.shape[1]
    pinned = sparse.csr_array((open_ways.shape[1], system.shape[1]), dtype=float).tolil()
    pinned[:, r : 2 * r] = open_ways.T
    whole = sparse.vstack([system, pinned]).tocsr()
    if whole.shape[0] != whole.shape[1]:  # redundant constraints
        return least_norm(system.toarray(), rhs)
    return solve_saddle(whole, np.append(rhs, np.zeros(open_ways.shape[1])))


def _close(mechanism: Model, c: Configuration, table: TimeTable, time: float) -> Configuration:
    """Configuration with joints closed by the least change of positions and, if needed, of deformations."""
    rigid = mechanism.layout.velocities - mechanism.layout.flexible
    for columns in (rigid, rigid, mechanism.layout.velocities):
        gap = constraint_gap(mechanism, c, table, time)
        G, _ = rates_at(mechanism, (c, derive(mechanism.network.arrays, c)), table, time)
        step = np.zeros(mechanism.layout.velocities)
        step[:columns] = np.linalg.lstsq(dense(G)[:, :columns], -gap, rcond=1e-10)[0]
        c = _moved(mechanism, c, step)
    return c


def _stiffness(mechanism: Model, c: Configuration) -> tuple[Any, Any]:
    """Tangent stiffness of the deformations in two parts, K₀ (n, n) and S (n, k): it is K₀ + S · mean.

    It consists of DᵀC⁻¹D, the geometric stiffness of the stresses, and centrifugal softening −ω²K. The low-rank shifts
    of the mass integrals to centre of mass and mean axes are kept separately in S where they would destroy sparsity;
    ``mean`` is the result of :func:`_mean`.
    """
    a = mechanism.network.arrays
    stiffness, shift = stiffness_of(a, c.u), 0.0 * _mean(mechanism).T
    s, n, w = a.n.shape[0], a.body_u.size, c.omega[a.body_u]
    for block in range(s * s):
        rows = slice((1 + s + block) * n, (2 + s + block) * n)
        square = w[:, block // s] * w[:, block % s]
        stiffness = stiffness - scale_rows(a.stack[rows], square)
        if a.mean is not None:
            shift = shift + scale_rows(a.border_stack[rows], square)
    return stiffness, shift


def _mean(mechanism: Model) -> Any:
    """Right factors (k, n) of low-rank terms of the mass integrals; no rows if these include the terms."""
    a = mechanism.network.arrays
    return np.zeros((0, a.body_u.size)) if a.mean is None else sparse.csr_array(a.border)


def _curvature(mechanism: Model, c: Configuration, table: TimeTable, time: float) -> Array:
    """Time derivative of b − G v at constant rigid velocities, (g,), by a second-order difference along the motion."""
    v = velocities_of(mechanism, c)[: -mechanism.layout.flexible or None]
    fastest = float(np.abs(v).max(initial=0.0)) or 1.0
    step = 1e-5 / fastest  # truncation (1e-5)², round-off 1e-16/1e-5 of the velocities: 1e-10
    values = []
    for ahead in (0.0, step, 2.0 * step):  # forward in time, where drives are defined
        centres, rotations = move(mechanism, c.r, c.R, ahead * v)
        ahead_c = c._replace(r=centres, R=rotations)
        G, b = rates_at(mechanism, (ahead_c, derive(mechanism.network.arrays, ahead_c)), table, time + ahead)
        values.append(b - G[:, : v.size] @ v)
    return (-3.0 * values[0] + 4.0 * values[1] - values[2]) / (2.0 * step)


def _applied(mechanism: Model, c: Configuration, table: TimeTable, time: float) -> Array:
    """Forces (n_v,) of gravity, inertia at constant velocities, springs and dampers at a configuration."""
    a = mechanism.network.arrays
    v = velocities_of(mechanism, c)
    force = gyroscopic_force(a, c, v)
    force[: a.weight.size] += a.weight.ravel()
    force[v.size - a.body_u.size :] -= kinetic_gradient(a, c)
    if a.springs.stiffness.size:
        S = spring_operator(a, c, derive(a, c))
        rate = S @ v - table.references.rates(time)
        resistance = tension_factors(a.springs, spring_states(mechanism, c, table, time)) * resistances(a.springs, rate)
        force -= S.T @ (spring_forces(mechanism, c, table, time) + resistance * rate)
    return force
