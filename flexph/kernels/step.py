"""One step of the exact polynomial scheme: residual of the discrete gradient pair [dg] eq. (18).

With Δ the difference and a bar the mean over a step h, the unknowns are the mean velocities (ṙ̄, ω̄, u̇̄) and the
multipliers:

    Δr = h ṙ̄,  R₁ = R₀ cayley(½hω̄),  Δu = h u̇̄,  CΔσ = h D(ū) u̇̄,
    m Δṙ = h (forces),  Δp_r = h (p̄_r × ω̄ + R̄⁻¹ torques),
    Δp_u = h (f_u − D(ū)ᵀσ̃ + generalised forces),  g(q₁, t₁) = 0,
    f_u = ½ w₀ᵀ (∂M/∂u)(ū) w₁,  σ̃ = σ̄ + β Δσ/h.

A force f on a node acts with f, with the lever ℓ = ½(R₀x₀ + R₁x₁) and with φᵀ R̄⁻¹ f: the transpose of the exact
increment Δ(r + Rx) = h[ṙ̄ + Ω × ℓ + R̄⁻ᵀ φ u̇̄], Ω = R̄ω̄ = R̄⁻ᵀω̄. In the plane p̄_r × ω̄ vanishes and R̄⁻¹ does not
change torques. Loads that follow a section have their components on its mean directions. All vectors enter by products
V·W, whose increments are also exact. Nonholonomic rows (:mod:`flexph.kernels.rolling`) hold for the increments of the
step.
"""

from __future__ import annotations

import numpy as np

from ..numerics.arrays import Array
from ..numerics.rotations import moment, spin_map, spin_product, step_rotation, turned, turned_spins
from .arrays import Arrays, total
from .contacts.forces import node_and_body_forces, touched
from .contacts.gaps import Touch
from .contacts.rubbing import with_anchors
from .decay import end_rates, mass, unpacked
from .loads.faces import face_forces
from .rates.bearings import add_curve_friction, slipped, tensions
from .rates.on_curves import add_curve_forces, all_over_step, curve_gaps
from .rates.slips import add_slip_forces, slid
from .rolling import add_forces as add_rolling
from .rolling import add_torques, gains, slip, squares
from .springs import Measured, add_forces, measure, spring_forces
from .state import (
    Configuration,
    Derived,
    body_spins,
    constraint_sums,
    contracted,
    inertia_products,
    momenta,
    node_arms,
    node_points,
    node_velocities,
    over_spins,
    product_changes,
    products,
    touching_points,
    vectors,
)
from .strains import add_forces as add_stresses
from .strains import add_law_stresses, mean_gradient, strain_stresses
from .values import Means, Schedule, Step, Trial


def residual(a: Arrays, step: Step, x: Means) -> tuple[Means, Trial]:
    """Momentum defects [N s, N m s], constraint defects g(q₁, t₁), and the trial end of the step."""
    trial = attempt(a, step, x)
    return defects(a, step, x, trial), trial


def defects(a: Arrays, step: Step, x: Means, t: Trial) -> Means:
    """Defects of the momentum balances and of the constraints at a trial end of the step."""
    start, known, h, _ = step
    p_r, p_u = end_momenta(a, t)
    r_v = a.mass[:, None] * (t.end.v - start.v) - h * (a.weight + t.force)
    torque = t.torque
    if a.dim == 3:
        torque = torque + spin_product(0.5 * (known.p_r + p_r), x.omega)
    r_u = p_u - known.p_u
    if r_u.size:
        r_u = r_u - h * _generalised_force(a, step, x, t)
    return Means(r_v, p_r - known.p_r - h * torque, r_u, t.gap)


def end_momenta(a: Arrays, t: Trial) -> tuple[Array, Array]:
    """Momenta p_r and p_u at a trial end of the step."""
    return momenta(a, t.end.omega, t.end.u, t.end.du, products=(t.Pu, t.Pdu))


def _generalised_force(a: Arrays, step: Step, x: Means, t: Trial) -> Array:
    """All forces on the flexible coordinates, (n,)."""
    force = _inertia_force(a, step, t) + _virtual_work(a, t) - a.strain.T @ t.stress
    if t.slope.size:
        force -= a.slopes.T @ (t.slope * (a.weights.T @ t.stress))
    if a.is_viscous:
        force -= a.viscous @ x.du
    if a.torque_body.size:
        force += _bending_torques(a, t)
    return force


