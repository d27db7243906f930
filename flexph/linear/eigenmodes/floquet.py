"""Linear systems with periodic coefficients: exponents and multipliers by Floquet's theorem and Hill's matrix.

Solutions of ẏ = A(t) y, A(t) = Σ A_m e^{imωt}, are sums of e^{st} Σ y_j e^{ijωt}, with eigenvalues s of the matrix of
blocks A_{j−k} − ijω δ_jk (G. W. Hill, Acta Math. 8, 1886), truncated at a few harmonics, however fast the vibrations
are. Each motion appears once per harmonic, with s + ijω and parallel y(0), by which duplicates are recognised.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import eig, eigh, qr

from ...numerics.arrays import Array

HARMONICS = (3, 6, 12, 24)
"""Numbers of harmonics to try."""
CUT = 1e-10
"""Share of the last harmonic in the squared norm at which a truncation is accepted; exponents err by as much."""
ABSENT = 1e-13
"""Harmonic of the coefficients, relative to the largest entry, below which it is zero."""
EQUAL = 1e-9
"""Distance of two exponents, relative to ω and but for multiples of iω, below which their multipliers are equal."""
INDEPENDENT = 1e-6
"""Part of a motion that others of its multiplier lack, relative to it, above which it is independent of them."""
COMPLETE = 1e-6
"""Difference of the sum of all growth from the trace of A, relative to their sizes and ω, that counts as round-off."""
RESOLUTION = 1e-7
"""Growth, relative to ω, above which it exceeds round-off: double exponents are accurate to its square root."""


class PeriodicMotion(NamedTuple):
    """Equation M η̈ + (C + R(t)) η̇ + K(t) η = 0 of small motions, with coefficients of a ``period`` [s].

    M and C are (n, n); R and K (k, n, n) are sampled at k equidistant times, k odd.
    """

    mass: Array
    gyroscopic: Array
    damping: Array
    stiffness: Array
    period: float


class PeriodicSolution(NamedTuple):
    """Floquet exponents s (2n,) [1/s], shapes η (n, 2n) of their largest harmonics, and multipliers e^{sT} (2n,).

    Of all exponents s + ijω of a motion, s is that of its largest harmonic.
    """

    values: Array
    shapes: Array
    multipliers: Array

    def growth(self, period: float) -> tuple[float, float]:
        """Largest growth [1/s] of a motion that exceeds numerical errors, and the size of these errors [1/s].

        The growth is zero if none exceeds them.
        """
        least = RESOLUTION * 2.0 * np.pi / period
        rates = self.values.real
        return float(rates[rates > least].max(initial=0.0)), float(least)


def solve_periodic(motion: PeriodicMotion) -> PeriodicSolution:
    """Floquet exponents of all motions of an equation with periodic coefficients.

    Raises ArithmeticError if the harmonics do not converge.
    """
    states = _first_order(motion)
    for harmonics in HARMONICS:
        values, parts, left = _hill(states, harmonics)
        if left <= CUT and _is_complete(states, values):
            shapes = states.vectors @ (parts[len(states.root) :] / states.root[:, None])
            return PeriodicSolution(values, shapes, np.exp(values * motion.period))
    raise ArithmeticError(
        f"Floquet exponents did not converge with {HARMONICS[-1]} harmonics (residual {left:.1e}): the supports "
        "change by too much for their frequency"
    )


def _is_complete(states: _FirstOrder, values: Array) -> bool:
    """True if the exponents add up to the mean trace of A (Liouville): none is missing or listed twice."""
    trace = float(np.trace(states.series[len(states.series) // 2]).real)
    size = float(np.abs(values.real).sum()) + states.frequency
    return abs(float(values.real.sum()) - trace) <= COMPLETE * size


def interpolated(given: Array, share: float) -> Array:
    """Matrix (n, n) at a fraction ``share`` of the period, by Fourier interpolation.

    ``given`` (k, n, n) are the matrices at k equidistant times, k odd.
    """
    coefficients = np.fft.fft(given, axis=0) / len(given)
    numbers = np.fft.fftfreq(len(given), 1.0 / len(given))
    value: Array = np.tensordot(np.exp(2j * np.pi * share * numbers), coefficients, axes=1).real
    return value


class _FirstOrder(NamedTuple):
    """First-order system ẏ = A(t) y of a periodic motion, with the states y = (η̇, ωη).

    η are modal coordinates of M and of the mean of K, with shapes ``vectors`` and frequencies ω, ``root``, of at least
    2π/period. ``series`` (2L + 1, 2n, 2n) are the harmonics A_m, m = −L…L, of the ``frequency`` [rad/s], which is
    4π/period if all odd harmonics of the period vanish.
    """

    vectors: Array
    root: Array
    series: Array
    frequency: float


def _first_order(motion: PeriodicMotion) -> _FirstOrder:
    mean = motion.stiffness.mean(axis=0)
    squares, V = eigh(0.5 * (mean + mean.T), 0.5 * (motion.mass + motion.mass.T))
    frequency, n = 2.0 * np.pi / motion.period, len(squares)
    root = np.sqrt(np.maximum(np.abs(squares), frequency**2))
    A = np.zeros((len(motion.stiffness), 2 * n, 2 * n))
    A[:, :n, :n] = -V.T @ (motion.gyroscopic + motion.damping) @ V
    A[:, :n, n:] = -(V.T @ motion.stiffness @ V) / root
    A[:, n:, :n] = np.diag(root)
    series = np.fft.fftshift(np.fft.fft(A, axis=0) / len(A), axes=0)
    middle = len(series) // 2
    odd = np.abs(series[1 - middle % 2 :: 2]).max(initial=0.0)
    if odd <= ABSENT * np.abs(series).max():  # for example with Cartesian springs: half a turn is a period
        series, frequency = series[middle % 2 :: 2], 2.0 * frequency
    return _FirstOrder(V, root, series, frequency)


def _hill(states: _FirstOrder, harmonics: int) -> tuple[Array, Array, float]:
    """Exponents (2n,) by Hill's method, shapes (2n, 2n) in y of their largest harmonics, and truncation error.

    The error is the largest energy in the first or last harmonic of a motion, relative to all of its harmonics.
    """
    series, size, middle = states.series, states.series.shape[1], len(states.series) // 2
    numbers = np.arange(-harmonics, harmonics + 1)
    apart = numbers[:, None] - numbers
    known = np.abs(apart) <= middle
    blocks = np.where(known[:, :, None, None], series[np.where(known, apart, 0) + middle], 0.0)
    matrix = blocks.transpose(0, 2, 1, 3).reshape(numbers.size * size, -1)
    matrix = matrix - np.diag(np.repeat(1j * numbers * states.frequency, size))
    values, vectors = eig(matrix)
    parts = vectors.reshape(numbers.size, size, -1)
    energy = np.sum(np.abs(parts) ** 2, axis=1)  # of unit vectors
    central = 1.0 / (1.0 + numbers**2 @ energy)
    columns = qr(parts.sum(axis=0) * central, pivoting=True, mode="r")[1][:size]
    edges = energy[[0, -1]][:, columns].max(initial=0.0)
    exponents, shapes = _separated(values[columns], parts[:, :, columns], states.frequency)
    return exponents, shapes, float(edges)


def _separated(values: Array, parts: Array, frequency: float) -> tuple[Array, Array]:
    """Exponents s (m,) and shapes (n, m) of the largest harmonic of each motion e^{st} Σ y_j e^{ijωt}.

    ``parts`` (h, n, m) are the harmonics y_j of m motions of n states. Motions with equal multipliers span a space, of
    which the eigenvalue solver returns an arbitrary basis. The basis chosen here makes the mean harmonic
    Σ j |y_j|²/Σ |y_j|² stationary.
    """
    h, n, m = parts.shape
    numbers = np.arange(1 - h, h)  # harmonics of all motions of a multiplier by one exponent
    exponents, shapes = np.zeros(m, dtype=complex), np.zeros((n, m), dtype=complex)
    left = np.ones(m, dtype=bool)
    for k in range(m):
        if not left[k]:
            continue
        steps = (values - values[k]) / frequency
        turns = np.round(steps.imag).astype(int)
        same = np.flatnonzero(left & (np.abs(steps - 1j * turns) <= EQUAL) & (np.abs(turns) <= h // 2))
        left[same] = False
        motions = np.zeros((numbers.size, n, same.size), dtype=complex)
        for column, i in enumerate(same):
            first = h // 2 + turns[i]
            motions[first : first + h, :, column] = parts[:, :, i]
        motions = _by_harmonics(motions, numbers)
        largest = np.argmax(np.sum(np.abs(motions) ** 2, axis=1).round(12), axis=0)
        exponents[same] = values[k] + 1j * frequency * numbers[largest]
        shapes[:, same] = motions[largest, :, np.arange(same.size)].T
    return exponents, shapes


def _by_harmonics(motions: Array, numbers: Array) -> Array:
    """Combinations of m motions, given by their harmonics (h, n, m), that make the mean harmonic number stationary.

    ``numbers`` (h,) are those of the harmonics. Linearly dependent motions are unchanged.
    """
    if motions.shape[2] == 1:
        return motions
    flat = motions.reshape(-1, motions.shape[2])
    triangle, order = qr(flat, pivoting=True, mode="r")
    rank = int(np.sum(np.abs(np.diag(triangle)) > INDEPENDENT * np.abs(triangle[0, 0])))
    free = np.sort(order[:rank])
    distinct = motions[:, :, free]
    sums = np.einsum("jnk,jnl,j->kl", distinct.conj(), distinct, numbers.astype(float))
    combinations = eigh(sums, np.einsum("jnk,jnl->kl", distinct.conj(), distinct))[1]
    motions = motions.copy()
    motions[:, :, free] = distinct @ combinations
    return motions
