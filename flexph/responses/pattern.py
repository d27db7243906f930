"""Sparse matrices that are combined with other coefficients again and again: one pattern, one ordering."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from ..space import Array


class Pattern:
    """``Σ cₖ Aₖ`` for fixed sparse Aₖ (n, n): data on their common pattern; columns ordered once, by the first LU."""

    def __init__(self, terms: Sequence[Any]) -> None:
        self.size = terms[0].shape[0]
        coordinates = [sparse.coo_array(term) for term in terms]
        for term in coordinates:
            term.sum_duplicates()
        keys = [term.col.astype(np.int64) * self.size + term.row for term in coordinates]
        union = np.unique(np.concatenate(keys))
        self._data = np.zeros((len(terms), union.size))
        for row, key, term in zip(self._data, keys, coordinates, strict=True):
            row[np.searchsorted(union, key)] = term.data
        self._rows = (union % self.size).astype(np.int32)
        self._ends = np.searchsorted(union, np.arange(self.size + 1, dtype=np.int64) * self.size).astype(np.int32)
        self._order: Array | None = None

    def factor(self, coefficients: Sequence[complex]) -> Any:
        """A function that solves ``Σ cₖ Aₖ x = b`` for b (n, m); RuntimeError where the sum is exactly singular."""
        data = np.asarray(coefficients) @ self._data
        matrix = sparse.csc_array((data, self._rows, self._ends), shape=(self.size, self.size))
        if self._order is None:
            made = splu(matrix, permc_spec="COLAMD")
            self._reorder(np.asarray(made.perm_c))
            return lambda b: made.solve(np.ascontiguousarray(b, dtype=data.dtype))
        made, place = splu(matrix, permc_spec="NATURAL"), self._order
        return lambda b: made.solve(np.ascontiguousarray(b, dtype=data.dtype))[place]

    def _reorder(self, place: Array) -> None:
        """Move column i to ``place[i]``, in the arrays that every later matrix is made of."""
        columns = np.argsort(place)
        width = np.diff(self._ends)[columns]
        ends = np.concatenate([[0], np.cumsum(width)])
        entries = np.repeat(self._ends[columns] - ends[:-1], width) + np.arange(ends[-1])
        self._data, self._rows = self._data[:, entries], self._rows[entries]
        self._ends, self._order = ends.astype(np.int32), place
