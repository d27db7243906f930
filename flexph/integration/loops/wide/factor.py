"""Python callback of the loops, for factors of sparse borders, products of large bodies, and laws of solids."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import splu

from ....numerics.arrays import Array
from ....numerics.loops.callbacks import WHOLE, Callback
from ..memory.codes import FACTOR, PRODUCTS, RESIST, SOLVE, STRAIN, VISCOUS
from ..memory.memory import Memory
from .kept_block import KeptBlock

if TYPE_CHECKING:
    from ....mechanisms.model.model import Model

OF_BODIES = PRODUCTS, VISCOUS, STRAIN, RESIST
DIAGONAL = 1e-3
"""Least diagonal entry, divided by the largest of its column, that is taken as pivot: the order is made for these."""


class Answers:
    """Callback by which the loops of one memory request results from Python.

    ``further`` processes requests on laws of solids.
    """

    def __init__(self, mechanism: Model, m: Memory, further: Callable[[int], int] | None = None) -> None:
        self._further = further
        self._solve: Callable[[Array], Array] = np.copy
        self._matrix, self._x = _matrix(m), m.system_x
        self._bodies = KeptBlock(mechanism, m, self._matrix) if m.inertia_is_asked else None
        reference = weakref.ref(self)  # a weak reference, so that the large factors are freed at once

        def process(request: int) -> int:
            solver = reference()
            return 0 if solver is None else solver._process(request)

        self._callback = Callback(process, WHOLE, 0)
        m.system_python[:] = self._callback.address

    def ended(self) -> BaseException | None:
        """Return the exception that a request raised in the last run of the loops, or None, and forget it."""
        error, self._callback.error = self._callback.error, None
        return error

    def _process(self, request: int) -> int:
        """Process a request of the loops; return 1 on success, 0 for a singular matrix and after any exception."""
        if self._callback.error is not None:
            return 0
        if request == FACTOR:
            return self._factor()
        if request == SOLVE:
            self._x[:] = self._solve(self._x)
            return 1
        if request in OF_BODIES:
            assert self._bodies is not None
            self._bodies.process(request)
            return 1
        assert self._further is not None
        return self._further(request)

    def _factor(self) -> int:
        if not np.isfinite(self._matrix.data).all():
            return 0
        solve = self._whole() if self._bodies is None else self._bodies.factor(self._matrix.data)
        if solve is None:
            return 0
        self._solve = solve
        return 1

    def _whole(self) -> Callable[[Array], Array] | None:
        """Solver of the border of the Jacobian, factored as a whole by a sparse solver; None if it is singular."""
        options = {"SymmetricMode": True}
        try:
            factored = splu(self._matrix, permc_spec="NATURAL", diag_pivot_thresh=DIAGONAL, options=options)
        except RuntimeError:
            return None
        return factored.solve


def _matrix(m: Memory) -> Any:
    """Border as a sparse matrix by columns, which shares its values with the memory."""
    ends, rows = m.border_column_ptr.astype(np.int32), m.border_row.astype(np.int32)
    size = len(ends) - 1
    matrix = sparse.csc_array((np.zeros(rows.size), rows, ends), shape=(size, size))
    matrix.has_canonical_format = True
    matrix.data = m.system_border.reshape(-1)[: rows.size]  # the constructor would copy a part of a larger array
    return matrix
