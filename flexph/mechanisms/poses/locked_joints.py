"""Initial velocities with free joints at rest: joint rates, and velocities that minimise them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.linalg import lu_factor, lu_solve
from scipy.sparse.linalg import splu

from ...joints.rows.connection import Connection
from ...joints.rows.laws import Contact, Rolling
from ...joints.rows.vectors import Ground, PortName
from ...kernels.gradient import is_sparse, kept, scale_both, scale_rows, stacked_rows, velocity_count
from ...kernels.state import Configuration, lever
from ...numerics.arrays import Array, dense_blocks, sparse_blocks
from ...numerics.corrections import IterationLimits
from ...numerics.rotations import unit_sweeps
from ..model.constraints import PortRates, VelocityRows, port_rates

if TYPE_CHECKING:
    from ..model.model import Model

INERTIA, VIOLATED = 1e-8, 1e-6
"""Weights of the inertia and of the violation of conditions, relative to that of the joint rates; a few iterations
satisfy both to round-off."""
PASSES = IterationLimits(most=100, settled=1e-14, stagnated=1e-10)
"""Limits of the iteration, on changes of velocities relative to the largest one."""


def locked_joints(mechanism: Model) -> list[Connection]:
    """Joints of a mechanism that :func:`can_lock` admits, so that they may be assumed at rest."""
    return [c for c in mechanism.connections if can_lock(c)]


def can_lock(joint: Connection) -> bool:
    """True for a joint that constrains positions or directions of two ports.

    It is False for a drive, a wheel, or a disc on the ground.
    """
    if not joint.rows or joint.kind == "drive" or len(joint.ports) != 2:
        return False
    return not any(isinstance(row.law, Contact | Rolling) for row in joint.rows)


def joint_rates(mechanism: Model, c: Configuration) -> Any:
    """Matrix L of the joint rates L v, d + s for each joint that can be locked, (joints·(d + s), n_v).

    They are the relative velocities and spins of both ports of a joint, and vanish if both move as one body. Velocities
    are divided by a length of the mechanism, so that all rates are in rad/s. L is dense or sparse as the arrays are.
    """
    a, joints = mechanism.network.arrays, locked_joints(mechanism)
    rates = [_rates_of(mechanism, c, joint) for joint in joints]
    height = a.dim + a.n.shape[0]
    rows = [
        np.repeat(np.arange(height) + height * k, velocity_rows.columns.size) for k, velocity_rows in enumerate(rates)
    ]
    columns = [np.tile(velocity_rows.columns, height) for velocity_rows in rates]
    entries = [velocity_rows.entries.ravel() for velocity_rows in rates]
    shape = height * len(joints), velocity_count(a)
    if not rates:
        return kept(a, np.zeros(shape))
    where = np.concatenate(rows), np.concatenate(columns).astype(int)
    if is_sparse(a):
        return sparse.csr_array((np.concatenate(entries), where), shape=shape)
    matrix = np.zeros(shape)
    np.add.at(matrix, where, np.concatenate(entries))
    return matrix


def _rates_of(mechanism: Model, c: Configuration, joint: Connection) -> VelocityRows:
    """Matrix from velocities to the relative motion of the ports of one joint, (d + s, n_v).

    Its rows are v₁ − v₂ − ω × (p₁ − p₂), divided by a length, and ω₁ − ω₂ if both sections turn. ω is the spin of the
    second port, or of the first one if the second has none.
    """
    a, (first, second) = mechanism.network.arrays, (_rates(mechanism, c, port) for port in joint.ports)
    parts = [(first.velocity, 1.0 / lever(a), 0), (second.velocity, -1.0 / lever(a), 0)]
    turning = first.spin if second.spin is None else second.spin
    if turning is not None:
        swept = unit_sweeps((first.position - second.position)[None])[0].T @ turning.entries
        parts.append((VelocityRows(turning.columns, swept), -1.0 / lever(a), 0))
    if first.spin is not None and second.spin is not None:
        parts += [(first.spin, 1.0, a.dim), (second.spin, -1.0, a.dim)]
    columns = np.concatenate([velocity_rows.columns for velocity_rows, _, _ in parts])
    entries, start = np.zeros((a.dim + a.n.shape[0], columns.size)), 0
    for velocity_rows, factor, top in parts:
        end = start + velocity_rows.columns.size
        entries[top : top + len(velocity_rows.entries), start:end] = factor * velocity_rows.entries
        start = end
    return VelocityRows(columns, entries)


def _rates(mechanism: Model, c: Configuration, port: PortName) -> PortRates:
    """World position of a port, and matrices from velocities to its velocity and spin; empty for the ground."""
    if not isinstance(port, Ground):
        return port_rates(mechanism, c, port)
    a, none = mechanism.network.arrays, np.zeros(0, dtype=int)
    still = VelocityRows(none, np.zeros((a.dim, 0)))
    return PortRates(np.zeros(a.dim), still, VelocityRows(none, np.zeros((a.n.shape[0], 0))))


def nearest_locked(
    M: Any, L: Any, wanted: Array, *, conditions: tuple[Any, Array], units: tuple[Array, Array], spread: Any
) -> Array:
    """Velocities v = wanted + T s that satisfy rows · v = rates with the least ‖L v‖, and among these the least sᵀM s.

    The matrix T, ``spread``, maps s to the leading velocities; if it is None, s are these velocities. ``conditions``
    are rows and rates; ``units`` are scales of s (n,) and of the rows. With A = (rows, L), r = (rates, 0) and small ε
    and δ, each iteration solves

        ε M (s − s₀) + TᵀAᵀμ = 0,   A(wanted + T s) − r + y = D μ,   D = diag(δ of rows, 1 of L),

    from the last s₀, and adds the defects of the rows to y (proximal point method). It converges to the least ‖L v‖ and
    the least sᵀM s; as it is regularised, rows may be dependent.
    """
    (rows, rates), (unit, size), n = conditions, units, M.shape[0]
    A = stacked_rows(scale_rows(rows, 1.0 / size), L)
    r, holds = np.concatenate([rates / size, np.zeros(L.shape[0])]), np.arange(size.size + L.shape[0]) < size.size
    is_dense = not (sparse.issparse(A) or sparse.issparse(M))
    blocks = dense_blocks if is_dense else sparse_blocks
    T = blocks((wanted.size, n), [(0, 0, np.diag(unit) if spread is None else spread * unit)])
    inertia = scale_both(M, unit, unit)
    inertia, B, D = INERTIA / float(inertia.diagonal().max()) * inertia, A @ T, np.diag(np.where(holds, VIOLATED, 1.0))
    matrix = blocks((n + r.size,) * 2, [(0, 0, inertia), (0, n, B.T), (n, 0, B), (n, n, -D)])
    solve = partial(lu_solve, lu_factor(matrix)) if is_dense else splu(sparse.csc_array(matrix)).solve

    def corrected(at: tuple[Array, Array]) -> tuple[tuple[Array, Array], float]:
        s, y = at
        moved = solve(np.concatenate([inertia @ s, r - A @ wanted - y]))[:n]
        v = wanted + T @ moved
        change = float(np.abs(moved - s).max(initial=0.0) / max(np.abs(v).max(initial=0.0), 1e-300))
        return (moved, y + np.where(holds, A @ v - r, 0.0)), change

    return np.asarray(wanted + T @ PASSES.run((np.zeros(n), np.zeros(r.size)), corrected).value[0])
