"""Massless velocities that neither constraints, dampers nor potentials determine."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from flexph.numerics.arrays import Array
from flexph.numerics.ranks import singular_vectors

from .probes import RANK, independence, listed, probes, sizes

if TYPE_CHECKING:
    from .model import SystemModel

STEP = 1e-3
"""Length of the displacements over which forces of potentials are compared, relative to the sizes of positions."""
ACTS = 1e-10
"""Relative change of a force along such a displacement above which a potential acts; round-off is 1e-16."""


def refuse_undetermined(system: SystemModel) -> None:
    """Raise ValueError if ker M ∩ ker (c'Z, A) has a velocity on which no damper or potential acts.

    The equation ``0 = vᵀ(−Zᵀ∇V − τ_d − Gϖ)`` of such a velocity is empty. A velocity is determined if it is so at one
    of the positions near the sample: a spring acts across its direction only away from the sample.
    """
    if not system.massless.size:
        return
    damping = np.zeros((0, 0))
    for zeta in probes(system, np.random.default_rng(0)):
        free = _undetermined(system, zeta)
        if not free.shape[1]:
            return
        damping = damping if damping.size else free
    share = np.linalg.norm(damping, axis=1)
    names = [system.velocity_name(int(i)) for i in np.flatnonzero(share > 0.1 * share.max())]
    raise ValueError(
        "massless velocities must be determined by constraints, dampers or potentials: nothing acts on "
        f"{listed(names)} ({damping.shape[1]} combinations of them); give mass, or a constraint or a damper there"
    )


def _undetermined(system: SystemModel, zeta: Array) -> Array:
    """Basis (n_kin, j) of the velocities that no constraint, damper or potential determines at a position.

    It is in the units in which the constraints are scaled.
    """
    unit = system.once(independence).columns if system.constraint_names else np.ones(system.velocities)
    rows = system.constraint_rows(zeta) / unit
    if rows.size:
        rows = rows / system.once(independence).rows[:, None]
    own = np.linalg.qr(unit[:, None] * system.massless)[0]
    own = own @ singular_vectors(rows @ own, tolerance=RANK, size=1.0).null
    if not own.shape[1]:
        return own
    free = own / unit[:, None]
    momenta = system.mass @ np.random.default_rng(1).standard_normal(system.velocities)
    acting = [_change(system, zeta, free), free.T @ system.G(zeta, momenta) @ free]
    acting.append(np.column_stack([free.T @ system.tau_d(zeta, v) for v in free.T]))
    sized = [a / np.abs(a).max() for a in acting if a.any()]
    return own @ singular_vectors(np.vstack(sized), tolerance=RANK, size=1.0).null if sized else own


def _change(system: SystemModel, zeta: Array, free: Array) -> Array:
    """Changes (j, j) of the force Zᵀ∇V along small moves in each of the free velocities (n_kin, j).

    They are projected on these velocities, and zero where they are round-off.
    """
    matrix, size = np.zeros((free.shape[1], free.shape[1])), sizes(system, zeta)
    for k, v in enumerate(free.T):
        way = system.Z(zeta) @ v
        length = float(np.abs(way / size).max(initial=0.0))
        if length > 0.0:
            ends = [zeta + side * STEP / length * way for side in (1.0, -1.0)]
            one, other = (system.Z(end).T @ system.V_gradient(end) for end in ends)
            change = free.T @ (one - other)
            noise = ACTS * (np.abs(free.T) @ (np.abs(one) + np.abs(other)))
            matrix[:, k] = np.where(np.abs(change) > noise, change, 0.0)
    return matrix
