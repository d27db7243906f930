"""Jacobian of Gauss collocation (:mod:`flexph.kernels.gauss.collocation`), dense, for Newton's method.

Rows are those of the residual at a node i of the step, columns the unknowns (ṙ, Ω, u̇, hλ) at a node j: what rates do
at once (i = j), by their changes over the step (A⁻¹_ij) and by the places to which they lead (A_ij). Arms, stresses and
springs are collocated as in the residual; of momenta, places at other nodes are taken as if they were at the own one.
"""

from __future__ import annotations

import numpy as np

from ...numerics.arrays import Array
from ...numerics.rotations import skew, sweep, unit_sweeps
from ..arrays import Arrays
from ..gradient import node_rows, product_gradient, pull, scale_rows, section_rows, velocity_count, velocity_slices
from ..jacobians.blocks import load_changes
from ..state import product_changes
from .collocation import Collocation
from .stage_inertia import StageStep, add_inertia, axes_changes, stacked_sweeps
from .stages import Given, Onset, Stages


def stage_jacobian(k: Collocation, onset: Onset, t: Stages, given: Given) -> Array:
    """∂(residual)/∂(unknowns), (stages·N, stages·N), N = n_v + g."""
    a, stages = k.arrays, len(t.u)
    size = velocity_count(a) + t.x.lam.shape[1]
    changes = np.einsum("ij,jkn->ikn", k.tableau.inverse, t.Pdu - onset.d.Pdu)
    at = StageStep(k, onset, t, given, _transported(k, onset.h, t), changes, np.zeros((stages, size, stages, size)))
    add_inertia(at)
    if a.body_u.size:
        _add_elasticity(at)
    if a.node_body.size:
        _add_nodes(at)
    return at.J.reshape(stages * size, stages * size)


# --- elasticity -------------------------------------------------------------------------------------------------------


def _add_elasticity(at: StageStep) -> None:
    """D_iᵀσ_i by the stresses, which are collocated, and by the slopes in D."""
    a, t, h, (_, u) = at.k.arrays, at.t, at.onset.h, velocity_slices(at.k.arrays)
    own, by_place = np.arange(len(t.u)), at.by_place
    strain, rise = (np.tile(part, (own.size, 1, 1)) for part in (a.strain, a.rise))
    if t.slope.shape[1]:
        slopes = t.slope[:, :, None] * a.slopes
        strain, rise = strain + a.weights @ slopes, rise + a.bend @ slopes
    change = by_place[:, :, None, None] * rise[None]  # of the stresses, (stages, stages, m, n)
    if t.slope.shape[1]:
        steeper = a.bend @ ((t.x.du @ a.slopes.T)[:, :, None] * a.slopes)
        change += np.einsum("il,lj,lmn->ijmn", by_place, by_place, steeper)
    if a.stress_damping.any():
        change[own, own] += a.stress_damping[:, None] * rise
    elastic = strain[:, None].swapaxes(2, 3) @ change
    if t.slope.shape[1]:
        bent = a.slopes.T @ ((t.stress @ a.weights)[:, :, None] * a.slopes)
        elastic += by_place[:, :, None, None] * bent[:, None]
    if a.is_viscous:
        elastic[own, own] += a.viscous
    at.J[:, u, :, u] += h * elastic.swapaxes(1, 2)


# --- nodes, springs and constraints -----------------------------------------------------------------------------------


def _add_nodes(at: StageStep) -> None:
    """What forces on nodes do when places change, the forces of multipliers and springs, and the constraints."""
    k, t, h, J = at.k, at.t, at.onset.h, at.J
    a, stages, (_, u) = k.arrays, len(t.u), velocity_slices(k.arrays)
    size, nodes = u.stop, a.node_position.shape
    frame = t.inverse.swapaxes(2, 3).take(a.node_body, axis=1)
    rates = np.array([node_rows(a, unit_sweeps(t.arm[i]), frame[i]) for i in range(stages)])  # (stages, k·d, n_v)
    pushed = t.arm_rate - sweep(t.x.spin.take(a.node_body, axis=1), t.arm)  # R⁻ᵀφu̇, (stages, k, d)
    bent = axes_changes(at, pushed, a.node_body).swapaxes(3, 4)  # by turns, (stages, stages, k, d, s)
    places = _places(at, rates.reshape(stages, *nodes, size), bent)  # (stages, stages, k, d, n_v)
    _turn_forces(at, places)
    rows = np.array([pull(a, part) for part in rates])  # (stages, v·d, n_v)
    moved = _pulled(a, places)  # (stages, stages, v·d, n_v)
    swapped = np.array([_swapped(a, force, part) for force, part in zip(t.product_force, rows, strict=True)])
    J[:, :size, :, :size] -= h * (swapped[:, None].swapaxes(2, 3) @ moved).swapaxes(1, 2)
    by_vector = np.array([product_gradient(a, vector) for vector in t.vector])
    changed = by_vector @ rows  # rates of products, (stages, p, n_v), and what places do to them
    by_rate = np.array([product_gradient(a, vector) for vector in t.vector_rate])
    drifted = by_vector[:, None] @ _drift(at, places, bent) + by_rate[:, None] @ moved
    _add_springs(at, changed, drifted)
    _add_constraints(at, changed, drifted)
    if a.follow_input.size:
        _add_following(at, rates, places)


