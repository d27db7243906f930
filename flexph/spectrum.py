"""Eigenfrequencies and modes of linear port-Hamiltonian systems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import cho_factor, cho_solve, cholesky, eig, solve_triangular, svd, svdvals
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh, splu

from . import checks as check
from .block_lanczos import lowest_modes
from .elimination import eliminate
from .linear import LinearPHDAE, linear_system
from .positive import Condensed, condensed, positive_solver
from .space import Array, dense
from .sparse_null_space import sparse_null_space

DENSE_LIMIT = 600
"""Velocities up to which modes are computed densely; above, the lowest ones by shift-invert."""
SHIFTS = 6
SPARE = 6
"""Modes carried along beyond those asked for: Lanczos finds the last ones late."""
RESTARTS = 300
"""Of Lanczos' method; some tens are usual."""
LOW, LOST, CLEAR = 1e-8, 1e-17, 1e-14
"""Squares of frequencies over that of the highest one: a first shift of solids, what is round-off, and what is not."""
FAR = 1e-4
"""How far below the lowest one a shift may be. Positive definite matrices bear it further away."""


@dataclass(frozen=True)
class Modes:
    """Undamped free vibrations x(t) = Re(shape e^{iωt}).

    frequencies ω > 0, ascending [rad/s], (k,); shapes, complex, (n, k) over the states that ``parts`` names: the
    velocities are real, the stresses imaginary, since they are a quarter of a period apart. Energy-normalised:
    shapeᴴE shape = 2 (½ kinetic, ½ elastic). ``rigid`` counts velocities without stress rates, ``self_stress``
    stresses without force: the zero modes.
    """

    frequencies: Array
    shapes: Array
    rigid: int
    self_stress: int


def eigenfrequencies(system: LinearPHDAE, count: int | None = None) -> Array:
    """The lowest ``count`` eigenfrequencies ω > 0 [rad/s], ascending, of ``iω E x = J x``; all without a count.

    Real by construction: from the singular values of L_C⁻¹ D L_M⁻ᵀ, or from the Hermitian pencil (iJ, E). Zero modes
    are left out; :func:`modes` counts them. Raises ValueError where R ≠ 0 (see :func:`poles`).
    """
    return _solve(system, count, shapes=False).frequencies


def modes(system: LinearPHDAE, count: int | None = None) -> Modes:
    """The lowest ``count`` free vibrations of a system without dissipation, constraints eliminated.

    Systems that split into velocities and stresses, E = diag(M, C), J = [[0, −Dᵀ], [D, 0]], are solved through
    D; systems with gyroscopic coupling through the Hermitian pencil (iJ, E). Zero modes are counted by the rank of D
    (of J), not by a threshold on frequencies. Dense up to 600 velocities or where all modes are wanted, shift-invert
    for more.
    """
    return _solve(system, count, shapes=True)


def _solve(system: LinearPHDAE, count: int | None, *, shapes: bool) -> Modes:
    if check.norm(linear_system(system).R) > 0.0:
        raise ValueError("eigenfrequencies need R = 0: this system dissipates; use poles(system)")
    if count is not None:
        check.count("count", count)
    free = eliminate(system)
    blocks = _split(free)
    if blocks is None:
        found = _gyroscopic(free, count)
    elif count is not None and free.is_sparse and blocks[0].shape[0] > DENSE_LIMIT:
        found = _shift_invert(free, blocks, count)
    else:
        found = _dense(free, blocks, count, shapes)
    return Modes(found.frequencies, free.expand(found.shapes), found.rigid, found.self_stress)


def poles(system: LinearPHDAE) -> Array:
    """All finite poles s of ``s E x = (J − R) x`` [1/s], by ascending modulus; dense. Re s ≤ 0 up to round-off."""
    free = eliminate(system)
    values = eig(dense(free.J) - dense(free.R), dense(free.E), right=False)
    values = values[np.isfinite(values)]
    return values[np.argsort(np.abs(values), kind="stable")]


