"""Interior point method for many plane contacts, which finds their sets if Newton's method cycles.

The sets are those of open, sticking and slipping contacts. With the slacks s of the normal rates and of the rates in
both directions of the tangent, p = μΛ_N + Λ_T and m = μΛ_N − Λ_T, the conditions are

    y_N = s_N,  y_T = s_p − s_m,    Λ_N s_N = p s_p = m s_m = τ → 0,    all positive.

Predictor and corrector (Mehrotra, SIAM J. Optim. 2 (1992) 575) use the same sparse matrix. Coulomb's law is not the
optimality condition of a minimisation, as friction does not open the gap; with given slips σ it becomes one, with the
same products:

    y_N + μσ = s_N + μ(s_p + s_m),    at the end σ = s_p + s_m = |y_T|

(De Saxcé and Feng, Math. Comput. Model. 28 (1998) 225). It always has a solution; with σ = 0 this is the state of rest
if impulses in the friction cones can hold the bodies. σ is updated from one minimum to the next.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..numerics.arrays import Array
from .cones import Linear
from .coupled import Coupled

STEPS = 40
"""Largest number of steps; about 15 are usually needed."""
NEAR, ENDED, MISSED = 1e-12, 1e-18, 1e-9
"""Relative mean products at which the sets may be known, and at which the iteration stops; relative error of rates."""
ASTRAY = 1e3
"""Ratio of the mean product to the smallest one at which round-off stops the iteration."""
SHORT = 0.99
"""Fraction of the step to the boundary, where a factor becomes zero."""


class _Pairs(NamedTuple):
    """Factors (Λ_N, p, m) and slacks (s_N, s_p, s_m), (3, c); unused ones are 1.

    A contact without friction has only the pair Λ_N, s_N; in a minimisation, one with friction has only the other two,
    as Λ_N = ½(p + m)/μ.
    """

    factor: Array
    slack: Array

    def longest(self, way: _Pairs) -> float:
        """Largest fraction of a step, at most 1, that keeps all factors and slacks positive."""
        now, ahead = np.concatenate(self), np.concatenate(way)
        falls = ahead < 0.0
        return float(min(1.0, np.min(now[falls] / -ahead[falls], initial=np.inf)))

    def after(self, way: _Pairs, share: float) -> _Pairs:
        """Factors and slacks after a fraction of a step."""
        return _Pairs(self.factor + share * way.factor, self.slack + share * way.slack)

    def mean(self, own: Array) -> float:
        """Mean product of factor and slack over the pairs in use (mask ``own``)."""
        return float((self.factor * self.slack)[own].mean())


def interior_points(problem: Coupled, slips: Array | None = None) -> Iterator[tuple[Array, Array]]:
    """Successive approximations of z and Λ, from the first one near enough to know the contact sets.

    With ``slips`` σ (c,), approximations of the solution of the minimisation.
    """
    system, unit = _System(problem, slips), problem.scale
    pairs, z, x = system.start()
    size, least = unit * float((unit * problem.cones.normal_step).mean()), np.inf
    for _ in range(STEPS):
        missed, product = system.missed(pairs, z), pairs.mean(system.own)
        least = min(least, product)
        if not ENDED * size < product <= ASTRAY * least:
            return
        if product <= NEAR * size and np.abs(missed).max() <= MISSED * unit:
            yield z, x
        try:
            tangent = system.tangent(pairs, (z, x), missed)
        except RuntimeError:  # singular
            return
        products = pairs.factor * pairs.slack
        ahead, *_ = tangent.way(-products)
        reached = pairs.after(ahead, pairs.longest(ahead)).mean(system.own)
        centre = min(1.0, max(1e-6, (reached / product) ** 3))
        step, dz, dx = tangent.way(centre * product - products - ahead.factor * ahead.slack)
        share = min(1.0, SHORT * pairs.longest(step))
        pairs, z, x = pairs.after(step, share), z + share * dz, x + share * dx


class _System:
    """The interior point conditions of a problem on z, Λ, factors and slacks.

    Masks: ``rubs`` of contacts with friction, ``presses`` of contacts with the pair Λ_N, s_N, ``own`` (3, c) of the
    pairs in use.
    """

    def __init__(self, problem: Coupled, slips: Array | None) -> None:
        laws = problem.cones
        self.problem, self.slips, self.count, self.friction = problem, slips, laws.contacts, laws.friction
        self.frictional, self.rubs = problem.rates.size > laws.contacts, laws.friction > 0.0
        self.presses = ~self.rubs if slips is not None else np.ones(self.count, dtype=bool)
        self.own = np.stack([self.presses, self.rubs, self.rubs])
        self.wide: Array | float = 0.0 if slips is None else self.friction

    def start(self) -> tuple[_Pairs, Array, Array]:
        """Starting point: pairs at the scale of the problem, with z and Λ."""
        unit, ones = self.problem.scale, np.ones(self.count)
        normal = unit * self.problem.cones.normal_step
        bound, slack = np.where(self.rubs, self.friction * normal, 1.0), np.where(self.rubs, unit, 1.0)
        factor = np.stack([np.where(self.presses, normal, 1.0), bound, bound])
        pairs = _Pairs(factor, np.stack([np.where(self.presses, unit * ones, 1.0), slack, slack]))
        x = np.concatenate([normal, *([0.0 * ones] if self.frictional else [])])
        return pairs, np.zeros(self.problem.push.size), x

    def missed(self, pairs: _Pairs, z: Array) -> Array:
        """Differences between rates and slacks, along normals and tangents (2, c)."""
        rates, slack = self.problem.at(z), pairs.slack
        normal, tangent = rates[: self.count], rates[self.count :] if self.frictional else np.zeros(self.count)
        if self.slips is not None:
            normal = normal + self.friction * (self.slips - np.where(self.rubs, slack[1] + slack[2], 0.0))
        along = np.where(self.rubs, tangent - slack[1] + slack[2], 0.0)
        return np.stack([normal - np.where(self.presses, slack[0], 0.0), along])

    def tangent(self, pairs: _Pairs, at: tuple[Array, Array], missed: Array) -> _Tangent:
        """The factored Newton system at an iterate with defects ``missed``; raises RuntimeError if it is singular."""
        weight = np.where(self.own, pairs.slack / pairs.factor, 0.0)
        along = np.where(self.rubs, weight[1] + weight[2], 1.0)
        across, t = self.friction * (weight[1] - weight[2]), int(self.frictional)
        rows, ones = np.ones((t, t, self.count)), np.ones(self.count, dtype=bool)
        laws = Linear(~ones, rows, along * rows, -across * np.ones((t, self.count)), self.problem.at(at[0]))
        minimal = self.slips is not None and t
        normal = weight[0] + self.wide**2 * along
        held, lu = self.problem.factored(laws, normal, across=across[None] if minimal else None)
        return _Tangent(self, pairs, weight, missed, self.problem.missing(*at), held, lu)


class _Tangent(NamedTuple):
    """The Newton system at an iterate: defects of the conditions, and a factor of their derivative."""

    system: _System
    pairs: _Pairs
    weight: Array  # (3, c), slacks over factors
    missed: Array  # (2, c)
    left: Array  # residual of z
    held: Array  # mask of the impulses that are unknown
    lu: Any

    def way(self, wanted: Array) -> tuple[_Pairs, Array, Array]:
        """Step of pairs, z and Λ that changes the products by ``wanted`` (3, c)."""
        own, count, mu = self.system.own, self.system.count, self.system.friction
        pull, size = np.where(own, wanted / self.pairs.factor, 0.0), self.left.size
        right = pull[0] + self.system.wide * (pull[1] + pull[2]) - self.missed[0]
        if self.system.frictional:
            right = np.concatenate([right, pull[1] - pull[2] - self.missed[1]])
        found, change = self.lu.solve(np.concatenate([self.left, right[self.held]])), np.zeros(self.held.size)
        change[self.held] = found[size:]
        normal, tangent = change[:count], change[count:] if self.system.frictional else np.zeros(count)
        factor = np.where(own, np.stack([normal, mu * normal + tangent, mu * normal - tangent]), 0.0)
        return _Pairs(factor, pull - self.weight * factor), found[:size], change
