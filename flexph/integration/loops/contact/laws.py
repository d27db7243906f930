"""Normal forces of contacts in loops (formulas of kernels.contacts.laws)."""

from __future__ import annotations

import cython

from ....kernels.contacts.gaps import TINY as _TINY

if not cython.compiled:
    from math import fabs, sqrt

    from ....numerics.loops.views import larger
    from ..memory.memory import Memory

TINY = cython.declare(cython.double, _TINY)


def potential(m: Memory, c: int, depth: float) -> float:
    """Elastic energy V [J] of contact c at the penetration ``depth`` ≥ 0 [m]."""
    if m.contacts_exponent[c] == 1.0:
        return 0.5 * m.contacts_stiffness[c] * depth * depth
    return 0.4 * m.contacts_stiffness[c] * depth * depth * sqrt(depth)


def set_normal_force(m: Memory, c: int, h: float) -> None:
    """Compute the normal force of contact c over a step of length h [s], its elastic part, and the slope ∂F/∂g₁.

    g₁ is the gap at the end of the step. Call it only if the gap is negative at one end of the step at least.
    """
    before = m.touch_before[c]
    after = m.touch_after[c]
    elastic, slope, share, share_slope = _elastic(m, c, before, after)
    rate = (after - before) / h
    loss = m.contacts_loss[c]
    damping = m.contacts_damping[c]
    force = elastic * (1.0 - loss * rate) - damping * share * rate
    slope = slope * (1.0 - loss * rate) - elastic * loss / h - damping * (share / h + share_slope * rate)
    m.touch_elastic[c] = elastic
    m.touch_force[c] = force if force > 0.0 else 0.0
    m.touch_slope[c] = slope if force > 0.0 else 0.0


def _elastic(m: Memory, c: int, before: float, after: float) -> tuple[float, float, float, float]:
    """Elastic force F over a step with the gaps ``before`` and ``after``, and the part of the path in contact.

    Returns F, ∂F/∂g₁, the share of the change of the gap that is in contact, and its derivative with respect to g₁,
    the gap ``after``.
    """
    is_linear = cython.declare(cython.bint)
    K = m.contacts_stiffness[c]
    d0 = larger(-before, 0.0)
    d1 = larger(-after, 0.0)
    is_linear = m.contacts_exponent[c] == 1.0
    if d0 > 0.0 and d1 > 0.0:
        if is_linear:
            return 0.5 * K * (d0 + d1), -0.5 * K, 1.0, 0.0
        a = sqrt(d0)
        b = sqrt(d1)
        force = 0.4 * K * (d0 * d0 + d0 * a * b + d0 * d1 + a * d1 * b + d1 * d1) / (a + b)
        slope = -0.2 * K * (2.0 * d0 * a + 4.0 * d0 * b + 6.0 * a * d1 + 3.0 * d1 * b) / ((a + b) * (a + b))
        return force, slope, 1.0, 0.0
    change = larger(fabs(after - before), TINY)
    if d0 > 0.0:  # opening
        one = potential(m, c, d0) / change
        share = d0 / change
        return one, -one / change, share, -share / change
    one = potential(m, c, d1) / change
    share = d1 / change
    push = K * d1 if is_linear else K * d1 * sqrt(d1)
    return one, -(push - one) / change, share, -(1.0 - share) / change
