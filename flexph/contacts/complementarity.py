"""Normal and friction impulses of unilateral contacts: a complementarity problem with Coulomb's cone.

With y = b + DΛ, D symmetric and positive semidefinite (Λ = (Λ_N, Λ_T), all normal ones first):

    0 ≤ y_N ⟂ Λ_N ≥ 0,    |Λ_T| ≤ μΛ_N,  Λ_T = −μΛ_N y_T/|y_T| where y_T ≠ 0

By the proximal point method: problems with D + wI and b − wΛ at the last Λ have impulses that are unique, also where
contacts are redundant, and w goes to round-off. Each is solved by a semismooth Newton method on who is open, sticks
and slips, after sweeps of Gauss and Seidel where it fails. Contacts that do not act on each other are apart.

A bearing is a contact whose normal impulse is not of a gap, but the size |λ| of impulses λ = λ₀ + EΛ of its joint that
all impulses Λ change. Linearised, Λ_N = n·(λ₀ + EΛ) with n = λ/|λ| is a row of the complementarity problem as others
are, 0 ≤ Λ_N ⟂ Λ_N − n·(λ₀ + EΛ) ≥ 0, and the directions n follow in a few repetitions.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse.csgraph import connected_components

from ..numerics.arrays import Array
from .cones import RELAXED, Cones, NewtonSteps, apart, cones, swept

SWEEPS, STEPS, PROXIMAL = 15, 30, 30
"""Sweeps where Newton's method fails, its steps, and how often a weight is taken."""
MANY_SWEEPS, ROUNDS = 200, 10
"""Sweeps where none helps, and how often Newton's method begins where they came to."""
TOGETHER, FEW = 3, 8
"""How often more contacts than a few are solved together, before those that do not act on each other are apart."""
FIRST, LEAST, MOST = 1e-6, 1e-11, 1e-2
"""Weights on what changes, over the largest entry of D: the first, and the range."""
HUGE = 1e12
"""Rate by one impulse alone over the scale of rates that leads nowhere: what is left of many of them is round-off."""
SOLVED, EXACT = 1e-11, 1e-14
"""Defects of the complementarity, over the largest velocity in it, of a problem that is solved, and to round-off."""
REPEATED, SUBSTITUTED, PRESSED = 12, 300, 8
"""Linearisations of |λ| of bearings, substitutions of |λ| where they do not lead to the end, Newton steps before."""
HEAVY, HEAVIEST, LIGHTEST, CHANGED = 1e-2, 1.0, 1e-10, 10.0
"""The first weight of many contacts, the range of others, and the factor by which they change."""
WEIGHTS, WEIGHTED = 30, 12
"""How many weights of many contacts there are, and Newton steps with each."""


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

    @property
    def cones(self) -> Cones:
        """The laws of the contacts."""
        return cones(self.friction, self.D.diagonal())

    @property
    def scale(self) -> float:
        """What defects are relative to [m/s]."""
        return max(float(np.abs(self.b).max(initial=0.0)), self.size, 1e-300)

    def split(self, values: Array) -> tuple[Array, Array]:
        """Normal (c,) and tangential (t, c) parts."""
        return values[: self.contacts], values[self.contacts :].reshape(-1, self.contacts)

    def at(self, impulses: Array) -> Array:
        """y."""
        moved: Array = self.b + self.D @ impulses
        return moved


@np.errstate(over="ignore", invalid="ignore")  # an iteration that diverges says so by its defect
def solve(problem: Problem, guess: Array | None = None) -> Impulses:
    """The impulses; look at their ``defect``, as some problems have no solution."""
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


@np.errstate(over="ignore", invalid="ignore")
def solve_near(problem: Problem, guess: Array, weight: float) -> Impulses:
    """The impulses of a step of the proximal point method: with a weight on what changes, over the largest entry of D.

    For laws of which the next linearisation is to come: where impulses are nearly redundant that of one alone may
    have none, or far away. All of :func:`solve` where that step is not solved.
    """
    if problem.b.size <= 1:
        return solve(problem, guess)
    nearest = _newton(_held(problem, guess, weight * float(problem.D.diagonal().max())), guess)
    return judged(problem, nearest.flat) if nearest.defect <= SOLVED else solve(problem, guess)


def _held(problem: Problem, impulses: Array, weight: float) -> Problem:
    """The problem with a weight on what changes from impulses."""
    return problem._replace(D=problem.D + weight * np.eye(impulses.size), b=problem.b - weight * impulses)


