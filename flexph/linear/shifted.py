"""Systems shifted to a point of the complex plane, for responses, time steps and Krylov spaces.

Systems of velocities and stresses are condensed to their second-order form.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from ..numerics import checks as check
from ..numerics.arrays import Array, dense
from ..numerics.factors.low_rank import inverse_by_blocks
from ..numerics.memo import Memo, once
from ..systems.linear import LinearPHDAE


class Split(NamedTuple):
    """Blocks ``E = diag(M, C), J = [[J_v, −Dᵀ], [D, 0]], R = diag(R_v, 0), B = [B_v; 0], G = [G_v, 0]`` ([flex] (45)).

    Velocities v (n,) and stresses σ (m,): with displacements q̇ = v the system is ``M q̈ + (R_v − J_v) q̇ + DᵀC⁻¹D q =
    B_v u + G_vᵀλ``. ``velocities`` and ``stresses`` are the indices of both among the states. Dense or sparse as the
    system.
    """

    velocities: Array
    stresses: Array
    M: Any
    C: Any
    D: Any
    Jv: Any
    Rv: Any
    B: Any
    G: Any

    def stiffness(self) -> Any:
        """Stiffness K = DᵀC⁻¹D (n, n), symmetric."""
        if sparse.issparse(self.C):  # discontinuous stresses: C⁻¹ is as sparse as C
            K = self.D.T @ (inverse_by_blocks(self.C) @ self.D)
        else:
            K = self.D.T @ np.linalg.solve(self.C, self.D)
        return 0.5 * (K + K.T)


def split(system: LinearPHDAE) -> Split | None:
    """Blocks of a system of velocities and stresses; None without ``kinetic`` or if the system has another form."""
    if system.kinetic is None:
        return None
    v, s = np.flatnonzero(system.kinetic), np.flatnonzero(~system.kinetic)
    e, j, r = system.E, system.J, system.R
    foreign = (e[v][:, s], j[s][:, s], r[v][:, s], r[s][:, s], system.B[s], system.G[:, s])
    if any(check.norm(block) for block in foreign):
        return None
    return Split(v, s, e[v][:, v], e[s][:, s], j[s][:, v], j[v][:, v], r[v][:, v], system.B[v], system.G[:, v])


Solver = Callable[[Array], Array]
REFINEMENTS = 3
SETTLED = 1e-7
"""Relative correction of a solution after which the next one would be round-off."""
SINGULAR = 1e-3
"""Last relative correction above which a matrix counts as singular to round-off."""
NOISE = 1e-10
"""Size of a solution, relative to a random load's at equal load, that is round-off: only constraints carry its load."""
TINY = float(np.finfo(float).tiny)
THRESHOLD = 0.03
"""Relative size of an acceptable pivot in its column: fewer entries, and the corrections allow it."""


class Pole(ValueError):
    """Error for a point, as in "omega = 3", at which the transfer function does not exist."""

    def __init__(self, point: str) -> None:
        super().__init__(
            f"{point} rad/s is a pole of the system, to round-off: the response is infinite there; choose another "
            "point, or add damping"
        )


