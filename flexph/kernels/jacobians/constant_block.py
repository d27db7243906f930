"""Jacobians of large bodies of linear strain, by a factor of what does not change along a run.

In body axes the flexible block of the Jacobian is, but for gyroscopic terms E of size hω,

    A = 2(M − m φ̄ᵀφ̄) + h Dᵀ(½h + β)C⁻¹D + hαM,

symmetric positive definite and the same for all steps of a length h: it is factored once. All else that is added to it
goes through the few rows Φ by which joints, springs and loads see the deformation: forces Φᵀf, f linear in the other
unknowns and in ζ = Φu̇̄, Φ and A⁻¹Φᵀ constant too. With w the coupling of u̇̄ to the spins, which changes with u,
remains a small dense system in (ṙ̄, ω̄, ζ, hλ):

    u̇̄ = A⁻¹d_u − A⁻¹wᵀω̄ − A⁻¹Φᵀf,   ζ = Φu̇̄.

E is brought in by conjugate residuals, the Jacobian P without it as their preconditioner.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import lapack

from ...numerics.arrays import Array
from ...numerics.factors.low_rank import without_product
from ...numerics.factors.positive_definite import positive_solver
from ..arrays import Arrays
from ..gradient import is_sparse
from ..state import body_spins, body_sum, contracted, inertia_products, over_spins
from ..values import Means, Point, SingularStep, Solve
from .blocks import flatten, rigid_blocks, unflatten
from .dense import add_nodes
from .sparse import sparse_factor

LARGE = 300
"""Flexible coordinates from which on the constant block is factored."""
MANY, SHARE = 600, 60.0
"""Rigid freedoms and rows of nodes up to which the block is factored: s of them, if s² is at most SHARE times the
coordinates.
Measured: at 1.5 times that chains of beams of ten elements break even, with solids it would pay longer."""
LENGTHS = 4
"""Lengths of steps whose factors stay in memory: a composition takes two, control and events some more."""
DIGITS = 6
"""Digits of h by which lengths are told apart: equal steps differ by round-off, Newton corrects the rest."""
ACCURATE = 1e-3
"""The last pass over all before, at which they end: Newton's method is no faster than the change of the Jacobian."""
PASSES = 10
"""Passes after which the Jacobian is factored as a whole: a frame held at one end of a body that turns takes many."""


@dataclass(frozen=True, eq=False)
class ConstantBlock:
    """A of steps of one length, factored, and what joints and loads see of it.

    ``solve`` are solutions with A, of (n,) or (n, k); ``shapes`` Φ (f, n), sparse; ``answers`` A⁻¹Φᵀ (n, f) and
    ``yielding`` ΦA⁻¹Φᵀ (f, f); ``seen`` is the mechanism with ζ = Φu in place of the flexible coordinates.
    """

    solve: Callable[[Array], Array]
    shapes: Any
    answers: Array
    yielding: Array
    seen: Arrays

    def factor(self, a: Arrays, at: Point) -> Solve:
        """Solutions with the Jacobian at a trial."""
        without = self._without_rest(a, at)
        whole: list[Solve] = []

        def solve(defect: Means) -> Means:
            if not whole:
                solution = _with_rest(a, at, without, defect)
                if solution is not None:
                    return solution
                try:
                    whole.append(sparse_factor(a, at))
                except SingularStep:
                    return without(defect)  # with which Newton's method does not settle, and says so
            return whole[0](defect)

        return solve

    def _without_rest(self, a: Arrays, at: Point) -> Solve:
        """Solutions with the Jacobian without E."""
        spin, w, across = rigid_blocks(a, at)
        answer = self.solve(np.ascontiguousarray(across.T))  # to unit spins, (n, s)
        spin = spin - body_sum(a, w[:, None] * answer.T).transpose(2, 0, 1)
        K, force = self._small(a, at, (spin, w @ self.answers, self.shapes @ answer))
        lu, pivots, info = lapack.dgetrf(K)
        if info > 0:
            raise SingularStep("the Jacobian of the step is singular")
        r, f, turning = a.columns.u[0], self.shapes.shape[0], a.columns.omega[a.turning]

        def solve(defect: Means) -> Means:
            alone = self.solve(defect.du)
            rhs = np.concatenate([flatten(a, defect)[:r], self.answers.T @ defect.du, defect.lam / at.h])
            rhs[turning] -= body_sum(a, w * alone).T[a.turning]
            y, _ = lapack.dgetrs(lu, pivots, rhs)
            solution = unflatten(a, np.concatenate([y[:r], alone]), y[r + f :] / at.h)
            turned = over_spins(answer.T * body_spins(a, solution.omega))
            return solution._replace(du=alone - turned - self.answers @ (force @ y))

        return solve

    def _small(self, a: Arrays, at: Point, blocks: tuple[Array, Array, Array]) -> tuple[Array, Array]:
        """The matrix over (ṙ̄, ω̄, ζ, hλ), and the rows of f in it before they go into all others.

        From the blocks of the spins (b, s, s) without what u̇̄ takes of them, and those of w A⁻¹Φᵀ (s, f), ΦA⁻¹wᵀ (f,
        s).
        """
        spin, on_spin, by_spin = blocks
        r, f, own, body = a.columns.u[0], self.shapes.shape[0], a.columns.omega, self.seen.body_u
        K = np.zeros((r + f + at.trial.gap.size,) * 2)
        if a.node_body.size:
            add_nodes(self.seen, at, K, r + f)
        rows, turning = slice(r, r + f), own[a.turning]
        force = K[rows].copy()
        K[a.columns.v, a.columns.v] += 2.0 * a.mass[:, None]
        K[turning[:, :, None], turning[:, None, :]] += spin[a.turning]
        across = np.zeros((r, f))
        across[own[body].T, np.arange(f)] = on_spin
        K[:r] -= across @ force
        K[rows] = self.yielding @ force
        K[rows, rows] += np.eye(f)
        K[(r + np.arange(f))[:, None], own[body]] += by_spin
        return K, force


