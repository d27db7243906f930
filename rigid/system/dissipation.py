"""Dissipative forces as matrices: ``τ_d = (R + S) ϖ`` with R = Rᵀ ⪰ 0 and S = −Sᵀ ([rigid] eq. (8))."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from flexph.numerics.arrays import Array

from .matrix_functions import at
from .terms import Damper, Dissipation

GENERATES = 1e-12
"""Power, relative to the largest possible for forces and velocities of these sizes, below which its sign is round-
off."""


class Resistance(NamedTuple):
    """R (n_kin, n_kin), symmetric and positive semi-definite, and S (n_kin, n_kin), skew, or None."""

    R: Array
    S: Array | None


def force_of(term: Damper | Dissipation, zeta: Array, omega: Array) -> Array:
    """Force (n_kin,) of one dissipative term; raise ValueError if it generates energy."""
    if isinstance(term, Damper):
        W = at(term.directions, zeta)
        force: Array = W @ term.relation.force(W.T @ omega)
    else:
        force = np.asarray(term.force(zeta, omega), dtype=float)
    _refuse_source(term.name, omega, force)
    return force


def _of_damper(term: Damper, W: Array, rates: Array) -> Array:
    if term.relation.kind == "general":
        for k, s in enumerate(rates):
            row = f"{term.name}[{k}]" if rates.size > 1 else term.name
            _refuse_source(row, s[None], np.asarray(term.relation.force(s), dtype=float)[None])
    scaled = W * np.sqrt(np.maximum(term.relation.resistance(rates), 0.0))
    return scaled @ scaled.T


def _refuse_source(name: str, omega: Array, force: Array) -> None:
    power = float(omega @ force)
    if power < -GENERATES * float(np.abs(omega) @ np.abs(force)):
        raise ValueError(
            f"dissipation {name!r} must not generate energy, ϖᵀτ_d >= 0: it feeds {-power:.3g} W into the system "
            f"at velocities up to {np.abs(omega).max():.3g}"
        )
