"""Momenta, node arms, vectors between nodes and their scalar products, of a configuration (see kernels.state)."""

from __future__ import annotations

import cython

from ....numerics.arrays import Array
from ..memory.codes import PRODUCTS as _PRODUCTS

if not cython.compiled:
    from ....numerics.loops.views import call_one, combine, combine_two, copy
    from ..memory.memory import Memory
    from ..memory.structures import Deformed, Momenta
    from ..nodal.points import move_means, place_means
    from ..terms.nodes import cross_product

PRODUCTS = cython.declare(cython.Py_ssize_t, _PRODUCTS)


def inertia_products(m: Memory, dim: int, u: Array, space: Array, out: Array) -> None:
    """Write the products M u, N_a u and K_ab u into ``out`` (n, K), and the shifts φ̄u into ``space`` (b, d)."""
    mean_shapes(m, dim, u, space)
    deformed = Deformed(u, space, out)
    _products(m, dim, False, deformed, deformed)


def _products(m: Memory, dim: int, both: bool, one: Deformed, other: Deformed) -> None:
    """Write the inertia products of deformations ``one``; if ``both``, also those of their rates, ``other``.

    The shifts φ̄u are read from ``mean`` of each.
    """
    if m.run_asked.size > 0:
        call_large_products(m, PRODUCTS, one.u)
        copy(m.run_answered, one.products)
        if both:
            call_large_products(m, PRODUCTS, other.u)
            copy(m.run_answered, other.products)
        return
    space = one.mean
    rates = other.mean
    out = one.products
    more = other.products
    d = dim
    count = 3 if d == 2 else 13
    for b in range(m.inertia_mass.size):
        if m.inertia_first[b] == m.inertia_first[b + 1]:
            continue
        for second in range(2 if both else 1):
            for j in range(d):
                for k in range(count):
                    total = 0.0
                    for i in range(d):
                        total -= m.inertia_form[b][k * d + j][i] * (space[b][i] if second == 0 else rates[b][i])
                    m.run_form[second * d + j][k] = total
        for i in range(m.inertia_first[b], m.inertia_first[b + 1]):
            first = m.inertia_ptr[i]
            last = m.inertia_ptr[i + 1]
            alike = m.inertia_alike[b]
            form = m.run_form
            val = m.inertia_val
            col = m.inertia_col
            if both:
                combine_two(d, out, more, i, m.inertia_mean, form, val, first, last, alike, one.u, other.u, col)
            else:
                combine(d, out, i, m.inertia_mean, form, val, first, last, alike, one.u, col)


def call_large_products(m: Memory, request: int, u: Array) -> None:
    """Let Python compute the products of large matrices with u, which it writes into ``run.answered``.

    ``request`` is the code of the request (see memory.codes).
    """
    copy(u, m.run_asked)
    call_one(m.system_python[0], request)


def mean_shapes(m: Memory, dim: int, u: Array, out: Array) -> None:
    """Write the displacements φ̄u of the centres of mass of all bodies into ``out`` (b, d)."""
    for b in range(m.inertia_mass.size):
        for j in range(dim):
            total = 0.0
            for i in range(m.inertia_first[b], m.inertia_first[b + 1]):
                total += m.inertia_mean[i][j] * u[i]
            out[b][j] = total


def momenta(m: Memory, dim: int, w: Array, at: Deformed, moved: Deformed, out: Momenta) -> None:
    """Write the momenta p_r = J(u) ω + (n + N u)·u̇ and p_u = ω (n + N u) + M u̇ about the centres of mass.

    n + N u couples spins with flexible rates (see memory.data.Inertia). ``w`` are the spins ω of the bodies; ``at``
    has the flexible coordinates u, ``moved`` their rates u̇, each with its inertia products (with M, N and K).
    """
    u = at.u
    du = moved.u
    Pu = at.products
    Pdu = moved.products
    s = 1 if dim == 2 else 3
    for b in range(m.inertia_mass.size):
        for i in range(s):
            total = 0.0
            for j in range(s):
                total += m.inertia_J[b][i][j] * w[b][j]
            for k in range(m.inertia_first[b], m.inertia_first[b + 1]):
                turning = 0.0
                for j in range(s):
                    turning += (2.0 * m.inertia_s[k][i][j] + Pu[k][1 + s + s * i + j]) * w[b][j]
                total += turning * u[k] + (m.inertia_n[k][i] + Pu[k][1 + i]) * du[k]
            out.p_r[b][i] = total
        for k in range(m.inertia_first[b], m.inertia_first[b + 1]):
            total = Pdu[k][0]
            for i in range(s):
                total += w[b][i] * (m.inertia_n[k][i] + Pu[k][1 + i])
            out.p_u[k] = total


def node_arms(m: Memory, dim: int, R: Array, u: Array, space: Array, arm: Array) -> None:
    """Write the arms R (X + φu − φ̄u) of all nodes from the centres of their bodies into ``arm``.

    X are the undeformed positions in the axes of the body and φ the shapes of a node. Directions have no term φ̄u,
    which is read from ``space``.
    """
    d = dim
    for k in range(m.nodes_body.size):
        b = m.nodes_body[k]
        moves = m.nodes_moves[k]
        for i in range(d):
            arm[k][i] = 0.0
        for j in range(d):
            local = m.nodes_position[k][j] - moves * space[b][j]
            for e in range(m.nodes_ptr[k], m.nodes_ptr[k + 1]):
                local += m.nodes_val[e][j] * u[m.nodes_col[e]]
            for i in range(d):
                arm[k][i] += R[b][i][j] * local


