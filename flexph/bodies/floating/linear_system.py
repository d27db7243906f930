"""Linear port-Hamiltonian system of a body at rest."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ...numerics.arguments import checked
from ...numerics.arrays import sparse_block_diag, sparse_blocks, widened
from ...numerics.rotations import cross, spins
from ...systems.linear import LinearPHDAE
from ..body import Body
from ..inertia import contract
from ..mean_axes import unshifted

DENSE_LIMIT = 500
"""Number of states up to which matrices are dense, as dense algebra is then faster."""


@checked
def linear_body(body: Body, name: str) -> LinearPHDAE:
    """Linear system of a body at rest ([flex] eq. (45)), with states (v_P, ω, u̇) in body axes and stresses σ; sparse.

    ``E = diag([[M_rr, M_rf], [M_fr, M_ff]], C)``, ``J = [[0, −Dᵀ], [D, 0]]`` with D at u = 0; M is that of eq. (33).

    Parameters
    ----------
    body : Body
        Body.
    name : str
        Prefix of the names of ports and parts, followed by a dot.

    Returns
    -------
    LinearPHDAE
        System of small motions without gravity.
    """
    if body.unshifted is not None:
        return unshifted(linear_body(body.unshifted, name), {name: body})
    M, C, D = matrices_at_rest(body)
    moving, size = M.shape[0], M.shape[0] + C.shape[0]
    rigid = moving - body.size
    parts = _parts(body.dim, rigid - body.dim, body.size, C.shape[0])
    return LinearPHDAE(
        E=sparse_block_diag([M, C]),
        J=sparse_blocks((size, size), [(0, moving, -D.T), (moving, 0, D)]),
        R=_damping(body, contract(body.inertia, about_centre=False).M, rigid),
        parts={f"{name}.{part}": span for part, span in parts.items()},
        kinetic=np.arange(size) < moving,
    )


def matrices_at_rest(body: Body) -> tuple[Any, Any, Any]:
    """Mass matrix M of the velocities (v_P, ω, u̇), compliance C and strain operator D of a body at u = 0, sparse.

    D acts on all velocities and is zero for v_P and ω. A point mass has no ω, a rigid body no stresses.
    """
    c, d, first = contract(body.inertia, about_centre=False), body.dim, body.inertia.shape_first
    n, s = body.size, spins(d) if body.turns else 0
    lever = np.einsum("aij,j->ia", cross(d), body.inertia.first)[:, :s]
    rigid = np.block([[body.mass * np.eye(d), lever], [lever.T, c.J[:s, :s]]])
    coupling = np.vstack([first, c.n[:s]])
    blocks = [(0, 0, rigid), (0, d + s, coupling), (d + s, 0, coupling.T), (d + s, d + s, c.M)]
    mass = sparse_blocks((d + s + n,) * 2, blocks)
    if body.elasticity is None:
        return mass, sparse.csr_array((0, 0)), sparse.csr_array((0, d + s + n))
    D = widened(body.elasticity.strain, d + s, d + s + n)
    return mass, sparse.csr_array(body.elasticity.compliance), D


def _parts(d: int, s: int, n: int, m: int) -> dict[str, slice]:
    edges = np.cumsum([0, d, s, n, m])
    names = ("velocity", "spin", "deformation_rate", "stress")
    return {k: slice(int(edges[i]), int(edges[i + 1])) for i, k in enumerate(names) if edges[i + 1] > edges[i]}


def _damping(body: Body, M: Any, rigid: int) -> Any:
    e, n = body.elasticity, body.size
    if e is None:
        return sparse.csr_array((rigid + n,) * 2)
    blocks = [sparse.csr_array((rigid,) * 2), e.damping(M, np.zeros(n)), sparse.csr_array((e.size,) * 2)]
    return sparse_block_diag(blocks)
