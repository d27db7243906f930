"""What follows from a configuration (see kernels.state, whose formulas these are in loops)."""

from __future__ import annotations

from ....numerics.arrays import Array
from ....numerics.compiling import in_place
from ..memory.memory import REAL, WHOLE, Memory, indices, matrix, places, tensor, vector
from ..memory.simd import brief, combine


@in_place
def cross_product(a: Array, b: Array, out: Array) -> None:
    """A × b in space."""
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]


@in_place
def copy(source: Array, target: Array) -> None:
    """Copy all entries of a vector."""
    brief()
    for i in range(source.size):
        target[i] = source[i]


@in_place
def inertia_products(m: Memory, axes: tuple[int, ...], u: Array, space: Array, out: Array) -> None:
    """M u, N_a u, K_ab u of all coordinates into ``out`` (n, K); φ̄u into ``space`` (b, d)."""
    mean_shapes(m, axes, u, space)
    _products(m, axes, (u,), (space,), (out,))


@in_place
def _products(
    m: Memory, axes: tuple[int, ...], us: tuple[Array, ...], spaces: tuple[Array, ...], outs: tuple[Array, ...]
) -> None:
    """The same of several u at once, with φ̄u in the spaces."""
    brief()
    inertia_mass = vector(m, REAL.inertia_mass)
    inertia_first = places(m, WHOLE.inertia_first)
    inertia_mean = matrix(m, REAL.inertia_mean)
    inertia_form = tensor(m, REAL.inertia_form)
    carried_form = matrix(m, REAL.carried_form)
    inertia_ptr = places(m, WHOLE.inertia_ptr)
    inertia_col = places(m, WHOLE.inertia_col)
    inertia_val = matrix(m, REAL.inertia_val)
    d = len(axes)
    count = 3 if d == 2 else 13
    for b in range(inertia_mass.size):
        if inertia_first[b] == inertia_first[b + 1]:
            continue
        for own in range(len(us)):
            space = spaces[own]
            for j in range(d):
                for k in range(count):
                    total = 0.0
                    for i in range(d):
                        total -= inertia_form[b, k * d + j, i] * space[b, i]
                    carried_form[own * d + j, k] = total
        for i in range(inertia_first[b], inertia_first[b + 1]):
            ends = (inertia_ptr[i], inertia_ptr[i + 1])
            combine(axes, outs, i, inertia_mean, carried_form, inertia_val, ends, us, inertia_col)


@in_place
def mean_shapes(m: Memory, axes: tuple[int, ...], u: Array, out: Array) -> None:
    """φ̄ u of all bodies, (b, d)."""
    brief()
    inertia_mass = vector(m, REAL.inertia_mass)
    inertia_first = places(m, WHOLE.inertia_first)
    inertia_mean = matrix(m, REAL.inertia_mean)
    for b in range(inertia_mass.size):
        for j in range(len(axes)):
            total = 0.0
            for i in range(inertia_first[b], inertia_first[b + 1]):
                total += inertia_mean[i, j] * u[i]
            out[b, j] = total


@in_place
def momenta(
    m: Memory, axes: tuple[int, ...], w: Array, u: Array, du: Array, Pu: Array, Pdu: Array, p_r: Array, p_u: Array
) -> None:
    """p_r = J(u) ω + (n + N u)·u̇ and p_u = ω (n + N u) + M u̇."""
    brief()
    inertia_mass = vector(m, REAL.inertia_mass)
    inertia_J = tensor(m, REAL.inertia_J)
    inertia_first = places(m, WHOLE.inertia_first)
    inertia_n = matrix(m, REAL.inertia_n)
    inertia_s = tensor(m, REAL.inertia_s)
    s = 1 if len(axes) == 2 else 3
    for b in range(inertia_mass.size):
        for i in range(s):
            total = 0.0
            for j in range(s):
                total += inertia_J[b, i, j] * w[b, j]
            for k in range(inertia_first[b], inertia_first[b + 1]):
                turning = 0.0
                for j in range(s):
                    turning += (2.0 * inertia_s[k, i, j] + Pu[k, 1 + s + s * i + j]) * w[b, j]
                total += turning * u[k] + (inertia_n[k, i] + Pu[k, 1 + i]) * du[k]
            p_r[b, i] = total
        for k in range(inertia_first[b], inertia_first[b + 1]):
            total = Pdu[k, 0]
            for i in range(s):
                total += w[b, i] * (inertia_n[k, i] + Pu[k, 1 + i])
            p_u[k] = total


