"""Canonical coordinates of mechanical systems with constraints on positions ([survey] sec. 4.2)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.differences import derivative
from ..numerics.subspaces import echelon, null_space, rank_of, unit_rows
from .coordinates import CanonicalCoordinates, zero_near
from .equations import of_last

Function = Callable[[Array], Array]


@checked
def holonomic_coordinates(
    constraints: Function, jacobian: Function, sample: Array, *, hessian: Callable[[Array, Array], Array] | None = None
) -> CanonicalCoordinates:
    """Canonical coordinates of ``q̇ = ∂H/∂p, ṗ = −∂H/∂q + c'(q)ᵀλ, 0 = c'(q) ∂H/∂p``, x = (q, p) ([survey] (2.38)).

    With the n − k positions q_I that move freely at the sample and Ψ(q) = (q_I, c(q)), momenta transform by
    ``(p_I, s) = Ψ'(q)⁻ᵀ p``, and

        (q, p, r, s) = (q_I, p_I, c(q), s)

    are canonical while Ψ' is invertible: the constraints are the Casimirs r ([survey] example 4.3), and λ drives their
    conjugate momenta s. The inverse of Ψ is computed by iteration from the sample; ArithmeticError is raised if it does
    not converge.

    Parameters
    ----------
    constraints : callable
        c(q) (k,).
    jacobian : callable
        c'(q) (k, n), of rank k at the sample.
    sample : array
        q (n,).
    hessian : callable, optional
        Σ sᵢ∇²cᵢ (n, n) as a function of q and s; by default by differences.

    Returns
    -------
    CanonicalCoordinates
        Map between both sets of coordinates.
    """
    q0 = check.array("sample", sample, (None,))
    k = len(check.array("jacobian", jacobian(q0), (None, q0.size)))
    rank = rank_of(unit_rows(jacobian(q0)))
    if rank < k:
        raise ValueError(f"constraints must be independent: rank {rank} of {k} rows of c' at the sample")
    chart = _Chart(constraints, jacobian, hessian, q0)
    return CanonicalCoordinates(
        map=chart.image, inverse=chart.inverse, pairs=q0.size - k, fixed=k, free=k, jacobian=chart.slope
    )


class _Chart:
    """Chart Ψ(q) = (q_I, c(q)) near a sample, q_I part of q, and the canonical coordinates of (q, p) from it."""

    def __init__(
        self,
        constraints: Function,
        jacobian: Function,
        hessian: Callable[[Array, Array], Array] | None,
        sample: Array,
    ) -> None:
        self.constraints, self.jacobian, self.hessian, self.sample = constraints, jacobian, hessian, sample
        self.n, self.own = sample.size, echelon(null_space(jacobian(sample)))[1]
        self.free, self.rows = self.own.size, np.eye(self.n)[self.own]
        self.positions = of_last(self._positions)

    def _rate(self, q: Array) -> Array:
        """Jacobian Ψ'(q)."""
        return np.vstack([self.rows, self.jacobian(q)])

    def _positions(self, target: Array) -> Array:
        """Positions q with Ψ(q) = target."""
        return zero_near(
            self.sample,
            lambda q: np.concatenate([q[self.own], self.constraints(q)]) - target,
            self._rate,
            terms=lambda q: np.abs(target) + np.abs(self._rate(q)) @ np.abs(q),
        )

    def image(self, x: Array) -> Array:
        """Coordinates (q_I, p_I, c(q), s) of (q, p)."""
        n, m = self.n, self.free
        q, p = x[:n], np.linalg.solve(self._rate(x[:n]).T, x[n:])
        return np.concatenate([q[self.own], p[:m], self.constraints(q), p[m:]])

    def inverse(self, y: Array) -> Array:
        """State (q, p) of (q_I, p_I, c(q), s)."""
        n, m = self.n, self.free
        q = self.positions(np.concatenate([y[:m], y[2 * m : n + m]]))
        return np.concatenate([q, self._rate(q).T @ np.concatenate([y[m : 2 * m], y[n + m :]])])

    def slope(self, x: Array) -> Array:
        """Jacobian of :meth:`image`."""
        n, m, q = self.n, self.free, x[: self.n]
        back = np.linalg.inv(self._rate(q)).T
        s = (back @ x[n:])[m:]
        given = self.hessian
        curvature = derivative(lambda at: self.jacobian(at).T @ s, q) if given is None else given(q, s)
        blocks = np.block([[self._rate(q), np.zeros((n, n))], [-back @ curvature, back]])
        return blocks[np.r_[0:m, n : n + m, m:n, n + m : 2 * n]]
