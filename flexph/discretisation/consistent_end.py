"""The end of a step on the algebraic equations, where no state is algebraic: the null space of E(x) varies."""

from __future__ import annotations

from ..numerics.arrays import Array, dense
from ..numerics.step_failed import StepFailed
from ..systems.nonlinear import PHDAE
from .descriptor_split import split_of
from .newton import Newton, StepEquations


def consistent_end(system: PHDAE, x: Array, h: float, u: Array, size: Array) -> Array:
    """x₁ with ``E(½(x + x₁))(x₁ − x) + h U₂U₂ᵀ(x₁) f(x₁) = 0``, f = (J − R)z + (B − P)u, of systems of index 1.

    Both terms vanish, since near x₁ the range of E and U₂ have nothing in common: x₁ meets the algebraic equations, and
    is reached from x along the null space of E. A quadratic H keeps its value, as by the midpoint rule; others change
    by the third power of the way. The length h of the step makes both terms alike in units. Raises StepFailed.
    """

    def terms(x1: Array, part: float) -> tuple[Array, None]:
        z = system.z(x1)
        flow = system.J(x1) @ z - system.R(x1) @ z
        flow = flow + system.port_matrices(x1).flow(u) if u.size else flow
        return dense(system.E(0.5 * (x + x1))) @ (x1 - x) + h * split_of(dense(system.E(x1))).unseen(flow), None

    try:
        return Newton().solve(StepEquations(terms), x, size).x
    except StepFailed as failed:
        reason = f"{failed} at its end, on the algebraic equations"
        raise StepFailed(reason, failed.iterations, failed.defect) from failed
