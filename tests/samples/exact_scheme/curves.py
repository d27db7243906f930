"""Points on curves p(s) = Σ_k c_k(s) P_k through points of a body, which move and bend with it.

In directions D_j of the body a point P stands apart from the curve by V_j(s) = Σ_k c_k(s) Π_jk, Π_jk = D_j·(P − P_k):

    V·T = 0 with T = dV/ds gives s, the foot of P;      n_i·V(s) = 0, n_i ⟂ T, are the constraints.

Over a step, with C = Δc/Δs, ΔV = Σ c̄_k ΔΠ_k + τΔs, τ = Σ C_k Π̄_k: forces along n̄_i ⟂ τ do no work on the way of a point
that stays on its curve. There Δs = b·Σ c̄_k ΔΠ_k, b = −τ/|τ|², which is how forces along the curve act.
"""

from itertools import pairwise
from math import perm
from typing import Any, NamedTuple

import numpy as np

from .numbers import add_up, cross, dot, norm

ITERATIONS = 8
"""Newton steps to a foot from one that is near."""


class OnCurve(NamedTuple):
    """A point on a curve over a step: its place at the end, and rows (d − 1 or d, d) of directions of its forces."""

    end: Any  # s₁
    mean: Any  # c̄ (K,)
    normals: Any  # n̄ (d − 1, d)
    forward: Any  # b (d,)
    along: Any  # unit vector of τ (d,): by it the point slips towards smaller s
    apart: Any  # V₁ (d,)


def all_on_curves(system, way, places):
    """All points on curves over a step that starts at places (curves,)."""
    return [on_curve(curve, way.product, place) for curve, place in zip(system.curves, places, strict=True)]


def on_curve(curve, product, place):
    """A point on a curve over a step that starts at a place s₀, from the products at both ends."""
    start, end = product.before[curve.products], product.after[curve.products]
    s0 = foot(curve, start, place)
    s1 = foot(curve, end, s0)
    c = shapes(curve, s0), shapes(curve, s1)
    tau = 0.5 * (start + end) @ mean_slope(curve, s0, s1)
    along = tau / norm(tau)
    resting = normals(start @ shapes(curve, s0, 1))
    across = resting - (resting @ along)[:, None] * along
    return OnCurve(s1, 0.5 * (c[0] + c[1]), across, -tau / dot(tau, tau), along, end @ c[1])


def shapes(curve, s, order=0):
    """The derivative of an order of c at s, (K,): of polynomials in s − s_e on the piece e."""
    e = int(np.clip(np.searchsorted(curve.knots, s.real, side="right") - 1, 0, len(curve.first) - 1))
    powers, t = curve.powers[e], s - curve.knots[e]
    weights = np.array([perm(q, order) * t ** max(q - order, 0) for q in range(powers.shape[1])])
    c = np.zeros(curve.products.shape[1], dtype=weights.dtype)
    c[curve.first[e] : curve.first[e] + len(powers)] = powers @ weights
    return c


def mean_slope(curve, s0, s1):
    """C = Δc/Δs, (K,): the mean of dc/ds over the way, which Gauss' rule gives exactly between knots."""
    low, high = sorted((float(s0.real), float(s1.real)))
    inner = [knot for knot in curve.knots if low < knot < high]
    ends = [s0, *(inner if s1.real > s0.real else inner[::-1]), s1]
    if s0 == s1:
        return shapes(curve, s1, 1)
    nodes, weights = np.polynomial.legendre.leggauss(curve.powers.shape[2])
    total = 0.0
    for a, b in pairwise(ends):
        middle = 0.5 * (a + b)
        part = [w * shapes(curve, middle + 0.5 * t * (b - a), 1) for t, w in zip(nodes, weights, strict=True)]
        total = total + 0.5 * (b - a) * sum(part)
    return total / (s1 - s0)


def foot(curve, products, near):
    """s with V·T = 0 near a place, by Newton's method."""
    s = near + 0.0 * products.flat[0]
    for _ in range(ITERATIONS):
        V, T, bend = (products @ shapes(curve, s, order) for order in range(3))
        s = s - dot(V, T) / (dot(T, T) + dot(V, bend))
    return s


def normals(tangent):
    """Unit vectors across a tangent, (d − 1, d): in space the first is across the axis that is most across it."""
    t = tangent / norm(tangent)
    if t.size == 2:
        return np.array([[-t[1], t[0]]])
    axis = np.eye(3)[int(np.argmin(np.abs(t.real)))]
    first = axis - (t @ axis) * t
    first = first / norm(first)
    return np.array([first, cross(t, first)])


def curve_gaps(system, on_curves):
    """How far points are from their curves at the end of a step, (g,): of a place that is driven, s₁."""
    gaps = np.zeros(system.rows, dtype=np.result_type(0.0, *(own.end for own in on_curves)))
    for curve, own in zip(system.curves, on_curves, strict=True):
        across = own.normals @ own.apart
        gaps[curve.rows] = np.append(across, own.end) if curve.driven else across
    return gaps


def curve_forces(system, on_curves, lam, inputs):
    """Forces on products (p,) of multipliers, and of inputs that push along a curve."""
    force = np.zeros(system.vectors.first.size)
    for curve, own in zip(system.curves, on_curves, strict=True):
        push = lam[curve.rows[: len(own.normals)]] @ own.normals
        along = lam[curve.rows[-1]] if curve.driven else inputs[curve.input] if curve.input >= 0 else 0.0
        force = force + on_products(system, curve, push + along * own.forward, own)
    return force


def on_products(system, curve, push, own):
    """Forces on all products (p,) of a force (d,) on the point of a curve."""
    return add_up(curve.products.ravel(), np.outer(push, own.mean).ravel(), system.vectors.first.size)
