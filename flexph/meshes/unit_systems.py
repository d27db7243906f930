"""Systems of units of mesh files, inferred from density and Young's modulus of their materials."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from .contents import Coupling, MeshContents, PointMass, SpreadMass
from .materials import FileMaterial

DENSITIES = (20.0, 2.3e4)
MODULI = (1e4, 1.3e12)
SPEEDS = (10.0, 2e4)
"""Densities [kg/m³] of foams to osmium, Young's moduli [Pa] of gels to diamond, and speeds √(E/ρ) [m/s] of solids."""


class UnitSystem(NamedTuple):
    """Units of length [m], mass [kg] and time [s]."""

    name: str
    length: float
    mass: float
    time: float

    @property
    def stress(self) -> float:
        """Unit of stress [Pa]."""
        return self.mass / (self.length * self.time**2)

    @property
    def density(self) -> float:
        """Unit of density [kg/m³]."""
        return self.mass / self.length**3


SYSTEMS = (
    UnitSystem("m, kg, s", 1.0, 1.0, 1.0),
    UnitSystem("m, t, s", 1.0, 1e3, 1.0),
    UnitSystem("mm, t, s", 1e-3, 1e3, 1.0),
    UnitSystem("mm, kg, s", 1e-3, 1.0, 1.0),
    UnitSystem("mm, kg, ms", 1e-3, 1.0, 1e-3),
    UnitSystem("mm, g, ms", 1e-3, 1e-3, 1e-3),
    UnitSystem("cm, g, s", 1e-2, 1e-3, 1.0),
    UnitSystem("cm, g, µs", 1e-2, 1e-3, 1e-6),
    UnitSystem("in, lbf·s²/in, s", 0.0254, 175.126835, 1.0),
    UnitSystem("ft, slug, s", 0.3048, 14.5939029, 1.0),
)


def fitting(materials: Iterable[FileMaterial]) -> list[UnitSystem]:
    """Systems of units in which density, modulus and wave speed of all materials are in the range of solids.

    Materials without density or modulus are disregarded; the list is empty if no material has both.
    """
    known = [(m.density, m.modulus()) for m in materials]
    both = [(rho, young) for rho, young in known if rho and young]
    return [system for system in SYSTEMS if both and all(_solid(system, rho, young) for rho, young in both)]


def _solid(system: UnitSystem, density: float, young: float) -> bool:
    rho, modulus = system.density * density, system.stress * young
    if not rho > 0.0 or not modulus > 0.0:
        return False
    ranges = ((rho, DENSITIES), (modulus, MODULI), (float(np.sqrt(modulus / rho)), SPEEDS))
    return all(low <= value <= high for value, (low, high) in ranges)


def in_metres(contents: MeshContents, unit: float) -> MeshContents:
    """Contents of a file with lengths in ``unit`` [m], in SI units.

    Materials and masses are converted, with a note, if exactly one system with this unit of length gives values of
    solids; otherwise materials and damping are dropped, with the reason in ``unread``. Raises ValueError for masses in
    unknown units.
    """
    mesh = copy(contents.mesh)
    mesh.points = unit * np.asarray(mesh.points, dtype=float)
    couplings = {name: _moved(coupling, unit) for name, coupling in contents.couplings.items()}
    shells = {name: replace(shell, thickness=unit * shell.thickness) for name, shell in contents.shells.items()}
    contents = replace(contents, mesh=mesh, couplings=couplings, shells=shells)
    system = matching_unit_system(contents, unit)
    if system is not None:
        return _in_system(contents, system)
    names = ", ".join(f"{mass.name} ({mass.place})" for mass in contents.masses())
    if names:
        raise ValueError(f"unit must be left out for a file with masses in its own units: {names}")
    if not contents.materials:
        return contents
    numbers = "; ".join(f"{name!r} has {_numbers(m)}" for name, m in list(contents.materials.items())[:3])
    why = f"{numbers}: in no system of units with lengths of {unit:g} m are these a solid's"
    return replace(contents, materials={}, sections=(), damping=None, unread=why)


def matching_unit_system(contents: MeshContents, unit: float) -> UnitSystem | None:
    """System of units with lengths in ``unit`` [m] that fits the materials of a file.

    None if no such system fits, or several.
    """
    known = [s for s in fitting(contents.materials.values()) if abs(s.length - unit) <= 1e-6 * unit]
    return known[0] if len(known) == 1 else None


def _moved(coupling: Coupling, unit: float) -> Coupling:
    return replace(coupling, at=tuple(unit * x for x in coupling.at))


def _in_system(contents: MeshContents, system: UnitSystem) -> MeshContents:
    point = tuple(PointMass(m.point, system.mass * m.mass, m.name, m.place) for m in contents.point_masses)
    spread = tuple(
        SpreadMass(m.region, m.value * (system.density if m.by == "per volume" else system.mass), m.by, m.name, m.place)
        for m in contents.spread_masses
    )
    factors = (system.stress, system.density, system.time)
    alpha, beta = contents.damping or (0.0, 0.0)
    return replace(
        contents,
        materials={name: material.scaled(*factors) for name, material in contents.materials.items()},
        point_masses=point,
        spread_masses=spread,
        damping=None if contents.damping is None else (alpha / system.time, beta * system.time),
        notes=(*contents.notes, f"numbers of the materials are read as those of {system.name}"),
    )


def other_units(contents: MeshContents) -> str:
    """Hint on the units of a file whose materials have values of solids in other systems than SI; otherwise empty."""
    used = {name.upper() for _, name in contents.sections}
    materials = {name: m for name, m in contents.materials.items() if name.upper() in used}
    known = fitting(materials.values())
    if not known or known[0] is SYSTEMS[0]:
        return ""
    name = next(name for name, m in materials.items() if m.density and m.modulus())
    words = " or ".join(f"{s.name} (unit={_unit_text(s)!r})" for s in known)
    return f"material {name!r} has {_numbers(materials[name])}, which in SI units is no solid; it looks like {words}"


def _unit_text(system: UnitSystem) -> str:
    return f"1 {system.name.partition(',')[0]}"


def _numbers(material: FileMaterial) -> str:
    """Text with density and modulus of a material."""
    young = material.modulus()
    rho = "no density" if material.density is None else f"a density of {material.density:g}"
    return f"{rho} and {'no modulus' if young is None else f'a modulus of {young:g}'}"
