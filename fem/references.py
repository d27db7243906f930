"""Reference conditions: what takes the rigid motion out of the deformation of a solid."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from flexph import checks as check
from flexph.space import Array, cross, spins

from .null_space import null_space
from .solid_model import SolidModel
from .solid_ties import Tied

FILLED = 1000
"""Coordinates up to which mean axes are offered: they fill all mass matrices."""


def referred(model: SolidModel, basis: Any, ports: Mapping[str, Tied], reference: str) -> Any:
    """A basis (n, n') of the coordinates without rigid motion: mean axes, or a port held.

    Raises ValueError for a port that is not there, and for mean axes of a large body.
    """
    if reference == "mean_axis":
        if basis.shape[1] > FILLED:
            known = ", ".join(map(repr, ports)) or "none yet"
            raise ValueError(
                f"reference must be a port to hold for a body of {basis.shape[1]} coordinates (ports: {known}): mean "
                f"axes fill its mass matrices, and are for up to {FILLED}"
            )
        return null_space(_mean_motion(model) @ basis)
    names = {"mean_axis": None, **ports}
    port: Tied = check.lookup("reference", reference, names)
    if port.rigid:
        held = np.concatenate([port.shape.indices, port.rotation.indices])
        kept = np.setdiff1d(np.arange(basis.shape[1]), held)
        return sparse.eye_array(basis.shape[1], format="csr")[:, kept]
    return null_space(sparse.vstack([port.shape, port.rotation]).tocsr())


def _mean_motion(model: SolidModel) -> Array:
    """∫ρu and ∫ρ(X − c) × u over the mass, and over that and a length: (d + s, N·d)."""
    X, m, d = model.mesh.points, model.mass, model.dim
    whole = np.asarray(m.sum(axis=0)).ravel()
    mass = whole.sum()
    lever = m @ (X - whole @ X / mass)
    turned = np.einsum("aij,nj->ani", cross(d), lever).reshape(spins(d), -1)
    means = np.einsum("n,ij->inj", whole, np.eye(d)).reshape(d, -1)
    return np.vstack([means / mass, turned / np.linalg.norm(turned, axis=1, keepdims=True)])
