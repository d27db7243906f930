"""Conversion from and to pyMOR's PHLTIModel."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from ..linear.elimination import eliminate
from ..linear.state_space import state_space
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import dense
from ..systems.linear import LinearPHDAE
from .general import from_general

PROJECTED = 1e-9
"""Accepted relative defect of symmetry after a projection; 2e-12 was observed."""


@checked
def to_pymor(system: LinearPHDAE) -> Any:
    """Convert to a ``pymor.models.iosys.PHLTIModel`` with Q = 1.

    The model is ``E ẋ = (J − R) x + (G − P) u, y = (G + P)ᵀ x + (S − N) u``. Constraints are eliminated; without
    constraints E, J, R and G = B are unchanged, sparse or dense, with P = S = N = 0. If E is singular, algebraic states
    are eliminated, too (:func:`flexph.linear.state_space.state_space`), which can give nonzero P, S and N. pyMOR stores
    no names: inputs are the columns of B.

    Parameters
    ----------
    system : LinearPHDAE
        The system.

    Returns
    -------
    PHLTIModel
        The pyMOR model.

    Raises
    ------
    ImportError
        If pyMOR is not installed (extra ``pymor``).
    """
    model, free = _model(), eliminate(system)
    if np.all(free.E.diagonal() > 0.0):
        J, R, E = (sparse.csc_array(m) if free.is_sparse else m for m in (free.J, free.R, free.E))
        return model.from_matrices(J, R, dense(free.B), E=E)
    a, b, c, d = state_space(free)
    symmetric, skew = 0.5 * (d + d.T), 0.5 * (d.T - d)
    return model.from_matrices(
        0.5 * (a - a.T), -0.5 * (a + a.T), 0.5 * (b + c.T), P=0.5 * (c.T - b), S=symmetric, N=skew
    )


@checked
def from_pymor(model: Any, *, ports: Mapping[str, slice] | None = None) -> LinearPHDAE:
    """Convert a ``PHLTIModel``, reduced or full, to a :class:`LinearPHDAE`.

    Q, P, S and N are converted as in :func:`flexph.exchange.from_general`.

    Parameters
    ----------
    model : PHLTIModel
        Model in continuous time, without parameters.
    ports : mapping, optional
        Slices of the inputs by name; by default ``u`` for all.

    Returns
    -------
    LinearPHDAE
        The system.

    Raises
    ------
    ValueError
        If the model is of another kind, in discrete time, or has parameters.
    """
    kind = _model()
    from pymor.algorithms.to_matrix import to_matrix

    if not isinstance(model, kind):
        raise ValueError(
            f"model must be a PHLTIModel, got {type(model).__name__}; see PHLTIModel.from_passive_LTIModel"
        )
    if model.sampling_time:
        raise ValueError(f"model must be continuous in time, got a sampling time of {model.sampling_time} s")
    if model.parameters:
        raise ValueError(f"model must have no parameters, it has {', '.join(model.parameters)}")
    every = ("E", "J", "R", "G", "Q", "P", "S", "N")
    taken = {name: to_matrix(getattr(model, name)) for name in every}
    lean = all(sparse.issparse(taken[name]) for name in "EJR")
    matrices = {name: sparse.csr_array(m) if lean else dense(m) for name, m in taken.items()}
    E, J, R = (_symmetric_part(name, matrices[name], sign) for name, sign in (("E", 1.0), ("J", -1.0), ("R", 1.0)))
    B = matrices["G"]
    return from_general(
        E, J, R, B, Q=matrices["Q"], P=matrices["P"], S=matrices["S"], N=matrices["N"], ports=dict(ports or {})
    )


def _symmetric_part(name: str, a: Any, sign: float) -> Any:
    """Symmetric part (``sign`` 1) or skew-symmetric part (−1) of a matrix, whose other part must be round-off.

    Raises ValueError, with the matrix ``name``, if the other part is larger than the round-off of a projection.
    """
    rest = check.norm(a - sign * a.T)
    if rest > PROJECTED * check.norm(a):
        kind = "symmetric" if sign > 0.0 else "skew-symmetric"
        raise ValueError(f"{name} of the model must be {kind}, it is so up to {rest / check.norm(a):.0e} only")
    return 0.5 * (a + sign * a.T)


def _model() -> Any:
    try:
        from pymor.models.iosys import PHLTIModel
    except ImportError:
        raise ImportError('pyMOR is not installed: pip install "flexph[pymor]"') from None
    return PHLTIModel
