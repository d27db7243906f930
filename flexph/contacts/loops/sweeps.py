"""Compiled Gauss-Seidel sweeps over contacts, in body velocities or with a dense D from impulses to rates.

Each contact in turn gets the impulses that satisfy its law while all other impulses are constant. If Newton's method
cycles, sweeps lead to further states of the contacts until one is found from which it converges. Sweeps are cheap: a
thousand take as long as a few factorisations.
"""

from __future__ import annotations

import cython

from ...numerics.arrays import Array

if not cython.compiled:
    from math import sqrt

    from ...numerics.loops.views import fill, larger, part, smaller, subtract
    from .coupled import add_impulse, add_impulses, rate_change
    from .newton import TINY, rates_at
    from .paths import AGAINST, ALONG, OPEN, STICKS
    from .problem import Chain, Cone, Coupled, Space


def sweep_coupled(p: Coupled, x: Array, sweeps: int, most_steady: int, s: Chain) -> None:
    """Improve impulses x in place by sweeps over all contacts, forwards and backwards in turn, in body velocities.

    They end early after ``most_steady`` sweeps in which no contact changed between open, sticking and slipping.
    """
    steady = cython.declare(cython.Py_ssize_t, 0)
    changed = cython.declare(cython.bint)
    c = p.friction.size
    add_impulses(p, x, p.given, s)
    fill(part(s.state, 0, c), OPEN)
    for sweep in range(sweeps):
        changed = False
        for l in range(c):
            k = l if sweep % 2 == 0 else c - 1 - l
            state = _solve_contact(p, k, x, s)
            changed = changed or state != s.state[k]
            s.state[k] = state
        steady = 0 if changed else steady + 1
        if steady == most_steady:
            break


def _solve_contact(p: Coupled, k: int, x: Array, s: Chain) -> int:
    """Set the impulses of contact k to those that obey its law while no other impulse changes; return its new state."""
    state = cython.declare(cython.Py_ssize_t, ALONG)
    _change_impulse(p, k, 0, larger(0.0, x[k] - p.normal_step[k] * (p.b[k] + rate_change(p, k, 0, s))), x, s)
    bound = p.friction[k] * x[k]
    if p.rows == 1 or bound == 0.0:
        for i in range(1, p.rows):
            _change_impulse(p, k, i, 0.0, x, s)
        return state if x[k] > 0.0 else OPEN
    one = _trial_impulse(p, k, 1, x, s)
    other = _trial_impulse(p, k, 2, x, s) if p.rows > 2 else 0.0
    square = one * one + other * other
    state = STICKS
    if square > bound * bound:
        size = sqrt(square)
        state = ALONG if one > 0.0 else AGAINST
        one = bound * (one / size)
        other = bound * (other / size)
    _change_impulse(p, k, 1, one, x, s)
    if p.rows > 2:
        _change_impulse(p, k, 2, other, x, s)
    return state


def _trial_impulse(p: Coupled, k: int, i: int, x: Array, s: Chain) -> float:
    """Impulse of contact k along tangent i that would make the rate along it zero while no other impulse changes."""
    at = i * p.friction.size + k
    trial: float = x[at] - p.tangent_step[k] * (p.b[at] + rate_change(p, k, i, s))
    return trial


def _change_impulse(p: Coupled, k: int, i: int, impulse: float, x: Array, s: Chain) -> None:
    """Set impulse i of contact k (0 for the normal, then the tangents) in x, and update the velocities in ``s.z``."""
    at = i * p.friction.size + k
    add_impulse(p, k, i, impulse - x[at], s)
    x[at] = impulse


def sweep_dense(p: Cone, x: Array, sweeps: int, space: Space) -> None:
    """Improve impulses x in place by sweeps over all contacts, forwards and backwards in turn, with a dense D.

    D is copied to ``space.matrix`` by columns.
    """
    i = cython.declare(cython.Py_ssize_t)
    c = p.friction.size
    m = x.size
    y = space.rates
    rates_at(p, x, 0.0, x, y)
    for i in range(m):
        for j in range(m):
            space.matrix[j][i] = p.D[i][j]
    for sweep in range(sweeps):
        for l in range(c):
            k = l if sweep % 2 == 0 else c - 1 - l
            _set_impulse(k, larger(0.0, x[k] - p.normal_step[k] * y[k]), x, space)
            square = 0.0
            i = c + k
            while i < m:
                space.x[i] = x[i] - p.tangent_step[k] * y[i]
                square += space.x[i] * space.x[i]
                i += c
            share = smaller(1.0, p.friction[k] * x[k] / larger(sqrt(square), TINY))
            i = c + k
            while i < m:
                _set_impulse(i, share * space.x[i], x, space)
                i += c


def _set_impulse(i: int, impulse: float, x: Array, space: Space) -> None:
    """Set impulse i in x, and update all rates in ``space.rates``."""
    if impulse != x[i]:
        subtract(space.rates, 0, space.matrix, i * space.matrix.shape[1], x[i] - impulse, x.size)
        x[i] = impulse
