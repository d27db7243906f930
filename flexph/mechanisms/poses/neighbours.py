"""Neighbours of a consistent state: motions that the joints allow, and consistent states after a small displacement."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.linalg import lstsq, qr

from ...kernels.arrays import Arrays
from ...kernels.continuous import elastic_stress, spring_operator, strain_of, strain_rates
from ...kernels.gradient import Velocities, flatten, unflatten
from ...kernels.state import Configuration, derive, displacement_sizes, lever
from ...kernels.strains import end_stiffness, strain_stresses
from ...linear.elimination import null_space
from ...numerics.arrays import Array, dense
from ...numerics.rotations import cayley, cross
from ..model.constraints import constraint_gap, rates_at, spring_states, velocities_of, with_velocities
from ..model.constraints import moved as corrected
from ..model.time_table import TimeTable

if TYPE_CHECKING:
    from ..model.model import Model

REACH = 1e-3
"""Displacement step, relative to the size of the mechanism, for differences of the constraint rates."""
SHARES, WEIGHTS = (-2.0, -1.0, 1.0, 2.0), (1.0 / 12.0, -8.0 / 12.0, 8.0 / 12.0, -1.0 / 12.0)
"""Shares of a displacement at which functions are taken, and weights of their values in its derivative."""
CORRECTIONS, INDEPENDENT = 30, 1e-10
"""Largest number of corrections that close joints, and the least relative singular value of their constraints."""
CLOSED = 1e-15
"""Correction, relative to the size of the mechanism, after which gaps are round-off."""
STAGNATED = 1e-12
"""Correction up to which gaps are closed where further ones do not halve it."""


class Variations(NamedTuple):
    """Small changes of a configuration as columns (n_v, k).

    ``displaced`` are displacements (δr, θ, δu), ``faster`` changes of the velocities (δṙ, δω, δu̇).
    """

    displaced: Array
    faster: Array

    def __matmul__(self, shares: Array) -> Variations:
        """Linear combination of the variations with weights ``shares`` (k,) or (k, m)."""
        return Variations(self.displaced @ shares, self.faster @ shares)


class FreeMotions(NamedTuple):
    """Small changes of a state that the joints allow, with coordinates α of displacements and β of velocities.

    Displacements are N α; velocities change by N β and a part proportional to α. ``sizes`` (n_v,) are the units of
    displacements; ``basis`` N (n_v, k) is orthonormal in these units; ``faster`` (n_v, k) are the velocity changes that
    satisfy the constraint rates after a displacement; ``pace`` [1/s] scales β.
    """

    sizes: Array
    basis: Array
    faster: Array
    pace: float

    @property
    def variations(self) -> Variations:
        """Variations by unit coordinates: columns of α first, then those of β."""
        moved, zero = self.sizes[:, None] * self.basis, np.zeros_like(self.basis)
        return Variations(np.hstack([moved, zero]), np.hstack([self.faster, self.pace * moved]))

    def coordinates(self, given: Variations) -> Array:
        """Coordinates of m given variations, one column each (2k, m): α in the first k rows, β in the last k."""
        displaced, faster = (self.basis.T @ (part / self.sizes[:, None]) for part in given)
        return np.vstack([displaced, faster / self.pace])


def free_motions(mechanism: Model, table: TimeTable, at: tuple[Configuration, float], *, pace: float) -> FreeMotions:
    """Small changes that the constraints allow at a configuration and a time [s], ``at``.

    ``pace`` [1/s] is the unit of velocities relative to displacements.
    """
    c, time = at
    a = mechanism.network.arrays
    sizes = displacement_sizes(a, lever(a))

    def missed(p: Configuration) -> Array:
        G, b = rates_at(mechanism, (p, derive(a, p)), table, time)
        return np.asarray(G @ velocities_of(mechanism, p) - b)

    G = rates_at(mechanism, (c, derive(a, c)), table, time)[0]
    if not G.shape[0]:
        return FreeMotions(sizes, np.eye(sizes.size), np.zeros((sizes.size,) * 2), pace)
    scaled = dense(G) * sizes
    basis = qr(null_space(scaled, mechanism.constraint_names)[0].toarray(), mode="economic")[0]
    changes = np.zeros((G.shape[0], basis.shape[1]))
    for i, column in enumerate((sizes[:, None] * basis).T):
        direction = tangent_of(a, c, column, np.zeros_like(column))
        ends = [missed(moved(c, direction, REACH * share)) for share in SHARES]
        changes[:, i] = sum(w / REACH * end for w, end in zip(WEIGHTS, ends, strict=True))
    return FreeMotions(sizes, basis, -sizes[:, None] * lstsq(scaled, changes)[0], pace)


def moved(c: Configuration, rates: Configuration, share: float) -> Configuration:
    """Configuration that has moved for the time ``share`` with the constant rates of all its arrays, ``rates``.

    Rotations are updated by Cayley's map and stay orthogonal; all other arrays change linearly.
    """
    turn = 0.5 * np.einsum("bij,sij->bs", np.einsum("bji,bjk->bik", c.R, rates.R), cross(c.R.shape[-1]))
    lines = Configuration(*(x + share * y for x, y in zip(c, rates, strict=True)))
    return lines._replace(R=c.R @ cayley(0.5 * share * turn, c.R.shape[-1]))


def tangent_of(a: Arrays, c: Configuration, displaced: Array, faster: Array) -> Configuration:
    """Derivative of all arrays of a configuration along a variation.

    Stresses and spring forces follow the displacements. ``displaced`` (n_v,) is the displacement, ``faster`` (n_v,) the
    change of velocities.
    """
    d = derive(a, c)
    moving, speeding = (unflatten(a, part) for part in (displaced, faster))
    sigma = a.stiffness @ (strain_of(a, c.u) @ moving.du)
    stresses = a.strains.stress
    if stresses.size:
        sigma[stresses] = end_stiffness(a.strains, d.product) @ (strain_rates(a, c, d) @ displaced)
    spring = np.zeros_like(c.spring)
    if spring.size:
        stretched = a.springs.gain * (spring_operator(a, c, d) @ displaced)
        spring[: a.springs.stored] = stretched[a.springs.state >= 0]
    R = np.einsum("bij,bs,sjk->bik", c.R, moving.omega, cross(a.dim))
    return Configuration(moving.v, R, moving.du, speeding.v, speeding.omega, speeding.du, sigma, spring)


def between(a: Arrays, first: Configuration, last: Configuration) -> Variations:
    """Variation (n_v, 1) that leads from the ``first`` configuration to the ``last``.

    It consists of δr, rotations 2 tan(θ/2) in body axes, δu, and the changes of velocities.
    """
    turn, closed = turns(np.einsum("bji,bjk->bik", first.R, last.R))
    apart = Velocities(last.r - first.r, 2.0 * turn / closed[:, None], last.u - first.u)
    faster = Velocities(last.v - first.v, last.omega - first.omega, last.du - first.du)
    return Variations(flatten(a, apart)[:, None], flatten(a, faster)[:, None])


def turns(rotations: Array) -> tuple[Array, Array]:
    """Vectors sin θ · axis (b, s) and values 1 + cos θ (b,) of rotations (b, d, d) by θ.

    Their quotient is tan(θ/2) · axis.
    """
    dim = rotations.shape[-1]
    cosine = 0.5 * np.trace(rotations, axis1=1, axis2=2) - 0.5 * (dim - 2)
    return 0.5 * np.einsum("bij,sij->bs", rotations, cross(dim)), 1.0 + cosine


def neighbour(
    mechanism: Model, table: TimeTable, at: tuple[Configuration, float], displaced: Array, faster: Array
) -> Configuration:
    """Consistent configuration that differs from a given one by a displacement and a change of velocities, (n_v,) each.

    ``at`` is the given configuration and its time. Joints are closed by the smallest displacements, velocities by the
    smallest changes in the units of the mechanism; stresses and springs are those of the position. Raises
    ArithmeticError if the joints cannot be closed.
    """
    (c, time), a = at, mechanism.network.arrays
    sizes = displacement_sizes(a, lever(a))
    there = moved(c, tangent_of(a, c, displaced, faster), 1.0)
    if mechanism.layout.multipliers:
        there = _closed(mechanism, table, (there, time), sizes)
    d = derive(a, there)
    sigma = elastic_stress(a, there.u)
    if a.strains.stress.size:
        sigma[a.strains.stress] = strain_stresses(a.strains, d.product, time)
    springs = spring_states(mechanism, there, table, time)
    there = there._replace(sigma=sigma, spring=np.concatenate([springs, there.spring[springs.size :]]))
    G, b = rates_at(mechanism, (there, d), table, time)
    v = velocities_of(mechanism, there)
    missed = np.asarray(G @ v - b)
    if missed.size:
        v = v - sizes * lstsq(dense(G) * sizes, missed, cond=INDEPENDENT)[0]
    return with_velocities(mechanism, there, v)


def _closed(mechanism: Model, table: TimeTable, at: tuple[Configuration, float], sizes: Array) -> Configuration:
    """Configuration with joints closed by Newton corrections of least size; ``at`` is the start and its time.

    ``sizes`` (n_v,) are the units of displacements. Raises ArithmeticError if the corrections do not converge.
    """
    (c, time), last = at, np.inf
    for _ in range(CORRECTIONS):
        G = dense(rates_at(mechanism, (c, derive(mechanism.network.arrays, c)), table, time)[0]) * sizes
        correction = lstsq(G, constraint_gap(mechanism, c, table, time), cond=INDEPENDENT)[0]
        c, size = corrected(mechanism, c, -sizes * correction), float(np.abs(correction).max(initial=0.0))
        if size <= CLOSED or (size <= STAGNATED and size > 0.5 * last):
            return c
        last = size
    raise ArithmeticError(f"the joints do not close after a displacement: a correction of {last:.2g} remains")
