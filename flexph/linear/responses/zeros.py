"""Transmission zeros and damping ratios, and the parts of a system between given inputs and outputs."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import eig, eigvals, qr, svdvals
from scipy.sparse.csgraph import connected_components

from ...display.bars import bar
from ...numerics import checks as check
from ...numerics.arguments import computing
from ...numerics.arrays import Array, dense
from ...numerics.ranks import rank_of, singular_vectors
from ...systems.linear import LinearPHDAE, unknowns
from ..eigenmodes.modes import poles
from ..eigenmodes.pencils import balanced
from ..elimination import eliminate
from ..state_space import StateSpace, state_space
from .channels import Names, channels

RANK = 1e-11
"""Relative singular value that counts as zero in the staircase: orthogonal steps lose a few digits."""


@computing(unknowns)
def zeros(system: LinearPHDAE, *, output: Names = None, input: Names = None, progress: bool = True) -> Array:
    """Finite transmission zeros s of y = H(s) u, at which H(s) loses rank.

    They are the finite eigenvalues of the Rosenbrock pencil ``[[A − sE, B], [C, 0]]``. Infinite ones are not filtered
    by their size but removed first by orthogonal staircase steps (Emami-Naeini and Van Dooren, Automatica 18, 1982),
    after constraints and algebraic states (:func:`flexph.linear.state_space.state_space`) and all states that nothing
    links to these inputs and outputs. Uncontrollable and unobservable modes are left out, as they are poles and zeros
    at once, and so are inputs and outputs whose response is zero to round-off. Dense.

    The zeros between one port's force and velocity are the poles of the system with that port held: they lie in
    Re s ≤ 0, and without dissipation alternate with the poles on the imaginary axis.

    Parameters
    ----------
    system : LinearPHDAE
        System; constraints are eliminated.
    output, input : str or sequence of str, optional
        Ports, or components of ports as ``port[i]``; by default all.
    progress : bool
        True to show a progress bar for long runs.

    Returns
    -------
    Array
        Zeros [1/s], complex, by ascending modulus.

    Raises
    ------
    ValueError
        If H is identically zero.

    Examples
    --------
    The velocity of a mass on a spring, per force on it, is zero at rest:

    >>> import numpy as np
    >>> from flexph import LinearPHDAE
    >>> from flexph.linear import zeros
    >>> J, B = np.array([[0.0, -1.0], [1.0, 0.0]]), np.array([[1.0], [0.0]])
    >>> oscillator = LinearPHDAE(E=np.diag([2.0, 0.125]), J=J, B=B, ports={"force": slice(0, 1)})
    >>> bool(abs(zeros(oscillator)[0]) < 1e-9)
    True
    """
    asked = channels(system, output, input)
    model = state_space(transmitting_subsystem(eliminate(system), asked.rows, asked.columns))
    a, b, c, d = model.between(asked.columns, asked.rows)
    unit = float(np.linalg.norm(a)) or 1.0
    size_b, size_c = float(np.linalg.norm(b)) or 1.0, float(np.linalg.norm(c)) or 1.0
    a, b, c, d = a / unit, b / size_b, c / size_c, d * unit / (size_b * size_c)
    values = eigvals(a)
    answers = transmitting_entries(StateSpace(a, b, c, d), values)
    if not np.any(answers):
        raise ValueError(f"the response from {asked.inputs} to {asked.outputs} is identically zero")
    rows, columns = answers.any(axis=1), answers.any(axis=0)
    b, c, d = b[:, columns], c[rows], d[np.ix_(rows, columns)]
    a2, b2, c2, d2 = _staircase(a, b, c, d)
    turned = _staircase(a2.T, c2.T, b2.T, d2.T)
    a2, c2, b2, d2 = (part.T for part in turned)  # D has full row and column rank
    finite = eigvals(a2 - b2 @ np.linalg.solve(d2, c2)).astype(complex) if len(a2) else np.zeros(0, dtype=complex)
    finite = transmission_zeros(finite, StateSpace(a, b, c, d), values, progress=progress) * unit
    return finite[np.argsort(np.abs(finite), kind="stable")]


def _staircase(a: Array, b: Array, c: Array, d: Array) -> tuple[Array, Array, Array, Array]:
    """System (A, B, C, D) with the same finite zeros, whose D has full row rank.

    Outputs without D are differentiated, and states that zero outputs hold at zero are removed.
    """
    while True:
        factors = singular_vectors(d, tolerance=RANK, size=1.0)
        if (rank := factors.rank) == d.shape[0]:
            return a, b, c, d
        c, d = factors.left.T @ c, factors.left.T @ d
        held = singular_vectors(c[rank:], tolerance=RANK, size=1.0, economy=True).rows
        kept = held.shape[1]
        if kept == 0:
            return a, b, c[:rank], d[:rank]
        a, b, c = _rotated(held, a, b, c)
        # the fixed states are zero: their equations become outputs
        c, d = np.vstack([c[:rank, kept:], a[:kept, kept:]]), np.vstack([d[:rank], b[:kept]])
        a, b = a[kept:, kept:], b[kept:]


def _rotated(held: Array, a: Array, b: Array, c: Array) -> tuple[Array, Array, Array]:
    """Matrices QᵀAQ, QᵀB, CQ in coordinates in which the directions ``held`` come first.

    Q is a product of Householder reflections.
    """
    (reflectors, weights), _ = qr(held, mode="raw")
    for k, weight in enumerate(weights):
        v = np.concatenate([np.zeros(k), [1.0], reflectors[k + 1 :, k]])
        a = a - weight * np.outer(v, v @ a)
        a -= np.outer(a @ v, weight * v)
        b, c = b - weight * np.outer(v, v @ b), c - np.outer(c @ v, weight * v)
    return a, b, c


class DampingRatios(NamedTuple):
    """Natural frequencies ω = |s| [rad/s], ascending, (k,), and damping ratios ζ = −Re s/|s|, (k,).

    Attributes
    ----------
    omega : array
        Natural frequencies ω (k,) [rad/s].
    ratio : array
        Damping ratios ζ (k,).
    """

    omega: Array
    ratio: Array


@computing(unknowns)
def damping_ratios(system: LinearPHDAE, count: int | None = None) -> DampingRatios:
    """Natural frequencies ``ω = |s|`` and damping ratios ``ζ = −Re s/|s|`` of the lowest poles s with Im s ≥ 0.

    A complex pair is listed once, and so is a real pole (ζ = 1); poles at zero, counted by the rank of J − R, are left
    out. Dense.

    Parameters
    ----------
    system : LinearPHDAE
        The system; constraints are eliminated.
    count : int, optional
        Number of poles; by default all.

    Returns
    -------
    DampingRatios
        ``omega`` (count,) [rad/s], ascending, and ``ratio`` (count,).

    Examples
    --------
    >>> import numpy as np
    >>> from flexph import LinearPHDAE
    >>> from flexph.linear import damping_ratios
    >>> E, J = np.diag([1.0, 0.04]), np.array([[0.0, -1.0], [1.0, 0.0]])
    >>> damped = LinearPHDAE(E=E, J=J, R=np.diag([6.0, 0.0]))  # s² + 6 s + 25 = 0
    >>> omega, ratio = damping_ratios(damped)
    >>> omega.round(9), ratio.round(9)
    (array([5.]), array([0.6]))
    """
    if count is not None:
        check.count("count", count)
    s = moving_poles(system)[:count]
    return DampingRatios(np.abs(s), np.clip(-s.real / np.abs(s), -1.0, 1.0))


def moving_poles(system: LinearPHDAE) -> Array:
    """Nonzero poles of a system with Im s ≥ 0, by ascending modulus; constraints are eliminated."""
    free = eliminate(system)
    every = poles(free)
    every = every[poles_at_zero(free) :]
    return every[every.imag >= 0.0]


def poles_at_zero(free: LinearPHDAE) -> int:
    """Number of poles at zero: the dimension of the kernel of J − R, as no Jordan chains occur."""
    a = dense(free.J) - dense(free.R)
    return int(a.shape[0] - rank_of(a))


def lowest_vectors(free: LinearPHDAE, count: int) -> tuple[Array, Array]:
    """Lowest ``count`` nonzero poles with Im s ≥ 0 of a system without constraints, and their vectors (n, k)."""
    e, a, scale = balanced(dense(free.E), dense(free.J) - dense(free.R))
    values, vectors = eig(a, e)
    finite = np.isfinite(values)
    values, vectors = values[finite], scale[:, None] * vectors[:, finite]
    order = np.argsort(np.abs(values), kind="stable")[poles_at_zero(free) :]
    order = order[values[order].imag >= 0.0][:count]
    return values[order], vectors[:, order]


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


def transmitting_subsystem(free: LinearPHDAE, rows: list[int], columns: list[int]) -> LinearPHDAE:
    """Part of a system whose states are linked, over entries of E, J and R, to both a requested output and input.

    ``rows`` and ``columns`` are the columns of B of these outputs and inputs.
    """
    _, label = connected_components(_links(free), directed=False)
    b = sparse.csc_array(free.B)
    observed, driven = (np.unique(label[b[:, which].indices]) for which in (rows, columns))
    kept = np.flatnonzero(np.isin(label, np.intersect1d(observed, driven)))
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


def transmitting_entries(model: StateSpace, poles: Array) -> Array:
    """True for each entry (p, m) of H(s) that exceeds round-off at some s > 0 between the lowest and the highest pole.

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


def transmission_zeros(zeros: Array, model: StateSpace, poles: Array, *, progress: bool) -> Array:
    """Those of the given zeros s that are no hidden modes: both [A − sI, B] and [A − sI; C] have full rank.

    Hidden modes are uncontrollable or unobservable. The scaling ‖A‖ = ‖B‖ = ‖C‖ = 1 is assumed.
    """
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
    """True if [A − sI; C] loses rank in the span of vectors, which contains the modes at s."""
    basis = qr(vectors, mode="economic")[0]
    return bool(svdvals(np.vstack([a @ basis - s * basis, c @ basis]))[-1] <= HIDDEN)
