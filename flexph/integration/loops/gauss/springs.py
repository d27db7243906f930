"""Spring-dampers at the nodes of a step of Gauss collocation in loops, and laws of springs there.

Rates are relative to those of moving references, which are interpolated like drives. A force law F(x, v, t) is
evaluated at the nodes. An elastic law V(x) acts by the projection of V' along the step on the polynomials of the rates,
with the 2s Gauss points τ of the step and Legendre's polynomials P,

    F_i = Σ_q w_q Σ_j P_j(c_i) P_j(τ_q) V'(x(τ_q)),   h Σ b_i F_i ẋ_i = h Σ_q w_q V'(x(τ_q)) ẋ(τ_q),

which is ΔV for energies of up to fourth degree; for others the difference to ΔV is added along ẋ. (L. Brugnano, F.
Iavernaro, D. Trigiante, J. Numer. Anal. Ind. Appl. Math. 5 (2010) 17-37.) If the law has a factor a(t), a V' replaces
V', and ΔV is a₁V₁ − a₀V₀ less the work h Σ_q w_q ȧ(τ_q) V(x(τ_q)) of the factor.

The rate of a rope is the sum of the rates ẏ = y' Π̇ of its spans and angles y, with the slopes y' at the node. The
difference between the change of y over the step and hΣ b_i ẏ_i is added along ẏ: lengths of ropes are exact at the end.
"""

from __future__ import annotations

import cython

from ....kernels.arrays import FACTORS as _FACTORS
from ....kernels.springs import ROUND_OFF as _ROUND_OFF
from ....kernels.springs import SUBSTITUTIONS as _SUBSTITUTIONS
from ....kernels.springs import TINY as _TINY

if not cython.compiled:
    from math import atan2, fabs, sqrt
    from math import inf as INFINITY

    from ....numerics.loops.views import larger
    from ..mechanics.forces import set_constraint_forces
    from ..memory.memory import Memory, stage
    from ..memory.structures import AtNodes
    from ..terms.ropes import add_rope_forces, span_slope
    from ..terms.spring_laws import energy_defect, factor_at, force_defect, law_value, slope_at, user_force
    from .nodes import row_of
    from .scheme import Scheme

ROUND_OFF = cython.declare(cython.double, _ROUND_OFF)
SUBSTITUTIONS = cython.declare(cython.Py_ssize_t, _SUBSTITUTIONS)
TINY = cython.declare(cython.double, _TINY)
LENGTH = cython.declare(cython.double, 64.0 * 2.0**-52)
"""Round-off of the change of a length, relative to the length; bodies at rest would divide it by no motion."""
FACTORS = cython.declare(cython.Py_ssize_t, _FACTORS)


def set_prescribed_rates(m: Memory, g: Scheme, given: AtNodes) -> None:
    """Copy the rates of moving references at all nodes, and the factors of laws at both ends of the step."""
    count = m.joints_timed[FACTORS][1]
    first = m.joints_timed[FACTORS][0]
    for i in range(g.stages.size):
        s = stage(g.stages, i)
        row = row_of(given.moved, given, i)
        for k in range(m.joints_stiffness.size):
            s.trial_moved[k] = given.moved[row][k]
        for k in range(2 * count):
            s.trial_moved[first + k] = 1.0  # their work is that of the step, see add_works_of_factors
    step = given.first // g.stages.size if given.factor_end.shape[0] > 1 else 0
    for end in range(2):
        row = step + end if given.factor_end.shape[0] > 1 else 0
        for k in range(count):
            m.trial_moved[first + k + end * count] = given.factor_end[row][k]


def set_product_forces(m: Memory, g: Scheme, h: float, given: AtNodes) -> None:
    """Compute the forces of constraints and springs on products of vectors, at all nodes of a step of length h [s].

    Rates of springs are written into ``trial.extension``.
    """
    for i in range(g.stages.size):
        coefficient = given.coefficient[row_of(given.coefficient, given, i)]
        set_constraint_forces(stage(g.stages, i), coefficient, coefficient)
    lengths = m.joints_length_product.size
    components = m.joints_component_product.size
    roped = m.joints_stiffness.size - (m.ropes_span.size - 1)
    for k in range(m.joints_stiffness.size):
        if k < lengths:
            _measure_length(m, g, h, k)
        elif k >= roped:
            _measure_rope(m, g, h, k, k - roped)
        for i in range(g.stages.size):
            s = stage(g.stages, i)
            if k >= lengths + components and k < roped:
                _measure_angle(s, k, k - lengths - components)
            elif k >= lengths and k < roped:
                s.trial_by_first[k] = 1.0
                s.trial_extension[k] = s.stage_product_rate[m.joints_component_product[k - lengths]]
            s.trial_extension[k] -= s.trial_moved[k]
        if m.joints_law[k] >= 0 or m.joints_force_law[k] != 0:
            _extension_at_node(m, g, h, k)
        if m.joints_law[k] >= 0:
            _project(m, g, h, k, given)
        for i in range(g.stages.size):
            _add_tension(m, g, h, k, i)


