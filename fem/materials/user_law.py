"""Stored energies given by the user with their derivatives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from flexph.numerics import checks as check
from flexph.numerics.arguments import checked
from flexph.numerics.arrays import Array

from .hyperelastic import FIRST, PAIRS, SECOND, Hyperelastic
from .strain_laws import SpatialLaw, tensors_of

SAMPLES = np.array(
    [[0.2, -0.1, 0.15, 0.1, -0.06, 0.08], [-0.1, 0.3, 0.05, -0.12, 0.1, 0.04], [0.1, 0.1, 0.1, 0.0, 0, 0]]
)
"""Green's strains at which a derivative is compared with differences of its energy."""
STEP = 1e-5
DERIVATIVE = 1e-6
"""Largest deviation of a derivative from differences of its energy, relative to the stiffness: of the order of
STEP²."""


@checked
@dataclass(frozen=True)
class StoredEnergy(Hyperelastic):
    """Any ψ(C) with its derivative, functions of C (k, 3, 3): ``energy`` (k,) [J/m³], ``derivative`` ∂ψ/∂C (k, 3, 3).

    Parameters
    ----------
    energy : callable
        ψ (k,) [J/m³] of C (k, 3, 3).
    derivative : callable
        ∂ψ/∂C (k, 3, 3) of C, symmetric.
    second : callable, optional
        4 ∂²ψ/∂C² (k, 6, 6) of C in Voigt order (xx, yy, zz, yz, xz, xy), which speeds the iteration up; by default
        differences of the derivative.

    Raises
    ------
    ValueError
        If the derivative does not belong to the energy, with the deviation, and if the solid has stress at zero strain
        or is unstable there.
    """

    energy: Callable[[Array], Array]
    derivative: Callable[[Array], Array]
    second: Callable[[Array], Array] | None = None

    def __post_init__(self) -> None:
        C = tensors_of(SAMPLES)
        for name, width in (("energy", ()), ("derivative", (3, 3)), ("second", (6, 6))):
            if getattr(self, name) is None:
                continue
            values, wanted = (
                check.numbers(f"the value of {name}", check.asked(name, getattr(self, name), C)),
                (len(C), *width),
            )
            if values.shape != wanted:
                raise ValueError(f"{name} must return finite numbers {wanted} of C {C.shape}, got shape {values.shape}")
        _check_derivative(self)

    def of_tensor(self, C: Array) -> tuple[Array, Array, Array]:
        """Energy ψ, stress 2 ∂ψ/∂C and tangent 4 ∂²ψ/∂C² at tensors C (k, 3, 3)."""
        stress = 2.0 * np.asarray(self.derivative(C), dtype=float)
        tangent = _differences(self, C) if self.second is None else np.asarray(self.second(C), dtype=float)
        return np.asarray(self.energy(C), dtype=float), stress, tangent


def _differences(law: StoredEnergy, C: Array) -> Array:
    """Tangents 4 ∂²ψ/∂C² (k, 6, 6) by central differences of the derivative, made symmetric."""
    tangent = np.zeros((len(C), 6, 6))
    for b, (i, j) in enumerate(PAIRS):
        step = np.zeros((3, 3))
        step[i, j] = step[j, i] = STEP if i != j else 2.0 * STEP  # in strain; shear components count twice
        change = np.asarray(law.derivative(C + step)) - np.asarray(law.derivative(C - step))
        tangent[:, :, b] = change[:, FIRST, SECOND] / STEP
    return 0.5 * (tangent + tangent.transpose(0, 2, 1))


def _check_derivative(law: StoredEnergy) -> None:
    """Raise ValueError if the derivative does not belong to the energy."""
    whole = SpatialLaw(law)
    samples, (_, _, undeformed) = whole.at(SAMPLES), whole.at(np.zeros((1, 6)))
    stiffness = max(float(np.abs(x).max()) for x in (undeformed, samples.stress))
    rates = np.zeros_like(SAMPLES)
    for b, step in enumerate(STEP * np.eye(6)):
        rates[:, b] = (whole.at(SAMPLES + step).energy - whole.at(SAMPLES - step).energy) / (2.0 * STEP)
    missed = float(np.abs(rates - samples.stress).max())
    if missed > DERIVATIVE * stiffness:
        raise ValueError(
            f"derivative must be ∂ψ/∂C of the energy, symmetric: 2 ∂ψ/∂C differs from differences by {missed:.3g} Pa"
        )
