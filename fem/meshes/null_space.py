"""Sparse basis of the coordinates that satisfy a few linear conditions."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from flexph.numerics.ranks import pivots


def null_space(rows: Any) -> sparse.csr_array:
    """Sparse basis Z of the u with rows · u = 0; column pivoting selects the dependent coordinates."""
    full = rows.toarray() if sparse.issparse(rows) else rows
    rank, size = full.shape
    held = np.sort(pivots(full)[:rank])
    kept = np.setdiff1d(np.arange(size), held)
    follow = -np.linalg.solve(full[:, held], full[:, kept])
    i, j = np.nonzero(follow)
    data = np.concatenate([np.ones(len(kept)), follow[i, j]])
    row, column = np.concatenate([kept, held[i]]), np.concatenate([np.arange(len(kept)), j])
    return sparse.csr_array((data, (row, column)), shape=(size, len(kept)))