def _root(what: str, e: Array) -> Array:
    """Cholesky factor of E, or of a part of it."""
    try:
        return cholesky(e, lower=True)
    except np.linalg.LinAlgError:
        raise ValueError(f"modes need a positive definite E: {what} is singular") from None


def _split(system: LinearPHDAE) -> tuple[Any, Any, Any] | None:
    """M, C, D of a system of the form E = diag(M, C), J = [[0, −Dᵀ], [D, 0]], or None."""
    if system.kinetic is None:
        return None
    v, s = np.flatnonzero(system.kinetic), np.flatnonzero(~system.kinetic)
    e, j = system.E, system.J
    if check.norm(e[v][:, s]) or check.norm(j[v][:, v]) or check.norm(j[s][:, s]):
        return None
    return e[v][:, v], e[s][:, s], j[s][:, v]


def rank_of(d: Array) -> int:
    """Rank of a matrix by singular values after its rows and columns are brought to one scale.

    Scaling does not change the rank and takes units and stiffness contrasts out of the decision.
    """
    if not d.size:
        return 0
    for _ in range(3):
        rows, columns = np.linalg.norm(d, axis=1), np.linalg.norm(d, axis=0)
        d = d / np.sqrt(np.where(rows > 0.0, rows, 1.0))[:, None] / np.sqrt(np.where(columns > 0.0, columns, 1.0))
    values = np.linalg.svd(d, compute_uv=False)
    return int(np.sum(values > max(d.shape) * np.finfo(float).eps * 10.0 * values[0])) if values[0] > 0.0 else 0


def _dense(system: LinearPHDAE, blocks: tuple[Any, Any, Any], count: int | None, shapes: bool) -> Modes:
    m, c, d = (dense(b) for b in blocks)
    lm, lc = _root("its part of the velocities", m), _root("its part of the stresses", c)
    scaled = solve_triangular(lc, solve_triangular(lm, d.T, lower=True).T, lower=True)
    rank = rank_of(d)
    pick = np.arange(rank)[::-1][:count]  # singular values descend
    zeros = {"rigid": m.shape[0] - rank, "self_stress": c.shape[0] - rank}
    if not shapes:
        return Modes(svdvals(scaled)[pick], np.zeros((system.size, 0)), **zeros)
    left, values, right = svd(scaled, full_matrices=False)
    return Modes(
        values[pick],
        _shapes(
            system,
            solve_triangular(lm, right[pick].T, lower=True, trans=1),
            solve_triangular(lc, left[:, pick], lower=True, trans=1),
        ),
        **zeros,
    )


def _shapes(system: LinearPHDAE, velocity: Array, stress: Array) -> Array:
    """Complex shapes from unit velocities and stresses: C σ̇ = D v gives σ = −i × the real stress amplitude."""
    assert system.kinetic is not None
    shapes = np.zeros((system.size, velocity.shape[1]), dtype=complex)
    shapes[system.kinetic] = velocity
    shapes[~system.kinetic] = -1j * stress
    return shapes


