"""Fluids along rods and cables: forces of a mass m per length that moves at the speed u along y(s) = Σ N_a r_a.

    L = ½∫m|ẏ + uy'|² ds, with ½∫m|ẏ|² ds among the inertia of the nodes, and the flux m u (ẏ + uy') through both ends:
    f = −2ū A v̄ + mean(u²) (K − C) r̄ − (Δu/h) A r̄

With A = ∫m N N'ᵀ, A + Aᵀ = m N Nᵀ from end to end, K = ∫m N'N'ᵀ and C = m N N'ᵀ from end to end.
"""

import numpy as np

from .numbers import dot


def flow_forces(system, way, given):
    """Generalised forces (n_v,) of all flows, on the centres of their frames."""
    force = np.zeros(system.velocities, dtype=way.velocity.dtype)
    square = 0.5 * (given.speed.before**2 + given.speed.after**2)
    for flow, u, du, uu in zip(system.flows, given.speed.mean, given.speed.change, square, strict=True):
        r, v, A = way.r.mean[flow.frames], way.v[flow.frames], flow.along
        own = -2.0 * u * A @ v + uu * (flow.tension - flow.ends) @ r - du / way.h * A @ r
        for b, f in zip(range(*flow.frames.indices(len(way.v))), own, strict=True):
            force[system.columns[b][0]] += f
    return force


def flow_energies(system, r, speed):
    """−½u² rᵀK r (flows,)."""
    squares = [np.sum(r[flow.frames] * (flow.tension @ r[flow.frames])) for flow in system.flows]
    return -0.5 * speed**2 * np.array(squares)


def work_of_flows(system, way, given):
    """−m u v·(v + uy') from inlet to outlet, and the work of a change of speed [J]."""
    work = 0.0
    for k, flow in enumerate(system.flows):
        u, r, v = given.speed.mean[k], way.r.mean[flow.frames], way.v[flow.frames]
        square = 0.5 * (given.speed.before[k] ** 2 + given.speed.after[k] ** 2)
        for sign, N, slope in zip((1.0, -1.0), flow.shape, flow.slope, strict=True):
            work = work + sign * way.h * flow.mass * dot(N @ v, u * N @ v + square * slope @ r)
        work = work - given.speed.change[k] * np.sum(v * (flow.along @ r))
        change = 0.5 * (given.speed.after[k] ** 2 - given.speed.before[k] ** 2)
        ends = [np.sum(r[flow.frames] * (flow.tension @ r[flow.frames])) for r in way.r[:2]]
        work = work - 0.5 * change * sum(ends)
    return work
