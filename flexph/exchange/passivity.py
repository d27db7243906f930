"""Search for violations of passivity of a state space."""

from __future__ import annotations

import numpy as np
import scipy
from scipy.linalg import eigvals

from ..linear.state_space import StateSpace
from ..numerics.arrays import Array

TOLERANCE = 1e-9
"""Negative part of the Hermitian part, relative to ‖H‖, that is attributed to round-off."""
FLOOR = 1e-6
"""‖H(iω)‖ relative to the largest one below which its sign is not judged."""


def violation(model: StateSpace) -> str | None:
    """Reason why a state space is not passive; None if no violation is found.

    It is an unstable pole, or a frequency ω with H(iω) + H(iω)ᴴ not ⪰ 0. Frequencies are tried around every pole, on a
    logarithmic grid, and at both ends; the worst one is refined.
    """
    poles = eigvals(model.A) if model.A.size else np.zeros(0)
    size = float(np.abs(poles).max(initial=0.0)) or 1.0
    if np.any(poles.real > 1e-9 * size):
        worst = poles[np.argmax(poles.real)]
        return f"it is unstable: the pole {worst:.4g} 1/s has a positive real part"
    grid = _grid(poles, size)
    lowest_of_grid = [_lowest(model, w) for w in grid]
    value, norm = (np.array(part) for part in zip(*lowest_of_grid, strict=True))
    worst = value if value.min() < -TOLERANCE * norm.max() else value / np.maximum(norm, FLOOR * norm.max())
    if worst.min() >= -TOLERANCE * (norm.max() if worst is value else 1.0):
        return None
    at = int(np.argmin(worst))
    around = (float(grid[max(at - 1, 0)]), float(grid[min(at + 1, grid.size - 1)]))
    better = scipy.optimize.minimize_scalar(lambda w: _lowest(model, w)[0], bounds=around, method="bounded")
    omega = float(better.x) if worst is value and better.fun < value[at] else float(grid[at])
    lowest = _lowest(model, omega)[0]
    return f"at omega = {omega:.6g} rad/s the Hermitian part of H(iω) has the eigenvalue {lowest:.4g}"


def _grid(poles: Array, size: float) -> Array:
    moduli = np.abs(poles[np.abs(poles) > 1e-12 * size])
    low, high = float(moduli.min(initial=size)) * 1e-3, size * 1e3
    near = [np.abs(p.imag) + k * max(abs(p.real), 1e-6 * abs(p)) for p in poles for k in (-3, -1, -0.3, 0.1, 0.3, 1, 3)]
    frequencies = np.concatenate([[0.0], np.geomspace(low, high, 1000), np.array(near)])
    return np.unique(frequencies[frequencies >= 0.0])


def _lowest(model: StateSpace, omega: float) -> tuple[float, float]:
    """Lowest eigenvalue of the Hermitian part of H(iω), and ‖H(iω)‖; zeros at a pole."""
    h = _transfer(model, omega)
    if h is None:
        return 0.0, 0.0
    return float(np.linalg.eigvalsh(0.5 * (h + h.conj().T))[0]), float(np.linalg.norm(h))


def _transfer(model: StateSpace, omega: float) -> Array | None:
    try:
        h = model.C @ np.linalg.solve(1j * omega * np.eye(len(model.A)) - model.A, model.B) + model.D
    except np.linalg.LinAlgError:
        return None
    return h if np.all(np.isfinite(h)) else None
