"""Parts of a linear system that contribute to the response from given inputs to given outputs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import eig, qr, svdvals
from scipy.sparse.csgraph import connected_components

from ...display.bars import bar
from ...numerics.arrays import Array
from ...systems.linear import LinearPHDAE
from ..state_space import StateSpace

LINK = 1e-14
"""Entry, relative to the largest of its row and of its column, in units of energy, below which it is no link: round-off
of directions rotated by right angles."""
NOISE = 1e3 * np.finfo(float).eps
"""Change of ‖A‖ by round-off of the elimination."""
CLOSE = 1e-10
"""Distance of a zero from a pole, relative to ‖A‖, within which the mode may be uncontrollable or unobservable."""
HIDDEN = 1e-12
"""Smallest singular value of [A − sI, B], relative to ‖A‖, below which the mode at s is absent from the response."""
NEIGHBOURS = 40
"""Number of modes near s among which the smallest singular value is sought, accurate to two digits, as round-off mixes
modes by ε‖A‖ divided by their distance."""


def linked(free: LinearPHDAE, rows: list[int], columns: list[int]) -> LinearPHDAE:
    """Subsystem of the states that entries of E, J and R link to both an input and an output."""
    _, label = connected_components(_links(free), directed=False)
    b = sparse.csc_array(free.B)
    seen, moved = (np.unique(label[b[:, which].indices]) for which in (rows, columns))
    kept = np.flatnonzero(np.isin(label, np.intersect1d(seen, moved)))
    if kept.size == free.size:
        return free
    part = {name: getattr(free, name)[kept][:, kept] for name in "EJR"}
    kinetic = None if free.kinetic is None else free.kinetic[kept]
    return replace(free, **part, B=free.B[kept], G=None, constraints=(), kinetic=kinetic, parts={}, lift=None)


def _links(free: LinearPHDAE) -> Any:
    diagonal = np.asarray(free.E.diagonal())
    unit = sparse.diags_array(1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0)))
    kept = []
    for a in (free.E, free.J, free.R):
        entries = sparse.coo_array(abs(unit @ sparse.csr_array(a) @ unit))
        largest = sparse.csr_array(entries).max(axis=1).toarray().ravel()  # of rows and of columns: |A| is symmetric
        real = entries.data > LINK * np.minimum(largest[entries.row], largest[entries.col])
        kept.append(sparse.coo_array((entries.data[real], (entries.row[real], entries.col[real])), shape=a.shape))
    return sparse.csr_array(sum(sparse.csr_array(a) for a in kept))


def transmits(model: StateSpace, poles: Array) -> Array:
    """Mask (p, m) of the entries of H(s) above round-off at some s > 0 between the lowest and the highest pole.

    Round-off of size ε‖A‖ in A changes H by ε‖A‖ ‖C(s − A)⁻¹‖ ‖(s − A)⁻¹B‖.
    """
    a, b, c, d = model
    moduli = np.abs(poles[np.abs(poles) > NOISE]) if poles.size else poles.real
    points = np.quantile(moduli, [0.0, 0.1, 0.5, 1.0]) if moduli.size else np.ones(1)
    answers = d != 0.0
    for s in points:
        shifted = s * np.eye(len(a)) - a
        x, w = np.linalg.solve(shifted, b), np.linalg.solve(shifted.T, c.T)
        noise = NOISE * np.outer(np.linalg.norm(w, axis=0), np.linalg.norm(x, axis=0))
        answers = answers | (np.abs(c @ x + d) > noise)
    return np.asarray(answers)


def transmitted(zeros: Array, model: StateSpace, poles: Array, *, progress: bool) -> Array:
    """Zeros at which both [A − sI, B] and [A − sI; C] have full rank; assumes ‖A‖ = ‖B‖ = ‖C‖ = 1."""
    a, b, c, _ = model
    near = np.abs(zeros[:, None] - poles).min(axis=1, initial=np.inf) < CLOSE
    candidates = np.flatnonzero(near & (zeros.imag >= 0.0))
    keep = np.ones(zeros.size, dtype=bool)
    if not candidates.size:
        return zeros
    values, left, right = eig(a, left=True)
    for i in bar(candidates.tolist(), delay=1.0, shown=progress, unit="zero"):
        next_to = np.argsort(np.abs(values - zeros[i]))[:NEIGHBOURS]
        s = values[next_to[0]]  # at a pole everything except the ports' view is round-off
        keep[i] = not (_hidden(a, c, s, right[:, next_to]) or _hidden(a.T, b.T, np.conj(s), left[:, next_to]))
    mirrored = np.isin(zeros.conj(), zeros[~keep]) & (zeros.imag < 0.0)  # of a real matrix: pairs stay together
    return zeros[keep & ~mirrored]


def _hidden(a: Array, c: Array, s: complex, vectors: Array) -> bool:
    """True if [A − sI; C] loses rank in a space of modes that contains those at s."""
    basis = qr(vectors, mode="economic")[0]
    return bool(svdvals(np.vstack([a @ basis - s * basis, c @ basis]))[-1] <= HIDDEN)
