"""Checks of matrices of other programs: a mass equal in all directions, a stiffness without force on rigid motions."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ...numerics import checks as check
from ...numerics.arrays import Array
from .matrix_files import PRINTED, symmetric_matrix
from .matrix_labels import NodalOrder


def nodal_mass(given: Any, order: NodalOrder) -> Any:
    """Nodal mass m (N, N), sparse, of a mass matrix M = m ⊗ 1; raises ValueError for another structure."""
    count, dim = len(order.numbers), order.dim
    M = symmetric_matrix("mass", given, count * dim, order)
    m = sum((M[i::dim, i::dim] for i in range(1, dim)), start=M[::dim, ::dim]) / dim
    defect, whole = check.norm(M - sparse.kron(m, sparse.eye_array(dim))), check.norm(M)
    if defect > PRINTED * whole:
        sums = ", ".join(f"{'xyz'[i]} {M[i::dim, i::dim].sum():.6g}" for i in range(dim))
        raise ValueError(
            f"mass must be equal in all directions and couple none, M = m ⊗ 1: ‖M − m ⊗ 1‖/‖M‖ = "
            f"{defect / whole:.0e}, total masses {sums} kg; order it node by node (x, y[, z]), or give mapping=, and "
            "take elements whose nodes have translations only"
        )
    check.positive("mass", float(m.sum()), "kg")
    return sparse.csr_array(m)


def refuse_grounded(stiffness: Any, rigid: Array) -> None:
    """Raise ValueError unless KR vanishes for the rigid motions R, row by row relative to its terms."""
    force, size = np.abs(stiffness @ rigid), abs(stiffness) @ np.abs(rigid)
    share = np.divide(force, size, out=np.zeros_like(force), where=size > 0.0)
    if share.max() > PRINTED:
        dim = 2 if rigid.shape[1] == 3 else 3
        node = int(np.argmax(share.max(axis=1))) // dim
        raise ValueError(
            f"stiffness must vanish on rigid motions of the nodes, but KR is {share.max():.0e} of its terms at node "
            f"{node}; export it without supports, and check the order and positions of the nodes (numbers=, mapping=)"
        )
