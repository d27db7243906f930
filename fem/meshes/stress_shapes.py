"""Polynomials through the values of stress at the points of a cell."""

from __future__ import annotations

import itertools

import numpy as np

from flexph.numerics.arrays import Array

from .cells import Cell


def through_points(kind: Cell, at: Array) -> Array:
    """Values (..., n) at reference points (..., d) of the n polynomials that are each 1 at one stress point.

    They are constant or linear on simplices, and of degree one or two in each coordinate on quadrilaterals and
    hexahedra, with as many coefficients as there are points.
    """
    own = kind.quadrature(kind.stress)[0].T if kind.stress else np.zeros((1, kind.dim))
    monomials = _monomials(at, len(own)).reshape(-1, len(own))
    return np.linalg.solve(_monomials(own, len(own)).T, monomials.T).T.reshape(*at.shape[:-1], len(own))


def _monomials(x: Array, count: int) -> Array:
    """Values (..., count) of the first monomials of a cell at points (..., d)."""
    d = x.shape[-1]
    if count in (1, d + 1):
        return np.concatenate([np.ones((*x.shape[:-1], 1)), x], axis=-1)[..., :count]
    powers = range(round(count ** (1.0 / d)))
    return np.stack([np.prod(x ** np.array(p), axis=-1) for p in itertools.product(powers, repeat=d)], axis=-1)
