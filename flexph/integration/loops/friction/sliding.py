"""Dry friction of joints that slide over a whole step, as a function of its slip rates and joint forces.

The law of :mod:`.law` is then T = −μ|λ| s/|s|, which is smooth. Functions over recorded numbers use it in place of
the iteration that solves the set-valued law.
"""

from __future__ import annotations

import cython

if not cython.compiled:
    from math import sqrt

    from ....numerics.loops.views import fill
    from ..mechanics.residual import trial
    from ..memory.memory import Memory
    from ..memory.structures import Given
    from .law import coefficient
    from .rows import measure_slips, set_friction_forces


def slide(m: Memory, dim: int, contact: int, given: Given) -> None:
    """Evaluate a step at its iterate, and set its friction forces as if all bearings slid.

    The arguments are those of ``residual``.
    """
    trial(m, dim, 0, contact, given)
    measure_slips(m, given.h)
    set_sliding_forces(m)


def set_sliding_forces(m: Memory) -> None:
    """Compute the friction forces of sliding bearings, from slip rates ``rub.slip`` and joint forces ``rub.base``."""
    t = m.bearings_spring.shape[1]
    fill(m.rub_size, 0.0)
    for k in range(m.rub_base.size):
        m.rub_size[m.bearings_owner[k]] += m.rub_base[k] * m.rub_base[k]
    for i in range(m.bearings_friction.size):
        square = 0.0
        for q in range(i * t, (i + 1) * t):
            square += m.rub_slip[q] * m.rub_slip[q]
        gain = 0.0
        if square > 0.0:
            gain = coefficient(m, i) * sqrt(m.rub_size[i]) / sqrt(square)
        for q in range(i * t, (i + 1) * t):
            m.rub_force[q] = -gain * m.rub_slip[q]
    set_friction_forces(m)
