"""Elastic solids: orthotropic and anisotropic materials, and their compliances in solid and plane problems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from flexph.numerics import checks as check
from flexph.numerics.arguments import checked
from flexph.numerics.arrays import Array
from flexph.numerics.rotations import rotation_matrix
from flexph.units.arguments import quantities

VOIGT = ((0, 0), (1, 1), (2, 2), (1, 2), (0, 2), (0, 1))
"""Order of the six components of stress (σ_xx, σ_yy, σ_zz, σ_yz, σ_xz, σ_xy); strains have 2ε_yz, 2ε_xz, 2ε_xy."""
IN_PLANE = (0, 1, 5)
"""Components of a plane problem: xx, yy, xy."""
INCOMPRESSIBLE = 1e-6
"""Ratio of the smallest to the largest eigenvalue of a compliance below which it counts as singular."""


class Elastic(Protocol):
    """A linear elastic material in space: density ρ [kg/m³] and compliance S (6, 6) [1/Pa] in body axes, Voigt."""

    @property
    def density(self) -> float:
        """Density ρ [kg/m³]."""

    @property
    def compliance(self) -> Array:
        """Compliance S of ε = S σ, (6, 6) [1/Pa]."""


@quantities(density="kg/m^3", shear="Pa", young="Pa")
@checked
@dataclass(frozen=True, eq=False, kw_only=True)
class Orthotropic:
    """Orthotropic elastic material: Young's moduli E_i, Poisson's ratios ν_ij and shear moduli G_ij on three axes.

    ``ε_11 = σ_11/E_1 − ν_12 σ_22/E_1 − ν_13 σ_33/E_1``: ν_ij is the contraction along j under tension along i.

    Parameters
    ----------
    young : tuple of float
        E_1, E_2, E_3 [Pa].
    poisson : tuple of float
        ν_12, ν_13, ν_23.
    shear : tuple of float
        G_12, G_13, G_23 [Pa].
    density : float
        ρ [kg/m³].
    axes : array_like, optional
        Rotation (3, 3) whose columns are the material axes 1, 2, 3 in body axes; the body axes by default.

    Raises
    ------
    ValueError
        If a modulus is not positive, or the compliance is not positive definite.
    """

    young: tuple[float, float, float]
    poisson: tuple[float, float, float]
    shear: tuple[float, float, float]
    density: float
    axes: Sequence[Sequence[float]] | Array | None = None

    def __post_init__(self) -> None:
        check.positive("density", self.density, "kg/m³")
        for name in ("young", "shear"):
            for value in check.array(name, getattr(self, name), (3,)):
                check.positive(name, value, "Pa")
        check.array("poisson", self.poisson, (3,))
        _refuse_indefinite(self.compliance)

    @property
    def compliance(self) -> Array:
        """Compliance S (6, 6) [1/Pa] in body axes."""
        (e1, e2, e3), (n12, n13, n23), (g12, g13, g23) = self.young, self.poisson, self.shear
        matrix = np.diag([1.0 / e1, 1.0 / e2, 1.0 / e3, 1.0 / g23, 1.0 / g13, 1.0 / g12])
        matrix[0, 1] = matrix[1, 0] = -n12 / e1
        matrix[0, 2] = matrix[2, 0] = -n13 / e1
        matrix[1, 2] = matrix[2, 1] = -n23 / e2
        return turned_compliance(matrix, self.axes)


@quantities(density="kg/m^3", stiffness="Pa")
@checked
@dataclass(frozen=True, eq=False, kw_only=True)
class Anisotropic:
    """Anisotropic elastic material with the stiffness C (6, 6) [Pa] of ``σ = C ε`` in Voigt order.

    Parameters
    ----------
    stiffness : array_like
        C (6, 6) [Pa] of ``σ = C ε``, symmetric and positive definite; components (xx, yy, zz, yz, xz, xy), shear
        strains 2ε.
    density : float
        ρ [kg/m³].
    axes : array_like, optional
        Rotation (3, 3) whose columns are the axes of the stiffness in body axes; the body axes by default.

    Raises
    ------
    ValueError
        If the matrix is not symmetric or not positive definite; the message has the deviation.
    """

    stiffness: Any
    density: float
    axes: Sequence[Sequence[float]] | Array | None = None

    def __post_init__(self) -> None:
        check.positive("density", self.density, "kg/m³")
        given = check.array("stiffness", self.stiffness, (6, 6))
        check.symmetric("stiffness", given)
        _refuse_indefinite(given)
        object.__setattr__(self, "stiffness", given)

    @property
    def compliance(self) -> Array:
        """Compliance S (6, 6) [1/Pa] in body axes."""
        return turned_compliance(np.linalg.inv(self.stiffness), self.axes)


def isotropic_compliance(young: float, poisson: float, shear: float) -> Array:
    """Compliance S (6, 6) [1/Pa] from E, ν and G."""
    compliance = np.diag([1.0 / young] * 3 + [1.0 / shear] * 3)
    compliance[:3, :3] -= poisson / young * (1.0 - np.eye(3))
    return compliance


def _refuse_indefinite(matrix: Array) -> None:
    size = np.sqrt(np.abs(matrix.diagonal()))
    lowest = float(np.linalg.eigvalsh(matrix / np.outer(size, size))[0])
    if not lowest > 0.0:
        raise ValueError(
            f"material must be positive definite: lowest eigenvalue {lowest:.3e} (unit diagonal); check poisson, "
            "which stands for ν_12, ν_13, ν_23 with ν_ij/E_i = ν_ji/E_j"
        )


def turned_compliance(own: Array, axes: Any) -> Array:
    """Compliance in body axes from that in material axes: S = Q S' Qᵀ, where strains turn by ε = Q ε'."""
    if axes is None:
        return own
    R = rotation_matrix("axes", axes)
    turn = np.zeros((6, 6))  # engineering strains ε = Q ε', Q of the products of R
    for b, (k, l) in enumerate(VOIGT):
        for a, (i, j) in enumerate(VOIGT):
            both = R[i, k] * R[j, l] + R[i, l] * R[j, k]
            turn[a, b] = both * (1.0 if i != j else 0.5)
    return turn @ own @ turn.T


def plane_compliance(compliance: Array, plane: str) -> Array:
    """Compliance (3, 3) of (xx, yy, xy) in plane stress or plane strain, from that in space (6, 6)."""
    if plane == "stress":
        return compliance[np.ix_(IN_PLANE, IN_PLANE)]
    others = (2,)
    inner = compliance[np.ix_(IN_PLANE, IN_PLANE)]
    across = compliance[np.ix_(IN_PLANE, others)]
    return inner - across @ across.T / compliance[2, 2]


def normal_stress(compliance: Array, plane: str) -> Array:
    """Factors (3,) of σ_zz = factors · (σ_xx, σ_yy, σ_xy): zero in plane stress, from ε_zz = 0 in plane strain."""
    if plane == "stress":
        return np.zeros(3)
    return -compliance[2, IN_PLANE] / compliance[2, 2]


def checked_compliance(name: str, material: Elastic, plane: str | None) -> Array:
    """Compliance of a material for a solid (6, 6) or a plane problem (3, 3).

    Raises ValueError if it is singular (incompressible), or couples to shear out of the plane.
    """
    whole = material.compliance
    if plane is not None and np.any(whole[np.ix_(IN_PLANE, (3, 4))] != 0.0):
        raise ValueError(f"{name} must have the x-y plane as a plane of symmetry for plane={plane!r}")
    reduced = whole if plane is None else plane_compliance(whole, plane)
    size = np.sqrt(np.abs(reduced.diagonal()))
    values = np.linalg.eigvalsh(reduced / np.outer(size, size))
    if not values[0] > INCOMPRESSIBLE * values[-1]:
        raise ValueError(
            f"{name} must be compressible: its compliance is singular (lowest over largest eigenvalue "
            f"{values[0] / values[-1]:.0e}), as that of poisson = 0.5, where the pressure follows from no strain; use "
            "poisson up to 0.4999, or plane='stress'"
        )
    return reduced