def vectors(m: Memory, dim: int, r: Array, arm: Array, out: Array, product: Array) -> None:
    """Write the vectors between nodes, in world axes, into ``out``, and their products into ``product``."""
    if dim == 2:  # a number for the compiler, see build_loops.py
        _vectors(m, 2, r, arm, out, product)
    else:
        _vectors(m, 3, r, arm, out, product)


def _vectors(m: Memory, dim: int, r: Array, arm: Array, out: Array, product: Array) -> None:
    """Write the vectors and products as :func:`vectors`, with ``dim`` a constant of 2 or 3."""
    d = dim
    place_means(m, r, arm)
    for v in range(m.joints_plus.size):
        p = m.joints_plus[v]
        q = m.joints_minus[v]
        for i in range(d):
            total = m.joints_fixed[v][i]
            if p >= 0:
                total += m.nodes_moves[p] * r[m.nodes_body[p]][i] + arm[p][i]
            if q >= 0:
                total -= m.nodes_moves[q] * r[m.nodes_body[q]][i] + arm[q][i]
            out[v][i] = total
    for p in range(m.joints_first.size):
        total = 0.0
        for i in range(d):
            total += out[m.joints_first[p]][i] * out[m.joints_second[p]][i]
        product[p] = total


def derive(m: Memory, dim: int, space: Array) -> None:
    """Compute inertia products, momenta, arms, vectors and products of the present state ``at``.

    Its positions and velocities are given; ``space`` is work space for the shifts φ̄u.
    """
    derive_momenta(m, dim, space)
    node_arms(m, dim, m.at_R, m.at_u, space, m.at_arm)
    vectors(m, dim, m.at_r, m.at_arm, m.at_vector, m.at_product)


def derive_momenta(m: Memory, dim: int, space: Array) -> None:
    """Compute the inertia products and momenta of the present state ``at``; φ̄u is left in ``space``."""
    rates = m.run_mean_rate
    mean_shapes(m, dim, m.at_du, rates)
    mean_shapes(m, dim, m.at_u, space)
    at = Deformed(m.at_u, space, m.at_Pu)
    moved = Deformed(m.at_du, rates, m.at_Pdu)
    _products(m, dim, True, at, moved)
    out = Momenta(m.at_p_r, m.at_p_u)
    momenta(m, dim, m.at_w, at, moved, out)


def product_rate(m: Memory, dim: int, p: int, others: Array) -> float:
    """Rate V̇·W + V·Ẇ of product p = V·W if the nodes move with the velocities ``run.moved``.

    ``others`` (v, d) are the vectors V and W by which the rates are multiplied, at a state or as means over a step.
    """
    done = 0.0
    for side in range(2):
        v = m.joints_first[p] if side == 0 else m.joints_second[p]
        other = m.joints_second[p] if side == 0 else m.joints_first[p]
        for i in range(dim):
            if m.joints_plus[v] >= 0:
                done += m.run_moved[m.joints_plus[v]][i] * others[other][i]
            if m.joints_minus[v] >= 0:
                done -= m.run_moved[m.joints_minus[v]][i] * others[other][i]
    return done


def mean_speeds(m: Memory, dim: int) -> None:
    """Write the exact displacements of the nodes over a step, divided by its length, into ``run.moved``."""
    mean_shapes(m, dim, m.x_du, m.trial_c)
    for n in range(m.nodes_body.size):
        b = m.nodes_body[n]
        for i in range(dim):
            for j in range(dim):
                m.run_frame[i][j] = m.trial_inverse[b][j][i]
        _turn_arm(m, dim, m.x_w[b], m.trial_lever[n])
        node_speed(m, dim, n, m.x_v[b], m.x_du)
    move_means(m, m.x_v)


def node_speeds(m: Memory, dim: int) -> None:
    """Write the velocities of all nodes in the present state ``at`` into ``run.moved``."""
    mean_shapes(m, dim, m.at_du, m.trial_c)
    for n in range(m.nodes_body.size):
        b = m.nodes_body[n]
        for i in range(dim):
            for j in range(dim):
                m.run_frame[i][j] = m.at_R[b][i][j]
        _turn_arm(m, dim, m.at_w[b], m.at_arm[n])
        node_speed(m, dim, n, m.at_v[b], m.at_du)
    move_means(m, m.at_v)


def _turn_arm(m: Memory, dim: int, w: Array, arm: Array) -> None:
    """Write the velocity of an arm, for the spin w in the frame ``run.frame``, into ``run.space``."""
    turn = m.run_space[0]
    lever = m.run_space[1]
    if dim == 2:
        lever[0] = -w[0] * arm[1]
        lever[1] = w[0] * arm[0]
    else:
        for i in range(3):
            turn[i] = m.run_frame[i][0] * w[0] + m.run_frame[i][1] * w[1] + m.run_frame[i][2] * w[2]
        cross_product(turn, arm, lever)


def node_speed(m: Memory, dim: int, n: int, v: Array, du: Array) -> None:
    """Write the velocity of node n into ``run.moved``, for velocities v and du of the bodies.

    The velocity of its arm is read from ``run.space`` (see :func:`_turn_arm`), φ̄u̇ from ``trial.c``.
    """
    speed = m.run_moved
    d = dim
    b = m.nodes_body[n]
    moves = m.nodes_moves[n]
    lever = m.run_space[1]
    for i in range(d):
        speed[n][i] = moves * v[i] + lever[i]
    for j in range(d):
        local = -moves * m.trial_c[b][j]
        for e in range(m.nodes_ptr[n], m.nodes_ptr[n + 1]):
            local += m.nodes_val[e][j] * du[m.nodes_col[e]]
        for i in range(d):
            speed[n][i] += m.run_frame[i][j] * local
