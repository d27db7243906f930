"""Lowest modes of DᵀC⁻¹D v = ω²M v for large sparse systems, certified to be complete, and motions without strain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import cholesky, qr, solve_triangular
from scipy.sparse.linalg import splu

from ...numerics.arrays import Array
from ...numerics.factors.positive_definite import CondensedStiffness, condensed
from ...numerics.factors.sparse_null_space import sparse_null_space
from .lanczos import Complement, lanczos, lowest_square, may_have_missed_modes
from .shift_invert import CondensedPencil, CountedPencil, MixedPencil, Pencil, ritz, stresses

SPARE = 6
"""Number of additional modes, among which a gap between two frequencies is sought."""
WIDER = 4
"""Ratio of requested to additional modes if completeness is tested by random vectors."""
SHIFTS = 6
"""Largest number of factors to find a shift; one or two are usual, plates as thin as 1e-5 of their side need more."""
SEARCHES = 5
"""Largest number of Lanczos runs, each in the complement of the modes found before; one is usual."""
LOW, ROUND_OFF, NEAR = 1e-10, 1e3 * np.finfo(float).eps, 1e-2
"""First shift relative to the lowest K_ii/M_ii, least shift to the highest, and largest shift to the lowest ω² > 0."""
GAP, SAFE = 1e-6, 0.1
"""Smallest relative gap between two frequencies for a cut, and the share of it that a factor's error may take."""

_UNTOLD = (
    "the {count} lowest modes could not be separated from higher ones in {searches} searches; request another number "
    "of them"
)


@dataclass(frozen=True, eq=False)
class LowestModes:
    """Lowest k modes of M and K = DᵀC⁻¹D: frequencies ω > 0 (k,), ascending [rad/s].

    ``velocity`` (n, k) are their shapes with vᵀMv = 1, ``stress`` (m, k) their stresses with σᵀCσ = 1. ``rigid`` is the
    number of motions without strain.
    """

    frequencies: Array
    velocity: Array
    stress: Array
    rigid: int


def lowest_modes(m: Any, c: Any, d: Any, count: int) -> LowestModes | None:
    """Lowest ``count`` modes of DᵀC⁻¹D v = ω²M v, and the number of motions without strain.

    M (n, n), C (m, m) and D (m, n) are sparse. The result is None if the requested modes and the motions without strain
    are nearly all n motions.

    Motions without strain, the null space of D, are found first, by inverse iteration or by rank, and the Lanczos
    method works in their complement. The shift s of K + s M is positive and far above round-off. Sylvester's law of
    inertia certifies that no mode is missed: for ω between two frequencies beyond the requested ones, the factor of K −
    ω²M has as many negative pivots as there are motions without strain and modes below ω. Raises ArithmeticError if
    that cannot be certified.
    """
    local = condensed(c, d)
    prepared = None if local is None else _condensed_pencil(m, c, d, local)
    if prepared is None:
        return _modes_of_mixed_matrix(m, c, d, count)
    pencil, rigid = prepared
    modes = certified_modes(pencil, rigid, count)
    if modes is not None and modes.frequencies[0] <= STRAIN_FREE * np.sqrt(pencil.highest):
        raise ArithmeticError(
            "a motion without strain was mistaken for a mode: compute dense modes of a smaller system"
        )
    return modes


def _condensed_pencil(m: Any, c: Any, d: Any, local: CondensedStiffness) -> tuple[CondensedPencil, Complement] | None:
    """Pencil of M and the assembled stiffness K with a suitable shift, and complement of its motions without strain.

    None if K has lost the digits of the lowest ω² > 0. The first shift is low enough for solids that are not slender;
    the lowest frequency that it reveals sets the next.
    """
    strained = np.diff(d.indptr) > 0
    ratios = (local.stiffness.diagonal() / m.diagonal())[strained]
    least = ROUND_OFF * ratios.max()
    shift = max(LOW * ratios.min(), least)
    for _ in range(SHIFTS):
        try:
            pencil = CondensedPencil(m, c, d, local=local, shift=shift)
        except ValueError:  # lost in round-off
            shift, least = 100.0 * shift, 100.0 * shift
            continue
        free = strain_free_motions(pencil)
        if shift <= NEAR * free.lowest:
            return pencil, Complement(m, free.motions)
        if shift <= least:
            return None
        shift = max(0.1 * NEAR * free.lowest, 1e-4 * shift, least)
    return None


