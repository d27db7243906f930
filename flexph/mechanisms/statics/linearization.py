"""Linearisation of a mechanism about an unloaded pose at rest ([flex] sec. 5.3)."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from ...bodies.floating.linear_system import DENSE_LIMIT, linear_body
from ...bodies.mean_axes import unshifted
from ...bodies.nodal_body import NodalBody
from ...contacts.arrays import refuse_contacts
from ...interconnection.direct_sum import join
from ...joints.rows.connection import measures, refuse_other_laws
from ...kernels.arrays import Arrays
from ...kernels.continuous import curve_slips, input_matrix, spring_rates
from ...kernels.gradient import (
    blocks_of,
    constraint_matrix,
    entries_of,
    product_matrix,
    scale_rows,
    stacked_rows,
    velocity_count,
)
from ...kernels.springs import damping_slopes, tension_factors
from ...kernels.state import constraint_sizes, displacement_sizes, lever, node_arms, node_points, products, vectors
from ...kernels.strains import gradient, rows
from ...laws.elastic_laws import ElasticLaw
from ...numerics.arrays import Array, dense, widened
from ...systems.linear import LinearPHDAE
from ..model.state import Pose, product_values
from ..model.time_table import TimeTable, spring_values
from ..poses.pose_stack import closed_joints, stacked

if TYPE_CHECKING:
    from ..model.model import Model

ROUND_OFF = 1e-13
"""Rate of a constraint, relative to its size, for a motion of the size of the bodies, that counts as round-off."""
UNLOADED = 1e-9
"""Stretch of a spring, relative to the size of the mechanism, or its rotation [rad], up to which it is unloaded."""


def linearize(mechanism: Model, pose: Pose) -> LinearPHDAE:
    """Linear system of small motions about an unloaded pose at rest, with joints as constraints 0 = G x.

    It contains bodies, springs and dampers; drives are locked. The matrices are sparse above 500 states, dense below.
    Raises ValueError if gravity or a spring loads the pose, as the geometric stiffness of the loads would be missing.
    """
    refuse_contacts(mechanism.connections, "mechanism.linearize", has_curves=True)
    refuse_other_laws(mechanism, "mechanism.linearize")
    closed_joints(mechanism, stacked([pose]))
    _refuse_loads(mechanism, pose)
    for name, body in mechanism.bodies.items():
        if isinstance(body, NodalBody) and body.elasticity.initial is not None:
            raise ValueError(
                f"linearize at a pose is not available for {name!r}, whose bending has stresses when it is straight "
                "(fem.cable): use mechanism.linearize(mechanism.equilibrium(pose))"
            )
    if any(body.unshifted for body in mechanism.frames.values()):
        bodies = {name: body.unshifted or body for name, body in mechanism.bodies.items()}
        return unshifted(linearize(replace(mechanism, bodies=bodies), pose), mechanism.bodies)
    system = mechanism.once(bodies_at_rest)
    rest = _at_rest(mechanism, pose, system)
    coefficient, _ = TimeTable(mechanism, pose.anchors).at(0.0)
    matrix = constraint_matrix(rest.arrays, rest.R, coefficient, arm=rest.arm, vector=rest.vector)
    matrices, further = _with_springs(mechanism, rest, system, _spring_slopes(mechanism, rest, pose))
    n = matrices["E"].shape[0]
    matrices["B"] = _padded(input_matrix(rest.arrays, rest.R, rest.arm, rest.place).T @ rest.velocities, n).T
    matrices["G"] = _padded(_without_round_off(rest, matrix) @ rest.velocities, n)
    whole = {
        name: sparse.csr_array(given_matrix) if n > DENSE_LIMIT else dense(given_matrix)
        for name, given_matrix in matrices.items()
    }
    assert system.kinetic is not None
    return LinearPHDAE(
        whole["E"],
        whole["J"],
        whole["R"],
        whole["B"],
        whole["G"],
        ports=dict(mechanism.network.input_slices),
        parts={**system.parts, **further},
        constraints=mechanism.constraint_names,
        kinetic=np.append(system.kinetic, np.zeros(n - system.size, dtype=bool)),
    )


def _padded(rows: Any, size: int) -> Any:
    """Matrix over the first states, with columns of zeros added for all ``size`` states."""
    return widened(rows, 0, size) if sparse.issparse(rows) else np.pad(rows, ((0, 0), (0, size - rows.shape[1])))


def _without_round_off(rest: _Rest, matrix: Any) -> Any:
    """Constraint matrix over the velocities with round-off set to zero.

    A row of round-off would count as a constraint.
    """
    a, bound = rest.arrays, ROUND_OFF * constraint_sizes(rest.arrays, rest.vector)
    moves = displacement_sizes(a, lever(a))
    if not sparse.issparse(matrix):
        return np.where(np.abs(matrix * moves) <= bound[:, None], 0.0, matrix)
    rows = sparse.csr_array(matrix)
    rows.data[np.abs(rows.data * moves[rows.indices]) <= np.repeat(bound, np.diff(rows.indptr))] = 0.0
    rows.eliminate_zeros()
    return rows


def bodies_at_rest(model: Model) -> LinearPHDAE:
    """Linear systems of all bodies at rest side by side, without joints; they do not depend on the pose."""
    return join(*(linear_body(body, name) for name, body in model.frames.items()))


def refuse_gravity(mechanism: Model) -> None:
    """Raise ValueError if there is gravity, which loads every pose."""
    if np.any(mechanism.gravity):
        raise ValueError(
            "linearize needs an unloaded pose: gravity must be zero, since the geometric stiffness of the joint forces "
            "it causes is not part of [flex] eq. (45); use mechanism.linearize(mechanism.equilibrium(pose))"
        )


def _refuse_loads(mechanism: Model, pose: Pose) -> None:
    refuse_gravity(mechanism)
    a = mechanism.network.arrays
    arms = node_arms(a, pose.rotations, np.zeros(a.body_u.size))
    values = spring_values(mechanism, product_values(mechanism, pose.centres, arms))
    points = (a.node_position[a.node_moves > 0.0], pose.centres - pose.centres[0])
    length = max(float(np.abs(part).max(initial=0.0)) for part in points)
    size = {"length": length, "component": length, "angle": 1.0, "rope": length}
    for i, (name, measure) in enumerate(measures(mechanism.connections)):
        stretch = values[i] - pose.anchors.springs[i]
        law = measure.law
        loaded = bool(law.force(stretch)) if isinstance(law, ElasticLaw) else measure.stiffness > 0.0
        if measure.kind == "rope" and abs(stretch) <= UNLOADED * length:
            raise ValueError(
                f"linearize needs ropes under tension, and {name} has no tension in this pose: load it and use "
                "mechanism.linearize(mechanism.equilibrium(pose))"
            )
        if loaded and abs(stretch) > UNLOADED * size[measure.kind]:
            raise ValueError(
                f"linearize needs an unloaded pose, and {name} is stretched: use "
                "mechanism.linearize(mechanism.equilibrium(pose))"
            )


class _Rest(NamedTuple):
    """Mechanism at rest in a pose, relative to the origins P of the bodies instead of their centres of mass.

    ``arrays`` have nodes and shapes relative to P; ``velocities`` (n_v, n) maps the states of all bodies to their
    (ṙ_P, ω, u̇). Positions of the nodes (k, d), vectors of the joints (v, d) and their products (p,) are in the world.
    """

    arrays: Arrays
    R: Array
    arm: Array
    place: Array
    vector: Array
    product: Array
    velocities: Any


def _at_rest(mechanism: Model, pose: Pose, system: LinearPHDAE) -> _Rest:
    a, R = mechanism.network.arrays, pose.rotations
    centred = node_arms(a, R, np.zeros(a.body_u.size))
    vector, place = vectors(a, pose.centres, centred), node_points(a, pose.centres, centred)
    centre = np.array([frame.inertia.centre for frame in mechanism.frames.values()])
    position = a.node_position + a.node_moves[:, None] * centre[a.node_body]
    shape = mechanism.network.unshifted["node_shape"]
    shape = shape if sparse.issparse(a.node_shape) else shape.toarray()
    unshifted = a._replace(node_position=position, node_shape=shape, mean=None, joined=None)
    arm = node_arms(unshifted, R, np.zeros(a.body_u.size))
    return _Rest(unshifted, R, arm, place, vector, products(a, vector), _velocities(mechanism, R, system))


class _Places(NamedTuple):
    """Positions of entries in the matrix of :func:`_velocities`, which are the same at all poses.

    ``bodies`` (k,) are the bodies that have velocities, ``columns`` (k,) the index of the first velocity of each among
    the states. ``same_row`` and ``same_column`` are rows and columns of entries that are equal in body and world axes.
    """

    bodies: Array
    columns: Array
    same_row: Array
    same_column: Array


def _places(mechanism: Model) -> _Places:
    parts, a = mechanism.once(bodies_at_rest).parts, mechanism.network.arrays
    bodies, columns, rows, same = [], [], [np.zeros(0, dtype=int)], [np.zeros(0, dtype=int)]
    for i, name in enumerate(mechanism.frames):
        if (moving := parts.get(f"{name}.velocity")) is not None:
            bodies.append(i)
            columns.append(moving.start)
        for kind, numbers in (("spin", a.columns.omega[i]), ("deformation_rate", a.columns.u[a.body_u == i])):
            if (span := parts.get(f"{name}.{kind}")) is not None:
                rows.append(numbers)
                same.append(span.start + np.arange(numbers.size))
    return _Places(
        np.array(bodies, dtype=int), np.array(columns, dtype=int), np.concatenate(rows), np.concatenate(same)
    )


def _velocities(mechanism: Model, R: Array, system: LinearPHDAE) -> Any:
    """Matrix (n_v, n) from the states of all bodies to their velocities (ṙ_P, ω, u̇), dense or sparse as the arrays.

    ``R`` are the rotations in the pose, ``system`` has the states.
    """
    a, of_nodes = mechanism.network.arrays, mechanism.once(_places)
    turned = R[of_nodes.bodies]
    rows = np.broadcast_to(a.columns.v[of_nodes.bodies][:, :, None], turned.shape)
    columns = np.broadcast_to(of_nodes.columns[:, None, None] + np.arange(a.dim), turned.shape)
    values = np.append(turned.ravel(), np.ones(of_nodes.same_row.size))
    places = np.append(rows.ravel(), of_nodes.same_row), np.append(columns.ravel(), of_nodes.same_column)
    return entries_of(a, (velocity_count(a), system.size), values, *places)


def _spring_slopes(mechanism: Model, rest: _Rest, pose: Pose) -> Array:
    """Stiffnesses of all springs in the pose, (springs,); raises ValueError if one is negative."""
    springs = mechanism.network.arrays.springs
    if not springs.laws:
        return springs.stiffness
    slopes = springs.slopes(spring_values(mechanism, rest.product) - pose.anchors.springs, 0.0)
    if slopes.min() < 0.0:
        name = [name for name, _ in measures(mechanism.connections)][int(slopes.argmin())]
        raise ValueError(
            f"linearize needs springs whose energy has a minimum: {name} has the stiffness {slopes.min():.6g} in this "
            "pose; use mechanism.spectrum(state)"
        )
    return slopes


def _with_springs(
    mechanism: Model, rest: _Rest, system: LinearPHDAE, slopes: Array
) -> tuple[dict[str, Any], dict[str, slice]]:
    """Matrices E, J, R of the bodies with springs, strain rows and dampers added, and new parts of the state.

    The parts are slices by name. New states are the forces of springs (compliance 1/k) and the stresses of strain rows.
    Springs whose stiffness ``slopes`` (springs,) in the pose is zero have no state.
    """
    a, elements = mechanism.network.arrays, list(measures(mechanism.connections))
    springs, stresses = a.springs, a.strains.stress
    if not (elements or stresses.size or a.slips.slip.size):
        return {"E": system.E, "J": system.J, "R": system.R}, {}
    moved = product_matrix(rest.arrays, rest.R, rest.arm, rest.vector)
    rates = spring_rates(springs, rest.product, moved) @ rest.velocities
    strained = rows(a.strains, gradient(a.strains, rest.product), rest.product.size) @ moved @ rest.velocities
    stored = (springs.state >= 0) & (slopes > 0.0)
    S, n = stacked_rows(rates[np.flatnonzero(stored)], strained), system.size
    size, compliance = n + S.shape[0], a.compliance[stresses][:, stresses]
    slack = tension_factors(springs, -np.ones(springs.stored))  # ropes of an unloaded pose
    damping = rates.T @ scale_rows(rates, slack * damping_slopes(springs, np.zeros(len(elements))))
    damping = damping + strained.T @ scale_rows(a.strains.of_undeformed @ strained, a.stress_damping[stresses])
    slips, steep = curve_slips(a, rest.product, moved)
    slips = slips @ rest.velocities
    damping = damping + slips.T @ scale_rows(slips, steep)
    softness = [(n, n, np.diag(1.0 / slopes[stored])), (size - stresses.size, size - stresses.size, compliance)]
    blocks = {
        "E": [(0, 0, system.E), *softness],
        "J": [(0, 0, system.J), (0, n, -S.T), (n, 0, S)],
        "R": [(0, 0, system.R), (0, 0, 0.5 * (damping + damping.T))],
    }
    matrices = {name: blocks_of(a, (size, size), parts) for name, parts in blocks.items()}
    names = {name: 1 for (name, _), keep in zip(elements, stored, strict=True) if keep}
    names |= {f"{k}.stress": b.stress_size for k, b in mechanism.bodies.items() if isinstance(b, NodalBody)}
    edges = n + np.cumsum([0, *names.values()])
    return matrices, {name: slice(*ends) for name, ends in zip(names, pairwise(edges.tolist()), strict=True)}
