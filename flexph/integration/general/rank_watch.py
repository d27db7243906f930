"""Watch on the rank of E(x) along the steps of a solver that does not check it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np

from ...discretisation.descriptor_split import split_of
from ...numerics.arrays import Array, dense
from ...systems.nonlinear import PHDAE
from .library import Solver, SolverFailed

ALIGNED = 0.5
"""Least cosine between the ranges, and null spaces, at two states for which signs of determinants are compared."""
HALVINGS = 8
"""Largest number of halvings of a step, to follow a range that turns far in it or to locate a change of sign."""
NEARLY, CRAWLING = 1e-2, 1e-6
"""Smallest singular value of E relative to that at the start, and step relative to the span, below both of which the
rank counts as about to fall: at an impasse x ~ √(t* − t) steps shrink with t* − t, and a solver takes thousands."""


class RankWatch:
    """Check that refuses steps in which the rank of E(x) changes.

    The determinant of E between its ranges before and after a step, which may turn, then changes its sign.
    """

    def __init__(self, system: PHDAE, x: Array, span: float) -> None:
        self.system, self._least = system, CRAWLING * span
        self._E = dense(system.E(x))
        self._split = split_of(self._E)
        self.rank = self._split.V1.shape[1]
        self._first = self._smallest(self._E)

    def look(self, solver: Solver) -> None:
        """Follow the last step of a solver; raises SolverFailed."""
        self._follow(solver, solver.before, solver.time, HALVINGS)
        if solver.time - solver.before < self._least:
            self._refuse_falling(solver)

    @contextmanager
    def explains(self, solver: Solver) -> Iterator[None]:
        """Add to a solver's failure that E(x) is about to lose its rank, if so."""
        try:
            yield
        except SolverFailed as error:
            self._refuse_falling(solver, error)
            raise

    def _refuse_falling(self, solver: Solver, error: SolverFailed | None = None) -> None:
        smallest = self._smallest(dense(self.system.E(solver.state)))
        if smallest < NEARLY * self._first:
            raise SolverFailed(
                f"the rank of E(x) falls below {self.rank} (its smallest singular value from {self._first:.3g} at "
                f"the start to {smallest:.1e})"
            ) from error

    def _smallest(self, E: Array) -> float:
        return float(np.linalg.svd(E, compute_uv=False)[self.rank - 1]) if self.rank else 1.0

    def _follow(self, solver: Solver, before: float, time: float, halvings: int) -> None:
        E = dense(self.system.E(solver.at(time)))
        split, last = split_of(E), self._split
        if split.V1.shape[1] != self.rank:
            raise SolverFailed(f"the rank of E(x) is {split.V1.shape[1]} at t = {time:.6g} s, and {self.rank} before")
        cosines = [np.linalg.svd(a.T @ b, compute_uv=False) for a, b in ((last.U1, split.U1), (last.V1, split.V1))]
        aligned = bool(np.min(cosines, initial=1.0) >= ALIGNED)
        same = _sign(last.U1.T @ E @ last.V1) == _sign(last.U1.T @ self._E @ last.V1)
        if halvings and not (aligned and same):  # half a turn changes the sign, too
            middle = 0.5 * (before + time)
            self._follow(solver, before, middle, halvings - 1)
            self._follow(solver, middle, time, halvings - 1)
            return
        if aligned and not same:
            raise SolverFailed(f"the rank of E(x) falls below {self.rank} between t = {before:.6g} and {time:.6g} s")
        self._split, self._E = split, E


def _sign(matrix: Array) -> float:
    return float(np.linalg.slogdet(matrix)[0])
