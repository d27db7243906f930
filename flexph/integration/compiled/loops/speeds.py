"""Speeds of nodes, and rates of products by them."""

from __future__ import annotations

from ....numerics.arrays import Array
from ....numerics.compiling import in_place
from ..memory.memory import REAL, WHOLE, Memory, indices, matrix, places, tensor, vector
from .motion import cross_product, mean_shapes


@in_place
def product_rate(m: Memory, axes: tuple[int, ...], p: int, others: Array) -> float:
    """Rate of a product when both its vectors move with the nodes, at the speeds in ``carried.moved``."""
    joints_first = places(m, WHOLE.joints_first)
    joints_second = places(m, WHOLE.joints_second)
    joints_plus = indices(m, WHOLE.joints_plus)
    joints_minus = indices(m, WHOLE.joints_minus)
    moved = matrix(m, REAL.carried_moved)
    done = 0.0
    for side in range(2):
        v, other = (joints_first[p], joints_second[p]) if side == 0 else (joints_second[p], joints_first[p])
        for i in range(len(axes)):
            if joints_plus[v] >= 0:
                done += moved[joints_plus[v], i] * others[other, i]
            if joints_minus[v] >= 0:
                done -= moved[joints_minus[v], i] * others[other, i]
    return done


@in_place
def mean_speeds(m: Memory, axes: tuple[int, ...]) -> None:
    """Exact increments of the nodes over a step, divided by its length: B v̄, (k, d)."""
    nodes_body = places(m, WHOLE.nodes_body)
    trial_inverse = tensor(m, REAL.trial_inverse)
    trial_c = matrix(m, REAL.trial_c)
    trial_lever = matrix(m, REAL.trial_lever)
    x_v, x_w, x_du = matrix(m, REAL.x_v), matrix(m, REAL.x_w), vector(m, REAL.x_du)
    frame = matrix(m, REAL.carried_frame)
    mean_shapes(m, axes, x_du, trial_c)
    for n in range(nodes_body.size):
        b = nodes_body[n]
        for i in range(len(axes)):
            for j in range(len(axes)):
                frame[i, j] = trial_inverse[b, j, i]
        node_speed(m, axes, n, x_v[b], x_w[b], x_du, trial_lever[n])


@in_place
def node_speed(m: Memory, axes: tuple[int, ...], n: int, v: Array, w: Array, du: Array, arm: Array) -> None:
    """Speed of a node into ``carried.moved`` with the frame of its body in ``carried.frame``, φ̄u̇ in ``trial.c``."""
    nodes_body = places(m, WHOLE.nodes_body)
    nodes_moves = vector(m, REAL.nodes_moves)
    nodes_ptr = places(m, WHOLE.nodes_ptr)
    nodes_val = matrix(m, REAL.nodes_val)
    nodes_col = places(m, WHOLE.nodes_col)
    trial_c = matrix(m, REAL.trial_c)
    frame = matrix(m, REAL.carried_frame)
    space = matrix(m, REAL.carried_space)
    speed = matrix(m, REAL.carried_moved)
    d, b, moves = len(axes), nodes_body[n], nodes_moves[n]
    turn, lever = space[0], space[1]
    if d == 2:
        lever[0], lever[1] = -w[0] * arm[1], w[0] * arm[0]
    else:
        for i in range(3):
            turn[i] = frame[i, 0] * w[0] + frame[i, 1] * w[1] + frame[i, 2] * w[2]
        cross_product(turn, arm, lever)
    for i in range(d):
        speed[n, i] = moves * v[i] + lever[i]
    for j in range(d):
        local = -moves * trial_c[b, j]
        for e in range(nodes_ptr[n], nodes_ptr[n + 1]):
            local += nodes_val[e, j] * du[nodes_col[e]]
        for i in range(d):
            speed[n, i] += frame[i, j] * local