def _modes_of_mixed_matrix(m: Any, c: Any, d: Any, count: int) -> LowestModes | None:
    """Lowest modes from the mixed matrix of M, C and D, which keeps more digits than K.

    None if nearly all modes of the system would be needed. The shift follows from a first result for the lowest ω².
    """
    complement = Complement(m, sparse_null_space(d)[0])
    size, wanted = m.shape[0], count + SPARE
    if complement.count + wanted >= size - 1:
        return None
    unit = _low_square(m, c, d)  # unit of frequency, with which the mixed matrix is well scaled
    c, shift = sparse.csc_array(unit * c), 1.0
    for _ in range(SHIFTS):
        pencil = MixedPencil(m, c, d, shift)
        lowest = lowest_square(pencil, complement)
        if NEAR * lowest <= shift <= lowest:
            break
        shift = 0.1 * lowest
    else:
        raise ArithmeticError(
            f"the lowest modes were not found with {SHIFTS} shifts; compute dense modes of a smaller system"
        )
    modes = certified_modes(pencil, complement, count)
    if modes is None:
        return None
    root = float(np.sqrt(unit))
    return LowestModes(root * modes.frequencies, modes.velocity, root * modes.stress, modes.rigid)


def certified_modes(pencil: CountedPencil, rigid: Complement, count: int) -> LowestModes | None:
    """Lowest ``count`` modes in addition to the motions ``rigid``, certified to be complete.

    They are sought until the inertia of K − ω²M shows that no mode is missed. None if the modes that are needed for
    this and the rigid motions are nearly all motions. Raises ArithmeticError if completeness cannot be certified.
    """
    n, wanted = pencil.m.shape[0], count + SPARE
    vectors = np.zeros((n, 0))
    for _ in range(SEARCHES):
        if rigid.count + vectors.shape[1] + wanted >= n - 1:
            return None
        complement = Complement(pencil.m, _side_by_side(rigid.motions, vectors))
        vectors = np.hstack([vectors, lanczos(pencil, wanted, complement)])
        frequencies, velocity = ritz(pencil, vectors)
        cut = _gap_after(frequencies, count)
        if cut is None:  # a cluster: continue beyond it
            wanted = count + SPARE
            continue
        missing = _below(pencil, frequencies, velocity, cut) - rigid.count - cut
        if missing < 0:
            raise ArithmeticError(
                f"found {cut} modes below {np.sqrt(frequencies[cut - 1] * frequencies[cut]):.6g} rad/s and "
                f"{rigid.count} rigid ones, but Sylvester's law of inertia counts {rigid.count + cut + missing} in "
                "all; request another number of modes"
            )
        if not missing:
            frequencies, velocity = frequencies[:count], velocity[:, :count]
            return LowestModes(frequencies, velocity, stresses(pencil, frequencies, velocity), rigid.count)
        wanted = missing + SPARE
    raise ArithmeticError(_UNTOLD.format(count=count, searches=SEARCHES))