def _gyroscopic(system: LinearPHDAE, count: int | None) -> Modes:
    e, j = dense(system.E), dense(system.J)
    lower = _root("it", e)
    half = solve_triangular(lower, j, lower=True)
    skew = solve_triangular(lower, half.T, lower=True).T
    values, vectors = np.linalg.eigh(-0.5j * (skew - skew.T))
    rank = rank_of(j)
    pick = np.arange(system.size - rank // 2, system.size)[:count]  # eigenvalues ascend, ±ω
    shapes = solve_triangular(lower, vectors[:, pick], lower=True, trans=1) * np.sqrt(2.0)
    return Modes(values[pick], shapes, rigid=system.size - rank, self_stress=0)


def _shift_invert(system: LinearPHDAE, blocks: tuple[Any, Any, Any], count: int) -> Modes:
    """Lowest modes of DᵀC⁻¹D v = ω²M v by Lanczos on the mixed saddle matrix, so that C⁻¹ is never formed.

    Rigid motions are null D, found by elimination; Lanczos works beside them, however many they are.
    """
    m, c, d = (sparse.csc_array(b) for b in blocks)
    local = condensed(c, d)
    found = None if local is None else _condensed_modes(system, (m, c, d), local, count)
    if found is not None:
        return found
    rigid = _Rigid(m, sparse_null_space(d)[0])
    size, shift, wanted = m.shape[0], 1.0, count + SPARE
    if rigid.count + wanted >= size - 1:
        return _dense(system, blocks, count, shapes=True)
    unit = _low_shift(m, c, d)  # square of the unit of frequency: the saddle matrix is then well scaled
    c = sparse.csc_array(unit * c)
    for _ in range(SHIFTS):  # each result sets a better shift
        saddle = _Saddle(m, c, d, shift)
        frequencies, velocity, stress = saddle.ritz(saddle.lanczos(wanted, rigid))
        if 0.01 * frequencies[0] ** 2 <= shift <= frequencies[0] ** 2:
            break
        shift = 0.1 * frequencies[0] ** 2
    else:
        raise ArithmeticError(
            f"the lowest modes were not found with {SHIFTS} shifts; ask for dense modes of a smaller system"
        )
    shapes = _shapes(system, velocity[:, :count], np.sqrt(unit) * stress[:, :count])
    self_stress = c.shape[0] - size + rigid.count
    return Modes(np.sqrt(unit) * frequencies[:count], shapes, rigid=rigid.count, self_stress=self_stress)


def _condensed_modes(system: LinearPHDAE, blocks: tuple[Any, Any, Any], local: Condensed, count: int) -> Modes | None:
    """The same where stresses are many and local, as those of solids, by factors of s M + DᵀC⁻¹D.

    Rigid motions are velocities without any strain, and vectors whose frequency is round-off: they are taken for zero
    where the next one is far above. None where that cannot be told.
    """
    m, c, d = blocks
    size, wanted = m.shape[0], count + SPARE
    still = np.flatnonzero(np.diff(d.indptr) == 0)
    basis = sparse.eye_array(size, format="csr")[:, still]
    # near the square of the highest frequency, in plates of the highest of bending, the softest of their motions
    unit = float(np.min((local.stiffness.diagonal() / m.diagonal())[np.diff(d.indptr) > 0]))
    shift = LOW * unit
    for _ in range(SHIFTS):
        rigid = _Rigid(m, basis)
        if rigid.count + wanted >= size - 1:
            return None
        stiff = _Stiff(m, d, local, shift)
        frequencies, velocity, stress = stiff.ritz(stiff.lanczos(wanted, rigid))
        lost = frequencies**2 < LOST * unit
        if lost.any():
            if lost.all() or frequencies[~lost][0] ** 2 < CLEAR * unit:
                return None
            basis = sparse.hstack([basis, sparse.csr_array(velocity[:, lost])]).tocsr()
            continue
        if FAR * frequencies[0] ** 2 <= shift <= frequencies[0] ** 2:
            break
        shift = 0.1 * frequencies[0] ** 2
    shapes = _shapes(system, velocity[:, :count], stress[:, :count])
    return Modes(frequencies[:count], shapes, rigid=rigid.count, self_stress=c.shape[0] - size + rigid.count)


class _Rigid:
    """A basis N (n, k) of the motions without strain, sparse, and what is left of vectors beside them, in M."""

    def __init__(self, m: Any, basis: Any) -> None:
        self.count = basis.shape[1]
        self._basis, self._momenta = basis, sparse.csr_array((m @ basis).T)
        self._gram = cho_factor((self._momenta @ basis).toarray()) if self.count else None

    def beside(self, v: Array) -> Array:
        """v − N (NᵀMN)⁻¹NᵀM v."""
        if self._gram is None:
            return v
        made: Array = v - self._basis @ cho_solve(self._gram, self._momenta @ v)
        return made


class _Saddle:
    """[[s M, Dᵀ], [D, −C]]: its solutions are v = (s M + DᵀC⁻¹D)⁻¹ b with the stresses C⁻¹D v."""

    def __init__(self, m: Any, c: Any, d: Any, shift: float) -> None:
        self.m, self.c, self.d, self.shift, self.size = m, c, d, shift, m.shape[0]
        self._flexibility = splu(c).solve
        self._solve = splu(sparse.csc_array(sparse.block_array([[shift * m, d.T], [d, -c]]))).solve

    def solve(self, load: Array) -> tuple[Array, Array]:
        """Velocities and stresses under loads (n,) or (n, k)."""
        found = self._solve(np.concatenate([load, np.zeros((self.c.shape[0], *load.shape[1:]))]))
        return found[: self.size], found[self.size :]

    def lanczos(self, count: int, rigid: _Rigid) -> Array:
        """Vectors of the lowest modes that are not rigid."""
        beside = lambda b: rigid.beside(self.solve(b)[0])  # noqa: E731 - the operator
        inverse = LinearOperator((self.size, self.size), matvec=beside, dtype=float)
        start = rigid.beside(np.random.default_rng(0).standard_normal(self.size))  # fixed, so that runs repeat
        try:
            return eigsh(self.m, k=count, M=self.m, sigma=-self.shift, OPinv=inverse, v0=start, maxiter=RESTARTS)[1]
        except ArpackNoConvergence:
            raise ArithmeticError(
                f"the {count} lowest modes did not converge in {RESTARTS} restarts; ask for fewer of them"
            ) from None

    def ritz(self, vectors: Array) -> tuple[Array, Array, Array]:
        """Rayleigh-Ritz: frequencies from the strains D v, which keep the digits that ω² loses, and the shapes."""
        lower = cholesky(vectors.T @ (self.m @ vectors), lower=True)
        basis = solve_triangular(lower, vectors.T, lower=True).T
        strain = self.d @ basis
        values, rotation = np.linalg.eigh(strain.T @ self._flexibility(strain))
        frequencies, velocity = np.sqrt(np.maximum(values, 0.0)), basis @ rotation
        stress = self.solve(self.m @ velocity)[1]  # C⁻¹D v/(ω² + s), in balance with the inertia forces
        return frequencies, velocity, stress * (values + self.shift) / np.where(values > 0.0, frequencies, 1.0)


class _Stiff(_Saddle):
    """(s M + K) with K = DᵀC⁻¹D condensed: positive definite, a small part of the size of the saddle matrix."""

    def __init__(self, m: Any, d: Any, local: Condensed, shift: float) -> None:
        self.m, self.d, self.shift, self.size = m, d, shift, m.shape[0]
        self._flexibility = lambda strain: local.flexibility @ strain
        self._factor = positive_solver(shift * m + local.stiffness)

    def lanczos(self, count: int, rigid: _Rigid) -> Array:
        """Vectors of the lowest modes that are not rigid."""
        return lowest_modes(self._factor, self.m, count, rigid.beside)

    def solve(self, load: Array) -> tuple[Array, Array]:
        """Velocities and stresses under loads (n,) or (n, k)."""
        found = self._factor(load)
        return found, self._flexibility(self.d @ found)


def _low_shift(m: Any, c: Any, d: Any) -> float:
    """A frequency squared low in the spectrum: the highest one, by power iteration, over the fourth power of the size.

    Bending frequencies of a mesh spread over the square of its size; the shift is improved by the first result.
    """
    solve_m, solve_c = splu(m).solve, splu(c).solve
    v = np.random.default_rng(1).standard_normal(m.shape[0])
    for _ in range(20):
        v = solve_m(d.T @ solve_c(d @ v))
        v /= np.sqrt(v @ (m @ v))
    highest = float((d @ v) @ solve_c(d @ v))
    return highest / (0.3 * m.shape[0]) ** 4