@dataclass(frozen=True, eq=False)
class Shifted(Memo):
    """Matrix polynomial ``P(s) = A₀ + s A₁ + s² A₂`` of a system, and solutions with it by sparse LU.

    Systems that split into velocities and stresses (:func:`flexph.linear.shifted.split`) have unknowns (q, σ, λ),
    v = s q:

        P(s) = [[s²M + s (R_v − J_v), Dᵀ, −Gᵀ], [D, −C, 0], [G, 0, 0]],   H(s) = s Bᵀq,

    which also holds at s = 0, keeps the digits that DᵀC⁻¹D loses on fine meshes, and needs no C⁻¹. Others have (x, λ):

        P(s) = [[s E − (J − R), −Gᵀ], [G, 0]],   H(s) = Bᵀx.

    ``P(s) X = load`` with the load (B, 0) of all inputs, or of some ports.
    """

    system: LinearPHDAE
    ports: tuple[str, ...] | None = None

    @once
    def split(self) -> Split | None:
        """Blocks of velocities and stresses of the system; None if it does not split."""
        return split(self.system)

    @once
    def size(self) -> int:
        """Number of leading unknowns: displacements q if the system splits, else states x."""
        return int(self.system.size if self.split is None else len(self.split.velocities))

    @once
    def columns(self) -> Array:
        """Indices of the columns of B that are the load."""
        names = self.system.ports if self.ports is None else self.ports
        taken = [check.lookup("port", name, self.system.ports) for name in names]
        return np.concatenate([np.zeros(0, dtype=int), *(np.arange(t.start, t.stop) for t in taken)])

    @once
    def weight(self) -> Any:
        """Matrix W of the inner product xᵀW y of the leading unknowns: M if the system splits, else E."""
        return self.system.E if self.split is None else self.split.M

    @once
    def load(self) -> Array:
        """Right-hand side (B, 0) of the inputs, dense."""
        inputs = dense(self.system.B if self.split is None else self.split.B)
        return self.padded(inputs if self.ports is None else inputs[:, self.columns])

    def padded(self, leading: Array) -> Array:
        """Right-hand side with the rows ``leading`` first and zeros in all other equations, such as constraints."""
        return np.vstack([leading, np.zeros((len(self._scale) - len(leading), leading.shape[1]))])

    def slope(self, s: complex, x: Array) -> Array:
        """Product P′(s) x, with the derivative of P with respect to s."""
        _, a1, a2 = self._matrices
        scaled = self._unscaled(x)
        return self._unscaled(a1 @ scaled + 2.0 * s * (a2 @ scaled))

    def curvature(self, x: Array) -> Array:
        """Product ½ P″ x, with the second derivative of P with respect to s, which is constant."""
        return self._unscaled(self._matrices[2] @ self._unscaled(x))

    def factor(self, s: complex, *, audited: bool = True) -> Solver:
        """Factor P(s) and return a function that solves P(s) X = Y for X, with any Y (n, k).

        Raises :class:`Pole` if s is a pole to round-off. Solutions are refined by their residuals until they converge.
        s is a pole if the first correction of a solution with a random right-hand side is as large as a thousandth of
        it, or if another solution does not converge. With ``audited`` False nothing is refined, and only exact poles
        are found.
        """
        s = complex(s).real if complex(s).imag == 0.0 else complex(s)
        p = self._at(s)
        try:
            solve = _solver(p)
        except RuntimeError:  # exactly singular
            raise Pole(f"s = {s:.6g}") from None
        scale = self._scale[:, None]
        if not audited:
            return lambda y: scale * solve(scale * y)

        states = slice(0, self.system.size)

        def refined(y: Array, gain: float, corrections: int = REFINEMENTS) -> Array:
            x, noise = solve(y), np.maximum(NOISE * gain * _norms(y), TINY)
            for _ in range(corrections):
                step = solve(y - p @ x)
                x = x + step
                moved = _largest(_norms(step[states]) / np.maximum(_norms(x[states]), noise))
                if moved <= SETTLED:
                    return x
            if not moved <= SINGULAR:
                raise Pole(f"s = {s:.6g}")
            return x

        known = np.random.default_rng(0).standard_normal((p.shape[0], 1))
        gain = _largest(_norms(refined(known, 0.0, 1)[states]) / _norms(known))
        return lambda y: scale * refined(scale * y, gain)

    def resolvent(self, s: complex) -> Solver:
        """Return a function that solves ``(s E − J + R) x = f + Gᵀλ, G x = 0`` for x, with any f (n, k), at s ≠ 0.

        Raises :class:`Pole` like :meth:`factor`.
        """
        solve, parts = self.factor(s), self.split
        if parts is None:
            return lambda f: self.state(s, solve(self.padded(f)))
        v, sigma = parts.velocities, parts.stresses
        return lambda f: self.state(s, solve(self.padded(np.vstack([f[v], f[sigma] / -s]))))

    def state(self, s: complex, solution: Array) -> Array:
        """States x of the system from a solution of P(s) X = Y."""
        if self.split is None:
            return solution[: self.size]
        states = np.empty((self.system.size, *solution.shape[1:]), dtype=np.result_type(solution, type(s)))
        states[self.split.velocities] = s * solution[: self.size]
        states[self.split.stresses] = solution[self.size : self.system.size]
        return states

    def transfer(self, s: complex, solution: Array) -> Array:
        """Transfer function H(s) (m, m) from the solution with the load (B, 0)."""
        H: Array = self.load[: self.size].T @ solution[: self.size]
        return H if self.split is None else s * H

    def transfer_slope(self, solution: Array) -> Array:
        """Part of dH/ds that is due to the factor s in H = s Bᵀq; zero if the system does not split."""
        slope: Array = self.load[: self.size].T @ solution[: self.size]
        return np.zeros_like(slope) if self.split is None else slope

    @once
    def _scale(self) -> Array:
        """Powers of two by which the unknowns are scaled to one unit, the square root of energy.

        They cause no rounding. Without them factorisations take more than twice the time.
        """
        p = self.split
        if p is None:
            units, rows = _unit(self.system.E.diagonal()), self.system.G
        else:
            stress = _unit(p.C.diagonal())
            stiffness, rows = _squares(p.D.T, stress), p.G
            units = _unit(np.where(stiffness > 0.0, stiffness, p.M.diagonal()))
        multiplier = _unit(_squares(rows, units))
        return np.concatenate([units, multiplier] if p is None else [units, stress, multiplier])

    @once
    def _matrices(self) -> tuple[Any, Any, Any]:
        """Matrices A₀, A₁, A₂ of P, scaled from both sides, sparse with the same pattern."""
        x, p, n, total = self.system, self.split, self.size, len(self._scale)
        if p is None:
            blocks = [(0, x.R - x.J, 0, 0), (0, x.G, n, 0), (0, -x.G.T, 0, n), (1, x.E, 0, 0)]
        else:
            blocks = [(0, p.D, n, 0), (0, p.D.T, 0, n), (0, -p.C, n, n), (0, p.G, x.size, 0), (0, -p.G.T, 0, x.size)]
            blocks += [(1, p.Rv - p.Jv, 0, 0), (2, p.M, 0, 0)]
        entries = [(power, sparse.coo_array(block), i, j) for power, block, i, j in blocks]
        row = np.concatenate([a.row + i for _, a, i, _ in entries])
        column = np.concatenate([a.col + j for _, a, _, j in entries])
        power = np.concatenate([np.full(a.nnz, k) for k, a, _, _ in entries])
        values = np.concatenate([a.data for _, a, _, _ in entries]) * self._scale[row] * self._scale[column]
        places, entry = np.unique(column.astype(np.int64) * total + row, return_inverse=True)
        data = np.bincount(power * places.size + entry, values, 3 * places.size).reshape(3, -1)
        indices, ends = places % max(total, 1), np.searchsorted(places, np.arange(total + 1, dtype=np.int64) * total)
        return tuple(sparse.csc_array((a, indices.astype(np.int32), ends.astype(np.int32)), (total,) * 2) for a in data)

    def _at(self, s: complex) -> Any:
        """Matrix P(s), scaled from both sides; real for real s."""
        a0, a1, a2 = self._matrices
        return sparse.csc_array((a0.data + s * a1.data + s**2 * a2.data, a0.indices, a0.indptr), shape=a0.shape)

    def _unscaled(self, x: Array) -> Array:
        return x / self._scale[:, None]


