"""Normal and friction impulses of unilateral contacts: a complementarity problem with Coulomb's cone.

With y = b + DΛ, D symmetric and positive semidefinite (Λ = (Λ_N, Λ_T), all normal ones first):

    0 ≤ y_N ⟂ Λ_N ≥ 0,    |Λ_T| ≤ μΛ_N,  Λ_T = −μΛ_N y_T/|y_T| where y_T ≠ 0

By the proximal point method: problems with D + wI and b − wΛ at the last Λ have impulses that are unique, also where
contacts are redundant, and w goes to round-off. Each is solved by a semismooth Newton method on who is open, sticks
and slips, after sweeps of Gauss and Seidel where it fails. Contacts that do not act on each other are apart.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse.csgraph import connected_components

from ..numerics.arrays import Array

SWEEPS, STEPS, PROXIMAL, MANY_SWEEPS = 15, 30, 30, 1000
"""Sweeps where Newton's method fails, its steps, how often a weight is taken, and sweeps where none helps."""
FIRST, LEAST, MOST = 1e-6, 1e-11, 1e-2
"""Weights on what changes, over the largest entry of D: the first, and the range."""
HUGE = 1e100
"""Impulse that leads nowhere."""
SOLVED, EXACT = 1e-11, 1e-14
"""Defects of the complementarity, over the largest velocity in it, of a problem that is solved, and to round-off."""
OPEN, STICK, SLIP = range(3)


class Impulses(NamedTuple):
    """Λ_N (c,), Λ_T (t, c), and the defect of the complementarity over its scale, the largest velocity in it."""

    normal: Array
    friction: Array
    defect: float
    scale: float

    @property
    def flat(self) -> Array:
        """Both, one after the other."""
        return np.concatenate([self.normal, self.friction.ravel()])


class Problem(NamedTuple):
    """D ((1 + t)c, (1 + t)c), b and μ (c,); ``size`` is what the velocities b are sums of, if that is more than b."""

    D: Array
    b: Array
    friction: Array
    size: float = 0.0

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
    if best.defect <= EXACT:
        return best
    parts, x = _independent(problem), start.copy()
    if len(parts) == 1:
        return _solved(problem, best)
    for own in parts:
        friction = problem.friction[own[own < problem.contacts]]
        part = Problem(problem.D[np.ix_(own, own)], problem.b[own], friction, problem.size)
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
    x, share, largest, before = best.flat, FIRST, float(problem.D.diagonal().max()), np.inf
    for _ in range(PROXIMAL):
        if best.defect <= EXACT or (best.defect <= SOLVED and best.defect > 0.1 * before):
            break
        before = best.defect
        weight = share * largest
        one = problem._replace(D=problem.D + weight * np.eye(x.size), b=problem.b - weight * x)
        nearest = _newton(one, x)
        if nearest.defect > SOLVED:
            nearest = min(nearest, _newton(one, _swept(one, x, SWEEPS)), key=lambda tried: tried.defect)
        if nearest.defect <= SOLVED:
            x, share = nearest.flat, max(0.1 * share, LEAST)
            best = min(best, judged(problem, x), key=lambda tried: tried.defect)
        else:
            share = min(10.0 * share, MOST) if share < MOST else FIRST
    if best.defect <= SOLVED:
        return best
    return min(best, _newton(problem, _swept(problem, best.flat, MANY_SWEEPS)), key=lambda tried: tried.defect)


def judged(problem: Problem, impulses: Array) -> Impulses:
    """Impulses with their defect: that of the natural map."""
    (normal, friction), y = problem.split(impulses), problem.at(impulses)
    (y_n, y_t), (r_n, r_t) = problem.split(y), _steps(problem)
    bound = problem.friction * np.maximum(normal, 0.0)
    trial = friction - r_t * y_t
    wanted = trial * np.minimum(1.0, bound / np.maximum(np.linalg.norm(trial, axis=0), 1e-300))
    missed = np.concatenate([(normal - np.maximum(normal - r_n * y_n, 0.0)) / r_n, ((friction - wanted) / r_t).ravel()])
    scale = max(float(np.abs(problem.b).max(initial=0.0)), problem.size, 1e-300)
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
    """Semismooth Newton steps on who is open, sticks and slips, the best of them."""
    x, best = impulses, judged(problem, impulses)
    for _ in range(STEPS):
        matrix, defect = _linear(problem, x)
        try:
            x = x - np.linalg.solve(matrix, defect)
        except np.linalg.LinAlgError:
            break
        if not np.abs(x).max() < HUGE:
            break
        found = judged(problem, x)
        better = found.defect < best.defect
        best = found if better else best
        if best.defect <= (EXACT if better else SOLVED):
            break
    return best


def _linear(problem: Problem, x: Array) -> tuple[Array, Array]:
    """Jacobian and defect of the conditions that hold on the sets of an iterate."""
    (normal, friction), y, at = problem.split(x), problem.at(x), np.arange(problem.contacts)
    (y_n, y_t), (r_n, r_t), t = problem.split(y), _steps(problem), len(friction)
    trial, bound = friction - r_t * y_t, problem.friction * np.maximum(normal, 0.0)
    size, unit = np.maximum(np.linalg.norm(trial, axis=0), 1e-300), np.eye(t)[:, :, None]
    open_ = normal - r_n * y_n <= 0.0
    none = open_ | (problem.friction == 0.0)
    slips, along = ~none & (size > bound), trial / size
    # a slipping contact: Λ_T − μΛ_N d = 0 over r_t, d the direction of Λ_T − r_t y_T
    turning = np.where(slips, bound / size, 0.0) * (unit - along[:, None] * along)
    on_rates = np.where(none, 0.0, np.where(slips, turning, unit))
    on_impulses = np.where(none, unit, np.where(slips, unit - turning, 0.0)) / r_t
    D, count = problem.D.reshape(t + 1, at.size, x.size), at.size
    matrix, defect = np.empty_like(D), np.empty((t + 1, count))
    matrix[0], defect[0] = np.where(open_, 0.0, 1.0)[:, None] * D[0], np.where(open_, normal / r_n, y_n)
    matrix[0, at, at] += np.where(open_, 1.0 / r_n, 0.0)
    for i in range(t):
        matrix[1 + i] = sum(on_rates[i, j][:, None] * D[1 + j] for j in range(t))
    for i, j in np.ndindex(t, t):
        matrix[1 + i, at, (1 + j) * count + at] += on_impulses[i, j]
    matrix[1:, at, at] -= np.where(slips, problem.friction * along / r_t, 0.0)
    defect[1:] = np.where(none, friction / r_t, np.where(slips, (friction - bound * along) / r_t, y_t))
    return matrix.reshape(x.size, x.size), defect.ravel()
