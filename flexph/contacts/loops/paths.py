"""Compiled path following for plane contacts, from rates at which given impulses satisfy their laws to the actual ones.

With the rates y + t e the given impulses satisfy their laws at t = 1. Towards t = 0 the impulses are linear in t as
long as the sets of open, sticking and slipping contacts do not change. At a change, the contact continues in its next
state, and t in the direction in which this state is valid. The path may reverse, as in Lemke's method, whose pivots
correspond to these changes (Cottle, Pang and Stone, The Linear Complementarity Problem, 1992, 4.4). Only sets on the
path are visited, so that the method cannot cycle.
"""

from __future__ import annotations

import cython

from ...numerics.arrays import Array

if not cython.compiled:
    from math import fabs, floor, sin
    from math import inf as INFINITY

    from ...numerics.loops.views import copy, fill, larger, part, smaller
    from .coupled import CENTRE, CHANGE, POINT, RATES, TRIED, rate_change, rates_of, solve_steps
    from .newton_coupled import add_proximal_term
    from .problem import Chain, Coupled


OPEN = cython.declare(cython.Py_ssize_t, 0)
STICKS = cython.declare(cython.Py_ssize_t, 1)
ALONG = cython.declare(cython.Py_ssize_t, 2)
AGAINST = cython.declare(cython.Py_ssize_t, 3)
"""States of a contact; in slip, friction acts along the tangent or against it."""
CLOSES = cython.declare(cython.Py_ssize_t, 0)
OPENS = cython.declare(cython.Py_ssize_t, 1)
STOPS = cython.declare(cython.Py_ssize_t, 2)
SLIDES = cython.declare(cython.Py_ssize_t, 3)
"""Events that end the state of a contact."""
SPACED = cython.declare(cython.double, 1e-3)
"""Rate added to open contacts, relative to the scale of rates, so that they do not close at once."""


def _random_number(k: int) -> float:
    """Pseudorandom number from 0.1 to 1.1 that depends on k only; it keeps events of equal contacts apart."""
    value = sin(12.9898 * (k + 1)) * 43758.5453
    return 0.1 + value - floor(value)


def _set_start(p: Coupled, x: Array, s: Chain) -> None:
    """Set the states of all contacts at t = 1, and move x into the friction cones so that no state ends at once."""
    frictional = cython.declare(cython.bint)
    c = p.friction.size
    y = s.vectors[RATES]
    frictional = p.rows > 1
    rates_of(p, x, y, s)
    for k in range(c):
        s.state[k] = OPEN
        apart = SPACED * _random_number(k)
        x[k] = larger(x[k], 0.0)
        if x[k] > 0.0:
            s.state[k] = ALONG
            x[k] = larger(x[k], apart * p.scale * p.normal_step[k])
        bound = p.friction[k] * x[k]
        if frictional and bound == 0.0:
            x[c + k] = 0.0
        elif frictional:
            along = x[c + k]
            if fabs(along) >= bound * (1.0 - 1e-12) and along * y[c + k] <= 0.0:
                if along > 0.0:
                    s.state[k] = ALONG
                    x[c + k] = bound
                else:
                    s.state[k] = AGAINST
                    x[c + k] = -bound
            else:
                bound *= 1.0 - apart
                s.state[k] = STICKS
                x[c + k] = smaller(larger(along, -bound), bound)


def _residual_rates(p: Coupled, x: Array, e: Array, s: Chain) -> None:
    """Write changes of rates into ``e`` such that with y + e the impulses x satisfy their laws in their states."""
    c = p.friction.size
    y = s.vectors[RATES]
    rates_of(p, x, y, s)
    for i in range(x.size):
        e[i] = 0.0
    for k in range(c):
        apart = SPACED * p.scale * _random_number(c + k)
        e[k] = larger(0.0, -y[k]) + apart if s.state[k] == OPEN else -y[k]
        if p.rows > 1 and p.friction[k] > 0.0:
            if s.state[k] == STICKS:
                e[c + k] = -y[c + k]
            elif s.state[k] == ALONG:
                e[c + k] = smaller(0.0, -apart - y[c + k])
            elif s.state[k] == AGAINST:
                e[c + k] = larger(0.0, apart - y[c + k])


