"""Normal and friction impulses of unilateral contacts: a complementarity problem with Coulomb's cone.

With y = b + DΛ, D symmetric and positive semidefinite (Λ = (Λ_N, Λ_T), all normal ones first):

    0 ≤ y_N ⟂ Λ_N ≥ 0,    |Λ_T| ≤ μΛ_N,  Λ_T = −μΛ_N y_T/|y_T| where y_T ≠ 0

By sweeps of Gauss and Seidel, which find who is open, sticks and slips, and then by steps of Newton's method on these
sets, of least norm where impulses are not unique.
"""

from __future__ import annotations

from contextlib import suppress
from typing import NamedTuple

import numpy as np
from scipy.sparse.csgraph import connected_components

from ..numerics.arrays import Array

SWEEPS, STEPS, MANY_SWEEPS = 15, 60, 1000
"""Sweeps before Newton's method, its steps, and sweeps where it does not settle."""
SHARES, PROXIMAL = (1e-6, 1e-8, 1e-3), 30
"""Weights on what changes, over the largest entry of D, that make impulses unique, and how often they are taken."""
SOLVED = 1e-11
"""Defect of the complementarity, over the largest velocity in it, at which a problem counts as solved."""
OPEN, STICK, SLIP = range(3)


class Impulses(NamedTuple):
    """Λ_N (c,), Λ_T (t, c), and the defect of the complementarity over its scale, the largest entry of b."""

    normal: Array
    friction: Array
    defect: float
    scale: float

    @property
    def flat(self) -> Array:
        """Both, one after the other."""
        return np.concatenate([self.normal, self.friction.ravel()])


class Problem(NamedTuple):
    """D ((1 + t)c, (1 + t)c), b and μ (c,)."""

    D: Array
    b: Array
    friction: Array

    @property
    def contacts(self) -> int:
        """Contacts."""
        return int(self.friction.size)

    def split(self, values: Array) -> tuple[Array, Array]:
        """Normal (c,) and tangential (t, c) parts."""
        return values[: self.contacts], values[self.contacts :].reshape(-1, self.contacts)

    def at(self, impulses: Array) -> Array:
        """y."""
        moved: Array = self.b + self.D @ impulses
        return moved


def solve(problem: Problem, guess: Array | None = None) -> Impulses:
    """The impulses; look at their ``defect``, as some problems have no solution."""
    start = np.zeros(problem.b.size) if guess is None else guess
    if not problem.contacts:
        return Impulses(np.zeros(0), np.zeros((problem.b.size, 0)), 0.0, 0.0)
    best = judged(problem, start)
    if best.defect <= SOLVED:
        return best
    parts, x = _independent(problem), start.copy()
    if len(parts) == 1:
        return _solved(problem, best)
    for own in parts:
        part = Problem(problem.D[np.ix_(own, own)], problem.b[own], problem.friction[own[own < problem.contacts]])
        x[own] = _solved(part, judged(part, start[own])).flat
    return judged(problem, x)


