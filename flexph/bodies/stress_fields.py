"""Fields of a stress tensor: principal stresses, von Mises stress, smooth field and error indicator."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..numerics.arguments import checked
from ..numerics.arrays import Array
from .fields import TensorField

_MATRIX = np.array([[0, 3, 5], [3, 1, 4], [5, 4, 2]])
"""Indices of the six components (xx, yy, zz, xy, yz, xz) in the symmetric matrix."""


@checked
def tensors(rows: Any, sigma: Array) -> Array:
    """Stress tensors from stress coordinates, by rows of a :class:`TensorField`.

    Parameters
    ----------
    rows : matrix
        Rows (k·6, m) of a :class:`TensorField`.
    sigma : array
        Stress coordinates (..., m), as ``solution["body.stress"]``.

    Returns
    -------
    array
        Tensors (..., k, 6) [Pa].
    """
    flat = np.asarray(sigma).reshape(-1, np.shape(sigma)[-1])
    return (rows @ flat.T).T.reshape(*np.shape(sigma)[:-1], -1, 6)


def _six(stress: Array) -> Array:
    given = np.asarray(stress)
    if given.shape[-1] != 6:
        raise ValueError(f"stress must have shape (..., 6), got {given.shape}")
    return given


@checked
def principal_stresses(stress: Array) -> Array:
    """Principal stresses σ₁ ≥ σ₂ ≥ σ₃ of tensors.

    Parameters
    ----------
    stress : array
        Tensors (..., 6) [Pa]: xx, yy, zz, xy, yz, xz.

    Returns
    -------
    array
        Principal stresses (..., 3) [Pa].
    """
    return np.linalg.eigvalsh(_six(stress)[..., _MATRIX])[..., ::-1]


@checked
def von_mises(stress: Array) -> Array:
    """Von Mises stress √(3/2 s:s) of tensors with deviator s.

    Parameters
    ----------
    stress : array
        Tensors (..., 6) [Pa]: xx, yy, zz, xy, yz, xz.

    Returns
    -------
    array
        Von Mises stresses (...) [Pa].
    """
    stress = _six(stress)
    normal, shear = stress[..., :3], stress[..., 3:]
    apart = (normal - normal[..., [1, 2, 0]]) ** 2
    return np.sqrt(0.5 * apart.sum(axis=-1) + 3.0 * (shear**2).sum(axis=-1))


@checked
def at_nodes(field: TensorField, sigma: Array, *, smoothed: bool = False) -> Array:
    """Stress tensors at the n nodes of each of the c drawn cells.

    Parameters
    ----------
    field : TensorField
        Stress tensors of a body at points of its cells.
    sigma : array
        Stress coordinates (..., m), as ``solution["body.stress"]``.
    smoothed : bool
        True for the smooth field of :func:`stress_error`, continuous within each material; False for the polynomial
        through the values at the stress points of each cell, discontinuous between cells.

    Returns
    -------
    array
        Tensors (..., c, n, 6) [Pa].
    """
    values = tensors(field.nodal if smoothed else field.at, sigma)
    fields = []
    for group in field.nodes:
        k, q = len(group.corners), group.own.shape[-1]
        if smoothed:
            fields.append(group.smooth @ values[..., group.corners, :])
        else:
            own = values[..., group.first : group.first + k * q, :]
            fields.append(group.own @ own.reshape(*own.shape[:-2], k, q, 6))
    return np.concatenate(fields, axis=-3)


@checked
def stress_error(field: TensorField, sigma: Array) -> Array:
    """Stress error indicator η of each cell of the mesh: ``η² = ∫ (σ* − σ) : S (σ* − σ)``.

    σ* is the smooth field of the same stresses (means at the corners, interpolated): O. C. Zienkiewicz, J. Z. Zhu, Int.
    J. Numer. Meth. Engng 24 (1987). Divided by the energy norm √(∫σ:Sσ), it estimates the relative error of the
    stresses.

    Parameters
    ----------
    field : TensorField
        Stress tensors of a body at points of its cells.
    sigma : array
        Stress coordinates (..., m), as ``solution["body.stress"]``.

    Returns
    -------
    array
        Indicators (..., cells) [√J].
    """
    smooth = np.moveaxis(tensors(field.nodal, sigma), -2, 0)
    spread = np.moveaxis((field.spread @ smooth.reshape(len(smooth), -1)).reshape(-1, *smooth.shape[1:]), 0, -2)
    return np.sqrt(_by_cells(field, spread - tensors(field.at, sigma)))


@checked
def energy_norm(field: TensorField, sigma: Array) -> Array:
    """Energy norm √(∫σ:Sσ) of a body; its square is twice the elastic energy.

    Parameters
    ----------
    field : TensorField
        Stress tensors of a body at points of its cells.
    sigma : array
        Stress coordinates (..., m), as ``solution["body.stress"]``.

    Returns
    -------
    array
        Energy norm (...) [√J].
    """
    return np.sqrt(_by_cells(field, tensors(field.at, sigma)).sum(axis=-1))


@checked
def peak_von_mises(field: TensorField, sigma: Array) -> Array:
    """Largest von Mises stress among the points of each cell of the mesh.

    Parameters
    ----------
    field : TensorField
        Stress tensors of a body at points of its cells.
    sigma : array
        Stress coordinates (..., m), as ``solution["body.stress"]``.

    Returns
    -------
    array
        Largest stresses (..., cells) [Pa].
    """
    values = von_mises(tensors(field.at, sigma))
    return np.maximum.reduceat(values, first_points(field), axis=-1)


def first_points(field: TensorField) -> Array:
    """First point of each cell of the mesh (points are sorted by cell)."""
    return np.flatnonzero(np.diff(field.cell, prepend=-1))


def _by_cells(field: TensorField, stress: Array) -> Array:
    """Integrals ∫ σ:Sσ over each cell, for tensors at the points (..., p, 6)."""
    if not len(field.compliances):
        raise ValueError("energies of stresses need compliances, which this stress field does not have")
    density = np.empty(stress.shape[:-1])
    for k, compliance in enumerate(field.compliances):
        mine = field.material == k
        density[..., mine] = np.einsum("...i,ij,...j->...", stress[..., mine, :], compliance, stress[..., mine, :])
    return np.add.reduceat(density * field.weights, first_points(field), axis=-1)
