"""Constraint laws 0 = Σ c_k(value) Π_k − κ(value), linear in products Π_k; the value may depend on time.

The value of a law (an offset, an angle, a length, a relative rotation) is stated, a function of time, or None: then
the assembled pose determines it. Coefficients, offsets and rates take one value (k,) or many (k, times).

A law may also have ``weighed`` terms w Π_m Π̇_k and ``turns`` a·Ω. In a ``holonomic`` law with products these terms are
the rate of ½ w Π_k² (k = m). A law ``of_rates`` has no other terms: it constrains velocities, and products of a pose do
not determine it. It is nonholonomic, or a sum of angles that count their turns.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from ...numerics.arrays import Array
from .vectors import Turn, Weighed

TimeFunction = Callable[[float], Any]


class RowLaw:
    """Base of constraint laws, without products and with offset zero."""

    shape: ClassVar[tuple[int, ...]] = ()
    holonomic: ClassVar[bool] = True
    of_rates: ClassVar[bool] = False

    def coefficients(self, value: Array) -> Array:
        """Coefficients c_k of the products, for a value of the law."""
        return np.zeros((0, *value.shape[1:]))

    def offset(self, value: Array) -> Any:
        """Offset κ of the constraint, for a value of the law."""
        return 0.0

    def rates(self, value: Array, rate: Array) -> tuple[Array, Any]:
        """Rates of the coefficients c and the offset κ for a rate of the value."""
        return np.zeros((0, *value.shape[1:])), 0.0


class ProductLaw(RowLaw):
    """Base of constraint laws of products alone."""

    weighed: ClassVar[tuple[Weighed, ...]] = ()
    turns: ClassVar[tuple[Turn, ...]] = ()
