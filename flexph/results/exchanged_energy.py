"""Energy that the states of a general system exchange, as a scale for errors of its balance."""

from __future__ import annotations

import numpy as np

from ..numerics.arrays import Array
from ..systems.nonlinear import PHDAE

NEARER = 1e-6
"""Relative change of a state at which the curvature of H along it is measured."""
AT_REST = 1e-12
"""Ratio of exchanged to carried energy below which a system counts as at rest: states are rounded to some 1e-16."""
MEASURED = 200
"""Number of evenly chosen states at which the exchanged energy is evaluated; it only serves as a scale."""


def exchanged_energy(system: PHDAE, states: Array) -> float:
    """Largest energy [J] that some states have gained, or others lost, since the first of ``states`` (k, n).

    For a system at rest, where that is round-off, it is the energy that the states carry (see :func:`carried_energy`).
    A pendulum released at the height where H = 0 keeps H = 0, yet exchanges potential and kinetic energy. State i gains
    ``½ (∇H(x₀) + ∇H(x))ᵢ (x − x₀)ᵢ``, exact for parts of H that are linear or quadratic in it, with ∇H = Eᵀz. Gains and
    losses are summed separately and the larger sum counts, at up to MEASURED of the states.
    """
    first, x0, most = _gradient(system, states[0]), states[0], 0.0
    for x in states[np.unique(np.linspace(0, len(states) - 1, MEASURED).astype(int))[1:]]:
        gained = 0.5 * (first + _gradient(system, x)) * (x - x0)
        most = max(most, float(gained.clip(0.0).sum()), float((-gained).clip(0.0).sum()))
    carried = max(carried_energy(system, x) for x in (states[0], states[-1]))
    return most if most > AT_REST * carried else carried


def carried_energy(system: PHDAE, x: Array) -> float:
    """Energy ½ Σ|xᵢ| max(|∇H|ᵢ, |∇²H x|ᵢ) whose round-off equals that of H for rounded states [J].

    For H = ½ xᵀQx with a diagonal Q ≥ 0 it equals H, whatever the height at which a potential energy is zero.
    """
    slope, nearer = (_gradient(system, y) for y in (x, (1.0 - NEARER) * x))
    curved = (slope - nearer) / NEARER
    carried = float(0.5 * np.abs(x) @ np.maximum(np.abs(slope), np.abs(curved)))
    return carried if np.isfinite(carried) else 0.0


def _gradient(system: PHDAE, x: Array) -> Array:
    """Gradient ∇H = Eᵀz of the energy at a state."""
    gradient: Array = system.E(x).T @ system.z(x)
    return gradient
