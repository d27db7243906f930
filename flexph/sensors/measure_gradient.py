"""Gradient of a sensor's measure, or of its rate, with respect to the flat state: :mod:`.loops` in reverse mode."""

from __future__ import annotations

import cython

if not cython.compiled:
    from ..numerics.loops.callbacks import struct_at as memory_at
    from ..numerics.loops.views import Mat, Ten, Vec, fill
    from .loops import _nodes, _products
    from .panel_arrays import GradientMemory, PanelArrays


def gradients_at(address: int) -> None:
    """Write the gradients of a measure, or of its rate, with respect to the flat state, a row for each given state.

    The struct at ``address`` contains the states and the index of the measure, and receives the gradients.
    """
    p = memory_at(address)
    s = p.arrays
    for row in range(p.states.shape[0]):
        x, out = p.states[row], p.out[row]
        _nodes(s, x)
        _products(s)
        fill(p.by_product, 0.0)
        fill(p.by_vector, 0.0)
        fill(p.by_node, 0.0)
        fill(out, 0.0)
        _pull_measure(s, p.which[0], p.which[1] != 0, p.by_product)
        _pull_products(s, p.by_product, p.by_vector, p.by_node)
        for k in range(s.moves.size):
            _pull_node(s, x, k, p, out)


def _pull_measure(s: PanelArrays, index: int, is_rate: bool, by_product: Mat) -> None:
    """Set the derivatives of the measure ``index``, or of its rate, with respect to the products and their rates.

    The first row of ``by_product`` is for the products, the second for their rates.
    """
    value, rate, by, by_rate = s.value[0], s.value[1], by_product[0], by_product[1]
    lengths, components = s.length.size, s.component.size
    if index < lengths:
        p = s.length[index]
        slope = 0.5 / value[p] ** 0.5
        if is_rate:
            by_rate[p] = slope
            by[p] = -0.5 * slope * rate[p] / value[p]
        else:
            by[p] = slope
    elif index < lengths + components:
        if is_rate:
            by_rate[s.component[index - lengths]] = 1.0
        else:
            by[s.component[index - lengths]] = 1.0
    else:
        a, b = s.sine[index - lengths - components], s.cosine[index - lengths - components]
        size = value[a] * value[a] + value[b] * value[b]
        if is_rate:
            turning = (value[b] * rate[a] - value[a] * rate[b]) / size
            by_rate[a] = value[b] / size
            by_rate[b] = -value[a] / size
            by[a] = -(rate[b] + 2.0 * value[a] * turning) / size
            by[b] = (rate[a] - 2.0 * value[b] * turning) / size
        else:
            by[a] = value[b] / size
            by[b] = -value[a] / size


def _pull_products(s: PanelArrays, by_product: Mat, by_vector: Ten, by_node: Ten) -> None:
    """Convert derivatives with respect to products and their rates to those with respect to nodes and their velocities.

    ``by_vector`` receives the derivatives with respect to the vectors, an intermediate result.
    """
    dim, incidence = s.position.shape[1], s.incidence
    for p in range(s.product.shape[1]):
        a, b = s.product[0][p], s.product[1][p]
        by, by_rate = by_product[0][p], by_product[1][p]
        for i in range(dim):
            by_vector[0][a][i] += by * s.vector[0][b][i] + by_rate * s.vector[1][b][i]
            by_vector[0][b][i] += by * s.vector[0][a][i] + by_rate * s.vector[1][a][i]
            by_vector[1][a][i] += by_rate * s.vector[0][b][i]
            by_vector[1][b][i] += by_rate * s.vector[0][a][i]
    for v in range(s.fixed.shape[0]):
        for e in range(incidence.starts[v], incidence.starts[v + 1]):
            for i in range(dim):
                by_node[0][incidence.indices[e]][i] += incidence.data[e] * by_vector[0][v][i]
                by_node[1][incidence.indices[e]][i] += incidence.data[e] * by_vector[1][v][i]