def _measure_length(m: Memory, g: Scheme, h: float, k: int) -> None:
    """Compute the length and rate of spring k at the nodes by ℓ̇ = Π̇/(2ℓ), with a fixed-point iteration.

    Π is the square of the length, by collocation.
    """
    p = m.joints_length_product[k]
    stages = g.stages.size
    start = sqrt(m.at_product[p])
    change = INFINITY
    for i in range(stages):
        s = stage(g.stages, i)
        s.stage_length[k] = sqrt(larger(s.end_product[p], TINY))
    for _ in range(SUBSTITUTIONS):
        change = 0.0
        for i in range(stages):
            s = stage(g.stages, i)
            s.trial_by_first[k] = 0.5 / s.stage_length[k]
        for i in range(stages):
            s = stage(g.stages, i)
            length = start
            for j in range(stages):
                t = stage(g.stages, j)
                length += h * g.a[i][j] * t.stage_product_rate[p] * t.trial_by_first[k]
            change = larger(change, fabs(length - s.stage_length[k]))
            s.stage_length[k] = length
        if not change > ROUND_OFF * start:
            break
    for i in range(stages):
        s = stage(g.stages, i)
        s.trial_by_first[k] = 0.5 / s.stage_length[k]
        s.trial_extension[k] = s.trial_by_first[k] * s.stage_product_rate[p]


def _measure_angle(s: Memory, k: int, angle: int) -> None:
    """Compute the rate (cṡ − sċ)/(s² + c²) of the angle of spring k at a node, from its sine s and cosine c.

    Also its derivatives with respect to both.
    """
    p = s.joints_sine_product[angle]
    q = s.joints_cosine_product[angle]
    y = s.end_product[p]
    x = s.end_product[q]
    size = y * y + x * x
    s.trial_by_first[k] = x / size
    s.trial_by_second[k] = -y / size
    rate = s.trial_by_first[k] * s.stage_product_rate[p] + s.trial_by_second[k] * s.stage_product_rate[q]
    s.trial_extension[k] = rate


def _measure_rope(m: Memory, g: Scheme, h: float, k: int, r: int) -> None:
    """Compute the rates of the length of rope r, which is spring k, at the nodes.

    Also the derivatives of this length with respect to the products.
    """
    for i in range(g.stages.size):
        stage(g.stages, i).trial_extension[k] = 0.0
    for span in range(m.ropes_span[r], m.ropes_span[r + 1]):
        _add_span(m, g, h, k, span)
    for angle in range(m.ropes_angle[r], m.ropes_angle[r + 1]):
        _add_angle(m, g, h, k, angle)


def _add_span(m: Memory, g: Scheme, h: float, k: int, span: int) -> None:
    """Add the rates ½ℓΠ̇/Π of a span, of length ℓ and squared distance Π, to the rates of rope k at the nodes."""
    p = m.ropes_square[span]
    offset = m.ropes_offset[span]
    before = m.at_product[p]
    change = 0.0
    done = 0.0
    squares = 0.0
    for i in range(g.stages.size):
        s = stage(g.stages, i)
        square = larger(s.end_product[p] - offset * offset, TINY)
        slope = 0.5 * sqrt(square) / (square + offset * offset)
        rate = slope * s.stage_product_rate[p]
        s.string_by_square[span] = slope
        change += h * g.weights[i] * s.stage_product_rate[p]
        done += h * g.weights[i] * rate
        squares += h * g.weights[i] * rate * rate
    l0 = sqrt(larger(before - offset * offset, TINY))
    l1 = sqrt(larger(before + change - offset * offset, TINY))
    gain = _gain(change * span_slope(offset, l0, l1) - done, squares, l0 + l1)
    for i in range(g.stages.size):
        s = stage(g.stages, i)
        rate = s.string_by_square[span] * s.stage_product_rate[p]
        s.string_by_square[span] *= 1.0 + gain * rate
        s.trial_extension[k] += rate * (1.0 + gain * rate)


