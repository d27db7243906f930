"""Gauss collocation, the methods of order 4 and 6 (Hairer, Lubich, Wanner, sec. II.1)."""

from __future__ import annotations

import numpy as np

from ..numerics.arrays import Array, dense
from ..numerics.differences import FORWARD, forward
from ..numerics.gauss_tableau import gauss
from ..systems.nonlinear import PHDAE
from .descriptor_split import ParametrizedDescriptor, differential_split, selection
from .discretised import Advance
from .newton import Newton, StepEquations


class GaussCollocation:
    """``E(X_i) K_i = (J − R)z + Bu`` at s points, ``X_i = x₀ + h Σ a_ij K_j``, ``x₁ = x₀ + h Σ b_i K_i``: order 2s.

    The energy balance is exact for quadratic H and constant E ([dg] sec. 1 and its reference 28), not beyond. Algebraic
    states are unknown at the stages and extrapolated to the end of the step: of order s on index 1. On index 2 the
    stability function (−1)^s at infinity lets defects of the constraints add up or alternate (E. Hairer, Ch. Lubich,
    M. Roche, The Numerical Solution of Differential-Algebraic Systems by Runge-Kutta Methods, 1989): differential
    states are of order s for even s, s + 1 for odd s, algebraic ones of order s − 2 and s − 1 at least. Measured on a
    bead on a parabola (tests/flexph/integration/test_orders.py): positions 2s, velocities 2 and 4, multipliers 1 and
    3 for s = 2 and 3. Use a discrete gradient pair where constraints shall not drift.
    """

    def __init__(self, system: PHDAE, stages: int) -> None:
        # the rate of the algebraic states stands in the equation of a parameter: they are at the nodes too
        whole = isinstance(system.E, ParametrizedDescriptor)
        self.split = selection(system.size, slice(None)) if whole else differential_split(system)
        self.system, self.stages = system, stages
        tableau = gauss(stages)
        self.c, self.b, self.a = tableau.nodes, tableau.weights, tableau.a
        self.to_end = np.array([np.prod([(1.0 - d) / (e - d) for d in self.c if d != e]) for e in self.c])
        self.newton = Newton()

    def step(self, x0: Array, h: float, u: Array, size: Array, *, history: None = None) -> Advance:
        """Advance by h under constant inputs; raises StepFailed."""
        split, n, s = self.split, x0.size, self.stages
        r = split.V1.shape[1]

        def states(y: Array) -> tuple[Array, Array]:
            stages = y.reshape(s, n)
            slopes, algebraic = stages[:, :r], stages[:, r:]
            differential = split.V1.T @ x0 + h * (self.a @ slopes)
            return differential @ split.V1.T + algebraic @ split.V2.T, slopes @ split.V1.T

        def terms(y: Array, part: float) -> tuple[Array, tuple[Array, Array]]:
            points, slopes = states(y)
            rows = [dense(self.system.E(p)) @ k - self._flow(p, u) for p, k in zip(points, slopes, strict=True)]
            return np.concatenate(rows), (points, slopes)

        start = np.concatenate([np.zeros(r), split.V2.T @ x0])
        speed = np.maximum(np.abs(split.V1.T) @ size, 1e-300) / h
        sizes = np.tile(np.concatenate([np.abs(speed), np.maximum(np.abs(split.V2.T) @ size, 1e-300)]), s)
        equations = StepEquations(terms, lambda y, part: self._slopes(h, u, size, stages=states(y)))
        solved = self.newton.solve(equations, np.tile(start, s), sizes)
        points, rates = solved.terms
        algebraic = split.V2 @ (split.V2.T @ (self.to_end @ points))
        end = split.differential(x0) + h * (self.b @ rates) + algebraic
        costates = [self.system.z(p) for p in points]
        ports = [self.system.port_matrices(p) for p in points]
        output = sum(b * m.output(z, u) for b, m, z in zip(self.b, ports, costates, strict=True))
        lost = sum(
            b * m.dissipated(self.system.R(p), z, u) for b, m, p, z in zip(self.b, ports, points, costates, strict=True)
        )
        return Advance(end, solved.iterations, np.asarray(output), h * lost, self.system.H(end))

    def _slopes(self, h: float, u: Array, size: Array, *, stages: tuple[Array, Array]) -> Array:
        """The derivative of ``E(X_i) K_i − (J − R)z − Bu`` by slopes and algebraic states of all stages."""
        (points, slopes), split, s = stages, self.split, self.stages
        r, n = split.V1.shape[1], points.shape[1]
        jacobian = np.zeros((s, n, s, n))
        for i, (x, k) in enumerate(zip(points, slopes, strict=True)):
            of_state = self._of_state(x, k, u, size)
            jacobian[i, :, :, :r] = h * (of_state @ split.V1)[:, None, :] * self.a[i][None, :, None]
            jacobian[i, :, i, :r] += dense(self.system.E(x)) @ split.V1
            jacobian[i, :, i, r:] = of_state @ split.V2
        return jacobian.reshape(s * n, s * n)

    def _of_state(self, x: Array, k: Array, u: Array, size: Array) -> Array:
        """The derivative of ``E(x)k − (J − R)z − Bu`` by x, given or by forward differences."""
        system, given = self.system, self.system.derivatives
        if given is not None:
            return given.of_descriptor(x, k) - given.of_flow(x, system.z(x), system.J(x) - system.R(x), u)
        defect = lambda x: dense(system.E(x)) @ k - self._flow(x, u)  # noqa: E731
        return forward(defect, x, defect(x), FORWARD * np.maximum(np.abs(x), size))

    def _flow(self, x: Array, u: Array) -> Array:
        z = self.system.z(x)
        flow: Array = self.system.J(x) @ z - self.system.R(x) @ z
        return flow + self.system.port_matrices(x).flow(u) if u.size else flow
