"""Materials of mesh files: density, elastic constants, also by temperature, and Rayleigh damping."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

import numpy as np

from ..numerics.arrays import Array

Kind = Literal["density", "isotropic", "engineering constants", "orthotropic", "anisotropic"]
CONSTANTS: dict[Kind, int] = {
    **{"density": 1, "isotropic": 2},
    **{"engineering constants": 9, "orthotropic": 9, "anisotropic": 21},
}
"""Number of constants of each kind: ρ; E, ν; E_1 to E_3, ν_12, ν_13, ν_23, G_12, G_13, G_23; stiffnesses D."""
ABAQUS = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
"""Order of the components of stress and strain of stiffnesses D; shear strains are doubled."""
VOIGT = (0, 1, 2, 5, 4, 3)
"""Indices of the components (xx, yy, zz, yz, xz, xy) in this order."""
ORTHOTROPIC = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2), (3, 3), (4, 4), (5, 5))
"""Entries of D of the constants of an orthotropic material: D1111, D1122, D2222, D1133, D2233, D3333, D1212, …"""


class Row(NamedTuple):
    """Values of the constants of one kind, such as density or isotropic moduli, at one temperature."""

    kind: Kind
    temperature: float
    values: tuple[float, ...]


@dataclass(frozen=True)
class FileMaterial:
    """A material of a mesh file: density ρ and isotropic moduli E, ν in units of the file, None if not given.

    ``stiffness`` C (6, 6) of a material that is not isotropic, over (xx, yy, zz, yz, xz, xy); ``rows``: tables of
    constants by temperature, with None in the attributes of these constants; ``damping``: Rayleigh's α and β.
    ``refused`` describes data of the file that cannot be read; ``besides`` lists data that is ignored. ``held_beyond``:
    True if tables are constant beyond their ends, as in Abaqus; otherwise temperatures beyond the ends are refused,
    because Nastran extrapolates.
    """

    density: float | None = None
    young: float | None = None
    poisson: float | None = None
    stiffness: Array | None = field(default=None, compare=False)
    rows: tuple[Row, ...] = ()
    damping: tuple[float, float] | None = None
    refused: str = ""
    besides: tuple[str, ...] = ()
    held_beyond: bool = True

    def with_rows(self, rows: tuple[Row, ...]) -> FileMaterial:
        """Material with constants of one kind added: as a table if ``rows`` has several temperatures."""
        return _with(self, rows[0]) if len(rows) == 1 else replace(self, rows=(*self.rows, *rows))

    def at(self, temperature: float | None) -> FileMaterial:
        """Material at a temperature, with tables interpolated linearly; unchanged for ``temperature=None``."""
        if temperature is None or not self.rows:
            return self
        material = replace(self, rows=())
        for kind in dict.fromkeys(row.kind for row in self.rows):
            table = sorted((row.temperature, row.values) for row in self.rows if row.kind == kind)
            at, values = [t for t, _ in table], np.array([v for _, v in table])
            if not (self.held_beyond or at[0] <= temperature <= at[-1]):
                reason = f"{kind} at temperatures from {at[0]:g} to {at[-1]:g}, not at {temperature:g}"
                return replace(self, refused=f"{self.refused}; {reason}" if self.refused else reason)
            constants = tuple(float(np.interp(temperature, at, column)) for column in values.T)
            material = _with(material, Row(kind, temperature, constants))
        return material

    def tables(self) -> str:
        """Text that lists the tables by temperature; empty without tables."""
        if not self.rows:
            return ""
        at = sorted({row.temperature for row in self.rows})
        kinds = ", ".join(dict.fromkeys(row.kind for row in self.rows))
        return f"{kinds} at {len(at)} temperatures from {at[0]:g} to {at[-1]:g}"

    def scaled(self, stress: float, density: float, time: float) -> FileMaterial:
        """Material with its constants in other units.

        Moduli, density and damping are multiplied by the factors ``stress``, ``density`` and ``time`` of their units;
        damping in proportion to mass is divided by ``time``.
        """
        factors = {kind: density if kind == "density" else stress for kind in CONSTANTS}
        return replace(
            self,
            density=None if self.density is None else density * self.density,
            young=None if self.young is None else stress * self.young,
            stiffness=None if self.stiffness is None else stress * self.stiffness,
            rows=tuple(Row(row.kind, row.temperature, _scaled(row, factors[row.kind])) for row in self.rows),
            damping=None if self.damping is None else (self.damping[0] / time, self.damping[1] * time),
        )

    def modulus(self) -> float | None:
        """Young's modulus, or the largest of C₁₁, C₂₂ and C₃₃ of a stiffness C; None without elastic constants."""
        if self.stiffness is not None:
            return float(np.diag(self.stiffness)[:3].max())
        return self.young


def _scaled(row: Row, factor: float) -> tuple[float, ...]:
    """Constants of a row with moduli times ``factor``.

    Poisson's ratios are unchanged.
    """
    ratios = {"isotropic": (1,), "engineering constants": (3, 4, 5)}.get(row.kind, ())
    return tuple(value if i in ratios else factor * value for i, value in enumerate(row.values))


def _with(material: FileMaterial, row: Row) -> FileMaterial:
    if row.kind == "density":
        return replace(material, density=row.values[0])
    if row.kind == "isotropic":
        return replace(material, young=row.values[0], poisson=row.values[1])
    return replace(material, stiffness=stiffness_of(row.kind, row.values))


def stiffness_of(kind: Kind, values: tuple[float, ...]) -> Array:
    """Stiffness C (6, 6) over (xx, yy, zz, yz, xz, xy) from the constants ``values`` of one kind, ordered as in Abaqus.

    ``kind`` is engineering constants, orthotropic or anisotropic. Raises ValueError for engineering constants with a
    modulus of zero or a singular compliance.
    """
    stiffness = np.zeros((6, 6))
    if kind == "engineering constants":
        young, ratios, shear = values[:3], values[3:6], values[6:]
        if 0.0 in (*young, *shear):
            raise ValueError("its moduli must not be zero")
        compliance = np.diag([1.0 / value for value in (*young, *shear)])
        for (i, j), ratio in zip(((0, 1), (0, 2), (1, 2)), ratios, strict=True):
            compliance[i, j] = compliance[j, i] = -ratio / young[i]
        try:
            stiffness = np.linalg.inv(compliance)
        except np.linalg.LinAlgError:
            raise ValueError("its constants must be those of a compressible material") from None
    else:
        whole = tuple((i, j) for j in range(6) for i in range(j + 1))
        for (i, j), value in zip(ORTHOTROPIC if kind == "orthotropic" else whole, values, strict=True):
            stiffness[i, j] = stiffness[j, i] = value
    return stiffness[np.ix_(VOIGT, VOIGT)]
