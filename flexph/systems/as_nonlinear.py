"""Conversion of linear systems to nonlinear ones, with multipliers as states."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ..numerics.arguments import checked
from .derivatives import Derivatives
from .linear import LinearPHDAE
from .nonlinear import PHDAE


@checked
def from_linear(system: LinearPHDAE) -> PHDAE:
    """Convert a linear system to a :class:`PHDAE`; its multipliers become states (part ``multipliers``).

    Parameters
    ----------
    system : LinearPHDAE
        A linear system, with or without constraints.

    Returns
    -------
    PHDAE
        System with the same equations as functions of the state.
    """
    whole = with_multipliers(system)
    parts = {**whole.parts, "multipliers": slice(system.size, whole.size)} if system.lift is None else {}
    identity = np.eye(whole.size)
    return PHDAE(
        E=whole.E,
        J=whole.J,
        R=whole.R,
        B=whole.B,
        z=lambda x: x,
        H=whole.energy,
        sample=np.ones(whole.size),
        ports=whole.ports,
        parts=parts,
        derivatives=Derivatives(costate=lambda x: identity),
    )


@checked
def with_multipliers(system: LinearPHDAE) -> LinearPHDAE:
    """Equivalent system with (x, λ) as states and no G: E = diag(E, 0), J = [[J, Gᵀ], [−G, 0]].

    Parameters
    ----------
    system : LinearPHDAE
        A linear system with constraints ``0 = G x``.

    Returns
    -------
    LinearPHDAE
        System without constraints, with n + k states.
    """
    rows = system.G.shape[0]
    if not rows:
        return system
    n = system.size
    as_matrix = sparse.csr_array if system.is_sparse else (lambda a: a.toarray())
    return LinearPHDAE(
        E=as_matrix(sparse.block_diag([sparse.csr_array(system.E), sparse.csr_array((rows, rows))]).tocsr()),
        J=as_matrix(sparse.block_array([[system.J, system.G.T], [-system.G, None]]).tocsr()),
        R=as_matrix(sparse.block_diag([sparse.csr_array(system.R), sparse.csr_array((rows, rows))]).tocsr()),
        B=as_matrix(sparse.vstack([sparse.csr_array(system.B), sparse.csr_array((rows, system.B.shape[1]))]).tocsr()),
        ports=system.ports,
        causality=system.causality,
        parts=system.parts,
        kinetic=None if system.kinetic is None else np.append(system.kinetic, np.zeros(rows, dtype=bool)),
        lift=None
        if system.lift is None
        else sparse.hstack([system.lift, sparse.csr_array((len(system.expand(np.zeros(n))), rows))]),
    )
