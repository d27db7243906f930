"""Lines between two points of particles, and the forces along them."""

from __future__ import annotations

import cython


def component(ends, offsets, k, dim, q, j):
    """Component j of the vector from the first to the second end of line k.

    The ends are particles with positions q, or fixed points. ``offsets`` has the part of the vector that fixed points
    contribute: coordinates of the second end less those of the first.
    """
    value = offsets[k][j]
    first = cython.declare(cython.Py_ssize_t, ends[k][0])
    second = cython.declare(cython.Py_ssize_t, ends[k][1])
    if first >= 0:
        value -= q[first * dim + j]
    if second >= 0:
        value += q[second * dim + j]
    return value


def relative(ends, k, dim, shift, v, j):
    """Difference of component j of v between the ends of line k: the second less the first.

    The particles' entries in the vector v begin at ``shift``.
    """
    value = 0.0
    first = cython.declare(cython.Py_ssize_t, ends[k][0])
    second = cython.declare(cython.Py_ssize_t, ends[k][1])
    if first >= 0:
        value -= v[shift + first * dim + j]
    if second >= 0:
        value += v[shift + second * dim + j]
    return value


def add_opposite(ends, k, dim, out, j, value):
    """Add component j of a force to the second end of line k, and the opposite to the first, in the vector ``out``.

    The forces on the particles are the first entries of ``out``, ``dim`` for each particle.
    """
    first = cython.declare(cython.Py_ssize_t, ends[k][0])
    second = cython.declare(cython.Py_ssize_t, ends[k][1])
    if first >= 0:
        out[first * dim + j] -= value
    if second >= 0:
        out[second * dim + j] += value


def set_lines(ends, offsets, dim, q, out):
    """Write the vectors from the first to the second end of all lines into ``out`` (lines, dim), at positions q."""
    for k in range(out.shape[0]):
        for j in range(dim):
            out[k][j] = component(ends, offsets, k, dim, q, j)


def add_block(ends, k, dim, matrix, entry, value):
    """Add the terms of an entry ``value`` of the matrix K of line k to ``matrix``, a sum of DᵀKD over lines.

    D gives the difference between the ends of the line from the coordinates of all particles; ``entry`` are two
    components along the axes.
    """
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
