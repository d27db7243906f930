"""Constant blocks of the equations of a small mechanism; dense."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from ...numerics.arrays import Array
from ..model.time_table import Anchors
from .coordinates import coordinates
from .rows import rows_of

if TYPE_CHECKING:
    from ..model.model import Model


class ConstantBlocks:
    """Slices of all parts in x = (q, v, σ, e, λ), and the matrices without their state-dependent blocks."""

    def __init__(self, mechanism: Model, anchors: Anchors, driven: list[int]) -> None:
        layout, a = mechanism.layout, mechanism.network.arrays
        self.a, self.k = a, coordinates(a)
        self.rows = rows_of(mechanism, anchors)
        self.constraints, self.n = layout.multipliers, layout.flexible
        sizes = (self.k.positions, self.k.velocities, layout.stresses, layout.springs, layout.multipliers)
        at = np.cumsum([0, *sizes])
        self.size, self.external = int(at[-1]), a.input_node.shape[1]
        self.q, self.v, self.sigma, self.spring, self.lam = (slice(i, j) for i, j in pairwise(at))
        self.u, self.du = (slice(p.stop - self.n, p.stop) for p in (self.q, self.v))
        self.stored = np.flatnonzero(a.springs.state >= 0)
        self.resists = bool(a.springs.damping.any() or a.springs.relations)
        self.eye = np.tile(np.eye(a.dim), (len(a.mass), 1, 1))
        self.E, self.J, self.R = self._descriptor(), self._structure(), self._dissipation()
        self.B = np.zeros((self.size, self.external + len(driven)))
        self.B[self.lam.start + np.array(driven, dtype=int), self.external + np.arange(len(driven))] = 1.0
        self.z = np.zeros(self.q.stop)
        self.z[: a.weight.size] = -a.weight.ravel()

    def _descriptor(self) -> Array:
        E, a = np.zeros((self.size,) * 2), self.a
        E[self.q, self.q] = np.eye(self.q.stop)
        E[self.v, self.v][np.diag_indices(a.weight.size)] = np.repeat(a.mass, a.dim)
        E[self.du, self.du] = a.stack[: self.n]
        E[self.sigma, self.sigma] = a.compliance
        E[self.spring, self.spring] = np.diag(1.0 / a.springs.gain[self.stored])
        return E

    def _structure(self) -> Array:
        J = np.zeros((self.size,) * 2)
        J[self.q, self.v], J[self.v, self.q] = self.k.level, -self.k.level.T
        J[self.sigma, self.du], J[self.du, self.sigma] = self.a.strain, -self.a.strain.T
        return J

    def _dissipation(self) -> Array:
        R = np.zeros((self.size,) * 2)
        R[self.du, self.du] = 0.5 * (self.a.viscous + self.a.viscous.T)
        return R
