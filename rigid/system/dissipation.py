"""Dissipative forces as matrices: ``τ_d = (R + S) ϖ`` with R = Rᵀ ⪰ 0 and S = −Sᵀ ([rigid] eq. (8))."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from flexph.numerics.rotations import Array

from .terms import Damper, Dissipation, at

if TYPE_CHECKING:
    from .system import MultibodySystem

GENERATES = 1e-12
"""Power over the largest that forces and velocities of these sizes could have, up to which a sign is round-off."""


class Resistance(NamedTuple):
    """R (n_kin, n_kin), symmetric and positive semi-definite, and S (n_kin, n_kin), skew; None where there is none."""

    R: Array
    S: Array | None


def resistance(system: MultibodySystem, zeta: Array, omega: Array) -> Resistance:
    """``R + S`` with ``(R + S) ϖ = τ_d(ζ, ϖ)``, ``ϖᵀR ϖ`` the dissipated power.

    Of a :class:`Damper`, R = W diag(ρ(s)/s) Wᵀ with the rates s = Wᵀϖ. Of a :class:`Dissipation` with the power
    P = ϖᵀτ ≥ 0, ``R = P p pᵀ/(ϖᵀp)²`` and ``S = (τ pᵀ − p τᵀ)/(ϖᵀp)``, where p = Wϖ and W is M, completed on its
    kernel: both are bounded where τ is of the order of ϖ, also at rest and where P = 0 ≠ τ, and go along with a change
    of velocity coordinates as M does. At rest they are zero.

    Raises ValueError, naming it and its power, where a term generates energy.
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
            S = turn - turn.T if S is None else S + turn - turn.T
    return Resistance(R, S)


def force_of(term: Damper | Dissipation, zeta: Array, omega: Array) -> Array:
    """τ (n_kin,) of one term; raises ValueError where it generates energy."""
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
    made: Array = scaled @ scaled.T
    return made


def _refuse_source(name: str, omega: Array, force: Array) -> None:
    power = float(omega @ force)
    if power < -GENERATES * float(np.abs(omega) @ np.abs(force)):
        raise ValueError(
            f"dissipation {name!r} must not generate energy, ϖᵀτ_d >= 0: it feeds {-power:.3g} W into the system "
            f"at velocities up to {np.abs(omega).max():.3g}"
        )
