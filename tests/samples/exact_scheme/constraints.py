"""Constraints of joints: what a step misses of them, and the forces of their multipliers on products.

    g(q₁, t₁) = Σ c₁ Π₁ − κ₁,        a multiplier λ acts with λ c̄ on Π

Rows of rates (rolling, knife edges, gears by angles) hold for the increments, Σ w Π̄_by ΔΠ + a·hΩ, where an angle has
the factor κ; a multiplier acts by the transpose. Squares ½wΠ² of positions are such terms with Π_by = Π.
"""

import numpy as np

from .kinematics import Ends
from .numbers import add_up, dot, turn


def term_forces(system, coefficient, lam):
    """Forces on products (p,) of the multipliers (g,) of position constraints, with the mean coefficients."""
    return add_up(system.term_product, lam[system.term_row] * coefficient.mean, system.vectors.first.size)


def gaps(system, coefficient, offset, product):
    """What is open at the end of a step, (g,)."""
    return add_up(system.term_row, coefficient.after * product.after[system.term_product], system.rows) - offset


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


def rate_gaps(system, way):
    """Squares at the end of a step, and what its increments miss of rows of rates, (g,)."""
    terms = system.rate_terms
    moved = way.h * (way.product_rate @ way.velocity)[terms.product]
    square = 0.5 * terms.weight * way.product.after[terms.product] ** 2
    open_by = np.where(terms.square > 0, square, gains(terms, way.product) * moved)
    turned = way.h * (way.spin_rate @ way.velocity)[terms.spin_body]
    by_spin = add_up(terms.spin_row, dot(terms.spin_axis, turned), system.rows)
    return add_up(terms.row, open_by, system.rows) + by_spin


def rate_forces(system, way, lam):
    """Forces on products (p,) and world torques on bodies (b, s) of the multipliers of rows of rates."""
    terms = system.rate_terms
    on_product = add_up(terms.product, lam[terms.row] * gains(terms, way.product), way.product.after.size)
    return on_product, add_up(terms.spin_body, lam[terms.spin_row, None] * terms.spin_axis, len(system.bodies))
