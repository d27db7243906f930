"""Laws of scalar constraints on offsets, angles, lengths, relative rotations, rates and coordinates on curves.

    0 = Σ c_k(value) Π_k − κ(value)

is the general form, linear in products Π_k of two world vectors. The value of a law (an offset, an angle, a length, a
relative rotation) is a number, a function of time, or None: the assembled pose then determines it. Coefficients c_k and
their rates are arrays (k,), or (k, times) for many times; offsets κ are numbers, or (times,).

A law may also have ``weighed`` terms w Π_m Π̇_k with a weight w, and ``turns`` a·Ω with a vector a and the spin Ω of a
body. In a ``holonomic`` law with products the weighed terms are the rate of ½ w Π_k² (k = m). A law ``of_rates`` has no
other terms: it constrains velocities, and products of a pose do not determine it. Such a law is nonholonomic, or a sum
of angles over any number of turns.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any, ClassVar

import numpy as np

from ...numerics.arrays import Array
from .distances import Distance
from .vectors import Product, Turn, Weighed

TimeFunction = Callable[[float], Any]


class RowLaw:
    """Base class of constraint laws; by default without products and with offset zero."""

    shape: ClassVar[tuple[int, ...]] = ()
    holonomic: ClassVar[bool] = True
    of_rates: ClassVar[bool] = False

    def coefficients(self, value: Array) -> Array:
        """Coefficients c_k of the products Π_k at a value of the law."""
        return np.zeros((0, *value.shape[1:]))

    def offset(self, value: Array) -> Any:
        """Offset κ of the constraint at a value of the law."""
        return 0.0

    def rates(self, value: Array, rate: Array) -> tuple[Array, Any]:
        """Time derivatives of the coefficients c_k and of the offset κ, from the value of the law and its rate."""
        return np.zeros((0, *value.shape[1:])), 0.0


class ProductLaw(RowLaw):
    """Base class of constraint laws that have products, but no terms of rates."""

    weighed: ClassVar[tuple[Weighed, ...]] = ()
    turns: ClassVar[tuple[Turn, ...]] = ()


@dataclass(frozen=True)
class Rolling(RowLaw):
    """Nonholonomic law ``0 = Σ w Π_m Π̇_k + Σ a·Ω``, the ``A(ζ)ϖ = 0`` of [rigid] eq. (10).

    ``weighed`` are the weights w and products Π_m, Π_k; ``turns`` the vectors a and the bodies with the spins Ω. Over a
    step of length h the terms are w Π̄_m ΔΠ_k and a·hΩ, with the mean Π̄_m of both ends. The multiplier acts by the
    transpose of the row, with the force w Π̄_m on Π_k and the torque a on the body, so that its work is zero at every
    step size. A run ends where the product ``upright`` of two unit vectors, on whose direction the law relies, falls
    below 1.
    """

    weighed: tuple[Weighed, ...]
    turns: tuple[Turn, ...] = ()
    upright: Product | None = None

    value = None
    shape = (0,)
    holonomic = False
    of_rates = True
    products: ClassVar[tuple[Product, ...]] = ()

    def measure(self, products: Array) -> Array:
        """Value of the law in a pose: an empty array, as it constrains velocities only."""
        return np.zeros(0)


@dataclass(frozen=True)
class Transmission(RowLaw):
    """Law ``0 = Σ w Δm`` of angles and offsets m, whose increments Δm have a constant ratio.

    Increments are counted from the assembled pose. Those of angles include full turns, which sines and cosines of a
    pose do not show. The law holds for the exact increments of every step, so that the ratio does not drift.
    """

    weighed: tuple[Weighed, ...]

    value = None
    shape = (0,)
    of_rates = True
    products: ClassVar[tuple[Product, ...]] = ()
    turns: ClassVar[tuple[Turn, ...]] = ()

    def measure(self, products: Array) -> Array:
        """Value of the law in a pose: an empty array, as increments may be counted from any pose."""
        return np.zeros(0)


@dataclass(frozen=True)
class Contact(RowLaw):
    """Law ``0 = ½((Π − c)²/r + r Π_e² − r)`` of a disc on a plane: radius r, height Π of its centre, Π_e = n·e, axis e.

    The height is r s + c, s = √(1 − Π_e²) the sine of the angle between axis and normal, c the crown of a tyre with a
    round section; the multiplier times s is the normal force [N]. Squares of products have exact increments, so that
    the height does not drift.
    """

    height: Product
    tilt: Product
    radius: float
    crown: float = 0.0

    turns: ClassVar[tuple[Turn, ...]] = ()

    @property
    def value(self) -> float:
        """Radius of the disc [m]."""
        return self.radius

    @property
    def weighed(self) -> tuple[Weighed, ...]:
        """Terms Π²/r and r Π_e² as weighted products w Π Π̇ of the rate of the law."""
        return Weighed(self.height, self.height, 1.0 / self.radius), Weighed(self.tilt, self.tilt, self.radius)

    def measure(self, products: Array) -> Array:
        """Value of the law in any pose: the radius [m]."""
        return np.array([self.radius])

    @property
    def products(self) -> tuple[Product, ...]:
        """Products Π_k of the law: the height if there is a crown, otherwise none."""
        return (self.height,) if self.crown else ()

    def coefficients(self, value: Array) -> Array:
        """Coefficient −c/r of the height if there is a crown, otherwise none."""
        return np.full((len(self.products), *value.shape[1:]), -self.crown / self.radius)

    def offset(self, value: Array) -> float:
        """Offset κ = ½(r − c²/r) of the constraint."""
        return 0.5 * (self.radius - self.crown**2 / self.radius)

    def rates(self, value: Array, rate: Array) -> tuple[Array, Any]:
        """Zero rates of the coefficients and of the offset, as neither depends on time."""
        return np.zeros((len(self.products), *value.shape[1:])), 0.0


@dataclass(frozen=True)
class CurveShape:
    """Curve through K points P_k of a body, and the point P that slides on it, as products D_j·(P − P_k).

    The D_j are the d axes of the body's section; ``products`` are d rows, one for each axis, of K entries. ``at`` are
    the values of the curve coordinate s at the points; each polynomial piece has ``degree`` + 1 of them.
    """

    products: tuple[tuple[Product, ...], ...]
    at: tuple[float, ...]
    degree: int


@dataclass(frozen=True)
class PointOnCurve(RowLaw):
    """Law ``0 = n_i·V(s)`` of a point on a curve: V(s) is the vector to the point from the curve at the coordinate s.

    n_i are the directions across the curve, i = ``component``, see :mod:`flexph.kernels.rates.on_curves`.
    """

    curve: CurveShape
    component: int
    value: float | TimeFunction = 0.0

    shape = (0,)
    products: ClassVar[tuple[Product, ...]] = ()
    weighed: ClassVar[tuple[Weighed, ...]] = ()
    turns: ClassVar[tuple[Turn, ...]] = ()

    def measure(self, products: Array) -> Array:
        """Value of the law in a pose: an empty array, as the place on the curve follows from the pose."""
        return np.zeros((0, *products.shape[1:]))


@dataclass(frozen=True)
class PlaceOnCurve(PointOnCurve):
    """Law ``0 = s − s(t)`` of a port on a curve, whose coordinate s is a function s(t) of time."""

    shape = (1,)

    def measure(self, products: Array) -> Array:
        """NaN (1, …) for the value of the law in a pose, as the products do not determine the coordinate s."""
        return np.full((1, *products.shape[1:]), np.nan)

    def offset(self, value: Array) -> Any:
        """Offset κ of the constraint at a value of the law."""
        return value[0]

    def rates(self, value: Array, rate: Array) -> tuple[Array, Any]:
        """Time derivatives of the coefficients c_k and of the offset κ, from the value of the law and its rate."""
        return np.zeros((0, *value.shape[1:])), rate[0]


@dataclass(frozen=True)
class Distances(ProductLaw):
    """Law ``0 = Σ w d − κ`` of the ``distances`` d of closed contacts, with ``weights`` w; the value is κ [m].

    See :mod:`flexph.kernels.contacts.distances`.
    """

    weights: tuple[float, ...]
    distances: tuple[Distance, ...]
    value: float = 0.0

    shape = (0,)
    products: ClassVar[tuple[Product, ...]] = ()

    def measure(self, products: Array) -> Array:
        """Empty array, as the value is always given."""
        return np.zeros((0, *products.shape[1:]))

    def offset(self, value: Array) -> Any:
        """Offset κ of the constraint."""
        return self.value


@dataclass(frozen=True)
class Offset(ProductLaw):
    """Law ``0 = Π − κ`` of a product Π, an offset of a port along a direction; the value is κ."""

    product: Product
    value: float | TimeFunction | None = 0.0

    @property
    def products(self) -> tuple[Product, ...]:
        """Products Π_k of the law."""
        return (self.product,)

    def measure(self, products: Array) -> Array:
        """Value κ of the law in a pose with the products Π (1, …)."""
        return products[:1]

    def coefficients(self, value: Array) -> Array:
        """Coefficient 1 of the product."""
        return np.ones_like(value)

    def offset(self, value: Array) -> Any:
        """Offset κ of the constraint: the value of the law."""
        return value[0]

    def rates(self, value: Array, rate: Array) -> tuple[Array, Any]:
        """Time derivatives of the coefficients c_k and of the offset κ, from the value of the law and its rate."""
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
        """Angle θ [rad] in a pose with the products s, c (2, …)."""
        return np.arctan2(products[:1], products[1:])

    def coefficients(self, value: Array) -> Array:
        """Coefficients cos θ and −sin θ of the products s and c, at the value θ of the law."""
        return np.array([np.cos(value[0]), -np.sin(value[0])])

    def rates(self, value: Array, rate: Array) -> tuple[Array, float]:
        """Time derivatives of the coefficients c_k and of the offset κ, from the value of the law and its rate."""
        return -rate[0] * np.array([np.sin(value[0]), np.cos(value[0])]), 0.0


@dataclass(frozen=True)
class Length(ProductLaw):
    """Law ``0 = (V·V/L − L)/2`` of a distance |V|; the value is the length L [m].

    It is scaled so that its multiplier is the tension [N].
    """

    product: Product
    value: float | None = None

    @property
    def products(self) -> tuple[Product, ...]:
        """Products Π_k of the law."""
        return (self.product,)

    def measure(self, products: Array) -> Array:
        """Length L [m] in a pose with the product V·V (1, …)."""
        return np.sqrt(products)

    def coefficients(self, value: Array) -> Array:
        """Coefficients c_k of the products at the value L of the law."""
        return 0.5 / np.where(value == 0.0, np.inf, value)

    def offset(self, value: Array) -> Any:
        """Offset κ of the constraint at the value L of the law."""
        return 0.5 * value[0]

    def rates(self, value: Array, rate: Array) -> tuple[Array, float]:
        """Time derivatives of the coefficients c_k and of the offset κ, from the value of the law and its rate."""
        return -0.5 * rate / value**2, 0.5 * float(rate[0])


@dataclass(frozen=True)
class Alignment(ProductLaw):
    """Law ``0 = e_k · axial(A A₀ᵀ)`` of one component k: with those of all three, the relative rotation A equals A₀.

    A_ij = d_i·e_j are nine products of the axes of both sections. axial(M) = ½(M_zy − M_yz, M_xz − M_zx, M_yx − M_xy)
    is the sine of a small difference about axis k of the first section. The row is regular up to 90°; all three
    together have no other solution nearer than 180°. The value is A₀ (3, 3), the rotation of the second section
    relative to the first.
    """

    relative: tuple[Product, ...]
    component: int
    value: tuple[tuple[float, ...], ...] | TimeFunction | None = None

    shape = (3, 3)

    @property
    def products(self) -> tuple[Product, ...]:
        """Products of this component: the two rows of A other than row k."""
        i, j = (self.component + 1) % 3, (self.component + 2) % 3
        return self.relative[3 * i : 3 * i + 3] + self.relative[3 * j : 3 * j + 3]

    def measure(self, products: Array) -> Array:
        """Rotation A (9, …) in a pose with the products (6, …) of the row.

        Its row k follows as the cross product of the other two.
        """
        i, j = (self.component + 1) % 3, (self.component + 2) % 3
        rotation = np.zeros((3, 3, *products.shape[1:]))
        rotation[i], rotation[j] = products[:3], products[3:]
        rotation[self.component] = np.cross(rotation[i], rotation[j], axis=0)
        return rotation.reshape(9, *products.shape[1:])

    def coefficients(self, value: Array) -> Array:
        """Coefficients c_k of the products at the value A₀ of the law."""
        matrix = value.reshape(3, 3, *value.shape[1:])
        i, j = (self.component + 1) % 3, (self.component + 2) % 3
        return 0.5 * np.concatenate([-matrix[j], matrix[i]])

    def rates(self, value: Array, rate: Array) -> tuple[Array, float]:
        """Time derivatives of the coefficients c_k and of the offset κ, from the value of the law and its rate."""
        return self.coefficients(rate), 0.0


Law = Offset | Angle | Length | Alignment | Rolling | Transmission | Contact | PointOnCurve | Distances


class LawRows:
    """Laws of all constraint rows of a mechanism, which share one array of values and one array of terms.

    ``values`` and ``terms`` are the slices of each law in these arrays; ``products`` lists, for each law, the indices
    of its products V·W.
    """

    def __init__(self, laws: Sequence[Law], products: Sequence[Sequence[int]]) -> None:
        self.laws, self.products = laws, products
        self.values = _spans([math.prod(law.shape) for law in laws])
        self.terms = _spans([len(law.products) for law in laws])
        self.driven = [i for i, law in enumerate(laws) if callable(law.value)]
        plain = [i for i, law in enumerate(laws) if type(law) is Offset]
        self._others = [i for i, law in enumerate(laws) if type(law) is not Offset]
        self._plain = np.array(plain, dtype=int)
        self._product, self._value, self._term = (
            np.array(places, dtype=int)
            for places in (
                [products[i][0] for i in plain],
                [self.values[i].start for i in plain],
                [self.terms[i].start for i in plain],
            )
        )
        self._given = np.full(self.values[-1].stop if laws else 0, np.nan)
        for law, span in zip(laws, self.values, strict=True):
            if law.value is not None and not callable(law.value) and span.stop > span.start:
                self._given[span] = np.ravel(law.value)
        unanchored = ~np.isnan(self._given)
        for i in self.driven:
            unanchored[self.values[i]] = True
        self._stated = np.flatnonzero(unanchored)

    def measured(self, product: Array) -> Array:
        """Values of all laws, concatenated, in a pose with products (p,), or in k poses (p, k)."""
        rows = np.empty((self._given.size, *product.shape[1:]))
        rows[self._value] = product[self._product]
        for i in self._others:
            if self.values[i].stop > self.values[i].start:
                rows[self.values[i]] = self.laws[i].measure(product[self.products[i]])
        return rows

    def anchored(self, product: Array) -> Array:
        """Values that the laws prescribe, concatenated: a given number, or NaN for a function of time.

        Laws for which neither is given prescribe the value measured in the pose.
        """
        rows = self.measured(product)
        rows[self._stated] = self._given[self._stated].reshape(-1, *np.ones_like(product.shape[1:], dtype=int))
        return rows

    def prescribed(self, values: Array) -> tuple[Array, Array]:
        """Coefficients of all terms and offsets of all rows at given values of the laws.

        Both are zero for a law whose value is NaN.
        """
        coefficient, offset = np.zeros(self.terms[-1].stop if self.terms else 0), np.zeros(len(self.laws))
        plain = values[self._value]
        known = np.isfinite(plain)
        coefficient[self._term] = known
        offset[self._plain] = np.where(known, plain, 0.0)
        for i in self._others:
            law, value = self.laws[i], values[self.values[i]]
            if np.isfinite(value).all():
                coefficient[self.terms[i]], offset[i] = law.coefficients(value), law.offset(value)
        return coefficient, offset


def _spans(sizes: Sequence[int]) -> list[slice]:
    return [slice(a, b) for a, b in pairwise(accumulate(sizes, initial=0))]