def _add_angle(m: Memory, g: Scheme, h: float, k: int, angle: int) -> None:
    """Add the rates ρ(cṡ − sċ)/(s² + c²) of an angle at a sheave of radius ρ to the rates of rope k at the nodes.

    s and c are products in proportion to its sine and cosine.
    """
    p = m.ropes_sine[angle]
    q = m.ropes_cosine[angle]
    radius = m.ropes_radius[angle]
    s0 = m.at_product[p]
    c0 = m.at_product[q]
    s1 = s0
    c1 = c0
    done = 0.0
    squares = 0.0
    for i in range(g.stages.size):
        s = stage(g.stages, i)
        y = s.end_product[p]
        x = s.end_product[q]
        size = larger(y * y + x * x, TINY)
        s.string_by_sine[angle] = radius * x / size
        s.string_by_cosine[angle] = -radius * y / size
        rate = _angle_rate(s, angle)
        s1 += h * g.weights[i] * s.stage_product_rate[p]
        c1 += h * g.weights[i] * s.stage_product_rate[q]
        done += h * g.weights[i] * rate
        squares += h * g.weights[i] * rate * rate
    change = radius * atan2(s1 * c0 - c1 * s0, c0 * c1 + s0 * s1)
    gain = _gain(change - done, squares, fabs(radius))
    for i in range(g.stages.size):
        s = stage(g.stages, i)
        rate = _angle_rate(s, angle)
        s.string_by_sine[angle] *= 1.0 + gain * rate
        s.string_by_cosine[angle] *= 1.0 + gain * rate
        s.trial_extension[k] += rate * (1.0 + gain * rate)


def _angle_rate(s: Memory, angle: int) -> float:
    """Rate of an angle of a rope at a node."""
    rate = s.string_by_sine[angle] * s.stage_product_rate[s.ropes_sine[angle]]
    return rate + s.string_by_cosine[angle] * s.stage_product_rate[s.ropes_cosine[angle]]


def _gain(missed: float, squares: float, size: float) -> float:
    """Factor α with which the sum hΣ b (ẏ + α ẏ²) over the nodes is the exact change Δy; zero if hΣ b ẏ is exact.

    ``missed`` is Δy − hΣ b ẏ, ``squares`` the sum hΣ b ẏ², ``size`` the scale of round-off.
    """
    return 0.0 if fabs(missed) <= LENGTH * size else missed / squares


def _rope_damping(s: Memory, k: int, x: float) -> float:
    """Damping force c ẋ of a taut rope k with the extension x at a node, limited so that the rope never pushes.

    It is zero if the rope is slack.
    """
    if s.joints_damping[k] == 0.0 or x <= 0.0:
        return 0.0
    return larger(s.joints_damping[k] * s.trial_extension[k], -larger(s.trial_law[k], 0.0))


def _add_tension(m: Memory, g: Scheme, h: float, k: int, i: int) -> None:
    """Compute the tension of spring-damper k at node i, and add its forces on products."""
    s = stage(g.stages, i)
    lengths = m.joints_length_product.size
    components = m.joints_component_product.size
    roped = m.joints_stiffness.size - (m.ropes_span.size - 1)
    if k >= roped:
        s.trial_tension[k] = s.trial_law[k] + _rope_damping(s, k, s.end_spring[m.joints_state[k]])
        add_rope_forces(s, k - roped, s.trial_tension[k])
        return
    tension = m.joints_damping[k] * s.trial_extension[k]
    angle = k - lengths - components
    if m.joints_law[k] >= 0:
        tension += s.trial_law[k]
    elif m.joints_force_law[k] != 0:
        tension += user_force(s, k, s.end_spring[m.joints_state[k]], s.trial_extension[k])
    elif m.joints_state[k] >= 0:
        tension += m.at_spring[m.joints_state[k]]
        for j in range(g.stages.size):
            tension += h * g.a[i][j] * m.joints_stiffness[k] * stage(g.stages, j).trial_extension[k]
    s.trial_tension[k] = tension
    if k < lengths:
        p = m.joints_length_product[k]
    elif angle < 0:
        p = m.joints_component_product[k - lengths]
    else:
        p = m.joints_sine_product[angle]
        s.trial_force[m.joints_cosine_product[angle]] -= tension * s.trial_by_second[k]
    s.trial_force[p] -= tension * s.trial_by_first[k]


def _extension_at_node(m: Memory, g: Scheme, h: float, k: int) -> None:
    """Compute the extension of spring k, which has a law, at all nodes."""
    state = m.joints_state[k]
    for i in range(g.stages.size):
        x = m.at_spring[state]
        for j in range(g.stages.size):
            x += h * g.a[i][j] * stage(g.stages, j).trial_extension[k]
        stage(g.stages, i).end_spring[state] = x


def _extension_at_point(m: Memory, g: Scheme, h: float, k: int, q: int) -> float:
    """Extension of spring k at point q of the Gauss points at which elastic laws are evaluated."""
    x = m.at_spring[m.joints_state[k]]
    for j in range(g.stages.size):
        x += h * g.between[q][j] * stage(g.stages, j).trial_extension[k]
    return x


def _factor(m: Memory, given: AtNodes, k: int, q: int) -> float:
    """Factor of the law of spring k at point q of the Gauss points of elastic laws; 1 without factors."""
    if m.joints_timed[FACTORS][1] == 0:
        return 1.0
    return given.factor[2 * given.first + q if given.factor.shape[0] > 1 else 0][k]


