"""Laws of all constraint rows together; offsets, the most frequent kind, are evaluated in one array operation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import accumulate, pairwise

import numpy as np

from ...numerics.arrays import Array
from .laws import Law, Offset


class LawRows:
    """Laws of all rows, concatenated: the spans of their values and terms, and the indices of their products."""

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
        for law, own in zip(laws, self.values, strict=True):
            if law.value is not None and not callable(law.value) and own.stop > own.start:
                self._given[own] = np.ravel(law.value)
        unanchored = ~np.isnan(self._given)
        for i in self.driven:
            unanchored[self.values[i]] = True
        self._stated = np.flatnonzero(unanchored)

    def measured(self, product: Array) -> Array:
        """Concatenated values of all laws at a pose with products (p,), or at many (p, k)."""
        rows = np.empty((self._given.size, *product.shape[1:]))
        rows[self._value] = product[self._product]
        for i in self._others:
            if self.values[i].stop > self.values[i].start:
                rows[self.values[i]] = self.laws[i].measure(product[self.products[i]])
        return rows

    def anchored(self, product: Array) -> Array:
        """Values of all laws: the stated ones where given, NaN for functions of time, else those of the pose."""
        rows = self.measured(product)
        rows[self._stated] = self._given[self._stated].reshape(-1, *np.ones_like(product.shape[1:], dtype=int))
        return rows

    def prescribed(self, values: Array) -> tuple[Array, Array]:
        """Coefficients of all terms and offsets of all rows for given values; zero where a value is NaN."""
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
