"""Momenta, node arms, vectors and products of a configuration (see kernels.state, whose formulas these are)."""

from __future__ import annotations

from ....numerics.arrays import Array
from ....numerics.compiled.kernel import kernel
from ....numerics.compiled.lanes import brief, get, put
from ..memory.memory import Memory
from ..memory.products import combine
from ..nodal.points import move_means, place_means
from ..terms.nodes import cross_product


@kernel
def copy(source: Array, target: Array) -> None:
    """Copy all entries of a vector."""
    brief()
    for i in range(source.size):
        target[i] = source[i]


@kernel
def copy_field(source: Array, target: Array) -> None:
    """Copy all entries of a field of any number of axes."""
    brief()
    for i in range(source.size):
        put(target, i, get(source, i))


@kernel
def average(first: Array, second: Array, out: Array) -> None:
    """Means of the entries of two fields."""
    brief()
    for i in range(out.size):
        put(out, i, 0.5 * (get(first, i) + get(second, i)))


@kernel
def inertia_products(m: Memory, axes: tuple[int, ...], u: Array, space: Array, out: Array) -> None:
    """M u, N_a u, K_ab u of all coordinates into ``out`` (n, K); φ̄u into ``space`` (b, d)."""
    mean_shapes(m, axes, u, space)
    _products(m, axes, (u,), (space,), (out,))


@kernel
def _products(
    m: Memory, axes: tuple[int, ...], us: tuple[Array, ...], spaces: tuple[Array, ...], outs: tuple[Array, ...]
) -> None:
    """Inertia products of several u at once, with φ̄u in the spaces."""
    brief()
    d = len(axes)
    count = 3 if d == 2 else 13
    for b in range(m.inertia_mass.size):
        if m.inertia_first[b] == m.inertia_first[b + 1]:
            continue
        for own in range(len(us)):
            space = spaces[own]
            for j in range(d):
                for k in range(count):
                    total = 0.0
                    for i in range(d):
                        total -= m.inertia_form[b, k * d + j, i] * space[b, i]
                    m.run_form[own * d + j, k] = total
        for i in range(m.inertia_first[b], m.inertia_first[b + 1]):
            ends = (m.inertia_ptr[i], m.inertia_ptr[i + 1], m.inertia_alike[b])
            combine(axes, outs, i, m.inertia_mean, m.run_form, m.inertia_val, ends, us, m.inertia_col)


@kernel
def mean_shapes(m: Memory, axes: tuple[int, ...], u: Array, out: Array) -> None:
    """φ̄ u of all bodies, (b, d)."""
    brief()
    for b in range(m.inertia_mass.size):
        for j in range(len(axes)):
            total = 0.0
            for i in range(m.inertia_first[b], m.inertia_first[b + 1]):
                total += m.inertia_mean[i, j] * u[i]
            out[b, j] = total


@kernel
def momenta(
    m: Memory, axes: tuple[int, ...], w: Array, u: Array, du: Array, Pu: Array, Pdu: Array, p_r: Array, p_u: Array
) -> None:
    """p_r = J(u) ω + (n + N u)·u̇ and p_u = ω (n + N u) + M u̇."""
    brief()
    s = 1 if len(axes) == 2 else 3
    for b in range(m.inertia_mass.size):
        for i in range(s):
            total = 0.0
            for j in range(s):
                total += m.inertia_J[b, i, j] * w[b, j]
            for k in range(m.inertia_first[b], m.inertia_first[b + 1]):
                turning = 0.0
                for j in range(s):
                    turning += (2.0 * m.inertia_s[k, i, j] + Pu[k, 1 + s + s * i + j]) * w[b, j]
                total += turning * u[k] + (m.inertia_n[k, i] + Pu[k, 1 + i]) * du[k]
            p_r[b, i] = total
        for k in range(m.inertia_first[b], m.inertia_first[b + 1]):
            total = Pdu[k, 0]
            for i in range(s):
                total += w[b, i] * (m.inertia_n[k, i] + Pu[k, 1 + i])
            p_u[k] = total


@kernel
def node_arms(m: Memory, axes: tuple[int, ...], R: Array, u: Array, space: Array, arm: Array) -> None:
    """R (X + φ u) of all nodes; φ̄u is taken from ``space``."""
    brief()
    d = len(axes)
    for k in range(m.nodes_body.size):
        b, moves = m.nodes_body[k], m.nodes_moves[k]
        for i in range(d):
            arm[k, i] = 0.0
        for j in range(d):
            local = m.nodes_position[k, j] - moves * space[b, j]
            for e in range(m.nodes_ptr[k], m.nodes_ptr[k + 1]):
                local += m.nodes_val[e, j] * u[m.nodes_col[e]]
            for i in range(d):
                arm[k, i] += R[b, i, j] * local


