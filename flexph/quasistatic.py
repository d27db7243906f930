"""The quasi-static elastic start: deformation that balances the inertia forces of the rigid motion."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from .assembly import move
from .initial import constraint_gap, constraint_rates, move_with, spring_forces, velocities_of
from .kernels.continuous import (
    elastic_stiffness,
    elastic_stress,
    kinetic_gradient,
    mass_matrix,
    shifted,
    spring_operator,
    strain_operator,
    structure,
)
from .kernels.springs import resistances
from .kernels.state import Configuration, derive
from .placement import Motion
from .saddle import least_norm
from .space import Array
from .state import TimeTable

if TYPE_CHECKING:
    from .mechanism import Mechanism

PASSES = 60
DIVERGED = 1e3
"""Change over the size of the bodies beyond which the passes lead nowhere."""
SETTLED = 1e-10
"""Change over the size of the bodies at which the passes end: accelerations come from a difference good for that."""


def deform(
    mechanism: Mechanism, c: Configuration, table: TimeTable, time: float, velocities: Mapping[str, Motion]
) -> Configuration:
    """The nearest pose with u, σ that balance the inertia forces at u̇ = ü = 0 and keep the joints closed.

    Newton's method on the position, the rigid accelerations a and the multipliers together, velocities projected anew
    in each pass:

        M_rr a − G_rᵀλ = f_r,   M_ur a + Dᵀσ(u) − G_uᵀλ = f_u,   G_r a = d/dt (b − G v),   g(q) = 0,

    springs by their tangent stiffness.

    Raises ArithmeticError where that does not settle: the motion is too fast for the stiffness.
    """
    size = float(np.abs(mechanism.network.arrays.node_position).max(initial=1e-300))
    change = np.inf
    for _ in range(PASSES):
        c = move_with(mechanism, c, table, time, velocities)
        if change <= SETTLED * size:
            return _close(mechanism, c, table, time)
        moved, bent = _correction(mechanism, c, table, time)
        centres, rotations = move(mechanism, c.r, c.R, moved)
        u = c.u + bent
        c = c._replace(r=centres, R=rotations, u=u, sigma=elastic_stress(mechanism.network.arrays, u))
        change = float(max(np.abs(moved).max(initial=0.0), np.abs(bent).max(initial=0.0)))
        if not change <= DIVERGED * size:
            break
    raise ArithmeticError(
        f"the quasi-static start did not settle (last change {change:.1e} m): the motion is too "
        "fast for the stiffness; start undeformed"
    )


def _correction(mechanism: Mechanism, c: Configuration, table: TimeTable, time: float) -> tuple[Array, Array]:
    """Newton corrections of the rigid position and of u; least-norm where freedoms or multipliers are left open."""
    a = mechanism.network.arrays
    n = a.body_u.size
    M, K, elastic = mass_matrix(a, c.u), _stiffness(mechanism, c), _elastic_force(mechanism, c)
    G, _ = constraint_rates(mechanism, c, table, time)
    r = M.shape[0] - n
    force = _applied(mechanism, c, table)
    springs = sparse.csr_array(M.shape)
    if a.springs.stiffness.size:
        S = spring_operator(a, c, derive(a, c))
        springs = sparse.csr_array(S.T @ sparse.diags_array(a.springs.stiffness) @ S)
    system = sparse.block_array(
        [
            [M[:r, :r], springs[:r, :r], springs[:r, r:], -G[:, :r].T],
            [M[r:, :r], springs[r:, :r], K + springs[r:, r:], -G[:, r:].T],
            [G[:, :r], None, None, None],
            [None, G[:, :r], G[:, r:], None],
        ]
    )
    gap, curvature = constraint_gap(mechanism, c, table, time), _curvature(mechanism, c, table, time)
    rhs = np.concatenate([force[:r], force[r:] - elastic, curvature, -gap])
    found = least_norm(system.toarray(), rhs)
    return found[r : 2 * r], found[2 * r : 2 * r + n]


def _close(mechanism: Mechanism, c: Configuration, table: TimeTable, time: float) -> Configuration:
    """Close the joints to round-off by the least change of the position and, where it takes that, of u."""
    rigid = mechanism.layout.velocities - mechanism.layout.flexible
    for columns in (rigid, rigid, mechanism.layout.velocities):
        gap = constraint_gap(mechanism, c, table, time)
        G, _ = constraint_rates(mechanism, c, table, time)
        step = np.zeros(mechanism.layout.velocities)
        step[:columns] = np.linalg.lstsq(G.toarray()[:, :columns], -gap, rcond=1e-10)[0]
        centres, rotations = move(mechanism, c.r, c.R, step[:rigid])
        u = c.u + step[rigid:]
        c = c._replace(r=centres, R=rotations, u=u, sigma=elastic_stress(mechanism.network.arrays, u))
    return c


def _elastic_force(mechanism: Mechanism, c: Configuration) -> Array:
    a = mechanism.network.arrays
    return strain_operator(a, c.u).T @ elastic_stress(a, c.u)


def _stiffness(mechanism: Mechanism, c: Configuration) -> Any:
    """DᵀC⁻¹D, the geometric stiffness of the stresses, and the centrifugal softening −ω²K."""
    a = mechanism.network.arrays
    made = elastic_stiffness(a, c.u)
    s, w = a.n.shape[0], c.omega[a.body_u]
    for i in range(s):
        for j in range(s):
            made = made - sparse.diags_array(w[:, i] * w[:, j]) @ shifted(a, 1 + s + i * s + j)
    return made


def _curvature(mechanism: Mechanism, c: Configuration, table: TimeTable, time: float) -> Array:
    """d/dt (b − G v) at constant velocities, by a second-order difference along the motion."""
    v = velocities_of(mechanism, c)[: -mechanism.layout.flexible or None]
    fastest = float(np.abs(v).max(initial=0.0)) or 1.0
    step = 1e-5 / fastest  # truncation (1e-5)², round-off 1e-16/1e-5 of the velocities: 1e-10
    values = []
    for ahead in (0.0, step, 2.0 * step):  # to the right of the time, where drives are defined
        centres, rotations = move(mechanism, c.r, c.R, ahead * v)
        G, b = constraint_rates(mechanism, c._replace(r=centres, R=rotations), table, time + ahead)
        values.append(b - G[:, : v.size] @ v)
    return (-3.0 * values[0] + 4.0 * values[1] - values[2]) / (2.0 * step)


def _applied(mechanism: Mechanism, c: Configuration, table: TimeTable) -> Array:
    """Gravity, centrifugal and gyroscopic forces, springs and dampers on (ṙ, ω, u̇)."""
    a = mechanism.network.arrays
    v = velocities_of(mechanism, c)
    force = structure(a, c) @ v
    force[: a.weight.size] += a.weight.ravel()
    force[v.size - a.body_u.size :] -= kinetic_gradient(a, c)
    if a.springs.stiffness.size:
        S = spring_operator(a, c, derive(a, c))
        rate = S @ v
        force -= S.T @ (spring_forces(mechanism, c, table.anchors) + resistances(a.springs, rate) * rate)
    return force
