"""Positions near a sample at which the conditions of a multibody system are checked.

Symbols as in :class:`rigid.MultibodySystem`: positions ζ and velocities ϖ with ζ̇ = Z ϖ, momenta Γ = Mϖ, gyroscopic
matrix G, potential V, position constraints c(ζ) = 0 with multipliers λ, velocity constraints A ϖ = 0 with multipliers
μ, input matrix B.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from flexph.numerics.arrays import Array
from flexph.numerics.ranks import SingularVectors, singular_vectors

if TYPE_CHECKING:
    from .model import SystemModel

COUNT = 4
"""Number of positions near the sample."""
SUBSTEPS = 4
"""Number of steps from the sample to each position. The steps are of fourth order, so that rotations and constraints
hold to about 1e-9 at a distance of 0.1 times the sizes of positions."""
RANK = 1e-6
"""Singular value of the scaled constraint matrix below which rows are dependent. It is far above the error of the
positions near the sample (compare flexph.mechanisms.model.redundancy)."""

LOSING = 1e-3
"""Smallest singular value of the constraint matrix, relative to that at the sample, below which runs warn of a loss of
rank."""
NOTHING = 1e-12
"""Largest entry of a column of the constraint matrix at all positions near the sample, relative to the largest column,
below which the column is round-off and is not scaled."""
SHARE = 1e-2
"""Share of a constraint row in a linear dependence, from 0 to 1, above which a message names the row."""


def sizes(system: SystemModel, zeta: Array) -> Array:
    """Size of each position (n_pot,): the largest magnitude in its part, or of all positions if that is zero.

    Entries of a part share a unit.
    """
    whole = float(np.abs(zeta).max(initial=0.0)) or 1.0
    lengths = np.full(zeta.size, whole)
    for part in system.parts.values():
        lengths[part] = float(np.abs(zeta[part]).max(initial=0.0)) or whole
    return lengths


def probes(system: SystemModel) -> tuple[Array, ...]:
    """The sample, and positions that allowed motions reach from it, at a distance of ``spread`` times the sizes.

    The motions preserve rotations and closed loops, because the conditions need to hold only there. Call it by
    ``system.once(probes)``, which computes the positions once for all conditions.
    """
    rng, places = np.random.default_rng(0), [system.sample]
    if system.spread > 0.0 and system.velocities:
        places += [_reached(system, rng.standard_normal(system.velocities)) for _ in range(COUNT)]
    return tuple(places)


def _reached(system: SystemModel, direction: Array) -> Array:
    size, step = sizes(system, system.sample), system.spread / SUBSTEPS

    is_free = not (system.constraints or system.velocity_constraints)

    def rate(zeta: Array) -> Array:
        Z = system.Z(zeta)
        return Z @ (direction if is_free else allowed_velocities(system.constraint_rows(zeta, Z), direction))

    first = float(np.abs(rate(system.sample) / size).max(initial=0.0))
    if first == 0.0:  # nothing moves
        return system.sample
    h, zeta = step / first, system.sample
    for _ in range(SUBSTEPS):
        k1 = rate(zeta)
        k2 = rate(zeta + 0.5 * h * k1)
        k3 = rate(zeta + 0.5 * h * k2)
        k4 = rate(zeta + h * k3)
        zeta = zeta + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
    return zeta


def allowed_velocities(rows: Array, omega: Array) -> Array:
    """Velocities closest to ``omega`` (n_kin,) that satisfy the constraint rows, rows·ϖ = 0."""
    singular = singular_vectors(rows, tolerance=RANK, economy=True)
    held = singular.right[: singular.rank]
    allowed: Array = omega - held.T @ (held @ omega)
    return allowed


class Independence:
    """Rank and dependent rows of the constraint matrix K = (c'Z, A) of a system.

    Rows and columns are scaled so that no entry exceeds one at the given positions ``places``.
    """

    def __init__(self, system: SystemModel, places: Sequence[Array]) -> None:
        self.system = system
        k = system.layout.lam.stop - system.layout.lam.start
        rows = [np.abs(system.constraint_rows(zeta)) for zeta in places]
        # the terms of a row of c'Z may cancel, so the scale is the sum of their absolute values
        terms = [np.abs(system.c_jacobian(zeta)) @ np.abs(system.Z(zeta)) for zeta in places]
        most = np.max([np.vstack([t, r[k:]]) for t, r in zip(terms, rows, strict=True)], axis=0)
        columns = most.max(axis=0, initial=0.0)
        # columns of round-off are not scaled up to the size of the others
        self.columns = np.where(columns > NOTHING * columns.max(initial=0.0), columns, 1.0)
        heights = (most / self.columns).max(axis=1, initial=0.0)
        self.rows = np.where(heights > 0.0, heights, 1.0)

    def dependent(self, zeta: Array) -> tuple[int, list[str]]:
        """Rank of K at a position, and the names of the rows that depend on each other there."""
        singular = self._singular_values(zeta)
        return singular.rank, self._names(singular.left_null)

    def caution(self, zeta: Array) -> str | None:
        """Warning near a loss of rank of the constraints, otherwise None."""
        left, values, _, _ = self._singular_values(zeta)
        if values.size == len(self.rows) and values[-1] >= LOSING * self._at_sample:
            return None
        return (
            f"the velocity constraints lose rank: {listed(self._names(left[:, -1:]))} depend on each other, or nearly "
            "so, and their multipliers are hardly determined (a singular position)"
        )

    def _singular_values(self, zeta: Array) -> SingularVectors:
        """Singular vectors and values, with rank and null spaces, of the scaled constraint matrix at a position."""
        scaled = self.system.constraint_rows(zeta) / self.columns / self.rows[:, None]
        return singular_vectors(scaled, tolerance=RANK, size=1.0)

    def _names(self, vectors: Array) -> list[str]:
        share = np.linalg.norm(vectors, axis=1)
        return [name for name, part in zip(self.system.constraint_names, share, strict=True) if part > SHARE]

    @cached_property
    def _at_sample(self) -> float:
        return float(self._singular_values(self.system.sample).values.min(initial=np.inf))


def listed(names: list[str]) -> str:
    """Names joined to a text, abbreviated if there are many."""
    shown = ", ".join(names[:6])
    return f"{shown} and {len(names) - 6} more" if len(names) > 6 else shown


def independence(system: SystemModel) -> Independence:
    """:class:`Independence` of the constraints of a system, scaled by their entries at its probe positions."""
    return Independence(system, system.once(probes))


def cautions_of(system: SystemModel) -> tuple[Callable[[Array], str | None], ...]:
    """Warning functions of a system, with one for a loss of rank of its constraints."""
    return (*system.cautions, system.once(independence).caution) if system.constraint_names else system.cautions
