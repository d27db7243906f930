"""Impulses of joints at a state, and impacts at ports by given impulses or Newton's law of restitution.

Impulses μ of the constraint rows change the velocities by M⁻¹Gᵀμ. With S = G M⁻¹Gᵀ, those of S μ = e remove the
velocity defects e = G v + ∂g/∂t: v′ = v − M⁻¹Gᵀμ.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from ...bodies.body import Body
from ...bodies.ports import find_port, split_port
from ...contacts.laws import Rigid
from ...contacts.levels import ImpulseMatrices, impulse_matrices
from ...kernels.arrays import Arrays
from ...kernels.continuous import mass_matrix, mass_of
from ...kernels.gradient import is_sparse, velocity_count, velocity_slices
from ...numerics import checks as check
from ...numerics.arrays import Array
from ...numerics.factors.positive_definite import positive_solver
from ..model.consistency import check_consistent, start_table
from ..model.constraints import port_rates, rates_at, velocities_of, with_velocities
from ..model.state import State, flat

if TYPE_CHECKING:
    from ..model.model import Model


LARGE = 300
"""Number of flexible coordinates above which low-rank shifts are stored separately from their mass matrix."""


def impulses(a: Arrays, u: Array, G: Any, defects: Array) -> Array:
    """Joint impulses μ that change the constraint rates G v by given defects, and the velocity changes M⁻¹Gᵀμ.

    The result (n_v + g, k) has the changes of velocity in its first rows and the impulses in the others. They satisfy G
    M⁻¹Gᵀμ = ``defects`` (g, k), with the mass matrix M at the deformation u.
    """
    rhs = np.zeros((sum(G.shape), defects.shape[1]))
    rhs[G.shape[1] :] = defects
    if not is_sparse(a):
        solution: Array = np.linalg.solve(np.block([[mass_of(a, u), -G.T], [G, np.zeros((len(G), len(G)))]]), rhs)
        return solution
    G, large = sparse.csr_array(G), a.body_u.size > LARGE
    K = sparse.block_array([[mass_matrix(a, u, deforming=not large), -G.T], [G, None]], format="csr")
    return _bordered(a, K, rhs) if large else splu(sparse.csc_array(K)).solve(rhs)


def _bordered(a: Arrays, K: Any, rhs: Array) -> Array:
    """Solution x of (K + M_uu) x = rhs, with the mass matrix M_uu of the deformations u, which K does not contain.

    ``rhs`` is zero in the rows of u. The sparse part of M_uu is factored separately. The low-rank terms that shift it
    to the centres of mass, which would make it dense, are eliminated last, together with all other unknowns.
    """
    u = np.arange(*velocity_slices(a)[1].indices(len(rhs)))
    rest, shifts = np.delete(np.arange(len(rhs)), u), np.flatnonzero(np.diff(a.border.indptr))
    right = sparse.vstack([K[rest][:, u], a.border[shifts]])
    left = sparse.hstack([K[u][:, rest], -a.border_stack[: u.size][:, shifts]])
    across = positive_solver(a.stack[: u.size])(left.toarray())
    corner = sparse.block_diag([K[rest][:, rest], -sparse.eye_array(shifts.size)]).toarray()
    small = np.linalg.solve(corner - right @ across, np.pad(rhs[rest], ((0, shifts.size), (0, 0))))
    solution = np.empty_like(rhs)
    solution[u], solution[rest] = -across @ small, small[: rest.size]
    return solution


HELD = 1e-12
"""Relative size below which the effect of an impulse (compared with that without joints) and velocities are zero."""


def impact_at(
    mechanism: Model,
    state: State,
    port: str,
    *,
    impulse: Array | None,
    restitution: float | None,
    direction: Array | None,
) -> State:
    """Implementation of :meth:`flexph.Mechanism.impact`."""
    if (impulse is None) == (restitution is None):
        raise ValueError("an impact needs either impulse=… or restitution=…")
    if direction is not None and restitution is None:
        raise ValueError("direction= must be omitted with impulse=…, a vector: it is for restitution=… only")
    find_port(port, mechanism.bodies)
    a, table = mechanism.network.arrays, start_table(mechanism, state)
    checked = check_consistent(mechanism, state, table=table)
    place = (checked.c, checked.d)
    rows = port_rates(mechanism, checked.c, port).velocity.full_rows(velocity_count(a))
    level = impulse_matrices(a, place, table.at(state.time)[0], rows)
    v, _ = level.joined(velocities_of(mechanism, checked.c), rates_at(mechanism, place, table, state.time)[1])
    if impulse is not None:
        given = check.array("impulse", impulse, (a.dim,))
    else:
        _refuse_deforming(mechanism, port)
        given = _newton(level, v, port, (restitution, direction))
    x = flat(mechanism, with_velocities(mechanism, checked.c, level.struck(v, given)))
    none = np.zeros_like(state.multipliers)
    return replace(state, x=x, multipliers=none, memory=np.zeros((0, 0)), joint_forces=False)


def _newton(level: ImpulseMatrices, v: Array, port: str, law: tuple[Any, Array | None]) -> Array:
    """Impulse on a port (d,) [N s] by Newton's law: the port rebounds with e times its speed of approach.

    ``law`` is the restitution e and the direction of rebound, by default opposite to the velocity of the port. Raises
    ValueError if the port does not approach, or joints hold it in this direction.
    """
    e, velocity = Rigid(restitution=law[0]).restitution, level.rates(v)
    moves = HELD * float(level.terms(v).max())
    way = -velocity if law[1] is None else check.array("direction", law[1], velocity.shape)
    length = float(np.linalg.norm(way))
    if law[1] is None and length <= moves:
        raise ValueError(f"{port!r} is at rest, so that restitution has no effect: give an impulse=")
    if length == 0.0:
        raise ValueError("direction must not be zero")
    n = way / length
    speed, gives = float(n @ velocity), float(n @ level.D @ n)
    if speed >= -moves:
        raise ValueError(
            f"{port!r} must move against the direction of rebound, got {speed:.3g} m/s along it: reverse the direction"
        )
    if gives <= HELD * float(np.sum((_free(level) @ n) ** 2)):
        raise ValueError(f"joints hold {port!r} along the direction {n.round(6).tolist()}: it cannot bounce there")
    impulse: Array = -(1.0 + e) * speed / gives * n
    return impulse


def _free(level: ImpulseMatrices) -> Array:
    """Matrix F = L⁻¹Wᵀ of a port without joints, with M = L Lᵀ, and W from velocities to that of the port.

    FᵀF maps impulses on the port to changes of its velocity.
    """
    free: Array = np.linalg.solve(level.lower, level.rows.T)
    return free


def _refuse_deforming(mechanism: Model, port: str) -> None:
    _, body, name = split_port(port, mechanism.bodies)
    if not isinstance(body, Body) or sparse.csr_array(body.ports[name].shape).count_nonzero():
        raise ValueError(
            f"restitution is undefined at {port!r}, where the body deforms (the mass that takes part decreases with "
            "the mesh size): give an impulse="
        )
