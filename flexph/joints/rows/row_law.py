"""Laws of constraint rows: 0 = Σ c_k(value) Π_k − κ(value), linear in products with coefficients that may move in time.

The value of a law (an offset, an angle, a length, a relative rotation) is stated, a function of time, or None for
what the assembled pose measures. Coefficients, offsets and rates are those of one value (k,) or of many (k, times).

Beside them a law may have ``weighed`` terms w Π_m Π̇_k and ``turns`` a·Ω. Where the law is ``holonomic``, they are the
rate of ½ w Π_k² (k = m); else, in a law ``of_rates``, they are all there is, a constraint on velocities that fixes no
position by the products of a pose: nonholonomic, or a sum of angles that count their turns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ...numerics.arrays import Array
from .vectors import Turn, Weighed

TimeFunction = Callable[[float], Any]


class RowLaw:
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


class ProductLaw(RowLaw):
    """A law of products alone."""

    weighed: ClassVar[tuple[Weighed, ...]] = ()
    turns: ClassVar[tuple[Turn, ...]] = ()