def _friction_share(p: Coupled, k: int, state: int) -> float:
    """Ratio ±μ of the friction impulse of slipping contact k, along the tangent, to its normal impulse."""
    return p.friction[k] if state == ALONG else -p.friction[k]


def _conditions(p: Coupled, x: Array, rates: Array, weight: float, changes: bool, s: Chain) -> bool:
    """Write a change ΔΛ of the impulses into the row CHANGE that makes the conditions of all states hold.

    Closed contacts then have no normal rate, and sticking ones no slip. ``rates`` are those at impulses x. If
    ``changes`` is True, ``rates`` and ΔΛ are derivatives with respect to t. Returns False if the system is singular.
    """
    frictional = cython.declare(cython.bint)
    c = p.friction.size
    frictional = p.rows > 1
    fill(part(s.gain, 0, c), 0.0)
    for k in range(c):
        s.pull[k] = 0.0 if changes else -x[k]
        if frictional:
            s.pull[c + k] = 0.0 if changes else -x[c + k]
        if s.state[k] == OPEN:
            continue
        soft = p.normal_step[k] / weight
        s.gain[k][0][0] = soft
        s.pull[k] = -soft * rates[k]
        if not (frictional and p.friction[k] > 0.0):
            continue
        if s.state[k] == STICKS:
            s.gain[k][1][1] = p.tangent_step[k] / weight
            s.pull[c + k] = -s.gain[k][1][1] * rates[c + k]
        else:
            share = _friction_share(p, k, s.state[k])
            s.gain[k][1][0] = share * soft
            s.pull[c + k] = share * s.pull[k] + (0.0 if changes else share * x[k] - x[c + k])
    return solve_steps(p, s.vectors[CHANGE], s)


def _slack(p: Coupled, k: int, kind: int, side: float, x: Array, y: Array) -> float:
    """Quantity of contact k whose zero is the event ``kind`` that ends its state.

    It is computed from impulses x and rates y, or its derivative from their derivatives. ``side`` is the sign of the
    friction impulse in slip, opposite to that of the slip rate.
    """
    c = p.friction.size
    if kind == CLOSES:
        return y[k]
    if kind == OPENS:
        return x[k]
    if kind == STOPS:
        return -side * y[c + k]
    return p.friction[k] * x[k] - side * x[c + k]


def _possible_event(p: Coupled, k: int, number: int, s: Chain) -> tuple[int, float]:
    """Event that can end the present state of contact k, and the sign of the friction impulse in slip, ±1 or 0.

    The slip is that before or after the event; 0 if the event does not depend on it. Each state has up to two such
    events, with ``number`` 0 and 1; the event is −1 if there is no such one.
    """
    frictional = cython.declare(cython.bint)
    frictional = p.rows > 1 and p.friction[k] > 0.0
    if s.state[k] == OPEN:
        return (CLOSES if number == 0 else -1), 0.0
    if s.state[k] == STICKS:
        return SLIDES, (1.0 if number == 0 else -1.0)
    if number == 0:
        return OPENS, 0.0
    return (STOPS if frictional else -1), (1.0 if s.state[k] == ALONG else -1.0)


