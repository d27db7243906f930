"""Matrices from arrays or files exported by other programs, and checks of their mass and stiffness."""

from __future__ import annotations

import bz2
import gzip
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from ...files.reading import EXPANSION, SPARE, reading, refuse_huge, refuse_misfits, standard_matrix
from ...numerics import checks as check
from ...numerics.arrays import Array
from .matrix_labels import NodalOrder
from .matrix_text import TextMatrix, harwell_boeing, is_harwell_boeing, printed_matrix_market, text_matrix

PRINTED = 1e-6
"""Relative defect of a matrix from another program that counts as rounding of printed digits, and is averaged out."""
HELD = 1e36
"""Number that Abaqus adds to the diagonal of a degree of freedom with a boundary condition."""


def given_matrix(name: str, source: Any, shape: tuple[int, int] | None = None) -> Any:
    """Finite matrix from an array, a scipy sparse matrix or the path of a file, in CSR format if it is sparse.

    The format of a file is recognised by its content: NumPy (.npy), scipy sparse (.npz, ``scipy.sparse.save_npz``),
    Matrix Market, Harwell-Boeing, and the texts of :func:`flexph.bodies.foreign.matrix_text.text_matrix`. Raises
    ValueError for a file that cannot be read, a wrong shape, NaN or infinity. ``name`` is used in messages.
    """
    return _finite(name, file_value(name, source), shape)


def dense_shapes(given: Any, size: int) -> Array:
    """Shapes (size, k) of another program as a dense array, from an array, a sparse matrix or a file."""
    shapes = given_matrix("shapes", given)
    full = shapes.toarray() if sparse.issparse(shapes) else shapes
    return check.array("shapes", full, (size, None))


def file_value(name: str, source: Any) -> Any:
    """Matrix in the file of the path ``source``, else ``source`` itself; raises ValueError for an unreadable file."""
    return _read(name, Path(source)).matrix if isinstance(source, str | Path) else source


def symmetric_matrix(name: str, source: Any, size: int, order: NodalOrder | None = None) -> Any:
    """Symmetric matrix (size, size) from an array, a sparse matrix or a file, sparse.

    A skew part due to rounding of printed digits is averaged out; a larger one raises ValueError. If a file contains
    one triangle, the other one is its mirror image. Rows and columns with labels, from the file or a mapping, are
    sorted to ``order``.
    """
    matrix, labels = source, None
    if isinstance(source, str | Path):
        content = _read(name, Path(source))
        matrix, labels = _completed(content.matrix), content.labels
    matrix = sparse.csr_array(_finite(name, matrix, None))
    if order is not None:
        matrix = sparse.csr_array(order.ordered(name, matrix, labels))
    if matrix.shape != (size, size):
        hint = "; rotational degrees of freedom of nodes are not supported" if matrix.shape[0] > size else ""
        raise ValueError(f"{name} must have shape ({size}, {size}), node by node, got {matrix.shape}{hint}")
    defect, whole = check.norm(matrix - matrix.T), check.norm(matrix)
    if defect > PRINTED * whole:
        raise ValueError(f"{name} must be symmetric: ‖{name} − {name}ᵀ‖/‖{name}‖ = {defect / whole:.0e}")
    _refuse_held(name, matrix, order)
    return sparse.csr_array(0.5 * (matrix + matrix.T))


def _finite(name: str, value: Any, shape: tuple[int, int] | None) -> Any:
    try:
        return check.matrix(name, value, shape or check.two_dimensional(name, value))
    except TypeError:
        raise ValueError(f"{name} must be real numbers") from None


def _completed(matrix: Any) -> Any:
    """Symmetric matrix from one of its triangles, whose entries may be in any order.

    A matrix is a triangle if it has at most one of the entries (i, j) and (j, i) for all i and j. Other matrices are
    returned unchanged.
    """
    if np.ndim(matrix) != 2 or matrix.shape[0] != matrix.shape[1]:
        return matrix
    held = sparse.csr_array(matrix)
    apart = sparse.csr_array(held - sparse.diags_array(held.diagonal()))
    pattern = sparse.csr_array(apart != 0.0)
    if pattern.multiply(pattern.T).count_nonzero():
        return matrix
    return sparse.csr_array(held + apart.T)


