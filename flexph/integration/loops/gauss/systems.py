"""Linear systems of a step: factors of the Jacobian of the exact scheme at complex step lengths (see scheme)."""

from __future__ import annotations

import cython

from ....numerics.arrays import Array

if not cython.compiled:
    from ....numerics.loops.views import divided, fill
    from ..mechanics.arrow import eliminate, solve
    from ..mechanics.arrow import eliminate as eliminate_pair
    from ..mechanics.arrow import solve as solve_pair
    from ..mechanics.assembly import assemble
    from ..mechanics.assembly import assemble as assemble_pair
    from ..memory.memory import paired, stage
    from .scheme import Scheme


def factor_all(dim: int, g: Scheme, h: float, coefficient: Array) -> bool:
    """Assemble and factor the linear systems of all eigenvalues at the middle stage; False if one is singular.

    ``coefficient`` has the coefficients of the constraints there.
    """
    first = g.real.size
    if first > 0:
        real = stage(g.real, 0)
        assemble(real, dim, 0, 2.0 * h / g.eigenvalue[0].real, coefficient, coefficient)
        if not eliminate(real, dim, 0):
            return False
    for k in range(g.pairs.size):
        pair = paired(g.pairs, k)
        assemble_pair(pair, dim, 0, divided(2.0 * h, g.eigenvalue[first + k]), coefficient, coefficient)
        if not eliminate_pair(pair, dim, 0):
            return False
    return True


def solve_all(dim: int, g: Scheme, h: float) -> None:
    """Compute the corrections at all stages from their defects.

    Defects are multiplied by h'/h = 2/μ, which gives the defects of a step h' of the exact scheme.
    """
    first = g.real.size
    if first > 0:
        _solve_real(dim, g, h)
    for k in range(g.pairs.size):
        _solve_pair(dim, g, h, k)
    for i in range(g.stages.size):
        node = stage(g.stages, i)
        fill(node.correction, 0.0)
        if first > 0:
            real = stage(g.real, 0)
            weight = g.right[i][0].real
            for j in range(node.correction.size):
                node.correction[j] += weight * real.correction[j]
        for k in range(g.pairs.size):
            pair = paired(g.pairs, k)
            turned = g.right[i][first + k]
            for j in range(node.correction.size):
                node.correction[j] += (turned * pair.correction[j]).real


def _solve_real(dim: int, g: Scheme, h: float) -> None:
    """Solve the linear system of the real eigenvalue for its part of the defects of all stages."""
    real = stage(g.real, 0)
    step = 2.0 * h / g.eigenvalue[0].real
    fill(real.defect, 0.0)
    for i in range(g.stages.size):
        node = stage(g.stages, i)
        weight = g.left[0][i].real * step / h
        for j in range(node.defect.size):
            real.defect[j] += weight * node.defect[j]
    solve(real, dim, 0, step)


def _solve_pair(dim: int, g: Scheme, h: float, k: int) -> None:
    """Solve the linear system of the k-th pair of eigenvalues for its part of the defects of all stages."""
    pair = paired(g.pairs, k)
    place = g.real.size + k
    step = divided(2.0 * h, g.eigenvalue[place])
    fill(pair.defect, 0.0)
    for i in range(g.stages.size):
        node = stage(g.stages, i)
        weight = divided(g.left[place][i] * step, h)
        for j in range(node.defect.size):
            pair.defect[j] += weight * node.defect[j]
    solve_pair(pair, dim, 0, step)