def together(problem: Problem, best: Impulses, share: float = FIRST) -> Impulses:
    """The impulses of all contacts by Newton's method alone, near those of the guess where they are not unique.

    ``share`` is the weight on what changes, over the largest entry of D.
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
    """The impulses of contacts that all depend on each other."""
    return _solved(problem, judged(problem, guess))


def _independent(problem: Problem) -> list[Array]:
    """Contacts that act on each other, in groups: their places in D, of which those between groups are zero."""
    coupled = (np.abs(problem.D).reshape(*[problem.b.size // problem.contacts, problem.contacts] * 2) > 0.0).any((0, 2))
    count, group = connected_components(coupled, directed=False)
    rows = np.arange(problem.b.size).reshape(-1, problem.contacts)
    return [rows[:, group == i].ravel() for i in range(count)]


def _solved(problem: Problem, best: Impulses) -> Impulses:
    """The impulses of contacts that all depend on each other."""
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
            groups = apart(problem.D, problem.contacts) if groups is None else groups
            near = swept(one.cones, (one.D, one.b), x, SWEEPS, groups)
            nearest = min(nearest, _newton(one, near), key=lambda tried: tried.defect)
        if nearest.defect <= SOLVED:
            x, share = nearest.flat, max(0.1 * share, LEAST)
            best = min(best, judged(problem, x), key=lambda tried: tried.defect)
        else:
            share = min(10.0 * share, MOST) if share < MOST else FIRST
    return best if best.defect <= SOLVED else by_sweeps(problem, best)


def judged(problem: Problem, impulses: Array) -> Impulses:
    """Impulses with their defect: that of the natural map."""
    missed = problem.cones.missed(impulses, problem.at(impulses))
    scale = problem.scale
    return Impulses(*problem.split(impulses), float(np.abs(missed).max()) / scale, scale)


def by_sweeps(problem: Problem, best: Impulses) -> Impulses:
    """The impulses by weights from those that sweeps come to, which begin at the best ones."""
    x, groups = best.flat, apart(problem.D, problem.contacts)
    for k in range(ROUNDS):
        share = RELAXED[k % len(RELAXED)]
        x = swept(problem.cones, (problem.D, problem.b), x, MANY_SWEEPS, groups, share=share)
        best = min(best, by_weights(problem, judged(problem, x)), key=lambda tried: tried.defect)
        if best.defect <= SOLVED:
            break
    return best


def by_weights(problem: Problem, best: Impulses) -> Impulses:
    """The impulses after proximal steps: with lighter weights after each that is solved, else with heavier ones.

    Where impulses of nearly redundant contacts go a long way to where they obey, heavy weights alone take too many
    steps, and with light ones alone Newton's method cycles.
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
    """Semismooth Newton steps on who is open, sticks and slips, the best of them."""
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
    """Jacobian and defect of the conditions that hold on the sets of an iterate."""
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
    """Impulses ``base`` + ``by`` Λ, (k,) and (k, m), of joints, and the bearing that each of them presses.

    The bearings are the last ``number`` contacts of a problem.
    """

    base: Array
    by: Array
    owner: Array
    number: int

    def sized(self, impulses: Array) -> tuple[Array, Array]:
        """|λ| of all bearings (f,), and the directions of λ (k,)."""
        own = self.base + self.by @ impulses
        size = np.sqrt(np.bincount(self.owner, weights=own**2, minlength=self.number))
        parts = np.bincount(self.owner, minlength=self.number)
        at_rest = np.sqrt(1.0 / np.maximum(parts, 1))[self.owner]
        each = size[self.owner]
        return size, np.where(each > 0.0, own / np.where(each > 0.0, each, 1.0), at_rest)


@np.errstate(over="ignore", invalid="ignore")
def solve_pressed(problem: Problem, pressed: Pressed, guess: Array) -> Impulses:
    """The impulses near a guess, with their defect in the law of |λ| itself."""
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
    """Newton's method on sets and |λ| at once, the best of its steps: it ends where contacts are redundant."""
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
    """Impulses with their defect."""
    return judged(pressed_by(problem, pressed, impulses), impulses)


def pressed_by(problem: Problem, pressed: Pressed, impulses: Array, *, follows: bool = True) -> Problem:
    """The problem with the normal rows of the bearings, linearised at impulses; with |λ| as there if not ``follows``.

    Slips that a bearing does not have get the row y = Λ of friction that is zero.
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


def with_bearings(rows: Array, contacts: int, slips: Array) -> Array:
    """Rows of contacts, normal ones first, and those (t, f, …) of slips of bearings, whose normal rows are zero."""
    t, f = slips.shape[:2]
    whole = np.zeros((1 + t, contacts + f, *rows.shape[1:]))
    if contacts:
        own = rows.reshape(-1, contacts, *rows.shape[1:])
        whole[: len(own), :contacts] = own
    whole[1:, contacts:] = slips
    return whole.reshape(-1, *rows.shape[1:])
