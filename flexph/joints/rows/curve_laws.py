"""Laws of a point that stays on a curve, and of its place there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...numerics.arrays import Array
from .row_law import RowLaw, TimeFunction
from .vectors import Product, Turn, Weighed


@dataclass(frozen=True)
class CurveShape:
    """A curve through points of a body, from a point that is to stay on it: products D_j·(P − P_k), d rows of K.

    ``at`` are the places s of the points along it, and a piece has ``degree`` + 1 points.
    """

    products: tuple[tuple[Product, ...], ...]
    at: tuple[float, ...]
    degree: int


@dataclass(frozen=True)
class PointOnCurve(RowLaw):
    """``0 = n_i·V(s)``, V(s) the way from a curve to a point at its foot: see :mod:`flexph.kernels.rates.on_curves`."""

    curve: CurveShape
    component: int
    value: float | TimeFunction = 0.0

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
