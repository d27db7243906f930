"""Impulses of many contacts between bodies: sparse solution for z and Λ together.

Methods in the order of their use: the semismooth Newton method of :mod:`.complementarity` on the sparse problem; if it
cycles, from points of the interior point method; the dense methods for groups of coupled contacts that are still
unsolved, with sweeps for many of them; and finally a sequence of minimisations with updated slips.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import splu

from ..numerics.arrays import Array
from .complementarity import EXACT, SOLVED, Impulses, Problem, by_sweeps, by_weights, judged, solve_one
from .cones import Linear
from .coupled import Coupled
from .interior import interior_points

STEPS, POLISHED = 12, 4
"""Newton steps with all contacts, as long as they do not cycle, and from each point of the interior point method."""
MINIMA, DENSE = 40, 120
"""Largest number of minimisations with updated slips, and of plane contacts for which all dense methods are tried."""


class Solved(NamedTuple):
    """Impulses Λ, and the velocities and multipliers z."""

    impulses: Impulses
    z: Array


def solve_coupled(problem: Coupled, start: Array, *, resting: bool = False) -> Solved:
    """Impulses and z of a problem, from a guess of z; check their ``defect``. Raises RuntimeError if K is singular.

    ``resting``: prefer impulses that hold the bodies at rest, if there are such; with friction, other solutions may
    exist.
    """
    best, enough = _newton(problem, start, problem.given, STEPS), problem.enough
    plane = problem.cones.contacts < problem.rates.size <= 2 * problem.cones.contacts
    if resting and plane and not _rests(problem, best):
        held = _polished(problem, interior_points(problem, np.zeros(problem.cones.contacts)))
        if held is not None and _rests(problem, held):
            return held
    if best.impulses.defect > enough and problem.rates.size <= 2 * problem.cones.contacts:
        found = _polished(problem, interior_points(problem))
        best = best if found is None else min(best, found, key=_defect)
    if best.impulses.defect > enough:
        best = _apart(problem, best)
    if best.impulses.defect > enough and plane:
        best = min(best, _by_minima(problem), key=_defect)
    return best


def _defect(solved: Solved) -> float:
    return solved.impulses.defect


def _rests(problem: Coupled, solved: Solved) -> bool:
    """True if the contacts with impulses are at rest."""
    normal, rates = solved.impulses.normal, np.abs(problem.at(solved.z)).reshape(-1, problem.cones.contacts)
    moving = float(rates[:, normal > 0.0].max(initial=0.0))
    return solved.impulses.defect <= problem.enough and moving <= problem.enough * problem.scale


def _polished(problem: Coupled, points: Iterator[tuple[Array, Array]]) -> Solved | None:
    """The first solution of Newton's method from some points, or else the best result; None without points."""
    best: Solved | None = None
    for near in points:
        found = _newton(problem, *near, POLISHED)
        best = found if best is None else min(best, found, key=_defect)
        if best.impulses.defect <= problem.enough:
            break
    return best


def _by_minima(problem: Coupled) -> Solved:
    """Solution by minimisations, each with the slips of the previous one."""
    slips = np.zeros(problem.cones.contacts)
    best: Solved | None = None
    for _ in range(MINIMA):
        points = list(interior_points(problem, slips))
        if not points:
            break
        z, x = points[-1]
        found = _newton(problem, z, x, POLISHED)
        best = found if best is None else min(best, found, key=_defect)
        if best.impulses.defect <= problem.enough:
            break
        slips = np.abs(problem.at(z)[slips.size :])
    return best or _followed(problem, problem.given)


def _newton(problem: Coupled, z: Array, x: Array, steps: int) -> Solved:
    """The best of the semismooth Newton steps from z and impulses."""
    factors, best = _Factors(problem), judged_at(problem, z, x)
    best = best._replace(impulses=best.impulses._replace(defect=np.inf))  # z may have a residual
    for _ in range(steps):
        try:
            z, x = factors.step(z, x)
        except RuntimeError:  # singular
            break
        if factors.cycle:
            break
        found = judged_at(problem, z, x)
        better = found.impulses.defect < best.impulses.defect
        best = found if better else best
        defect = best.impulses.defect
        if defect <= EXACT or (defect <= problem.enough and not better) or not np.isfinite(found.impulses.defect):
            break
    return best