@in_place
def node_arms(m: Memory, axes: tuple[int, ...], R: Array, u: Array, space: Array, arm: Array) -> None:
    """R (X + φ u) of all nodes; φ̄u is taken from ``space``."""
    brief()
    nodes_body = places(m, WHOLE.nodes_body)
    nodes_moves = vector(m, REAL.nodes_moves)
    nodes_position = matrix(m, REAL.nodes_position)
    nodes_ptr = places(m, WHOLE.nodes_ptr)
    nodes_val = matrix(m, REAL.nodes_val)
    nodes_col = places(m, WHOLE.nodes_col)
    d = len(axes)
    for k in range(nodes_body.size):
        b, moves = nodes_body[k], nodes_moves[k]
        for i in range(d):
            arm[k, i] = 0.0
        for j in range(d):
            local = nodes_position[k, j] - moves * space[b, j]
            for e in range(nodes_ptr[k], nodes_ptr[k + 1]):
                local += nodes_val[e, j] * u[nodes_col[e]]
            for i in range(d):
                arm[k, i] += R[b, i, j] * local


@in_place
def vectors(m: Memory, axes: tuple[int, ...], r: Array, arm: Array, made: Array, product: Array) -> None:
    """World vectors between nodes and their products."""
    brief()
    joints_plus = indices(m, WHOLE.joints_plus)
    joints_minus = indices(m, WHOLE.joints_minus)
    joints_fixed = matrix(m, REAL.joints_fixed)
    nodes_moves = vector(m, REAL.nodes_moves)
    nodes_body = places(m, WHOLE.nodes_body)
    joints_first = places(m, WHOLE.joints_first)
    joints_second = places(m, WHOLE.joints_second)
    d = len(axes)
    for v in range(joints_plus.size):
        p, q = joints_plus[v], joints_minus[v]
        for i in range(d):
            total = joints_fixed[v, i]
            if p >= 0:
                total += nodes_moves[p] * r[nodes_body[p], i] + arm[p, i]
            if q >= 0:
                total -= nodes_moves[q] * r[nodes_body[q], i] + arm[q, i]
            made[v, i] = total
    for p in range(joints_first.size):
        total = 0.0
        for i in range(d):
            total += made[joints_first[p], i] * made[joints_second[p], i]
        product[p] = total


@in_place
def derive(m: Memory, axes: tuple[int, ...], space: Array) -> None:
    """Everything that follows from positions and velocities."""
    at_u = vector(m, REAL.at_u)
    at_arm = matrix(m, REAL.at_arm)
    derive_momenta(m, axes, space)
    node_arms(m, axes, tensor(m, REAL.at_R), at_u, space, at_arm)
    vectors(m, axes, matrix(m, REAL.at_r), at_arm, matrix(m, REAL.at_vector), vector(m, REAL.at_product))


@in_place
def derive_momenta(m: Memory, axes: tuple[int, ...], space: Array) -> None:
    """The inertia products and momenta; φ̄u is left in ``space``."""
    at_du = vector(m, REAL.at_du)
    at_Pdu = matrix(m, REAL.at_Pdu)
    at_u = vector(m, REAL.at_u)
    at_Pu = matrix(m, REAL.at_Pu)
    rates = matrix(m, REAL.carried_mean_rate)
    mean_shapes(m, axes, at_du, rates)
    mean_shapes(m, axes, at_u, space)
    _products(m, axes, (at_u, at_du), (space, rates), (at_Pu, at_Pdu))
    at_w, at_p_r, at_p_u = matrix(m, REAL.at_w), matrix(m, REAL.at_p_r), vector(m, REAL.at_p_u)
    momenta(m, axes, at_w, at_u, at_du, at_Pu, at_Pdu, at_p_r, at_p_u)
