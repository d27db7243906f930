"""Normal and friction impulses of unilateral contacts: a complementarity problem with Coulomb's friction cone.

With rates y = b + DΛ, D symmetric and positive semidefinite, and impulses Λ = (Λ_N, Λ_T), all normal ones first:

    0 ≤ y_N ⟂ Λ_N ≥ 0,    |Λ_T| ≤ μΛ_N,  Λ_T = −μΛ_N y_T/|y_T| where y_T ≠ 0

Solved by the proximal point method: problems with D + wI and b − wΛ at the last Λ have unique impulses even for
redundant contacts, and w decreases to round-off. Each is solved by a semismooth Newton method on the sets of open,
sticking and slipping contacts, preceded by Gauss-Seidel sweeps if it fails. Independent contacts are solved
separately.

A bearing with dry friction is a contact whose normal impulse is the size |λ| of the impulses λ = λ₀ + EΛ of its joint,
which depend on all impulses Λ. Linearised, Λ_N = n·(λ₀ + EΛ) with n = λ/|λ| is a further row of the complementarity
problem, 0 ≤ Λ_N ⟂ Λ_N − n·(λ₀ + EΛ) ≥ 0; the directions n are updated in a few repetitions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from cones import RELAXED, Cones, NewtonSteps, cones, gauss_seidel, uncoupled_groups
from scipy.sparse.csgraph import connected_components

from flexph.numerics.arrays import Array

SWEEPS, STEPS, PROXIMAL = 15, 30, 30
"""Gauss-Seidel sweeps if Newton's method fails, Newton steps, and proximal steps."""
MANY_SWEEPS, ROUNDS = 200, 10
"""Gauss-Seidel sweeps as a last resort, and number of restarts of Newton's method from their results."""
TOGETHER, FEW = 3, 8
"""Attempts to solve all contacts together, and the number of contacts above which this is done first."""
FIRST, LEAST, MOST = 1e-6, 1e-11, 1e-2
"""Proximal weights relative to the largest entry of D: the first, the smallest and the largest."""
HUGE = 1e12
"""Largest rate of one impulse relative to the scale of rates; beyond it, sums of impulses are only round-off."""
SOLVED, EXACT = 1e-11, 1e-14
"""Relative defect of the complementarity below which a problem is solved, and that of a solution to round-off."""
REPEATED, SUBSTITUTED, PRESSED = 12, 300, 8
"""For bearings: linearisations of |λ|, substitutions of |λ| if these fail, and Newton steps before both."""
HEAVY, HEAVIEST, LIGHTEST, CHANGED = 1e-2, 1.0, 1e-10, 10.0
"""Proximal weights for many contacts: the first, the largest, the smallest, and the factor of changes."""
WEIGHTS, WEIGHTED = 30, 12
"""Number of proximal steps for many contacts, and Newton steps in each."""


class Impulses(NamedTuple):
    """Impulses Λ_N (c,) and Λ_T (t, c), with the defect of the complementarity relative to ``scale`` [m/s]."""

    normal: Array
    friction: Array
    defect: float
    scale: float

    @property
    def flat(self) -> Array:
        """Normal and friction impulses in one vector."""
        return np.concatenate([self.normal, self.friction.ravel()])


class Problem(NamedTuple):
    """Matrix D, vector b and friction coefficients μ (c,) of a problem with (1 + t)c rows.

    ``size``: magnitude of the terms that b sums up [m/s], if larger than b.
    """

    D: Array
    b: Array
    friction: Array
    size: float = 0.0

    @property
    def contacts(self) -> int:
        """Number of contacts."""
        return int(self.friction.size)

    @property
    def cones(self) -> Cones:
        """The contact laws, with steps from the diagonal of D."""
        return cones(self.friction, self.D.diagonal())

    @property
    def scale(self) -> float:
        """Reference velocity of defects [m/s]."""
        return max(float(np.abs(self.b).max(initial=0.0)), self.size, 1e-300)

    def split(self, values: Array) -> tuple[Array, Array]:
        """Normal (c,) and tangential (t, c) parts."""
        return values[: self.contacts], values[self.contacts :].reshape(-1, self.contacts)

    def at(self, impulses: Array) -> Array:
        """Rates y = b + DΛ of impulses."""
        moved: Array = self.b + self.D @ impulses
        return moved


