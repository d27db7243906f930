"""Lines between two points of particles, and the forces along them."""

from __future__ import annotations

import cython


def component(ends, offsets, k, dim, q, j):
    """Component of the vector between the ends of a line, from positions q and, for fixed ends, the offsets."""
    value = offsets[k][j]
    first = cython.declare(cython.Py_ssize_t, ends[k][0])
    second = cython.declare(cython.Py_ssize_t, ends[k][1])
    if first >= 0:
        value -= q[first * dim + j]
    if second >= 0:
        value += q[second * dim + j]
    return value


def relative(ends, k, dim, shift, v, j):
    """Component of the difference of v[shift:] between the ends of a line."""
    value = 0.0
    first = cython.declare(cython.Py_ssize_t, ends[k][0])
    second = cython.declare(cython.Py_ssize_t, ends[k][1])
    if first >= 0:
        value -= v[shift + first * dim + j]
    if second >= 0:
        value += v[shift + second * dim + j]
    return value


def add_opposite(ends, k, dim, out, j, value):
    """Add a component of a force on the second end of a line, and its reaction on the first."""
    first = cython.declare(cython.Py_ssize_t, ends[k][0])
    second = cython.declare(cython.Py_ssize_t, ends[k][1])
    if first >= 0:
        out[first * dim + j] -= value
    if second >= 0:
        out[second * dim + j] += value


def set_lines(ends, offsets, dim, q, out):
    """Write the vectors of all lines, each from one point to another, into ``out``."""
    for k in range(out.shape[0]):
        for j in range(dim):
            out[k][j] = component(ends, offsets, k, dim, q, j)


def add_block(ends, k, dim, matrix, entry, value):
    """Add an entry (i, j) of a block DᵀKD to a matrix."""
    i, j = entry
    first = cython.declare(cython.Py_ssize_t, ends[k][0])
    second = cython.declare(cython.Py_ssize_t, ends[k][1])
    if first >= 0:
        matrix[first * dim + i][first * dim + j] += value
    if second >= 0:
        matrix[second * dim + i][second * dim + j] += value
    if first >= 0 and second >= 0:
        matrix[first * dim + i][second * dim + j] -= value
        matrix[second * dim + i][first * dim + j] -= value
