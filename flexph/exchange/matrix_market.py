"""Linear systems as folders of Matrix-Market files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.io import mmwrite

from ..files.matrix_market import matrix_market
from ..files.reading import file_bytes, reading, refuse_huge
from ..numerics.arguments import checked
from ..systems.linear import LinearPHDAE, linear_system
from .names import CHECKSUM, arguments_of, checksum, names_of, refuse_changed

FORMAT = "flexph linear system 2"
NAMES = "system.json"
MATRICES = ("E", "J", "R", "B", "G", "lift")
REQUIRED = 4
"""Matrices, of these, that a system has."""
DIGITS = 17
"""Significant digits that bring every double back to the bit."""


@checked
def write_matrix_market(folder: str | Path, system: LinearPHDAE) -> Path:
    """``E.mtx, J.mtx, R.mtx, B.mtx``, where there are any ``G.mtx`` and ``lift.mtx``, and the names in ``system.json``.

    ``E ẋ = (J − R) x + B u + Gᵀλ, 0 = G x, y = Bᵀx``. Sparse matrices are written as coordinates, dense ones as arrays,
    with 17 digits: :func:`read_matrix_market` gives the same bits.

    Parameters
    ----------
    folder : path
        Is made where it does not exist; files of a system written there before are replaced.
    system : LinearPHDAE
        The system.

    Returns
    -------
    Path
        The folder.
    """
    where, system = Path(folder), linear_system(system)
    if where.suffix.lower() in (".mtx", ".mat"):
        raise ValueError(f"folder must be that of several files, got {str(folder)!r}")
    where.mkdir(parents=True, exist_ok=True)
    (where / NAMES).unlink(missing_ok=True)  # first gone and last there: no names beside matrices of another system
    shapes, contents = {}, []
    for name in MATRICES:
        path, matrix = where / f"{name}.mtx", getattr(system, name)
        path.unlink(missing_ok=True)
        if matrix is None:
            continue
        shapes[name] = list(matrix.shape)
        if min(matrix.shape):
            written = sparse.coo_array(matrix) if sparse.issparse(matrix) else matrix
            mmwrite(path, written, field="real", precision=DIGITS, symmetry="general")
            contents.append(path.read_bytes())
    told = {"format": FORMAT, "sparse": system.is_sparse, "shapes": shapes, **names_of(system)}
    told[CHECKSUM] = checksum(told, contents)
    (where / NAMES).write_text(json.dumps(told, indent=1, ensure_ascii=False), encoding="utf-8")
    return where


@checked
def read_matrix_market(folder: str | Path) -> LinearPHDAE:
    """The system that :func:`write_matrix_market` wrote.

    Parameters
    ----------
    folder : path
        A folder that :func:`write_matrix_market` wrote.

    Returns
    -------
    LinearPHDAE
        The system, to the bit.

    Raises
    ------
    ValueError
        For a damaged one.
    OSError
        For a folder that holds none.
    """
    where = Path(folder)
    with reading("linear system", where / NAMES):
        told = json.loads(file_bytes(where / NAMES))
        if told.get("format") != FORMAT:
            raise ValueError(f"it must be in the format {FORMAT!r}, got {told.get('format')!r}")
        shapes = _shapes(told["shapes"])
        texts = {name: file_bytes(where / f"{name}.mtx") for name, shape in shapes.items() if min(shape)}
        refuse_changed(told, texts.values())
        size = sum(map(len, texts.values()))
        n, m = shapes["B"]
        named = arguments_of(told, size=n, lifted=shapes.get("lift", shapes["B"])[0], inputs=m)
        return LinearPHDAE(
            **{name: _matrix(name, texts, shapes[name], (told["sparse"], size)) for name in shapes}, **named
        )


def _shapes(told: dict[str, Any]) -> dict[str, tuple[int, int]]:
    """Shapes by name, in the order in which the matrices were written."""
    strange = [*(told.keys() - set(MATRICES)), *(set(MATRICES[:REQUIRED]) - told.keys())]
    if strange:
        raise ValueError(f"shapes must be those of {', '.join(MATRICES)}, got {', '.join(map(repr, told))}")
    return {name: (int(told[name][0]), int(told[name][1])) for name in MATRICES if name in told}


def _matrix(name: str, texts: dict[str, bytes], shape: tuple[int, int], form: tuple[bool, int]) -> Any:
    is_sparse, size = form
    refuse_huge(shape, size)
    if name not in texts:
        return sparse.csr_array(shape) if is_sparse else np.zeros(shape)
    matrix = matrix_market(texts[name].decode("ascii"), size)
    if matrix.shape != shape:
        raise ValueError(f"{name}.mtx must have shape {shape}, got {matrix.shape}")
    return matrix
