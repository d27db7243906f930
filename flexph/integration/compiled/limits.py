"""Mechanisms that the compiled loops are not for: their bands are too wide, or their closed loops too many."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee

from ...bodies.body import Body
from .build import constants
from .filters import NARROW, UNKNOWNS
from .redundancy import MOST_ROWS
from .workspace import constants_of_redundant

if TYPE_CHECKING:
    from ...mechanisms.model.model import Model

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


def is_wide(mechanism: Model) -> bool:
    """Whether the bands are too wide: many bodies that meet in one, a full matrix of a large body, or a large solid."""
    if any(_is_solid(body) for body in mechanism.frames.values()) or _products(mechanism) > MANY:
        return True
    border = mechanism.once(constants).border
    unknowns, width = (float(i) for i in border.size)
    return unknowns * width**2 + float(border.inners @ border.width.astype(float) ** 2) > WIDE


def _products(mechanism: Model) -> float:
    """Products of slopes that the strains of a mechanism are sums of."""
    a = mechanism.network.arrays
    sizes = np.diff(sparse.csr_array(a.slopes).indptr).astype(float)
    return float(np.square(sizes)[sparse.coo_array(a.weights).col].sum())


def _is_solid(body: Body) -> bool:
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


def has_full_matrices(mechanism: Model) -> bool:
    """Whether a body is too large for loops over full matrices, and has no band or a wide one."""
    return any(body.size > FULL and not _is_narrow(body) for body in mechanism.frames.values())


def _is_narrow(body: Body) -> bool:
    """Whether loops over banded matrices of a large body in steps that lose energy cost little."""
    if body.elasticity is None:
        return False
    width = _width(body) + 1.0
    return body.size > NARROW * width and UNKNOWNS**3 * body.size * width**2 <= WIDE


def has_many_loops(mechanism: Model) -> bool:
    """Whether closed loops have more constraints than the compiled search for dependent ones takes."""
    return mechanism.once(constants_of_redundant).redundancy.row.size > MOST_ROWS
