"""Gauss collocation methods of order 4 and 6 (Hairer, Lubich, Wanner, sec. II.1), with consistent ends of steps.

A bar denotes a mean over a step. U₁, U₂, V₁ and V₂ are the bases of :class:`.descriptor_split.Split`, which separate
differential and algebraic equations and states.
"""

from __future__ import annotations

import numpy as np

from ..numerics.arrays import Array, dense
from ..numerics.differences import FORWARD, forward
from ..numerics.gauss_tableau import gauss
from ..numerics.step_failed import StepFailed
from ..systems.nonlinear import PHDAE
from .descriptor_split import ParametrizedDescriptor, differential_states, null_space_varies, split_of
from .discretised import Advance
from .newton import Newton, StepEquations


def consistent_end(system: PHDAE, x: Array, h: float, u: Array, size: Array) -> Array:
    """Solve ``E(½(x + x₁))(x₁ − x) + h U₂U₂ᵀ(x₁) f(x₁) = 0``, f = (J − R)z + (B − P)u, for x₁ in systems of index 1.

    Both terms vanish, as near x₁ the range of E and U₂ are complementary: x₁ satisfies the algebraic equations and is
    reached from x along the null space of E. A quadratic H keeps its value, as with the midpoint rule; any other H
    changes by the third power of the distance. The step length h gives both terms the same units. Raises StepFailed."""

    def terms(x1: Array, part: float) -> tuple[Array, None]:
        z = system.z(x1)
        flow = system.J(x1) @ z - system.R(x1) @ z
        flow = flow + system.port_matrices(x1).flow(u) if u.size else flow
        return dense(system.E(0.5 * (x + x1))) @ (x1 - x) + h * split_of(dense(system.E(x1))).kernel_part(flow), None

    try:
        return Newton().solve(StepEquations(terms), x, size).x
    except StepFailed as failed:
        reason = f"{failed} in the algebraic equations at the end of the step"
        raise StepFailed(reason, failed.iterations, failed.defect) from failed


