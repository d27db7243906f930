"""Constant blocks of the equations of a small mechanism, and the rows of constraints and spring-dampers; dense."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...joints.rows.laws import Alignment, Angle
from ...kernels.arrays import Index
from ...kernels.ropes import Ropes, rope_rows, second_entries
from ...numerics.arrays import Array
from ..model.time_table import Anchors, laws, table_of
from .coordinates import coordinates
from .strain_laws import StrainLaws

if TYPE_CHECKING:
    from ..model.model import Model


class Rows(NamedTuple):
    """Coefficients A(π) of constraints and spring-dampers, whose rates are A π̇ with the products π = V·W.

    A is ``fixed`` plus terms that depend on π: ½/√π for lengths √π; (c, −s)/ρ^m times ``factor`` for angles with sine
    s, cosine c and ρ² = s² + c² (m = 2, or 1 for a drive with coefficients from the pose); the length gradients of
    ``ropes``. ``bent`` has the terms of driven rotations and of velocity constraints: ``value`` · π_k is added to A_ij.
    """

    fixed: Array  # (rows, p)
    length: tuple[Index, Index]  # row, product
    angle: tuple[Index, Index, Index, Index]  # row, sine, cosine, power m
    factor: Array
    bent: tuple[Index, Index, Index, Array]  # i, j, k, value
    ropes: Ropes = Ropes()  # the last rows

    def weights(self, product: Array) -> Array:
        """Coefficients A(π), (rows, p), at the products π (p,)."""
        weight = self.fixed.copy()
        i, at = self.length
        weight[i, at] = 0.5 / np.sqrt(product[at])
        i, sine, cosine, power = self.angle
        if i.size:
            s, c = product[sine], product[cosine]
            scale = self.factor * (s * s + c * c) ** (-0.5 * power)
            weight[i, sine], weight[i, cosine] = c * scale, -s * scale
        i, j, k, value = self.bent
        if i.size:
            np.add.at(weight, (i, j), value * product[k])
        if self.ropes.number:
            weight[-self.ropes.number :] += rope_rows(self.ropes, product).toarray()
        return weight

    def weight_slopes(self, product: Array) -> tuple[Index, Index, Index, Array]:
        """Derivatives ∂A_ij/∂π_k of the coefficients A (rows, products) with respect to the products π (p,).

        Returns the indices i, j, k and the values of the nonzero entries; values with the same indices add.
        """
        at = self.length
        i, sine, cosine, power = self.angle
        s, c = product[sine], product[cosine]
        size = s * s + c * c
        scale = self.factor * size ** (-0.5 * power - 1.0)
        mixed, along, across = power * s * c * scale, (size - power * c * c) * scale, (power * s * s - size) * scale
        parts = (
            (at[0], at[1], at[1], -0.25 * product[at[1]] ** -1.5),
            (i, sine, sine, -mixed),
            (i, sine, cosine, along),
            (i, cosine, sine, across),
            (i, cosine, cosine, mixed),
            self.bent,
            *self._of_ropes(product),
        )
        first, second, third, values = (np.concatenate(column) for column in zip(*parts, strict=True))
        return first, second, third, values

    def _of_ropes(self, product: Array) -> list[tuple[Index, Index, Index, Array]]:
        """Second derivatives of the lengths of the ropes with respect to two products π_j, π_k, at products π (p,).

        Returns one tuple (i, j, k, value) of index arrays and values, i the row of the rope, or an empty list without
        ropes.
        """
        if not self.ropes.number:
            return []
        j, k, values = second_entries(self.ropes, product)
        owner = np.concatenate([self.ropes.span_rope, *(self.ropes.angle_rope,) * 4])
        return [(len(self.fixed) - self.ropes.number + owner, j, k, values)]


def rows_of(mechanism: Model, anchors: Anchors) -> Rows:
    """Coefficients A(π) of a mechanism: rows of its constraints, then rows of its spring-dampers.

    Rows of driven angles and rotations have coefficients that depend on the pose instead of the prescribed value.
    """
    a, count = mechanism.network.arrays, mechanism.layout.multipliers
    springs, terms, owned = a.springs, list(zip(a.term_row, a.term_product, strict=True)), laws(mechanism)
    fixed = np.zeros((count + springs.stiffness.size, a.first.size))
    coefficient, _ = table_of(mechanism, anchors).evaluate(
        np.nan_to_num(anchors.rows)
    )  # driven offsets have a coefficient, too
    driven = np.array([callable(law.value) and isinstance(law, Angle | Alignment) for law in owned], dtype=bool)
    np.add.at(fixed, (a.term_row, a.term_product), np.where(driven[a.term_row], 0.0, coefficient))
    angles, bent = [], []
    for i in np.flatnonzero(driven):
        products_of_row = [int(p) for row, p in terms if row == i]
        if isinstance(owned[i], Angle):
            angles.append((i, *products_of_row, 1))
        else:
            bent += [(i, products_of_row[m], products_of_row[m + 3], -0.5) for m in range(3)] + [
                (i, products_of_row[m + 3], products_of_row[m], 0.5) for m in range(3)
            ]
    first = count + springs.length_product.size
    last = first + springs.component_product.size
    fixed[np.arange(first, last), springs.component_product] = 1.0
    angles += [
        (last + i, *pair, 2) for i, pair in enumerate(zip(springs.sine_product, springs.cosine_product, strict=True))
    ]
    t, turning = a.rolling, np.flatnonzero(a.rolling.angular)[::2]  # the first of the two terms of an angle
    factor = np.concatenate([np.ones(len(angles)), t.weight[turning]])
    angles += [(int(t.row[k]), int(t.product[k]), int(t.by[k]), 2) for k in turning]
    table, lever = np.array(angles, dtype=int).reshape(-1, 4), np.array(bent).reshape(-1, 4)
    plain = t.angular == 0
    return Rows(
        fixed=fixed,
        length=(np.arange(count, first), springs.length_product),
        angle=(table[:, 0], table[:, 1], table[:, 2], table[:, 3]),
        factor=factor,
        bent=(
            np.append(lever[:, 0].astype(int), t.row[plain]),
            np.append(lever[:, 1].astype(int), t.product[plain]),
            np.append(lever[:, 2].astype(int), t.by[plain]),
            np.append(lever[:, 3], t.weight[plain]),
        ),
        ropes=springs.ropes,
    )


class ConstantBlocks:
    """Parts of the general equations of a small mechanism that do not depend on the state.

    These are the slices of q, v, σ, e, λ in the state x, the coefficients of the rows, and E, J, R, B and z without
    their state-dependent blocks. ``driven`` are the constraint rows that have inputs.
    """

    def __init__(self, mechanism: Model, anchors: Anchors, driven: list[int]) -> None:
        layout, a = mechanism.layout, mechanism.network.arrays
        self.a, self.k, self.laws = a, coordinates(a), StrainLaws(a)
        self.rows = rows_of(mechanism, anchors)
        self.constraints, self.n = layout.multipliers, layout.flexible
        sizes = (self.k.positions, self.k.velocities, layout.stresses, layout.springs, layout.multipliers)
        at = np.cumsum([0, *sizes])
        self.size, self.external = int(at[-1]), a.input_node.shape[1]
        self.q, self.v, self.sigma, self.spring, self.lam = (slice(i, j) for i, j in pairwise(at))
        self.u, self.du = (slice(p.stop - self.n, p.stop) for p in (self.q, self.v))
        self.stored = np.flatnonzero(a.springs.state >= 0)
        self.has_resistance = bool(a.springs.damping.any() or a.springs.relations)
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
        stresses = self.sigma.start + self.laws.entries
        E[stresses] = 0.0
        E[stresses, stresses] = 1.0
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
