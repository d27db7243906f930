"""The linear systems of a step: factors of the Jacobian of the exact scheme at complex steps (see scheme)."""

from __future__ import annotations

from ....numerics.arrays import Array
from ....numerics.compiled.kernel import kernel
from ....numerics.compiled.lanes import brief
from ..loops.arrow import eliminate, solve
from ..loops.assembly import assemble
from ..memory.memory import Memory
from .scheme import Scheme, paired, stage


@kernel
def _factor(m: Memory, axes: tuple[int, ...], h: complex, coefficient: Array) -> bool:
    """Factor one system; False where it is singular."""
    assemble(m, axes, (), h, coefficient, coefficient)  # type: ignore[arg-type]
    return eliminate(m, axes, ())


@kernel
def factor_all(axes: tuple[int, ...], g: Scheme, h: float, coefficient: Array) -> bool:
    """Factor all systems at the middle stage, with the coefficients there; False where one is singular."""
    first = g.real.size
    if first > 0 and not _factor(stage(g.real, 0), axes, 2.0 * h / g.eigenvalue[0].real, coefficient):
        return False
    for k in range(g.pairs.size):
        if not _factor(paired(g.pairs, k), axes, 2.0 * h / g.eigenvalue[first + k], coefficient):
            return False
    return True


@kernel
def solve_all(axes: tuple[int, ...], g: Scheme, h: float) -> None:
    """Corrections of all stages from their defects, which are those of a step h' by h'/h = 2/μ."""
    first = g.real.size
    if first > 0:
        system, step = stage(g.real, 0), 2.0 * h / g.eigenvalue[0].real
        system.defect[:] = 0.0
        for i in range(g.stages.size):
            _gather(g.left[0, i].real * step / h, stage(g.stages, i), system)
        solve(system, axes, (), step)
    for k in range(g.pairs.size):
        pair, length = paired(g.pairs, k), 2.0 * h / g.eigenvalue[first + k]
        pair.defect[:] = 0.0
        for i in range(g.stages.size):
            _gather(g.left[first + k, i] * length / h, stage(g.stages, i), pair)
        solve(pair, axes, (), length)
    for i in range(g.stages.size):
        s = stage(g.stages, i)
        s.correction[:] = 0.0
        if first > 0:
            _scatter(g.right[i, 0].real, stage(g.real, 0), s)
        for k in range(g.pairs.size):
            _scatter(g.right[i, first + k], paired(g.pairs, k), s)


@kernel
def _gather(weight: complex, s: Memory, system: Memory) -> None:
    """Add the share of a stage in the defects of a system."""
    brief()
    for i in range(s.defect.size):
        system.defect[i] += weight * s.defect[i]


@kernel
def _scatter(weight: complex, system: Memory, s: Memory) -> None:
    """Add the share of a system in the corrections of a stage."""
    brief()
    for i in range(s.correction.size):
        s.correction[i] += (weight * system.correction[i]).real
