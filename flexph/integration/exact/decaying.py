"""The energy-decaying member of the family: exact in positions and momenta, with a loss for what a step cannot resolve.

Bodies move in a step by ŵ = w̄ + ½BΔp, w = (ω, u̇), and their stresses act as σ̃ = σ̄ + ½AΔσ (:mod:`flexph.kernels.decay`).
From ΔT = w̄·Δp − f_u·Δu, Δp_u = h(f_u − D̄ᵀσ̃ + …) and Δ(½σᵀCσ) = σ̄ᵀCΔσ follows at any step

    ΔH = work − dissipation − ½ ΔpᵀB Δp − ½ Δσᵀ C A Δσ .
"""

from __future__ import annotations

from functools import cache, lru_cache

import numpy as np

from ...kernels.convergence.rules import rounded
from ...kernels.decay import coefficients, free_vibrations
from ...kernels.gradient import is_sparse
from ...kernels.values import Schedule
from ...numerics.arrays import Array
from ...numerics.step_failed import StepFailed
from .impulse import struck
from .step import ExactStepper, InitialValueProblem, StepDetails, StepStart


class DecayingStepper(ExactStepper):
    """The step of the decaying scheme; after it, joints and drives leave ρ of the velocity defect."""

    def __init__(
        self, problem: InitialValueProblem, *, radius: float, least_norm: bool = False, depth: int = 2
    ) -> None:
        super().__init__(problem, least_norm=least_norm, depth=depth, decaying=True)
        self.radius = radius
        self._vibrations = cache(lambda: free_vibrations(self.arrays))
        self._coefficients = lru_cache(maxsize=8)(lambda h: coefficients(self.arrays, self._vibrations(), h, radius))

    def refuse_large(self) -> None:
        """Raise ValueError for what only compiled loops take."""
        if is_sparse(self.arrays):
            raise ValueError(
                "Decaying() keeps dense matrices, and this mechanism is too large for them, with "
                f"{self.mechanism.layout.velocities} velocities: take compiled loops, which keep banded ones of "
                "beams, fewer elements, or Exact() with structural damping"
            )

    def prescribed(self, start: StepStart, time: float, inputs: Array) -> Schedule:
        """What holds over the step to a time, under inputs."""
        if is_sparse(self.arrays):  # in a compiled run
            error = StepFailed("the iteration of the compiled loops did not settle", 0, np.nan)
            error.span = (start.time, time)
            raise error
        decay = self._coefficients(rounded(time - start.time))
        return super().prescribed(start, time, inputs)._replace(decay=decay)

    def details(self, start: StepStart, time: float) -> StepDetails:
        """The step with its solution, and the impulse after it."""
        details = super().details(start, time)
        at_end = details.prescribed, details.rates
        return details._replace(result=struck(self.accounts, details.result, at_end, share=1.0 - self.radius))
