"""Numbering of points, vectors and products."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ...joints.rows.vectors import BodyVector, Product, Vector


@dataclass
class Numbering:
    """Numbers of points, vectors and products in order of appearance; equal ones share a number."""

    places: dict[BodyVector, int] = field(default_factory=dict)
    vectors: dict[Vector, int] = field(default_factory=dict)
    products: dict[Product, int] = field(default_factory=dict)

    def product(self, product: Product) -> int:
        """Number of a product; numbers it if it is new."""
        for vector in (product.first, product.second):
            for place in (vector.plus, vector.minus):
                if place is not None:
                    self.places.setdefault(place, len(self.places))
            self.vectors.setdefault(vector, len(self.vectors))
        return self.products.setdefault(product, len(self.products))


def indices(values: Any) -> np.ndarray:
    """Integer array of an iterable."""
    return np.array(list(values), dtype=int)