def _next(p: Coupled, x: Array, way: float, s: Chain) -> tuple[float, int, int, float]:
    """Next event on the path: change of t until then, contact, event, and sign of the friction impulse in slip.

    t changes in the direction ``way``, ±1. The change is infinite, and the contact −1, if no state ends.
    """
    least = INFINITY
    who = -1
    what = -1
    where = 0.0
    for k in range(p.friction.size):
        for number in range(2):
            kind, side = _possible_event(p, k, number, s)
            if kind >= 0:
                falls = way * _slack(p, k, kind, side, s.vectors[CHANGE], s.vectors[TRIED])
                if falls < 0.0:
                    far = larger(_slack(p, k, kind, side, x, s.vectors[RATES]), 0.0) / -falls
                    if far < least:
                        least = far
                        who = k
                        what = kind
                        where = side
    return least, who, what, where


def _next_state(p: Coupled, k: int, kind: int, side: float, s: Chain) -> None:
    """Set the state of contact k after the event ``kind``; ``side`` is the sign of the friction impulse in slip."""
    slips_on = cython.declare(cython.bint)
    if kind == OPENS:
        s.state[k] = OPEN
    elif kind == STOPS:
        s.state[k] = STICKS
    elif kind == SLIDES:
        s.state[k] = ALONG if side > 0.0 else AGAINST
    else:
        y = s.vectors[RATES]
        slips_on = p.rows > 1 and y[p.friction.size + k] > 0.0
        s.state[k] = AGAINST if slips_on else ALONG


def _direction(p: Coupled, k: int, kind: int, side: float, s: Chain) -> float:
    """Number whose sign is the direction of t in which the state of contact k after event ``kind`` is valid."""
    x = s.vectors[CHANGE]
    y = s.vectors[TRIED]
    if kind == CLOSES:
        return x[k]
    if kind == OPENS:
        return y[k]
    if kind == STOPS:
        return p.friction[k] * x[k] - side * x[p.friction.size + k]
    return -side * y[p.friction.size + k]


def follow_path(p: Coupled, x: Array, weight: float, most: int, s: Chain) -> bool:
    """Follow the path from given impulses x, at t = 1, to those that satisfy the laws, at t = 0; False if it is lost.

    x is changed in place. The path is lost after ``most`` events, or if a system is singular.
    """
    m = x.size
    y = s.vectors[RATES]
    e = s.vectors[POINT]
    t = 1.0
    way = -1.0
    _set_start(p, x, s)
    copy(x, s.vectors[CENTRE])
    _residual_rates(p, x, e, s)
    who = -1
    what = -1
    side = 0.0
    for _ in range(most):
        rates_of(p, x, y, s)
        add_proximal_term(p, x, weight, s)
        for i in range(m):
            y[i] += t * e[i]
        if not _conditions(p, x, y, weight, False, s):
            return False
        for i in range(m):
            x[i] += s.vectors[CHANGE][i]
        rates_of(p, x, y, s)
        add_proximal_term(p, x, weight, s)
        for i in range(m):
            y[i] += t * e[i]
        if not _conditions(p, x, e, weight, True, s):
            return False
        _change_rates(p, e, weight, s)
        if who >= 0:
            way = 1.0 if _direction(p, who, what, side, s) > 0.0 else -1.0
        far, who, what, side = _next(p, x, way, s)
        if way < 0.0 and t <= far:
            far = t
            who = -1
        if not far < INFINITY:
            return False
        t += way * far
        for i in range(m):
            x[i] += way * far * s.vectors[CHANGE][i]
            y[i] += way * far * s.vectors[TRIED][i]
        if who < 0:
            return True
        _next_state(p, who, what, side, s)
    return False


def _change_rates(p: Coupled, e: Array, weight: float, s: Chain) -> None:
    """Write the derivatives of the rates with respect to t, with the proximal term, into the row TRIED.

    ``s.z`` has the derivatives of the velocities, the row CHANGE those of the impulses.
    """
    c = p.friction.size
    out = s.vectors[TRIED]
    for k in range(c):
        for i in range(p.rows):
            proximal = weight / (p.normal_step[k] if i == 0 else p.tangent_step[k]) * s.vectors[CHANGE][i * c + k]
            out[i * c + k] = rate_change(p, k, i, s) + e[i * c + k] + proximal