def _with_rest(a: Arrays, at: Point, without: Solve, defect: Means) -> Means | None:
    """Solutions with the whole Jacobian by generalised conjugate residuals; None where these do not fall fast.

    P, the Jacobian without E, as preconditioner leaves residuals in the rows of u̇̄ alone: one solution with P and one
    product with E a pass.
    """
    none, solution = np.zeros_like, without(defect)
    left = -_rest(a, at, solution.du)
    directions: list[tuple[Means, Array]] = []
    for _ in range(PASSES):
        step = without(Means(none(defect.v), none(defect.omega), left, none(defect.lam)))
        if np.linalg.norm(step.du) <= ACCURATE * np.linalg.norm(solution.du):
            return _plus(solution, 1.0, step)
        image = left + _rest(a, at, step.du)
        for earlier, earlier_image in directions:
            share = float(earlier_image @ image)
            step, image = _plus(step, -share, earlier), image - share * earlier_image
        size = 1.0 / np.linalg.norm(image)
        step, image = Means(*(size * part for part in step)), size * image
        share = float(image @ left)
        solution, left = _plus(solution, share, step), left - share * image
        directions.append((step, image))
    return None


def _plus(x: Means, share: float, y: Means) -> Means:
    return Means(*(p + share * q for p, q in zip(x, y, strict=True)))


def _rest(a: Arrays, at: Point, du: Array) -> Array:
    """E u̇̄: gyroscopic and centrifugal terms, (n,)."""
    s, h = a.n.shape[0], at.h
    w0, w1 = body_spins(a, at.start.omega), body_spins(a, at.trial.end.omega)
    product = inertia_products(a, du)
    squares = contracted(product[1 + s :].reshape(s, s, du.size), w1)
    return over_spins(h * (w0 + w1) * product[1 : 1 + s] - 0.5 * h * h * w0 * squares)


def constant_blocks(a: Arrays) -> Callable[[float], ConstantBlock | None]:
    """The constant blocks of a mechanism by the length of a step [s]; None where they do not pay or do not exist.

    That is for few coordinates, von Kármán strain, or joints and loads at very many places.
    """
    if not has_constant_block(a):
        return lambda h: None
    damped, seen = a.is_viscous or bool(a.stress_damping.any()), _seen(a)
    block_of = lru_cache(maxsize=LENGTHS)(lambda h: _constant_block(a, h, *seen))
    return lambda h: None if damped and h < 0.0 else block_of(float(f"{h:.{DIGITS}e}"))


def has_constant_block(a: Arrays) -> bool:
    """Whether the constant blocks of a mechanism are factored."""
    n, rows = a.body_u.size, a.columns.v.size + a.columns.omega.size + a.node_shape.shape[0] + a.torque_shape.shape[0]
    return is_sparse(a) and n >= LARGE and not a.slopes.shape[0] and rows <= min(MANY, math.sqrt(SHARE * n))


def _seen(a: Arrays) -> tuple[Any, Arrays]:
    """Φ, and the mechanism with Φu as its flexible coordinates: all its matrices are small and dense."""
    whole = sparse.vstack([a.node_shape - a.translating @ a.mean, a.torque_shape]).tocsr()
    body = np.concatenate([np.repeat(a.node_body, a.dim), np.repeat(a.torque_body, a.n.shape[0])])
    used, nodes = np.flatnonzero(np.diff(whole.indptr)), a.node_shape.shape[0]
    unit = np.eye(whole.shape[0])[:, used]
    joined = ["incidence", "select_first", "select_second", "sum_nodes", "node_turns"]
    loaded = ["input_node", "input_torque", "translating"]
    seen = a._replace(
        node_shape=unit[:nodes],
        torque_shape=unit[nodes:],
        mean=None,
        body_u=body[used],
        columns=a.columns._replace(u=a.columns.u[0] + np.arange(used.size)),
        **{name: getattr(a, name).toarray() for name in joined + loaded},
    )
    return whole[used], seen


def _constant_block(a: Arrays, h: float, shapes: Any, seen: Arrays) -> ConstantBlock:
    n = a.body_u.size
    elastic = a.strain.T @ (sparse.diags_array(h * (0.5 * h + a.stress_damping)) @ a.rise)
    inner = positive_solver(2.0 * a.stack[:n] + elastic + h * a.viscous)
    rows = np.flatnonzero(np.diff(a.border.indptr))  # those of rigid bodies are empty
    border, left = a.border[rows], 2.0 * a.border_stack[:n][:, rows].toarray()
    solve = without_product(inner, left, border)
    answers = solve(shapes.toarray().T)
    return ConstantBlock(solve, shapes, answers, shapes @ answers, seen)
