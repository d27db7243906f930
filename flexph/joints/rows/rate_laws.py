"""Constraint laws with weighted terms w Π Π̇ and spins: rolling, transmissions, discs that touch a plane."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...numerics.arrays import Array
from .row_law import RowLaw
from .vectors import Product, Turn, Weighed


@dataclass(frozen=True)
class Rolling(RowLaw):
    """Nonholonomic law ``0 = Σ w Π_m Π̇_k + Σ a·Ω``, the ``A(ζ)ϖ = 0`` of [rigid] eq. (10).

    Over a step the terms are w Π̄_m ΔΠ_k and a·hΩ. The multiplier acts by the transpose, with w Π̄_m on Π_k and with
    the torque a on the body, so that its work is zero at every step size. A run ends where the product ``upright`` of
    two unit vectors, on whose direction the law relies, falls below 1.
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
        """Empty: the law has no value, as it constrains velocities only."""
        return np.zeros(0)


@dataclass(frozen=True)
class Transmission(RowLaw):
    """Law ``0 = Σ w Δm``: increments of angles and offsets m in a constant ratio, counted from the assembled pose.

    Increments of angles include full turns, which sines and cosines of a pose do not show. The law holds for the exact
    increments of every step, so that the ratio does not drift.
    """

    weighed: tuple[Weighed, ...]

    value = None
    shape = (0,)
    of_rates = True
    products: ClassVar[tuple[Product, ...]] = ()
    turns: ClassVar[tuple[Turn, ...]] = ()

    def measure(self, products: Array) -> Array:
        """Empty: the law has no value, as increments may be counted from any pose."""
        return np.zeros(0)


@dataclass(frozen=True)
class Contact(RowLaw):
    """Law ``0 = ½(Π²/r + r Π_e² − r)`` of a disc on a plane: radius r, height Π of its centre, Π_e = n·e of its axis e.

    The height is r s, s = √(1 − Π_e²) the sine of the angle between axis and normal; the multiplier times s is the
    normal force [N]. Squares of products have exact increments, so that the height does not drift.
    """

    height: Product
    tilt: Product
    radius: float

    products: ClassVar[tuple[Product, ...]] = ()
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
        """Value of the law at any pose: the radius."""
        return np.array([self.radius])

    def offset(self, value: Array) -> float:
        """Offset κ = r/2 of the constraint."""
        return 0.5 * self.radius
