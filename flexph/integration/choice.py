"""What takes the steps of a run of a mechanism: compiled loops, or NumPy and why."""

from __future__ import annotations

from collections.abc import Set
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee

from ..bodies.body import Body
from ..bodies.nodal_body import NodalBody
from .loops.build import constants
from .loops.filters import NARROW, UNKNOWNS
from .methods.method import MechanismMethod

if TYPE_CHECKING:
    from ..mechanisms.mechanism import Mechanism
    from ..mechanisms.model.model import Model

LOOPS = "compiled loops"
WIDE = 1e8
"""Operations of a banded factorisation beyond which the sparse one of the NumPy kernels is faster."""
FULL = 100
"""Coordinates beyond which LAPACK is faster than loops over full matrices, which the decaying scheme has of bodies that
are not banded."""
MANY = 1e7
"""Products of slopes in the strains beyond which loops over them, which every residual has, are no faster; arrays of
them are not made then, which takes a minute for plates of triangles."""
LARGE = 500
"""Coordinates of a body below which no band is too wide."""


def numpy_because(mechanism: Mechanism, method: MechanismMethod) -> str | None:
    """Why there are no compiled loops for a run, or None; ValueError where they are asked for and cannot be had."""
    refused = mechanism.once(_refused)
    if method.compiled and refused:
        raise ValueError(f"compiled=True cannot be had: {refused}")
    if not method.may_compile:
        return "compiled=False" if method.compiled is False else f"there are no loops of {method.name}"
    if refused:
        return refused
    if method.name == "decaying" and not method.compiled and mechanism.once(_has_full_matrices):
        return "the full matrices of a body, which Decaying() has, are too large for loops"
    return "bands of the Jacobian are too wide" if not method.compiled and mechanism.once(_is_wide) else None


def left_to_numpy(times: Set[float]) -> str:
    """What to add to LOOPS where steps that begin at some times [s] were left to NumPy; nothing where none was."""
    if not times:
        return ""
    count = f"{len(times)} steps" if len(times) > 1 else "one step"
    first = f"the first from t = {min(times):.6g} s" if len(times) > 1 else f"from t = {min(times):.6g} s"
    return f", but {count} by NumPy ({first}), which the loops did not solve: shorter steps avoid it"


def _refused(mechanism: Model) -> str | None:
    reasons = {
        "a large body about mean axes is not: reduce it": any(b.unshifted for b in mechanism.frames.values()),
        "a solid of finite strain is not yet": any(map(_is_solid, mechanism.bodies.values())),
    }
    return next((reason for reason, holds in reasons.items() if holds), None)


def _is_solid(body: Any) -> bool:
    """Whether a body is one of nodes that are no neighbours along a line."""
    return isinstance(body, NodalBody) and body.turning < len(body.frames) and body.coordinates is None


def _is_wide(mechanism: Model) -> bool:
    """Whether the bands are too wide: many bodies that meet in one, a full matrix of a large body, or a large solid."""
    if any(_is_large_solid(body) for body in mechanism.frames.values()) or _products(mechanism) > MANY:
        return True
    border = mechanism.once(constants).border
    unknowns, width = (float(i) for i in border.size)
    return unknowns * width**2 + float(border.inners @ border.width.astype(float) ** 2) > WIDE


def _products(mechanism: Model) -> float:
    """Products of slopes that the strains of a mechanism are sums of."""
    a = mechanism.network.arrays
    sizes = np.diff(sparse.csr_array(a.slopes).indptr).astype(float)
    return float(np.square(sizes)[sparse.coo_array(a.weights).col].sum())


def _is_large_solid(body: Body) -> bool:
    """Whether a large body has a wide band in any order, as solids have: asked before arrays are made for the loops."""
    return body.size >= LARGE and body.elasticity is not None and body.size * _width(body) ** 2 > WIDE


def _width(body: Body) -> float:
    """Bandwidth of the stiffness of a body that deforms, in the order of the loops."""
    assert body.elasticity is not None
    strain = sparse.csr_array(body.elasticity.strain)
    linked = sparse.csr_array((np.ones(strain.nnz), strain.indices, strain.indptr), shape=strain.shape)
    pattern = sparse.coo_array(linked.T @ linked)
    place = np.argsort(reverse_cuthill_mckee(sparse.csr_array(pattern), symmetric_mode=True))
    return float(np.abs(place[pattern.row] - place[pattern.col]).max())


def _has_full_matrices(mechanism: Model) -> bool:
    """Whether a body is too large for loops over full matrices, and has no band or a wide one."""
    return any(body.size > FULL and not _is_narrow(body) for body in mechanism.frames.values())


def _is_narrow(body: Body) -> bool:
    """Whether loops over banded matrices of a large body in steps that lose energy cost little."""
    if body.elasticity is None:
        return False
    width = _width(body) + 1.0
    return body.size > NARROW * width and UNKNOWNS**3 * body.size * width**2 <= WIDE
