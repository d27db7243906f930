"""The energy that goes to and fro between the states of a general system: a scale for errors of its balance."""

from __future__ import annotations

import numpy as np

from ..numerics.arrays import Array
from ..systems.nonlinear import PHDAE

NEARER = 1e-6
"""Part of a state by which it is moved where the curvature of H along it is measured."""
AT_REST = 1e-12
"""Energy exchanged over the energy carried up to which a system is at rest: states are rounded to some 1e-16."""
MEASURED = 200
"""States of a run, evenly chosen, at which the energy that went to and fro is measured: it is a scale, no account."""


def exchanged_energy(system: PHDAE, states: Array) -> float:
    """The most that some states together have taken, or others given, since the first of ``states`` (k, n) [J].

    Of a system at rest, where that is round-off, what the states carry (see :func:`carried_energy`).

    A pendulum let go at the height where H = 0 keeps H = 0, and still turns potential into kinetic energy. To state i
    goes ``½ (∇H(x₀) + ∇H(x))ᵢ (x − x₀)ᵢ``, exact for parts of H that are linear or quadratic in it, with ∇H = Eᵀz; the
    positive and the negative ones are summed apart, and the larger sum counts, at up to MEASURED of the states.
    """
    first, x0, most = _gradient(system, states[0]), states[0], 0.0
    for x in states[np.unique(np.linspace(0, len(states) - 1, MEASURED).astype(int))[1:]]:
        gained = 0.5 * (first + _gradient(system, x)) * (x - x0)
        most = max(most, float(gained.clip(0.0).sum()), float((-gained).clip(0.0).sum()))
    carried = max(carried_energy(system, x) for x in (states[0], states[-1]))
    return most if most > AT_REST * carried else carried


def carried_energy(system: PHDAE, x: Array) -> float:
    """½ Σ|xᵢ| max(|∇H|ᵢ, |∇²H x|ᵢ): energy whose round-off is that of H where states are rounded [J].

    Of H = ½ xᵀQx with a diagonal Q ≥ 0 it is H, whatever the height at which a potential energy is zero.
    """
    slope, nearer = (_gradient(system, y) for y in (x, (1.0 - NEARER) * x))
    curved = (slope - nearer) / NEARER
    carried = float(0.5 * np.abs(x) @ np.maximum(np.abs(slope), np.abs(curved)))
    return carried if np.isfinite(carried) else 0.0


def _gradient(system: PHDAE, x: Array) -> Array:
    """∇H = Eᵀz."""
    gradient: Array = system.E(x).T @ system.z(x)
    return gradient
