"""Points by name, and lines between two of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from flexph.numerics import checks as check
from flexph.numerics.arrays import Array, Numbers
from flexph.numerics.rotations import spins

from .connections import End

FIXED = -1
"""Number that stands for a fixed place instead of a point."""


class Points(NamedTuple):
    """Named points with their slices in a vector of positions, in 2 or 3 dimensions; ``place`` are given positions."""

    parts: Mapping[str, slice]
    place: Array
    dim: int

    @classmethod
    def of(cls, masses: Any, positions: Numbers) -> Points:
        """Points from masses by name and positions (p, dim) [m]; raises ValueError for wrong types or shapes."""
        if not isinstance(masses, Mapping) or not masses:
            raise ValueError(f"masses must be a dict of names with masses in kg, got {masses!r}")
        given = check.numbers("positions", positions)
        dim = given.shape[1] if given.ndim == 2 else 0
        place = check.array("positions", given, (len(masses), dim or None))
        spins(dim)
        return cls({name: slice(dim * i, dim * (i + 1)) for i, name in enumerate(masses)}, place.ravel(), dim)

    def part(self, name: str) -> slice:
        """Slice of the coordinates of a point."""
        part: slice = check.lookup("point", name, self.parts)
        return part

    def between(self, what: str, first: End, second: End) -> tuple[tuple[int, int], Array]:
        """Numbers of both ends (FIXED for a place in the world), and the constant part of the vector between them.

        Raises ValueError for equal ends, and for a line of zero length at the given positions.
        """
        (a, start), (b, end) = self._end(first), self._end(second)
        if a == b:
            raise ValueError(
                f"{what} must have different ends, at least one of them a particle, got {first!r} and {second!r}"
            )
        ends = [np.zeros(self.dim) if k == FIXED else self.place[self.dim * k : self.dim * (k + 1)] for k in (a, b)]
        if not np.any(ends[1] + end - ends[0] - start):
            raise ValueError(
                f"{what} must have a positive length in the given positions: {first!r} and {second!r} coincide"
            )
        return (a, b), end - start

    def _end(self, end: End) -> tuple[int, Array]:
        if isinstance(end, str):
            return self.part(end).start // self.dim, np.zeros(self.dim)
        return FIXED, check.array("a fixed end", end, (self.dim,))
