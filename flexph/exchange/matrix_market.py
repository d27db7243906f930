"""Linear systems as folders of Matrix Market files."""

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
from .general import CHECKSUM, arguments_of, checksum, names_of, refuse_changed

FORMAT = "flexph linear system 2"
NAMES = "system.json"
MATRICES = ("E", "J", "R", "B", "G", "lift")
REQUIRED = 4
"""Number of the first of these matrices that every system has."""
DIGITS = 17
"""Significant digits that restore every double to the bit."""


@checked
def write_matrix_market(folder: str | Path, system: LinearPHDAE) -> Path:
    """Write E.mtx, J.mtx, R.mtx, B.mtx, G.mtx and lift.mtx if there are any, and names in system.json.

    The system is ``E ẋ = (J − R) x + B u + Gᵀλ, 0 = G x, y = Bᵀx``. Sparse matrices are written as coordinates, dense
    ones as arrays, with 17 digits: :func:`read_matrix_market` restores the same bits.

    Parameters
    ----------
    folder : path
        Folder to write; it is created if missing, and files of an earlier system in it are replaced.
    system : LinearPHDAE
        The system.

    Returns
    -------
    Path
        The folder.
    """
    where, system = Path(folder), linear_system(system)
    if where.suffix.lower() in (".mtx", ".mat"):
        raise ValueError(f"folder must be a folder for several files, got {str(folder)!r}")
    where.mkdir(parents=True, exist_ok=True)
    (where / NAMES).unlink(missing_ok=True)  # written last, so that the names never describe older matrices
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
    header = {"format": FORMAT, "sparse": system.is_sparse, "shapes": shapes, **names_of(system)}
    header[CHECKSUM] = checksum(header, contents)
    (where / NAMES).write_text(json.dumps(header, indent=1, ensure_ascii=False), encoding="utf-8")
    return where


@checked
def read_matrix_market(folder: str | Path) -> LinearPHDAE:
    """Read a system from the files of :func:`write_matrix_market`.

    Parameters
    ----------
    folder : path
        Folder written by :func:`write_matrix_market`.

    Returns
    -------
    LinearPHDAE
        The system, with bitwise equal matrices.

    Raises
    ------
    ValueError
        If the files are damaged.
    OSError
        If the folder contains no system.
    """
    where = Path(folder)
    with reading("linear system", where / NAMES):
        header = json.loads(file_bytes(where / NAMES))
        if header.get("format") != FORMAT:
            raise ValueError(f"it must be in the format {FORMAT!r}, got {header.get('format')!r}")
        shapes = _shapes(header["shapes"])
        texts = {name: file_bytes(where / f"{name}.mtx") for name, shape in shapes.items() if min(shape)}
        refuse_changed(header, texts.values())
        size = sum(map(len, texts.values()))
        n, m = shapes["B"]
        named = arguments_of(header, size=n, lifted=shapes.get("lift", shapes["B"])[0], inputs=m)
        return LinearPHDAE(
            **{name: _matrix(name, texts, shapes[name], (header["sparse"], size)) for name in shapes}, **named
        )


def _shapes(header: dict[str, Any]) -> dict[str, tuple[int, int]]:
    """Shapes of the matrices in a header, by name in the order of the files."""
    strange = [*(header.keys() - set(MATRICES)), *(set(MATRICES[:REQUIRED]) - header.keys())]
    if strange:
        raise ValueError(f"shapes must be those of {', '.join(MATRICES)}, got {', '.join(map(repr, header))}")
    return {name: (int(header[name][0]), int(header[name][1])) for name in MATRICES if name in header}


def _matrix(name: str, texts: dict[str, bytes], shape: tuple[int, int], form: tuple[bool, int]) -> Any:
    is_sparse, size = form
    refuse_huge(shape, size)
    if name not in texts:
        return sparse.csr_array(shape) if is_sparse else np.zeros(shape)
    matrix = matrix_market(texts[name].decode("ascii"), size)
    if matrix.shape != shape:
        raise ValueError(f"{name}.mtx must have shape {shape}, got {matrix.shape}")
    return matrix