def attempt(a: Arrays, step: Step, x: Means) -> Trial:
    """The trial end of the step for given mean velocities, and the forces during the step."""
    start, known, h, s = step
    R1, inverse = step_rotation(start.R, 0.5 * h * x.omega)
    r1, u1 = start.r + h * x.v, start.u + h * x.du
    rate = inertia_products(a, x.du)
    slope, jump = _strained(a, known, h, x)
    arm = node_arms(a, R1, u1)
    vector = vectors(a, r1, arm)
    vector_mean, product, lever = 0.5 * (known.vector + vector), products(a, vector), 0.5 * (known.arm + arm)
    e0, held = start.spring[: a.springs.stored], start.spring[a.springs.stored :]
    measured = measure(a.springs, e0, h, (known.product, product), moved=s.moved, stuck=s.stuck)
    if s.rub is not None:
        measured = measured._replace(tension=measured.tension + tensions(a.bearings, s.rub, measured.tension.size))
    lam, gain = s.multipliers(x.lam), gains(a, known.product, product)
    on_product = _product_forces(a, lam, s, measured)
    add_rolling(a, lam, gain, on_product)
    on_curves = all_over_step(a.curves, known.on_curves, known.product, product)
    add_curve_forces(a.curves, on_curves, (lam, s.inputs), on_product)
    slips = by_bearing = None
    places = tuple(zip(a.curves, on_curves, strict=True))
    if a.bearings.number:
        by_bearing = slipped(a.bearings, measured.extension, places, product - known.product)
        if s.rub is not None:
            add_curve_friction(a.bearings, s.rub, places, on_product)
    if a.slips.slip.size:
        speed = node_velocities(a, x, inverse.transpose(0, 2, 1), lever)
        change = product_changes(a, a.incidence @ speed, vector_mean)
        slips = slid(a.slips, (known.product, product), change, h, places)
        add_slip_forces(a.slips, slips, places, on_product)
    own = a.strains.stress
    if own.size:
        jump[own] = strain_stresses(a.strains, product) - start.sigma[own]
    stress = _mean_stress(a, step, jump)
    if own.size:
        stress[own] = _with_laws(a, step, stress[own], product)
        add_stresses(a.strains, mean_gradient(a.strains, known.product, product), stress[own], on_product)
    loads = world_loads(a, lever, s.inputs)
    node_force = node_forces(a, on_product, vector_mean, loads)
    if a.faces is not None:
        node_force = node_force + face_forces(a.faces, mean_places(a, start, r1, lever), s.inputs)
    touch, by_friction = _touched(a, step, x, (r1, arm)), None
    if touch is not None:
        on_node, by_friction = node_and_body_forces(touch, len(lever), x.omega.shape)
        if a.node_means is not None:
            on_node = on_node + a.node_means.T @ on_node
        node_force = node_force + on_node
    torque = a.sum_nodes @ moment(lever, node_force)
    if by_friction is not None:
        torque = torque + by_friction
    if a.torque_body.size:
        np.add.at(torque, a.torque_body, section_torques(a, loads))
    add_torques(a, lam, torque)
    rolled = _rolled(a, step, x, (inverse, lever, vector_mean, product, gain))
    if on_curves:
        rolled = rolled + curve_gaps(a.curves, on_curves, rolled.size)
    Pu1 = known.Pu + h * rate
    omega1, du1, Pdu1 = _end_rates(a, step, x, (u1, Pu1, rate))
    v1, spring = x.v + x.v - start.v, spring_forces(a.springs, e0, measured)
    if held.size:
        spring = np.concatenate([spring, held])
        if touch is not None and touch.rubbing is not None:
            spring = with_anchors(touch.contacts, spring, touch.rubbing.anchor)
    return Trial(
        Configuration(r1, R1, u1, v1, omega1, du1, start.sigma + jump, spring),
        inverse=inverse,
        Pu=Pu1,
        Pmean=0.5 * (known.Pu + Pu1),
        Pdu=Pdu1,
        slope=slope,
        stress=stress,
        arm=arm,
        lever=lever,
        vector=vector,
        vector_mean=vector_mean,
        product=product,
        product_force=on_product,
        measured=measured,
        node_force=node_force,
        force=a.sum_points @ node_force,
        world_torque=torque,
        torque=turned_spins(inverse, torque),
        loads=loads,
        gap=s.combined(constraint_sums(a, product, s.coefficient_1, s.offset_1) + rolled),
        rolled=rolled,
        lam=lam,
        gain=gain,
        touch=touch,
        slid=slips,
        slipped=by_bearing,
        on_curves=on_curves,
        spin=None if s.decay is None else x.omega,
    )


def _touched(a: Arrays, step: Step, x: Means, end: tuple[Array, Array]) -> Touch | None:
    """Contact forces of a trial end with given centres and node arms; None without contacts."""
    if not a.contacts.number:
        return None
    places = (touching_points(a, step.start.r, step.known.arm), touching_points(a, *end))
    turned = step.h * turned_spins(step.start.R, x.omega)
    return touched(a.contacts, places, step.h, turned, held=step.start.spring, push=step.schedule.push)


def _rolled(a: Arrays, step: Step, x: Means, at: tuple[Array, ...]) -> Array:
    """Squares of position constraints at the end, and defects of nonholonomic rows over the step, (g,).

    ``at``: R̄⁻¹, levers, mean vectors, end products and gains of the terms. The increments of products come from the
    mean velocities, as differences of positions have round-off.
    """
    inverse, lever, vector, product, gain = at
    if not gain.size:
        return np.zeros(a.rolling.free.size)
    speed = node_velocities(a, x, inverse.transpose(0, 2, 1), lever)
    change = product_changes(a, a.incidence @ speed, vector)
    return squares(a, product) + step.h * slip(a, gain, change, turned_spins(step.start.R, x.omega))


