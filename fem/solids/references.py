"""Reference conditions that remove the rigid motion from the deformation of a solid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from flexph.bodies.mean_axes import FILLED
from flexph.numerics import checks as check
from flexph.numerics.arrays import Array
from flexph.numerics.ranks import pivots
from flexph.numerics.rotations import cross, rigid_motions, spins

from ..meshes.null_space import null_space
from .model import SolidModel
from .ties import Tied


def referred(model: SolidModel, basis: Any, ports: Mapping[str, Tied], reference: str) -> Any:
    """Basis (n, n') of the coordinates without rigid motion: with a held port, or with mean axes.

    Mean axes of a large body would fill its matrices and are treated apart
    (:func:`flexph.bodies.mean_axes.about_mean_axes`): here d + s single coordinates are held. Raises ValueError for an
    unknown port.
    """
    if reference == "mean_axis":
        if basis.shape[1] > FILLED:
            return without(pins(rigid_coordinates(model, basis)), basis.shape[1])
        return null_space(_mean_motion(model) @ basis)
    return port_held(ports, reference, basis.shape[1])


def port_held(ports: Mapping[str, Tied], reference: str, size: int) -> Any:
    """Basis (size, n) of the coordinates in which a port does not move. Raises ValueError for an unknown name."""
    port: Tied = check.lookup("reference", reference, {"mean_axis": None, **ports})
    if port.rigid:
        return without(np.concatenate([port.shape.indices, port.rotation.indices]), size)
    return null_space(sparse.vstack([port.shape, port.rotation]).tocsr())


def without(coordinates: Array, size: int) -> Any:
    """Unit columns (size, n) of all coordinates except those given."""
    return sparse.eye_array(size, format="csr")[:, np.setdiff1d(np.arange(size), coordinates)]


def rigid_coordinates(model: SolidModel, basis: Any) -> Array:
    """Coordinates (n, d + s) in a basis (N·d, n) of unit translations and scaled unit rotations.

    Rotations are scaled by the longest side.
    """
    X = model.mesh.points
    lever = (X - X.mean(axis=0)) / np.ptp(X, axis=0).max()
    return coordinates(basis, rigid_motions(lever).reshape(model.size, -1))


def coordinates(basis: Any, motion: Array) -> Array:
    """Coordinates (n, r) in a basis (N·d, n) of displacements (N·d, r) in its span."""
    solved: Array = splu(sparse.csc_array(basis.T @ basis)).solve(basis.T @ motion)
    return solved


def pins(motion: Array) -> Array:
    """Numbers (r,) of coordinates that best hold a body with rigid motions (n, r).

    The motions are large and independent there.
    """
    return pivots(motion.T)[: motion.shape[1]]


def _mean_motion(model: SolidModel) -> Array:
    """Matrix (d + s, N·d) of mean motions: ∫ρu divided by mass, and ∫ρ(X − c) × u divided by mass and a length."""
    X, m, d = model.mesh.points, model.mass, model.dim
    whole = np.asarray(m.sum(axis=0)).ravel()
    mass = whole.sum()
    lever = m @ (X - whole @ X / mass)
    turned = np.einsum("aij,nj->ani", cross(d), lever).reshape(spins(d), -1)
    means = np.einsum("n,ij->inj", whole, np.eye(d)).reshape(d, -1)
    return np.vstack([means / mass, turned / np.linalg.norm(turned, axis=1, keepdims=True)])
