"""Impacts of a run: their equations, and the adjoint of the jump.

At the time τ of an impact a gap is zero. The velocities v, with restitution e along the rows N of the gap, jump to v⁺:

    M (v̂ − v) = Gᵀν,          G v̂ = b,
    M (v⁺ − v̂) = Gᵀν⁺ + NᵀΛ,   G v⁺ = b,   N v⁺ = −e N v̂,

where v̂ are the nearest velocities that the joints allow. These are defects d(x, z, τ; p) = 0 for
z = (v̂, ν, v⁺, ν⁺, Λ), and with d_zᵀ μ = a⁺ (entries of v⁺) the adjoint before the impact is
a = a⁺ (other entries) − d_xᵀ μ. The time depends on the state, too: see :mod:`.saltation`.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from ...contacts.levels import gaps_at
from ...kernels.arrays import Arrays
from ...kernels.continuous import mass_of
from ...kernels.gradient import node_rows, world_spin_levers
from ...kernels.state import Configuration, Derived, derive
from ...mechanisms.model.constraints import rates_under, velocities_of, with_velocities
from ...mechanisms.model.state import configuration, flat
from ...mechanisms.model.time_table import table_of
from ...mechanisms.poses.impacts import impulses
from ...numerics.arrays import Array, dense
from ...numerics.differences import central_of_order_six
from .problems import Problem

MOVED = 1e-2
"""Step of differences of sixth order by an entry of the state, relative to its size or one: defects are polynomials."""
LATER = 1e-3
"""Step of differences by the time, relative to the length of the step."""


class Impact(NamedTuple):
    """Impact of the contact with the index ``contact`` at a time, which ends a part of a step.

    ``row`` is the index of the next step when steps are divided at impacts, ``before`` the flat state before the
    impact, and ``solution`` the unknowns z. ``span`` [s] is the length of the undivided step.
    """

    row: int
    time: float
    span: float
    contact: int
    before: Array
    solution: Array


class Equations(NamedTuple):
    """Equations of an impact at a state, by their matrices M (``mass``), G (``joints``) and N (``normal``).

    ``rates`` are b, ``restitution`` is e, and ``gap`` is that of the contact.
    """

    mass: Array
    joints: Array
    normal: Array
    rates: Array
    restitution: float
    gap: float

    def defects(self, v: Array, z: Array) -> Array:
        """Defects d of the equations for velocities v before the impact and unknowns z = (v̂, ν, v⁺, ν⁺, Λ)."""
        M, G, N = self.mass, self.joints, self.normal
        n, g = len(M), len(self.rates)
        held, nu, after, later, impulse = np.split(z, np.cumsum([n, g, n, g]))
        return np.concatenate(
            [
                M @ (held - v) - G.T @ nu,
                G @ held - self.rates,
                M @ (after - held) - G.T @ later - N * impulse,
                G @ after - self.rates,
                [N @ (after + self.restitution * held)],
            ]
        )

    def by_unknowns(self) -> Array:
        """Derivative of the defects d with respect to the unknowns z."""
        M, G, N = self.mass, self.joints, self.normal[None]
        n, g = len(M), len(self.rates)
        out = np.zeros((2 * (n + g) + 1,) * 2)
        for first in (0, n + g):
            out[first : first + n, first : first + n] = M
            out[first : first + n, first + n : first + n + g] = -G.T
            out[first + n : first + n + g, first : first + n] = G
        out[n + g : 2 * n + g, :n] = -M
        out[n + g : 2 * n + g, -1:] = -N.T
        out[-1:, :n], out[-1:, n + g : 2 * n + g] = self.restitution * N, N
        return out


Prescribed = tuple[Array, tuple[Array, Array]]
"""Coefficients of the constraints at a time, and rates of these and of offsets."""


def prescribed_at(problem: Problem, time: float) -> Prescribed:
    """Coefficients of the constraints at a time, with the rates of coefficients and offsets."""
    table = table_of(problem.mechanism, problem.start.anchors)
    return table.at(time)[0], table.rates(time)


def equations_of(problem: Problem, x: Array, contact: int, prescribed: Prescribed) -> Equations:
    """Equations of an impact of a contact at a flat state x."""
    mechanism = problem.mechanism
    a, c = mechanism.network.arrays, configuration(mechanism, x)
    d = derive(a, c)
    G, b = rates_under(mechanism, (c, d), *prescribed)
    gap, normal = gap_and_row(a, c, d, contact)
    return Equations(dense(mass_of(a, c.u)), dense(G), normal, b, float(a.contacts.restitution[contact]), gap)


def gap_and_row(a: Arrays, c: Configuration, d: Derived, contact: int) -> tuple[float, Array]:
    """Gap of the contact with the index ``contact``, and the row N (n_v,) from velocities to the rate of this gap."""
    gaps, contacts = gaps_at(a, c, d), a.contacts
    by_node = np.zeros((len(a.node_position), a.dim))
    for ends, sign in ((contacts.plus, 1.0), (contacts.minus, -1.0)):
        for k, node in enumerate(ends[:, contact].tolist()):
            if node >= 0:
                by_node[node] += sign * gaps.end[k, contact]
    if a.node_means is not None:
        by_node = by_node + a.node_means.T @ by_node
    rows = node_rows(a, world_spin_levers(a, c.R, d.arm), c.R[a.node_body])
    return float(gaps.before[contact]), np.asarray(by_node.ravel() @ rows)


def _unknowns(a: Arrays, u: Array, equations: Equations, v: Array) -> Array:
    """Unknowns z = (v̂, ν, v⁺, ν⁺, Λ) that solve the equations ``equations`` of an impact.

    v are the velocities before the impact, u the flexible coordinates.
    """
    n = v.size
    held = impulses(a, u, equations.joints, (equations.rates - equations.joints @ v)[:, None])[:, 0]
    held[:n] += v
    bounce = np.append(np.zeros_like(equations.rates), -(1.0 + equations.restitution) * (equations.normal @ held[:n]))
    struck = impulses(a, u, np.vstack([equations.joints, equations.normal]), bounce[:, None])[:, 0]
    struck[:n] += held[:n]
    return np.concatenate([held, struck])


def solved(problem: Problem, x: Array, contact: int, time: float) -> tuple[Equations, Array, Array]:
    """Equations of an impact at the flat state x, their unknowns z, and the flat state after the impact."""
    equations = equations_of(problem, x, contact, prescribed_at(problem, time))
    c = configuration(problem.mechanism, x)
    z = _unknowns(problem.mechanism.network.arrays, c.u, equations, velocities_of(problem.mechanism, c))
    n, g = len(equations.mass), len(equations.rates)
    return equations, z, flat(problem.mechanism, with_velocities(problem.mechanism, c, z[n + g : 2 * n + g]))


def numbers_of(problem: Problem, impact: Impact, x: Array | None = None, prescribed: Prescribed | None = None) -> Array:
    """Defects of the equations of an impact, followed by its gap, with the unknowns z as found in the run.

    By default the state and the time are those of the impact in the run. Defects and gap then vanish if ``problem`` has
    the parameters of the run.
    """
    x = impact.before if x is None else x
    equations = equations_of(problem, x, impact.contact, prescribed or prescribed_at(problem, impact.time))
    v = velocities_of(problem.mechanism, configuration(problem.mechanism, x))
    return np.append(equations.defects(v, impact.solution), equations.gap)


class JumpBack(NamedTuple):
    """Adjoint of an impact, from which the sweep goes on backwards.

    ``multipliers`` are μ, ``adjoint`` is that of the flat state before the impact at a fixed time, ``by_gap`` is ∂g/∂x,
    and ``by_time`` the derivative of the functional with respect to the time of the impact.
    """

    multipliers: Array
    adjoint: Array
    by_gap: Array
    by_time: float


def jump_back(problem: Problem, impact: Impact, after: Array) -> JumpBack:
    """Adjoint of an impact, from the adjoint ``after`` of the flat state after it."""
    mechanism = problem.mechanism
    parts = mechanism.layout.split(np.arange(mechanism.layout.size))
    prescribed = prescribed_at(problem, impact.time)
    equations = equations_of(problem, impact.before, impact.contact, prescribed)
    n, g = len(equations.mass), len(equations.rates)
    velocities = np.concatenate([part.ravel() for part in parts[3:6]])
    wanted = np.zeros(2 * (n + g) + 1)
    wanted[n + g : 2 * n + g] = after[velocities]
    mu = np.linalg.solve(equations.by_unknowns().T, wanted)
    adjoint, by_gap = after.copy(), np.zeros_like(after)
    adjoint[velocities] = equations.mass @ mu[:n]

    def products(x: Array, given: Prescribed = prescribed) -> Array:
        numbers = numbers_of(problem, impact, x, given)
        return np.array([mu @ numbers[:-1], numbers[-1]])

    def moved(j: int, by: float) -> Array:
        x = impact.before.copy()
        x[j] += by
        return products(x)

    here = products(impact.before)
    for j in np.concatenate([part.ravel() for part in parts[:3]]).tolist():
        size = MOVED * max(abs(impact.before[j]), 1.0)
        if np.array_equal(moved(j, size), here):
            continue
        derivative = central_of_order_six(partial(moved, j), 0.0, size) / size
        adjoint[j] -= derivative[0]
        by_gap[j] = derivative[1]

    def later(by: float) -> Array:
        return products(impact.before, prescribed_at(problem, impact.time + by))

    size = LATER * impact.span
    return JumpBack(mu, adjoint, by_gap, -float(central_of_order_six(later, 0.0, size)[0] / size))
