"""Impulses of many contacts between bodies: z and Λ together, with all contacts at once.

The semismooth Newton method of :mod:`.complementarity` on the sparse problem; where it cycles, from points of the
interior point method. Contacts that act on each other and are not solved so go to the dense methods, many of them to
sweeps, and at last come minima for slips that follow.
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
"""Newton steps with all contacts at once, as long as they do not cycle, and from each point of the interior method."""
MINIMA, DENSE = 40, 120
"""Minima for slips that follow, and contacts of the plane up to which all dense methods are tried."""


class Solved(NamedTuple):
    """Impulses, and z."""

    impulses: Impulses
    z: Array


def solve_coupled(problem: Coupled, start: Array, *, resting: bool = False) -> Solved:
    """The impulses and what they change, from a change; look at their ``defect``. RuntimeError where K is singular.

    Of bodies that were ``resting`` those impulses that hold them there, where there are such: with friction others may
    obey the laws, too.
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
    """Whether contacts that have impulses do not move."""
    normal, rates = solved.impulses.normal, np.abs(problem.at(solved.z)).reshape(-1, problem.cones.contacts)
    moving = float(rates[:, normal > 0.0].max(initial=0.0))
    return solved.impulses.defect <= problem.enough and moving <= problem.enough * problem.scale


def _polished(problem: Coupled, points: Iterator[tuple[Array, Array]]) -> Solved | None:
    """The best that Newton's method finds from some points, the first that is solved; None where there are none."""
    best: Solved | None = None
    for near in points:
        found = _newton(problem, *near, POLISHED)
        best = found if best is None else min(best, found, key=_defect)
        if best.impulses.defect <= problem.enough:
            break
    return best


def _by_minima(problem: Coupled) -> Solved:
    """From the minima for slips that follow those of the minimum before."""
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
    """Semismooth Newton steps from z and impulses, the best of them."""
    factors, best = _Factors(problem), judged_at(problem, z, x)
    best = best._replace(impulses=best.impulses._replace(defect=np.inf))  # K z may miss
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
    """Impulses with the z that follows from them."""
    z = splu(problem.K, permc_spec="COLAMD").solve(problem.push + problem.acting.T @ (x - problem.given))
    return judged_at(problem, z, x)


def judged_at(problem: Coupled, z: Array, x: Array) -> Solved:
    """Impulses and z with their defect, if z follows from them."""
    missed = float(np.abs(problem.cones.missed(x, problem.at(z))).max())
    return Solved(Impulses(*problem.cones.split(x), missed / problem.scale, problem.scale), z)


class _Factors:
    """Newton steps of a problem, with the last matrix as long as who is open, sticks and slips stays."""

    def __init__(self, problem: Coupled) -> None:
        self._problem, self._sets = problem, np.zeros(0)
        self._seen: set[bytes] = set()
        self.cycle = False

    def step(self, z: Array, x: Array) -> tuple[Array, Array]:
        """After a step."""
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
    """The impulses with those of contacts that act on each other and are not solved by D: of many by sweeps alone."""
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
    """The impulses of many contacts near some."""
    best = by_weights(problem, judged(problem, near))
    return best if best.defect <= SOLVED else by_sweeps(problem, best)
