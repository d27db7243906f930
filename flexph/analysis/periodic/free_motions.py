"""Free motions of a mechanism at a state: variations of positions and velocities that its joints allow."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import lstsq, qr

from ...kernels.state import Configuration, derive, displacement_sizes, lever
from ...linear.elimination import null_space
from ...mechanisms.mechanism import Mechanism
from ...mechanisms.model.constraints import rates_at, velocities_of
from ...mechanisms.model.time_table import TimeTable
from ...numerics.arrays import Array, dense
from .linearised_steps import SHARES, WEIGHTS, Variations, moved, tangent_of

REACH = 1e-3
"""Displacement step, relative to the size of the mechanism, for differences of the constraint rates."""


class FreeMotions(NamedTuple):
    """Motions that the joints allow, in units of the mechanism: displacements N α, and velocities N β plus a part in α.

    ``sizes`` (n_v,) of displacements; ``basis`` N (n_v, k), orthonormal in these units; ``faster`` (n_v, k), the
    velocities that keep the constraint rates satisfied after a displacement.
    """

    sizes: Array
    basis: Array
    faster: Array
    pace: float

    @property
    def variations(self) -> Variations:
        """Variations of α (first columns) and β (last columns)."""
        moved, zero = self.sizes[:, None] * self.basis, np.zeros_like(self.basis)
        return Variations(np.hstack([moved, zero]), np.hstack([self.faster, self.pace * moved]))

    def coordinates(self, given: Variations) -> Array:
        """Coordinates α and β of variations, (2k, m)."""
        displaced, faster = (self.basis.T @ (part / self.sizes[:, None]) for part in given)
        return np.vstack([displaced, faster / self.pace])


def free_motions(
    mechanism: Mechanism, table: TimeTable, at: tuple[Configuration, float], *, pace: float
) -> FreeMotions:
    """Free motions at a configuration and a time [s]; ``pace`` [1/s] scales velocities to displacements."""
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
