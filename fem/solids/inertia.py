"""Mass integrals of a solid."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from flexph.bodies.inertia import Inertia
from flexph.numerics.rotations import spins

from .model import SolidModel


def solid_inertia(model: SolidModel, shapes: Any) -> Inertia:
    """The mass integrals over u with nodal displacements ``shapes`` u, exact: positions are interpolated alike."""
    X, m, d = model.mesh.points, model.mass, model.dim
    phi = [sparse.csr_array(shapes[i::d]) for i in range(d)]
    moved = [sparse.csr_array(m @ p) for p in phi]
    whole = np.asarray(m.sum(axis=0)).ravel()
    n, s = phi[0].shape[1], spins(d)
    return Inertia(
        mass=float(whole.sum()),
        first=whole @ X,
        second=X.T @ (m @ X),
        shape_first=np.array([p.T @ whole for p in phi]),
        shape_lever=np.array([(q.T @ X).T for q in moved]),
        shape_pair=tuple(tuple(sparse.csr_array(p.T @ q) for q in moved) for p in phi),
        spin=np.zeros((s, s)),
        spin_shape=np.zeros((s, n)),
        spin_pair=sparse.csr_array((n, n)),
    )
