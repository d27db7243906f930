"""Friction against slips in loops, of wheels and along curves (formulas of kernels.rates.slips).

Resistive relations of slips are numbered after the relations of the spring-dampers. A slip component without terms is
the slip of a point along a curve.
"""

from __future__ import annotations

import cython

from ....laws.resistive_relations import SMALL as _SMALL
from ....numerics.arrays import Array
from ..memory.relation_functions import COULOMB as _COULOMB

if not cython.compiled:
    from math import fabs, sqrt

    from ....numerics.loops.views import fill, smaller
    from ..contact.jacobian import differentiate_contact
    from ..memory.memory import Memory
    from ..terms.angles import term_gain, term_slopes
    from ..terms.creep import add_creep, has_creep_law, set_creep_forces, slope_by_load
    from ..terms.product_rows import add_block, add_product, add_to_column, begin_rows
    from .couplings import add_stiffness
    from .curves import place_slope, rate_along, rate_curves, tangent_slope
    from .motion import mean_speeds, product_rate
    from .relations import force, slope

COULOMB = cython.declare(cython.Py_ssize_t, _COULOMB)
SMALL = cython.declare(cython.double, _SMALL)


def set_slip_forces(m: Memory, dim: int) -> None:
    """Compute slip rates over a step and the forces against them.

    The forces are added to the forces on products or along curves.
    """
    if m.slips_slip.size == 0:
        return
    mean_speeds(m, dim)
    rate_curves(m, dim, m.trial_mean)
    fill(m.slide_rate, 0.0)
    for i in range(m.slips_row.size):
        p = m.slips_product[i]
        q = m.slips_by[i]
        m.slide_gain[i] = term_gain(
            m.slips_weight[i],
            m.slips_angular[i],
            m.at_product[p],
            m.end_product[p],
            m.at_product[q],
            m.end_product[q],
        )
        if m.slips_also[i] >= 0:
            m.slide_gain[i] *= _factor(m, i)
        rate = product_rate(m, dim, p, m.trial_mean)
        m.slide_rate[m.slips_row[i]] += m.slide_gain[i] * rate
    for k in range(m.slips_slip.size):
        c = m.slips_curve[k]
        if c >= 0:
            m.slide_rate[k] = rate_along(m, c, m.path_along[c])
    _load_wheels(m)
    for slip in range(m.slips_lost.size):
        if has_creep_law(m, slip):
            set_creep_forces(m, slip)
    for k in range(m.slips_slip.size):
        if has_creep_law(m, m.slips_slip[k]):
            continue
        m.slide_force[k] = -_resistance(m, m.slips_slip[k], _speed(m, m.slips_slip[k])) * m.slide_rate[k]
        if m.slips_curve[k] >= 0:
            m.path_slid[m.slips_curve[k]] += m.slide_force[k]
    for i in range(m.slips_row.size):
        m.trial_force[m.slips_product[i]] += m.slide_force[m.slips_row[i]] * m.slide_gain[i]


def _load_wheels(m: Memory) -> None:
    """Copy the loads of wheels that compliant contacts press: the mean normal forces of the contacts."""
    fill(m.slide_load, 0.0)
    for c in range(m.contacts_wheel.size):
        if m.contacts_wheel[c] >= 0:
            m.slide_load[m.contacts_wheel[c]] += m.touch_force[c]


def _factor(m: Memory, i: int) -> float:
    """Further factor Π̄_also in the gain of slip term i: the mean of a product over the step."""
    return 0.5 * (m.at_product[m.slips_also[i]] + m.end_product[m.slips_also[i]])


def _speed(m: Memory, slip: int) -> float:
    """Length |s| of the slip rate of a slip [m/s]."""
    square = 0.0
    for k in range(m.slips_first[slip], m.slips_first[slip + 1]):
        square += m.slide_rate[k] * m.slide_rate[k]
    return sqrt(square)


def _resistance(m: Memory, slip: int, speed: float) -> float:
    """Resistance ρ(s)/s of a slip at the ``speed`` s [m/s]; near rest its limit ρ'(0)."""
    i = m.joints_stiffness.size + slip
    unit = cython.declare(cython.double)
    unit = 1.0
    if m.joints_kind[i] == COULOMB:
        unit = smaller(m.joints_parameter[i][1], m.joints_parameter[i][3])
    if fabs(speed) > SMALL * unit:
        return force(m, i, speed) / speed
    return slope(m, i, speed)


def record_slips(m: Memory, h: float, out: Array) -> None:
    """Add the losses by friction against slips in a step of length h [s] to the flows ``out``."""
    for k in range(m.slips_slip.size):
        out[m.slips_lost[m.slips_slip[k]]] -= m.slide_force[k] * h * m.slide_rate[k]


