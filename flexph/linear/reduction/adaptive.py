"""Expansion points chosen adaptively in a frequency band, where the reduced system is worst."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...display.bars import bar
from ...numerics.arguments import warn
from ...numerics.arrays import Array, dense
from ...numerics.subspaces import extend
from ...systems.linear import LinearPHDAE
from ..elimination import ReductionWarning
from ..shifted import Shifted
from .bases import projected, rigid_motions, stress_solver
from .krylov import Expansion, audit, tangential
from .retained_states import RetainedStates

GRID = 400
"""Number of frequencies in the band at which the residual is evaluated."""
AGREED = 2
"""Number of successive points at which the error must be below the tolerance: at a single one it may be by chance."""
ALIKE = 0.3
"""Error of an input direction, relative to the largest one, above which its solution is added, too."""
POOR = 0.1
"""Error of the result, relative to the largest |H|, above which a warning is issued."""


def adaptive(
    shifted: Shifted,
    order: int,
    band: tuple[float, float],
    *,
    tolerance: float | None,
    kept: RetainedStates | None = None,
) -> LinearPHDAE:
    """Reduce a system to its solutions at points iω of a band, each where the residual of the last basis is largest.

    The basis starts with the rigid motions that the inputs drive. The residual is weighted by the solution at the real
    point in the middle of the band. The exact H at the next point gives the error of the last basis there, and the
    solutions for the input combinations with the largest error are added. The search ends when the order is reached, or
    when this error, relative to the largest |H|, is below the tolerance at two successive points; if it is not, the
    error is measured once more at the end.

    With ``kept`` states the search still uses the system reduced without them, in which constraints are eliminated; its
    space is a part of the space of the result. Raises ArithmeticError if the tolerance is not reached with this order,
    ValueError if the order is too small for the rigid motions; warns with :class:`ReductionWarning` if without a
    tolerance the error exceeds a tenth.
    """
    search = _Search(shifted, np.geomspace(*band, GRID))
    rigid = search.begin(order)
    expansions: list[Expansion] = []
    point, met = 1j * math.sqrt(band[0] * band[1]), 0
    with bar(total=order, delay=1.0, unit="state", desc="Krylov space") as shown:
        while _size(shifted, search.basis, rigid, kept) < order and met < AGREED:
            expansions.append(tangential(shifted, point, search.directions))
            met = met + 1 if tolerance is not None and search.last_error <= tolerance else 0
            if not search.add(expansions[-1].vectors):
                break
            shown.update(min(_size(shifted, search.basis, rigid, kept), order) - shown.n)
            point = search.worst()
    search.cut(_fitting(shifted, search.basis, order, (rigid, kept)))
    if met < AGREED:
        _check_error(search, order, tolerance)
    reduced = projected(shifted.system, shifted.split, search.basis, rigid, kept=kept)
    whole = [e for e in expansions if _spans(search.basis, e, shifted.weight)]  # a truncated point is not matched
    audit(Shifted(reduced, shifted.ports), whole)
    return reduced


def _check_error(search: _Search, order: int, tolerance: float | None) -> None:
    """Raise ArithmeticError if the error of the reduced system in the band exceeds the tolerance.

    Warns without a tolerance if the error is large.
    """
    worst = search.worst()
    error = search.error(worst)
    if tolerance is not None and not error <= tolerance:
        raise ArithmeticError(
            f"order {order} does not reach the tolerance {tolerance:.1e} in the band: at {abs(worst):.4g} rad/s the "
            f"error is {error:.1e} of the largest |H|; use a larger order or a smaller band"
        )
    if tolerance is None and not error <= POOR:
        warn(
            f"order {order} is too small for the band and the ports: at {abs(worst):.4g} rad/s the error is "
            f"{error:.0%} of the largest |H|; use a larger order, a smaller band, or fewer ports=",
            ReductionWarning,
        )


def _size(shifted: Shifted, basis: Array, rigid: int, kept: RetainedStates | None) -> int:
    """Number of states of the system reduced to a basis, or an upper bound of this number.

    The first ``rigid`` vectors are rigid motions.
    """
    count = basis.shape[1]
    if kept is not None:
        return kept.order(basis, shifted.weight)
    return count if shifted.split is None else 2 * count - rigid


def _fitting(shifted: Shifted, basis: Array, order: int, given: tuple[int, RetainedStates | None]) -> int:
    """Number of leading vectors of a basis on which the reduced system has at most the given order.

    ``given`` are the number of rigid motions and the retained states.
    """
    counts = range(basis.shape[1], 0, -1)
    return next((k for k in counts if _size(shifted, basis[:, :k], *given) <= order), 0)


def _spans(basis: Array, expansion: Expansion, weight: Any) -> bool:
    x = expansion.vectors
    left = x - basis @ (basis.T @ (weight @ x))
    return bool(np.all(np.linalg.norm(left, axis=0) <= 1e-6 * np.linalg.norm(x, axis=0)))


@dataclass
class _Search:
    """Growing basis V of a reduced system, and its residual ``B − P(iω)V q̂`` at the frequencies of a grid.

    The products on which the residual depends are computed once for each vector: ``images`` are B, A₀V, A₁V, A₂V
    (stresses condensed), ``weighed`` the images multiplied by P(ω₀)⁻¹, ω₀ the middle of the grid.
    """

    shifted: Shifted
    grid: Array
    basis: Array = field(init=False)
    images: list[Array] = field(init=False)
    weighed: list[Array] = field(init=False)

    def __post_init__(self) -> None:
        shifted, n = self.shifted, self.shifted.size
        self.basis = np.zeros((n, 0))
        self._solve = shifted.factor(math.sqrt(self.grid[0] * self.grid[-1]))
        self._stress = None if shifted.split is None else stress_solver(shifted.split)
        self.images = [shifted.load[:n], *(np.zeros((n, 0)) for _ in range(3))]
        self.weighed = [self._weigh(x) for x in self.images]
        self._largest, self.last_error = 0.0, math.inf

    def _weigh(self, x: Array) -> Array:
        return self._solve(self.shifted.padded(x))[: self.shifted.size] if x.shape[1] else x

    def begin(self, order: int) -> int:
        """Start the basis with the rigid motions that the inputs drive, and return their number.

        Raises ValueError if the order does not exceed it.
        """
        parts = self.shifted.split
        if parts is None:
            return 0
        motions = rigid_motions(self.shifted)
        if not motions.shape[1]:
            return 0
        gram = dense(motions.T @ (parts.M @ motions))
        self.add(motions @ np.linalg.solve(gram, motions.T @ self.images[0]))
        count = self.basis.shape[1]
        if count >= order:
            raise ValueError(
                f"order must be above {count}, the number of rigid motions that the ports move, got {order}"
            )
        return count

    def add(self, vectors: Array) -> bool:
        """Extend the basis by vectors (n, k); returns False if all of them were in its span."""
        count = self.basis.shape[1]
        self.basis = extend(self.basis, vectors, self.shifted.weight)
        new = self.basis[:, count:]
        for i, image in enumerate(self._images(new), start=1):
            self.images[i] = np.hstack([self.images[i], image])
            self.weighed[i] = np.hstack([self.weighed[i], self._weigh(image)])
        return bool(new.shape[1])

    def cut(self, count: int) -> None:
        """Shorten the basis to its first ``count`` vectors."""
        self.basis = self.basis[:, :count]
        for kept in (self.images, self.weighed):
            kept[1:] = [a[:, :count] for a in kept[1:]]

    def _images(self, v: Array) -> tuple[Array, Array, Array]:
        p, x = self.shifted.split, self.shifted.system
        if p is None or self._stress is None:
            return (x.R - x.J) @ v, x.E @ v, np.zeros_like(v)
        return p.D.T @ self._stress(p.D @ v), (p.Rv - p.Jv) @ v, p.M @ v

    def _reduced(self, s: Array) -> Array:
        """Solutions (k, r, m) of the reduced system for all m inputs at points s (k,)."""
        a0, a1, a2 = (self.basis.T @ image for image in self.images[1:])
        s = s[:, None, None]
        load = np.broadcast_to(
            (self.basis.T @ self.images[0]).astype(complex), (len(s), a0.shape[0], self.images[0].shape[1])
        )
        return np.linalg.solve(a0 + s * a1 + s**2 * a2, load)

    def _transfer(self, s: Array, solutions: Array) -> Array:
        H: Array = np.einsum("nm,kni->kmi", self.basis.T @ self.images[0], solutions)
        return H if self.shifted.split is None else s[:, None, None] * H

    def directions(self, s: complex, h: Array) -> Array:
        """Combinations (m, k) of the inputs for which the error of H(s) is largest.

        The error is stored as ``last_error``. ``h`` is the exact H(s).
        """
        defect = self._defect(s, h)
        _, sizes, right = np.linalg.svd(defect if np.any(defect) else h)
        chosen = right[: max(1, int(np.sum(sizes > ALIKE * sizes.max(initial=0.0))))].conj().T
        return chosen if np.iscomplexobj(h) else chosen.real

    def error(self, s: complex) -> float:
        """Error of H at the point s, relative to the largest |H| of the grid."""
        self._defect(s, self.shifted.transfer(s, self.shifted.factor(s)(self.shifted.load)))
        return self.last_error

    def _defect(self, s: complex, h: Array) -> Array:
        if not self.basis.shape[1]:
            self.last_error = math.inf
            return h
        points = np.array([s])
        defect: Array = h - self._transfer(points, self._reduced(points))[0]
        self.last_error = float(np.abs(defect).max() / max(self._largest, float(np.abs(h).max()), np.finfo(float).tiny))
        return defect

    def worst(self) -> complex:
        """Point iω of the grid at which the error of H is largest, as estimated by the residual."""
        s = 1j * self.grid
        q = self._reduced(s)
        self._largest = float(np.abs(self._transfer(s, q)).max())
        z = s[:, None, None]
        parts = [
            np.broadcast_to(np.eye(q.shape[2], dtype=complex), (len(s), q.shape[2], q.shape[2])),
            -q,
            -z * q,
            -z * z * q,
        ]
        coefficients = np.concatenate(parts, axis=1)
        stack = np.hstack(self.weighed)
        gram = stack.T @ (self.shifted.weight @ stack)
        squares = np.einsum("kim,ij,kjm->km", coefficients.conj(), gram, coefficients, optimize=True).real
        return complex(s[np.argmax(np.abs(s) * np.max(squares, axis=1))])
