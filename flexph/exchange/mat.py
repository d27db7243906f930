"""Linear systems as MATLAB files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.io import loadmat, savemat

from ..numerics.arrays import dense
from ..systems.as_nonlinear import with_multipliers
from ..systems.linear import LinearPHDAE, linear_system
from .general import from_general
from .names import arguments_of, names_of

REQUIRED = ("E", "J", "R")


def write_mat(path: str | Path, system: LinearPHDAE, *, multipliers: bool = False) -> Path:
    """Fields E, J, R, Q, B, P, S, N of ``E ẋ = (J − R) Q x + (B − P) u + Gᵀλ, y = (B + P)ᵀQ x + (S − N) u, 0 = G x``.

    The convention of the benchmark collection of port-Hamiltonian systems (Schwerdtner et al., 2021), here with Q = 1
    and P = S = N = 0; the constraints G are a field of ours. ``multipliers=True`` writes (x, λ) as states instead,
    E = diag(E, 0), J = [[J, Gᵀ], [−G, 0]]: a system for every reader of the convention, without G. Sparse matrices
    stay sparse. ``names`` is a JSON text with ports, parts, constraints and velocities (counted from zero). Returns the
    path, which must end in ``.mat``, in a folder that exists.
    """
    if Path(path).suffix != ".mat":
        raise ValueError(f"path must end in .mat, got {str(path)!r}")
    if not Path(path).parent.is_dir():
        raise ValueError(f"path must be in a folder that exists, got {str(path)!r}")
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
    written["names"] = json.dumps(names_of(given), ensure_ascii=True)
    savemat(path, written, do_compression=True)
    return Path(path)


def read_mat(path: str | Path, *, ports: Any = None) -> LinearPHDAE:
    """The system of a file in that convention; what :func:`write_mat` wrote comes back to the bit.

    Q defaults to 1, P, S, N to zero; others than these go through :func:`flexph.exchange.from_general`. A file
    without B whose G has as many rows as E has states is one of those in which G is the input matrix. ``ports`` names
    slices of the inputs where the file does not. Raises ValueError for a file that is not there or lacks fields.
    """
    if not Path(path).is_file():
        raise ValueError(f"path must be a .mat file, there is no file {str(path)!r}")
    try:
        content = loadmat(path, spmatrix=False)
    except (OSError, ValueError, NotImplementedError) as error:
        raise ValueError(f"{path} must be a MATLAB file of version 4 to 7.2: {error}") from None
    fields = {name: value for name, value in content.items() if not name.startswith("__")}
    missing = [name for name in REQUIRED if name not in fields]
    if missing:
        raise ValueError(f"{path} must hold E, J and R, it lacks {', '.join(missing)}; it has {', '.join(fields)}")
    names = json.loads(str(fields["names"].item())) if "names" in fields else {}
    n, lean = fields["E"].shape[0], sparse.issparse(fields["E"])
    if "B" not in fields and "G" in fields and fields["G"].shape[0] == n:
        fields["B"] = fields.pop("G")
    kind = sparse.csr_array if lean else dense
    matrices = {
        name: kind(fields[name]) for name in (*REQUIRED, "B", "Q", "P", "S", "N", "G", "lift") if name in fields
    }
    others = arguments_of(names, n) | ({"ports": dict(ports)} if ports else {})
    E, J, R = (matrices.pop(name) for name in REQUIRED)
    B = matrices.pop("B", sparse.csr_array((n, 0)) if lean else np.zeros((n, 0)))
    return from_general(E, J, R, B, **matrices, **others)
