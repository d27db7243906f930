"""The energy-decaying member of the family: exact in positions and momenta, with a loss for what a step cannot resolve.

Bodies move in a step by ŵ = w̄ + ½BΔp, w = (ω, u̇), and their stresses act as σ̃ = σ̄ + ½AΔσ (:mod:`flexph.kernels.decay`).
From ΔT = w̄·Δp − f_u·Δu, Δp_u = h(f_u − D̄ᵀσ̃ + …) and Δ(½σᵀCσ) = σ̄ᵀCΔσ follows at any step

    ΔH = work − dissipation − ½ ΔpᵀB Δp − ½ Δσᵀ C A Δσ .

B and A are those of the small free vibrations (M, K = D₀ᵀC⁻¹D₀) of each body about its centre of mass, with its spin:

    B = α(M⁻¹ − 4S⁻¹),  A = α h² C⁻¹D₀S⁻¹D₀ᵀ,  S = 4M + h²K,  α = (1 − ρ)/(1 + ρ).

On a mode of frequency ω both are αΩ²/(4 + Ω²), Ω = hω: nothing on motions as a rigid body, a damping ratio ∝ Ω³ at low
frequencies, and the factor ρ a step at high ones.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from scipy.linalg import eigh

from ...kernels.arrays import Arrays
from ...kernels.decay import mass, spin_columns
from ...kernels.gradient import is_sparse
from ...kernels.state import inertia_products
from ...kernels.values import Decay, Schedule
from ...numerics.arrays import Array
from .impulse import struck
from .step import ExactStepper, InitialValueProblem, StepDetails, StepStart

DIGITS = 6
"""Digits of h that B and A depend on: steps that differ by round-off share them, and any constant ones will do."""


class Vibrations(NamedTuple):
    """Free vibrations of all bodies: ω² (k,), modes over (ω, u̇) with VᵀMV = 1 (w, k), stresses C⁻¹D₀V (m, k), D₀V."""

    squares: Array
    modes: Array
    stresses: Array
    strains: Array


def free_vibrations(a: Arrays) -> Vibrations:
    """Body by body, about the undeformed state."""
    n, own = a.body_u.size, spin_columns(a)
    first = a.turning.size * own.shape[1]
    M = mass(a, np.zeros(n), inertia_products(a, np.zeros(n)))
    K = np.zeros_like(M)
    K[first:, first:] = a.strain.T @ (a.stiffness @ a.strain)
    squares, modes = [np.zeros(0)], [np.zeros((first + n, 0))]
    for body in a.flexing:
        part = np.concatenate([own[body], first + np.flatnonzero(a.body_u == body)])
        eigenvalues, shapes = eigh(K[np.ix_(part, part)], M[np.ix_(part, part)])
        full = np.zeros((first + n, eigenvalues.size))
        full[part] = shapes
        squares.append(np.maximum(eigenvalues, 0.0))
        modes.append(full)
    V = np.hstack(modes)
    strains = a.strain @ V[first:]
    return Vibrations(np.concatenate(squares), V, a.stiffness @ strains, strains)


def coefficients(vibrations: Vibrations, h: float, radius: float) -> Decay:
    """B and ½A for steps of h [s] and the spectral radius ρ of unresolved modes."""
    alpha = (1.0 - radius) / (1.0 + radius)
    share = h * h / (4.0 + h * h * vibrations.squares)
    mobility = (alpha * share * vibrations.squares * vibrations.modes) @ vibrations.modes.T
    return Decay(mobility, (0.5 * alpha * share * vibrations.stresses) @ vibrations.strains.T)


class DecayingStepper(ExactStepper):
    """The step of the decaying scheme; after it, joints and drives leave ρ of the velocity defect."""

    def __init__(
        self, problem: InitialValueProblem, *, radius: float, least_norm: bool = False, depth: int = 2
    ) -> None:
        super().__init__(problem, least_norm=least_norm, depth=depth, decaying=True)
        if is_sparse(self.arrays):
            raise ValueError(
                "Decaying() keeps dense matrices, and this mechanism is too large for them, with "
                f"{problem.mechanism.layout.velocities} velocities: take fewer elements, or Exact() with structural "
                "damping"
            )
        self.radius, vibrations = radius, free_vibrations(self.arrays)
        self._coefficients = lru_cache(maxsize=8)(lambda h: coefficients(vibrations, h, radius))

    def prescribed(self, start: StepStart, time: float, inputs: Array) -> Schedule:
        """What holds over the step to a time, under inputs."""
        h = float(f"{time - start.time:.{DIGITS}e}")
        return super().prescribed(start, time, inputs)._replace(decay=self._coefficients(h))

    def details(self, start: StepStart, time: float) -> StepDetails:
        """The step with its solution, and the impulse after it."""
        details = super().details(start, time)
        return details._replace(result=struck(self.accounts, details.result, details, share=1.0 - self.radius))
