"""Linear systems as folders of Matrix-Market files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.io import mmread, mmwrite

from ..systems.linear import LinearPHDAE, linear_system
from .names import arguments_of, names_of

FORMAT = "flexph linear system 1"
NAMES = "system.json"
DIGITS = 17
"""Significant digits that bring every double back to the bit."""


def write_matrix_market(folder: str | Path, system: LinearPHDAE) -> Path:
    """``E.mtx, J.mtx, R.mtx, B.mtx``, where there are any ``G.mtx`` and ``lift.mtx``, and the names in ``system.json``.

    ``E ẋ = (J − R) x + B u + Gᵀλ, 0 = G x, y = Bᵀx``. Sparse matrices are written as coordinates, dense ones as arrays,
    with 17 digits: :func:`read_matrix_market` gives the same bits. The folder is made where it does not exist; files
    of a system written there before are replaced. Returns the folder.
    """
    where, system = Path(folder), linear_system(system)
    where.mkdir(parents=True, exist_ok=True)
    matrices = {"E": system.E, "J": system.J, "R": system.R, "B": system.B, "G": system.G, "lift": system.lift}
    shapes = {}
    for name, matrix in matrices.items():
        path = where / f"{name}.mtx"
        path.unlink(missing_ok=True)
        if matrix is None:
            continue
        shapes[name] = list(matrix.shape)
        if min(matrix.shape):
            written = sparse.coo_array(matrix) if sparse.issparse(matrix) else matrix
            mmwrite(path, written, field="real", precision=DIGITS, symmetry="general")
    told = {"format": FORMAT, "sparse": system.is_sparse, "shapes": shapes, **names_of(system)}
    (where / NAMES).write_text(json.dumps(told, indent=1, ensure_ascii=False), encoding="utf-8")
    return where


def read_matrix_market(folder: str | Path) -> LinearPHDAE:
    """The system that :func:`write_matrix_market` wrote; ValueError for a folder that holds none."""
    where = Path(folder)
    try:
        told = json.loads((where / NAMES).read_text(encoding="utf-8"))
    except (OSError, json.JSONDecodeError) as error:
        raise ValueError(f"folder must hold a linear system with its {NAMES}: {error}") from None
    if told.get("format") != FORMAT:
        raise ValueError(f"{where / NAMES} must be in the format {FORMAT!r}, got {told.get('format')!r}")
    matrices = {name: _read(where / f"{name}.mtx", shape, told["sparse"]) for name, shape in told["shapes"].items()}
    return LinearPHDAE(**matrices, **arguments_of(told, told["shapes"]["E"][0]))


def _read(path: Path, shape: list[int], lean: bool) -> Any:
    if not min(shape):
        return sparse.csr_array(tuple(shape)) if lean else np.zeros(shape)
    matrix = mmread(path)
    if list(matrix.shape) != shape:
        raise ValueError(f"{path} must have shape {tuple(shape)}, got {matrix.shape}")
    return sparse.csr_array(matrix) if sparse.issparse(matrix) else matrix