def add_slips(m: Memory, dim: int, h: float) -> None:
    """Add the derivatives of the friction forces against slips with respect to the unknowns to the Jacobian."""
    for slip in range(m.slips_lost.size):
        first = m.slips_first[slip]
        count = m.slips_first[slip + 1] - first
        begin_rows(m)
        for k in range(count):
            if m.slips_curve[first + k] >= 0:
                _differentiate_curve(m, dim, m.slips_curve[first + k], k)
        for i in range(m.slips_term[slip], m.slips_term[slip + 1]):
            _differentiate_term(m, dim, h, i, m.slips_row[i] - first)
        if has_creep_law(m, slip):
            add_creep(m, slip)
            _add_loads(m, dim, h, slip)
            continue
        speed = _speed(m, slip)
        resistance = _resistance(m, slip, speed)
        bent = slope(m, m.joints_stiffness.size + slip, speed) - resistance
        for k in range(count):
            for l in range(count):
                both = m.slide_rate[first + k] * m.slide_rate[first + l]
                value = bent * both / (speed * speed) if speed > 0.0 else 0.0
                add_block(m, k, l, value + resistance if k == l else value)


def _add_loads(m: Memory, dim: int, h: float, slip: int) -> None:
    """Add the derivatives of the friction of a wheel with respect to the forces of the contacts that press it."""
    if m.slips_pressed[slip] == 0:
        return
    for c in range(m.contacts_wheel.size):
        if m.contacts_wheel[c] == slip and m.touch_slope[c] != 0.0:
            differentiate_contact(m, dim, c, h)
            for k in range(m.slips_first[slip + 1] - 1 - m.slips_first[slip]):
                value = -h * slope_by_load(m, slip, k) * m.touch_slope[c]
                for i in range(m.touch_begin[5]):
                    if m.touch_rate[i] != 0.0 and m.touch_column[i] >= 0:
                        add_to_column(m, m.touch_column[i], k, value * m.touch_rate[i])


def _differentiate_term(m: Memory, dim: int, h: float, i: int, k: int) -> None:
    """Add the derivatives of slip term i and of its gain to the rows of component k of its slip."""
    p = m.slips_product[i]
    q = m.slips_by[i]
    change = m.end_product[p] - m.at_product[p]
    pushed = m.slide_force[m.slips_row[i]]
    along, across = term_slopes(
        m.slips_weight[i],
        m.slips_angular[i],
        m.at_product[p],
        m.end_product[p],
        m.at_product[q],
        m.end_product[q],
    )
    fill(m.rows_act, 0.0)
    fill(m.rows_move, 0.0)
    third = m.slips_also[i]
    if third >= 0:
        scale = _factor(m, i)
        along *= scale
        across *= scale
        further = 0.5 * term_gain(
            m.slips_weight[i],
            m.slips_angular[i],
            m.at_product[p],
            m.end_product[p],
            m.at_product[q],
            m.end_product[q],
        )
        m.rows_move[k] = further * change
        add_product(m, dim, third)
        add_stiffness(m, dim, h, further * pushed, p, third)
    m.rows_act[k] = m.slide_gain[i]
    m.rows_move[k] = m.slide_gain[i] + along * change
    add_product(m, dim, p)
    m.rows_act[k] = 0.0
    m.rows_move[k] = across * change
    add_product(m, dim, q)
    add_stiffness(m, dim, h, across * pushed, p, q)
    if along != 0.0:
        add_stiffness(m, dim, h, along * pushed, p, p)


def _differentiate_curve(m: Memory, dim: int, c: int, k: int) -> None:
    """Add the derivatives of the slip along curve c to the rows of component k.

    The direction of the curve turns as the point moves.
    """
    along = 0.0
    shifted = 0.0
    row = m.path_row
    for j in range(dim):
        row[j] = 0.0
        for point in range(m.path_used[c][0], m.path_used[c][1]):
            p = m.curves_product[point][j]
            change = m.end_product[p] - m.at_product[p]
            row[j] += change * m.path_mean[point]
            shifted += 0.5 * m.path_along[c][j] * change * m.path_slope[point]
        along += row[j] * m.path_along[c][j]
    for j in range(dim):
        row[j] = (row[j] - along * m.path_along[c][j]) / m.path_size[c]
    for point in range(m.path_used[c][0], m.path_used[c][1]):
        for j in range(dim):
            fill(m.rows_act, 0.0)
            fill(m.rows_move, 0.0)
            m.rows_act[k] = m.path_along[c][j] * m.path_mean[point]
            m.rows_move[k] = m.rows_act[k] + tangent_slope(m, c, point, j, row) + shifted * place_slope(m, c, point, j)
            add_product(m, dim, m.curves_product[point][j])