def _strained(a: Arrays, known: Derived, h: float, x: Means) -> tuple[Array, Array]:
    """Mean slopes and the change Δσ of the stresses."""
    jump = h * (a.rise @ x.du)
    if not known.slope.size:
        return known.slope, jump
    step = h * (a.slopes @ x.du)
    slope = known.slope + 0.5 * step
    return slope, jump + a.bend @ (slope * step)


def _mean_stress(a: Arrays, step: Step, jump: Array) -> Array:
    """Mean stresses σ̃ (m,) from the change Δσ."""
    stress: Array = step.start.sigma + (0.5 + a.stress_damping / step.h) * jump
    decay = step.schedule.decay
    return stress if decay is None else stress + decay.softening @ jump


def _with_laws(a: Arrays, step: Step, stress: Array, product: Array) -> Array:
    """Mean stresses σ̃ of the strain rows (e,), with material laws by their discrete gradients."""
    viscosity = a.stress_damping[a.strains.stress] / step.h
    add_law_stresses(a.strains, (step.known.product, product), viscosity, stress)
    return stress


def _end_rates(a: Arrays, step: Step, x: Means, at: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
    """ω₁, u̇₁ and the inertia products of u̇₁, from u₁ and the inertia products of u₁ and of u̇̄."""
    (start, known, _, s), (u1, Pu1, rate) = step, at
    if s.decay is None:
        return x.omega + x.omega - start.omega, x.du + x.du - start.du, rate + rate - known.Pdu
    omega1, du1 = unpacked(a, end_rates(a, step, x, mass(a, u1, Pu1)))
    return omega1, du1, inertia_products(a, du1)


def mean_places(a: Arrays, start: Configuration, r1: Array, lever: Array) -> Array:
    """Mean positions of all nodes over the step, (k, d)."""
    return node_points(a, 0.5 * (start.r + r1), lever)


def world_loads(a: Arrays, arm: Array, inputs: Array) -> Array:
    """External inputs in world axes; inputs that follow a section are components on its directions."""
    if not a.follow_input.size:
        return inputs
    loads = inputs.copy()
    loads[a.follow_input] = np.einsum("fj,fjd->fd", inputs[a.follow_input], arm[a.follow_node])
    return loads


def section_torques(a: Arrays, loads: Array) -> Array:
    """World torques on the sections with torque inputs, (t, s)."""
    return (a.input_torque @ loads).reshape(a.torque_body.size, a.n.shape[0])


def _bending_torques(a: Arrays, t: Trial) -> Array:
    """Generalised forces (n,) of section torques: the sum of ψᵀ R̄⁻¹ τ."""
    turned = np.matmul(spin_map(t.inverse)[a.torque_body], section_torques(a, t.loads)[:, :, None])
    return a.torque_shape.T @ turned.ravel()


def _product_forces(a: Arrays, lam: Array, s: Schedule, measured: Measured) -> Array:
    """Forces on the products from multipliers and spring-dampers."""
    on_product = total(a.term_product, lam.take(a.term_row) * s.coefficient_mean, a.first.size)
    add_forces(a.springs, measured, on_product)
    return on_product


def node_forces(a: Arrays, on_product: Array, vector: Array, loads: Array) -> Array:
    """Forces on nodes from loads and from forces on products: φ on V·W acts with φW on V and φV on W."""
    on_pairs = on_product[:, None] * vector.take(a.partners, axis=0)
    forces: Array = a.pull_pairs @ on_pairs.reshape(-1, a.dim)
    return forces + (a.input_node @ loads).reshape(-1, a.dim) if loads.size else forces


def _virtual_work(a: Arrays, t: Trial) -> Array:
    """Generalised forces (n,) of node forces: the sum of φᵀ R̄⁻¹ f."""
    local = turned(t.inverse.take(a.node_body, axis=0), t.node_force)
    work: Array = a.node_shape.T @ local.ravel()
    return work if a.mean is None else work - a.mean.T @ (a.sum_points @ local).ravel()


def _inertia_force(a: Arrays, step: Step, t: Trial) -> Array:
    """Centrifugal and Coriolis forces f_u = ½ w₀ᵀ (∂M/∂u)(ū) w₁, (n,)."""
    s = a.n.shape[0]
    w0, w1 = body_spins(a, step.start.omega), body_spins(a, t.end.omega)
    square = a.s + t.Pmean[1 + s :].reshape(s, s, -1)
    force = w0 * (contracted(square, w1) - 0.5 * t.Pdu[1 : 1 + s]) - 0.5 * w1 * step.known.Pdu[1 : 1 + s]
    return over_spins(force)
