"""Mass integrals of a plate in all its coordinates, summed over its cells."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from flexph.bodies.inertia import Inertia
from flexph.numerics.arrays import Array
from flexph.numerics.rotations import spins

from .coordinates import LocalRows
from .model import MASS, PlateModel

MANY = 4_000_000
"""Number of matrix entries of cells that are collected before they are summed to a sparse matrix."""


def plate_inertia(model: PlateModel) -> Inertia:
    """Mass integrals of a plate in all its coordinates, of the displacement (u_x − zβ_x, u_y − zβ_y, w).

    z is the distance from the middle surface; the integrals are over the thickness, too. Without rotary inertia the
    terms with z² are left out.
    """
    n, s, whole = model.size, spins(3), 0.0
    first, second = np.zeros(3), np.zeros((3, 3))
    moments = np.zeros((3, 4, n))  # ∫ρφ_i (1, X)
    pairs = {(i, j): _Sum(n) for i in range(3) for j in range(i, 3)}
    for b, cells, points, area in model.pieces(MASS):
        number = model.numbered(b, cells)
        t = model.thickness[number][:, None]
        mass = area * model.densities[number][:, None] * t
        spin = mass * t**2 / 12.0 if model.rotary else np.zeros_like(mass)
        X = np.pad(points, [(0, 0), (0, 0), (1, 1)])
        X[..., 0] = 1.0
        weighted = mass[..., None] * X
        displacement, turn = model.local_fields(b, cells, points)
        whole += float(mass.sum())
        first += weighted.sum(axis=(0, 1))[1:]
        second += np.einsum("kqi,kqj->ij", weighted[..., 1:], X[..., 1:])
        second[2, 2] += spin.sum()
        for i, rows in enumerate(displacement):
            for local_rows in rows:
                local_rows.add_to(moments[i], weighted)
        for i, rows in enumerate(turn):
            for local_rows in rows:
                local_rows.add_to(moments[i, 3:], -spin[..., None])
        for (i, j), total in pairs.items():
            total.add(displacement[i], displacement[j], mass)
            if model.rotary and j < 2:
                total.add(turn[i], turn[j], spin)
    return Inertia(
        mass=whole,
        first=first,
        second=second,
        shape_first=moments[:, 0],
        shape_lever=moments[:, 1:],
        shape_pair=_symmetric({place: total.matrix() for place, total in pairs.items()}),
        spin=np.zeros((s, s)),
        spin_shape=np.zeros((s, n)),
        spin_pair=sparse.csr_array((n, n)),
    )


def _symmetric(upper: dict[tuple[int, int], Any]) -> tuple[tuple[Any, ...], ...]:
    """Matrices for all pairs (i, j) of directions, from those with i ≤ j; (j, i) is the transpose of (i, j)."""
    for i in range(3):
        upper[i, i] = sparse.csr_array(0.5 * (upper[i, i] + upper[i, i].T))
    form = lambda i, j: upper[i, j] if i <= j else sparse.csr_array(upper[j, i].T)  # noqa: E731 - one formula
    return tuple(tuple(form(i, j) for j in range(3)) for i in range(3))


class _Sum:
    """A sum of integrals as a sparse matrix (n, n), to which chunks of cells are added in turn."""

    def __init__(self, n: int) -> None:
        self._whole, self._parts, self._count = sparse.csr_array((n, n)), [], 0  # type: ignore[var-annotated]

    def add(self, left: list[LocalRows], right: list[LocalRows], weights: Array) -> None:
        """Add ∫w φψᵀ of the fields φ, ``left``, and ψ, ``right``, over the points of some cells.

        Each field is a sum of terms. ``weights`` w (k, q) are those of the points.
        """
        for p in left:
            heavy = np.swapaxes(p.values * weights[..., None], 1, 2)
            for q in right:
                data = heavy @ q.values
                rows, columns = np.broadcast_arrays(p.columns[:, :, None], q.columns[:, None, :])
                self._parts.append((data.ravel(), rows.ravel(), columns.ravel()))
                self._count += data.size
        if self._count > MANY:
            self._whole = self.matrix()
            self._parts, self._count = [], 0

    def matrix(self) -> Any:
        """The sum of all chunks that were added."""
        if not self._parts:
            return self._whole
        data, rows, columns = (np.concatenate(parts) for parts in zip(*self._parts, strict=True))
        new = sparse.coo_array((data, (rows, columns)), shape=self._whole.shape).tocsr()
        new.eliminate_zeros()
        return sparse.csr_array(self._whole + new)
