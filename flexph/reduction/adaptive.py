"""Expansion points sought in a frequency band, where the reduced system is worst."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu
from tqdm import tqdm

from ..gram_schmidt import extend
from ..linear import LinearPHDAE
from ..space import Array
from .bases import projected, stresses
from .krylov import Expansion, Point, audit, expand
from .shifted import Shifted

GRID = 400
"""Frequencies of the band at which the residual is looked at."""
AGREED = 2
"""Successive points at which the error must be below the tolerance: one may be met by chance."""


def adaptive(
    system: LinearPHDAE, shifted: Shifted, order: int, band: tuple[float, float], tolerance: float | None
) -> LinearPHDAE:
    """The system on its solutions at points iω of the band, each where the residual of the last basis is largest.

    The residual is weighed by the solution at the real point in the middle of the band. The error of H there is then
    known; the search ends at the order, or where that error was below the tolerance, of the largest |H|, twice.
    Raises ArithmeticError where the order does not do for the tolerance.
    """
    search = _Search(shifted, np.geomspace(*band, GRID))
    expansions: list[Expansion] = []
    point, met, error = 1j * math.sqrt(band[0] * band[1]), 0, math.inf
    with tqdm(total=order, delay=1.0, disable=None, unit="state", desc="Krylov space") as bar:
        while _size(shifted, search.basis) < order and met < AGREED:
            expansions.append(expand(shifted, Point(point)))
            if search.basis.shape[1]:
                error = search.error(expansions[-1])
                met = met + 1 if tolerance is not None and error <= tolerance else 0
            if not search.add(expansions[-1].vectors):
                break
            bar.update(min(_size(shifted, search.basis), order) - bar.n)
            point = search.worst()
    if tolerance is not None and met < AGREED:
        raise ArithmeticError(
            f"order {order} does not reach the tolerance {tolerance:.1e} in the band: the last error found is "
            f"{error:.1e}; take a larger order or a smaller band"
        )
    basis = _cut(shifted, search.basis, order)
    reduced = projected(system, shifted.split, basis)
    whole = [e for e in expansions if _spans(basis, e, shifted.weight)]  # a point that was cut is not matched
    audit(Shifted(reduced, shifted.ports), whole)
    return reduced


def _size(shifted: Shifted, basis: Array) -> int:
    """Order of the reduced system, if no motion is rigid."""
    return basis.shape[1] * (1 if shifted.split is None else 2)


def _cut(shifted: Shifted, basis: Array, order: int) -> Array:
    """The leading vectors that make a system of at most that order; rigid motions need no stresses."""
    if shifted.split is None:
        return basis[:, :order]
    count = min(basis.shape[1], order)
    while count > 1 and count + stresses(shifted.split, basis[:, :count]).shape[1] > order:
        count -= 1
    return basis[:, :count]


def _spans(basis: Array, expansion: Expansion, weight: Any) -> bool:
    x = expansion.vectors
    left = x - basis @ (basis.T @ (weight @ x))
    return bool(np.all(np.linalg.norm(left, axis=0) <= 1e-6 * np.linalg.norm(x, axis=0)))


@dataclass
class _Search:
    """A growing basis V, and the residual ``B − P(iω)V q̂`` over a grid, through products that are made once.

    ``images`` are B, A₀V, A₁V, A₂V (stresses condensed), ``weighed`` P(ω₀)⁻¹ of them.
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
        self._flexibility = None
        if shifted.split is not None and sparse.issparse(shifted.split.C):
            self._flexibility = splu(sparse.csc_array(shifted.split.C)).solve
        self.images = [shifted.load[:n], *(np.zeros((n, 0)) for _ in range(3))]
        self.weighed = [self._weigh(x) for x in self.images]
        self._largest = 0.0

    def _weigh(self, x: Array) -> Array:
        if not x.shape[1]:
            return x
        return self._solve(np.vstack([x, np.zeros((len(self.shifted.load) - len(x), x.shape[1]))]))[: self.shifted.size]

    def add(self, vectors: Array) -> bool:
        """Extend the basis; False where nothing new came."""
        count = self.basis.shape[1]
        self.basis = extend(self.basis, vectors, self.shifted.weight)
        new = self.basis[:, count:]
        for i, image in enumerate(self._images(new), start=1):
            self.images[i] = np.hstack([self.images[i], image])
            self.weighed[i] = np.hstack([self.weighed[i], self._weigh(image)])
        return bool(new.shape[1])

    def _images(self, v: Array) -> tuple[Array, Array, Array]:
        p, x = self.shifted.split, self.shifted.system
        if p is None:
            return (x.R - x.J) @ v, x.E @ v, np.zeros_like(v)
        strain = p.D @ v
        stress = self._flexibility(strain) if self._flexibility else np.linalg.solve(p.C, strain)
        return p.D.T @ stress, (p.Rv - p.Jv) @ v, p.M @ v

    def _reduced(self, s: Array) -> Array:
        """Solutions of the reduced system at points (k,): (k, r, m)."""
        a0, a1, a2 = (self.basis.T @ image for image in self.images[1:])
        s = s[:, None, None]
        load = np.broadcast_to(
            (self.basis.T @ self.images[0]).astype(complex), (len(s), a0.shape[0], self.images[0].shape[1])
        )
        found: Array = np.linalg.solve(a0 + s * a1 + s**2 * a2, load)
        return found

    def _transfer(self, s: Array, solutions: Array) -> Array:
        made: Array = np.einsum("nm,kni->kmi", self.basis.T @ self.images[0], solutions)
        return made if self.shifted.split is None else s[:, None, None] * made

    def error(self, expansion: Expansion) -> float:
        """Error of H at a point whose moments are known, over the largest |H| of the grid."""
        s = np.array([expansion.point.s])
        own = self._transfer(s, self._reduced(s))[0]
        return float(np.abs(own - expansion.moments[0]).max() / max(self._largest, np.abs(expansion.moments[0]).max()))

    def worst(self) -> complex:
        """The point of the grid with the largest residual, as an error of H."""
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
