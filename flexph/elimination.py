"""Elimination of constraints by a null-space basis ([flex] eq. (47))."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import qr
from scipy.sparse.csgraph import connected_components

from . import checks as check
from .linear import LinearPHDAE
from .projection import project
from .space import Array

LISTED = 4
"""Constraints that a redundant one follows from, up to which all are named."""


class RedundantConstraintWarning(UserWarning):
    """Constraints depend on each other; the motion is unaffected, their multipliers are not unique."""


def eliminate(system: LinearPHDAE) -> LinearPHDAE:
    """The system without its constraints: x = P x̂ with range P = null G, P̂ᵀ from the left ([flex] sec. 5.3).

    ``Ê = PᵀEP, Ĵ = PᵀJP, R̂ = PᵀRP, B̂ = PᵀB``: a :class:`LinearPHDAE` of the same kind (dense or sparse), whose
    :meth:`~LinearPHDAE.expand` still gives the named parts. P is orthonormal, from a QR factorisation with column
    pivoting of each connected group of constraints; states that no constraint touches stay as they are.

    Warns with :class:`RedundantConstraintWarning`, naming the constraints, where G has not full rank. Raises
    ArithmeticError if ‖G P‖ exceeds round-off.
    """
    if not system.G.shape[0]:
        return system
    basis, redundant = null_space(system.G, system.constraints)
    for names in redundant:
        warnings.warn(
            f"{explain_redundant(names)}; the motion is unaffected, the multipliers are not unique",
            RedundantConstraintWarning,
            stacklevel=2,
        )
    defect = check.norm(system.G @ basis) / check.norm(system.G)
    if defect > check.ROUND_OFF * system.size:
        raise ArithmeticError(f"elimination failed: ‖G P‖/‖G‖ = {defect:.0e}")
    kinetic = None
    if system.kinetic is not None:
        kinetic = np.asarray(abs(basis).T @ system.kinetic.astype(float)).ravel() > 0.5
    return project(system, basis, kinetic=kinetic)


def explain_redundant(names: list[str]) -> str:
    """A sentence on one redundant constraint and those it follows from."""
    first, *others = names
    listed = ", ".join(map(repr, others[:LISTED])) or "nothing (an empty row)"
    more = f" and {len(others) - LISTED} more" if len(others) > LISTED else ""
    return f"redundant constraint: {first!r} follows from {listed}{more}"


def null_space(g: Any, names: tuple[str, ...]) -> tuple[sparse.csr_array, list[list[str]]]:
    """Orthonormal basis of null G, sparse (n, n − rank), and the names of each redundant row with its dependencies.

    Identity on states that G does not touch. The states are grouped by the constraints that link them; each group
    gets its own dense QR.
    """
    g = sparse.csr_array(g)
    g.eliminate_zeros()
    rows, n = g.shape
    link = sparse.block_array([[None, g], [g.T, None]])
    _, label = connected_components(sparse.csr_array(link), directed=False)
    free = np.setdiff1d(np.arange(n), np.unique(g.indices))
    pieces = [sparse.coo_array((np.ones(free.size), (free, np.arange(free.size))), shape=(n, free.size))]
    redundant: list[list[str]] = []
    for group in np.unique(label[:rows]):
        own_rows, own = np.flatnonzero(label[:rows] == group), np.flatnonzero(label[rows:] == group)
        block, dependent = _dense_null_space(g[own_rows][:, own].toarray())
        redundant += [[names[own_rows[i]] for i in involved] for involved in dependent]
        coo = sparse.coo_array(block)
        pieces.append(sparse.coo_array((coo.data, (own[coo.row], coo.col)), shape=(n, block.shape[1])))
    whole = sparse.csc_array(sparse.hstack(pieces))
    order = np.argsort(sparse.csc_array(abs(whole)).argmax(axis=0).ravel(), kind="stable")  # near the given order
    return sparse.csr_array(whole[:, order]), redundant


def _dense_null_space(g: Array) -> tuple[Array, list[list[int]]]:
    """Null space of a dense block, and for each dependent row the rows it depends on (itself included)."""
    if not g.shape[1]:
        return np.zeros((0, 0)), [[k] for k in range(g.shape[0])]
    size = np.linalg.norm(g, axis=1)
    scaled = g / np.where(size > 0.0, size, 1.0)[:, None]
    q, r, pivot = qr(scaled.T, pivoting=True)
    diagonal = np.abs(np.diag(r))
    rank = int(np.sum(diagonal > max(g.shape) * np.finfo(float).eps * 10.0 * max(diagonal[0], 1e-300)))
    dependent = []
    for k in range(rank, len(pivot)):
        weight = np.linalg.solve(r[:rank, :rank], r[:rank, k]) if rank else np.zeros(0)
        involved = [int(pivot[i]) for i in np.flatnonzero(np.abs(weight) > 1e-8)]
        dependent.append([int(pivot[k]), *involved])
    return q[:, rank:], dependent