def _unit(squares: Any) -> Array:
    """Numbers 1/√x of positive x, rounded to powers of two; 1 for others."""
    squares = np.asarray(squares)
    return 2.0 ** -np.round(0.5 * np.log2(np.where(squares > 0.0, squares, 1.0)))


def _squares(a: Any, scale: Array) -> Array:
    """Squared norms of the rows of a matrix whose columns are multiplied by ``scale``."""
    entries = sparse.coo_array(a)
    return np.bincount(entries.row, (entries.data * scale[entries.col]) ** 2, a.shape[0])


def _norms(x: Array) -> Array:
    """Norms of the columns of x."""
    return np.sqrt(np.einsum("ij,ij->j", x.conj(), x).real)


def _largest(ratios: Array) -> float:
    return float(np.max(ratios, initial=0.0))


def _solver(p: Any) -> Solver:
    """Factor a sparse matrix by LU and return a function that solves for real or complex right-hand sides.

    Raises RuntimeError if the matrix is exactly singular.
    """
    if not p.shape[0]:
        return lambda y: y
    factors = splu(p, permc_spec="COLAMD", diag_pivot_thresh=THRESHOLD)
    if np.iscomplexobj(p.data):
        return lambda y: factors.solve(np.ascontiguousarray(y, dtype=complex))

    def solve(y: Array) -> Array:
        if np.iscomplexobj(y):
            return solve(y.real) + 1j * solve(y.imag)
        return factors.solve(np.ascontiguousarray(y))

    return solve
