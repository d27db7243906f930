"""Static equilibrium and steady rotation of mechanisms, with the joint forces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from . import checks as check
from .assembly import move
from .initial import check_consistent, constraint_rates, explain_redundancy, spring_forces, velocities_of
from .inputs import Forcing, Input
from .kernels.arrays import Arrays, total
from .kernels.continuous import elastic_stress, mass_matrix
from .kernels.gradient import columns
from .kernels.state import Configuration, constraint_sums, derive
from .kernels.tangent import Forces, generalised_force, inertia_force, tangent
from .saddle import least_norm, solve_saddle
from .space import Array, cross, skew, spin_map, spins
from .state import Pose, State, TimeTable, at_rest, configuration, flat

if TYPE_CHECKING:
    from .mechanism import Mechanism

ITERATIONS = 200
SETTLED = 1e-13
"""Correction over the size of the mechanism at which the iteration ends: round-off of the positions."""
STAGNATED = 1e-9
"""Correction that counts as settled where the next one is no smaller: ill-conditioned, but at rest."""
BALANCED = 1e-6
"""Unbalanced force over the largest force up to which a given state counts as an equilibrium."""


class Steady(NamedTuple):
    """A steady motion: world spin (s,) [rad/s] and the velocity field v₀ + Ω × r."""

    spin: Array
    velocity: Array

    def field(self, r: Array) -> Array:
        """Velocities of points (b, d)."""
        return self.velocity + r @ skew(self.spin, r.shape[1]).T

    def centripetal(self, r: Array) -> Array:
        """Accelerations Ω × (v₀ + Ω × r) of points (b, d)."""
        return self.field(r) @ skew(self.spin, r.shape[1]).T


def equilibrium(
    mechanism: Mechanism,
    pose: Pose,
    inputs: Mapping[str, Input],
    spin: Any,
    about: Any,
    time: float,
    redundant: str,
) -> State:
    """See :meth:`flexph.Mechanism.equilibrium`."""
    check.number("time", time)
    check.choice("redundant", redundant, ("refuse", "least_norm"))
    steady = _steady(mechanism, spin, about)
    applied, table = (
        Forcing(mechanism.network.input_slices, inputs, mechanism.layout.dim).at(time),
        TimeTable(mechanism, pose.anchors),
    )
    c = _turning(mechanism, at_rest(mechanism, pose.centres, pose.rotations), steady)
    size = float(max(np.abs(mechanism.network.arrays.node_position).max(initial=0.0), np.ptp(c.r), 1e-300))
    previous = np.inf
    for _ in range(ITERATIONS):
        correction = _correction(mechanism, c, table, time, applied, steady, size)
        c = _moved(mechanism, c, correction, steady)
        change = float(np.abs(correction).max(initial=0.0)) / size
        if change <= SETTLED or (change <= STAGNATED and change > 0.5 * previous):
            return _finished(mechanism, c, pose, table, time, applied, steady, redundant)
        if not np.isfinite(change):
            break
        previous = change
    raise ArithmeticError(
        f"no equilibrium was found in {ITERATIONS} iterations (last correction {change:.1e} of the size of the "
        "mechanism): start from a pose nearer to it, or check that one exists under these loads"
    )


def _steady(mechanism: Mechanism, spin: Any, about: Any) -> Steady:
    dim = mechanism.layout.dim
    turning = np.zeros(spins(dim)) if spin is None else check.array("spin", np.atleast_1d(spin), (spins(dim),))
    centre = np.zeros(dim) if about is None else check.array("about", about, (dim,))
    if np.any(turning) and np.any(mechanism.gravity) and np.any(skew(turning, dim) @ mechanism.gravity):
        raise ValueError(
            f"a steady rotation needs gravity along its axis, got spin {turning} and gravity {mechanism.gravity}"
        )
    return Steady(turning, -skew(turning, dim) @ centre)


def _turning(mechanism: Mechanism, c: Configuration, steady: Steady) -> Configuration:
    """The configuration with the velocities of the steady motion."""
    own = np.einsum("bji,j->bi", spin_map(c.R), steady.spin)
    turns = np.array([b.turns for b in mechanism.bodies.values()])
    return c._replace(v=steady.field(c.r), omega=np.where(turns[:, None], own, 0.0))


def _correction(
    mechanism: Mechanism, c: Configuration, table: TimeTable, time: float, applied: Array, steady: Steady, size: float
) -> Array:
    """A Newton step towards balance, held back by the inertia where the forces are still large.

        (K + μM) ξ − Gᵀλ = −ρ,   G ξ = −g,

    μ the acceleration over the size: it fades with it, and leads to a stable equilibrium from afar.
    """
    a = mechanism.network.arrays
    G, M = constraint_rates(mechanism, c, table, time)[0], mass_matrix(a, c.u)
    gap = _gap(mechanism, c, table, time)
    zero = np.zeros(gap.size)
    force = unbalanced(mechanism, c, table, time, applied, steady, zero)
    found = _saddle(M, G, np.concatenate([-force, zero]))
    acceleration, lam = found[: force.size], found[force.size :]
    weight = np.sqrt(max(float(acceleration @ (M @ acceleration)) / float(a.mass.sum()), 0.0)) / size
    forces = Forces(product_forces(mechanism, table, time, lam), spring_forces(mechanism, c, table.anchors), applied)
    K = tangent(a, c, derive(a, c), forces, steady.spin).stiffness
    balanced = unbalanced(mechanism, c, table, time, applied, steady, lam)
    found = _saddle(K + weight * M, G, np.concatenate([-balanced, -gap]))
    return found[: force.size]


def _saddle(block: Any, G: Any, rhs: Array) -> Array:
    """Solve [[A, −Gᵀ], [G, 0]], in the least-norm sense where it is singular."""
    return solve_saddle(sparse.block_array([[block, -G.T], [G, None]]).tocsr(), rhs)


def unbalanced(
    mechanism: Mechanism,
    c: Configuration,
    table: TimeTable,
    time: float,
    applied: Array,
    steady: Steady,
    lam: Array,
) -> Array:
    """Inertia forces of the steady motion less all forces, on (ṙ, ω, u̇)."""
    a = mechanism.network.arrays
    forces = Forces(product_forces(mechanism, table, time, lam), spring_forces(mechanism, c, table.anchors), applied)
    return inertia_force(a, c, steady.centripetal(c.r)) - generalised_force(a, c, derive(a, c), forces)


def product_forces(mechanism: Mechanism, table: TimeTable, time: float, lam: Array) -> Array:
    """Force on each product from the multipliers."""
    a: Arrays = mechanism.network.arrays
    coefficient, _ = table.at(time)
    return total(a.term_product, lam[a.term_row] * coefficient, a.first.size)


def _gap(mechanism: Mechanism, c: Configuration, table: TimeTable, time: float) -> Array:
    a = mechanism.network.arrays
    coefficient, offset = table.at(time)
    return constraint_sums(a, derive(a, c).product, coefficient, offset)


def _moved(mechanism: Mechanism, c: Configuration, correction: Array, steady: Steady) -> Configuration:
    rigid = mechanism.layout.velocities - mechanism.layout.flexible
    largest = float(np.abs(correction[columns(mechanism.network.arrays)[1].ravel()]).max(initial=0.0))
    correction = correction * min(1.0, 0.5 / largest) if largest > 0.0 else correction
    centres, rotations = move(mechanism, c.r, c.R, correction[:rigid])
    u = c.u + correction[rigid:]
    stressed = c._replace(r=centres, R=rotations, u=u, sigma=elastic_stress(mechanism.network.arrays, u))
    return _turning(mechanism, stressed, steady)


def _finished(
    mechanism: Mechanism,
    c: Configuration,
    pose: Pose,
    table: TimeTable,
    time: float,
    applied: Array,
    steady: Steady,
    redundant: str,
) -> State:
    """The state with the joint forces that balance it; raises unless they do."""
    a = mechanism.network.arrays
    c = c._replace(spring=spring_forces(mechanism, c, pose.anchors)[a.springs.state >= 0])
    G = constraint_rates(mechanism, c, table, time)[0]
    names = explain_redundancy(mechanism, G)
    if names and redundant == "refuse":
        raise ValueError(f"{names}. The joint forces are not unique: redundant='least_norm' takes the smallest")
    force = unbalanced(mechanism, c, table, time, applied, steady, np.zeros(G.shape[0]))
    lam = least_norm(G.T.toarray(), force) if G.shape[0] else np.zeros(0)
    left = np.abs(force - G.T @ lam)
    if left.max(initial=0.0) > BALANCED * max(
        np.abs(force).max(initial=0.0), np.abs(a.weight).max(initial=0.0), 1e-300
    ):
        raise ArithmeticError(f"the iteration settled where forces do not balance: {left.max():.1e} is left")
    state = State(time, flat(mechanism, c), lam, pose.anchors)
    check_consistent(mechanism, state)
    return state


def steady_motion(mechanism: Mechanism, state: State) -> Steady:
    """The steady motion v₀ + Ω × r of a state; raises ValueError where bodies move against each other or deform."""
    c = configuration(mechanism, state.x)
    dim = mechanism.layout.dim
    s = spins(dim)
    rows, values = [], []
    for i, body in enumerate(mechanism.bodies.values()):
        rows.append(np.hstack([np.eye(dim), np.einsum("sij,j->is", cross(dim), c.r[i])]))
        values.append(c.v[i])
        if body.turns:
            rows.append(np.hstack([np.zeros((s, dim)), np.eye(s)]))
            values.append(spin_map(c.R[[i]])[0] @ c.omega[i])
    matrix, given = np.vstack(rows), np.concatenate(values)
    found = np.linalg.lstsq(matrix, given, rcond=None)[0]
    defect = max(np.abs(matrix @ found - given).max(initial=0.0), np.abs(c.du).max(initial=0.0))
    if defect > BALANCED * max(np.abs(velocities_of(mechanism, c)).max(initial=0.0), 1e-12):
        raise ValueError(
            f"the state must be at rest or in one steady rotation: parts move against it by {defect:.2g} (m/s, rad/s)"
        )
    return Steady(found[dim:], found[:dim])
