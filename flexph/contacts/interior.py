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
from typing import NamedTuple

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
    laws, count = problem.cones, problem.cones.contacts
    frictional, rubs, mu = problem.rates.size > count, laws.friction > 0.0, laws.friction
    unit, one = problem.scale, np.ones(count)
    normal = unit * laws.normal_step
    bound = np.where(rubs, mu * normal, 1.0)
    slack = np.where(rubs, unit, 1.0)
    presses = ~rubs if slips is not None else np.ones(count, dtype=bool)
    own = np.stack([presses, rubs, rubs])
    pairs = _Pairs(
        np.stack([np.where(presses, normal, 1.0), bound, bound]),
        np.stack([np.where(presses, unit * one, 1.0), slack, slack]),
    )
    z, x = np.zeros(problem.push.size), np.concatenate([normal, *([0.0 * one] if frictional else [])])
    size, least = unit * float(normal.mean()), np.inf
    for _ in range(STEPS):
        rates = problem.at(z)
        y_n, y_t = rates[:count], rates[count:] if frictional else 0.0 * one
        if slips is not None:
            y_n = y_n + mu * (slips - np.where(rubs, pairs.slack[1] + pairs.slack[2], 0.0))
        missed = (
            y_n - np.where(presses, pairs.slack[0], 0.0),
            np.where(rubs, y_t - pairs.slack[1] + pairs.slack[2], 0.0),
        )
        product = pairs.mean(own)
        least = min(least, product)
        if not ENDED * size < product <= ASTRAY * least:
            return
        if product <= NEAR * size and max(np.abs(part).max() for part in missed) <= MISSED * unit:
            yield z, x
        weight = np.where(own, pairs.slack / pairs.factor, 0.0)
        along, across = np.where(rubs, weight[1] + weight[2], 1.0), mu * (weight[1] - weight[2])
        t = int(frictional)
        unit_rows = np.ones((t, t, count))
        now = Linear(~np.ones(count, dtype=bool), unit_rows, along * unit_rows, -across * np.ones((t, count)), rates)
        wide = 0.0 if slips is None else mu
        try:
            held, lu = problem.factored(
                now, weight[0] + wide**2 * along, across=None if slips is None or not t else across[None]
            )
        except RuntimeError:  # singular
            return
        left = problem.missing(z, x)

        def way(
            wanted: Array,
            pairs: _Pairs = pairs,
            missed: tuple[Array, Array] = missed,
            at: tuple = (held, lu, left, weight, wide),
        ) -> tuple[_Pairs, Array, Array]:
            """To products that differ by those wanted (3, c): the pairs, z and Λ."""
            held, lu, left, weight, wide = at
            pull = np.where(own, wanted / pairs.factor, 0.0)
            pushed = pull[0] + wide * (pull[1] + pull[2]) - missed[0]
            right = np.concatenate([pushed, *([pull[1] - pull[2] - missed[1]] if frictional else [])])
            found, change = lu.solve(np.concatenate([left, right[held]])), np.zeros(held.size)
            change[held] = found[left.size :]
            normal, tangent = change[:count], change[count:] if frictional else 0.0 * one
            factor = np.where(own, np.stack([normal, mu * normal + tangent, mu * normal - tangent]), 0.0)
            slack = pull - weight * factor
            return _Pairs(factor, slack), found[: left.size], change

        products = pairs.factor * pairs.slack
        ahead, *_ = way(-products)
        centre = min(1.0, max(1e-6, (pairs.after(ahead, pairs.longest(ahead)).mean(own) / product) ** 3))
        step, dz, dx = way(centre * product - products - ahead.factor * ahead.slack)
        share = min(1.0, SHORT * pairs.longest(step))
        pairs, z, x = pairs.after(step, share), z + share * dz, x + share * dx
