"""Stiffness and inertia of rods per unit length."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from flexph.numerics import checks as check
from flexph.numerics.arguments import checked
from flexph.numerics.arrays import Array

from ..beams.line_view import outline
from ..materials.materials import Material, Section
from ..materials.section_stresses import SectionPoints, section_points


@checked
@dataclass(frozen=True, kw_only=True)
class RodSection:
    """Properties of a rod per unit length, with d₁ along the centroids, d₂ and d₃ along the principal axes y and z.

    A rod of the plane uses EA, GA₂, EI₃, ρA and ρI₃ only; the other stiffnesses do not matter there.

    Parameters
    ----------
    axial : float
        EA [N].
    shear : tuple of float
        (GA₂, GA₃) [N], including the shear factors.
    torsion : float
        GJ [N m²].
    bending : tuple of float
        (EI₂, EI₃) [N m²] about d₂ and d₃.
    mass : float
        ρA [kg/m].
    inertia : tuple of float
        ρ(I_p, I₂, I₃) [kg m].
    young : float, optional
        E [Pa], for axial stresses at the corners.
    corners : tuple of tuple of float
        Corners (y, z) [m] of the outline in order, four or eight; empty if unknown.
    shape : Section, optional
        Circle, ring or rectangle from which stresses follow, including shear stresses.

    Raises
    ------
    ValueError
        If a value is not positive, or the number of corners is not four or eight.
    """

    axial: float
    shear: tuple[float, float]
    torsion: float
    bending: tuple[float, float]
    mass: float
    inertia: tuple[float, float, float]
    young: float | None = None
    corners: tuple[tuple[float, float], ...] = ()
    shape: Section | None = None

    def __post_init__(self) -> None:
        for name, unit in (("axial", "N"), ("torsion", "N m²"), ("mass", "kg/m")):
            check.positive(name, getattr(self, name), unit)
        for name, unit in (("shear", "N"), ("bending", "N m²"), ("inertia", "kg m")):
            for i, value in enumerate(getattr(self, name)):
                check.positive(f"{name}[{i}]", value, unit)
        if self.young is not None:
            check.positive("young", self.young, "Pa")
        if len(self.corners) not in (0, 4, 8):
            raise ValueError(f"corners must be four or eight, got {len(self.corners)}")

    @property
    def stiffness(self) -> Array:
        """Stiffnesses (EA, GA₂, GA₃, GJ, EI₂, EI₃), (6,)."""
        return np.array([self.axial, *self.shear, self.torsion, *self.bending])

    def points(self, dim: int = 3) -> SectionPoints | None:
        """Points of the section at which stresses are known, for a rod of dimension ``dim``; None if there are none.

        They are those of the shape or, if it has none, the corners, at which stresses need Young's modulus.
        """
        outline_points = None if self.shape is None else section_points(self.shape, dim)
        if outline_points is not None or self.young is None or not self.corners:
            return outline_points
        axial = self.fibres(np.array(self.corners))
        return SectionPoints(axial[:, None] * np.eye(3)[0][:, None], round=False, complete=False)

    def fibres(self, corners: Array) -> Array:
        """Factors (q, 6) from N, Q₂, Q₃, T, M₂, M₃ to the axial stress at corners (q, 2) [m].

        The stress is N/A + M₂ z/I₂ − M₃ y/I₃.
        """
        assert self.young is not None
        y, z = corners.T
        none, (second, third) = np.zeros_like(y), self.bending
        parts = [np.full_like(y, 1.0 / self.axial), none, none, none, z / second, -y / third]
        factors: Array = self.young * np.column_stack(parts)
        return factors


Shape = Section | RodSection | Callable[[float], Section | RodSection]


def section_at(
    material: Material | None, section: Shape, factors: tuple[float, float] | None, dim: int
) -> Callable[[float], RodSection]:
    """Function s [m] ↦ :class:`RodSection` of a rod, from a constant section or a function of s.

    ``factors`` are shear factors along y and z, None for Cowper's. The function raises ValueError if ``section``
    returns another type, or if a section needs a material and none is given.
    """
    of = section if callable(section) else lambda s: section

    def at(s: float) -> RodSection:
        section = check.value_of("the section of a rod", of, s)
        if isinstance(section, RodSection):
            return section
        if not isinstance(section, Section):
            raise ValueError(
                f"the section of a rod must be a fem.Section or a fem.RodSection, at s = {s:.6g} m: {section!r}"
            )
        if material is None:
            raise ValueError("material must be given for a fem.Section; only a fem.RodSection includes stiffnesses")
        return _of_material(material, section, factors, dim)

    return at


def _of_material(material: Material, section: Section, factors: tuple[float, float] | None, dim: int) -> RodSection:
    E, G, density, A = material.young, material.shear_modulus, material.density, section.area
    second_y, torsion, polar = _section_moments(section, dim)
    second_z = section.second_moment
    along_y, along_z = factors or _shear_factors(section, 0.5 * E / G - 1.0)
    return RodSection(
        axial=E * A,
        shear=(along_y * G * A, along_z * G * A),
        torsion=G * torsion,
        bending=(E * second_y, E * second_z),
        mass=density * A,
        inertia=(density * polar, density * second_y, density * second_z),
        young=E,
        corners=_corners(section, dim),
        shape=section,
    )


def _section_moments(section: Section, dim: int) -> tuple[float, float, float]:
    """Second moment about y, torsion constant and polar moment of a section [m⁴].

    Rods in the plane use none of the three: there an unknown constant is that of a section with I_y = I_z.
    """
    if dim == 3:
        constants = ("second_moment_y", "torsion_constant", "polar_moment")
        second, torsion, polar = (section.in_space(name) for name in constants)
        return second, torsion, polar
    equal = section.second_moment
    return (
        section.second_moment_y or equal,
        section.torsion_constant or 2.0 * equal,
        section.polar_moment or 2.0 * equal,
    )


def _corners(section: Section, dim: int) -> tuple[tuple[float, float], ...]:
    """Corners (y, z) [m] of the outer edge of a section; empty if the distance of the outer fibres is unknown."""
    if section.fibre is None or (section.fibre_z is None and dim == 3):
        return ()
    corners = outline(section)
    return tuple((float(y), float(z)) for y, z in corners[:: max(len(corners) // 8, 1)])


def _shear_factors(section: Section, nu: float) -> tuple[float, float]:
    """Shear factors along y and z of a rectangle, circle or ring (G. R. Cowper, J. Appl. Mech. 33 (1966) 335).

    ``nu`` is Poisson's ratio. Raises ValueError for a section that is given by its constants.
    """
    if section.width is not None:
        factor = 10.0 * (1.0 + nu) / (12.0 + 11.0 * nu)
    elif section.diameter is not None:
        hole = ((section.inner_diameter or 0.0) / section.diameter) ** 2
        both = (1.0 + hole) ** 2
        factor = 6.0 * (1.0 + nu) * both / ((7.0 + 6.0 * nu) * both + (20.0 + 12.0 * nu) * hole)
    else:
        raise ValueError("shear_factors=(k_y, k_z) must be given for a section of which only the constants are known")
    return factor, factor
