"""Materials and cross sections."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from flexph import checks as check


@dataclass(frozen=True, kw_only=True)
class Material:
    """A linear elastic material: Young's modulus E [Pa], density ρ [kg/m³]."""

    young: float
    density: float

    def __post_init__(self) -> None:
        check.positive("young", self.young, "Pa")
        check.positive("density", self.density, "kg/m³")


@dataclass(frozen=True, kw_only=True)
class Section:
    """A cross section, given in one of three ways.

    ``diameter`` (solid circle), ``width`` and ``height`` (rectangle, the height lies in the plane of bending), or the
    constants ``area`` A [m²] and ``second_moment`` I [m⁴], then with ``fibre``, the distance of the outer fibre from
    the axis [m], where stresses at the fibres are wanted.
    """

    diameter: float | None = None
    width: float | None = None
    height: float | None = None
    area: float = 0.0
    second_moment: float = 0.0
    fibre: float | None = None

    def __post_init__(self) -> None:
        area, second, fibre = self._constants()
        object.__setattr__(self, "area", area)
        object.__setattr__(self, "second_moment", second)
        object.__setattr__(self, "fibre", fibre)

    def _constants(self) -> tuple[float, float, float | None]:
        shape = (self.diameter is not None, self.width is not None or self.height is not None)
        if sum(shape) > 1 or (any(shape) and (self.area or self.second_moment or self.fibre)):
            raise ValueError("a section takes diameter=, or width= and height=, or area= and second_moment=: only one")
        if shape[0]:
            d = check.positive("diameter", self.diameter or 0.0, "m")
            return np.pi * d**2 / 4.0, np.pi * d**4 / 64.0, d / 2.0
        if shape[1]:
            b = check.positive("width", self.width or 0.0, "m")
            h = check.positive("height", self.height or 0.0, "m")
            return b * h, b * h**3 / 12.0, h / 2.0
        area = check.positive("area", self.area, "m²")
        second = check.positive("second_moment", self.second_moment, "m⁴")
        return area, second, None if self.fibre is None else check.positive("fibre", self.fibre, "m")


@dataclass(frozen=True, kw_only=True)
class Damping:
    """Proportional structural damping: mass α [1/s] and stiffness β [s].

    A mode of frequency ω [rad/s] is damped by the ratio α/(2ω) + βω/2. Mass-proportional damping acts on the
    deformation only; rigid motion is not damped.
    """

    mass: float = 0.0
    stiffness: float = 0.0

    def __post_init__(self) -> None:
        check.not_negative("mass", self.mass, "1/s")
        check.not_negative("stiffness", self.stiffness, "s")
