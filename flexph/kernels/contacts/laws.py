"""Forces of compliant contacts over a step: discrete gradients of the potential of the gap, and damping.

With δ = max(−g, 0) and V(δ) = K δⁿ⁺¹/(n + 1), n = 1 or 3/2, the elastic force is F = −ΔV/Δg, free of cancellation:

    n = 3/2:  F = ⅖K(a⁴ + a³b + a²b² + ab³ + b⁴)/(a + b),  a = √δ₀, b = √δ₁;      n = 1:  F = ½K(δ₀ + δ₁)

if both ends are in contact, and F = V(δ_in)/(g_out + δ_in) if one is. With damping the force is

    P = max(F (1 − c Δg/h) − d χ Δg/h, 0),  χ the fraction of the path in contact,

which is never tensile; (P − F) Δg ≤ 0 always, even if the force is cut off.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...numerics.arrays import Array
from .gap_arrays import Contacts
from .gaps import TINY


class Law(NamedTuple):
    """Contact forces over a step (c,): total, elastic part, and derivative of the total by the end gap."""

    force: Array
    elastic: Array
    slope: Array


def stored(c: Contacts, gap: Array) -> Array:
    """Potential energies V of the gaps (c,) [J]."""
    depth = np.maximum(-gap, 0.0)
    return c.stiffness * depth ** (c.exponent + 1.0) / (c.exponent + 1.0)


def forces_at(c: Contacts, gap: Array, rate: Array) -> Array:
    """Instantaneous forces from gaps and their rates (c,), the limit for short steps; zero for rigid contacts.

    P = max(K δⁿ (1 − c ġ) − d ġ, 0) for δ > 0.
    """
    depth = np.maximum(-gap, 0.0)
    force = c.stiffness * depth**c.exponent * (1.0 - c.loss * rate) - c.damping * (depth > 0.0) * rate
    return np.maximum(force, 0.0)


def contact_forces(c: Contacts, before: Array, after: Array, h: float) -> Law:
    """Forces over a step from the gaps at both ends."""
    elastic, slope, share, share_slope = _elastic(c, before, after)
    rate = (after - before) / h
    force = elastic * (1.0 - c.loss * rate) - c.damping * share * rate
    slope = slope * (1.0 - c.loss * rate) - elastic * c.loss / h
    slope = slope - c.damping * (share / h + share_slope * rate)
    pushing = force > 0.0
    return Law(np.where(pushing, force, 0.0), elastic, np.where(pushing, slope, 0.0))


def _elastic(c: Contacts, before: Array, after: Array) -> tuple[Array, Array, Array, Array]:
    """F, ∂F/∂g₁, the fraction χ of the path in contact, and ∂χ/∂g₁, (c,) each."""
    d0, d1, K = np.maximum(-before, 0.0), np.maximum(-after, 0.0), c.stiffness
    a, b = np.sqrt(d0), np.sqrt(d1)
    sum_ = np.where(a + b > 0.0, a + b, 1.0)
    hertz = 0.4 * K * (a**4 + a**3 * b + a**2 * b**2 + a * b**3 + b**4) / sum_
    hertz_slope = -0.2 * K * (2.0 * a**3 + 4.0 * a**2 * b + 6.0 * a * b**2 + 3.0 * b**3) / sum_**2
    linear = c.exponent == 1.0
    both, both_slope = np.where(linear, 0.5 * K * (d0 + d1), hertz), np.where(linear, -0.5 * K, hertz_slope)
    leaving, entering = (d0 > 0.0) & (after >= 0.0), (before >= 0.0) & (d1 > 0.0)
    touching, crossing = (d0 > 0.0) & (d1 > 0.0), leaving | entering
    way = np.where(crossing, np.maximum(np.abs(after - before), TINY), 1.0)
    one = stored(c, np.where(leaving, before, after)) / way
    push = K * d1**c.exponent
    one_slope = np.where(leaving, -one / way, -(push - one) / way)
    force = np.where(touching, both, np.where(crossing, one, 0.0))
    slope = np.where(touching, both_slope, np.where(crossing, one_slope, 0.0))
    share = np.where(touching, 1.0, np.where(crossing, np.where(leaving, d0, d1) / way, 0.0))
    share_slope = np.where(leaving, -share / way, np.where(entering, -(1.0 - share) / way, 0.0))
    return force, slope, share, share_slope
