"""Laws of constraint rows that are linear in products: offsets, angles, lengths, relative rotations."""

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
    """``0 = Π − κ`` with κ the value."""

    product: Product
    value: float | TimeFunction | None = 0.0

    @property
    def products(self) -> tuple[Product, ...]:
        """The products of the row."""
        return (self.product,)

    def measure(self, products: Array) -> Array:
        """The value at a pose."""
        return products[:1]

    def coefficients(self, value: Array) -> Array:
        """c of the value."""
        return np.ones_like(value)

    def offset(self, value: Array) -> Any:
        """κ of the value."""
        return value[0]

    def rates(self, value: Array, rate: Array) -> tuple[Array, Any]:
        """Rates of c and κ for a rate of the value."""
        return np.zeros_like(value), rate[0]


@dataclass(frozen=True)
class Angle(ProductLaw):
    """``0 = s cos θ − c sin θ`` with s, c the products that are sine and cosine of an angle; θ [rad] is the value."""

    sine: Product
    cosine: Product
    value: float | TimeFunction | None = None

    @property
    def products(self) -> tuple[Product, ...]:
        """The products of the row."""
        return (self.sine, self.cosine)

    def measure(self, products: Array) -> Array:
        """The value at a pose."""
        return np.arctan2(products[:1], products[1:])

    def coefficients(self, value: Array) -> Array:
        """c of the value."""
        return np.array([np.cos(value[0]), -np.sin(value[0])])

    def rates(self, value: Array, rate: Array) -> tuple[Array, float]:
        """Rates of c and κ for a rate of the value."""
        return -rate[0] * np.array([np.sin(value[0]), np.cos(value[0])]), 0.0


@dataclass(frozen=True)
class Length(ProductLaw):
    """``0 = (V·V/L − L)/2``, scaled so that its multiplier is the tension [N]; L [m] is the value."""

    product: Product
    value: float | None = None

    @property
    def products(self) -> tuple[Product, ...]:
        """The products of the row."""
        return (self.product,)

    def measure(self, products: Array) -> Array:
        """The value at a pose."""
        return np.sqrt(products)

    def coefficients(self, value: Array) -> Array:
        """c of the value."""
        return 0.5 / np.where(value == 0.0, np.inf, value)

    def offset(self, value: Array) -> Any:
        """κ of the value."""
        return 0.5 * value[0]

    def rates(self, value: Array, rate: Array) -> tuple[Array, float]:
        """Rates of c and κ for a rate of the value."""
        return -0.5 * rate / value**2, 0.5 * float(rate[0])


@dataclass(frozen=True)
class Alignment(ProductLaw):
    """``0 = e_k · axial(A A₀ᵀ)``: the relative rotation A, with A_ij = d_i·e_j of nine products, is A₀.

    axial(M) = ½(M_zy − M_yz, M_xz − M_zx, M_yx − M_xy), the sine of a small difference about axis k of the first
    section: regular up to 90° and, taken for all three k, without another solution nearer than 180°. A₀ (3, 3), the
    rotation of the second section as seen in the first, is the value.
    """

    relative: tuple[Product, ...]
    component: int
    value: tuple[tuple[float, ...], ...] | TimeFunction | None = None

    shape = (3, 3)

    @property
    def products(self) -> tuple[Product, ...]:
        """The products of the row: the two rows of A that it takes."""
        i, j = (self.component + 1) % 3, (self.component + 2) % 3
        return self.relative[3 * i : 3 * i + 3] + self.relative[3 * j : 3 * j + 3]

    def measure(self, products: Array) -> Array:
        """The value at a pose; the row it does not take follows as their cross product."""
        i, j = (self.component + 1) % 3, (self.component + 2) % 3
        rotation = np.zeros((3, 3, *products.shape[1:]))
        rotation[i], rotation[j] = products[:3], products[3:]
        rotation[self.component] = np.cross(rotation[i], rotation[j], axis=0)
        return rotation.reshape(9, *products.shape[1:])

    def coefficients(self, value: Array) -> Array:
        """c of the value."""
        matrix = value.reshape(3, 3, *value.shape[1:])
        i, j = (self.component + 1) % 3, (self.component + 2) % 3
        return 0.5 * np.concatenate([-matrix[j], matrix[i]])

    def rates(self, value: Array, rate: Array) -> tuple[Array, float]:
        """Rates of c and κ for a rate of the value."""
        return self.coefficients(rate), 0.0


Law = Offset | Angle | Length | Alignment | Rolling | Transmission | Contact | PointOnCurve