def _refuse_held(name: str, matrix: Any, order: NodalOrder | None) -> None:
    held = np.flatnonzero(matrix.diagonal() >= HELD)
    if held.size:
        where = f"row {held[0]}" if order is None else order.word(int(held[0]))
        raise ValueError(
            f"{name} must be without boundary conditions, got {HELD:.0e} on the diagonal at {where} ({held.size} rows "
            "in all), Abaqus' mark of a boundary condition: generate the matrices without *BOUNDARY"
        )


def _read(name: str, path: Path) -> TextMatrix:
    with reading(name, path):
        content = _content(path)
        values = content.matrix.data if sparse.issparse(content.matrix) else content.matrix
        if not np.all(np.isfinite(values)):
            raise ValueError("it must be finite, got NaN or infinity")
        return content


def _content(path: Path) -> TextMatrix:
    """Read the matrix of a file in the format recognised by its first bytes."""
    with path.open("rb") as file:
        start = file.read(14)
    if start.startswith(b"\x93NUMPY"):
        # a memory map cannot be longer than the file, whatever its heading declares
        return TextMatrix(np.array(np.load(path, mmap_mode="r", allow_pickle=False)), None)
    if start.startswith(b"PK"):
        return TextMatrix(_scipy_matrix(path), None)
    text = _text(path, start)
    if text[:14].lower() == "%%matrixmarket":
        return TextMatrix(printed_matrix_market(text), None)
    return TextMatrix(harwell_boeing(text), None) if is_harwell_boeing(text) else text_matrix(text)


def _text(path: Path, start: bytes) -> str:
    """Read the text of a file, which may be compressed."""
    opened = gzip.open if start.startswith(b"\x1f\x8b") else bz2.open if start.startswith(b"BZh") else open
    limit = EXPANSION * path.stat().st_size + SPARE
    with opened(path, "rb") as file:
        content: bytes = file.read(limit + 1)
    if len(content) > limit:
        raise ValueError(f"it expands to more than {EXPANSION} times its size")
    return content.decode("latin-1")


def _scipy_matrix(path: Path) -> Any:
    """Read a matrix of scipy.sparse.save_npz, whose arrays must have the declared lengths."""
    size = refuse_misfits(path)
    matrix = sparse.load_npz(path)
    refuse_huge(matrix.shape, size)
    return standard_matrix(matrix)


def nodal_mass(given: Any, order: NodalOrder) -> Any:
    """Nodal masses m (N, N), sparse, of a mass matrix with the structure M = m ⊗ 1, equal in all directions.

    Raises ValueError for a matrix without this structure.
    """
    count, dim = len(order.numbers), order.dim
    M = symmetric_matrix("mass", given, count * dim, order)
    m = sum((M[i::dim, i::dim] for i in range(1, dim)), start=M[::dim, ::dim]) / dim
    defect, whole = check.norm(M - sparse.kron(m, sparse.eye_array(dim))), check.norm(M)
    if defect > PRINTED * whole:
        sums = ", ".join(f"{'xyz'[i]} {M[i::dim, i::dim].sum():.6g}" for i in range(dim))
        raise ValueError(
            f"mass must be equal in all directions and couple none, M = m ⊗ 1: ‖M − m ⊗ 1‖/‖M‖ = "
            f"{defect / whole:.0e}, total masses {sums} kg; order it node by node (x, y[, z]), or give mapping=, and "
            "take elements whose nodes have translations only"
        )
    check.positive("mass", float(m.sum()), "kg")
    return sparse.csr_array(m)


def refuse_grounded(stiffness: Any, rigid: Array) -> None:
    """Raise ValueError unless the stiffness K resists no rigid motion R: K R must vanish up to rounding in print."""
    force, size = np.abs(stiffness @ rigid), abs(stiffness) @ np.abs(rigid)
    share = np.divide(force, size, out=np.zeros_like(force), where=size > 0.0)
    if share.max() > PRINTED:
        dim = 2 if rigid.shape[1] == 3 else 3
        node = int(np.argmax(share.max(axis=1))) // dim
        raise ValueError(
            f"stiffness must vanish on rigid motions of the nodes, but KR is {share.max():.0e} of its terms at node "
            f"{node}; export it without supports, and check the order and positions of the nodes (numbers=, mapping=)"
        )
