"""Canonical form (37)-(38) of a system whose descriptor matrix has constant rank ([dg] theorem 8 and corollary 3)."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from ..discretisation.descriptor_split import ParametrizedDescriptor
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array, dense
from ..numerics.corrections import IterationLimits
from ..numerics.memo import Memo, once
from ..numerics.ranks import kernel, pivots, rank_of
from ..systems.nonlinear import PHDAE
from ..systems.transformation import transform
from .decomposition import Decomposition

OUTSIDE = 1e-8
"""Part of Dψ₁ outside of the row space of E, relative to its largest entry, above which the functions ψ₁ are refused.
It applies to the part of ∇H outside of the row space of Dψ₁, too."""
NEWTON = IterationLimits(most=50, settled=1e-14)
"""Newton corrections of x = φ(x̃), which end when no state changes by more than 1e-14 of its size."""


class CanonicalSystem(NamedTuple):
    """System in the canonical form (37) of [dg], and the maps between its states and those of the original system.

    ``phi`` is x = φ(x̃), ``psi`` is x̃ = ψ(x) = (ψ₁(x), x₂, x₃); they are valid near the sample.
    """

    system: PHDAE
    phi: Callable[[Array], Array]
    psi: Callable[[Array], Array]


@checked
def canonical_form(
    system: PHDAE, functions: Callable[[Array], Array], jacobian: Callable[[Array], Any]
) -> CanonicalSystem:
    """Transform a system to ``E = [[1, 0, 0], [0, 0, 0], [0, E₃₂, 1]]``, ``z = (∇H₁(x₁), z₂, 0)`` near its sample.

    H depends on ``functions`` ψ₁ (p,) of x alone, H = H₁(ψ₁(x)). The rows of their derivative ``jacobian`` (p, n) are
    independent and combinations of the rows of E(x) ([dg] eq. (F.3)). H itself is always such a function; further
    functions are solutions of partial differential equations and have to be supplied. The new states are x₁ = ψ₁(x) and
    some of the old states, chosen at the sample: n − r algebraic ones and r − p parameters θ, with r the rank of E. If
    p = r the system becomes semi-explicit ([dg] eq. (15)).

    Methods of :func:`flexph.integrate` accept the result as described in :func:`flexph.descriptor.parametrized_system`;
    ``phi`` maps its states back. Raises ValueError if the rank of E is not constant, if the rows of Dψ₁ are dependent
    or not in the row space of E, or if H does not depend on ψ₁ alone; φ raises outside of the neighbourhood where these
    coordinates are valid.
    """
    form = _Form(system, Decomposition(system.E, system.sample), functions, jacobian)
    form.check()
    start = form.psi(system.sample)
    p, r, n = form.p, form.decomposition.rank, system.size
    parts = {"x1": slice(0, p), "x2": slice(p, p + n - r), "theta": slice(p + n - r, n)}
    transformed = transform(system, form.phi, form.slope, form.frame, sample=start, parts=parts)
    E = ParametrizedDescriptor((p, n - r, r - p), form.coupling)

    def costate(x: Array) -> Array:
        return np.concatenate([transformed.z(x)[: p + n - r], np.zeros(r - p)])

    return CanonicalSystem(replace(transformed, E=E, z=costate, means={}, mean_slope=None), form.phi, form.psi)


class _Local(NamedTuple):
    """Values at a state x̃: derivative Dφ (n, n), coupling E₃₂ and frame U (n, n)."""

    slope: Array
    coupling: Array
    frame: Array


@dataclass(frozen=True)
class _Form(Memo):
    """Maps φ and ψ between old and new states, and the frame U, from the proof of [dg] theorem 8.

    U₀₁ (n, r) are the first r columns of the orthogonal U₀ of :class:`Decomposition`, a basis of the range of E at the
    sample.
    """

    system: PHDAE
    decomposition: Decomposition
    functions: Callable[[Array], Array]
    jacobian: Callable[[Array], Any]

    @once
    def p(self) -> int:
        """Number p of the functions ψ₁."""
        return int(np.shape(self.functions(self.system.sample))[0])

    @once
    def sizes(self) -> Array:
        """Size (n,) of each state at the sample, by which columns are scaled so that pivots do not depend on units."""
        x = self.system.sample
        size = np.maximum(np.abs(x), self.system.floor(x))
        return np.where(size > 0.0, size, 1.0)

    def rows(self, x: Array) -> Array:
        """Matrix T = U₀₁ᵀE(x) (r, n), which spans the rows of E(x)."""
        d = self.decomposition
        return d.first[0][:, : d.rank].T @ dense(self.system.E(x))

    def weights(self, x: Array) -> Array:
        """Weights ℓ (p, r) of the rows of T in the derivative of ψ₁, Dψ₁ = ℓ T."""
        d = self.decomposition
        turned = self.rows(x) @ d.first[1][:, : d.rank]
        return np.linalg.solve(turned.T, (self.slopes(x) @ d.first[1][:, : d.rank]).T).T

    def slopes(self, x: Array) -> Array:
        """Derivative Dψ₁ (p, n)."""
        return np.asarray(check.array("the jacobian", dense(self.jacobian(x)), (self.p, self.system.size)))

    def check(self) -> None:
        """Raise ValueError unless Dψ₁ has full rank, the rows of E span the rows of Dψ₁, and these span ∇H.

        E, Dψ₁ and ∇H are evaluated at the sample.
        """
        x, d = self.system.sample, self.decomposition
        d.blocks(x)
        slopes = self.slopes(x) * self.sizes
        if rank_of(slopes) < self.p:
            raise ValueError("the rows of the jacobian must be independent at the sample")
        missing = slopes - (self.weights(x) @ self.rows(x)) * self.sizes
        if np.abs(missing).max(initial=0.0) > OUTSIDE * np.abs(slopes).max(initial=0.0):
            raise ValueError(
                "the rows of the jacobian must be combinations of those of E(x) ([dg] eq. (F.3)): they are off by "
                f"{np.abs(missing).max() / np.abs(slopes).max():.1e} of their size at the sample"
            )
        gradient = (dense(self.system.E(x)).T @ self.system.z(x)) * self.sizes
        left = gradient - slopes.T @ np.linalg.lstsq(slopes.T, gradient, rcond=None)[0]
        if np.abs(left).max(initial=0.0) > OUTSIDE * np.abs(gradient).max(initial=0.0):
            raise ValueError(
                "H must depend on the functions alone: ∇H is off the rows of their jacobian by "
                f"{np.abs(left).max() / np.abs(gradient).max():.1e} of its size at the sample"
            )

    @once
    def choice(self) -> tuple[Array, Array, Array]:
        """Indices of the states that ψ₁ replaces (p,), of algebraic states (n − r,) and of parameters (r − p,)."""
        x, r = self.system.sample, self.decomposition.rank
        first = pivots(self.slopes(x) * self.sizes)[: self.p]
        others = np.setdiff1d(np.arange(self.system.size), first)
        T, given = self.rows(x) * self.sizes, self.slopes(x) * self.sizes
        more = self.complement @ T
        more = more - more[:, first] @ np.linalg.solve(given[:, first], given)
        third = others[pivots(more[:, others])[: r - self.p]]
        return np.sort(first), np.setdiff1d(others, third), np.sort(third)

    @once
    def complement(self) -> Array:
        """Orthonormal rows Q (r − p, r) that complete the rows of ℓ (p, r) to a basis of ℝʳ.

        ℓ are the :meth:`weights` at the system's sample; Q spans the orthogonal complement of their rows.
        """
        return kernel(self.weights(self.system.sample)).T

    def psi(self, x: Array) -> Array:
        """New state x̃ = (ψ₁(x), x₂, x₃)."""
        x = np.asarray(x, dtype=float)
        _, second, third = self.choice
        return np.concatenate([self.functions(x), x[second], x[third]])

    @once
    def phi(self) -> Callable[[Array], Array]:
        """Map x = φ(x̃), whose latest values are cached.

        It solves for the states that ψ₁ replaces by Newton's method from the sample.
        """
        solve = lru_cache(maxsize=8)(lambda key: self._solve(np.frombuffer(key)))
        return lambda x: solve(np.ascontiguousarray(x, dtype=float).tobytes()).copy()

    def _solve(self, given: Array) -> Array:
        first, second, third = self.choice
        x = self.system.sample.copy()
        x[second], x[third] = given[self.p : self.p + second.size], given[self.p + second.size :]

        def corrected(x: Array) -> tuple[Array, float]:
            step = np.zeros(x.size)
            step[first] = np.linalg.solve(self.slopes(x)[:, first], self.functions(x) - given[: self.p])
            moved = x - step
            return moved, float(np.abs(step / np.maximum(np.abs(moved), self.sizes)).max(initial=0.0))

        with suppress(np.linalg.LinAlgError):
            solution = NEWTON.run(x, corrected)
            if solution.settled:
                return solution.value
        raise ArithmeticError(
            f"φ(x̃) did not converge near the sample for the functions ψ₁ = {given[: self.p]}; give the system a "
            "sample that is nearer"
        )

    def slope(self, x: Array) -> Array:
        """Derivative Dφ at x̃, the inverse of Dψ."""
        return self._local(x).slope

    def coupling(self, x: Array) -> Array:
        """Coupling E₃₂ at x̃."""
        return self._local(x).coupling

    def frame(self, x: Array) -> Array:
        """Frame U at x̃."""
        return self._local(x).frame

    @once
    def _local(self) -> Callable[[Array], _Local]:
        """Function of x̃ that returns Dφ, E₃₂ and U; its latest values are cached."""
        local = lru_cache(maxsize=8)(lambda key: self._at(np.frombuffer(key)))
        return lambda x: local(np.ascontiguousarray(x, dtype=float).tobytes())

    def _at(self, x: Array) -> _Local:
        """Derivative Dφ, coupling E₃₂ = K₃⁻¹K₂ and frame U at a state, with ``Q T Dφ = [K₁, K₂, K₃]``.

        The rows of Uᵀ are ℓU₀₁ᵀ, the left null space of E, and K₃⁻¹(Q − K₁ℓ)U₀₁ᵀ.
        """
        d, at, (_, second, third) = self.decomposition, self.phi(x), self.choice
        one, weights, top = np.eye(self.system.size), self.weights(at), d.first[0][:, : d.rank].T
        slope = np.linalg.inv(np.vstack([self.slopes(at), one[second], one[third]]))
        K1, K2, K3 = np.split(self.complement @ self.rows(at) @ slope, [self.p, self.p + second.size], axis=1)
        last = np.linalg.solve(K3, self.complement - K1 @ weights)
        frame = np.vstack([weights @ top, d.left_null(at).T, last @ top]).T
        return _Local(slope, np.linalg.solve(K3, K2), frame)