def _transported(k: Collocation, h: float, t: Stages) -> Array:
    """(1 − hA[Ω]×)⁻¹ hA, see StageStep."""
    shape = (len(k.arrays.mass), len(t.u), k.arrays.dim, len(t.u), k.arrays.dim)
    transported: Array = t.transport @ np.kron(h * k.tableau.a, np.eye(k.arrays.dim))
    return transported.reshape(shape)


def _places(at: StageStep, rates: Array, bent: Array) -> Array:
    """Places of the nodes at i by rates at j, (stages, stages, k, d, n_v), from what these do at once and by turns."""
    a, (omega, _) = at.k.arrays, velocity_slices(at.k.arrays)
    transported = at.transported.take(a.node_body, axis=0)
    places = np.empty((len(rates), *rates.shape))
    places[..., : omega.start] = at.by_place[:, :, None, None, None] * rates[..., : omega.start]
    places[..., omega.start :] = np.einsum("kixjy,jkyr->ijkxr", transported, rates[..., omega.start :])
    places[..., omega] += _of_spins(a, np.einsum("kixly,ljkys->ijkxs", transported, bent))
    return places


def _of_spins(a: Arrays, by_body: Array) -> Array:
    """(…, k, d, s) by the spins of the body of each node as (…, k, d, spins) of the bodies that turn."""
    turned = by_body[..., None, :] * a.node_turns[:, None, :, None]
    return turned.reshape(*by_body.shape[:-1], -1)


def _turn_forces(at: StageStep, places: Array) -> None:
    """Torques a × f and generalised forces φᵀR⁻¹f when arms and rotations change under forces."""
    a, t, h, J = at.k.arrays, at.t, at.onset.h, at.J
    (omega, u), stages, (k, d) = velocity_slices(a), len(t.u), a.node_position.shape
    by_body = a.sum_nodes.take(a.turning, axis=0)  # (t, k)
    relative, s, size = slice(omega.start, u.stop), a.n.shape[0], u.stop - omega.start
    swept = stacked_sweeps(t.node_force)  # e × f, (stages, k, s, d)
    levered = (swept[:, None] @ places[..., relative]).reshape(stages, stages, k, s * size)
    torque = (h * by_body @ levered).reshape(stages, stages, a.turning.size * s, size)
    J[:, omega, :, relative] += torque.swapaxes(1, 2)
    if u.stop == u.start:
        return
    body = a.node_body
    local = np.matvec(t.inverse.take(body, axis=1), t.node_force)  # R⁻¹f
    there = np.matvec(t.R.take(body, axis=1)[None], local[:, None])  # R_j R_i⁻¹ f_i, (stages, stages, k, d)
    turned = np.einsum("kixjy,ijksy->ijksx", at.transported.take(body, axis=0), stacked_sweeps(there))
    inward = turned @ t.inverse.swapaxes(2, 3).take(body, axis=1)[:, None]  # R_i⁻¹ of it
    shaped = (inward @ a.node_shape.reshape(k, d, u.stop - u.start)).reshape(stages, stages, k, -1)
    bending = (h * by_body @ shaped).reshape(stages, stages, a.turning.size * s, u.stop - u.start)
    J[:, u, :, omega] += bending.transpose(0, 3, 1, 2)


def _pulled(a: Arrays, places: Array) -> Array:
    """Rows of the vectors from those of the nodes (…, k, d, n), (…, v·d, n)."""
    *stack, k, d, n = places.shape
    pulled: Array = a.incidence @ places.reshape(*stack, k, d * n)
    return pulled.reshape(*stack, -1, n)


def _swapped(a: Arrays, force: Array, rows: Array) -> Array:
    """A force φ on V·W acts with φW on V: its change with all vectors, from their rows (v·d, n)."""
    swap = a.select_first.T @ scale_rows(a.select_second, force)
    swapped: Array = (swap + swap.T) @ rows.reshape(len(swap), -1)
    return swapped.reshape(rows.shape)


def _drift(at: StageStep, places: Array, bent: Array) -> Array:
    """What places do to the rates of vectors at the same rates of motion, Ω × δa + δ(R⁻ᵀ)φu̇: like pulled places."""
    a, (omega, _) = at.k.arrays, velocity_slices(at.k.arrays)
    turning = skew(at.t.x.spin.take(a.node_body, axis=1), a.dim)[:, None] @ places
    turning[..., : omega.start] = 0.0
    turning[..., omega] += _of_spins(a, bent)
    return _pulled(a, turning)


