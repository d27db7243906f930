"""Consistent end of a step if E(x) has a varying null space and no state is algebraic."""

from __future__ import annotations

from ..numerics.arrays import Array, dense
from ..numerics.step_failed import StepFailed
from ..systems.nonlinear import PHDAE
from .descriptor_split import split_of
from .newton import Newton, StepEquations


def consistent_end(system: PHDAE, x: Array, h: float, u: Array, size: Array) -> Array:
    """Solve ``E(½(x + x₁))(x₁ − x) + h U₂U₂ᵀ(x₁) f(x₁) = 0``, f = (J − R)z + (B − P)u, for x₁ in systems of index 1.

    Both terms vanish, as near x₁ the range of E and U₂ are complementary: x₁ satisfies the algebraic equations and is
    reached from x along the null space of E. A quadratic H keeps its value, as with the midpoint rule; others change by
    the third power of the distance. The step length h gives both terms the same units. Raises StepFailed."""

    def terms(x1: Array, part: float) -> tuple[Array, None]:
        z = system.z(x1)
        flow = system.J(x1) @ z - system.R(x1) @ z
        flow = flow + system.port_matrices(x1).flow(u) if u.size else flow
        return dense(system.E(0.5 * (x + x1))) @ (x1 - x) + h * split_of(dense(system.E(x1))).unseen(flow), None

    try:
        return Newton().solve(StepEquations(terms), x, size).x
    except StepFailed as failed:
        reason = f"{failed} in the algebraic equations at the end of the step"
        raise StepFailed(reason, failed.iterations, failed.defect) from failed
