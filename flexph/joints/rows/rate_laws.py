"""Laws of constraint rows with weighed terms w Π Π̇ and turns: rolling, transmissions, discs that touch a plane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...numerics.arrays import Array
from .row_law import RowLaw
from .vectors import Product, Turn, Weighed


@dataclass(frozen=True)
class Rolling(RowLaw):
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
class Transmission(RowLaw):
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
class Contact(RowLaw):
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
