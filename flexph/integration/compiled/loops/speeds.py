"""Speeds of nodes, and rates of products by them."""

from __future__ import annotations

from ....numerics.arrays import Array
from ..memory.kernel import kernel
from ..memory.memory import Memory
from .motion import cross_product, mean_shapes


@kernel
def product_rate(m: Memory, axes: tuple[int, ...], p: int, others: Array) -> float:
    """Rate of a product when both its vectors move with the nodes, at the speeds in ``carried.moved``."""
    done = 0.0
    for side in range(2):
        v, other = (m.joints_first[p], m.joints_second[p]) if side == 0 else (m.joints_second[p], m.joints_first[p])
        for i in range(len(axes)):
            if m.joints_plus[v] >= 0:
                done += m.carried_moved[m.joints_plus[v], i] * others[other, i]
            if m.joints_minus[v] >= 0:
                done -= m.carried_moved[m.joints_minus[v], i] * others[other, i]
    return done


@kernel
def mean_speeds(m: Memory, axes: tuple[int, ...]) -> None:
    """Exact increments of the nodes over a step, divided by its length: B v̄, (k, d)."""
    mean_shapes(m, axes, m.x_du, m.trial_c)
    for n in range(m.nodes_body.size):
        b = m.nodes_body[n]
        for i in range(len(axes)):
            for j in range(len(axes)):
                m.carried_frame[i, j] = m.trial_inverse[b, j, i]
        node_speed(m, axes, n, m.x_v[b], m.x_w[b], m.x_du, m.trial_lever[n])


@kernel
def node_speed(m: Memory, axes: tuple[int, ...], n: int, v: Array, w: Array, du: Array, arm: Array) -> None:
    """Speed of a node into ``carried.moved`` with the frame of its body in ``carried.frame``, φ̄u̇ in ``trial.c``."""
    speed = m.carried_moved
    d, b, moves = len(axes), m.nodes_body[n], m.nodes_moves[n]
    turn, lever = m.carried_space[0], m.carried_space[1]
    if d == 2:
        lever[0], lever[1] = -w[0] * arm[1], w[0] * arm[0]
    else:
        for i in range(3):
            turn[i] = m.carried_frame[i, 0] * w[0] + m.carried_frame[i, 1] * w[1] + m.carried_frame[i, 2] * w[2]
        cross_product(turn, arm, lever)
    for i in range(d):
        speed[n, i] = moves * v[i] + lever[i]
    for j in range(d):
        local = -moves * m.trial_c[b, j]
        for e in range(m.nodes_ptr[n], m.nodes_ptr[n + 1]):
            local += m.nodes_val[e, j] * du[m.nodes_col[e]]
        for i in range(d):
            speed[n, i] += m.carried_frame[i, j] * local