def _independent(problem: Problem) -> list[Array]:
    """Contacts that act on each other, in groups: their places in D, of which those between groups are zero."""
    coupled = (np.abs(problem.D).reshape(*[problem.b.size // problem.contacts, problem.contacts] * 2) > 0.0).any((0, 2))
    count, group = connected_components(coupled, directed=False)
    rows = np.arange(problem.b.size).reshape(-1, problem.contacts)
    return [rows[:, group == i].ravel() for i in range(count)]


def _solved(problem: Problem, best: Impulses) -> Impulses:
    """The impulses of contacts that all depend on each other."""
    if best.defect > SOLVED:
        best = _better(problem, best, SWEEPS)
    for share in SHARES:
        if best.defect <= SOLVED:
            return best
        best = _proximal(problem, best, share * float(problem.D.diagonal().max()))
    return best if best.defect <= SOLVED else _better(problem, best, MANY_SWEEPS)


def _better(problem: Problem, best: Impulses, sweeps: int) -> Impulses:
    """The best of some impulses, of these after sweeps, and of those after Newton's method."""
    swept = _swept(problem, best.flat, sweeps)
    return min(best, judged(problem, swept), _newton(problem, swept), key=lambda one: one.defect)


def _proximal(problem: Problem, best: Impulses, weight: float) -> Impulses:
    """Impulses that are not unique, by problems in which a weight on what changes makes them so."""
    x, D = best.flat, problem.D + weight * np.eye(problem.b.size)
    for _ in range(PROXIMAL):
        one = problem._replace(D=D, b=problem.b - weight * x)
        x = _better(one, judged(one, x), SWEEPS).flat
        found = judged(problem, x)
        better = found.defect < best.defect
        best = found if better else best
        if best.defect <= SOLVED or not better:
            break
    return best


def judged(problem: Problem, impulses: Array) -> Impulses:
    """Impulses with their defect: that of the natural map."""
    (normal, friction), y = problem.split(impulses), problem.at(impulses)
    (y_n, y_t), (r_n, r_t) = problem.split(y), _steps(problem)
    bound = problem.friction * np.maximum(normal, 0.0)
    trial = friction - r_t * y_t
    wanted = trial * np.minimum(1.0, bound / np.maximum(np.linalg.norm(trial, axis=0), 1e-300))
    missed = np.concatenate([(normal - np.maximum(normal - r_n * y_n, 0.0)) / r_n, ((friction - wanted) / r_t).ravel()])
    scale = max(float(np.abs(problem.b).max(initial=0.0)), 1e-300)
    return Impulses(normal, friction, float(np.abs(missed).max() / scale), scale)


def _steps(problem: Problem) -> tuple[Array, Array]:
    """1/D of each contact, normal and along its tangents."""
    normal, tangent = problem.split(problem.D.diagonal())
    along = tangent.max(axis=0, initial=0.0)
    return 1.0 / np.where(normal > 0.0, normal, 1.0), 1.0 / np.where(along > 0.0, along, 1.0)


def _swept(problem: Problem, impulses: Array, sweeps: int) -> Array:
    """Sweeps of Gauss and Seidel over the contacts, in blocks of one."""
    D, b, count, mu = problem.D, problem.b, problem.contacts, problem.friction
    x, own = impulses.copy(), [np.arange(i, b.size, count) for i in range(count)]
    r_n, r_t = _steps(problem)
    for _ in range(sweeps):
        for i in range(count):
            normal = max(0.0, x[i] - r_n[i] * (b[i] + D[i] @ x))
            x[i] = normal
            if mu[i] == 0.0:
                continue
            k = own[i][1:]
            trial = x[k] - r_t[i] * (b[k] + D[k] @ x)
            size, bound = float(np.sqrt(trial @ trial)), mu[i] * normal
            x[k] = trial if size <= bound else trial * (bound / size)
    return x


def _newton(problem: Problem, impulses: Array) -> Impulses:
    """Newton's method on who is open, sticks and slips; of all corrections those of least norm."""
    x, best = impulses.copy(), judged(problem, impulses)
    for _ in range(STEPS):
        matrix, defect = _linear(problem, x)
        x = x - _least_norm(matrix, defect)
        found = judged(problem, x)
        if found.defect < best.defect:
            settled = found.defect <= 1e-3 * SOLVED
            best = found
            if settled:
                break
        elif found.defect <= SOLVED:
            break
    return best


def _least_norm(matrix: Array, defect: Array) -> Array:
    size = np.maximum(np.abs(matrix).max(axis=1), 1e-300)
    scaled, right = matrix / size[:, None], defect / size
    largest = np.abs(right).max(initial=1e-300)
    with suppress(np.linalg.LinAlgError):
        step: Array = np.linalg.solve(scaled, right)
        solved = np.isfinite(step).all() and np.abs(scaled @ step - right).max() <= 1e-9 * largest
        if solved and np.abs(step).max() < 1e6 * largest / np.abs(matrix).max():
            return step
    least: Array = np.linalg.lstsq(scaled, right, rcond=1e-11)[0]
    return least


def _linear(problem: Problem, x: Array) -> tuple[Array, Array]:
    """Jacobian and defect of the conditions that hold on the sets of an iterate."""
    (normal, friction), y, count = problem.split(x), problem.at(x), problem.contacts
    (y_n, y_t), (r_n, r_t) = problem.split(y), _steps(problem)
    matrix, defect, unit = problem.D.copy(), y.copy(), np.eye(x.size)
    open_ = normal - r_n * y_n <= 0.0
    matrix[:count][open_], defect[:count][open_] = unit[:count][open_] / r_n[open_, None], normal[open_] / r_n[open_]
    bound = problem.friction * np.maximum(normal, 0.0)
    trial = friction - r_t * y_t
    size = np.linalg.norm(trial, axis=0)
    rows = np.arange(count, x.size).reshape(-1, count)
    for i in np.flatnonzero(open_ | (size > bound) | (problem.friction == 0.0)):
        k = rows[:, i]
        if open_[i] or problem.friction[i] == 0.0:
            matrix[k], defect[k] = unit[k] / r_t[i], x[k] / r_t[i]
            continue
        d = trial[:, i] / size[i]
        turn = bound[i] / size[i] * (np.eye(d.size) - np.outer(d, d))
        by_trial = unit[k] - r_t[i] * problem.D[k]
        matrix[k] = (unit[k] - turn @ by_trial - problem.friction[i] * np.outer(d, unit[i])) / r_t[i]
        defect[k] = (x[k] - bound[i] * d) / r_t[i]
    return matrix, defect