class GaussCollocation:
    """``E(X_i) K_i = (J − R)z + Bu`` at s points, ``X_i = x₀ + h Σ a_ij K_j``, ``x₁ = x₀ + h Σ b_i K_i``: order 2s.

    The energy balance is exact for quadratic H ([dg] sec. 1 and its reference 28), whatever E: Σ b_i z_iᵀE(X_i)K_i = Σ
    b_i ∇H(X_i)·K_i integrates a polynomial of degree 2s − 1. Algebraic states are unknowns at the stages and
    extrapolated to the end of the step, with order s on index 1. If the null space of E varies, no state is algebraic:
    ends of steps are moved onto the algebraic equations along it (:func:`consistent_end`), and all states have order 2s
    on index 1. On index 2 the stability function (−1)^s at infinity lets constraint defects accumulate or alternate (E.
    Hairer, Ch. Lubich, M. Roche, The Numerical Solution of Differential-Algebraic Systems by Runge-Kutta Methods,
    1989): differential states have order s for even s, s + 1 for odd s, algebraic ones at least order s − 2 and s − 1.
    Measured for a bead on a parabola (tests/flexph/integration/test_orders.py): positions 2s, velocities 2 and 4,
    multipliers 1 and 3 for s = 2 and 3. Use a discrete gradient pair if constraints must not drift.
    """

    def __init__(self, system: PHDAE, stages: int) -> None:
        # the equation of a parameter contains the algebraic states' rate, so they are unknowns at the nodes, too
        whole = isinstance(system.E, ParametrizedDescriptor)
        one: tuple[Array, Array] = np.eye(system.size), np.zeros((system.size, 0))
        self.V1, self.V2 = one if whole else differential_states(system)
        self.system, self.stages = system, stages
        tableau = gauss(stages)
        self.c, self.b, self.a = tableau.nodes, tableau.weights, tableau.a
        self.to_end = np.array([np.prod([(1.0 - d) / (e - d) for d in self.c if d != e]) for e in self.c])
        self.newton, self._closes = Newton(), not whole and null_space_varies(system)

    def step(self, x0: Array, h: float, u: Array, size: Array, *, history: None = None) -> Advance:
        """Take a step of length h [s] from x₀ with constant inputs u.

        ``size`` (n,) are the sizes of the states, to which corrections are compared. Raises StepFailed.
        """
        V1, V2, n, s = self.V1, self.V2, x0.size, self.stages
        r = V1.shape[1]

        def states(y: Array, part: float) -> tuple[Array, Array]:
            stages = y.reshape(s, n)
            slopes, algebraic = stages[:, :r], stages[:, r:]
            differential = V1.T @ x0 + part * h * (self.a @ slopes)
            return differential @ V1.T + algebraic @ V2.T, slopes @ V1.T

        def terms(y: Array, part: float) -> tuple[Array, tuple[Array, Array]]:
            points, slopes = states(y, part)
            rows = [dense(self.system.E(p)) @ k - self._flow(p, u) for p, k in zip(points, slopes, strict=True)]
            return np.concatenate(rows), (points, slopes)

        start = np.concatenate([np.zeros(r), V2.T @ x0])
        speed = np.maximum(np.abs(V1.T) @ size, 1e-300) / h
        sizes = np.tile(np.concatenate([np.abs(speed), np.maximum(np.abs(V2.T) @ size, 1e-300)]), s)
        equations = StepEquations(terms, lambda y, part: self._slopes(part * h, u, size, stages=states(y, part)))
        solved = self.newton.step(equations, np.tile(start, s), np.tile(start, s), sizes)
        points, rates = solved.terms
        algebraic = V2 @ (V2.T @ (self.to_end @ points))
        end = V1 @ (V1.T @ x0) + h * (self.b @ rates) + algebraic
        costates = [self.system.z(p) for p in points]
        ports = [self.system.port_matrices(p) for p in points]
        output = sum(b * m.output(z, u) for b, m, z in zip(self.b, ports, costates, strict=True))
        lost = sum(
            b * m.dissipated(self.system.R(p), z, u) for b, m, p, z in zip(self.b, ports, points, costates, strict=True)
        )
        closing = (lambda u: consistent_end(self.system, end, h, u, size)) if self._closes else None
        return Advance(end, solved.iterations, np.asarray(output), h * lost, self.system.H(end), closing=closing)

    def _slopes(self, h: float, u: Array, size: Array, *, stages: tuple[Array, Array]) -> Array:
        """Jacobian (s n, s n) of ``E(X_i) K_i − (J − R)z − Bu`` with respect to the unknowns of all s stages.

        The unknowns of a stage are r differential rates V₁ᵀK_i and n − r algebraic states V₂ᵀX_i; ``stages`` are (X,
        K).
        """
        (points, slopes), V1, V2, s = stages, self.V1, self.V2, self.stages
        r, n = V1.shape[1], points.shape[1]
        jacobian = np.zeros((s, n, s, n))
        for i, (x, k) in enumerate(zip(points, slopes, strict=True)):
            of_state = self._of_state(x, k, u, size)
            jacobian[i, :, :, :r] = h * (of_state @ V1)[:, None, :] * self.a[i][None, :, None]
            jacobian[i, :, i, :r] += dense(self.system.E(x)) @ V1
            jacobian[i, :, i, r:] = of_state @ V2
        return jacobian.reshape(s * n, s * n)

    def _of_state(self, x: Array, k: Array, u: Array, size: Array) -> Array:
        """Derivative ∂(E(x)k − (J − R)z − Bu)/∂x (n, n) at constant k and u, given or by forward differences."""
        system, given = self.system, self.system.derivatives
        if given is not None:
            return given.of_descriptor(x, k) - given.of_flow(x, system.z(x), system.J(x) - system.R(x), u)
        defect = lambda x: dense(system.E(x)) @ k - self._flow(x, u)  # noqa: E731
        return forward(defect, x, defect(x), FORWARD * np.maximum(np.abs(x), size))

    def _flow(self, x: Array, u: Array) -> Array:
        z = self.system.z(x)
        flow: Array = self.system.J(x) @ z - self.system.R(x) @ z
        return flow + self.system.port_matrices(x).flow(u) if u.size else flow
