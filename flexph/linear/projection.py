"""Congruent projection, the common basis of elimination and reduction of linear systems."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..numerics import checks as check
from ..numerics.arrays import Array
from ..numerics.factors.ldl import semi_definite_product
from ..systems.linear import LinearPHDAE


class ReductionWarning(UserWarning):
    """Warning of a reduced system or body with a large error."""


def project(system: LinearPHDAE, basis: Any, *, kinetic: Array | None = None) -> LinearPHDAE:
    """Congruent projection x = P x̂: ``Ê = PᵀEP, Ĵ = PᵀJP, R̂ = PᵀRP, B̂ = PᵀB, Ĝ = G P``.

    It keeps the kind of system, H and y, for any basis P (n, r) of full column rank, sparse or dense; Ĝ is dropped if
    it is round-off ([flex] eq. (47)). Entries of E and R that are round-off of their terms become zero
    (:func:`flexph.numerics.factors.ldl.semi_definite_product`): stiffness does not damp a rigid motion. The result is
    sparse if the system and P are. ``kinetic`` (r,) marks the new states that are velocities; None if they do not
    split.
    """
    lean = system.is_sparse and sparse.issparse(basis)
    p = sparse.csr_array(basis) if lean else (basis.toarray() if sparse.issparse(basis) else np.asarray(basis))
    e, r = (semi_definite_product(name, a, p) for name, a in (("E", system.E), ("R", system.R)))
    j = p.T @ (system.J @ p)
    left = system.G @ p
    kept = check.norm(left) > check.ROUND_OFF * max(system.G.shape) * check.norm(system.G) * _largest_column(p)
    return LinearPHDAE(
        E=e,
        J=0.5 * (j - j.T),
        R=r,
        B=p.T @ system.B if lean or not system.is_sparse else (system.B.T @ p).T,
        G=left if kept else None,
        ports=system.ports,
        causality=system.causality,
        parts=system.parts,
        constraints=system.constraints if kept else (),
        kinetic=kinetic,
        lift=p if system.lift is None else system.lift @ p,
    )


def _largest_column(p: Any) -> float:
    squares = p.multiply(p) if sparse.issparse(p) else p * p
    return float(np.sqrt(np.max(squares.sum(axis=0), initial=0.0)))
