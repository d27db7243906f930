"""Second-order structure of linear systems whose states are velocities and stresses."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..numerics import checks as check
from ..numerics.arrays import Array
from ..numerics.factors.low_rank import inverse_by_blocks
from ..systems.linear import LinearPHDAE


class Split(NamedTuple):
    """Blocks ``E = diag(M, C), J = [[J_v, −Dᵀ], [D, 0]], R = diag(R_v, 0), B = [B_v; 0], G = [G_v, 0]`` ([flex] (45)).

    Velocities v (n,) and stresses σ (m,): with displacements q̇ = v the system is ``M q̈ + (R_v − J_v) q̇ + DᵀC⁻¹D q =
    B_v u + G_vᵀλ``. ``velocities`` and ``stresses`` are the places of both among the states. Dense or sparse as the
    system.
    """

    velocities: Array
    stresses: Array
    M: Any
    C: Any
    D: Any
    Jv: Any
    Rv: Any
    B: Any
    G: Any

    def stiffness(self) -> Any:
        """K = DᵀC⁻¹D (n, n), symmetric."""
        if sparse.issparse(self.C):  # discontinuous stresses: C⁻¹ is as sparse as C
            K = self.D.T @ (inverse_by_blocks(self.C) @ self.D)
        else:
            K = self.D.T @ np.linalg.solve(self.C, self.D)
        return 0.5 * (K + K.T)


def split(system: LinearPHDAE) -> Split | None:
    """Blocks of a system of that form, or None if it has no ``kinetic`` or another structure."""
    if system.kinetic is None:
        return None
    v, s = np.flatnonzero(system.kinetic), np.flatnonzero(~system.kinetic)
    e, j, r = system.E, system.J, system.R
    foreign = (e[v][:, s], j[s][:, s], r[v][:, s], r[s][:, s], system.B[s], system.G[:, s])
    if any(check.norm(block) for block in foreign):
        return None
    return Split(v, s, e[v][:, v], e[s][:, s], j[s][:, v], j[v][:, v], r[v][:, v], system.B[v], system.G[:, v])
