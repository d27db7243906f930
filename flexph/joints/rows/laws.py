"""Laws of constraint rows: 0 = Σ c_k(value) Π_k − κ(value), linear in products with coefficients that may move in time.

The value of a law (an offset, an angle, a length, a relative rotation) is stated, a function of time, or None for
what the assembled pose measures. Coefficients, offsets and rates are those of one value (k,) or of many (k, times).

Beside them a law may have ``weighed`` terms w Π_m Π̇_k and ``turns`` a·Ω. Where the law is ``holonomic``, they are the
rate of ½ w Π_k² (k = m); else, in a law ``of_rates``, they are all there is, a constraint on velocities that fixes no
position by the products of a pose: nonholonomic, or a sum of angles that count their turns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...numerics.arrays import Array
from .vectors import Product, Turn, Weighed

TimeFunction = Callable[[float], Any]


class _Law:
    """A law without products that enter with constant coefficients, and with the value zero."""

    shape: ClassVar[tuple[int, ...]] = ()
    holonomic: ClassVar[bool] = True
    of_rates: ClassVar[bool] = False

    def coefficients(self, value: Array) -> Array:
        """c of the value."""
        return np.zeros((0, *value.shape[1:]))

    def offset(self, value: Array) -> Any:
        """κ of the value."""
        return 0.0

    def rates(self, value: Array, rate: Array) -> tuple[Array, Any]:
        """Rates of c and κ for a rate of the value."""
        return np.zeros((0, *value.shape[1:])), 0.0


class _Holonomic(_Law):
    """A law of products alone."""

    weighed: ClassVar[tuple[Weighed, ...]] = ()
    turns: ClassVar[tuple[Turn, ...]] = ()


@dataclass(frozen=True)
class Offset(_Holonomic):
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
class Angle(_Holonomic):
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
class Length(_Holonomic):
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
class Alignment(_Holonomic):
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


@dataclass(frozen=True)
class Rolling(_Law):
    """``0 = Σ w Π_m Π̇_k + Σ a·Ω``: nonholonomic, ``A(ζ)ϖ = 0`` of [rigid] eq. (10).

    Over a step the terms are w Π̄_m ΔΠ_k and a·hΩ, and the multiplier acts on Π_k with w Π̄_m and on the body with the
    torque a: the transpose, so its work is zero at every step size.
    """

    weighed: tuple[Weighed, ...]
    turns: tuple[Turn, ...] = ()

    value = None
    shape = (0,)
    holonomic = False
    of_rates = True
    products: ClassVar[tuple[Product, ...]] = ()

    def measure(self, products: Array) -> Array:
        """The value at a pose: none, as no pose breaks the law."""
        return np.zeros(0)


@dataclass(frozen=True)
class Transmission(_Law):
    """``0 = Σ w Δm``: increments of angles and offsets m in a constant ratio, counted from the assembled pose.

    Angles have increments to their full turns, which the sines and cosines of a pose do not know: the law holds for the
    exact increments of every step, so that ratios do not drift.
    """

    weighed: tuple[Weighed, ...]

    value = None
    shape = (0,)
    of_rates = True
    products: ClassVar[tuple[Product, ...]] = ()
    turns: ClassVar[tuple[Turn, ...]] = ()

    def measure(self, products: Array) -> Array:
        """The value at a pose: none, as any pose may be counted from."""
        return np.zeros(0)


@dataclass(frozen=True)
class Contact(_Law):
    """``0 = ½(Π²/r + r Π_e² − r)``: a disc of radius r touches a plane, its centre Π above it, Π_e = n·e of its axis.

    The height is r s with s = √(1 − Π_e²), the sine of the angle between axis and normal; the multiplier times s is the
    normal force [N]. Squares of products have exact increments, so the height does not drift.
    """

    height: Product
    tilt: Product
    radius: float

    products: ClassVar[tuple[Product, ...]] = ()
    turns: ClassVar[tuple[Turn, ...]] = ()

    @property
    def value(self) -> float:
        """The radius."""
        return self.radius

    @property
    def weighed(self) -> tuple[Weighed, ...]:
        """The squares of height and tilt."""
        return Weighed(self.height, self.height, 1.0 / self.radius), Weighed(self.tilt, self.tilt, self.radius)

    def measure(self, products: Array) -> Array:
        """The value at a pose."""
        return np.array([self.radius])

    def offset(self, value: Array) -> float:
        """κ of the value."""
        return 0.5 * self.radius


@dataclass(frozen=True)
class CurveShape:
    """A curve through points of a body, from a point that is to stay on it: products D_j·(P − P_k), d rows of K.

    ``at`` are the places s of the points along it, and a piece has ``degree`` + 1 points.
    """

    products: tuple[tuple[Product, ...], ...]
    at: tuple[float, ...]
    degree: int


@dataclass(frozen=True)
class PointOnCurve(_Law):
    """``0 = n_i·V(s)``, V(s) the way from a curve to a point at its foot: see :mod:`flexph.kernels.rates.on_curves`."""

    curve: CurveShape
    component: int

    value = 0.0
    shape = (0,)
    products: ClassVar[tuple[Product, ...]] = ()
    weighed: ClassVar[tuple[Weighed, ...]] = ()
    turns: ClassVar[tuple[Turn, ...]] = ()

    def measure(self, products: Array) -> Array:
        """The value at a pose: none, as where the point is on the curve follows from the pose."""
        return np.zeros((0, *products.shape[1:]))


@dataclass(frozen=True)
class PlaceOnCurve(PointOnCurve):
    """``0 = s − s(t)``, s the place of a point on its curve, which is prescribed."""

    value: TimeFunction
    shape = (1,)

    def measure(self, products: Array) -> Array:
        """The value at a pose: none that is known without the curve."""
        return np.full((1, *products.shape[1:]), np.nan)

    def offset(self, value: Array) -> Any:
        """κ of the value."""
        return value[0]

    def rates(self, value: Array, rate: Array) -> tuple[Array, Any]:
        """Rates of c and κ for a rate of the value."""
        return np.zeros((0, *value.shape[1:])), rate[0]


Law = Offset | Angle | Length | Alignment | Rolling | Transmission | Contact | PointOnCurve
