"""Mixed iteration, with stresses as separate iterates, known to first order after a correction.

After a correction δ of an iterate with stresses σ = C⁻¹ε they are σ + C⁻¹B₁δ, for strain rows and for bodies with von
Kármán strain, B₁ = D(u₁). The forces of a stiff body are those of its strains, but its geometric stiffness, from forces
that turn with the body, uses these stresses: quadratic strains of an iterate far from the solution, times the
stiffness, would make it useless. In this way σ₁ is an unknown of Newton's method that is eliminated from each of its
corrections.
"""

from __future__ import annotations

import numpy as np

from ...numerics.arrays import Array
from ...numerics.rotations import moment
from ..arrays import Arrays
from ..state import product_changes
from ..step import node_forces
from ..strains import add_forces, changes, end_stiffness, gradient, mean_gradient
from ..values import Means, Point, Trial
from .blocks import node_blocks


def corrected_stresses(a: Arrays, at: Point, correction: Means) -> Array:
    """Stresses (m,) to first order after a correction that is subtracted from the means."""
    t, s, h, stresses = at.trial, a.strains, at.h, at.trial.end.sigma.copy()
    if correction.du.size:
        slope = 2.0 * t.slope - at.known.slope
        stresses -= h * (a.rise @ correction.du + a.bend @ (slope * (a.slopes @ correction.du)))
    if not s.stress.size:
        return stresses
    turned = np.einsum("ksd,ks->kd", node_blocks(a, at)[0], correction.omega.take(a.node_body, axis=0))
    placed = h * a.node_moves[:, None] * correction.v.take(a.node_body, axis=0) + turned
    change = product_changes(a, a.incidence @ placed, t.vector)
    moved = changes(s, gradient(s, t.product), change)
    stresses[s.stress] -= end_stiffness(s, t.product) @ moved
    return stresses


def with_stresses(a: Arrays, at: Point, stresses: Array) -> Point:
    """The point with the forces that these stresses at the end (m,) have, for its Jacobian."""
    t, own, known = at.trial, a.strains.stress, at.known
    jump = (0.5 + a.stress_damping / at.h) * (stresses - t.end.sigma)
    if not own.size:
        return at._replace(trial=t._replace(stress=t.stress + jump))
    on_product = np.zeros(t.product.size)
    add_forces(a.strains, mean_gradient(a.strains, known.product, t.product), jump[own], on_product)
    force = node_forces(a, on_product, t.vector_mean, np.zeros(0))
    trial: Trial = t._replace(
        stress=t.stress + jump,
        product_force=t.product_force + on_product,
        node_force=t.node_force + force,
        world_torque=t.world_torque + a.sum_nodes @ moment(t.lever, force),
    )
    return at._replace(trial=trial)
