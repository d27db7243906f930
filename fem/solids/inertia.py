"""Mass integrals of a solid, and additional masses from its file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import sparse

from flexph.bodies.inertia import Inertia
from flexph.meshes.contents import MeshContents, SpreadMass
from flexph.numerics.arrays import Array
from flexph.numerics.rotations import spins

from ..meshes.solid_mesh import Block
from .model import SolidModel

LARGE = 10_000
"""Number of coordinates above which integrals of pairs, nine matrices as large as the mass, are formed on request."""


@dataclass(frozen=True, eq=False)
class PairRow(Sequence[Any]):
    """Row i of the mass integrals ∫ρφ_i φ_jᵀ, with all directions j, each computed on request as φ_iᵀ m φ_j.

    ``mass`` m (N, N) is the nodal mass, ``shapes`` are the displacements φ_j (N, n) of each direction, and
    ``direction`` is i.
    """

    mass: Any
    shapes: tuple[Any, ...]
    direction: int

    def __len__(self) -> int:
        return len(self.shapes)

    def __getitem__(self, j: Any) -> Any:
        return sparse.csr_array(self.shapes[self.direction].T @ (self.mass @ self.shapes[j]))


def solid_inertia(model: SolidModel, shapes: Any) -> Inertia:
    """Mass integrals of a solid in coordinates u, with nodal displacements ``shapes @ u``; quadrature is exact.

    ``shapes`` is (N·d, n).
    """
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


def with_file_masses(model: SolidModel, contents: MeshContents, *, unit: float = 1.0) -> SolidModel:
    """Model with the masses of a file at nodes and over regions; lengths of the file count in ``unit`` [m].

    A mass distributed in proportion to mass scales the densities of its region; a mass distributed by volume, or given
    per volume, adds to them.
    """
    if not contents.masses():
        return model
    volumes = model.thickness * np.concatenate(
        [model.mesh.volumes(b, k.kind.mass)[1].sum(axis=1) for b, k in _all(model)]
    )
    densities = np.concatenate([model.densities(b) for b, _ in _all(model)]) / model.thickness
    added, lumped = np.zeros_like(volumes), np.zeros(len(model.mesh.points))
    for spread in contents.spread_masses:
        cells = _cells(model, spread)
        cell_masses = densities[cells] * volumes[cells]
        if spread.by == "per volume":
            added[cells] += spread.value / unit**3
        elif spread.by == "total by mass":
            added[cells] += densities[cells] * spread.value / cell_masses.sum()
        else:
            added[cells] += spread.value / volumes[cells].sum()
    if np.any(densities + added <= 0.0):
        raise ValueError(
            "densities of cells must be positive with the masses of the file, which subtract more than the density"
        )
    for point in contents.point_masses:
        lumped[np.searchsorted(model.mesh.numbers, point.point)] += point.mass
    return replace(model, added=added if added.any() else None, lumped=lumped if lumped.any() else None)


def _all(model: SolidModel) -> list[tuple[int, Block]]:
    return list(enumerate(model.mesh.blocks))


def _cells(model: SolidModel, spread: SpreadMass) -> Array:
    """Numbers of the cells of the region over which a mass of a file is distributed.

    Raises ValueError if the region has no cells of the body.
    """
    named = model.mesh.sets.get(spread.region)
    if named is None or not len(named.cells):
        raise ValueError(
            f"{spread.name} ({spread.place}) must be of elements of the body, got {spread.region!r}; "
            f"omit=({spread.name!r},) leaves it out"
        )
    return np.unique(model.mesh.numbered(named.cells))