@np.errstate(over="ignore", invalid="ignore")  # divergence shows in the defect
def solve(problem: Problem, guess: Array | None = None) -> Impulses:
    """Impulses that solve a problem; check their ``defect``, as some problems have no solution."""
    start = np.zeros(problem.b.size) if guess is None else guess
    if not problem.contacts:
        return Impulses(np.zeros(0), np.zeros((problem.b.size, 0)), 0.0, 0.0)
    if problem.b.size == 1 and problem.D[0, 0] > 0.0:
        return judged(problem, np.maximum(-problem.b / problem.D[0], 0.0))
    best = judged(problem, start)
    if best.defect <= EXACT:
        return best
    if problem.contacts == 1:
        return _solved(problem, best)
    if problem.contacts > FEW:
        best = together(problem, best)
        if best.defect <= EXACT:
            return best
    parts, x = _independent(problem), best.flat
    if len(parts) == 1:
        return _solved(problem, best)
    for own in parts:
        friction = problem.friction[own[own < problem.contacts]]
        part = Problem(problem.D[np.ix_(own, own)], problem.b[own], friction, problem.size)
        x[own] = solve_one(part, x[own]).flat
    return judged(problem, x)


def _held(problem: Problem, impulses: Array, weight: float) -> Problem:
    """The problem with a proximal weight on the change from given impulses."""
    return problem._replace(D=problem.D + weight * np.eye(impulses.size), b=problem.b - weight * impulses)


def together(problem: Problem, best: Impulses, share: float = FIRST) -> Impulses:
    """Impulses of all contacts by Newton's method alone, near ``best`` if they are not unique.

    ``share``: proximal weight relative to the largest entry of D.
    """
    weight = share * float(problem.D.diagonal().max())
    held = _held(problem, best.flat, weight)
    steps = NewtonSteps(held.D, problem.friction > 0.0)
    for _ in range(TOGETHER):
        x = best.flat
        nearest = _newton(held._replace(b=problem.b - weight * x), x, steps)
        found = judged(problem, nearest.flat)
        before, best = best, min(best, found, key=lambda tried: tried.defect)
        if best.defect <= EXACT or nearest.defect > SOLVED or best.defect > 0.1 * before.defect:
            break
    return best


@np.errstate(over="ignore", invalid="ignore")
def solve_one(problem: Problem, guess: Array) -> Impulses:
    """Impulses of coupled contacts, from a guess."""
    return _solved(problem, judged(problem, guess))


