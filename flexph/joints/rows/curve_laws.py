"""Constraint laws of a point on a curve, and of its place along the curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...numerics.arrays import Array
from .row_law import RowLaw, TimeFunction
from .vectors import Product, Turn, Weighed


@dataclass(frozen=True)
class CurveShape:
    """Curve through K points P_k of a body, and the point P that slides on it: products D_j·(P − P_k).

    The D_j are the d axes of the body's section; the products are d rows of K.

    ``at`` are the values of s at the points; each piece has ``degree`` + 1 of them.
    """

    products: tuple[tuple[Product, ...], ...]
    at: tuple[float, ...]
    degree: int


@dataclass(frozen=True)
class PointOnCurve(RowLaw):
    """Law ``0 = n_i·V(s)``, V(s) from the foot on the curve to the point (:mod:`flexph.kernels.rates.on_curves`)."""

    curve: CurveShape
    component: int
    value: float | TimeFunction = 0.0

    shape = (0,)
    products: ClassVar[tuple[Product, ...]] = ()
    weighed: ClassVar[tuple[Weighed, ...]] = ()
    turns: ClassVar[tuple[Turn, ...]] = ()

    def measure(self, products: Array) -> Array:
        """Empty: the law has no value, as the place on the curve follows from the pose."""
        return np.zeros((0, *products.shape[1:]))


@dataclass(frozen=True)
class PlaceOnCurve(PointOnCurve):
    """Law ``0 = s − s(t)`` with a prescribed place s of a point on its curve."""

    shape = (1,)

    def measure(self, products: Array) -> Array:
        """NaN: products alone do not determine the value."""
        return np.full((1, *products.shape[1:]), np.nan)

    def offset(self, value: Array) -> Any:
        """Offset κ of the constraint, for a value of the law."""
        return value[0]

    def rates(self, value: Array, rate: Array) -> tuple[Array, Any]:
        """Rates of the coefficients c and the offset κ for a rate of the value."""
        return np.zeros((0, *value.shape[1:])), rate[0]
