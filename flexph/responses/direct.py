"""Solutions of the shifted system, one sparse factorisation for every shift."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..linear import LinearPHDAE
from ..space import Array
from ..split import split
from .pattern import Pattern

REFINEMENTS = 4
SETTLED = 1e-14
"""Correction over the solution at which refinement stops."""
UNSETTLED = 1e-6
"""Last correction over the solution above which the solution is not determined: a pole within round-off."""
GROWTH = 3e14
"""Size of the solution times that of the matrix over the right-hand side: two units of the last digit off a pole."""


class OnPole(ArithmeticError):
    """The shift is a pole up to round-off."""


class Direct:
    """``[[sE − J + R, −Gᵀ], [G, 0]] [x; λ] = [f; 0]`` for many s, by sparse LU with columns ordered once.

    Systems that split into velocities and stresses are condensed to ``s²M + s(R_v − J_v) + DᵀC⁻¹D`` on displacements;
    corrections from the residual of the full equations (two or three) then win back the digits that forming DᵀC⁻¹D
    loses on fine meshes. States are scaled to a unit diagonal of E.
    """

    def __init__(self, system: LinearPHDAE) -> None:
        diagonal = np.asarray(system.E.diagonal())
        self.scale = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
        scaled = lambda a: _times(self.scale, a, self.scale)  # noqa: E731
        self.E, self.A = scaled(system.E), scaled(sparse.csr_array(system.R) - sparse.csr_array(system.J))
        G = _times(np.ones(system.G.shape[0]), system.G, self.scale)
        self.G = _times(1.0 / np.maximum(np.sqrt((G * G).sum(axis=1)), 1e-300), G, np.ones(system.size))
        self.norms = tuple(float(abs(a).sum(axis=1).max()) if a.nnz else 0.0 for a in (self.E, self.A))
        self._form = _condensed(self, system) or _full(self)
        self._kept: tuple[complex, Any] | None = None

    def solve(self, s: complex, load: Array) -> Array:
        """x (n, m) for f (n, m), real where s and f are; the last factorisation is kept. Raises :class:`OnPole`."""
        f = np.concatenate([self.scale[:, None] * load, np.zeros((self.G.shape[0], load.shape[1]))])
        if self._kept is None or self._kept[0] != s:
            try:
                self._kept = (s, self._form.factor(s))
            except RuntimeError:  # an exactly singular factor
                raise OnPole(s) from None
        solve = self._kept[1]
        x, correction, rest = np.zeros_like(f), np.inf, f
        for _ in range(REFINEMENTS):
            step = solve(rest)
            x = x + step
            size = np.linalg.norm(x, axis=0)
            correction = float(np.max(np.linalg.norm(step, axis=0) / np.where(size > 0.0, size, 1.0), initial=0.0))
            rest = f - self._product(s, x)
            if not correction > SETTLED or not np.all(np.isfinite(x)):
                break
        growth = (abs(s) * self.norms[0] + self.norms[1]) * np.linalg.norm(x[: load.shape[0]], axis=0)
        if not correction < UNSETTLED or np.any(growth > GROWTH * np.linalg.norm(f, axis=0)):
            raise OnPole(s)
        return self.scale[:, None] * x[: load.shape[0]]

    def _product(self, s: complex, x: Array) -> Array:
        n = self.E.shape[0]
        state, multiplier = x[:n], x[n:]
        return np.concatenate([s * (self.E @ state) + self.A @ state - self.G.T @ multiplier, self.G @ state])


class _Form(NamedTuple):
    """``factor(s)`` returns a function that solves the scaled system for a full right-hand side."""

    factor: Any


def _full(direct: Direct) -> _Form:
    rows, n = direct.G.shape[0], direct.E.shape[0]
    corner = sparse.csr_array((rows, rows))
    e = sparse.block_diag([direct.E, corner])
    a = sparse.block_array([[direct.A, -direct.G.T], [direct.G, corner]]) if rows else direct.A
    pattern = Pattern([e, a])
    return _Form(lambda s: pattern.factor((s, 1.0))) if n else _Form(lambda s: lambda b: b)


def _condensed(direct: Direct, system: LinearPHDAE) -> _Form | None:
    parts = split(system)
    if parts is None or np.any(system.E.diagonal() <= 0.0):
        return None
    v, s_, n, rows = parts.velocities, parts.stresses, direct.E.shape[0], direct.G.shape[0]
    M, W, D = direct.E[v][:, v], direct.A[v][:, v], -direct.A[s_][:, v]
    to_stress = 1.0 / direct.scale[s_]
    flexibility = _times(to_stress, sparse.csr_array(parts.flexibility()), to_stress)
    K, G = sparse.csr_array(D.T @ (flexibility @ D)), direct.G[:, v]
    corner = sparse.csr_array((rows, rows))
    border = sparse.block_array([[sparse.csr_array(M.shape), -G.T], [G, corner]])
    wide = [sparse.block_diag([a, corner]) for a in (M, W, 0.5 * (K + K.T))]
    pattern = Pattern([*wide, border])

    def factor(s: complex) -> Any:
        inner = pattern.factor((s * s, s, 1.0, 1.0))

        def solve(f: Array) -> Array:
            strain = flexibility @ f[s_] / s
            found = inner(np.concatenate([f[v] - D.T @ strain, f[n:] / s]))
            moved = found[: v.size]
            x = np.zeros(f.shape, dtype=found.dtype)
            x[v], x[s_], x[n:] = s * moved, strain + flexibility @ (D @ moved), found[v.size :]
            return x

        return solve

    return _Form(factor)


def _times(left: Array, a: Any, right: Array) -> Any:
    return sparse.csr_array(sparse.diags_array(left) @ sparse.csr_array(a) @ sparse.diags_array(right))
