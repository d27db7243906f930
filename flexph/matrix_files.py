"""Matrices from arrays or files, as other programs export them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.io import mmread

from . import checks as check

PRINTED = 1e-6
"""Relative defect of a matrix from another program that counts as its printed digits, and is averaged away."""
ENDINGS = (".mtx", ".mtx.gz", ".npy", ".npz")


def given_matrix(name: str, source: Any, shape: tuple[int, int] | None = None) -> Any:
    """A finite matrix, CSR if it is sparse, from an array, a scipy sparse matrix or the path of a file.

    Files are Matrix Market (.mtx, .mtx.gz), NumPy (.npy) or scipy sparse (.npz, ``scipy.sparse.save_npz``). Raises
    ValueError for a file that cannot be read, another shape, NaN or infinity.
    """
    value = _read(name, Path(source)) if isinstance(source, str | Path) else source
    try:
        return check.matrix(name, value, shape or check.two_dimensional(name, value))
    except TypeError:
        raise ValueError(f"{name} must be real numbers") from None


def symmetric_matrix(name: str, source: Any, size: int) -> Any:
    """A symmetric matrix (size, size), sparse; what its printed digits leave of a skew part is averaged away."""
    made = sparse.csr_array(given_matrix(name, source, (size, size)))
    defect, whole = check.norm(made - made.T), check.norm(made)
    if defect > PRINTED * whole:
        raise ValueError(f"{name} must be symmetric: ‖{name} − {name}ᵀ‖/‖{name}‖ = {defect / whole:.0e}")
    return sparse.csr_array(0.5 * (made + made.T))


def _read(name: str, path: Path) -> Any:
    if not path.is_file():
        raise ValueError(f"{name} cannot be read: there is no file {str(path)!r}")
    if not path.name.endswith(ENDINGS):
        raise ValueError(f"{name} must be a file of type {', '.join(ENDINGS)}, got {path.name!r}")
    try:
        if path.suffix == ".npy":
            return np.load(path, allow_pickle=False)
        found = sparse.load_npz(path) if path.suffix == ".npz" else mmread(path)
    except Exception as error:  # readers raise what their formats' parsers do
        raise ValueError(f"{name} cannot be read from {str(path)!r}: {error}") from error
    return sparse.csr_array(found) if sparse.issparse(found) else found
