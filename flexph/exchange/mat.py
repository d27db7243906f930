"""Linear systems as MATLAB files."""

from __future__ import annotations

import io
import json
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.io import loadmat, savemat

from ..files.durable import refuse_suffix, staged
from ..files.reading import reading, refuse_huge, sound
from ..numerics.arguments import checked
from ..numerics.arrays import dense
from ..systems.linear import LinearPHDAE, linear_system, with_multipliers
from .general import from_general
from .mat_elements import checked_elements
from .names import CHECKSUM, arguments_of, checksum, names_of, refuse_changed

REQUIRED = ("E", "J", "R")
MATRICES = (*REQUIRED, "B", "Q", "P", "S", "N", "G", "lift")
NAMES = "names"

HEADING = b"MATLAB 5.0 MAT-file, written by flexph".ljust(116)
"""First bytes of a file; scipy's default contains the time."""


@checked
def write_mat(path: str | Path, system: LinearPHDAE, *, multipliers: bool = False) -> Path:
    """Write E, J, R, Q, B, P, S, N of ``E ẋ = (J − R) Q x + (B − P) u + Gᵀλ, y = (B + P)ᵀQ x + (S − N) u, 0 = G x``.

    The convention is that of the benchmark collection of port-Hamiltonian systems (Schwerdtner et al., 2021), here with
    Q = 1 and P = S = N = 0; the constraints G are an extension. Sparse matrices stay sparse. ``names`` is a JSON text
    with ports, parts, constraints and velocities (counted from zero).

    Parameters
    ----------
    path : path
        Path with the suffix ``.mat``, in an existing folder.
    system : LinearPHDAE
        The system.
    multipliers : bool
        True to write (x, λ) as states instead, E = diag(E, 0), J = [[J, Gᵀ], [−G, 0]], which has no G and can be read
        by every program that follows the convention.

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
    """Read a system from a MATLAB file; files of :func:`write_mat` are restored to the bit.

    Q defaults to the identity, P, S, N to zero; other values are converted by :func:`flexph.exchange.from_general`. In
    a file without B whose G has as many rows as E, G is taken as the input matrix.

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
                f"it must hold E, J and R, it lacks {', '.join(missing)}; it has {', '.join([*fields, *others])}"
            )
        names = json.loads(str(fields.pop(NAMES).item())) if NAMES in fields else {}
        for matrix in fields.values():
            refuse_huge(matrix.shape, len(content))
        fields = {name: sound(matrix) for name, matrix in fields.items()}
        if names:
            refuse_changed(names, _contents(fields))
        return _system(fields, names, ports)


def _contents(fields: Mapping[str, Any]) -> Iterator[bytes]:
    """Yield matrices as bytes that do not depend on their storage format."""
    for name in sorted(fields):
        matrix = fields[name]
        yield repr((name, sparse.issparse(matrix), *map(int, matrix.shape))).encode()
        if sparse.issparse(matrix):
            entries = sparse.coo_array(sparse.csr_array(matrix).sorted_indices())
            yield from (np.ascontiguousarray(places, "<i8").tobytes() for places in entries.coords)
            matrix = entries.data
        yield np.ascontiguousarray(matrix, "<f8").tobytes()


def _system(fields: dict[str, Any], names: Mapping[str, Any], ports: Any) -> LinearPHDAE:
    """System from the matrices of a file in the convention of :func:`write_mat`."""
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
