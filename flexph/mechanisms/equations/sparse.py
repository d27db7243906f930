"""Sparse matrices of the equations of a large mechanism."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from ...kernels import continuous
from ...kernels.gradient import constraint_matrix
from ...kernels.state import Configuration, Derived, derive, energies, places
from ...numerics.arrays import Array
from ...numerics.rotations import cross, entries, entry_count
from ..model.state import configuration
from ..model.time_table import Anchors, law_products, law_values, laws, table_of
from .strain_laws import StrainLaws

if TYPE_CHECKING:
    from ..model.model import Model


def sparse_equations(mechanism: Model, anchors: Anchors, driven: list[int]) -> dict[str, Any]:
    """Functions E, J, R, B, z, H of x for a large mechanism, with sparse matrices, as arguments of :class:`PHDAE`.

    The rates of the ``driven`` constraint rows are inputs, after the external ones.
    """
    system = _Sparse(mechanism, anchors, driven)
    return {
        "E": system.descriptor,
        "J": system.structure,
        "R": system.dissipation,
        "B": system.inputs,
        "z": system.costate,
        "H": system.energy,
    }


class _Sparse:
    """Functions E, J, R, B, z, H of the state x of a large mechanism, with sparse matrices.

    All of them share the arrays derived from the latest state, which are cached.
    """

    def __init__(self, mechanism: Model, anchors: Anchors, driven: list[int]) -> None:
        self.mechanism, self.layout, self.a = mechanism, mechanism.layout, mechanism.network.arrays
        self.table = table_of(mechanism, anchors)
        self.driven, self.laws = driven, StrainLaws(self.a)
        self._at: Callable[[bytes], tuple[Configuration, Derived]] = lru_cache(maxsize=1)(self._evaluate)

    def _evaluate(self, key: bytes) -> tuple[Configuration, Derived]:
        c = configuration(self.mechanism, np.frombuffer(key))
        return c, derive(self.a, c)

    def at(self, x: Array) -> tuple[Configuration, Derived]:
        return self._at(np.ascontiguousarray(x[: self.layout.size]).tobytes())

    @property
    def stored(self) -> Array:
        return self.a.springs.state >= 0

    def descriptor(self, x: Array) -> Any:
        c, _ = self.at(x)
        is_law = np.zeros(self.layout.stresses)
        is_law[self.laws.entries] = 1.0
        return sparse.block_diag(
            [
                sparse.eye_array(sum(self.layout.position_sizes)),
                continuous.mass_matrix(self.a, c.u),
                sparse.diags_array(1.0 - is_law) @ sparse.csr_array(self.a.compliance) + sparse.diags_array(is_law),
                sparse.diags_array(1.0 / self.a.springs.gain[self.stored]),
                sparse.csr_array((self.layout.multipliers,) * 2),
            ]
        ).tocsr()

    def structure(self, x: Array) -> Any:
        c, d = self.at(x)
        rigid = self.layout.velocities - self.layout.flexible
        D = sparse.hstack([sparse.csr_array((self.layout.stresses, rigid)), continuous.strain_of(self.a, c.u)])
        if self.a.strains.stress.size:
            of_strains = self.a.strains.stress
            spread = sparse.csr_array(
                (np.ones(of_strains.size), (of_strains, np.arange(of_strains.size))),
                (self.layout.stresses, of_strains.size),
            )
            D = D + spread @ continuous.strain_rates(self.a, c, d)
        upper = sparse.vstack(
            [
                -D,
                -continuous.spring_operator(self.a, c, d)[np.flatnonzero(self.stored)],
                self.constraints(x),
            ]
        )
        kinematics = self.kinematics(c)
        gamma = continuous.structure(self.a, c)
        return sparse.block_array(
            [[None, kinematics, None], [-kinematics.T, gamma, upper.T], [None, -upper, None]]
        ).tocsr()

    def kinematics(self, c: Configuration) -> Any:
        """Kinematic matrix Z(q) with q̇ = Z v, sparse (n_q, n_v): entries of rotations R have the rates R[ω]×."""
        dim, turning = self.layout.dim, self.a.turning
        spin = [entries(c.R[b] @ cross(dim)).T for b in turning]
        return sparse.block_diag(
            [
                sparse.eye_array(dim * self.layout.frames),
                sparse.block_diag([sparse.csr_array((0, 0)), *spin]),
                sparse.eye_array(self.layout.flexible),
            ]
        ).tocsr()

    def constraints(self, x: Array) -> Any:
        """Constraint matrix G(q), sparse (g, n_v).

        Rows of driven angles follow the pose instead of the prescribed value.
        """
        c, d = self.at(x)
        return sparse.csr_array(constraint_matrix(self.a, c.R, self._coefficients(d), arm=d.arm, vector=d.vector))

    def _coefficients(self, d: Derived) -> Array:
        values = self.table.anchors.rows.copy()
        m = self.mechanism
        for law, of_law, span in zip(laws(m), law_products(m), law_values(m), strict=True):
            if callable(law.value):
                values[span] = law.measure(d.product[of_law])
        return self.table.evaluate(values)[0]

    def dissipation(self, x: Array) -> Any:
        c, d = self.at(x)
        before, n = sum(self.layout.position_sizes), len(x)
        after = n - before - self.layout.velocities
        blocks = [
            sparse.csr_array((before,) * 2),
            continuous.damping_matrix(self.a, c, d),
            sparse.csr_array((after,) * 2),
        ]
        R = sparse.block_diag(blocks).tocsr()
        return 0.5 * (R + R.T)

    def inputs(self, x: Array) -> Any:
        c, d = self.at(x)
        force = continuous.input_matrix(self.a, c.R, d.arm, places(self.a, c, d))
        before = sum(self.layout.position_sizes)
        middle = self.layout.stresses + self.layout.springs
        rates = sparse.csr_array(
            (np.ones(len(self.driven)), (self.driven, np.arange(len(self.driven)))),
            shape=(self.layout.multipliers, len(self.driven)),
        )
        above, below = (sparse.csr_array((rows, force.shape[1])) for rows in (before, middle))
        forces = sparse.vstack([above, force, below])
        return sparse.block_diag([forces, rates]).tocsr()

    def costate(self, x: Array) -> Array:
        c, _ = self.at(x)
        turned = np.zeros(entry_count(self.layout.dim) * self.a.turning.size)
        gradient = [-self.a.weight.ravel(), turned, continuous.kinetic_gradient(self.a, c)]
        z = np.concatenate([*gradient, x[sum(self.layout.position_sizes) :]])
        first = self.layout.size - self.layout.springs
        springs, stresses = slice(first, first + self.a.springs.stored), slice(first - self.layout.stresses, first)
        z[stresses] = self.laws.costate(z[stresses])
        z[springs] = self.a.springs.forces(z[springs])
        return z

    def energy(self, x: Array) -> float:
        c, d = self.at(x)
        parts = energies(self.a, c, d)
        return self.laws.energy(c.sigma) + float(sum(np.sum(parts[name]) for name in parts if name != "elastic"))
