"""Small motions about a steady rotation in the rotating frame, with constant or periodic coefficients.

Only anisotropic springs and dampers to the ground have a stiffness that changes with the angle in the rotating frame.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import lstsq

from ...kernels.arrays import Arrays
from ...kernels.continuous import spring_operator
from ...kernels.gradient import scale_rows
from ...kernels.springs import damping_slopes
from ...kernels.state import Configuration, derive
from ...kernels.stiffness.steady_slopes import steady_rates
from ...kernels.stiffness.tangent import tangent
from ...linear.eigenmodes.floquet import PeriodicMotion, interpolated
from ...numerics.arrays import Array, dense
from .balance import Problem
from .turned_motion import GOLDEN, SAMPLES, LaterMotion, motion_after, period_of

CHANGED = 1e-8
"""Change of an entry of stiffness or damping, relative to its terms, above which the coefficients are not constant."""
ROUND_OFF = 1e-14
"""Change of an entry, relative to the largest of all entries, that counts as round-off."""
FEWEST, MOST = 5, 257
"""Numbers of angles at which a periodic stiffness is sampled; five resolve the two harmonics of Cartesian springs."""


class Supports(NamedTuple):
    """Damping and stiffness (n, n) of the free motions, in the rotating frame at a time."""

    damping: Array
    stiffness: Array


class Basis(NamedTuple):
    """Steady rotation, with its small motions that the joints allow.

    ``joints`` (n_v,) are the joint forces in the configuration ``c``, ``free`` P (n_v, n) the free motions, and
    ``size`` the sum of the absolute terms of the stiffness.
    """

    given: Problem
    c: Configuration
    joints: Array
    free: Array
    size: Any

    def at(self, after: float) -> Supports:
        """Damping and stiffness in the rotating frame after a time [s], with the joint forces turned by the rotation.

        Raises ValueError if the joints then allow other motions in the rotating frame.
        """
        other, a = motion_after(self.given, self.c, after), self.given.mechanism.network.arrays
        G = other.given.constraints(other.c)
        self._refuse_other_joints(other, G)
        lam = lstsq(dense(G).T, other.axes @ self.joints)[0] if G.shape[0] else np.zeros(0)
        d = derive(a, other.c)
        t = tangent(a, other.c, d, other.given.forces(other.c, lam), spin=self.given.steady.spin)
        damping, stiffness = (self.free.T @ (other.seen(part) @ self.free) for part in (t.damping, t.stiffness))
        return Supports(damping, stiffness)

    def _refuse_other_joints(self, other: LaterMotion, G: Any) -> None:
        moved = np.abs(G @ (other.axes @ self.free))
        size = (abs(G) @ np.abs(other.axes) @ np.ones(G.shape[1]))[:, None] * np.abs(self.free).max(axis=0, initial=0.0)
        if np.any(moved > CHANGED * size):
            row = int(np.argmax(moved.max(axis=1)))
            raise ValueError(
                f"the motions that {self.given.mechanism.constraint_names[row]!r} allows change as it turns, "
                "which mechanism.spectrum does not support: use flexph.analysis.floquet(mechanism, state, period=...)"
            )

    def changes(self, first: Supports) -> bool:
        """True if damping or stiffness at other angles of the rotation differ from the ``first`` ones."""
        bounds, period = self._bounds(), period_of(self.given, self.c)
        shares = [(GOLDEN * i) % 1.0 for i in range(1, SAMPLES + 1)]
        return any(_differ(self.at(period * share), first, bounds) for share in shares)

    def sampled(self, mass: Array, gyroscopic: Array, first: Supports) -> PeriodicMotion:
        """Equations of small motions with periodic coefficients, sampled at angles of a turn.

        More angles are taken until the harmonics agree with an additional sample. ``first`` are damping and stiffness
        at the start. Raises ArithmeticError if too many angles were needed.
        """
        bounds, period, count = self._bounds(), period_of(self.given, self.c), FEWEST
        fresh = self.at(period * GOLDEN)
        while count <= MOST:
            parts = [first, *(self.at(period * i / count) for i in range(1, count))]
            damping, stiffness = (np.array([getattr(p, name) for p in parts]) for name in Supports._fields)
            if not _differ(Supports(interpolated(damping, GOLDEN), interpolated(stiffness, GOLDEN)), fresh, bounds):
                return PeriodicMotion(mass, gyroscopic, damping, stiffness, period)
            count = 2 * count - 1
        raise ArithmeticError(
            f"the stiffness of the supports changes too fast with the angle: {MOST} samples do not resolve it"
        )

    def _bounds(self) -> Supports:
        largest = np.abs(self.free).T @ (self.size @ np.abs(self.free))
        return Supports(_damper_size(self), 0.5 * (largest + largest.T))


def _differ(one: Supports, other: Supports, bounds: Supports) -> bool:
    """True if damping or stiffness of two samples differ by more than round-off.

    ``bounds`` are the sizes of their terms.
    """
    return any(
        bool(np.any(np.abs(x - y) > CHANGED * b + ROUND_OFF * np.abs(x).max(initial=0.0)))
        for x, y, b in zip(one, other, bounds, strict=True)
    )


def _damper_size(basis: Basis) -> Array:
    """Upper bound |S|ᵀ(c + ρ')|S| of the damping of spring-dampers, (n, n) over the free motions.

    It holds in any axes. S are the rates of the springs, c their damping coefficients, ρ' the derivatives of their
    relations with respect to the rate.
    """
    a, c = basis.given.mechanism.network.arrays, basis.c
    d = derive(a, c)
    S = abs(spring_operator(a, c, d)) @ in_any_direction(a)
    size = S.T @ scale_rows(S, np.abs(damping_slopes(a.springs, steady_rates(a, c, d))))
    free = np.abs(basis.free)
    bound: Array = free.T @ (size @ free)
    return bound


def in_any_direction(a: Arrays) -> Any:
    """Sparse matrix (n_v, n_v) from magnitudes of components to bounds of the components in any other axes."""
    centres, spins, bent = a.columns
    groups = centres, spins[spins[:, 0] >= 0]
    rows = np.concatenate([np.repeat(group, group.shape[1], axis=1).ravel() for group in groups])
    places = np.concatenate([np.tile(group, group.shape[1]).ravel() for group in groups])
    size = a.weight.size + a.turning.size * a.n.shape[0] + a.body_u.size
    every = sparse.csr_array(sparse.coo_array((np.ones(rows.size), (rows, places)), shape=(size, size)))
    return every + sparse.diags_array(np.isin(np.arange(size), bent).astype(float))
