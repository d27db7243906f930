"""A step at an iterate, linearised, with some of the rigid contacts: how impulses change it, dense or by bodies.

Dry friction of joints is among the dense ones."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from ...contacts.complementarity import Impulses, Pressed, Problem, pressed_by, solve_near, solve_pressed, with_bearings
from ...contacts.cones import Cones, cones
from ...contacts.coupled import Coupled, pattern_of
from ...contacts.many import solve_coupled
from ...kernels.arrays import Arrays
from ...kernels.contacts.gaps import Touch
from ...kernels.gradient import velocity_count
from ...kernels.jacobians.bearings import bearing_rows
from ...kernels.jacobians.blocks import flatten, node_blocks, node_gradients, unflatten
from ...kernels.jacobians.body_blocks import Sides, motion_matrix, pair_rows
from ...kernels.jacobians.contacts import gap_rows, slip_rows, taken, vector_rows
from ...kernels.values import Means, Solve
from ...numerics.arrays import Array, dense
from ..exact.iterate import Iterate, factored

RESTING = 1e-9
"""Velocity at the start of a step over the largest in it up to which bodies are at rest."""


class Change(NamedTuple):
    """Impulses that the laws want, and the change of the mean velocities and multipliers (n_v + g,) with them."""

    impulses: Impulses
    change: Array


class Accuracy(NamedTuple):
    """What rates are sums of at least, and for sparse matrices the defect that is enough, and the weight on changes."""

    size: float
    enough: float
    weight: float


class DenseStep(NamedTuple):
    """All impulses with D as a matrix: that of few contacts, or of bodies that deform.

    ``free`` is the change without other impulses, ``spread`` (n_v + g, m) that by unit impulses, ``terms`` the largest
    sum of the sizes of the terms of a rate [m/s].
    """

    solve: Solve
    free: Array
    spread: Array
    problem: Problem
    terms: float
    pressed: Pressed | None

    def solved(self, given: Array, wanted: Accuracy) -> Change:
        """The impulses near those given."""
        problem = self.problem._replace(size=max(self.terms, wanted.size))
        if self.pressed is None:
            found = solve_near(problem, given, wanted.weight)
        else:
            found = solve_pressed(problem, self.pressed, given)
        return Change(found, self.free + self.spread @ (found.flat - given))

    def missed(self, impulses: Array, rates: Array, joints: Array) -> tuple[Impulses, float]:
        """Impulses judged by rates and the impulses of joints, with what their defect is relative to [m/s]."""
        b = rates - self.problem.D @ impulses
        scale = max(float(np.abs(b).max()), self.terms, 1e-300)
        if self.pressed is None:
            return _judged(self.problem.cones, (impulses, rates), scale)
        own = self.pressed._replace(base=joints, by=0.0 * self.pressed.by)
        problem = pressed_by(self.problem._replace(b=b), own, impulses)
        return _judged(problem.cones, (impulses, problem.at(impulses)), scale)


class SparseStep(NamedTuple):
    """The same between rigid bodies, with their velocities as unknowns, too."""

    solve: Solve
    problem: Coupled
    start: Array
    velocities: int
    multipliers: int
    h: float
    terms: float
    free: float
    resting: bool

    def solved(self, given: Array, wanted: Accuracy) -> Change:
        """See :class:`DenseStep`."""
        size = max(self.terms, self.free, wanted.size)
        problem = self.problem._replace(given=given, size=size, enough=wanted.enough, weight=wanted.weight)
        found = solve_coupled(problem, self.start, resting=self.resting)
        change = found.z[: self.velocities + self.multipliers].copy()
        change[self.velocities :] /= self.h
        return Change(found.impulses, change)

    def again(self, a: Arrays, iterate: Iterate, index: Array) -> SparseStep:
        """The step at another iterate, near by, with the same matrices."""
        push = _push(a, iterate, self.problem.push.size)
        problem = self.problem._replace(push=push, rates=rates_of(a, iterate, index))
        return self._replace(problem=problem, start=np.zeros(push.size))

    def missed(self, impulses: Array, rates: Array, joints: Array) -> tuple[Impulses, float]:
        """See :class:`DenseStep`."""
        return _judged(self.problem.cones, (impulses, rates), max(self.terms, self.free, 1e-300))


def _judged(cones: Cones, at: tuple[Array, Array], scale: float) -> tuple[Impulses, float]:
    impulses, rates = at
    missed = np.abs(cones.missed(impulses, rates)).max()
    return Impulses(*cones.split(impulses), float(missed) / scale, scale), scale


def dense_step(a: Arrays, iterate: Iterate, index: Array, at: tuple[int, float, Array]) -> DenseStep:
    """How impulses of some of the contacts change a step, from the number of the iteration, its size, and impulses."""
    iteration, size, given = at
    solve_with = factored(a, iterate, iteration, size)
    correction = solve_with(iterate.defect)
    h, n, bearings = iterate.step.h, velocity_count(a), a.bearings
    A, R = _rows(a, iterate, index)
    spread = _spread(a, solve_with, A, iterate.x.lam.size)
    D, free = R @ spread[:n], -np.concatenate([flatten(a, correction), correction.lam])
    b = rates_of(a, iterate, index) + R @ free[:n] - D @ given
    problem, pressed = Problem(D, b, np.concatenate([a.contacts.friction[index], bearings.friction])), None
    if bearings.number:
        own = iterate.step.schedule.multipliers
        by = h * own(spread[n:])[bearings.row]
        base = h * own(iterate.x.lam + free[n:])[bearings.row] - by @ given
        pressed = Pressed(base, by, bearings.owner, bearings.number)
    return DenseStep(solve_with, free, spread, problem, _terms(a, R, iterate), pressed)


def _rows(a: Arrays, iterate: Iterate, index: Array) -> tuple[Array, Array]:
    """How some of the contacts and all bearings act, and what moves them, (m, n_v) each, normal rows first."""
    point, h, width = iterate.point, iterate.step.h, velocity_count(a)
    B, W = node_gradients(a, point, node_blocks(a, point)[0])
    acting, rates = np.zeros((0, width)), np.zeros((0, width))
    if index.size:
        part, own = a._replace(contacts=a.contacts.take(index)), touch_of(iterate, index)
        on, moved = vector_rows(part, B), vector_rows(part, W)
        acting, rates = dense(gap_rows(own.gaps.mean, on)), dense(gap_rows(own.gaps.end, moved)) / h
        if part.contacts.friction.any():
            frame: Any = np.swapaxes(iterate.trial.inverse, 1, 2)
            slips = [dense(row) for row in slip_rows(part, on[0], own, frame)]
            acting, rates = np.vstack([acting, *slips]), np.vstack([rates, *slips])
    if not a.bearings.number:
        return acting, rates
    shape, of_bearings = (*a.bearings.spring.shape, width), bearing_rows(a, point, B, W)
    acting, rates = (
        with_bearings(rows, index.size, own.reshape(shape))
        for rows, own in zip((acting, rates), of_bearings, strict=True)
    )
    return acting, rates


def sparse_step(a: Arrays, iterate: Iterate, index: Array, sides: Sides, known: SparseStep | None) -> SparseStep:
    """The same between rigid bodies on both sides of the contacts; ``known`` is that of the iterate before."""
    point, h, g = iterate.point, iterate.step.h, iterate.x.lam.size
    part, n = a._replace(contacts=a.contacts.take(index)), velocity_count(a)
    acting, rates, turning = pair_rows(part, sides, point, touch_of(iterate, index))
    terms = _terms(a, rates, iterate)
    K = motion_matrix(a, point, sides, turning)
    more = sparse.csr_array((rates.shape[0], K.shape[0] - n))
    acting, moved = (sparse.csr_array(sparse.hstack([rows, more])) for rows in (acting, rates))
    push, start = _push(a, iterate, K.shape[0]), np.zeros(K.shape[0])
    now, free = rates_of(a, iterate, index), 0.0 if known is None else known.free
    if known is None:
        start = splu(K, permc_spec="COLAMD").solve(push)
        free = float(np.abs(now + moved @ start).max())
    masses = (acting * acting)[:, :n] @ (1.0 / K.diagonal()[:n])
    laws = cones(part.contacts.friction, masses)
    problem = Coupled(
        K, acting, moved, push, now, np.zeros(now.size), laws, 0.0, pattern_of(K, acting, moved, index.size), {}
    )
    v = flatten(a, Means(iterate.step.start.v, iterate.step.start.omega, iterate.step.start.du, np.zeros(0)))
    resting = known is None and float(np.abs(v).max()) <= RESTING * max(terms, free)
    return SparseStep(partial(_corrected, a, K, h), problem, start, n, g, h, terms, free, resting)


def _push(a: Arrays, iterate: Iterate, size: int) -> Array:
    """q of an iterate, of a size with other unknowns."""
    push, n, defect = np.zeros(size), velocity_count(a), iterate.defect
    push[:n], push[n : n + defect.lam.size] = -flatten(a, defect), -defect.lam / iterate.step.h
    return push


def _corrected(a: Arrays, K: Any, h: float, defect: Means) -> Means:
    """The correction for a defect."""
    y, n, g = np.zeros(K.shape[0]), velocity_count(a), defect.lam.size
    y[:n], y[n : n + g] = flatten(a, defect), defect.lam / h
    y = splu(K, permc_spec="COLAMD").solve(y)
    return unflatten(a, y[:n], y[n : n + g] / h)


def touch_of(iterate: Iterate, index: Array) -> Touch:
    """Some of the contacts of an iterate."""
    assert iterate.trial.touch is not None
    return taken(iterate.trial.touch, index)


def rates_of(a: Arrays, iterate: Iterate, index: Array) -> Array:
    """Gaps at the end of a step, and the slips where there is friction, over its length; those of all bearings."""
    rates, slipped = np.zeros(0), iterate.trial.slipped
    if index.size:
        own, frictional = touch_of(iterate, index), a.contacts.friction[index].any()
        rates = np.concatenate([own.gaps.after, *(own.slip if frictional else ())]) / iterate.step.h
    return rates if slipped is None else with_bearings(rates, index.size, slipped / iterate.step.h)


def _terms(a: Arrays, rates: Any, iterate: Iterate) -> float:
    return float((abs(rates) @ np.abs(flatten(a, iterate.x))).max())


def _spread(a: Arrays, solve_with: Solve, rows: Array, multipliers: int) -> Array:
    """What unit impulses along the rows (m, n_v) add to mean velocities and multipliers, (n_v + g, m)."""
    columns, nothing = [], np.zeros(rows.shape[1] + multipliers)
    for row in rows:
        if not row.any():
            columns.append(nothing)
            continue
        y = solve_with(unflatten(a, row, np.zeros(multipliers)))
        columns.append(np.concatenate([flatten(a, y), y.lam]))
    return np.array(columns).T.reshape(nothing.size, len(rows))
