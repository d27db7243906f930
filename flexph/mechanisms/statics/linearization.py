"""Small motions of a mechanism about rest ([flex] sec. 5.3)."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from ...bodies.body import Body
from ...bodies.linear_system import DENSE_LIMIT, linear_body, to_dense
from ...bodies.mean_axes import unshifted
from ...interconnection.couplings import constrain
from ...interconnection.direct_sum import join
from ...joints.rows.connection import measures
from ...kernels.arrays import Arrays
from ...kernels.continuous import spring_rates
from ...kernels.gradient import block_diagonal, product_gradient, row_weights
from ...kernels.rolling import gains, weights
from ...kernels.springs import damping_slopes
from ...kernels.state import node_arms, vectors
from ...kernels.step import world_loads
from ...numerics.arrays import Array
from ...numerics.rotations import cross, spin_map, spins
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
    nodes = _node_rows(mechanism, pose)
    gradient = _product_rows(mechanism, pose, nodes)
    coefficient, offset = TimeTable(mechanism, pose.anchors).at(0.0)
    rows = _constraint_rows(mechanism, pose, coefficient, gradient)
    system = _with_inputs(mechanism, pose, system, nodes)
    system = _with_springs(mechanism, pose, system, gradient)
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


def _node_rows(mechanism: Model, pose: Pose) -> Any:
    """World velocities R(χ v_P + ω × X + φ u̇) of all nodes over the states of all bodies: sparse (k·d, n)."""
    start = np.cumsum([0, *(b.size for b in mechanism.bodies.values())])
    shapes = (mechanism.network.raw_shape[:, start[i] : start[i + 1]] for i in range(len(mechanism.bodies)))
    blocks = [
        _body_rows(mechanism.network.arrays, body, i, pose.rotations[i], shape)
        for i, (body, shape) in enumerate(zip(mechanism.bodies.values(), shapes, strict=True))
    ]
    return sparse.hstack(blocks).tocsr()


def _body_rows(a: Arrays, body: Body, index: int, R: Array, shape: Any) -> Any:
    """The columns of one body: rows of its nodes, zero elsewhere."""
    basis, own = cross(a.dim), np.flatnonzero(a.node_body == index)
    moves = a.node_moves[own]
    position = a.node_position[own] + moves[:, None] * body.inertia.centre
    turning = np.einsum("ij,sjk,nk->nis", R, basis, position).reshape(own.size * a.dim, len(basis))
    rigid = [np.kron(moves[:, None], R)] + ([turning] if body.turns else [])
    rows = (own[:, None] * a.dim + np.arange(a.dim)).ravel()
    turned = block_diagonal(np.broadcast_to(R, (own.size, a.dim, a.dim))) @ shape[rows]
    none = sparse.csr_array((rows.size, body.stress_size))
    local = sparse.coo_array(sparse.hstack([sparse.csr_array(np.hstack(rigid)), turned, none]))
    return sparse.csr_array((local.data, (rows[local.row], local.col)), shape=(shape.shape[0], local.shape[1]))


def _product_rows(mechanism: Model, pose: Pose, nodes: Any) -> Any:
    """Rates of all products at the pose: sparse (p, n)."""
    a = mechanism.network.arrays
    vector = vectors(a, pose.centres, node_arms(a, pose.rotations, np.zeros(a.body_u.size)))
    pulled = sparse.kron(sparse.csr_array(a.incidence), sparse.eye_array(a.dim)) @ nodes
    return sparse.csr_array(sparse.csr_array(product_gradient(a, vector)) @ pulled)


def _constraint_rows(mechanism: Model, pose: Pose, coefficient: Array, gradient: Any) -> Any:
    """G over the states of all bodies, sparse (g, n); of nonholonomic rows what they ask of velocities at the pose."""
    a = mechanism.network.arrays
    constraints = sparse.csr_array(row_weights(a, coefficient))
    t = a.rolling
    if not t.row.size:
        return constraints @ gradient
    product = product_values(mechanism, pose.centres, node_arms(a, pose.rotations, np.zeros(a.body_u.size)))
    G = (constraints + sparse.csr_array(weights(a, gains(a, product, product), t.product))) @ gradient
    spins = sparse.lil_array(G.shape)
    for row, body, axis in zip(t.spin_row, t.spin_body, t.spin_axis, strict=True):
        at = mechanism.once(bodies_at_rest).parts[f"{list(mechanism.bodies)[body]}.spin"]
        spins[row, at.start : at.stop] = axis @ spin_map(pose.rotations[[body]])[0]
    return G + spins.tocsr()


def _with_inputs(mechanism: Model, pose: Pose, system: LinearPHDAE, nodes: Any) -> LinearPHDAE:
    """External ports: forces on nodes, torques on sections; those that follow a section in its axes."""
    a = mechanism.network.arrays
    start = np.cumsum([0, *(b.size for b in mechanism.bodies.values())])
    size, t = spins(a.dim), a.torque_body.size
    shape = sparse.csr_array(a.torque_shape)
    turned = []  # world spins R(ω + ψu̇) of the sections that take torques
    for i, body in enumerate(mechanism.bodies.values()):
        own = sparse.kron(sparse.diags_array((a.torque_body == i).astype(float)), spin_map(pose.rotations[[i]])[0])
        rigid = [sparse.csr_array((size * t, a.dim))]
        if body.turns:
            rigid.append(own @ np.tile(np.eye(size), (t, 1)) if t else sparse.csr_array((0, size)))
        bending = own @ shape[:, start[i] : start[i + 1]]
        turned += [*rigid, bending, sparse.csr_array((size * t, body.stress_size))]
    sections = sparse.hstack([sparse.csr_array(x) for x in turned])
    B = nodes.T @ sparse.csr_array(a.input_node) + sections.T @ sparse.csr_array(a.input_torque)
    arms = node_arms(a, pose.rotations, np.zeros(a.body_u.size))
    world = np.array([world_loads(a, arms, u) for u in np.eye(a.input_node.shape[1])]).reshape(B.shape[1], B.shape[1]).T
    B = B @ sparse.csr_array(world)
    return replace(system, B=sparse.csr_array(B), ports=dict(mechanism.network.input_slices))


def _with_springs(mechanism: Model, pose: Pose, system: LinearPHDAE, gradient: Any) -> LinearPHDAE:
    """Spring forces as states with compliance 1/k, dampers in R."""
    springs, elements = mechanism.network.arrays.springs, list(measures(mechanism.connections))
    if not elements:
        return system
    a = mechanism.network.arrays
    product = product_values(mechanism, pose.centres, node_arms(a, pose.rotations, np.zeros(a.body_u.size)))
    rates = sparse.csr_array(spring_rates(springs, product, gradient))
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
