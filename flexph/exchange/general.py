"""Conversion of linear port-Hamiltonian systems with Q and feedthrough, and names of a system in files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from scipy import sparse

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array, dense
from ..numerics.factors.signature import check_semi_definite, root_of
from ..numerics.ranks import rank_of
from ..systems.linear import LinearPHDAE

ALGEBRAIC = "feedthrough"
"""Name of the states that carry the feedthrough."""


@checked
def from_general(
    E: Any, J: Any, R: Any, B: Any, *, Q: Any = None, P: Any = None, S: Any = None, N: Any = None, **names: Any
) -> LinearPHDAE:
    """System ``E ẋ = (J − R) Q x + (B − P) u, y = (B + P)ᵀQ x + (S − N) u`` with [[R, P], [Pᵀ, S]] ⪰ 0, N = −Nᵀ.

    The equations are multiplied by Qᵀ, so that the energy is ½xᵀ(QᵀE)x with unchanged states x (Mehrmann and Unger,
    Acta Numerica 32, 2023). Feedthrough is represented exactly by algebraic states w = u with multipliers λ = y, named
    ``feedthrough``:

        E ẋ = (J − R) x + (B − P) w,   0 = −(B + P)ᵀx − (S − N) w + λ,   0 = −w + u,   y = λ,

    or, if P = 0 and N = 0, by as many states as the rank of S: 0 = −w + Lᵀu, y = Bᵀx + L w with S = LLᵀ.

    Parameters
    ----------
    E : matrix
        (n, n), dense or sparse.
    J : matrix
        (n, n), skew-symmetric.
    R : matrix
        (n, n).
    B : matrix
        (n, m).
    Q : matrix, optional
        (n, n), regular, with QᵀE symmetric; identity by default.
    P : matrix, optional
        (n, m); zero by default.
    S : matrix, optional
        (m, m); zero by default.
    N : matrix, optional
        (m, m), skew-symmetric; zero by default.
    **names
        Further arguments of :class:`LinearPHDAE`: ports, parts, G with its constraints, …

    Returns
    -------
    LinearPHDAE
        System in the same states, followed by the states of the feedthrough.

    Raises
    ------
    ValueError
        If a condition fails (the error gives the measured defect) or Q is singular.
    """
    for name, matrix in (("E", E), ("J", J), ("B", B), ("Q", E if Q is None else Q)):
        check.two_dimensional(name, matrix)
    if Q is not None and not _is_identity(Q):
        E, J, R, B, P = _without_q(E, J, R, B, P=P, Q=Q)
    m = check.two_dimensional("B", B)[1]
    P, S, N = (None if a is None or not check.norm(a) else a for a in (P, S, N))
    if P is None and S is None and N is None:
        return LinearPHDAE(E=E, J=J, R=R, B=B, **names)
    S = np.zeros((m, m)) if S is None else check.matrix("S", dense(S), (m, m))
    check.symmetric("S", S)
    if P is None and N is None:
        return _with_rank(E, J, R, B, S=S, names=names)
    N = np.zeros((m, m)) if N is None else check.matrix("N", dense(N), (m, m))
    check.skew("N", N)
    P = np.zeros((E.shape[0], m)) if P is None else P
    eye, wide, b = np.eye(m), sparse.csr_array(P), sparse.csr_array(B)
    skew = [[J, b, None], [-b.T, N, eye], [None, -eye, None]]
    loss = [[R, wide, None], [wide.T, S, None], [None, None, sparse.csr_array((m, m))]]
    inputs = sparse.vstack([sparse.csr_array((E.shape[0] + m, m)), sparse.eye_array(m)])
    return _assembled(E, skew, loss, inputs, names=names)


def _with_rank(E: Any, J: Any, R: Any, B: Any, *, S: Array, names: dict[str, Any]) -> LinearPHDAE:
    check_semi_definite("S", S)
    root = root_of(S)
    r = root.shape[1]
    skew = [[J, None], [None, sparse.csr_array((r, r))]]
    loss = [[R, None], [None, sparse.eye_array(r)]]
    return _assembled(E, skew, loss, sparse.vstack([sparse.csr_array(B), sparse.csr_array(root.T)]), names=names)


def _assembled(E: Any, J: Any, R: Any, B: Any, *, names: dict[str, Any]) -> LinearPHDAE:
    n, total, is_sparse = E.shape[0], B.shape[0], sparse.issparse(E)
    matrix = lambda a: sparse.csr_array(a) if is_sparse else sparse.csr_array(a).toarray()  # noqa: E731
    lean = lambda a: None if a is None else sparse.csr_array(a)  # noqa: E731
    blocks = lambda rows: sparse.block_array([list(map(lean, row)) for row in rows])  # noqa: E731
    extra = total - n
    parts = dict(names.pop("parts", None) or {"state": slice(0, n)})
    lift = names.pop("lift", None)
    lifted = n if lift is None else lift.shape[0]
    if names.get("G") is not None:
        names["G"] = matrix(
            sparse.hstack([sparse.csr_array(names["G"]), sparse.csr_array((names["G"].shape[0], extra))])
        )
    if names.get("kinetic") is not None:
        names["kinetic"] = np.append(names["kinetic"], np.zeros(extra, dtype=bool))
    return LinearPHDAE(
        E=matrix(sparse.block_diag([sparse.csr_array(E), sparse.csr_array((extra, extra))])),
        J=matrix(blocks(J)),
        R=matrix(blocks(R)),
        B=matrix(B),
        parts={**parts, ALGEBRAIC: slice(lifted, lifted + extra)},
        lift=None if lift is None else matrix(sparse.block_diag([sparse.csr_array(lift), sparse.eye_array(extra)])),
        **names,
    )


def _is_identity(Q: Any) -> bool:
    n = Q.shape[0]
    return Q.shape == (n, n) and check.norm(sparse.csr_array(Q) - sparse.eye_array(n)) == 0.0


def _without_q(E: Any, J: Any, R: Any, B: Any, *, P: Any, Q: Any) -> tuple[Any, ...]:
    """Matrices E, J, R, B and P of the same system in the form with Q = 1: the equations are multiplied by Qᵀ.

    Raises ValueError for a singular Q and for QᵀE that is not symmetric.
    """
    n = E.shape[0]
    Q = check.matrix("Q", Q, (n, n))
    scaled = dense(Q) if n <= 2000 else None
    if scaled is not None and rank_of(scaled) < n:
        raise ValueError("Q must be regular: states without energy and without an equation would be lost")
    R = 0.0 * J if R is None else R
    E, J, R = Q.T @ E, Q.T @ J @ Q, Q.T @ R @ Q
    check.symmetric("QᵀE", E)
    return 0.5 * (E + E.T), 0.5 * (J - J.T), 0.5 * (R + R.T), Q.T @ B, None if P is None else Q.T @ P


CHECKSUM = "sha256"
"""Key of the checksum over a file or folder."""


def names_of(system: LinearPHDAE) -> dict[str, Any]:
    """Names of a system as plain data for files: ports, causality, parts, constraints, and indices of velocities.

    Ports and parts are ``name: [start, stop]``. The indices of velocities are None if they are unknown.
    """
    spans = lambda named: {name: [s.start or 0, s.stop] for name, s in named.items()}  # noqa: E731
    return {
        "ports": spans(system.ports),
        "causality": dict(system.causality),
        "parts": spans(system.parts),
        "constraints": list(system.constraints),
        "kinetic": None if system.kinetic is None else np.flatnonzero(system.kinetic).tolist(),
    }


def arguments_of(names: Mapping[str, Any], *, size: int, lifted: int, inputs: int) -> dict[str, Any]:
    """Arguments of :class:`LinearPHDAE` from the data ``names`` of :func:`names_of`.

    ``size`` and ``inputs`` are the numbers of states and inputs, ``lifted`` that of states before constraints were
    eliminated. Raises ValueError for slices beyond these numbers.
    """
    kinetic = names.get("kinetic")
    return {
        "ports": _slices("ports", names, inputs),
        "causality": dict(names.get("causality", {})),
        "parts": _slices("parts", names, lifted),
        "constraints": tuple(names.get("constraints", ())),
        "kinetic": None if kinetic is None else np.isin(np.arange(size), kinetic),
    }


def checksum(header: Mapping[str, Any], contents: Iterable[bytes]) -> str:
    """SHA-256 checksum of a file's header, without the entry for the checksum, and of its contents as bytes."""
    digest = hashlib.sha256()
    rest = {name: value for name, value in header.items() if name != CHECKSUM}
    for content in (json.dumps(rest, sort_keys=True).encode(), *contents):
        digest.update(len(content).to_bytes(8, "little"))
        digest.update(content)
    return digest.hexdigest()


def refuse_changed(header: Mapping[str, Any], contents: Iterable[bytes]) -> None:
    """Raise ValueError if the header of a file or its contents do not have the checksum in the header."""
    if header.get(CHECKSUM) != checksum(header, contents):
        raise ValueError("the file was changed after writing: its checksum differs")


def _slices(kind: str, names: Mapping[str, Any], limit: int) -> dict[str, slice]:
    slices = {name: slice(*span) for name, span in names.get(kind, {}).items()}
    for name, span in slices.items():
        if not 0 <= span.start <= span.stop <= limit:
            raise ValueError(f"{kind} must lie within 0 and {limit}, got {name!r} from {span.start} to {span.stop}")
    return slices