@kernel
def vectors(m: Memory, axes: tuple[int, ...], r: Array, arm: Array, out: Array, product: Array) -> None:
    """World vectors between nodes and their products."""
    brief()
    d = len(axes)
    place_means(m, r, arm)
    for v in range(m.joints_plus.size):
        p, q = m.joints_plus[v], m.joints_minus[v]
        for i in range(d):
            total = m.joints_fixed[v, i]
            if p >= 0:
                total += m.nodes_moves[p] * r[m.nodes_body[p], i] + arm[p, i]
            if q >= 0:
                total -= m.nodes_moves[q] * r[m.nodes_body[q], i] + arm[q, i]
            out[v, i] = total
    for p in range(m.joints_first.size):
        total = 0.0
        for i in range(d):
            total += out[m.joints_first[p], i] * out[m.joints_second[p], i]
        product[p] = total


@kernel
def derive(m: Memory, axes: tuple[int, ...], space: Array) -> None:
    """Derive all values of a configuration from its positions and velocities."""
    derive_momenta(m, axes, space)
    node_arms(m, axes, m.at_R, m.at_u, space, m.at_arm)
    vectors(m, axes, m.at_r, m.at_arm, m.at_vector, m.at_product)


@kernel
def derive_momenta(m: Memory, axes: tuple[int, ...], space: Array) -> None:
    """The inertia products and momenta; φ̄u is left in ``space``."""
    rates = m.run_mean_rate
    mean_shapes(m, axes, m.at_du, rates)
    mean_shapes(m, axes, m.at_u, space)
    _products(m, axes, (m.at_u, m.at_du), (space, rates), (m.at_Pu, m.at_Pdu))
    momenta(m, axes, m.at_w, m.at_u, m.at_du, m.at_Pu, m.at_Pdu, m.at_p_r, m.at_p_u)


@kernel
def product_rate(m: Memory, axes: tuple[int, ...], p: int, others: Array) -> float:
    """Rate of a product when both its vectors move with the nodes, at the speeds in ``run.moved``."""
    done = 0.0
    for side in range(2):
        v, other = (m.joints_first[p], m.joints_second[p]) if side == 0 else (m.joints_second[p], m.joints_first[p])
        for i in range(len(axes)):
            if m.joints_plus[v] >= 0:
                done += m.run_moved[m.joints_plus[v], i] * others[other, i]
            if m.joints_minus[v] >= 0:
                done -= m.run_moved[m.joints_minus[v], i] * others[other, i]
    return done


@kernel
def mean_speeds(m: Memory, axes: tuple[int, ...]) -> None:
    """Exact increments of the nodes over a step, divided by its length: B v̄, (k, d)."""
    mean_shapes(m, axes, m.x_du, m.trial_c)
    for n in range(m.nodes_body.size):
        b = m.nodes_body[n]
        for i in range(len(axes)):
            for j in range(len(axes)):
                m.run_frame[i, j] = m.trial_inverse[b, j, i]
        node_speed(m, axes, n, m.x_v[b], m.x_w[b], m.x_du, m.trial_lever[n])
    move_means(m, m.x_v)


@kernel
def node_speeds(m: Memory, axes: tuple[int, ...]) -> None:
    """Speeds of all nodes at ``at`` into ``run.moved``."""
    mean_shapes(m, axes, m.at_du, m.trial_c)
    for n in range(m.nodes_body.size):
        b = m.nodes_body[n]
        for i in range(len(axes)):
            for j in range(len(axes)):
                m.run_frame[i, j] = m.at_R[b, i, j]
        node_speed(m, axes, n, m.at_v[b], m.at_w[b], m.at_du, m.at_arm[n])
    move_means(m, m.at_v)


@kernel
def node_speed(m: Memory, axes: tuple[int, ...], n: int, v: Array, w: Array, du: Array, arm: Array) -> None:
    """Speed of a node into ``run.moved`` with the frame of its body in ``run.frame``, φ̄u̇ in ``trial.c``."""
    speed = m.run_moved
    d, b, moves = len(axes), m.nodes_body[n], m.nodes_moves[n]
    turn, lever = m.run_space[0], m.run_space[1]
    if d == 2:
        lever[0], lever[1] = -w[0] * arm[1], w[0] * arm[0]
    else:
        for i in range(3):
            turn[i] = m.run_frame[i, 0] * w[0] + m.run_frame[i, 1] * w[1] + m.run_frame[i, 2] * w[2]
        cross_product(turn, arm, lever)
    for i in range(d):
        speed[n, i] = moves * v[i] + lever[i]
    for j in range(d):
        local = -moves * m.trial_c[b, j]
        for e in range(m.nodes_ptr[n], m.nodes_ptr[n + 1]):
            local += m.nodes_val[e, j] * du[m.nodes_col[e]]
        for i in range(d):
            speed[n, i] += m.run_frame[i, j] * local
