"""Iterative solution of the linear systems of a pile, free bodies that only contacts couple, at linear cost.

The blocks of the bodies, D, are factored as a band; the coupling of pairs of bodies, O, is stored as blocks of pairs.
(1 + D⁻¹O) x = D⁻¹b is solved by the stabilised biconjugate gradient method (van der Vorst 1992). If the steps resolve
the contacts, D⁻¹O is of the size of ¼h²ω² and a few products are enough.
"""

from __future__ import annotations

import cython

from ....numerics.arrays import Array

if not cython.compiled:
    from math import sqrt

    from ....numerics.algebra.band import solve as solve_band
    from ....numerics.loops.views import fill
    from ..mechanics.arrow import expand, reduce
    from ..memory.memory import Memory


SOLVED = cython.declare(cython.double, 1e-7)
PRODUCTS = cython.declare(cython.Py_ssize_t, 500)
"""Tolerance of the residual, relative to D⁻¹b, and the limit of iterations of two products each.

What a correction misses is left to the next one: Newton's method ends by the sizes of corrections, not by this one."""


def solve_pile(m: Memory, dim: int, decay: int, h: float) -> None:
    """Solve the linear system of a step for the corrections of the mean velocities from their defects."""
    reduce(m, dim, decay, h)
    _solve(m)
    expand(m, dim, h)


def _solve_blocks(m: Memory, x: Array) -> None:
    """Multiply x by D⁻¹ in place."""
    solve_band(m.system_border, m.system_border_pivot, m.border_size[1], x)


def _multiply(m: Memory, x: Array, out: Array) -> None:
    """Write the product (1 + D⁻¹O) x into ``out``."""
    width = m.border_size[1] + 1
    fill(out, 0.0)
    for c in range(m.contacts_kind.size):
        one = m.contacts_node[c][0]
        other = m.contacts_node[c][1]
        if one >= 0 and other >= 0 and (m.touch_force[c] != 0.0 or m.touch_slope[c] != 0.0):
            first = m.nodes_body[one] * width
            second = m.nodes_body[other] * width
            if first != second:
                for i in range(width):
                    here = 0.0
                    there = 0.0
                    for j in range(width):
                        here += m.touch_apart[2 * c][i][j] * x[second + j]
                        there += m.touch_apart[2 * c + 1][i][j] * x[first + j]
                    out[first + i] += here
                    out[second + i] += there
    _solve_blocks(m, out)
    for i in range(x.size):
        out[i] += x[i]


def _dot(a: Array, b: Array) -> float:
    total = 0.0
    for i in range(a.size):
        total += a[i] * b[i]
    return total


def _solve(m: Memory) -> None:
    """Solve (D + O) x = b for the border of the Jacobian; ``system.x`` is the right-hand side b first, then x."""
    x = m.system_x
    r = m.touch_krylov[0]
    shadow = m.touch_krylov[1]
    p = m.touch_krylov[2]
    v = m.touch_krylov[3]
    t = m.touch_krylov[4]
    _solve_blocks(m, x)
    limit = SOLVED * sqrt(_dot(x, x))
    _multiply(m, x, r)
    for i in range(x.size):
        r[i] = x[i] - r[i]
        # the first guess x = D⁻¹b has the residual D⁻¹b − (1 + D⁻¹O) D⁻¹b
        shadow[i] = r[i]
        p[i] = r[i]
    along = _dot(shadow, r)
    for _ in range(PRODUCTS):
        if sqrt(_dot(r, r)) <= limit or along == 0.0:
            return
        _multiply(m, p, v)
        share = along / _dot(shadow, v)
        for i in range(x.size):
            x[i] += share * p[i]
            r[i] -= share * v[i]
        if sqrt(_dot(r, r)) <= limit:
            return
        _multiply(m, r, t)
        turned = _dot(t, r) / _dot(t, t)
        for i in range(x.size):
            x[i] += turned * r[i]
            r[i] -= turned * t[i]
        last = along
        along = _dot(shadow, r)
        gain = along / last * share / turned
        for i in range(x.size):
            p[i] = r[i] + gain * (p[i] - turned * v[i])