def _pull_node(s: PanelArrays, x: Vec, k: int, p: GradientMemory, out: Vec) -> None:
    """Add the contribution of node k to the derivatives with respect to the flat state, ``out``.

    ``p.by_node`` are the derivatives with respect to position and velocity of the nodes. ``p.arm`` is overwritten by
    the arm of the node in body axes and its rate, ``p.by_arm`` by the derivatives with respect to both.
    """
    by_node, arm, by_arm = p.by_node, p.arm, p.by_arm
    dim, shape = s.position.shape[1], s.shape
    for i in range(dim):
        arm[0][i] = s.position[k][i]
        arm[1][i] = 0.0
        for e in range(shape.starts[k * dim + i], shape.starts[k * dim + i + 1]):
            arm[0][i] += shape.data[e] * x[s.flexible[0] + shape.indices[e]]
            arm[1][i] += shape.data[e] * x[s.flexible[1] + shape.indices[e]]
        by_arm[0][i] = by_node[0][k][i]
        by_arm[1][i] = by_node[1][k][i]
        if s.moves[k] != 0.0:  # directions have no place of their own
            out[s.offset[k][0] + i] += s.moves[k] * by_arm[0][i]
            out[s.offset[k][2] + i] += s.moves[k] * by_arm[1][i]
    if s.offset[k][1] >= 0 and dim == 2:
        _pull_turn_in_plane(s, x, k, arm, by_arm, out)
    elif s.offset[k][1] >= 0:
        _pull_turn_in_space(s, x, k, arm, by_arm, out)
    for i in range(dim):
        for e in range(shape.starts[k * dim + i], shape.starts[k * dim + i + 1]):
            out[s.flexible[0] + shape.indices[e]] += shape.data[e] * by_arm[0][i]
            out[s.flexible[1] + shape.indices[e]] += shape.data[e] * by_arm[1][i]


def _pull_turn_in_plane(s: PanelArrays, x: Vec, k: int, arm: Mat, by_arm: Mat, out: Vec) -> None:
    """Convert derivatives with respect to R a and R ȧ + ω × R a to those with respect to R, ω, a and ȧ, in the plane.

    R is the rotation and ω the spin of a body, a the arm of a node. Derivatives with respect to R and ω are added to
    ``out``; derivatives with respect to a and ȧ replace the first two rows of ``by_arm``.
    """
    turn, w = s.offset[k][1], s.offset[k][3]
    cosine, sine = x[turn], x[turn + 1]
    first = cosine * arm[0][0] - sine * arm[0][1]
    second = sine * arm[0][0] + cosine * arm[0][1]
    out[w] += by_arm[1][1] * first - by_arm[1][0] * second
    by_arm[0][0] += x[w] * by_arm[1][1]
    by_arm[0][1] -= x[w] * by_arm[1][0]
    for q in range(2):
        first = by_arm[q][0]
        second = by_arm[q][1]
        out[turn] += first * arm[q][0] + second * arm[q][1]
        out[turn + 1] += second * arm[q][0] - first * arm[q][1]
        by_arm[q][0] = cosine * first + sine * second
        by_arm[q][1] = cosine * second - sine * first


def _pull_turn_in_space(s: PanelArrays, x: Vec, k: int, arm: Mat, by_arm: Mat, out: Vec) -> None:
    """Convert derivatives with respect to R a and R ȧ + Rω × R a to those with respect to R, ω, a and ȧ, in space.

    R is the rotation and ω the spin of a body, a the arm of a node. Derivatives with respect to R and ω are added to
    ``out``; derivatives with respect to a and ȧ replace the first two rows of ``by_arm``.
    """
    turn, w = s.offset[k][1], s.offset[k][3]
    for i in range(3):  # rows 2 and 3 of both arrays: Rω and R a, and the derivatives by Rω
        arm[2][i] = 0.0
        arm[3][i] = 0.0
        for j in range(3):
            arm[2][i] += x[turn + 3 * i + j] * x[w + j]
            arm[3][i] += x[turn + 3 * i + j] * arm[0][j]
    for i in range(3):
        p, q = (i + 1) % 3, (i + 2) % 3
        by_arm[2][i] = arm[3][p] * by_arm[1][q] - arm[3][q] * by_arm[1][p]
        by_arm[0][i] += by_arm[1][p] * arm[2][q] - by_arm[1][q] * arm[2][p]
    for i in range(3):
        for j in range(3):
            out[turn + 3 * i + j] += by_arm[0][i] * arm[0][j] + by_arm[1][i] * arm[1][j] + by_arm[2][i] * x[w + j]
            out[w + j] += x[turn + 3 * i + j] * by_arm[2][i]
    _turn_back(x, turn, by_arm)


def _turn_back(x: Vec, turn: int, by_arm: Mat) -> None:
    """Multiply the first two rows of ``by_arm`` by a rotation R from the right, as row vectors, in place.

    The entries of R are stored in the flat state x from the index ``turn`` on.
    """
    for q in range(2):
        a = by_arm[q][0]
        b = by_arm[q][1]
        c = by_arm[q][2]
        for j in range(3):
            by_arm[q][j] = x[turn + j] * a + x[turn + 3 + j] * b + x[turn + 6 + j] * c
