"""Energies, work and dissipation of a step in loops (see flexph.results.ledger, whose formulas these are)."""

from __future__ import annotations

from ....numerics.arrays import Array
from ....numerics.compiling import in_place
from ..memory.memory import REAL, WHOLE, Memory, indices, matrix, number, places, tensor, vector
from .motion import mean_shapes
from .relations import force
from .rolling import gain, world_spin
from .speeds import mean_speeds, node_speed, product_rate


@in_place
def energies(m: Memory, axes: tuple[int, ...], out: Array) -> None:
    """Energy by part in the order of the accounts."""
    inertia_mass = vector(m, REAL.inertia_mass)
    at_v = matrix(m, REAL.at_v)
    inertia_weight = matrix(m, REAL.inertia_weight)
    at_r = matrix(m, REAL.at_r)
    at_w = matrix(m, REAL.at_w)
    at_p_r = matrix(m, REAL.at_p_r)
    inertia_first = places(m, WHOLE.inertia_first)
    at_du = vector(m, REAL.at_du)
    at_p_u = vector(m, REAL.at_p_u)
    books_potential = indices(m, WHOLE.books_potential)
    at_sigma = vector(m, REAL.at_sigma)
    elastic_compliance_ptr = places(m, WHOLE.elastic_compliance_ptr)
    elastic_compliance_val = vector(m, REAL.elastic_compliance_val)
    elastic_compliance_col = places(m, WHOLE.elastic_compliance_col)
    books_elastic = indices(m, WHOLE.books_elastic)
    elastic_body = places(m, WHOLE.elastic_body)
    joints_state = indices(m, WHOLE.joints_state)
    books_spring = number(m, WHOLE.books_spring)
    at_spring = vector(m, REAL.at_spring)
    joints_stiffness = vector(m, REAL.joints_stiffness)
    d = len(axes)
    s = 1 if d == 2 else 3
    out[:] = 0.0
    for b in range(inertia_mass.size):
        kinetic, potential = 0.0, 0.0
        for i in range(d):
            kinetic += inertia_mass[b] * at_v[b, i] ** 2
            potential -= inertia_weight[b, i] * at_r[b, i]
        for i in range(s):
            kinetic += at_w[b, i] * at_p_r[b, i]
        for i in range(inertia_first[b], inertia_first[b + 1]):
            kinetic += at_du[i] * at_p_u[i]
        out[b] = 0.5 * kinetic
        if books_potential[b] >= 0:
            out[books_potential[b]] = potential
    for i in range(at_sigma.size):
        strain = 0.0
        for e in range(elastic_compliance_ptr[i], elastic_compliance_ptr[i + 1]):
            strain += elastic_compliance_val[e] * at_sigma[elastic_compliance_col[e]]
        out[books_elastic[elastic_body[i]]] += 0.5 * at_sigma[i] * strain
    for i in range(joints_state.size):
        if joints_state[i] >= 0:
            out[books_spring + joints_state[i]] = 0.5 * at_spring[joints_state[i]] ** 2 / joints_stiffness[i]


