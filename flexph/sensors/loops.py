"""Compiled evaluation of all measures of a panel of sensors at a state.

Nodes are points or directions that move with bodies; vectors are differences of nodes, of a node and a fixed point, or
directions; products are scalar products of vectors. A measure is the root of a product (distance), a product (offset),
or the angle whose sine and cosine are products.
"""

from __future__ import annotations

import cython

if not cython.compiled:
    from math import atan2, sqrt

    from ..numerics.loops.callbacks import struct_at as measured_at
    from ..numerics.loops.views import Mat, Vec, part
    from .panel_arrays import PanelArrays


def _turn_in_plane(y: Vec, c: float, t: float) -> None:
    """Rotate a vector in place by an angle with cosine ``c`` and sine ``t``."""
    first = cython.declare(cython.double, y[0])
    second = cython.declare(cython.double, y[1])
    y[0] = c * first - t * second
    y[1] = t * first + c * second


def _turn_in_space(y: Vec, R: Vec) -> None:
    """Rotate a vector in place by a rotation matrix, given by its nine entries row by row."""
    a = cython.declare(cython.double, y[0])
    b = cython.declare(cython.double, y[1])
    c = cython.declare(cython.double, y[2])
    for i in range(3):
        y[i] = R[3 * i] * a + R[3 * i + 1] * b + R[3 * i + 2] * c


def _turn_node(s: PanelArrays, x: Vec, k: int, place: Vec, speed: Vec) -> None:
    """Turn the vector of node k and its rate from body axes to world axes, in place.

    ``place`` is a direction, or the arm of a point from the centre of mass. ``speed`` is its rate due to deformation;
    its rate due to the spin of the body is added.
    """
    turn, w = s.offset[k][1], s.offset[k][3]
    if place.size == 2:
        _turn_in_plane(place, x[turn], x[turn + 1])
        _turn_in_plane(speed, x[turn], x[turn + 1])
        speed[0] -= x[w] * place[1]
        speed[1] += x[w] * place[0]
        return
    R = part(x, turn, turn + 9)
    _turn_in_space(place, R)
    _turn_in_space(speed, R)
    a = cython.declare(cython.double, x[w])
    b = cython.declare(cython.double, x[w + 1])
    c = cython.declare(cython.double, x[w + 2])
    for i in range(3):  # ω × arm, by two components of ω in world axes at a time
        p, q = (i + 1) % 3, (i + 2) % 3
        speed[i] += (R[3 * p] * a + R[3 * p + 1] * b + R[3 * p + 2] * c) * place[q]
        speed[i] -= (R[3 * q] * a + R[3 * q + 1] * b + R[3 * q + 2] * c) * place[p]


def _nodes(s: PanelArrays, x: Vec) -> None:
    """Compute positions or directions of all nodes in the world, and their rates, from the flat state x."""
    dim, shape = s.position.shape[1], s.shape
    for k in range(s.moves.size):
        place, speed = s.node[0][k], s.node[1][k]
        for i in range(dim):
            place[i], speed[i] = s.position[k][i], 0.0
            for j in range(shape.starts[k * dim + i], shape.starts[k * dim + i + 1]):
                place[i] += shape.data[j] * x[s.flexible[0] + shape.indices[j]]
                speed[i] += shape.data[j] * x[s.flexible[1] + shape.indices[j]]
        if s.offset[k][1] >= 0:
            _turn_node(s, x, k, place, speed)
        for i in range(dim):
            place[i] += s.moves[k] * x[s.offset[k][0] + i]
            speed[i] += s.moves[k] * x[s.offset[k][2] + i]


def _products(s: PanelArrays) -> None:
    """Compute all vectors in world axes, their products, and the rates of vectors and products, from the nodes."""
    dim, incidence = s.position.shape[1], s.incidence
    vector, speed, value, rate = s.vector[0], s.vector[1], s.value[0], s.value[1]
    for k in range(s.fixed.shape[0]):
        for i in range(dim):
            vector[k][i], speed[k][i] = s.fixed[k][i], 0.0
            for j in range(incidence.starts[k], incidence.starts[k + 1]):
                vector[k][i] += incidence.data[j] * s.node[0][incidence.indices[j]][i]
                speed[k][i] += incidence.data[j] * s.node[1][incidence.indices[j]][i]
    for p in range(s.product.shape[1]):
        a, b = s.product[0][p], s.product[1][p]
        value[p] = 0.0
        rate[p] = 0.0
        for i in range(dim):
            value[p] += vector[a][i] * vector[b][i]
            rate[p] += speed[a][i] * vector[b][i] + vector[a][i] * speed[b][i]


def measure(s: PanelArrays, x: Vec, out: Mat) -> None:
    """Write all measures and, in the second row, their rates at a flat state into ``out`` (2, measures)."""
    _nodes(s, x)
    _products(s)
    value, rate, measured, changes = s.value[0], s.value[1], out[0], out[1]
    end = cython.declare(cython.Py_ssize_t, 0)
    for i in range(s.length.size):
        p = s.length[i]
        measured[end] = sqrt(value[p])
        changes[end] = 0.5 * rate[p] / measured[end]
        end += 1
    for i in range(s.component.size):
        p = s.component[i]
        measured[end], changes[end] = value[p], rate[p]
        end += 1
    for i in range(s.sine.size):
        a, b = s.sine[i], s.cosine[i]
        measured[end] = atan2(value[a], value[b])
        changes[end] = (value[b] * rate[a] - value[a] * rate[b]) / (value[a] * value[a] + value[b] * value[b])
        end += 1


def measure_at(address: int) -> None:
    """Compute the measures of the sensors in the struct at ``address``, at the states that are stored there."""
    m = measured_at(address)
    for k in range(m.states.shape[0]):
        measure(m.arrays, m.states[k], m.out[k])
