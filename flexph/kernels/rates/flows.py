"""Flow of mass along rods and cables at a given speed: forces, matrices and energies at states.

A fluid of mass m per length moves at the speed u along y(s) = Σ N_a r_a. With L = ½∫m|ẏ + uy'|² ds and the flux of
momentum through both ends, the forces of the fluid on the nodes, in addition to the inertia forces of its mass, are

    f = −2u A v + u² (K − C) r − u̇ A r,   A = ∫m N N'ᵀ, K = ∫m N'N'ᵀ, C = [m N N'ᵀ]
    d/dt(T − ½u² rᵀK r) = −[m u ẏ·(ẏ + uy')] − u̇ (vᵀA r + u rᵀK r)

with brackets [·] for the value at the outlet minus that at the inlet (T. B. Benjamin, Proc. R. Soc. A 261 (1961) 457;
R. W. Gregory and M. P. Païdoussis, Proc. R. Soc. A 293 (1966) 512).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...numerics import checks as check
from ...numerics.arrays import Array


class Flow(NamedTuple):
    """Constant data of a flow with the speed u(t) along a body of N frames; the first one has the index ``first``.

    ``shape`` are the weights N_a of the positions of frames in the position at the inlet and at the outlet, ``slope``
    their derivatives N_a' along the body. ``mass`` is per length [kg/m]. ``name`` is the name of the speed in messages.
    """

    body: int
    first: int
    mass: float  # m
    name: str
    speed: Callable[[float], float]
    along: Array  # (N, N), A
    tension: Array  # (N, N), K
    shape: Array  # (2, N), N at inlet and outlet
    slope: Array  # (2, N), N'

    @property
    def frames(self) -> slice:
        """Slice of the frames of the body."""
        return slice(self.first, self.first + len(self.along))

    def speed_at(self, time: float) -> float:
        """Speed u [m/s] at a time; raises ValueError unless it is a finite number."""
        return check.number(f"{self.name} at t = {time} s", check.value_of(self.name, self.speed, time))

    @property
    def ends(self) -> Array:
        """Matrix C of the flux of momentum: m N N'ᵀ at the outlet minus that at the inlet, with the weights N_a."""
        flux: Array = self.mass * (self.shape[1][:, None] * self.slope[1] - self.shape[0][:, None] * self.slope[0])
        return flux


def flow_forces(flows: tuple[Flow, ...], r: Array, time: float) -> Array:
    """Forces u²(K − C) r (b, d) of all flows on the frames, as long as the frames are at rest.

    ``r`` (b, d) are the positions of the frames.
    """
    force = np.zeros_like(r)
    for flow in flows:
        force[flow.frames] += flow.speed_at(time) ** 2 * ((flow.tension - flow.ends) @ r[flow.frames])
    return force


def flow_energies(flows: tuple[Flow, ...], r: Array, time: float) -> Array:
    """Energies −½u² rᵀK r of the flows, (flows,) [J], with the positions r (b, d) of the frames."""
    return np.array(
        [
            -0.5 * flow.speed_at(time) ** 2 * float(np.sum(r[flow.frames] * (flow.tension @ r[flow.frames])))
            for flow in flows
        ]
    )


class FlowMatrices(NamedTuple):
    """Matrices (n_v, n_v): gyroscopic u(A − Aᵀ), damping u(A + Aᵀ), stiffness −u²(K − C); A, K, C as in the module."""

    gyroscopic: Array
    damping: Array
    stiffness: Array


def flow_matrices(
    flows: tuple[Flow, ...], velocities: Array, size: int, time: float, *, absolute: bool = False
) -> FlowMatrices:
    """Matrices of all flows, added up over ``size`` velocities.

    ``velocities`` (b, d) are the indices of the velocities of the frames. With ``absolute`` the stiffness is the sum of
    the absolute values of its terms.
    """
    parts = [np.zeros((size, size)) for _ in range(3)]
    for flow in flows:
        u = flow.speed_at(time)
        columns = velocities[flow.frames]
        stiffness = u**2 * (abs(flow.tension) + abs(flow.ends)) if absolute else -(u**2) * (flow.tension - flow.ends)
        both = u * (flow.along - flow.along.T), u * (flow.along + flow.along.T), stiffness
        for whole, matrix in zip(parts, both, strict=True):
            for i in range(columns.shape[1]):
                whole[np.ix_(columns[:, i], columns[:, i])] += matrix
    return FlowMatrices(*parts)