def lowest_shapes(pencil: Pencil, count: int) -> Array | None:
    """Shapes (n, count) of the lowest modes of a pencil that has no motions without strain, with one factorisation.

    The search ends when a test with random vectors reveals no missed mode, with an error probability of 1e-9
    (:func:`flexph.linear.eigenmodes.lanczos.may_have_missed_modes`). None if the modes that are needed for this are
    nearly all motions. Raises ArithmeticError if modes cannot be separated from higher ones.
    """
    n = pencil.m.shape[0]
    wanted = count + max(SPARE, count // WIDER)
    vectors = np.zeros((n, 0))
    for _ in range(SEARCHES):
        if vectors.shape[1] + wanted >= n - 1:
            return None
        complement = Complement(pencil.m, vectors)
        frequencies, vectors = ritz(pencil, np.hstack([vectors, lanczos(pencil, wanted, complement)]))
        if not may_have_missed_modes(pencil, Complement(pencil.m, vectors), frequencies[count - 1]):
            return vectors[:, :count]
    raise ArithmeticError(_UNTOLD.format(count=count, searches=SEARCHES))


def _side_by_side(motions: Any, vectors: Array) -> Any:
    """Basis with the columns of motions, then of vectors; sparse if there are no vectors."""
    if not vectors.shape[1]:
        return motions
    return np.hstack([motions.toarray() if sparse.issparse(motions) else motions, vectors])


def _gap_after(frequencies: Array, count: int) -> int | None:
    """Number of modes, at least ``count``, below the widest relative gap of the frequencies.

    None if the gap is too narrow.
    """
    gaps = frequencies[count:] / frequencies[count - 1 : -1] - 1.0
    widest = int(np.argmax(gaps))
    return count + widest if gaps[widest] > GAP else None


def _below(pencil: CountedPencil, frequencies: Array, velocity: Array, cut: int) -> int:
    """Number of all modes, rigid ones included, below the middle of the gap after the first ``cut`` frequencies.

    The number follows from the inertia of K − ω²M. ``velocity`` are the shapes of the modes found so far. Raises
    ArithmeticError if the error of the factor is too large for the gap.
    """
    low, high = frequencies[cut - 1], frequencies[cut]
    middle = float(np.sqrt(low * high))
    negative, error = pencil.inertia(middle, velocity)
    if error > SAFE * (high**2 - low**2):
        raise ArithmeticError(
            f"completeness of the modes below {middle:.6g} rad/s could not be certified: the factor of K − ω²M has an "
            f"error of {error / middle**2:.0e} ω², the adjacent frequencies differ by {high / low - 1.0:.0e}; request "
            "another number of modes, or all of a smaller system"
        )
    return negative


def _low_square(m: Any, c: Any, d: Any) -> float:
    """Estimate of the order of the lowest ω²: the highest ω², by power iteration, divided by (0.3 n)⁴.

    n is the number of velocities. The highest and lowest bending frequencies of a mesh differ by about the square of
    its size, 0.3 n. The estimate sets a first shift; the lowest frequency found with it sets a better one.
    """
    solve_m, solve_c = splu(m).solve, splu(c).solve
    v = np.random.default_rng(1).standard_normal(m.shape[0])
    for _ in range(20):
        v = solve_m(d.T @ solve_c(d @ v))
        v /= np.sqrt(v @ (m @ v))
    highest = float((d @ v) @ solve_c(d @ v))
    return highest / (0.3 * m.shape[0]) ** 4


STRAIN_FREE = 1e-10
"""Frequency, from strains D v, relative to the root of the highest K_ii/M_ii, that is round-off: rigid motions have
1e-15 and less, the lowest modes of a mesh whose stiffness holds their digits have 1e-7 and more."""
ITERATIONS, CORRECTIONS = 3, 2
"""Iterations and corrections of a block; each divides strains by ω²/s, 100 and more."""
MOVING = 1e-6
"""Ratio ω²/s above which a block contains other motions, too, and is therefore wide enough."""
WIDTH = 8
"""Size of the first block: the rigid motions of one body, and two vectors to reveal the lowest frequency."""


class StrainFree(NamedTuple):
    """Motions N (n, k) without strain: NᵀMN = 1, D N = 0 up to round-off.

    ``lowest`` is an upper bound of the lowest ω² > 0.
    """

    motions: Array
    lowest: float


def strain_free_motions(pencil: CondensedPencil) -> StrainFree:
    """Motions without strain, by inverse iteration with K + s M, and an upper bound of the lowest ω² > 0.

    s is the shift of the pencil. If the bound is far above s, these are all motions without strain; if it is near s,
    the basis may be incomplete.
    """
    n, width = pencil.m.shape[0], WIDTH
    while True:
        velocity = np.random.default_rng(0).standard_normal((n, width))  # fixed, so that runs repeat
        for _ in range(ITERATIONS):
            velocity = _orthonormal(pencil, pencil.solve(pencil.m @ velocity)[0])
        frequencies, velocity = ritz(pencil, velocity)
        slow = frequencies**2 <= pencil.shift
        if frequencies[-1] ** 2 > MOVING * pencil.shift or 2 * width >= n:
            break
        width *= 2
    motions = _corrected(pencil, velocity[:, slow])
    free = _strain_free(pencil, motions)
    lowest = np.min(np.append(frequencies[~slow], frequencies[slow][~free]) ** 2, initial=np.inf)
    return StrainFree(_orthonormal(pencil, motions[:, free]) if free.any() else motions[:, :0], float(lowest))


def _corrected(pencil: CondensedPencil, velocity: Array) -> Array:
    """Velocities after further inverse iterations v − (K + s M)⁻¹K v.

    K v is computed from the strain D v, so that its round-off falls with the strain that remains.
    """
    for _ in range(CORRECTIONS if velocity.shape[1] else 0):
        velocity = velocity - pencil.solve(pencil.d.T @ pencil.flexibility(pencil.d @ velocity))[0]
    return velocity


def _strain_free(pencil: CondensedPencil, velocity: Array) -> Array:
    """True for each column (k,) of velocities without strain; False for columns corrected to round-off."""
    kept = np.einsum("nk,nk->k", velocity, pencil.m @ velocity) > 0.5
    strain = pencil.d @ velocity
    energy = np.einsum("mk,mk->k", strain, pencil.flexibility(strain))
    return kept & (energy <= STRAIN_FREE**2 * pencil.highest)


def _orthonormal(pencil: CondensedPencil, x: Array) -> Array:
    """M-orthonormal basis of the span of the vectors x, by QR first, as they may span few directions."""
    size = np.sqrt(pencil.m.diagonal())[:, None]
    q = qr(size * x, mode="economic", check_finite=False)[0] / size
    root = cholesky(q.T @ (pencil.m @ q), lower=True)
    return solve_triangular(root, q.T, lower=True).T
