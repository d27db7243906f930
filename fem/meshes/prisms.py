"""Shape functions and quadrature of wedges and pyramids of degrees 1 and 2, which scikit-fem lacks in part.

Wedges: polynomials of the triangle times those along the height, of degree 2 without the products of degree 4.
Pyramids: polynomials in ξ, η and u = 1 − z with x = ½ + ½uξ, y = ½ + ½uη, which are rational in x, y, z and agree with
the polynomials of their neighbours on all faces (G. Bedrosian, Int. J. Numer. Meth. Engng 35 (1992) 95).
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from skfem.quadrature import get_quadrature
from skfem.refdom import RefLine, RefTri

from flexph.meshes.cell_types import NODES, REFERENCE, SHAPE
from flexph.numerics.arrays import Array

Powers = tuple[tuple[int, int, int], ...]
PLANE = {1: ((0, 0), (1, 0), (0, 1)), 2: ((0, 0), (1, 0), (0, 1), (2, 0), (1, 1), (0, 2))}
POWERS: dict[str, Powers] = {
    "wedge": tuple((*ij, k) for k in range(2) for ij in PLANE[1]),
    "wedge15": (*((*ij, k) for k in range(2) for ij in PLANE[2]), *((*ij, 2) for ij in PLANE[1])),
    "pyramid": ((0, 0, 0), *((i, j, 1) for i in range(2) for j in range(2))),
    "pyramid13": (
        *((0, 0, 0), (0, 0, 1), (1, 0, 1), (0, 1, 1), (1, 1, 1), (0, 0, 2), (1, 0, 2), (0, 1, 2), (1, 1, 2)),
        *((2, 0, 2), (0, 2, 2), (2, 1, 2), (1, 2, 2)),
    ),
}
"""Exponents of the monomials that span the shape functions: in x, y, z of wedges, in ξ, η, u of pyramids."""


class PrismElement:
    """Element with the interface of scikit-fem: nodes, shape functions on the reference cell, and quadrature."""

    name = ""

    @property
    def doflocs(self) -> Array:
        """Positions of the nodes, (n, 3)."""
        corners = REFERENCE[SHAPE[self.name]]
        return np.array([corners[list(node)].mean(axis=0) for node in NODES[self.name]])

    def lbasis(self, points: Array, i: int) -> tuple[Array, Array]:
        """Values (q,) and gradient (3, q) of the shape function of node ``i`` at reference points (3, q)."""
        values, slopes = self._monomials(points.T)
        factors = coefficients(self.name)[:, i]
        return values @ factors, (slopes @ factors).T

    def _monomials(self, at: Array) -> tuple[Array, Array]:
        """Values (q, n) and gradients (q, 3, n) of the n monomials of the cell at reference points (q, 3)."""
        raise NotImplementedError

    def rule(self, order: int) -> tuple[Array, Array]:
        """Points (3, q) and weights (q,) of a quadrature rule, exact for polynomials up to the degree ``order``."""
        raise NotImplementedError


class _Wedge(PrismElement):
    def _monomials(self, at: Array) -> tuple[Array, Array]:
        powers = np.array(POWERS[self.name])
        slopes = [powers[:, d] * _products(at, _lowered(powers, d)) for d in range(3)]
        return _products(at, powers), np.stack(slopes, axis=1)

    def rule(self, order: int) -> tuple[Array, Array]:
        """Points (3, q) and weights (q,): a rule of the triangle times a Gauss rule along the height.

        Each of the two rules is exact for polynomials up to the degree ``order``.
        """
        plane, areas = get_quadrature(RefTri, order)
        height, lengths = get_quadrature(RefLine, order)
        points = np.vstack([np.tile(plane, height.shape[1]), np.repeat(height[0], plane.shape[1])])
        return points, np.outer(lengths, areas).ravel()


class _Pyramid(PrismElement):
    def _monomials(self, at: Array) -> tuple[Array, Array]:
        powers = np.array(POWERS[self.name])
        i, j, k = powers.T
        q = squared(at) * (1.0, 1.0, -1.0) + (0.0, 0.0, 1.0)
        steeper = _lowered(powers, 2)
        slopes = [2.0 * powers[:, d] * _products(q, _lowered(steeper, d)) for d in (0, 1)]
        return _products(q, powers), np.stack([*slopes, (i + j - k) * _products(q, steeper)], axis=1)

    def rule(self, order: int) -> tuple[Array, Array]:
        """Points (3, q) and weights (q,): Gauss points of the square, Gauss-Jacobi points (weight u²) along the height.

        The rule is exact for polynomials up to the degree ``order`` in ξ, η and u.
        """
        from scipy.special import roots_jacobi

        count = order // 2 + 1
        along, lengths = np.polynomial.legendre.leggauss(count)
        up, areas = roots_jacobi(count, 2.0, 0.0)
        z = 0.5 * (1.0 + up)
        xi, eta, height = (a.ravel() for a in np.meshgrid(along, along, z, indexing="ij"))
        weights = np.einsum("i,j,k->ijk", lengths, lengths, areas / 32.0).ravel()
        u = 1.0 - height
        return np.vstack([0.5 + 0.5 * u * xi, 0.5 + 0.5 * u * eta, height]), weights


class Wedge(_Wedge):
    """Wedge of 6 nodes."""

    name = "wedge"


class Wedge15(_Wedge):
    """Wedge of 15 nodes."""

    name = "wedge15"


class Pyramid(_Pyramid):
    """Pyramid of 5 nodes."""

    name = "pyramid"


class Pyramid13(_Pyramid):
    """Pyramid of 13 nodes."""

    name = "pyramid13"


ELEMENTS = {element.name: element for element in (Wedge, Wedge15, Pyramid, Pyramid13)}


@lru_cache(maxsize=8)
def coefficients(name: str) -> Array:
    """Coefficients (n, n) of the shape functions of a cell: entry (m, i) is that of monomial m in shape function i."""
    element = ELEMENTS[name]()
    values, _ = element._monomials(element.doflocs)
    return np.linalg.inv(values)


def squared(at: Array) -> Array:
    """Coordinates ξ, η, z (…, 3) of points of a pyramid; at its tip the limit along its axis, (0, 0, 1)."""
    u = 1.0 - at[..., 2:]
    flat = u <= 0.0
    ends = np.where(flat, 0.0, (2.0 * at[..., :2] - 1.0) / np.where(flat, 1.0, u))
    return np.concatenate([ends, at[..., 2:]], axis=-1)


def _products(at: Array, powers: Array) -> Array:
    return np.prod(at[:, None, :] ** powers[None], axis=2)


def _lowered(powers: Array, d: int) -> Array:
    """Exponents of monomials (n, 3) after a derivative with respect to coordinate ``d``: one less there, at least 0."""
    return np.maximum(powers - np.eye(3, dtype=int)[d], 0)
