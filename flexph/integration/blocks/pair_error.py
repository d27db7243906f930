"""Errors of pairs of equal steps, relative to a tolerance (see integration.times.step_control)."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

from ...kernels.convergence.tolerances import LEFT
from ..schemes.start import StepStart
from ..times.step_control import Tried
from ..times.step_size import Tolerance


class PairError(NamedTuple):
    """Errors of pairs of equal steps relative to a tolerance.

    A mean velocity over a step of h differs from the velocity in its middle by h²/24 of its second derivative, and
    Cayley's update turns by (hω)³/12 less than ω does: with δ = h²/24 v̄″ + h²/12 |ω|²ω, v̄″ by differences of the last
    three mean velocities, the error of a pair is

        ε = √(δ̂ᵀMδ̂ / (2 E)) / rtol,   δ̂ = (M + ¼h²K + …)⁻¹ M δ,

    and at least a tenth of the same with the velocity M⁻¹GᵀS⁻¹Δe that the pair adds to the defect of the constraints.
    E is the largest kinetic energy of the run, or atol if that is larger. The matrix is the step's Jacobian: δ̂ keeps
    the constraints, and modes that h does not resolve count by 4/(hω)², so that they do not force their resolution as
    long as their part of the energy is small. Contacts that open or close in the pair are not in it: as stiff modes,
    they would hide their own impact.
    """

    tolerance: Tolerance

    def known(self, start: StepStart) -> float:
        """Energy that errors are compared with at the start of a run [J]."""
        return self.tolerance.floor

    def count(self, known: float) -> int:
        """Number of steps of a pair."""
        return 2

    def judged(self, step: Any, estimate: tuple[float, float], known: float, energy: float) -> Tried:
        """Judge a pair by the energies of its error and of the part that it adds to the velocity defect [J].

        ``energy`` is the largest kinetic energy up to its end, ``known`` that before it [J].
        """
        motion, left = estimate
        squared = max(motion, left / LEFT**2)
        error = math.sqrt(squared / energy) / self.tolerance.relative if squared > 0.0 else 0.0
        return Tried([step], error, self.cause(error), energy if error <= 1.0 else known)

    def cause(self, error: float) -> str:
        """Reason to tell if control falls below its smallest step."""
        return f"the error is still {error:.1f} times the tolerance"
