"""Potentials of compliant contacts, and their forces at a state.

With δ = max(−g, 0) and V(δ) = K δⁿ⁺¹/(n + 1), n = 1 or 3/2, loops take the discrete gradient of V over a step: the
elastic force is F = −ΔV/Δg, free of cancellation,

    n = 3/2:  F = ⅖K(a⁴ + a³b + a²b² + ab³ + b⁴)/(a + b),  a = √δ₀, b = √δ₁;      n = 1:  F = ½K(δ₀ + δ₁)

if both ends are in contact, and F = V(δ_in)/(g_out + δ_in) if one is. With damping the force is

    P = max(F (1 − c Δg/h) − d χ Δg/h, 0),  χ the fraction of the path in contact,

which is never tensile; (P − F) Δg ≤ 0 always, even if the force is cut off.
"""

from __future__ import annotations

import numpy as np

from ...numerics.arrays import Array
from .gap_arrays import Contacts


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
