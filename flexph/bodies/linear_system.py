"""A body as a linear port-Hamiltonian system."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from ..numerics.rotations import cross, spins
from ..systems.linear import LinearPHDAE
from .body import Body
from .inertia import contract
from .mean_axes import unshifted

DENSE_LIMIT = 500
"""States up to which dense matrices are made: below, dense algebra is faster."""


def linear_body(body: Body, name: str) -> LinearPHDAE:
    """A body at rest ([flex] eq. (45)): velocities of P in body axes (v_P, ω, u̇) and stresses σ, sparse.

    ``E = diag([[M_rr, M_rf], [M_fr, M_ff]], C)``, ``J = [[0, −Dᵀ], [D, 0]]`` with D at u = 0; M is eq. (33).
    """
    if body.unshifted is not None:
        return unshifted(linear_body(body.unshifted, name), {name: body})
    c, d = contract(body.inertia, about_centre=False), body.dim
    basis, n, s = cross(d), body.size, spins(d) if body.turns else 0
    lever = np.einsum("aij,j->ia", basis, body.inertia.first)[:, :s]
    mass = sparse.block_array(
        [
            [
                body.mass * sparse.eye_array(d),
                sparse.csr_array(lever),
                sparse.csr_array(body.inertia.shape_first),
            ],
            [sparse.csr_array(lever.T), sparse.csr_array(c.J[:s, :s]), sparse.csr_array(c.n[:s])],
            [sparse.csr_array(body.inertia.shape_first.T), sparse.csr_array(c.n[:s].T), c.M],
        ]
    )
    elastic = body.elasticity
    C = sparse.csr_array((0, 0)) if elastic is None else sparse.csr_array(elastic.compliance)
    D = sparse.csr_array((0, n)) if elastic is None else sparse.csr_array(elastic.strain)
    before = sparse.csr_array((D.shape[0], d + s))
    strain = sparse.hstack([before, D])
    J = sparse.block_array([[None, -strain.T], [strain, None]])
    kinetic = np.arange(d + s + n + D.shape[0]) < d + s + n
    parts = {f"{name}.{part}": sl for part, sl in _parts(d, s, n, D.shape[0]).items()}
    return LinearPHDAE(
        E=sparse.block_diag([mass, C]).tocsr(),
        J=sparse.csr_array(J),
        R=_damping(body, c.M, d + s),
        parts=parts,
        kinetic=kinetic,
    )


def _parts(d: int, s: int, n: int, m: int) -> dict[str, slice]:
    edges = np.cumsum([0, d, s, n, m])
    names = ("velocity", "spin", "deformation_rate", "stress")
    return {k: slice(int(edges[i]), int(edges[i + 1])) for i, k in enumerate(names) if edges[i + 1] > edges[i]}


def _damping(body: Body, M: Any, rigid: int) -> Any:
    e, n = body.elasticity, body.size
    if e is None:
        return sparse.csr_array((rigid + n,) * 2)
    blocks = [sparse.csr_array((rigid,) * 2), e.damping(M, np.zeros(n)), sparse.csr_array((e.size,) * 2)]
    return sparse.block_diag(blocks).tocsr()


def to_dense(system: LinearPHDAE) -> LinearPHDAE:
    """The system with dense matrices."""
    full = lambda a: a.toarray() if sparse.issparse(a) else a  # noqa: E731
    return replace(system, **{name: full(getattr(system, name)) for name in ("E", "J", "R", "B", "G")})
