"""Line elements, and the pairs of velocity and stress spaces of beams.

Shape functions are scikit-fem's on the reference element [0, 1]. They are mapped here to an element of length h. A
Hermite field has the coordinates w and hw' at each node, not w and w': matrices with w', or Hermite functions formed
from global coordinates, lose digits on fine meshes (8e-6 of the stiffness at 1000 elements).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import skfem
from scipy import sparse
from skfem.element import ElementLineHermite, ElementLineP0, ElementLineP1, ElementLineP2

from flexph.numerics import checks as check
from flexph.numerics.arrays import Array
from flexph.numerics.gauss_tableau import gauss_points

_ELEMENTS = {"P0": ElementLineP0, "P1": ElementLineP1, "P2": ElementLineP2, "Hermite": ElementLineHermite}
_NODAL = {"P1": 1, "P2": 1, "Hermite": 2}
"""Number of coordinates of a continuous field at each node."""
_DEGREE = {"P0": 0, "P1": 1, "Gauss": 1, "P2": 2, "Hermite": 3}


@dataclass(frozen=True)
class Field:
    """A scalar finite-element field over equal elements: the family of its shape functions and its continuity at nodes.

    Coordinates of a continuous field are those at the nodes, then those inside the elements (P2: the value in the
    middle). The family ``Gauss`` is discontinuous and linear on each element, with the values at its two Gauss points
    as coordinates: its mass matrix ∫fg dx is diagonal.
    """

    family: str
    elements: int
    continuous: bool = True

    @property
    def degree(self) -> int:
        """Degree of the polynomials on an element."""
        return _DEGREE[self.family]

    @property
    def local(self) -> int:
        """Number of shape functions that are not zero on an element."""
        return self.degree + 1

    @property
    def nodal(self) -> int:
        """Number of coordinates at each node."""
        return _NODAL[self.family] if self.continuous else 0

    @property
    def inside(self) -> int:
        """Number of interior coordinates of each element."""
        return self.local - 2 * self.nodal

    @property
    def dofs(self) -> np.ndarray:
        """Numbers (elements, local) of the coordinates of each element: those at both nodes, then interior ones."""
        first = np.arange(self.elements)[:, None]
        nodes = self.nodal * first + np.arange(2 * self.nodal)
        return np.hstack([nodes, self.nodal * (self.elements + 1) + self.inside * first + np.arange(self.inside)])

    @property
    def size(self) -> int:
        """Number of coordinates of the field."""
        return self.nodal * (self.elements + 1) + self.inside * self.elements

    def rows(self, points: Array, step: float, derivative: int = 0) -> sparse.csr_array:
        """Sparse matrix (elements · points, size) from the coordinates to values of the field, or of a derivative in x.

        Its rows are element by element, in each element at the local coordinates ``points`` (k,) in [0, 1]. ``step`` is
        the element length and ``derivative`` the order of the derivative.
        """
        table = _table(self.family, tuple(np.asarray(points, dtype=float).tolist()))[derivative] / step**derivative
        count = self.elements * len(points)
        values, columns = np.tile(table.T.ravel(), self.elements), np.repeat(self.dofs, len(points), axis=0).ravel()
        ends = np.arange(0, count * self.local + 1, self.local)
        return sparse.csr_array((values, columns, ends), shape=(count, self.size))


@lru_cache(maxsize=256)
def _table(family: str, points: tuple[float, ...]) -> tuple[Array, ...]:
    """Shape functions of a family on [0, 1] and their derivatives of order 1, 2, … in turn, (local, points) each.

    ``points`` are the local coordinates. Of P0 there are only the values, of Hermite functions two derivatives, of the
    other families one.
    """
    x = np.array(points)
    if family == "Gauss":
        a, b = gauss_points(2)[0]
        return np.array([(x - b) / (a - b), (x - a) / (b - a)]), np.outer([1.0, -1.0], np.ones_like(x)) / (a - b)
    # a new element each time, as scikit-fem caches data on element objects
    element = _ELEMENTS[family]()
    quadrature = (x[None, :], np.ones(len(points)))
    basis = skfem.Basis(skfem.MeshLine(np.array([0.0, 1.0])), element, quadrature=quadrature)
    shapes = [functions[0] for functions in basis.basis]
    value = np.array([np.asarray(s)[0] for s in shapes])
    if family == "P0":
        return (value,)
    slope = np.array([s.grad[0, 0] for s in shapes])
    if family != "Hermite":
        return value, slope
    return value, slope, np.array([s.hess[0, 0, 0] for s in shapes])


@dataclass(frozen=True)
class Pair:
    """A mixed pair: families of axial velocity and force, of bending velocity and moment, of torsion and torque.

    ``local_force`` and ``local_moment`` are True for a discontinuous stress, which can be condensed element by
    element.
    """

    force: str
    local_force: bool
    moment: str
    local_moment: bool
    along: str = "P1"
    torque: str = "P0"

    def fields(self, elements: int) -> tuple[Field, Field, Field, Field]:
        """Fields of axial velocity and force, bending velocity and bending moment on ``elements`` equal elements."""
        return (
            Field(self.along, elements),
            Field(self.force, elements, continuous=not self.local_force),
            Field("Hermite", elements),
            Field(self.moment, elements, continuous=not self.local_moment),
        )

    def torsion(self, elements: int) -> tuple[Field, Field]:
        """Fields of torsional velocity and torque, on ``elements`` equal elements."""
        return Field("P1", elements), Field(self.torque, elements, continuous=not self.local_force)


PAIRS = {
    # clean over its whole spectrum and local: equivalent to displacement elements
    "compatible": Pair("P0", True, "P1", True),
    # clean and local too, of fourth order in the axial direction as in bending
    "quadratic": Pair("Gauss", True, "P1", True, along="P2"),
    # clean and more accurate in bending; the moments are continuous
    "hermite": Pair("P0", True, "Hermite", False),
    # [flex] sec. 6, for reproduction: spurious axial modes that no refinement removes
    "paper": Pair("P1", False, "Hermite", False, torque="P1"),
}
"""Velocities are P1 (torsion; axial ones too, or P2) and Hermite (bending) throughout. Hermite with continuous P1
moments has a kernel and is not offered."""


def pair(name: str) -> Pair:
    """Mixed pair by its name in :data:`PAIRS`; raises ValueError for an unknown name."""
    return PAIRS[check.choice("pair", name, PAIRS)]
