"""Mass integrals of a solid."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from flexph.bodies.inertia import Inertia
from flexph.numerics.rotations import spins

from .model import SolidModel

LARGE = 10_000
"""Coordinates above which the integrals of pairs are formed when asked for: nine matrices as large as the mass."""


@dataclass(frozen=True, eq=False)
class PairRow(Sequence[Any]):
    """∫ρφ_iφ_j = φ_iᵀ m φ_j of one direction i by the nodal mass m and displacements φ (N, n) along each direction."""

    mass: Any
    shapes: tuple[Any, ...]
    direction: int

    def __len__(self) -> int:
        return len(self.shapes)

    def __getitem__(self, j: Any) -> Any:
        return sparse.csr_array(self.shapes[self.direction].T @ (self.mass @ self.shapes[j]))


def solid_inertia(model: SolidModel, shapes: Any) -> Inertia:
    """The mass integrals over u with nodal displacements ``shapes`` u, sparse or not; exact, as positions are."""
    X, m, d = model.mesh.points, model.mass, model.dim
    phi = [sparse.csr_array(p) if sparse.issparse(p) else p for p in (shapes[i::d] for i in range(d))]
    whole, moved = np.asarray(m.sum(axis=0)).ravel(), m @ X
    n, s = phi[0].shape[1], spins(d)
    pairs = tuple(PairRow(m, tuple(phi), i) for i in range(d))
    return Inertia(
        mass=float(whole.sum()),
        first=whole @ X,
        second=X.T @ moved,
        shape_first=np.array([p.T @ whole for p in phi]),
        shape_lever=np.array([(p.T @ moved).T for p in phi]),
        shape_pair=pairs if n > LARGE else tuple(tuple(row) for row in pairs),
        spin=np.zeros((s, s)),
        spin_shape=np.zeros((s, n)),
        spin_pair=sparse.csr_array((n, n)),
    )
