"""An interior point method for many contacts of the plane: who is open, sticks and slips, where Newton's method cycles.

With the slacks s of the normal rates and of those to both sides along the tangent, p = μΛ_N + Λ_T and m = μΛ_N − Λ_T,

    y_N = s_N,  y_T = s_p − s_m,    Λ_N s_N = p s_p = m s_m = τ → 0,    all positive.

Predictor and corrector (Mehrotra, SIAM J. Optim. 2 (1992) 575) with one sparse matrix for both. Coulomb's law is not
the condition of a minimum, as friction does not widen the gap; its products are the same. With slips σ it is one:

    y_N + μσ = s_N + μ(s_p + s_m),    at the end σ = s_p + s_m = |y_T|

(De Saxcé and Feng, Math. Comput. Model. 28 (1998) 225). That always has a solution, and with σ = 0 the state of rest is
it where impulses in the cones can hold the bodies; σ follows from one minimum to the next.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from ..numerics.arrays import Array
from .cones import Linear
from .coupled import Coupled

STEPS = 40
"""Steps, of which some 15 are needed."""
NEAR, ENDED, MISSED = 1e-12, 1e-18, 1e-9
"""Mean products over their scale from which on the sets may be known, and below which nothing is; what rates may miss
of their slacks, over the scale of rates."""
ASTRAY = 1e3
"""Mean product over the least one from which on round-off leads astray."""
SHORT = 0.99
"""Share of the way to where a factor becomes zero."""


class _Pairs(NamedTuple):
    """Factors (Λ_N, p, m) and slacks (s_N, s_p, s_m), (3, c); those that a contact has not are 1.

    Without friction it has Λ_N s_N alone, at a minimum with friction the others, as Λ_N = ½(p + m)/μ.
    """

    factor: Array
    slack: Array

    def longest(self, way: _Pairs) -> float:
        """Share of a way that keeps all of them positive, 1 at most."""
        now, ahead = np.concatenate(self), np.concatenate(way)
        falls = ahead < 0.0
        return float(min(1.0, np.min(now[falls] / -ahead[falls], initial=np.inf)))

    def after(self, way: _Pairs, share: float) -> _Pairs:
        """After a share of a way."""
        return _Pairs(self.factor + share * way.factor, self.slack + share * way.slack)

    def mean(self, own: Array) -> float:
        """The mean product of those that are a contact's own."""
        return float((self.factor * self.slack)[own].mean())


def interior_points(problem: Coupled, slips: Array | None = None) -> Iterator[tuple[Array, Array]]:
    """z and Λ nearer and nearer to the solution, once they are so near that who sticks and slips may be known.

    With ``slips`` σ (c,) to that of the minimum.
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
    """The conditions of a problem on z, Λ, factors and slacks.

    ``rubs`` are the contacts with friction, ``presses`` those with Λ_N s_N, ``own`` the pairs that there are (3, c).
    """

    def __init__(self, problem: Coupled, slips: Array | None) -> None:
        laws = problem.cones
        self.problem, self.slips, self.count, self.friction = problem, slips, laws.contacts, laws.friction
        self.frictional, self.rubs = problem.rates.size > laws.contacts, laws.friction > 0.0
        self.presses = ~self.rubs if slips is not None else np.ones(self.count, dtype=bool)
        self.own = np.stack([self.presses, self.rubs, self.rubs])
        self.wide: Array | float = 0.0 if slips is None else self.friction

    def start(self) -> tuple[_Pairs, Array, Array]:
        """Pairs of the scale of the problem, and z and Λ with them."""
        unit, ones = self.problem.scale, np.ones(self.count)
        normal = unit * self.problem.cones.normal_step
        bound, slack = np.where(self.rubs, self.friction * normal, 1.0), np.where(self.rubs, unit, 1.0)
        factor = np.stack([np.where(self.presses, normal, 1.0), bound, bound])
        pairs = _Pairs(factor, np.stack([np.where(self.presses, unit * ones, 1.0), slack, slack]))
        x = np.concatenate([normal, *([0.0 * ones] if self.frictional else [])])
        return pairs, np.zeros(self.problem.push.size), x

    def missed(self, pairs: _Pairs, z: Array) -> Array:
        """What rates differ from their slacks, along normals and tangents (2, c)."""
        rates, slack = self.problem.at(z), pairs.slack
        normal, tangent = rates[: self.count], rates[self.count :] if self.frictional else np.zeros(self.count)
        if self.slips is not None:
            normal = normal + self.friction * (self.slips - np.where(self.rubs, slack[1] + slack[2], 0.0))
        along = np.where(self.rubs, tangent - slack[1] + slack[2], 0.0)
        return np.stack([normal - np.where(self.presses, slack[0], 0.0), along])

    def tangent(self, pairs: _Pairs, at: tuple[Array, Array], missed: Array) -> _Tangent:
        """The factored linear system at pairs, z and Λ that miss so much; RuntimeError where it is singular."""
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
    """The linear system at an iterate: what the conditions miss there, and a factor of their derivative."""

    system: _System
    pairs: _Pairs
    weight: Array  # (3, c), of slacks over factors
    missed: Array  # (2, c)
    left: Array  # of z
    held: Array  # rates that have rows
    lu: Any

    def way(self, wanted: Array) -> tuple[_Pairs, Array, Array]:
        """To products that differ by those wanted (3, c): the pairs, z and Λ."""
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
