"""Bases of reduced systems: energy-orthonormal, and split if the system is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from ...numerics.arrays import Array
from ...numerics.factors.sparse_null_space import sparse_null_space
from ...numerics.subspaces import orthonormal
from ...systems.linear import LinearPHDAE
from ..elimination import null_space_and_redundancy, project
from ..shifted import Pole, Shifted, Split
from .retained_states import RetainedStates, kept_basis

RIGID = 1e-10
"""Strain of a rigid motion, relative to the terms of which it is the difference: the accuracy of vectors."""
UNSTRAINED = 1e-6
"""Stress of a combination of motions, relative to the stresses of the motions, below which it counts as rigid."""


def stresses(parts: Split, velocities: Array) -> Array:
    """C-orthonormal basis of the stresses C⁻¹D V_v of velocities V_v (n, k); rigid motions have none.

    It makes the reduced stiffness exactly V_vᵀDᵀC⁻¹D V_v.
    """
    strain = parts.D @ velocities
    if not strain.size:
        return np.zeros((len(parts.stresses), 0))
    stress = stress_solver(parts)(strain)
    moved = np.einsum("ij,ij->j", strain, stress)
    terms = (abs(parts.D) @ abs(velocities)) ** 2 / parts.C.diagonal()[:, None]
    return orthonormal(stress[:, moved > RIGID**2 * terms.sum(axis=0)], parts.C, UNSTRAINED)


def stress_solver(parts: Split) -> Callable[[Array], Array]:
    """Function that maps strains ε (m, k) to stresses C⁻¹ε."""
    c = parts.C
    return splu(sparse.csc_array(c)).solve if sparse.issparse(c) else lambda strain: np.linalg.solve(c, strain)


def rigid_motions(shifted: Shifted) -> Any:
    """Basis N of the motions without strain that satisfy the constraints, D N = 0, G N = 0, sparse (n, k).

    The system must split into velocities and stresses. If its matrix P(0) can be factored there are none, k = 0; this
    test is fast and comes first.
    """
    parts = shifted.split
    assert parts is not None
    try:
        shifted.factor(0.0)
    except Pole:
        rows = [sparse.csr_array(a) for a in (parts.D, parts.G)]
        return sparse_null_space(sparse.vstack(rows))[0]
    return sparse.csr_array((shifted.size, 0))


def split_basis(parts: Split, velocities: Array, rigid: int = 0) -> tuple[Array, Array]:
    """Basis diag(V_v, orth(C⁻¹D V_v)) of all states from velocities V_v (n, k), and a mask of its velocities.

    The first ``rigid`` velocities are rigid motions, without stresses.
    """
    stress = stresses(parts, velocities[:, rigid:])
    v, s = velocities.shape[1], stress.shape[1]
    basis = np.zeros((len(parts.velocities) + len(parts.stresses), v + s))
    basis[parts.velocities, :v] = velocities
    basis[parts.stresses, v:] = stress
    return basis, np.arange(v + s) < v


def feasible(g: Any, vectors: Array) -> Array:
    """Vectors changed least so that they satisfy G V = 0: V − Gᵀ(G Gᵀ)⁻¹G V; G (g, n) has full rank.

    Solutions satisfy the constraints to round-off, but their differences only to round-off of the minuend.
    """
    if not g.shape[0]:
        return vectors
    gap = g @ vectors
    if not sparse.issparse(g):
        return vectors - np.linalg.pinv(g) @ gap
    return vectors - g.T @ splu(sparse.csc_array(g @ g.T)).solve(gap)


def projected(
    system: LinearPHDAE, parts: Split | None, vectors: Array, rigid: int = 0, *, kept: RetainedStates | None = None
) -> LinearPHDAE:
    """System reduced to the span of vectors (n, k), the first ``rigid`` of them rigid motions.

    They are velocities, from which the basis of stresses follows, or whole states if ``parts`` is None. ``kept`` states
    and constraints stay in the system; the vectors then reduce only the other states.
    """
    if kept is not None:
        return _with_kept(system, parts, vectors, kept)
    if parts is None:
        return project(system, orthonormal(feasible(system.G, vectors), system.E))
    basis, kinetic = split_basis(parts, orthonormal(feasible(parts.G, vectors), parts.M), rigid)
    return project(system, basis, kinetic=kinetic)


def _with_kept(system: LinearPHDAE, parts: Split | None, vectors: Array, kept: RetainedStates) -> LinearPHDAE:
    """System reduced by the basis diag(1, V_f), which keeps the retained states ([flex] eq. (46)).

    V_f spans the static ``responses`` of ``kept`` and the entries of the vectors at states that are not retained.
    Raises ArithmeticError if constraints that were independent become dependent.
    """
    if parts is None:
        reduced = project(system, kept.velocities(vectors, system.E))
    else:
        velocities, free = kept.velocities(vectors, parts.M), ~kept.others
        flexible = parts._replace(C=parts.C[free][:, free], D=parts.D[free], stresses=parts.stresses[free])
        basis, kinetic = kept_basis(parts, velocities, stresses(flexible, velocities), kept.others)
        reduced = project(system, basis, kinetic=kinetic)
    if reduced.G.shape[0] and null_space_and_redundancy(reduced.G)[1]:
        raise ArithmeticError("constraints of the reduced system depend on each other: name more parts in keep")
    return reduced
