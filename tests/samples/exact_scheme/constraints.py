"""Constraints of joints: what a step misses of them, and the forces of their multipliers on products.

    g(q₁, t₁) = Σ c₁ Π₁ − κ₁,        a multiplier λ acts with λ c̄ on Π

Rows of rates (rolling, knife edges, gears by angles) hold for the increments, Σ w Π̄_by ΔΠ + a·hΩ, where an angle has
the factor κ; a multiplier acts by the transpose. Squares ½wΠ² of positions are such terms with Π_by = Π.
"""

import numpy as np

from .kinematics import Ends
from .numbers import add_up, dot, turn


def constraint_forces(system, way, coefficient, lam):
    """Forces on products (p,) of the multipliers (g,): with the mean coefficients, or the gains of rows of rates."""
    terms, size = system.rate_terms, system.vectors.first.size
    by_position = add_up(system.term_product, lam[system.term_row] * coefficient.mean, size)
    return by_position + add_up(terms.product, lam[terms.row] * gains(terms, way.product), size)


def spin_forces(system, way, lam):
    """Generalised forces (n_v,) of the multipliers of a·Ω, which act as world torques λa."""
    terms = system.rate_terms
    torque = lam[terms.spin_row, None] * terms.spin_axis
    return np.einsum("msn,ms->n", way.spin_rate[terms.spin_body], torque)


def constraint_gaps(system, way, coefficient, offset):
    """What is open at the end of a step, or what its increments miss of rows of rates, (g,)."""
    after = coefficient.after * way.product.after[system.term_product]
    return add_up(system.term_row, after, system.rows) - offset + rate_gaps(system, way)


def rate_gaps(system, way):
    """Squares at the end of a step, and Σ w Π̄_by ΔΠ + a·hΩ of rows of rates, (g,)."""
    terms = system.rate_terms
    moved = way.h * (way.product_rate @ way.velocity)[terms.product]
    square = 0.5 * terms.weight * way.product.after[terms.product] ** 2
    open_by = np.where(terms.square > 0, square, gains(terms, way.product) * moved)
    turned = way.h * (way.spin_rate @ way.velocity)[terms.spin_body]
    by_spin = add_up(terms.spin_row, dot(terms.spin_axis, turned), system.rows)
    return add_up(terms.row, open_by, system.rows) + by_spin


def gains(terms, product):
    """w Π̄_by of terms of rates; times κ where the term is one of the two of an angle, (w,)."""
    if not terms.by.size:
        return terms.weight
    by = Ends(product.before[terms.by], product.after[terms.by])
    own = Ends(product.before[terms.product], product.after[terms.product])
    y = own.after * by.before - by.after * own.before
    x = by.before * by.after + own.before * own.after
    angular = terms.angular > 0
    kappa = turn(np.where(angular, y, 0.0), np.where(angular, x, 1.0))[1]
    return terms.weight * by.mean * np.where(angular, kappa, 1.0)
