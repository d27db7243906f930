"""Dry friction of joints under their own constraint forces: constant data of bearings, and their loads.

A bearing has up to d − 1 slips S with exact increments over a step: lengths along a guide or a curve, or angles times
the radius. A friction force T acts on the measures of the slips, so that its work is T ΔS; it is bounded by μ|λ| with
multipliers λ of the same joint.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...numerics.arrays import Array

Index = np.ndarray


class Bearings(NamedTuple):
    """Constant data of f bearings with t slips each.

    ``spring`` (t, f): measures of the slips, −1 for none, with a ``lever`` (t, f); ``curve`` (f,): curve along which a
    port slips, or −1. The multipliers of the rows ``row`` (k,) load the bearings ``owner`` (k,).
    """

    spring: Index
    lever: Array
    curve: Index
    friction: Array
    row: Index
    owner: Index

    @property
    def number(self) -> int:
        """Number f of bearings."""
        return int(self.friction.size)

    def pressed(self, forces: Array) -> Array:
        """Loads |λ| of the bearings (f,), from the multipliers of all ``row`` (k,)."""
        squares = np.bincount(self.owner, weights=forces**2, minlength=self.number)
        return np.sqrt(squares)


def no_bearings(dim: int) -> Bearings:
    """Empty arrays of bearings."""
    nothing, nowhere = np.zeros((dim - 1, 0)), np.zeros(0, dtype=int)
    return Bearings(np.zeros((dim - 1, 0), dtype=int), nothing, nowhere, nothing[0], nowhere, nowhere)
