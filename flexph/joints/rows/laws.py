"""Constraint laws that are linear in products: offsets, angles, lengths, relative rotations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...numerics.arrays import Array
from .curve_laws import PointOnCurve
from .rate_laws import Contact, Rolling, Transmission
from .row_law import ProductLaw, TimeFunction
from .vectors import Product


@dataclass(frozen=True)
class Offset(ProductLaw):
    """Law ``0 = Π − κ`` with the value κ."""

    product: Product
    value: float | TimeFunction | None = 0.0

    @property
    def products(self) -> tuple[Product, ...]:
        """Products Π_k of the law."""
        return (self.product,)

    def measure(self, products: Array) -> Array:
        """Value of the law at a pose with these products."""
        return products[:1]

    def coefficients(self, value: Array) -> Array:
        """Coefficients c_k of the products, for a value of the law."""
        return np.ones_like(value)

    def offset(self, value: Array) -> Any:
        """Offset κ of the constraint, for a value of the law."""
        return value[0]

    def rates(self, value: Array, rate: Array) -> tuple[Array, Any]:
        """Rates of the coefficients c and the offset κ for a rate of the value."""
        return np.zeros_like(value), rate[0]


@dataclass(frozen=True)
class Angle(ProductLaw):
    """Law ``0 = s cos θ − c sin θ`` of products s, c that are sine and cosine of an angle; the value is θ [rad]."""

    sine: Product
    cosine: Product
    value: float | TimeFunction | None = None

    @property
    def products(self) -> tuple[Product, ...]:
        """Products Π_k of the law."""
        return (self.sine, self.cosine)

    def measure(self, products: Array) -> Array:
        """Value of the law at a pose with these products."""
        return np.arctan2(products[:1], products[1:])

    def coefficients(self, value: Array) -> Array:
        """Coefficients c_k of the products, for a value of the law."""
        return np.array([np.cos(value[0]), -np.sin(value[0])])

    def rates(self, value: Array, rate: Array) -> tuple[Array, float]:
        """Rates of the coefficients c and the offset κ for a rate of the value."""
        return -rate[0] * np.array([np.sin(value[0]), np.cos(value[0])]), 0.0


@dataclass(frozen=True)
class Length(ProductLaw):
    """Law ``0 = (V·V/L − L)/2``, scaled so that its multiplier is the tension [N]; the value is L [m]."""

    product: Product
    value: float | None = None

    @property
    def products(self) -> tuple[Product, ...]:
        """Products Π_k of the law."""
        return (self.product,)

    def measure(self, products: Array) -> Array:
        """Value of the law at a pose with these products."""
        return np.sqrt(products)

    def coefficients(self, value: Array) -> Array:
        """Coefficients c_k of the products, for a value of the law."""
        return 0.5 / np.where(value == 0.0, np.inf, value)

    def offset(self, value: Array) -> Any:
        """Offset κ of the constraint, for a value of the law."""
        return 0.5 * value[0]

    def rates(self, value: Array, rate: Array) -> tuple[Array, float]:
        """Rates of the coefficients c and the offset κ for a rate of the value."""
        return -0.5 * rate / value**2, 0.5 * float(rate[0])


@dataclass(frozen=True)
class Alignment(ProductLaw):
    """Law ``0 = e_k · axial(A A₀ᵀ)``: the relative rotation A, with A_ij = d_i·e_j of nine products, equals A₀.

    axial(M) = ½(M_zy − M_yz, M_xz − M_zx, M_yx − M_xy), the sine of a small difference about axis k of the first
    section. The row is regular up to 90°; all three together have no other solution nearer than 180°. The value is A₀
    (3, 3), the rotation of the second section relative to the first.
    """

    relative: tuple[Product, ...]
    component: int
    value: tuple[tuple[float, ...], ...] | TimeFunction | None = None

    shape = (3, 3)

    @property
    def products(self) -> tuple[Product, ...]:
        """Products of the row: the two rows of A other than k."""
        i, j = (self.component + 1) % 3, (self.component + 2) % 3
        return self.relative[3 * i : 3 * i + 3] + self.relative[3 * j : 3 * j + 3]

    def measure(self, products: Array) -> Array:
        """Value at a pose; row k of A follows as the cross product of the other two."""
        i, j = (self.component + 1) % 3, (self.component + 2) % 3
        rotation = np.zeros((3, 3, *products.shape[1:]))
        rotation[i], rotation[j] = products[:3], products[3:]
        rotation[self.component] = np.cross(rotation[i], rotation[j], axis=0)
        return rotation.reshape(9, *products.shape[1:])

    def coefficients(self, value: Array) -> Array:
        """Coefficients c_k of the products, for a value of the law."""
        matrix = value.reshape(3, 3, *value.shape[1:])
        i, j = (self.component + 1) % 3, (self.component + 2) % 3
        return 0.5 * np.concatenate([-matrix[j], matrix[i]])

    def rates(self, value: Array, rate: Array) -> tuple[Array, float]:
        """Rates of the coefficients c and the offset κ for a rate of the value."""
        return self.coefficients(rate), 0.0


Law = Offset | Angle | Length | Alignment | Rolling | Transmission | Contact | PointOnCurve
