"""Entries of the Jacobian of a step by massless ropes, whose lengths are sums over many products (see kernels.ropes)."""

from __future__ import annotations

import cython

if not cython.compiled:
    from math import sqrt

    from ....numerics.loops.views import fill
    from ..memory.memory import Memory
    from ..terms.angles import kappa
    from ..terms.product_rows import add_block, add_product, begin_rows
    from ..terms.ropes import span_curvature
    from .couplings import add_stiffness
    from .springs import rope_stiffness


def add_ropes(m: Memory, dim: int, h: float) -> None:
    """Add −h βᵀ T γ with the tangents T of the ropes; slack ropes have none."""
    ropes = m.ropes_span.size - 1
    first = m.joints_stiffness.size - ropes
    for r in range(ropes):
        i = first + r
        stiff = rope_stiffness(m, i, h)
        tension = m.trial_tension[i]
        if stiff == 0.0 and tension == 0.0:
            continue
        begin_rows(m)
        fill(m.rows_act, 0.0)
        fill(m.rows_move, 0.0)
        for k in range(m.ropes_span[r], m.ropes_span[r + 1]):
            p = m.ropes_square[k]
            offset = m.ropes_offset[k]
            l0 = sqrt(m.at_product[p] - offset * offset)
            l1 = sqrt(m.end_product[p] - offset * offset)
            m.rows_act[0] = m.string_by_square[k]
            m.rows_move[0] = 0.5 * l1 / m.end_product[p]
            add_product(m, dim, p)
            add_stiffness(m, dim, h, -tension * span_curvature(offset, l0, l1), p, p)
        for w in range(m.ropes_angle[r], m.ropes_angle[r + 1]):
            _differentiate_angle(m, dim, h, w, tension)
        add_block(m, 0, 0, h * stiff)


def _differentiate_angle(m: Memory, dim: int, h: float, w: int, tension: float) -> None:
    """Add an angle to the rows of its rope, and the change of its gradient under the tension."""
    p = m.ropes_sine[w]
    q = m.ropes_cosine[w]
    s0 = m.at_product[p]
    c0 = m.at_product[q]
    s1 = m.end_product[p]
    c1 = m.end_product[q]
    size = s1 * s1 + c1 * c1
    m.rows_act[0] = m.string_by_sine[w]
    m.rows_move[0] = m.ropes_radius[w] * c1 / size
    add_product(m, dim, p)
    m.rows_act[0] = m.string_by_cosine[w]
    m.rows_move[0] = -m.ropes_radius[w] * s1 / size
    add_product(m, dim, q)
    ratio, by_y, by_x = kappa(s1 * c0 - c1 * s0, c0 * c1 + s0 * s1)
    pull = -tension * m.ropes_radius[w]
    by_sine = pull * (by_y * c0 + by_x * s0)
    by_cosine = pull * (-by_y * s0 + by_x * c0)
    half = 0.5 * pull * ratio
    add_stiffness(m, dim, h, by_sine * 0.5 * (c0 + c1), p, p)
    add_stiffness(m, dim, h, by_cosine * 0.5 * (c0 + c1) + half, p, q)
    add_stiffness(m, dim, h, -by_sine * 0.5 * (s0 + s1) - half, q, p)
    add_stiffness(m, dim, h, -by_cosine * 0.5 * (s0 + s1), q, q)