def _reached(at: StageStep, rate: Array, drifted: Array) -> Array:
    """What is collocated, (stages, stages, m, n_v), from its rates (stages, m, n_v) and what places do to these."""
    reached: Array = at.by_place[:, :, None, None] * rate[None]
    return reached + np.einsum("il,ljmr->ijmr", at.by_place, drifted)


def _add_springs(at: StageStep, changed: Array, drifted: Array) -> None:
    """Stiffness and damping of the springs, and how their directions change."""
    t, h, springs, size = at.t, at.onset.h, at.k.arrays.springs, changed.shape[2]
    if t.springs is None:
        return
    stages, lengths = np.arange(len(changed)), springs.length_product.size
    measured, slower = t.springs.gradient @ changed, t.springs.gradient[:, None] @ drifted
    slope = t.springs.gradient[:, np.arange(lengths), springs.length_product]  # ½/ℓ
    by_product = _reached(at, changed, drifted)[:, :, springs.length_product]
    slower[:, :, :lengths] -= (2.0 * slope**2 * t.springs.measure_rate[:, :lengths])[:, None, :, None] * by_product
    stiff = np.where(springs.state >= 0, springs.stiffness, 0.0)[:, None]
    tension = stiff * _reached(at, measured, slower) + springs.damping[:, None] * slower
    tension[stages, stages] += springs.damping[:, None] * measured
    stiffness = measured[:, None].swapaxes(2, 3) @ tension
    bent = (-2.0 * slope**3 * t.springs.tension[:, :lengths])[:, :, None] * changed[:, springs.length_product]
    stiffness += bent[:, None].swapaxes(2, 3) @ by_product
    at.J[:, :size, :, :size] += h * stiffness.swapaxes(1, 2)


def _add_constraints(at: StageStep, changed: Array, drifted: Array) -> None:
    """Forces of the multipliers, and what constraints are of places and rates."""
    a, t, h, J, size = at.k.arrays, at.t, at.onset.h, at.J, changed.shape[2]
    weights, turned = at.k.weights(at.given.coefficient, t.product), at.k.of_terms(at.given.coefficient_rate / h)
    held, stages = weights @ changed, np.arange(len(changed))
    if a.rolling.spin_row.size:
        omega, _ = velocity_slices(a)
        held[:, :, omega] += at.k.spin_rows.reshape(-1, *a.columns.omega.shape)[:, a.turning].reshape(at.k.rows, -1)
    J[stages, :size, stages, size:], J[stages, size:, stages, :size] = -held.swapaxes(1, 2), held
    constraints = weights[:, None] @ drifted
    if a.rolling.row.size or turned.any():
        reached, (acting, rated) = _reached(at, changed, drifted), _weighing(at)
        constraints += (turned + rated)[:, None] @ reached
        J[:, :size, :, :size] -= h * ((acting @ changed)[:, None].swapaxes(2, 3) @ reached).swapaxes(1, 2)
    J[:, size:, :, :size] += constraints.swapaxes(1, 2)
    if a.dim == 3:  # Ω × π by the torques that make π
        omega, _ = velocity_slices(a)
        acting = held[:, :, omega].reshape(len(held), held.shape[1], a.turning.size, 3)
        swept = sweep(t.x.spin.take(a.turning, axis=1)[:, None, None], acting[None])  # (stages, stages, g, b, 3)
        constraints = at.by_place[:, :, None, None] * swept.reshape(*swept.shape[:3], 3 * a.turning.size).swapaxes(2, 3)
        J[:, omega, :, size:] += constraints.swapaxes(1, 2)


def _weighing(at: StageStep) -> tuple[Array, Array]:
    """What forces on products, transposed, (stages, p, p), and rates of constraints, (stages, g, p), are of Π_by."""
    t, own = at.t, at.k.arrays.rolling
    rate = product_changes(at.k.arrays, t.vector_rate, t.vector)
    acting, rated = (np.zeros((len(rate), n, rate.shape[1])) for n in (rate.shape[1], at.k.rows))
    np.add.at(acting.transpose(1, 2, 0), (own.by, own.product), (own.weight * t.x.lam.take(own.row, 1)).T)
    np.add.at(rated.transpose(1, 2, 0), (own.row, own.by), (own.weight * rate.take(own.product, 1)).T)
    return acting, rated


def _add_following(at: StageStep, rates: Array, places: Array) -> None:
    """Loads that follow their sections change with the directions of these."""
    a, t, h, size = at.k.arrays, at.t, at.onset.h, rates.shape[2]
    for i in range(len(rates)):
        on = rates[i].T @ a.input_node + section_rows(a, t.inverse[i].swapaxes(1, 2)).T @ a.input_torque
        for j in range(len(rates)):
            moved = places[i, j].reshape(-1, size)
            at.J[i, :size, j, :size] -= h * on @ load_changes(a, at.given.inputs[i], moved)