def _followed(problem: Coupled, x: Array) -> Solved:
    """Impulses with the z that they cause."""
    z = splu(problem.K, permc_spec="COLAMD").solve(problem.push + problem.acting.T @ (x - problem.given))
    return judged_at(problem, z, x)


def judged_at(problem: Coupled, z: Array, x: Array) -> Solved:
    """Impulses and z with the defect of the contact laws, for a z that the impulses cause."""
    missed = float(np.abs(problem.cones.missed(x, problem.at(z))).max())
    return Solved(Impulses(*problem.cones.split(x), missed / problem.scale, problem.scale), z)


class _Factors:
    """Newton steps of a problem; the matrix is reused as long as the contact sets do not change."""

    def __init__(self, problem: Coupled) -> None:
        self._problem, self._sets = problem, np.zeros(0)
        self._seen: set[bytes] = set()
        self.cycle = False

    def step(self, z: Array, x: Array) -> tuple[Array, Array]:
        """z and impulses after a Newton step; sets ``cycle`` if the contact sets were met before."""
        p = self._problem
        now = p.cones.linear(x, p.at(z))
        sets = np.concatenate([now.open, *now.on_rates.reshape(-1, now.open.size), *now.on_normal])
        if not np.array_equal(sets, self._sets):
            key, kept = sets.tobytes(), {} if p.factors is None else p.factors
            self.cycle = key in self._seen
            self._seen.add(key)
            if key not in kept:
                kept.clear()
                kept[key] = p.factored(now, p.weight / p.cones.normal_step, p.weight)
            self._sets, (self._held, self._lu) = sets, kept[key]
        return _stepped(p, (z, x), now, (self._held, self._lu))


def _stepped(problem: Coupled, at: tuple[Array, Array], now: Linear, factors: tuple[Array, Any]) -> tuple[Array, Array]:
    """After a step, from who is open, sticks and slips with the factors of that."""
    (z, x), (held, lu) = at, factors
    change = np.where(held, 0.0, -x)
    left = problem.missing(z, x + change)
    found = lu.solve(np.concatenate([left, -now.defect[held]]))
    change[held] = found[z.size :]
    return z + found[: z.size], x + change


def _apart(problem: Coupled, best: Solved) -> Solved:
    """Solve the unsolved groups of coupled contacts by a dense D; large groups by proximal steps and sweeps alone."""
    cones, solve, x = problem.cones, splu(problem.K, permc_spec="COLAMD").solve, best.impulses.flat
    count, m, rates = cones.contacts, x.size, problem.at(best.z)
    missed = np.abs(cones.missed(x, rates)).reshape(-1, count).max(axis=0) / problem.scale
    pattern = sparse.block_array([[abs(problem.K), abs(problem.acting).T], [abs(problem.moved), None]])
    group = connected_components(pattern, directed=False)[1][-m:].reshape(-1, count)[0]
    for own in np.unique(group[missed > problem.enough]):
        index = np.flatnonzero(group == own)
        rows = (np.arange(m // count)[:, None] * count + index).ravel()
        D = problem.moved[rows] @ solve(problem.acting[rows].T.toarray())
        part = Problem(D, rates[rows] - D @ x[rows], cones.friction[index], problem.size)
        is_small = index.size <= DENSE or m > 2 * count
        x[rows] = (solve_one(part, x[rows]) if is_small else _of_many(part, x[rows])).flat
    return _followed(problem, x)


def _of_many(problem: Problem, near: Array) -> Impulses:
    """Impulses of a large group of coupled contacts, from a guess."""
    best = by_weights(problem, judged(problem, near))
    return best if best.defect <= SOLVED else by_sweeps(problem, best)
