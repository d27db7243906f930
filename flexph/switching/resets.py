"""States after a switch: impulses project them onto the constraints of the new mode."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import null_space

from ..consistency.conditions import CONSISTENT
from ..consistency.equations import Equations, sizes
from ..numerics.arrays import Array, dense
from ..numerics.corrections import Corrections, least_norm_step
from ..numerics.differences import central
from ..numerics.ranks import singular_vectors
from .transition import SwitchFailed

MET = 1e-13
"""Defect of a constraint, relative to its largest terms, at which a state needs no impulse."""
SEARCH = Corrections(most=30, settled=1e-15, stagnated=1e-9, slow=0.1)
"""Tolerances of impulses, relative to those that move a state by its size."""
LOOSE = 1e-10
"""Relative singular value below which an algebraic costate counts as undetermined, and may be an impulse."""


class Impulsive(NamedTuple):
    """State (n,) after impulses of algebraic costates: ``E(x⁺ − x⁻)`` (n,), ∫z dt (n,), free quantities (k, n)."""

    state: Array
    impulse: Array
    costate: Array
    free: Array

    @classmethod
    def none(cls, state: Array) -> Impulsive:
        """Result for a state without impulses."""
        zero = np.zeros(state.size)
        return cls(state, zero, zero, np.zeros((0, state.size)))


def impulsive(equations: Equations, time: float, x: Array) -> Impulsive:
    """State on the constraints of a mode to which impulses of these constraints take x.

    With E = U₁U₁ᵀE V₁V₁ᵀ and A = J − R, the costates U₂μ that E does not act on may be infinite for an instant. Their
    power is finite if ``A₂₂μ = 0, A₂₂ = U₂ᵀA U₂``; then Rᵀ U₂μ = 0, too, as zᵀRz ≥ 0. With N an orthonormal basis of
    these μ and G = U₁ᵀA U₂N,

        ``U₁ᵀE(x⁺)V₁ V₁ᵀ(x⁺ − x⁻) = G μ,   −Gᵀz₁(x⁺) + NᵀU₂ᵀB u = 0``,

    the second because finite costates cannot balance it: A₂₂N = 0 makes it a condition on z₁ = U₁ᵀz. Impulses thus act
    only in the constraint directions, and the states ``a`` with a·E⁻¹G = 0 keep their value (``free``): the charge of
    capacitors that a switch connects, the momentum that an impact leaves free. For ẋ = J∇H + Gλ, 0 = Gᵀ∇H it is
    x⁺ = x⁻ + Gμ; the energy lost, H(x⁻) − H(x⁺) + uᵀBᵀU₂Nμ = H(x⁻) − H(x⁺) − ∇H(x⁺)·(x⁻ − x⁺), is not negative if H is
    convex, and x⁺ is then the nearest consistent state in energy. Matrices are evaluated at x⁺.

    Raises SwitchFailed if no impulse satisfies the constraints.
    """
    system, split = equations.system, equations.split
    N = _impulses(split.U2.T @ dense(system.J(x) - system.R(x)) @ split.U2)
    if not N.shape[1]:
        return Impulsive.none(x)._replace(free=split.V1.T)
    rows = split.U2 @ N

    def defect(y: Array) -> Array:
        return rows.T @ equations.flow(time, y)

    def directions(y: Array) -> tuple[Array, Array]:
        G = dense(system.J(y) - system.R(y)) @ rows
        return G, np.linalg.solve(split.U1.T @ dense(system.E(y)) @ split.V1, split.U1.T @ G)

    mu, after = np.zeros(N.shape[1]), x
    terms = _terms(equations, time, x, rows)
    if np.any(np.abs(defect(x)) > MET * terms):
        after, mu = _solved(x, defect, lambda y: split.V1 @ directions(y)[1], sizes(system, x))
        if np.any(np.abs(defect(after)) > CONSISTENT * np.maximum(terms, _terms(equations, time, after, rows))):
            raise SwitchFailed(
                f"no impulse satisfies the {N.shape[1]} constraints, which keep defects up to "
                f"{np.abs(defect(after)).max():.3g}"
            )
    G, moves = directions(after)
    free = null_space(moves.T, rcond=1e-12).T @ split.V1.T if moves.size else split.V1.T
    return Impulsive(after, split.U1 @ (split.U1.T @ (G @ mu)), rows @ mu, free)


def _impulses(inner: Array) -> Array:
    """Orthonormal basis (k, j) of the kernel of A₂₂; rows are scaled, as equations have different units."""
    if not inner.size:
        return np.zeros((len(inner), 0))
    scale = np.sqrt(np.maximum(np.abs(inner).max(axis=1), np.abs(inner).max(axis=0)))
    scale = np.where(scale > 0.0, scale, 1.0)
    kernel = singular_vectors(inner / scale[:, None] / scale[None, :], tolerance=LOOSE).null / scale[:, None]
    return np.linalg.qr(kernel)[0]


def _terms(equations: Equations, time: float, x: Array, rows: Array) -> Array:
    """Largest terms of the constraints."""
    system = equations.system
    z, u = np.abs(system.z(x)), np.abs(equations.forcing.at(time))
    flow = abs(dense(system.J(x) - system.R(x))) @ np.maximum(z, 1e-3 * z.max(initial=0.0))
    return np.maximum(np.abs(rows.T) @ (flow + abs(dense(system.B(x))) @ u), 1e-300)


def _solved(
    x: Array, defect: Callable[[Array], Array], directions: Callable[[Array], Array], size: Array
) -> tuple[Array, Array]:
    """Solve x⁺ = x + D(x⁺)μ with defect(x⁺) = 0 by Newton's method in μ, of least norm for redundant constraints."""

    def corrected(last: tuple[Array, Array]) -> tuple[tuple[Array, Array], float]:
        after, mu = last
        D = directions(after)
        here = defect(x + D @ mu)
        unit = 1.0 / np.maximum(np.abs(D / size[:, None]).max(axis=0), 1e-300)  # moves a state by its size
        slope = np.empty((here.size, D.shape[1]))
        for k in range(D.shape[1]):
            step = 1e-6 * unit[k] * D[:, k]
            slope[:, k] = central(defect, x + D @ mu, step) / 1e-6
        change = least_norm_step(slope, here, rcond=1e-9)
        mu = mu + unit * change
        return (x + D @ mu, mu), float(np.abs(change).max())

    return SEARCH.run((x, np.zeros(directions(x).shape[1])), corrected).value
