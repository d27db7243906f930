"""Blocks of the Jacobian of a step, dense or sparse like the arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ...numerics.arrays import Array
from ...numerics.rotations import cross, mean_rotation, spin_skew, turned_back, unit_sweeps
from ..arrays import Arrays
from ..gradient import (
    body_levers,
    kept,
    node_rows,
    product_gradient,
    row_weights,
    scale_rows,
    section_rows,
    velocity_slices,
)
from ..loads.faces import face_tangent
from ..rates.on_curves import add_curve_stiffness, curve_weights
from ..rates.slips import slip_tangent
from ..rolling import gain_slopes, stiffness, weights
from ..springs import tangent
from ..state import body_spins, contracted, rotational_inertia
from ..step import end_momenta, mean_places, section_torques
from ..strains import tangent as strain_tangent
from ..values import Means, Point


def flatten(a: Arrays, x: Means) -> Array:
    """Mean velocities as one vector, without the spins of point masses."""
    return np.concatenate(parts(a, x))


def parts(a: Arrays, x: Means) -> list[Array]:
    """Mean velocities as three vectors, without the spins of point masses."""
    return [x.v.ravel(), x.omega.take(a.turning, axis=0).ravel(), x.du]


def unflatten(a: Arrays, y: Array, lam: Array) -> Means:
    """The inverse of :func:`flatten`."""
    omega, u = velocity_slices(a)
    spin = np.zeros(a.columns.omega.shape)
    spin[a.turning] = y[omega].reshape(-1, a.n.shape[0])
    return Means(y[: omega.start].reshape(a.weight.shape), spin, y[u], lam)


def weighted_stack(stack: Any, a: Arrays, at: Point) -> Any:
    """2M + 2hω̄N − ½h²ω₀ω₁K of the stacked inertia products, or of their shift."""
    n, s, h = a.body_u.size, a.n.shape[0], at.h
    w0, w1 = body_spins(a, at.start.omega), body_spins(a, at.trial.end.omega)
    weighted = 2.0 * stack[:n]
    for i in range(s):
        weighted = weighted + scale_rows(stack[(1 + i) * n : (2 + i) * n], h * (w0 + w1)[i])
        for j in range(s):
            k = 1 + s + i * s + j
            weighted = weighted - scale_rows(stack[k * n : (k + 1) * n], 0.5 * h * h * w0[i] * w1[j])
    return weighted


def flexible_block(a: Arrays, at: Point) -> Any:
    """∂r_u/∂u̇̄: inertia + h(½h geometric + D̄ᵀ(½h + β)C⁻¹D₁) + hα M."""
    h, t = at.h, at.trial
    mean, stress, stiff = a.strain, a.rise, a.viscous
    if t.slope.size:
        mean = mean + a.weights @ scale_rows(a.slopes, t.slope)
        stress = stress + a.bend @ scale_rows(a.slopes, 2.0 * t.slope - at.known.slope)
        stiff = stiff + a.slopes.T @ scale_rows(a.slopes, 0.5 * h * (a.weights.T @ t.stress))
    softened = scale_rows(stress, 0.5 * h + a.stress_damping)
    if at.schedule.decay is not None:
        softened = softened + h * at.schedule.decay.softening @ stress
    return weighted_stack(a.stack, a, at) + h * (mean.T @ softened + stiff)


def rigid_blocks(a: Arrays, at: Point) -> tuple[Array, Array, Array]:
    """∂r_ω/∂ω̄ (b, s, s), ∂r_ω/∂u̇̄ (s, n) and ∂r_u/∂ω̄ (s, n), without the terms of node forces."""
    s, h, t = a.n.shape[0], at.h, at.trial
    w0, w1 = body_spins(a, at.start.omega), body_spins(a, t.end.omega)
    square_1 = a.s + t.Pu[1 + s :].reshape(a.s.shape)
    square_mean = a.s + t.Pmean[1 + s :].reshape(a.s.shape)
    coupling = 2.0 * (a.n + t.Pu[1 : 1 + s])
    spin = 2.0 * rotational_inertia(a, t.end.u, t.Pu)
    spin_u = coupling + h * (2.0 * contracted(square_1, w1) - t.Pdu[1 : 1 + s])
    u_spin = coupling - h * (2.0 * contracted(square_mean, w0) - at.known.Pdu[1 : 1 + s])
    if s == 1:
        return spin, spin_u, u_spin
    through = np.eye(s) + 0.5 * h * spin_skew(at.spin)  # p̄_r × ω̄ changes with p_r₁
    turned = 0.5 * (at.known.p_r + end_momenta(a, t)[0]) + 0.5 * h * turned_back(
        at.start.R, t.world_torque
    )  # and R̄⁻¹ too
    spin = through @ spin - h * spin_skew(turned)
    if a.torque_body.size:
        torques = np.einsum("tji,tj->ti", at.start.R[a.torque_body], section_torques(a, t.loads))
        changed = np.einsum("sij,tj->tis", cross(a.dim), torques).reshape(-1, s)
        u_spin = u_spin + 0.5 * h * h * (a.torque_shape.T @ changed).T
    return spin, np.einsum("nab,bn->an", through.take(a.body_u, axis=0), spin_u), u_spin


def node_blocks(a: Arrays, at: Point) -> tuple[Array, Array, Array]:
    """∂(R₁x₁)/∂ω̄ (k, s, d); torque rows −½h R̄⁻¹(· × f) (k, s, d); −h ∂R̄⁻¹/∂ω̄ f (k, s, d).

    The first is h R̄(e_s × R̄ᵀR₁x₁).
    """
    h, t, R0 = at.h, at.trial, at.start.R
    mean = mean_rotation(R0, 0.5 * h * at.spin).take(a.node_body, axis=0)
    arm_omega = h * np.matmul(unit_sweeps(turned_back(mean, t.arm)), mean.transpose(0, 2, 1))
    body_force = turned_back(R0.take(a.node_body, axis=0), t.node_force)
    return arm_omega, 0.5 * h * body_levers(a, t.inverse, t.node_force), 0.5 * h * h * unit_sweeps(body_force)


def node_gradients(a: Arrays, at: Point, arm_omega: Array) -> tuple[Any, Any]:
    """Discrete gradient B and end derivative W of the nodes, (k·d, n_v)."""
    t, h = at.trial, at.h
    mean_frame = t.inverse.transpose(0, 2, 1).take(a.node_body, axis=0)
    return (
        node_rows(a, body_levers(a, t.inverse, t.lever), mean_frame),
        node_rows(a, arm_omega, (h * t.end.R).take(a.node_body, axis=0), h),
    )


def following_loads(a: Arrays, at: Point, B: Any, W: Any) -> Any:
    """Jacobian h Bᵀ δ(loads that follow sections and faces), (n_v, n_v), from node rows B and W; None without any.

    A load f on the mean directions ½(d₀ + d₁) of its section changes by ½ Σ f_j δd_j, one on faces by their
    mean places.
    """
    if not (a.follow_input.size or a.faces is not None):
        return None
    on_nodes, on_sections = 0.0, 0.0
    if a.follow_input.size:
        change = load_changes(a, 0.5 * at.schedule.inputs, W)
        on_nodes = B.T @ (a.input_node @ change)
        on_sections = section_motion(a, at).T @ (a.input_torque @ change)
    if a.faces is not None:
        mean = mean_places(a, at.start, at.trial.end.r, at.trial.lever)
        on_nodes = on_nodes + B.T @ (face_tangent(a.faces, mean, 0.5 * at.schedule.inputs) @ W)
    stiffness: Any = at.h * (on_nodes + on_sections)
    return kept(a, stiffness)


def load_changes(a: Arrays, inputs: Array, moved: Any) -> Any:
    """Σ f_j δd_j of the inputs f that follow a section, (i, n), from the rows (k·d, n) that move its directions d_j."""
    d = a.dim
    rows = (d * a.follow_node[:, :, None] + np.arange(d)).ravel()  # directions j of each load, components i
    cols = np.broadcast_to(a.follow_input[:, None, :], (*a.follow_node.shape, d)).ravel()
    values = np.repeat(inputs[a.follow_input].ravel(), d)
    return sparse.csr_array((values, (cols, rows)), shape=(inputs.size, moved.shape[0])) @ moved


def section_motion(a: Arrays, at: Point) -> Any:
    """World spins R̄⁻ᵀ(ω + ψu̇) of the sections that take torques, (t·s, n_v)."""
    return section_rows(a, np.swapaxes(at.trial.inverse, 1, 2))


def swaps(a: Arrays, at: Point) -> Any:
    """Isotropic stiffness of products on their vectors, (v, v): a force φ on V·W acts with φW on V."""
    if a.strains.stress.size:  # many products, each of few vectors
        force, size = np.tile(0.5 * at.trial.product_force, 2), len(a.vector_fixed)
        return sparse.csr_array((force, (a.pairs.ravel(), a.partners.ravel())), shape=(size, size))
    swap = a.select_first.T @ scale_rows(a.select_second, 0.5 * at.trial.product_force)
    return swap + swap.T


def product_tangent(a: Arrays, at: Point) -> Any:
    """Stiffness (p, p) on the products, of spring-dampers and of forces with varying weights; None without any."""
    if not (a.springs.stiffness.size or a.rolling.row.size or a.slips.slip.size or a.curves):
        return None
    stiffened = tangent(
        a.springs, at.trial.measured, at.h, (at.known.product, at.trial.product), stuck=at.schedule.stuck
    )
    if a.rolling.row.size:
        stiffened += stiffness(a, at.trial.lam, at.known.product, at.trial.product)
    if at.trial.slid is not None:
        places = tuple(zip(a.curves, at.trial.on_curves, strict=True))
        stiffened += slip_tangent(a.slips, at.trial.slid, at.h, (at.known.product, at.trial.product), places)
    if a.curves:
        means = 0.5 * (at.known.product + at.trial.product)
        acting = at.trial.lam, at.schedule.inputs
        add_curve_stiffness(a.curves, at.trial.on_curves, acting, means=means, form=stiffened)
    return kept(a, stiffened)


def strain_softening(a: Arrays, at: Point) -> Array:
    """½ + β/h of the strain rows: how σ̃ changes with σ at the end, (e,)."""
    softening: Array = 0.5 + a.stress_damping[a.strains.stress] / at.h
    return softening


def product_stiffness(a: Arrays, at: Point) -> Any:
    """Θ with δ(force on vectors) = Θ δ(end vectors) at constant multipliers, sparse (v·d, v·d)."""
    t, springs, own = at.trial, product_tangent(a, at), a.strains.stress
    theta = sparse.kron(swaps(a, at), np.eye(a.dim))
    if own.size:
        products = (at.known.product, t.product)
        strained = strain_tangent(a.strains, products, t.stress[own], strain_softening(a, at))
        springs = strained if springs is None else springs + strained
    if springs is None:
        return theta
    return theta + product_gradient(a, t.vector_mean).T @ springs @ product_gradient(a, t.vector)


def constraint_weights(a: Arrays, at: Point) -> tuple[Any, Any]:
    """c̄ and c₁/h, (g, p): weights of the forces on products, and of their values at the end."""
    s, t = at.schedule, a.rolling
    mean = row_weights(a, s.coefficient_mean)
    last = row_weights(a, s.coefficient_1 / at.h)
    if a.curves:
        means = 0.5 * (at.known.product + at.trial.product)
        of_mean, of_last = curve_weights(a.curves, at.trial.on_curves, mean.shape, means)
        mean, last = mean + kept(a, of_mean), last + kept(a, of_last / at.h)
    if not t.row.size:
        return mean, last
    gain, change = at.trial.gain, (at.trial.product - at.known.product).take(t.product)
    own, across = gain_slopes(a, at.known.product, at.trial.product)
    moved = weights(a, gain, t.product)
    weighed = weights(a, own * change, t.product) + weights(a, across * change, t.by)
    return mean + moved, last + (moved + weighed) / at.h
