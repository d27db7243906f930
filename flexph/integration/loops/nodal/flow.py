"""Forces of fluid that flows along rods and cables, in loops (formulas of kernels.rates.flows).

Over a step of length h, the flow has the speeds u₀ and u₁ at its start and end. With bars for means of both ends,
positions r and velocities v, the forces on the frames are

    f = −2ū A v̄ + mean(u²) (K − C) r̄ − (Δu/h) A r̄,

so that h v̄·f is exactly the change of ½u² rᵀK r, plus the works of the flow at both ends and of the change of its
speed. With shape functions N and the mass m per length, A = ∫m N N'ᵀ, K = ∫m N'N'ᵀ, and C is the difference of m N N'ᵀ
between the outlet and the inlet.
"""

from __future__ import annotations

import cython

from ....kernels.arrays import SPEEDS as _SPEEDS
from ....numerics.arrays import Array

if not cython.compiled:
    from ..memory.memory import Memory
    from ..terms.border import add
    from ..terms.spring_laws import factor_at

SPEEDS = cython.declare(cython.Py_ssize_t, _SPEEDS)


def add_flow_forces(m: Memory, dim: int, h: float) -> None:
    """Add the forces of all flows to the forces on the frames."""
    for f in range(m.flows_frame.size):
        u0 = factor_at(m, SPEEDS, m.flows_owner[f], 0)
        u1 = factor_at(m, SPEEDS, m.flows_owner[f], 1)
        square = 0.5 * (u0 * u0 + u1 * u1)
        faster = (u1 - u0) / h
        for e in range(m.flows_ptr[f], m.flows_ptr[f + 1]):
            b = m.flows_col[e]
            by_rate = -(u0 + u1) * m.flows_along[e]
            by_place = 0.5 * (square * m.flows_bent[e] - faster * m.flows_along[e])
            for i in range(dim):
                place = m.at_r[b][i] + m.end_r[b][i]
                m.trial_on_body[m.flows_frame[f]][i] += by_rate * m.x_v[b][i] + by_place * place


def add_flows(m: Memory, dim: int, h: float) -> None:
    """Add the derivatives of the forces of flows with respect to the unknowns to the border of the Jacobian."""
    for e in range(m.flows_own_row.size):
        u0 = factor_at(m, SPEEDS, m.flows_own_owner[e], 0)
        u1 = factor_at(m, SPEEDS, m.flows_own_owner[e], 1)
        value = (u0 + u1) * m.flows_own_along[e] + 0.5 * (u1 - u0) * m.flows_own_along[e]
        value -= 0.25 * h * (u0 * u0 + u1 * u1) * m.flows_own_bent[e]
        for i in range(dim):
            add(m, m.border_v[m.flows_own_row[e]][i], m.border_v[m.flows_own_col[e]][i], h * value)


def add_flow_energies(m: Memory, dim: int, out: Array) -> None:
    """Add the energies −½u² rᵀK r of all flows in the present state ``at`` to ``out``.

    u are the speeds of the flows at the end of the step.
    """
    for f in range(m.flows_frame.size):
        k = m.flows_owner[f]
        speed = factor_at(m, SPEEDS, k, 1)
        total = 0.0
        for e in range(m.flows_ptr[f], m.flows_ptr[f + 1]):
            for i in range(dim):
                total += m.flows_tension[e] * m.at_r[m.flows_frame[f]][i] * m.at_r[m.flows_col[e]][i]
        out[m.ledger_flowing[0] + k] -= 0.5 * speed * speed * total


def add_flow_works(m: Memory, dim: int, h: float, out: Array) -> None:
    """Add the works of flows over a solved step to ``out``: at inlets and outlets, and of changes of their speeds."""
    for k in range(m.flows_mass.size):
        u0 = factor_at(m, SPEEDS, k, 0)
        u1 = factor_at(m, SPEEDS, k, 1)
        for end in range(2):
            sign = -1.0 if end == 1 else 1.0
            for i in range(dim):
                rate = 0.0
                slope = 0.0
                for e in range(m.flows_end_ptr[2 * k + end], m.flows_end_ptr[2 * k + end + 1]):
                    b = m.flows_end_frame[e]
                    rate += m.flows_end_shape[e] * m.x_v[b][i]
                    slope += 0.5 * m.flows_end_slope[e] * (m.at_r[b][i] + m.end_r[b][i])
                through = 0.5 * (u0 + u1) * rate + 0.5 * (u0 * u0 + u1 * u1) * slope
                out[m.ledger_flow[0] + 3 * k + end] += sign * h * m.flows_mass[k] * rate * through
    for f in range(m.flows_frame.size):
        k = m.flows_owner[f]
        u0 = factor_at(m, SPEEDS, k, 0)
        u1 = factor_at(m, SPEEDS, k, 1)
        if u0 != u1:
            a = m.flows_frame[f]
            for e in range(m.flows_ptr[f], m.flows_ptr[f + 1]):
                b = m.flows_col[e]
                for i in range(dim):
                    mean = 0.5 * (m.at_r[b][i] + m.end_r[b][i])
                    squares = m.at_r[a][i] * m.at_r[b][i] + m.end_r[a][i] * m.end_r[b][i]
                    done = (u1 - u0) * m.flows_along[e] * m.x_v[a][i] * mean
                    done += 0.25 * (u1 * u1 - u0 * u0) * m.flows_tension[e] * squares
                    out[m.ledger_flow[0] + 3 * k + 2] -= done
