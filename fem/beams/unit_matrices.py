"""Integrals of beams with unit element length, mass per length and rigidities, cached for each mesh.

The integrals of a beam are these times powers of its element length, see :mod:`fem.beams.line_mesh`. φ are the shape
functions of displacements, θ those of torsion, ψ those of stresses.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from flexph.numerics.arrays import Array
from flexph.numerics.gauss_tableau import gauss_points

from .elements import Field
from .line_mesh import LineMesh, interleave


class UnitInertia(NamedTuple):
    """Integrals ∫x, ∫x², ∫φ (d, n), ∫xφ (d, n) and ∫φφᵀ of the displacements; ∫θ (n,) and ∫θθᵀ of torsion in space."""

    length_first: float
    length_second: float
    first: Array
    lever: Array
    pairs: tuple[tuple[Any, ...], ...]
    turn_first: Array
    turn_pair: Any


class UnitElasticity(NamedTuple):
    """Integrals ∫ψψᵀ and ∫ψ(strain)ᵀ of all stresses, field by field, and the terms of the nonlinear strain.

    These are the slopes at quadrature points, and ∫ψ of the axial force there; ``sizes`` are the numbers of stresses.
    """

    compliance: Any
    strain: Any
    slopes: Any
    weights: Any
    sizes: tuple[int, ...]
    """Numbers of stresses of the fields."""


def unit_inertia(unit: LineMesh) -> UnitInertia:
    """Mass integrals of the axis and of the torsion."""
    local, w = unit.quadrature()
    x, phi = unit.points(local), [unit.rows(name, local) for name in unit.displacements]
    turn = unit.rows("turn", local) if unit.dim == 3 else sparse.csr_array((w.size, unit.size))
    return UnitInertia(
        length_first=float(w @ x),
        length_second=float(w @ x**2),
        first=np.array([p.T @ w for p in phi]),
        lever=np.array([p.T @ (w * x) for p in phi]),
        pairs=tuple(tuple(_product(p, w, q) for q in phi) for p in phi),
        turn_first=turn.T @ w,
        turn_pair=_product(turn, w, turn),
    )


def unit_elasticity(unit: LineMesh) -> UnitElasticity:
    """Integrals of the weak form of stress = strain for all fields, with the stresses as test functions."""
    local, w = unit.quadrature()
    stress = {name: c.stress.rows(local, 1.0) for name, c in unit.components.items()}
    strain = [_product(s, w, unit.strain(name, local)) for name, s in stress.items()]
    weights = sparse.hstack([stress["x"].T @ sparse.diags_array(w) for _ in unit.transverse])
    others = sum(s.shape[1] for s in stress.values()) - weights.shape[0]
    return UnitElasticity(
        compliance=sparse.block_diag([_compliance(c.stress) for c in unit.components.values()]).tocsr(),
        strain=sparse.vstack(strain).tocsr(),
        slopes=sparse.vstack([unit.rows(name, local, 1) for name in unit.transverse]).tocsr(),
        weights=sparse.vstack([weights, sparse.csr_array((others, weights.shape[1]))]).tocsr(),
        sizes=tuple(s.shape[1] for s in stress.values()),
    )


def unit_load(unit: LineMesh) -> Any:
    """Matrix from the kept coordinates to the mean displacement of each element; 2 Gauss points are exact."""
    local, weight = gauss_points(2)
    mean = sparse.kron(sparse.eye_array(unit.elements), weight[None, :]).tocsr()
    return interleave(*(mean @ unit.rows(name, local) for name in unit.displacements))


def _compliance(stress: Field) -> Any:
    """Integral ∫ψψᵀ dx of a stress field; as many Gauss points as coefficients on an element are exact."""
    local, weight = gauss_points(stress.local)
    rows = stress.rows(local, 1.0)
    compliance = _product(rows, np.tile(weight, stress.elements), rows)
    compliance.eliminate_zeros()
    return compliance


def _product(left: Any, weights: Array, right: Any) -> Any:
    return sparse.csr_array(left.T @ sparse.diags_array(weights) @ right)
