"""Mass integrals of a plate over all its coordinates."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from flexph.bodies.inertia import Inertia
from flexph.numerics.arrays import Array
from flexph.numerics.rotations import spins

from .model import MASS, PlateModel


def plate_inertia(model: PlateModel) -> Inertia:
    """Mass integrals over all coordinates, of the field (u_x − zβ_x, u_y − zβ_y, w) at (x, y, z).

    Without rotary inertia they are those of the middle surface.
    """
    n, whole = model.size, np.zeros(())
    pair = [[sparse.csr_array((n, n)) for _ in range(3)] for _ in range(3)]
    first, second = np.zeros(3), np.zeros((3, 3))
    shape_first, lever = np.zeros((3, n)), np.zeros((3, 3, n))
    for b, cells, points, area in model.pieces(MASS):
        number = model.numbered(b, cells)
        t = model.thickness[number][:, None]
        mass = (area * model.densities[number][:, None] * t).ravel()
        spin = (mass.reshape(area.shape) * t**2 / 12.0).ravel() if model.rotary else np.zeros_like(mass)
        X = np.pad(points.reshape(-1, 2), [(0, 0), (0, 1)])
        fields = model.sampled(b, cells, points)
        phi = fields.x, fields.y, fields.w
        whole = whole + mass.sum()
        first += mass @ X
        second += X.T @ (mass[:, None] * X)
        second[2, 2] += spin.sum()
        shape_first += np.array([p.T @ mass for p in phi])
        lever += np.array([(p.T @ (mass[:, None] * X)).T for p in phi])
        for i, beta in enumerate(fields.turn):
            lever[i, 2] -= beta.T @ spin
        _add_pairs(pair, phi, mass)
        if model.rotary:
            _add_pairs(pair, fields.turn, spin)
    for i in range(3):
        pair[i][i] = sparse.csr_array(0.5 * (pair[i][i] + pair[i][i].T))
    s = spins(3)
    return Inertia(
        mass=float(whole),
        first=first,
        second=second,
        shape_first=shape_first,
        shape_lever=lever,
        shape_pair=tuple(tuple(row) for row in pair),
        spin=np.zeros((s, s)),
        spin_shape=np.zeros((s, n)),
        spin_pair=sparse.csr_array((n, n)),
    )


def _add_pairs(pair: list[list[Any]], fields: tuple[Any, ...], mass: Array) -> None:
    """Add ∫ρ φ_i φ_j of fields at points with masses."""
    weighted = [sparse.csr_array(sparse.diags_array(mass) @ p) for p in fields]
    for i, p in enumerate(fields):
        for j, q in enumerate(weighted):
            pair[i][j] = pair[i][j] + p.T @ q