def _work_of_factor(m: Memory, g: Scheme, h: float, k: int, given: AtNodes) -> float:
    """Work h Σ w ȧ V [J] that the change of the factor a(t) of the law of spring k does in the step."""
    work = 0.0
    if given.factor_rate.shape[0] > 1:
        for q in range(g.between.shape[0]):
            rate = given.factor_rate[2 * given.first + q][k]
            if rate != 0.0:
                work += g.point_weights[q] * rate * law_value(m, m.joints_law[k], 0, _extension_at_point(m, g, h, k, q))
    return work


def add_works_of_factors(m: Memory, g: Scheme, h: float, given: AtNodes) -> None:
    """Add the works of the factors of all laws, over a step that is solved, to its recorded flows."""
    for k in range(m.joints_stiffness.size):
        if m.joints_law[k] >= 0 and m.ledger_reference[k] >= 0:
            m.run_flow[m.ledger_reference[k]] += _work_of_factor(m, g, h, k, given)


def _project(m: Memory, g: Scheme, h: float, k: int, given: AtNodes) -> None:
    """Compute the forces of the elastic law of spring k at the nodes.

    Their work is exactly the change of the law's energy.
    """
    law = m.joints_law[k]
    before = m.at_spring[m.joints_state[k]]
    for i in range(g.stages.size):
        stage(g.stages, i).trial_law[k] = 0.0
    for q in range(g.between.shape[0]):
        force = _factor(m, given, k, q) * law_value(m, law, 1, _extension_at_point(m, g, h, k, q))
        for i in range(g.stages.size):
            stage(g.stages, i).trial_law[k] += g.projection[i][q] * force
    change = 0.0
    done = 0.0
    size = 0.0
    squares = 0.0
    for i in range(g.stages.size):
        s = stage(g.stages, i)
        moved = h * g.weights[i] * s.trial_extension[k]
        change += moved
        done += s.trial_law[k] * moved
        size += fabs(s.trial_law[k] * moved)
        squares += moved * s.trial_extension[k]
    if m.joints_timed[FACTORS][1] == 0:
        missed = force_defect(m, law, before, before + change, done, size)
    else:
        first = factor_at(m, FACTORS, k, 0) * law_value(m, law, 0, before)
        last = factor_at(m, FACTORS, k, 1) * law_value(m, law, 0, before + change)
        work = _work_of_factor(m, g, h, k, given)
        missed = energy_defect(first + work, last, done, size)
    if missed != 0.0:
        for i in range(g.stages.size):
            s = stage(g.stages, i)
            s.trial_law[k] += missed * s.trial_extension[k] / squares


def slopes_of_laws(m: Memory, g: Scheme, h: float, given: AtNodes) -> None:
    """Compute the derivatives of all laws of springs for the Jacobian.

    They are the mean of V'' over the step for elastic laws, and ∂F/∂x and ∂F/∂v at the middle stage for force laws.
    """
    middle = stage(g.stages, g.stages.size // 2)
    roped = m.joints_stiffness.size - (m.ropes_span.size - 1)
    for k in range(m.joints_stiffness.size):
        if m.joints_law[k] >= 0:
            slope = 0.0
            for q in range(g.between.shape[0]):
                weight = g.point_weights[q] * _factor(m, given, k, q)
                slope += weight * law_value(m, m.joints_law[k], 2, _extension_at_point(m, g, h, k, q))
            middle.stage_law_slope[k][0] = 1.0
            middle.stage_law_slope[k][1] = slope
            if k >= roped:
                _set_rope_slopes(middle, k)
        elif m.joints_force_law[k] != 0:
            x = middle.end_spring[m.joints_state[k]]
            middle.stage_law_slope[k][0] = 1.0
            middle.stage_law_slope[k][1] = slope_at(middle, k, x, middle.trial_extension[k], 0)
            middle.stage_law_slope[k][2] = slope_at(middle, k, x, middle.trial_extension[k], 1)


def _set_rope_slopes(s: Memory, k: int) -> None:
    """Correct the slopes of the force of rope k, with respect to its length and its rate, for the damping.

    A slack rope has no damping; if damping cancels the tension, the force has no slope at all.
    """
    damping = s.trial_tension[k] - s.trial_law[k]
    s.stage_law_slope[k][2] = 0.0
    if s.end_spring[s.joints_state[k]] <= 0.0:
        s.stage_law_slope[k][2] = -s.joints_damping[k]
    elif damping != 0.0 and damping == -larger(s.trial_law[k], 0.0):
        s.stage_law_slope[k][1] = 0.0
        s.stage_law_slope[k][2] = -s.joints_damping[k]