@in_place
def flows(m: Memory, axes: tuple[int, ...], h: float, before: Array, after: Array) -> None:
    """Work by port and drive, work by ideal joint, dissipation of a step, in the order of the accounts."""
    joints_term_row = places(m, WHOLE.joints_term_row)
    joints_term_product = places(m, WHOLE.joints_term_product)
    trial_mean = matrix(m, REAL.trial_mean)
    books_row = indices(m, WHOLE.books_row)
    x_lam = vector(m, REAL.x_lam)
    loads_node_row = indices(m, WHOLE.loads_node_row)
    loads_node_input = indices(m, WHOLE.loads_node_input)
    books_input = indices(m, WHOLE.books_input)
    loads_node_val = vector(m, REAL.loads_node_val)
    trial_loads = vector(m, REAL.trial_loads)
    moved = matrix(m, REAL.carried_moved)
    rolling_row = places(m, WHOLE.rolling_row)
    rolling_product = places(m, WHOLE.rolling_product)
    rolling_spin_row = places(m, WHOLE.rolling_spin_row)
    x_w = matrix(m, REAL.x_w)
    out = vector(m, REAL.carried_flow)
    d = len(axes)
    out[:] = 0.0
    mean_speeds(m, axes)
    for term in range(joints_term_row.size):
        row = joints_term_row[term]
        done = h * product_rate(m, axes, joints_term_product[term], trial_mean)
        out[books_row[row]] += x_lam[row] * 0.5 * (before[term] + after[term]) * done
    for i in range(rolling_row.size):
        row = rolling_row[i]
        out[books_row[row]] += x_lam[row] * gain(m, i) * h * product_rate(m, axes, rolling_product[i], trial_mean)
    for i in range(rolling_spin_row.size):
        row = rolling_spin_row[i]
        out[books_row[row]] += x_lam[row] * h * world_spin(m, axes, i, x_w)
    for e in range(loads_node_row.size):
        row, column = loads_node_row[e], loads_node_input[e]
        out[books_input[column]] += h * loads_node_val[e] * moved[row // d, row % d] * trial_loads[column]
    _torque_work(m, axes, h, out)
    _dissipation(m, h, out)


@in_place
def _torque_work(m: Memory, axes: tuple[int, ...], h: float, out: Array) -> None:
    loads_torque_row = indices(m, WHOLE.loads_torque_row)
    loads_torque_body = indices(m, WHOLE.loads_torque_body)
    x_w = matrix(m, REAL.x_w)
    loads_torque_ptr = places(m, WHOLE.loads_torque_ptr)
    loads_torque_shape = matrix(m, REAL.loads_torque_shape)
    x_du = vector(m, REAL.x_du)
    loads_torque_col = places(m, WHOLE.loads_torque_col)
    trial_inverse = tensor(m, REAL.trial_inverse)
    loads_torque_input = indices(m, WHOLE.loads_torque_input)
    books_input = indices(m, WHOLE.books_input)
    loads_torque_val = vector(m, REAL.loads_torque_val)
    trial_loads = vector(m, REAL.trial_loads)
    s = 1 if len(axes) == 2 else 3
    for e in range(loads_torque_row.size):
        n, i = loads_torque_row[e] // s, loads_torque_row[e] % s
        b = loads_torque_body[n]
        total = 0.0
        for j in range(s):
            spin = x_w[b, j]
            for f in range(loads_torque_ptr[n], loads_torque_ptr[n + 1]):
                spin += loads_torque_shape[f, j] * x_du[loads_torque_col[f]]
            total += spin if s == 1 else trial_inverse[b, j, i] * spin
        column = loads_torque_input[e]
        out[books_input[column]] += h * loads_torque_val[e] * total * trial_loads[column]


@in_place
def _dissipation(m: Memory, h: float, out: Array) -> None:
    trial_jump = vector(m, REAL.trial_jump)
    books_body = indices(m, WHOLE.books_body)
    elastic_body = places(m, WHOLE.elastic_body)
    elastic_compliance_ptr = places(m, WHOLE.elastic_compliance_ptr)
    elastic_compliance_val = vector(m, REAL.elastic_compliance_val)
    elastic_compliance_col = places(m, WHOLE.elastic_compliance_col)
    elastic_damping = vector(m, REAL.elastic_damping)
    inertia_mass = vector(m, REAL.inertia_mass)
    inertia_first = places(m, WHOLE.inertia_first)
    inertia_ptr = places(m, WHOLE.inertia_ptr)
    x_du = vector(m, REAL.x_du)
    elastic_viscous = vector(m, REAL.elastic_viscous)
    inertia_col = places(m, WHOLE.inertia_col)
    joints_damping = vector(m, REAL.joints_damping)
    joints_kind = indices(m, WHOLE.joints_kind)
    books_damper = indices(m, WHOLE.books_damper)
    trial_extension = vector(m, REAL.trial_extension)
    for i in range(trial_jump.size):
        column = books_body[elastic_body[i]]
        if column >= 0:
            strain = 0.0
            for e in range(elastic_compliance_ptr[i], elastic_compliance_ptr[i + 1]):
                strain += elastic_compliance_val[e] * trial_jump[elastic_compliance_col[e]]
            out[column] += elastic_damping[i] / h * trial_jump[i] * strain
    for b in range(inertia_mass.size):
        if books_body[b] >= 0:
            for i in range(inertia_first[b], inertia_first[b + 1]):
                for e in range(inertia_ptr[i], inertia_ptr[i + 1]):
                    out[books_body[b]] += h * x_du[i] * elastic_viscous[e] * x_du[inertia_col[e]]
    for i in range(joints_damping.size):
        if books_damper[i] >= 0:
            out[books_damper[i]] += joints_damping[i] * trial_extension[i] ** 2 / h
            if joints_kind[i] != 0:
                out[books_damper[i]] += trial_extension[i] * force(m, i, trial_extension[i] / h)


@in_place
def velocity_defect(
    m: Memory, axes: tuple[int, ...], coefficient: Array, own_coefficient: Array, own_offset: Array
) -> None:
    """G v − ∂g/∂t at a state, (g,)."""
    nodes_body = places(m, WHOLE.nodes_body)
    at_v, at_w, at_du = matrix(m, REAL.at_v), matrix(m, REAL.at_w), vector(m, REAL.at_du)
    at_arm = matrix(m, REAL.at_arm)
    at_R = tensor(m, REAL.at_R)
    trial_c = matrix(m, REAL.trial_c)
    joints_term_row = places(m, WHOLE.joints_term_row)
    joints_term_product = places(m, WHOLE.joints_term_product)
    at_vector = matrix(m, REAL.at_vector)
    at_product = vector(m, REAL.at_product)
    frame = matrix(m, REAL.carried_frame)
    out = vector(m, REAL.carried_new_defect)
    mean_shapes(m, axes, at_du, trial_c)
    for n in range(nodes_body.size):
        b = nodes_body[n]
        for i in range(len(axes)):
            for j in range(len(axes)):
                frame[i, j] = at_R[b, i, j]
        node_speed(m, axes, n, at_v[b], at_w[b], at_du, at_arm[n])
    for row in range(out.size):
        out[row] = -own_offset[row]
    for term in range(joints_term_row.size):
        p = joints_term_product[term]
        rate = product_rate(m, axes, p, at_vector)
        out[joints_term_row[term]] += coefficient[term] * rate + own_coefficient[term] * at_product[p]
    rolling_row = places(m, WHOLE.rolling_row)
    rolling_product = places(m, WHOLE.rolling_product)
    rolling_by = places(m, WHOLE.rolling_by)
    rolling_weight = vector(m, REAL.rolling_weight)
    rolling_spin_row = places(m, WHOLE.rolling_spin_row)
    for i in range(rolling_row.size):
        rate = product_rate(m, axes, rolling_product[i], at_vector)
        out[rolling_row[i]] += rolling_weight[i] * at_product[rolling_by[i]] * rate
    for i in range(rolling_spin_row.size):
        out[rolling_spin_row[i]] += world_spin(m, axes, i, at_w)
