"""Stresses at points of cross sections from their resultants: circles, rings, rectangles, and outer fibres."""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from flexph.bodies.fields import RESULTANTS
from flexph.numerics.arrays import Array

from .materials import Section, rectangle_torsion

N, Q_Y, Q_Z, T, M_Y, M_Z = range(RESULTANTS)
ANGLES = 48
"""Number of points on a circular edge: it includes the extreme fibres of bending; shear across errs by 0.2 %."""
SIDE, INSIDE = 17, 3
"""Numbers of points along a side of a rectangle, and along each side of its interior grid."""
TERMS = 99
"""Last index of the torsion series of a rectangle, whose terms alternate and decrease like 1/n²."""


class SectionPoints(NamedTuple):
    """Factors (q, 3, 6) from N, Q_y, Q_z, T, M_y, M_z to the stresses (σ_xx, τ_xy, τ_xz) at q points of a section.

    ``round``: True for a circular section, whose points turn with the direction of bending; ``complete``: True if
    shear stresses are known.
    """

    factors: Array
    round: bool
    complete: bool


@lru_cache(maxsize=256)
def section_points(section: Section, dim: int) -> SectionPoints | None:
    """Points of a section at which stresses are largest; None if the distance of its outer fibres is not known.

    Axial stress is N/A + M_y z/I_y − M_z y/I_z. For a known shape, torsion follows St. Venant, and the shear stress of
    a shear force Q is the mean Q S/(I b) over the width b (Jourawski), tangential on the edge of a circle. A section
    given by its constants only has the axial stress at its outer fibres.
    """
    if section.diameter is not None:
        return SectionPoints(_circle(section, dim), round=True, complete=True)
    if section.width is not None and section.height is not None:
        return SectionPoints(_rectangle(section, section.width, section.height, dim), round=False, complete=True)
    if section.fibre is None or (dim == 3 and section.fibre_z is None):
        return None
    y = section.fibre * np.array([-1.0, 1.0, 1.0, -1.0])
    z = (section.fibre_z or 0.0) * np.array([-1.0, -1.0, 1.0, 1.0])
    factors = np.zeros((4, 3, RESULTANTS))
    factors[:, 0] = axial_factors(section, y, z)
    return SectionPoints(factors, round=False, complete=False)


def axial_factors(section: Section, y: Array, z: Array) -> Array:
    """Factors (q, 6) from the resultants to the axial stress at points (q,) [m]; without M_y if I_y is not known."""
    factors = np.zeros((y.size, RESULTANTS))
    factors[:, N], factors[:, M_Z] = 1.0 / section.area, -y / section.second_moment
    if section.second_moment_y is not None:
        factors[:, M_Y] = z / section.second_moment_y
    return factors


def _circle(section: Section, dim: int) -> Array:
    """Stress factors (q, 3, 6) at q points on the edge of a circle, or on both edges of a ring.

    See :class:`SectionPoints`. For ``dim`` 2 the points are on one half of each edge. A shear force Q along y gives
    ``τ_θ = −Q (a² + ab + b²) sin θ/(3I)`` throughout the thickness, a the outer and b the inner radius. This satisfies
    equilibrium with free edges and equals Q S/(I b) at θ = 90°, there with b the width of the section.
    """
    assert section.diameter is not None
    outer, inner = 0.5 * section.diameter, 0.5 * (section.inner_diameter or 0.0)
    second = section.second_moment
    shear = (outer**2 + outer * inner + inner**2) / (3.0 * second)
    angle = 2.0 * np.pi * np.arange(ANGLES if dim == 3 else ANGLES // 2 + 1) / ANGLES
    cos, sin = np.cos(angle), np.sin(angle)
    edges = []
    for radius in (outer, inner) if inner else (outer,):
        around = np.zeros((angle.size, RESULTANTS))
        around[:, T], around[:, Q_Y], around[:, Q_Z] = radius / (2.0 * second), -shear * sin, shear * cos
        axial = axial_factors(section, radius * cos, radius * sin)
        edges.append(np.stack([axial, -sin[:, None] * around, cos[:, None] * around], axis=1))
    return np.concatenate(edges)


def _rectangle(section: Section, width: float, height: float, dim: int) -> Array:
    """Stress factors (q, 3, 6) at q points on the four sides of a rectangle and on a grid inside it.

    See :class:`SectionPoints`. For ``dim`` 2 the points are on one side only.
    """
    y, z = _points_of_rectangle(0.5 * height, 0.5 * width)
    if dim == 2:
        y, z = y[:SIDE], z[:SIDE]
    factors = np.zeros((y.size, 3, RESULTANTS))
    factors[:, 0] = axial_factors(section, y, z)
    factors[:, 1, Q_Y] = 1.5 / section.area * (1.0 - (2.0 * y / height) ** 2)
    factors[:, 2, Q_Z] = 1.5 / section.area * (1.0 - (2.0 * z / width) ** 2)
    factors[:, 1, T], factors[:, 2, T] = torsion_of_rectangle(y, z, height, width)
    return factors


def _points_of_rectangle(half_y: float, half_z: float) -> tuple[Array, Array]:
    side, inside = np.linspace(-1.0, 1.0, SIDE), np.linspace(-1.0, 1.0, INSIDE + 2)[1:-1]
    one = np.ones(SIDE)
    grid = [values.ravel() for values in np.meshgrid(inside, inside)]
    y = np.concatenate([side, side, -one, one, grid[0]])
    z = np.concatenate([-one, one, side, side, grid[1]])
    return half_y * y, half_z * z


def torsion_of_rectangle(y: Array, z: Array, height: float, width: float) -> tuple[Array, Array]:
    """Stresses τ_xy and τ_xz (q,) of a unit torque [1/m³] at points of a rectangle (height along y, width along z).

    With a and b half of the shorter and the longer side, u along the shorter and w along the longer one, and J the
    torsion constant (Timoshenko and Goodier, Theory of Elasticity, torsion of rectangular bars), n = 1, 3, 5, …:

        τ_xw =  (2u − (16a/π²) Σ (−1)^((n−1)/2) cosh(nπw/2a)/(n² cosh(nπb/2a)) sin(nπu/2a)) / J
        τ_xu = −(16a/π²) Σ (−1)^((n−1)/2) sinh(nπw/2a)/(n² cosh(nπb/2a)) cos(nπu/2a) / J
    """
    if height > width:  # the same seen along −x, with y and z exchanged
        along_z, along_y = torsion_of_rectangle(z, y, width, height)
        return -along_y, -along_z
    a, b = 0.5 * height, 0.5 * width
    n = np.arange(1, TERMS + 1, 2)[:, None]
    sign, wave = np.where(n % 4 == 1, 1.0, -1.0) / n**2, 0.5 * n * np.pi / a
    ahead, behind = np.exp(wave * (z - b)), np.exp(-wave * (z + b))  # avoids cosh of large numbers
    in_basis = 1.0 + np.exp(-2.0 * wave * b)
    factor = 16.0 * a / np.pi**2
    along_z = 2.0 * y - factor * np.sum(sign * (ahead + behind) / in_basis * np.sin(wave * y), axis=0)
    along_y = -factor * np.sum(sign * (ahead - behind) / in_basis * np.cos(wave * y), axis=0)
    constant = rectangle_torsion(width, height)
    return along_y / constant, along_z / constant