def _independent(problem: Problem) -> list[Array]:
    """Groups of coupled contacts, as indices into D; entries of D between groups are zero."""
    coupled = (np.abs(problem.D).reshape(*[problem.b.size // problem.contacts, problem.contacts] * 2) > 0.0).any((0, 2))
    count, group = connected_components(coupled, directed=False)
    rows = np.arange(problem.b.size).reshape(-1, problem.contacts)
    return [rows[:, group == i].ravel() for i in range(count)]


def _solved(problem: Problem, best: Impulses) -> Impulses:
    """Impulses of coupled contacts by proximal steps, and by sweeps if these fail."""
    x, share, largest, before = best.flat, FIRST, float(problem.D.diagonal().max()), np.inf
    groups: list[Array] | None = None
    for _ in range(PROXIMAL):
        if best.defect <= EXACT or (best.defect <= SOLVED and best.defect > 0.1 * before):
            break
        before = best.defect
        weight = share * largest
        one = _held(problem, x, weight)
        nearest = _newton(one, x)
        if nearest.defect > SOLVED:
            groups = uncoupled_groups(problem.D, problem.contacts) if groups is None else groups
            near = gauss_seidel(one.cones, (one.D, one.b), x, SWEEPS, groups)
            nearest = min(nearest, _newton(one, near), key=lambda tried: tried.defect)
        if nearest.defect <= SOLVED:
            x, share = nearest.flat, max(0.1 * share, LEAST)
            best = min(best, judged(problem, x), key=lambda tried: tried.defect)
        else:
            share = min(10.0 * share, MOST) if share < MOST else FIRST
    return best if best.defect <= SOLVED else by_sweeps(problem, best)


def judged(problem: Problem, impulses: Array) -> Impulses:
    """Impulses with their defect, the maximum norm of the natural map."""
    missed = problem.cones.missed(impulses, problem.at(impulses))
    scale = problem.scale
    return Impulses(*problem.split(impulses), float(np.abs(missed).max()) / scale, scale)


def by_sweeps(problem: Problem, best: Impulses) -> Impulses:
    """Impulses by :func:`by_weights` from the results of Gauss-Seidel sweeps, which begin at the best impulses."""
    x, groups = best.flat, uncoupled_groups(problem.D, problem.contacts)
    for k in range(ROUNDS):
        share = RELAXED[k % len(RELAXED)]
        x = gauss_seidel(problem.cones, (problem.D, problem.b), x, MANY_SWEEPS, groups, share=share)
        best = min(best, by_weights(problem, judged(problem, x)), key=lambda tried: tried.defect)
        if best.defect <= SOLVED:
            break
    return best


def by_weights(problem: Problem, best: Impulses) -> Impulses:
    """Impulses by proximal steps whose weight decreases after each success and increases after each failure.

    If the impulses of nearly redundant contacts are far from the solution, large weights alone need too many steps, and
    with small weights alone Newton's method cycles.
    """
    x, share, largest = best.flat, HEAVY, float(problem.D.diagonal().max())
    for _ in range(WEIGHTS):
        if best.defect <= SOLVED:
            break
        nearest = _newton(_held(problem, x, share * largest), x, most=WEIGHTED)
        if nearest.defect <= SOLVED:
            x, share = nearest.flat, max(share / CHANGED, LIGHTEST)
            best = min(best, judged(problem, x), key=lambda tried: tried.defect)
        else:
            share = min(share * CHANGED, HEAVIEST)
    return best


def _newton(problem: Problem, impulses: Array, steps: NewtonSteps | None = None, most: int = STEPS) -> Impulses:
    """The best of the semismooth Newton steps on the sets of open, sticking and slipping contacts."""
    laws, scale, steps = problem.cones, problem.scale, steps or NewtonSteps(problem.D, problem.friction > 0.0)
    x, y = impulses, problem.at(impulses)
    best, least = x, float(np.abs(laws.missed(x, y)).max()) / scale
    largest = HUGE * scale / max(float(problem.D.diagonal().max()), 1e-300)
    for _ in range(most):
        try:
            x = x + steps.change(laws.linear(x, y), x)
        except np.linalg.LinAlgError:
            break
        if not np.abs(x).max() < largest:
            break
        y = problem.at(x)
        defect = float(np.abs(laws.missed(x, y)).max()) / scale
        better = defect < least
        best, least = (x, defect) if better else (best, least)
        if least <= (EXACT if better else SOLVED):
            break
    return Impulses(*problem.split(best), least, scale)


def linear_system(problem: Problem, x: Array) -> tuple[Array, Array]:
    """Jacobian and defect of the conditions on the sets of open, sticking and slipping contacts at an iterate."""
    now, count, at = problem.cones.linear(x, problem.at(x)), problem.contacts, np.arange(problem.contacts)
    t = len(now.on_normal)
    D = problem.D.reshape(t + 1, count, x.size)
    matrix = np.empty_like(D)
    matrix[0] = np.where(now.open, 0.0, 1.0)[:, None] * D[0]
    matrix[0, at, at] += np.where(now.open, 1.0 / problem.cones.normal_step, 0.0)
    for i in range(t):
        matrix[1 + i] = sum(now.on_rates[i, j][:, None] * D[1 + j] for j in range(t))
    for i, j in np.ndindex(t, t):
        matrix[1 + i, at, (1 + j) * count + at] += now.on_impulses[i, j]
    matrix[1:, at, at] -= now.on_normal
    return matrix.reshape(x.size, x.size), now.defect


class Pressed(NamedTuple):
    """Joint impulses λ = ``base`` + ``by`` Λ, (k,) and (k, m), and the bearing that each of them loads (``owner``).

    The bearings are the last ``number`` contacts of a problem.
    """

    base: Array
    by: Array
    owner: Array
    number: int

    def sized(self, impulses: Array) -> tuple[Array, Array]:
        """Loads |λ| of all bearings (f,), and the unit directions of λ (k,)."""
        own = self.base + self.by @ impulses
        size = np.sqrt(np.bincount(self.owner, weights=own**2, minlength=self.number))
        parts = np.bincount(self.owner, minlength=self.number)
        at_rest = np.sqrt(1.0 / np.maximum(parts, 1))[self.owner]
        each = size[self.owner]
        return size, np.where(each > 0.0, own / np.where(each > 0.0, each, 1.0), at_rest)


@np.errstate(over="ignore", invalid="ignore")
def solve_pressed(problem: Problem, pressed: Pressed, guess: Array) -> Impulses:
    """Impulses of contacts and bearings near a guess, with their defect in the nonlinear law of |λ|."""
    best, before = _newton_pressed(problem, pressed, guess), np.inf
    if best.defect <= EXACT:
        return best
    x = best.flat
    for _ in range(REPEATED):
        x = solve(pressed_by(problem, pressed, x), x).flat
        best = min(best, found := judged_pressed(problem, pressed, x), key=lambda one: one.defect)
        if found.defect <= EXACT or (found.defect <= SOLVED and found.defect > 0.1 * before):
            return best
        before = found.defect
    for _ in range(SUBSTITUTED if best.defect > SOLVED else 0):
        x = solve(pressed_by(problem, pressed, best.flat, follows=False), best.flat).flat
        found = judged_pressed(problem, pressed, x)
        if found.defect >= best.defect:
            break
        best = found
    return best


def _newton_pressed(problem: Problem, pressed: Pressed, x: Array) -> Impulses:
    """The best step of Newton's method on contact sets and |λ| together; it stops at redundant contacts."""
    now = pressed_by(problem, pressed, x)
    best = judged(now, x)
    for _ in range(PRESSED):
        if best.defect <= EXACT:
            break
        matrix, defect = linear_system(now, x)
        try:
            x = x - np.linalg.solve(matrix, defect)
        except np.linalg.LinAlgError:
            break
        now = pressed_by(problem, pressed, x)
        found = judged(now, x)
        if not found.defect < best.defect and best.defect <= SOLVED:
            break
        best = min(best, found, key=lambda one: one.defect)
    return best


def judged_pressed(problem: Problem, pressed: Pressed, impulses: Array) -> Impulses:
    """Impulses with their defect in the law of bearings."""
    return judged(pressed_by(problem, pressed, impulses), impulses)


def pressed_by(problem: Problem, pressed: Pressed, impulses: Array, *, follows: bool = True) -> Problem:
    """The problem with the normal rows of the bearings, linearised at impulses; with constant |λ| if not ``follows``.

    Slip directions that a bearing does not have get the row y = Λ, so that their friction is zero.
    """
    D, b = problem.D.copy(), problem.b.copy()
    first = problem.contacts - pressed.number
    at = np.arange(first, problem.contacts)
    size, direction = pressed.sized(impulses)
    tangents = at[None] + problem.contacts * np.arange(1, b.size // problem.contacts)[:, None]
    along = D[tangents, tangents].max(axis=0, initial=0.0)
    scale = np.where(along > 0.0, along, 1.0)
    D[at], b[at] = 0.0, -scale * size
    if follows:
        turned = np.zeros((pressed.number, b.size))
        np.add.at(turned, pressed.owner, direction[:, None] * pressed.by)
        D[at] = -scale[:, None] * turned
        own = np.bincount(pressed.owner, weights=direction * pressed.base, minlength=pressed.number)
        b[at] = -scale * own
    D[at, at] += scale
    for row in tangents:
        none = D[row, row] == 0.0
        D[row[none], row[none]] = scale[none]
    return problem._replace(D=D, b=b)
