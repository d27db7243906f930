"""Small motions of a mechanism about rest ([flex] sec. 5.3)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from ...bodies.linear_system import DENSE_LIMIT, linear_body, to_dense
from ...bodies.mean_axes import unshifted
from ...interconnection.couplings import constrain
from ...interconnection.direct_sum import join
from ...joints.rows.connection import measures
from ...kernels.arrays import Arrays
from ...kernels.continuous import input_matrix, spring_rates
from ...kernels.gradient import constraint_matrix, product_matrix, velocity_count
from ...kernels.springs import damping_slopes
from ...kernels.state import node_arms, products, vectors
from ...numerics.arrays import Array
from ...systems.linear import LinearPHDAE
from ..model.state import Pose, product_values
from ..model.time_table import TimeTable, spring_values

if TYPE_CHECKING:
    from ..model.model import Model

UNLOADED = 1e-9
"""Stretch of a spring, over the size of bodies and the distances between them, or turn [rad] up to which it carries
nothing."""


def linearize(mechanism: Model, pose: Pose) -> LinearPHDAE:
    """Small motions about rest at an unloaded pose: bodies joined, springs and dampers added, 0 = G x for the joints.

    Drives are locked. The matrices are sparse above 500 states, dense below. Raises ValueError where gravity or a
    spring loads the pose: the geometric stiffness of the loads would be missing.
    """
    _refuse_loads(mechanism, pose)
    if any(body.unshifted for body in mechanism.bodies.values()):
        bodies = {name: body.unshifted or body for name, body in mechanism.bodies.items()}
        return unshifted(linearize(replace(mechanism, bodies=bodies), pose), mechanism.bodies)
    system = mechanism.once(bodies_at_rest)
    rest = _at_rest(mechanism, pose, system)
    coefficient, offset = TimeTable(mechanism, pose.anchors).at(0.0)
    matrix = constraint_matrix(rest.arrays, rest.R, coefficient, arm=rest.arm, vector=rest.vector)
    rows = sparse.csr_array(matrix) @ rest.velocities
    system = _with_springs(mechanism, rest, _with_inputs(mechanism, rest, system))
    rows = sparse.hstack([rows, sparse.csr_array((offset.size, system.size - rows.shape[1]))]).tocsr()
    system = constrain(system, rows, mechanism.constraint_names)
    return system if system.size > DENSE_LIMIT else to_dense(system)


def bodies_at_rest(model: Model) -> LinearPHDAE:
    """All bodies at rest side by side, not connected: the same at every pose."""
    return join(*(linear_body(body, name) for name, body in model.bodies.items()))


def _refuse_loads(mechanism: Model, pose: Pose) -> None:
    if np.any(mechanism.gravity):
        raise ValueError(
            "linearize needs an unloaded pose: gravity must be zero, since the geometric stiffness of the joint forces "
            "it causes is not part of [flex] eq. (45); take mechanism.linearize(mechanism.equilibrium(pose))"
        )
    a = mechanism.network.arrays
    arms = node_arms(a, pose.rotations, np.zeros(a.body_u.size))
    values = spring_values(mechanism, product_values(mechanism, pose.centres, arms))
    points = (a.node_position[a.node_moves > 0.0], pose.centres - pose.centres[0])
    length = max(float(np.abs(part).max(initial=0.0)) for part in points)
    size = {"length": length, "component": length, "angle": 1.0}
    for i, (name, measure) in enumerate(measures(mechanism.connections)):
        if a.springs.stiffness[i] and abs(values[i] - pose.anchors.springs[i]) > UNLOADED * size[measure.kind]:
            raise ValueError(f"linearize needs an unloaded pose: {name} is stretched in it")


class _Rest(NamedTuple):
    """A mechanism at rest in a pose, with the origins P of the bodies in place of their centres of mass.

    ``arrays`` have the nodes and shapes as seen from there, sparse; ``velocities`` take the states of all bodies to
    (ṙ_P, ω, u̇) of all bodies, sparse (n_v, n). Vectors of the joints (v, d) and their products (p,) are in the world.
    """

    arrays: Arrays
    R: Array
    arm: Array
    vector: Array
    product: Array
    velocities: Any


def _at_rest(mechanism: Model, pose: Pose, system: LinearPHDAE) -> _Rest:
    a, R = mechanism.network.arrays, pose.rotations
    vector = vectors(a, pose.centres, node_arms(a, R, np.zeros(a.body_u.size)))
    centre = np.array([body.inertia.centre for body in mechanism.bodies.values()])
    position = a.node_position + a.node_moves[:, None] * centre[a.node_body]
    seen = a._replace(node_position=position, node_shape=mechanism.network.raw_shape, mean=None)
    arm = node_arms(seen, R, np.zeros(a.body_u.size))
    return _Rest(seen, R, arm, vector, products(a, vector), _velocities(mechanism, R, system))


def _velocities(mechanism: Model, R: Array, system: LinearPHDAE) -> Any:
    """(ṙ_P, ω, u̇) of all bodies from their states, sparse (n_v, n)."""
    a, rows, columns, values = mechanism.network.arrays, [], [], []
    v, omega, u = a.columns
    for i, name in enumerate(mechanism.bodies):
        own = u[a.body_u == i]
        blocks = {
            "velocity": (v[i], R[i]),
            "spin": (omega[i], np.eye(omega.shape[1])),
            "deformation_rate": (own, sparse.eye_array(own.size)),
        }
        for kind, (numbers, block) in blocks.items():
            part, entries = system.parts.get(f"{name}.{kind}"), sparse.coo_array(block)
            if part is not None:
                rows.append(numbers[entries.row])
                columns.append(part.start + entries.col)
                values.append(entries.data)
    places = np.concatenate(rows), np.concatenate(columns)
    return sparse.csr_array((np.concatenate(values), places), shape=(velocity_count(a), system.size))


def _with_inputs(mechanism: Model, rest: _Rest, system: LinearPHDAE) -> LinearPHDAE:
    """External ports: forces on nodes, torques on sections; those that follow a section in its axes."""
    B = rest.velocities.T @ input_matrix(rest.arrays, rest.R, rest.arm)
    return replace(system, B=sparse.csr_array(B), ports=dict(mechanism.network.input_slices))


def _with_springs(mechanism: Model, rest: _Rest, system: LinearPHDAE) -> LinearPHDAE:
    """Spring forces as states with compliance 1/k, dampers in R."""
    springs, elements = mechanism.network.arrays.springs, list(measures(mechanism.connections))
    if not elements:
        return system
    moved = sparse.csr_array(product_matrix(rest.arrays, rest.R, rest.arm, rest.vector))
    rates = spring_rates(springs, rest.product, moved) @ rest.velocities
    stored = springs.state >= 0
    S = rates[np.flatnonzero(stored)]
    count = S.shape[0]
    names = [name for (name, _), keep in zip(elements, stored, strict=True) if keep]
    damping = rates.T @ sparse.diags_array(damping_slopes(springs, np.zeros(len(elements)))) @ rates
    assert system.kinetic is not None
    return LinearPHDAE(
        E=sparse.block_diag([system.E, sparse.diags_array(1.0 / springs.stiffness[stored])]).tocsr(),
        J=sparse.csr_array(sparse.block_array([[system.J, -S.T], [S, None]])),
        R=sparse.block_diag([system.R + 0.5 * (damping + damping.T), sparse.csr_array((count, count))]).tocsr(),
        B=sparse.vstack([system.B, sparse.csr_array((count, system.B.shape[1]))]).tocsr(),
        ports=system.ports,
        causality=system.causality,
        parts={
            **system.parts,
            **{name: slice(system.size + i, system.size + i + 1) for i, name in enumerate(names)},
        },
        kinetic=np.append(system.kinetic, np.zeros(count, dtype=bool)),
    )
