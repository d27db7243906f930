"""Linear systems as MATLAB files, whose elements are checked before scipy reads them.

With a wrong tag, scipy's reader would read beyond its memory. Checksums of compressed elements are verified.
"""

from __future__ import annotations

import io
import json
import math
import struct
import warnings
import zlib
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.io import loadmat, savemat

from ..files.durable import refuse_suffix, staged
from ..files.reading import reading, refuse_huge, standard_matrix
from ..numerics.arguments import checked
from ..numerics.arrays import dense
from ..systems.linear import LinearPHDAE, linear_system, with_multipliers
from .general import CHECKSUM, arguments_of, checksum, from_general, names_of, refuse_changed

HEADER = 128
MATRIX, COMPRESSED = 14, 15
CHAR, SPARSE = 4, 5
NUMERIC = range(6, 16)
COMPLEX = 0x0800
SIZES = {1: 1, 2: 1, 3: 2, 4: 2, 5: 4, 6: 4, 7: 4, 9: 8, 12: 8, 13: 8}
"""Bytes of the numeric data types."""
TEXTS = {**SIZES, 16: 1, 17: 2, 18: 4}
"""Bytes of the character data types."""
RATIO = 1032
"""Largest compression ratio of zlib."""


class Part(NamedTuple):
    """Tagged part of an element: its data type and its bytes."""

    kind: int
    data: bytes


def checked_elements(content: bytes, names: Collection[str]) -> tuple[bytes, list[str]]:
    """Uncompressed bytes of the header and of the elements ``names`` of a file, and the names of all other elements.

    Raises ValueError for a file of another version, and for an element that is truncated, damaged, complex, or neither
    numbers nor text. Files of version 4, with a zero among their first four bytes, are returned unchanged.
    """
    if len(content) >= 4 and 0 in content[:4]:
        return content, []
    order = {b"IM": "<", b"MI": ">"}.get(content[126:HEADER])
    if order is None or struct.unpack(order + "H", content[124:126])[0] != 0x0100:
        raise ValueError("it must be a MATLAB file of version 4 to 7.2")
    wanted, others = [], []
    for kind, data in _elements(content[HEADER:], order):
        if kind == COMPRESSED:
            ((kind, data),) = _elements(_decompressed(data), order)
        if kind != MATRIX:
            raise ValueError(f"it must be made of matrices, got an element of type {kind}")
        flags, dimensions, name, *values = _elements(data, order)
        if name.data.decode("ascii") not in names:
            others.append(name.data.decode("ascii"))
            continue
        _refuse_misfits(name.data.decode("ascii"), (flags, dimensions, *values), order)
        wanted.append(struct.pack(order + "II", MATRIX, len(data)) + data)
    return content[:HEADER] + b"".join(wanted), others


def _elements(content: bytes, order: str) -> Iterator[Part]:
    """Yield the tagged parts of ``content``, each checked to end within it.

    A small part has its data in the tag. ``order`` is the byte order, "<" or ">".
    """
    at = 0
    while at < len(content):
        kind, size = struct.unpack_from(order + "II", content, at)
        start, padding = at + 8, 0 if kind == COMPRESSED else -size % 8
        if kind >> 16:
            kind, size, start, padding = kind & 0xFFFF, kind >> 16, at + 4, 4 - (kind >> 16)
        if size > len(content) - start or padding < 0:
            raise ValueError("it ends within an element")
        yield Part(kind, content[start : start + size])
        at = start + size + padding


def _decompressed(data: bytes) -> bytes:
    inflating = zlib.decompressobj()
    content = inflating.decompress(data, RATIO * len(data) + 64)
    if not inflating.eof or inflating.unused_data:
        raise ValueError("it ends within a compressed element")
    return content


def _refuse_misfits(name: str, parts: tuple[Part, ...], order: str) -> None:
    """Raise ValueError unless the flags, dimensions and values of the matrix ``name`` are consistent.

    ``parts`` are the tagged parts of its element; ``order`` is the byte order, "<" or ">".
    """
    flags, dimensions, *values = parts
    word, _ = struct.unpack(order + "II", flags.data)
    shape = struct.unpack(f"{order}{len(dimensions.data) // 4}i", dimensions.data)
    kinds = [value.kind for value in values]
    if word & COMPLEX:
        raise ValueError(f"{name} must be real, got complex numbers")
    if (flags.kind, dimensions.kind) != (6, 5) or len(shape) != 2 or min(shape) < 0:
        raise ValueError(f"{name} must be a matrix of numbers with two dimensions, got shape {shape}")
    if word & 0xFF == SPARSE:
        fits = len(kinds) == 3 and kinds[:2] == [5, 5] and kinds[2] in SIZES
        fits = fits and len(values[1].data) == 4 * (shape[1] + 1)
    else:
        sizes = TEXTS if word & 0xFF == CHAR else SIZES if word & 0xFF in NUMERIC else {}
        fits = len(kinds) == 1 and kinds[0] in sizes
        # Characters in UTF-8 and UTF-16 may take more than one byte each.
        fits = fits and (kinds[0] > 15 or len(values[0].data) == math.prod(shape) * sizes[kinds[0]])
    if not fits:
        raise ValueError(f"the values of {name} do not fit its shape {shape}")


REQUIRED = ("E", "J", "R")
MATRICES = (*REQUIRED, "B", "Q", "P", "S", "N", "G", "lift")
NAMES = "names"

HEADING = b"MATLAB 5.0 MAT-file, written by flexph".ljust(116)
"""First bytes of a file; scipy's default contains the time."""


