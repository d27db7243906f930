"""Dissipation matrix of a multibody system."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexph.numerics.arrays import Array

from .matrix_functions import at
from .terms import Damper

if TYPE_CHECKING:
    from .model import SystemModel
from .dissipation import Resistance, _of_damper, force_of


def resistance(system: SystemModel, zeta: Array, omega: Array) -> Resistance:
    """Matrices R and S with ``(R + S) ϖ = τ_d(ζ, ϖ)``; ``ϖᵀR ϖ`` is the dissipated power.

    For a :class:`Damper`, R = W diag(ρ(s)/s) Wᵀ with the rates s = Wᵀϖ. For a :class:`Dissipation` with the power
    P = ϖᵀτ ≥ 0, ``R = P p pᵀ/(ϖᵀp)²`` and ``S = (τ pᵀ − p τᵀ)/(ϖᵀp)``, where p = Wϖ and W is M, completed on its
    kernel: both are bounded if τ is of the order of ϖ, also at rest and for P = 0 ≠ τ, and transform with the velocity
    coordinates as M does. At rest they are zero.

    Raises ValueError with the name and the power of a term that generates energy.
    """
    n = system.velocities
    R, S = np.zeros((n, n)), None
    for term in system.dissipation:
        if isinstance(term, Damper):
            W = at(term.directions, zeta)
            R += _of_damper(term, W, W.T @ omega)
            continue
        tau = force_of(term, zeta, omega)
        p = system.completed_mass @ omega
        twice = float(omega @ p)
        if twice > 0.0:
            R += (float(omega @ tau) / twice) * np.outer(p, p / twice)
            turn = np.outer(tau, p / twice)
            S = turn - turn.T if S is None else S + (turn - turn.T)
    return Resistance(R, S)
