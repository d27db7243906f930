"""Materials and cross sections."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from flexph.numerics import checks as check
from flexph.numerics.arguments import checked
from flexph.numerics.arrays import Array
from flexph.units.arguments import quantities

from .elastic import isotropic_compliance


@quantities(density="kg/m^3", shear="Pa", young="Pa")
@checked
@dataclass(frozen=True, kw_only=True)
class Material:
    """A linear elastic, isotropic material: Young's modulus E [Pa], density ρ [kg/m³].

    Spatial bodies also need either Poisson's ratio or the shear modulus.

    Parameters
    ----------
    young : float
        Young's modulus E [Pa].
    density : float
        ρ [kg/m³].
    poisson : float, optional
        Poisson's ratio ν, −1 < ν ≤ ½.
    shear : float, optional
        Shear modulus G [Pa].

    Raises
    ------
    ValueError
        If a value is out of its range or both ν and G are given.
    """

    young: float
    density: float
    poisson: float | None = None
    shear: float | None = None

    def __post_init__(self) -> None:
        check.positive("young", self.young, "Pa")
        check.positive("density", self.density, "kg/m³")
        if self.poisson is not None and self.shear is not None:
            raise ValueError("a material takes poisson= or shear=: only one, the other follows from G = E/(2(1 + ν))")
        if self.poisson is not None and not -1.0 < check.number("poisson", self.poisson) <= 0.5:
            raise ValueError(f"poisson must be above -1 and not above 0.5, got {self.poisson}")
        if self.shear is not None:
            check.positive("shear", self.shear, "Pa")

    @property
    def shear_modulus(self) -> float:
        """Shear modulus G = E/(2(1 + ν)) [Pa]. Raises ValueError if the material has neither ν nor G."""
        if self.shear is not None:
            return self.shear
        if self.poisson is None:
            raise ValueError("material needs poisson= or shear= in space (dim=3): torsion works on the shear modulus G")
        return self.young / (2.0 * (1.0 + self.poisson))

    @property
    def compliance(self) -> Array:
        """Compliance S of ε = S σ, (6, 6) [1/Pa], over (xx, yy, zz, yz, xz, xy); singular at ν = ½. Requires ν or G."""
        if self.shear is None and self.poisson is None:
            raise ValueError("material needs poisson= or shear= in a solid: it has stresses in all directions")
        G = self.shear_modulus
        nu = self.young / (2.0 * G) - 1.0 if self.poisson is None else self.poisson
        return isotropic_compliance(self.young, nu, G)


@quantities(
    area="m^2",
    diameter="m",
    fibre="m",
    fibre_z="m",
    height="m",
    inner_diameter="m",
    polar_moment="m^4",
    second_moment="m^4",
    second_moment_y="m^4",
    torsion_constant="m^4",
    width="m",
)
@checked
@dataclass(frozen=True, kw_only=True)
class Section:
    """A cross section with principal axes along y and z, given in one of three ways.

    A circle or a ring (``diameter``, ``inner_diameter``), a rectangle (``width``, ``height``), or its constants, which
    are attributes in every case: circles have I = π(d⁴ − d_i⁴)/64, J = 2I; rectangles I_z = bh³/12, I_y = hb³/12 and J
    by :func:`rectangle_torsion`.

    Parameters
    ----------
    diameter : float, optional
        Diameter d [m] of a circle.
    inner_diameter : float, optional
        Inner diameter d_i [m] of a ring.
    width : float, optional
        Width b [m] along z.
    height : float, optional
        Height h [m] along y.
    area : float
        Area A [m²].
    second_moment : float
        Second moment I_z [m⁴] of bending in the x-y plane.
    second_moment_y : float, optional
        Second moment I_y [m⁴] of bending in the x-z plane, for spatial bodies.
    torsion_constant : float, optional
        St. Venant torsion constant J [m⁴], for spatial bodies.
    polar_moment : float, optional
        Polar moment I_p [m⁴] of the rotary inertia; I_y + I_z by default.
    fibre : float, optional
        Distance of the outer fibre from the axis along y [m], for stresses.
    fibre_z : float, optional
        Distance of the outer fibre from the axis along z [m], for stresses.

    Raises
    ------
    ValueError
        If a value is not positive or shapes are mixed.
    """

    diameter: float | None = None
    inner_diameter: float | None = None
    width: float | None = None
    height: float | None = None
    area: float = None  # type: ignore[assignment]  # None only until __post_init__ has computed it
    second_moment: float = None  # type: ignore[assignment]
    second_moment_y: float | None = None
    torsion_constant: float | None = None
    polar_moment: float | None = None
    fibre: float | None = None
    fibre_z: float | None = None

    def __post_init__(self) -> None:
        circle = self.diameter is not None or self.inner_diameter is not None
        rectangle = self.width is not None or self.height is not None
        if circle + rectangle > 1 or ((circle or rectangle) and any(getattr(self, n) is not None for n in _UNITS)):
            raise ValueError("a section takes diameter=, or width= and height=, or area= and second_moment=: only one")
        constants = self._circle() if circle else self._rectangle() if rectangle else self._checked_constants()
        if constants.get("polar_moment") is None and constants.get("second_moment_y") is not None:
            constants["polar_moment"] = constants["second_moment"] + constants["second_moment_y"]
        for name, value in constants.items():
            object.__setattr__(self, name, value)

    def _circle(self) -> dict[str, Any]:
        if self.diameter is None:
            raise ValueError("inner_diameter= was given without diameter=: a ring needs both")
        d = check.positive("diameter", self.diameter, "m")
        hole = check.not_negative("inner_diameter", self.inner_diameter or 0.0, "m")
        if hole >= d:
            raise ValueError(f"inner_diameter must be smaller than the diameter {d} m, got {hole} m")
        second = np.pi * (d**4 - hole**4) / 64.0
        return {
            "area": np.pi * (d**2 - hole**2) / 4.0,
            "second_moment": second,
            "second_moment_y": second,
            "torsion_constant": 2.0 * second,
            "fibre": d / 2.0,
            "fibre_z": d / 2.0,
        }

    def _rectangle(self) -> dict[str, Any]:
        if self.width is None or self.height is None:
            given, missing = ("height", "width") if self.width is None else ("width", "height")
            raise ValueError(f"{given}= was given without {missing}=: a rectangle needs both")
        b, h = check.positive("width", self.width, "m"), check.positive("height", self.height, "m")
        return {
            "area": b * h,
            "second_moment": b * h**3 / 12.0,
            "second_moment_y": h * b**3 / 12.0,
            "torsion_constant": rectangle_torsion(b, h),
            "fibre": h / 2.0,
            "fibre_z": b / 2.0,
        }

    def _checked_constants(self) -> dict[str, Any]:
        """Constants of the section as the user gave them, after a check: A and I_z are required, others may be None."""
        given = {name: getattr(self, name) for name in _UNITS}
        missing = [name for name in ("area", "second_moment") if given[name] is None]
        if missing and all(value is None for value in given.values()):
            raise ValueError(
                "a section must have diameter=, or width= and height=, or area= and second_moment=: none was given"
            )
        if missing:
            raise ValueError(f"a section given by constants needs {' and '.join(f'{name}=' for name in missing)}, too")
        return {k: None if v is None else check.positive(k, v, _UNITS[k]) for k, v in given.items()}

    def in_space(self, name: str) -> float:
        """Constant of the section that only spatial bodies need. Raises ValueError if it is missing."""
        value = getattr(self, name)
        if value is None:
            raise ValueError(f"section needs {name}= [{_UNITS[name]}] in space (dim=3)")
        return float(value)


_UNITS = {
    "area": "m²",
    "second_moment": "m⁴",
    "second_moment_y": "m⁴",
    "torsion_constant": "m⁴",
    "polar_moment": "m⁴",
    "fibre": "m",
    "fibre_z": "m",
}


ZETA_5 = 1.0369277551433699263
"""Constant ζ(5); importing scipy.special for it takes 0.05 s."""


def rectangle_torsion(width: float, height: float) -> float:
    """St. Venant torsion constant of a rectangle [m⁴], a the longer and b the shorter side [m]:

    ``J = a b³ (1/3 − (64/π⁵) (b/a) Σ tanh(nπa/2b)/n⁵)``, n = 1, 3, 5, … (Timoshenko and Goodier, Theory of Elasticity,
    torsion of rectangular bars). To round-off: Σ1/n⁵ = (31/32) ζ(5) is summed in closed form, the rest of the series,
    1 − tanh, falls like e^(−nπ).
    """
    a, b = max(width, height), min(width, height)
    n = np.arange(1, 13, 2)
    small = np.exp(-n * np.pi * a / b)
    series = 31.0 / 32.0 * ZETA_5 - float(np.sum(2.0 * small / (1.0 + small) / n**5))
    return a * b**3 * (1.0 / 3.0 - 64.0 / np.pi**5 * (b / a) * series)