@checked
def write_mat(path: str | Path, system: LinearPHDAE, *, multipliers: bool = False) -> Path:
    """Write E, J, R, Q, B, P, S, N of ``E ẋ = (J − R) Q x + (B − P) u + Gᵀλ, y = (B + P)ᵀQ x + (S − N) u, 0 = G x``.

    The convention is that of the benchmark collection of port-Hamiltonian systems (Schwerdtner et al., 2021), here with
    Q = 1 and P = S = N = 0; the constraints G are an extension. Sparse matrices remain sparse. ``names`` is a JSON
    text with ports, parts, constraints and velocities (counted from zero).

    Parameters
    ----------
    path : path
        Path with the suffix ``.mat``, in an existing folder.
    system : LinearPHDAE
        The system.
    multipliers : bool
        True to write (x, λ) as states instead, E = diag(E, 0), J = [[J, Gᵀ], [−G, 0]], which has no G and can be read
        by any program that uses the convention.

    Returns
    -------
    Path
        Path of the file.
    """
    refuse_suffix("a linear system", path, (".mat",))
    if not Path(path).parent.is_dir():
        raise ValueError(f"path must be in an existing folder, got {str(path)!r}")
    given = with_multipliers(linear_system(system)) if multipliers else linear_system(system)
    n, m = given.B.shape
    empty = sparse.csc_array if given.is_sparse else np.zeros
    fields: dict[str, Any] = {"E": given.E, "J": given.J, "R": given.R, "B": given.B}
    fields["Q"] = sparse.eye_array(n, format="csc") if given.is_sparse else np.eye(n)
    fields |= {"P": empty((n, m)), "S": empty((m, m)), "N": empty((m, m))}
    if not multipliers:
        fields["G"] = given.G
    if given.lift is not None:
        fields["lift"] = given.lift
    written = {name: sparse.csc_array(a) if sparse.issparse(a) else a for name, a in fields.items()}
    header = names_of(given)
    header[CHECKSUM] = checksum(header, _contents(written))
    # Names come first: a truncated file then has names with a wrong checksum, not matrices without names.
    content = io.BytesIO()
    savemat(content, {NAMES: json.dumps(header, ensure_ascii=True), **written}, do_compression=True)
    with staged(path) as part:
        part.write_bytes(HEADING + content.getvalue()[len(HEADING) :])
    return Path(path)


@checked
def read_mat(path: str | Path, *, ports: Any = None) -> LinearPHDAE:
    """Read a system from a MATLAB file.

    Systems written by :func:`write_mat` are restored bit by bit. Q is the identity by default, P, S, N are zero; other
    values are converted by :func:`flexph.exchange.from_general`. In a file without B whose G has as many rows as E, G
    is the input matrix.

    Parameters
    ----------
    path : path
        MATLAB file, ``.mat``.
    ports : mapping, optional
        Slices of the inputs by name, for files without names.

    Returns
    -------
    LinearPHDAE
        The system.

    Raises
    ------
    ValueError
        If the file is damaged or lacks fields.
    OSError
        If the file does not exist.
    """
    with reading("linear system", path):
        content, others = checked_elements(Path(path).read_bytes(), (*MATRICES, NAMES))
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # scipy warns if it reads a file only in part
            fields = loadmat(io.BytesIO(content), spmatrix=False, variable_names=(*MATRICES, NAMES))
        fields = {name: fields[name] for name in (*MATRICES, NAMES) if name in fields}
        missing = [name for name in REQUIRED if name not in fields]
        if missing:
            raise ValueError(
                f"it must contain E, J and R, it lacks {', '.join(missing)}; it has {', '.join([*fields, *others])}"
            )
        names = json.loads(str(fields.pop(NAMES).item())) if NAMES in fields else {}
        for matrix in fields.values():
            refuse_huge(matrix.shape, len(content))
        fields = {name: standard_matrix(matrix) for name, matrix in fields.items()}
        if names:
            refuse_changed(names, _contents(fields))
        return _system(fields, names, ports)


def _contents(fields: Mapping[str, Any]) -> Iterator[bytes]:
    """Yield names, shapes and entries of matrices as bytes, independent of their format, for a checksum."""
    for name in sorted(fields):
        matrix = fields[name]
        yield repr((name, sparse.issparse(matrix), *map(int, matrix.shape))).encode()
        if sparse.issparse(matrix):
            entries = sparse.coo_array(sparse.csr_array(matrix).sorted_indices())
            yield from (np.ascontiguousarray(places, "<i8").tobytes() for places in entries.coords)
            matrix = entries.data
        yield np.ascontiguousarray(matrix, "<f8").tobytes()


def _system(fields: dict[str, Any], names: Mapping[str, Any], ports: Any) -> LinearPHDAE:
    """System from the matrices of a file in the convention of :func:`write_mat`.

    ``names`` is the data of :func:`flexph.exchange.general.names_of`; ``ports`` replace its ports, if given.
    """
    n, lean = fields["E"].shape[0], sparse.issparse(fields["E"])
    if "B" not in fields and "G" in fields and fields["G"].shape[0] == n:
        fields["B"] = fields.pop("G")
    kind = sparse.csr_array if lean else dense
    E, J, R = (kind(fields.pop(name)) for name in REQUIRED)
    B = kind(fields.pop("B")) if "B" in fields else sparse.csr_array((n, 0)) if lean else np.zeros((n, 0))
    matrices = {name: kind(matrix) for name, matrix in fields.items()}
    lifted = fields["lift"].shape[0] if "lift" in fields else n
    others = arguments_of(names, size=n, lifted=lifted, inputs=B.shape[1]) | ({"ports": dict(ports)} if ports else {})
    return from_general(E, J, R, B, **matrices, **others)
