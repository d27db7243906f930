"""Shares of the substeps of compositions of the exact scheme.

A step of the exact scheme reflects the velocity defect e = G v + ∂g/∂t of index-2 constraints, e₁ = −e₀ + O(h²): as a
map of states it is not near the identity, and compositions of single steps lose their order. A pair of equal steps,
Ψ_h = Φ_{h/2} ∘ Φ_{h/2}, is near the identity and symmetric, so that

    Ψ_{γ₁h} ∘ Ψ_{γ₂h} ∘ Ψ_{γ₁h},  γ₁ = 1/(2 − 2^{1/3}),  γ₂ = 1 − 2γ₁ < 0

is of fourth order (the triple jump), with every invariant of the exact scheme.
"""

from __future__ import annotations

import numpy as np

OUTER = 1.0 / (2.0 - 2.0 ** (1.0 / 3.0))
SUBSTEPS = 0.5 * OUTER, 0.5 * OUTER, 0.5 - OUTER, 0.5 - OUTER, 0.5 * OUTER, 0.5 * OUTER
"""Lengths of the six substeps, divided by that of the step: they reach 0.35 of it beyond either end."""


def _midpoint_weights() -> tuple[float, ...]:
    """Weights of the six values λ + c hₖ² + ½λ″(tₖ − t)² + … of the substeps that give λ at the middle t of the step.

    By symmetry these are three numbers: of the first and last, second and fifth, third and fourth substep.
    """
    lengths = np.array(SUBSTEPS)
    away = np.cumsum(lengths) - 0.5 * lengths - 0.5
    conditions = np.array([np.full(3, 2.0), 2.0 * lengths[:3] ** 2, 2.0 * away[:3] ** 2])
    half = np.linalg.solve(conditions, [1.0, 0.0, 0.0]).tolist()
    return *half, *half[::-1]


MIDPOINT = _midpoint_weights()
"""Weights of the multipliers of the substeps; those at the middle of a step are of third order."""
SINGLE = (1.0,)
"""Share, and weight, of a single step."""
PAIR = 0.5, 0.5
"""Shares, and weights, of a pair of equal steps."""
