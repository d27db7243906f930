"""Derivatives of the H2 and H-infinity norms of transfer functions of damped linear systems."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_continuous_lyapunov
from scipy.optimize import brentq

from ...numerics.arguments import checked
from ...numerics.arrays import Array
from ...numerics.memo import NamedFields
from .along_parameters import ProjectedMatrices, stated_steps

ROUNDED = 1e-9
"""Distance of an eigenvalue from the imaginary axis, relative to the largest eigenvalue, up to which it is
imaginary."""
SETTLED = 1e-12
"""Relative increase of the largest known gain below which the search for the peak gain ends."""
LEVELS = 60
"""Largest number of gains that are tried as lower bounds of the peak gain; the search converges quadratically."""
AS_HIGH = 1e-7
"""Relative difference from the peak gain up to which a second peak, or the second singular value at the peak, is
equal."""


@dataclass(frozen=True)
class NormSensitivities(NamedFields):
    """H2 norm of the transfer function from inputs to outputs, and its ``derivatives`` by parameter.

    Attributes
    ----------
    norm : float
        H2 norm.
    derivatives : mapping
        Derivative by parameter.
    """

    norm: float
    derivatives: Mapping[str, float]


@checked
def h2_sensitivities(
    system: Callable[..., Any], at: Mapping[str, float], *, steps: float | Mapping[str, float] = 1e-3
) -> NormSensitivities:
    """H2 norm of the collocated transfer function of a damped linear system, and its derivatives.

    With ``E ẋ = A x + B u, y = Bᵀx`` on the kernel of the constraint matrix G, A = J − R, the square of the norm is
    ∫ tr(g gᵀ) dt with the impulse responses g, equal to tr(BᵀP B) with ``A P Eᵀ + E P Aᵀ + B Bᵀ = 0``. The derivative
    of the square is ``2 tr(Q (dA P Eᵀ + dE P Aᵀ + dB Bᵀ)) + 2 tr(dBᵀP B)`` with the adjoint Q of
    ``Aᵀ Q E + Eᵀ Q A + B Bᵀ = 0``. (Yan and Lam, IEEE Trans. Autom. Control 44, 1999.)

    Parameters
    ----------
    system : callable
        Function of named parameters that returns an asymptotically stable LinearPHDAE with a regular E on the kernel of
        G, always with the same states.
    at : dict
        Parameter values.
    steps : float or dict
        Steps of the differences of the matrices by parameter; one number is relative to the size of each parameter.

    Returns
    -------
    NormSensitivities
        Norm, and its derivatives by parameter.

    Raises
    ------
    ValueError
        For systems without inputs, with a singular E, or that are not asymptotically stable.

    Examples
    --------
    >>> import numpy as np
    >>> from flexph import LinearPHDAE
    >>> from flexph.studies import h2_sensitivities
    >>> def oscillator(mass, damping):
    ...     J, R = np.array([[0.0, -1.0], [1.0, 0.0]]), np.diag([damping, 0.0])
    ...     return LinearPHDAE(E=np.diag([mass, 0.1]), J=J, R=R, B=np.array([[1.0], [0.0]]))
    >>> found = h2_sensitivities(oscillator, {"mass": 2.0, "damping": 0.5})  # (2 m d)^(-1/2)
    >>> round(found.norm, 9), round(found.derivatives["damping"], 9)
    (0.707106781, -0.707106781)
    """
    relative_steps = stated_steps(at, steps)
    projected = ProjectedMatrices(system, at)
    E, B = projected.matrices.E, projected.matrices.B
    free, inputs = _explicit(projected)
    P = solve_continuous_lyapunov(free, -inputs @ inputs.T)
    weighed = solve_continuous_lyapunov(free.T, -B @ B.T)  # of x, that is EᵀQ E
    norm = float(np.sqrt(np.trace(B.T @ P @ B)))
    derivatives = {}
    for name, step in relative_steps.items():
        change = projected.change(name, step)
        moved = np.linalg.solve(E, change.A - change.E @ free)
        driven = np.linalg.solve(E, change.B - change.E @ inputs)
        square = 2.0 * np.trace(weighed @ (moved @ P + driven @ inputs.T)) + 2.0 * np.trace(change.B.T @ P @ B)
        derivatives[name] = float(square / (2.0 * norm))
    return NormSensitivities(norm, derivatives)


@dataclass(frozen=True)
class PeakSensitivities(NamedFields):
    """H∞ norm of the transfer function from inputs to outputs, and its ``derivatives`` by parameter.

    Attributes
    ----------
    norm : float
        Largest gain max σ(H(iω)) over all ω.
    frequency : float
        Frequency [rad/s] of this gain.
    derivatives : mapping
        Derivative by parameter.
    """

    norm: float
    frequency: float
    derivatives: Mapping[str, float]


@checked
def hinf_sensitivities(
    system: Callable[..., Any], at: Mapping[str, float], *, steps: float | Mapping[str, float] = 1e-3
) -> PeakSensitivities:
    """H∞ norm of the collocated transfer function of a damped linear system, and its derivatives.

    With ``H(s) = Bᵀ(s E − A)⁻¹B`` on the kernel of the constraint matrix G, A = J − R, the norm is the largest singular
    value σ of H(iω) over all ω. With the singular vectors, ``H v = σ u``, its derivative is ``Re uᴴ dH v``, because
    ∂σ/∂ω = 0 at the peak, with ``dH = dBᵀX + Bᵀ(sE − A)⁻¹(dB − (s dE − dA) X)``, X = (sE − A)⁻¹B. The peak is found by
    the method of Bruinsma and Steinbuch (Syst. Control Lett. 14, 1990): some gain is equal to a level at the
    frequencies that are imaginary eigenvalues of a Hamiltonian matrix.

    Parameters
    ----------
    system : callable
        Function of named parameters that returns an asymptotically stable LinearPHDAE with a regular E on the kernel of
        G, always with the same states.
    at : dict
        Parameter values.
    steps : float or dict
        Steps of the differences of the matrices by parameter; one number is relative to the size of each parameter.

    Returns
    -------
    PeakSensitivities
        Norm, its frequency, and its derivatives by parameter.

    Raises
    ------
    ValueError
        For systems without inputs, with a singular E, or that are not asymptotically stable, and if two peaks or two
        singular values are equal, because the norm then has no derivative.

    Examples
    --------
    >>> import numpy as np
    >>> from flexph import LinearPHDAE
    >>> from flexph.studies import hinf_sensitivities
    >>> def oscillator(mass, damping):  # its mobility is largest at the undamped frequency: 1/d
    ...     J, R = np.array([[0.0, -1.0], [1.0, 0.0]]), np.diag([damping, 0.0])
    ...     return LinearPHDAE(E=np.diag([mass, 0.1]), J=J, R=R, B=np.array([[1.0], [0.0]]))
    >>> found = hinf_sensitivities(oscillator, {"mass": 2.0, "damping": 0.5})
    >>> round(found.norm, 9), round(found.frequency, 6), round(found.derivatives["damping"], 6)
    (2.0, 2.236068, -4.0)
    """
    relative_steps = stated_steps(at, steps)
    projected = ProjectedMatrices(system, at)
    E, A, B = projected.matrices
    peak = _peak(_Gains(*_explicit(projected), B))
    s = 1j * peak.frequency
    pencil = s * E - A
    u, _, vh = np.linalg.svd(B.T @ np.linalg.solve(pencil, B))
    left, right = u[:, 0], vh[0].conj()
    response, adjoint = np.linalg.solve(pencil, B @ right), np.linalg.solve(pencil.T, B @ left.conj())
    derivatives = {}
    for name, step in relative_steps.items():
        change = projected.change(name, step)
        moved = change.B @ right - (s * change.E - change.A) @ response
        derivatives[name] = float((left.conj() @ (change.B.T @ response) + adjoint @ moved).real)
    return PeakSensitivities(peak.gain, peak.frequency, derivatives)


class _Peak(NamedTuple):
    """Largest gain and its frequency [rad/s]."""

    gain: float
    frequency: float


class _Gains(NamedTuple):
    """Gains of the transfer function H(iω) = outputsᵀ(iω − free)⁻¹ inputs, that is, its singular values.

    ``free`` (n, n) is the matrix of the explicit system without inputs.
    """

    free: Array
    inputs: Array
    outputs: Array

    def at(self, frequency: float) -> tuple[Array, float]:
        """Gains at a frequency ω [rad/s], and the derivative of the largest one with respect to ω."""
        pencil = 1j * frequency * np.eye(len(self.free)) - self.free
        states = np.linalg.solve(pencil, self.inputs)
        u, values, vh = np.linalg.svd(self.outputs.T @ states)
        slope = -1j * self.outputs.T @ np.linalg.solve(pencil, states)
        return values, float((u[:, 0].conj() @ slope @ vh[0].conj()).real)

    def largest(self, frequency: float) -> _Peak:
        """Largest gain at a frequency."""
        return _Peak(float(self.at(frequency)[0][0]), float(frequency))

    def above(self, level: float) -> list[tuple[float, float]]:
        """Intervals (start, end) of frequencies [rad/s] in which the largest gain exceeds a level.

        Only frequencies from zero on are searched; an interval that contains zero is (−ω, ω).
        """
        through = self.inputs @ self.inputs.T / level, -self.outputs @ self.outputs.T / level
        values = np.linalg.eigvals(np.block([[self.free, through[0]], [through[1], -self.free.T]]))
        ends = np.sort(values[np.abs(values.real) <= ROUNDED * np.abs(values).max()].imag)
        bands = [(float(a), float(b)) for a, b in pairwise(ends) if self.at(0.5 * (a + b))[0][0] > level]
        return [(a, b) for a, b in bands if b > 0.0 and a + b >= -ROUNDED * (b - a)]


def _peak(gains: _Gains) -> _Peak:
    """Largest gain over all frequencies; raises ValueError if two peaks or two singular values are equal to it."""
    poles = np.linalg.eigvals(gains.free)
    best = max((gains.largest(w) for w in (0.0, *np.abs(poles), *np.abs(poles.imag))), key=lambda peak: peak.gain)
    if best.gain == 0.0:
        raise ValueError("system must have outputs that depend on its inputs: its transfer function is zero")
    for _ in range(LEVELS):
        higher = [gains.largest(0.5 * (a + b)) for a, b in gains.above(best.gain * (1.0 + SETTLED))]
        if not higher:
            break
        best = max(higher, key=lambda peak: peak.gain)
    bands = gains.above((1.0 - AS_HIGH) * best.gain)
    if len(bands) > 1:
        others = " and ".join(f"{0.5 * (a + b):.6g}" for a, b in bands)
        raise ValueError(f"the gains at {others} rad/s are equally high: their largest one has no derivative")
    for a, b in bands:
        if a > 0.0 and gains.at(a)[1] > 0.0 > gains.at(b)[1]:
            best = gains.largest(brentq(lambda w: gains.at(w)[1], a, b, xtol=1e-15 * b, rtol=8.9e-16))
    values, _ = gains.at(best.frequency)
    if values.size > 1 and values[1] >= (1.0 - AS_HIGH) * values[0]:
        raise ValueError(f"the gain at {best.frequency:.6g} rad/s has two equal singular values, and no derivative")
    return best


def _explicit(projected: ProjectedMatrices) -> tuple[Array, Array]:
    """Matrices E⁻¹A and E⁻¹B; raises ValueError without inputs, for a singular E, and for undamped poles."""
    E, A, B = projected.matrices
    if not B.shape[1]:
        raise ValueError("system must have inputs, got none")
    if np.linalg.cond(E) > 1.0 / np.finfo(float).eps:
        raise ValueError("system must have a regular E on the kernel of G: eliminate algebraic states first")
    free = np.linalg.solve(E, A)
    if np.linalg.eigvals(free).real.max() >= -np.finfo(float).eps * np.linalg.norm(free):
        raise ValueError("system must be asymptotically stable, it has a pole that is not damped")
    return free, np.linalg.solve(E, B)
