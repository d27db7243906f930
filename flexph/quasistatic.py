"""The quasi-static elastic start: deformation that balances the inertia forces of the rigid motion."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from .assembly import MAX_ITERATIONS, move
from .initial import constraint_rates, project, spring_forces, velocities_of, with_velocities
from .kernels.continuous import (
    elastic_stress,
    kinetic_gradient,
    mass_matrix,
    spring_operator,
    strain_operator,
    structure,
)
from .kernels.gradient import constraint_matrix
from .kernels.state import Configuration, derive
from .space import Array
from .state import TimeTable

if TYPE_CHECKING:
    from .mechanism import Mechanism

PASSES = 60
SETTLED = 1e-13
"""Change of the deformation over the size of the bodies at which the passes end: round-off."""


def deform(mechanism: Mechanism, c: Configuration, table: TimeTable, time: float, wanted: Array) -> Configuration:
    """u, σ with u̇ = ü = 0 that balance the inertia forces; joints closed by the rigid motion.

    Each pass closes the joints with the deformation held, projects the velocities, takes the rigid accelerations and
    joint forces from the constrained equations, and makes one Newton step of the elastic statics under them. Raises
    ArithmeticError where that does not settle: the motion is too fast for the stiffness.
    """
    size = float(np.abs(mechanism.network.arrays.node_position).max(initial=1e-300))
    change = np.inf
    for _ in range(PASSES):
        c = _close(mechanism, c, table, time)
        c = with_velocities(mechanism, c, project(mechanism, c, table, time, wanted))
        if change <= SETTLED * size:
            return c
        u = _statics(mechanism, c, table, time)
        change = float(np.abs(u - c.u).max(initial=0.0))
        c = c._replace(u=u, sigma=elastic_stress(mechanism.network.arrays, u))
    raise ArithmeticError(
        f"the quasi-static start did not settle in {PASSES} passes (last change {change:.1e} m): the motion is too "
        "fast for the stiffness; start undeformed"
    )


def _close(mechanism: Mechanism, c: Configuration, table: TimeTable, time: float) -> Configuration:
    """The rigid motion that closes the joints with the deformation held."""
    a = mechanism.network.arrays
    coefficient, offset = table.at(time)
    size = float(np.abs(a.node_position).max(initial=1e-300))
    for _ in range(MAX_ITERATIONS):
        d = derive(a, c)
        gap = np.bincount(a.term_row, coefficient * d.product[a.term_product], minlength=offset.size) - offset
        if np.abs(gap).max(initial=0.0) <= 1e-14 * size:
            break
        G = sparse.csr_array(constraint_matrix(a, c.R, d.arm, d.vector, coefficient, offset.size)).toarray()
        step = np.linalg.lstsq(G[:, : G.shape[1] - a.body_u.size], -gap, rcond=1e-10)[0]
        if np.abs(step).max() <= 1e-16 * size:
            break
        centres, rotations = move(mechanism, c.r, c.R, step)
        c = c._replace(r=centres, R=rotations)
    return c


def _statics(mechanism: Mechanism, c: Configuration, table: TimeTable, time: float) -> Array:
    """One Newton step of Dᵀσ(u) = f_u − (n + N u)·ω̇ + Gᵀλ at the present accelerations and multipliers."""
    a = mechanism.network.arrays
    M = mass_matrix(a, c.u)
    rigid = M.shape[0] - a.body_u.size
    force = _applied(mechanism, c, table)
    G, _ = constraint_rates(mechanism, c, table, time)
    acceleration, multipliers = _accelerations(mechanism, c, table, time, force[:rigid], M, G)
    load = (force + G.T @ multipliers)[rigid:] - M[rigid:, :rigid] @ acceleration
    D, slopes = strain_operator(a, c.u), sparse.csr_array(a.slopes)
    sigma = elastic_stress(a, c.u)
    K = D.T @ sparse.csr_array(a.stiffness) @ D + slopes.T @ sparse.diags_array(a.weights.T @ sigma) @ slopes
    return c.u + splu(sparse.csc_array(K)).solve(load - D.T @ sigma)


def _accelerations(
    mechanism: Mechanism, c: Configuration, table: TimeTable, time: float, force: Array, M: Any, G: Any
) -> tuple[Array, Array]:
    """Rigid accelerations and multipliers with ü = 0: M_r a − G_rᵀλ = f, G_r a = d/dt (b − G v) at constant v."""
    rigid = force.size
    g, m = G.toarray()[:, :rigid], M.toarray()[:rigid, :rigid]
    K = np.block([[m, -g.T], [g, np.zeros((g.shape[0],) * 2)]])
    found = np.linalg.lstsq(K, np.concatenate([force, _curvature(mechanism, c, table, time)]), rcond=1e-13)[0]
    return found[:rigid], found[rigid:]


def _curvature(mechanism: Mechanism, c: Configuration, table: TimeTable, time: float) -> Array:
    """d/dt (b − G v) at constant velocities, by a central difference along the motion."""
    v = velocities_of(mechanism, c)[: -mechanism.layout.flexible or None]
    fastest = float(np.abs(v).max(initial=0.0)) or 1.0
    step = 1e-5 / fastest  # truncation (1e-5)², round-off 1e-16/1e-5 of the velocities: 1e-10
    ends = []
    for sign in (step, -step):
        centres, rotations = move(mechanism, c.r, c.R, sign * v)
        G, b = constraint_rates(mechanism, c._replace(r=centres, R=rotations), table, time + sign)
        ends.append(b - G[:, : v.size] @ v)
    return (ends[0] - ends[1]) / (2.0 * step)


def _applied(mechanism: Mechanism, c: Configuration, table: TimeTable) -> Array:
    """Gravity, centrifugal and gyroscopic forces, springs and dampers on (ṙ, ω, u̇)."""
    a = mechanism.network.arrays
    v = velocities_of(mechanism, c)
    force = structure(a, c) @ v
    force[: a.weight.size] += a.weight.ravel()
    force[v.size - a.body_u.size :] -= kinetic_gradient(a, c)
    if a.springs.stiffness.size:
        S = spring_operator(a, c, derive(a, c))
        force -= S.T @ (spring_forces(mechanism, c, table.anchors) + a.springs.damping * (S @ v))
    return force
