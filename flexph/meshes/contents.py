"""What a mesh file holds: a mesh with regions, node numbers, element types, materials, masses and what is left out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import meshio

from ..numerics.arrays import Array
from .places import Place

Change = Literal["mass", "stiffness", "nothing"]
"""What a body lacks without a part of its file: mass (and perhaps stiffness), stiffness alone, or neither."""


@dataclass(frozen=True)
class FileMaterial:
    """A material of a mesh file: density ρ and isotropic moduli E, ν in units of the file, None where it has none.

    ``refused`` says, in words, what the file has in their place, ``besides`` what it has that is not taken.
    """

    density: float | None = None
    young: float | None = None
    poisson: float | None = None
    refused: str = ""
    besides: tuple[str, ...] = ()


@dataclass(frozen=True)
class PointMass:
    """A mass, in units of the file, at a point of the mesh; ``name`` and ``place`` of its keyword."""

    point: int
    mass: float
    name: str
    place: Place


@dataclass(frozen=True)
class SpreadMass:
    """A mass, in units of the file, spread over a region of cells: per volume, or all of it, by mass or by volume."""

    region: str
    value: float
    by: Literal["per volume", "total by mass", "total by volume"]
    name: str
    place: Place


@dataclass(frozen=True)
class LeftOut:
    """A part of a mesh file that is not taken: its keyword or element type, its place, what it changes."""

    name: str
    place: Place
    changes: Change
    why: str = ""

    def words(self) -> str:
        """Keyword, place and reason."""
        return f"{self.name} ({self.place}{f': {self.why}' if self.why else ''})"


@dataclass(frozen=True, eq=False)
class MeshContents:
    """A mesh, and what its file says beside it.

    ``numbers`` (N,) are the node numbers of the program, None where the file has only their order; ``types`` its
    element types; ``materials`` by name; ``sections`` pairs of a region of cells and the name of its material.
    """

    mesh: meshio.Mesh
    numbers: Array | None = None
    types: tuple[str, ...] = ()
    materials: Mapping[str, FileMaterial] = field(default_factory=dict)
    sections: tuple[tuple[str, str], ...] = ()
    point_masses: tuple[PointMass, ...] = ()
    spread_masses: tuple[SpreadMass, ...] = ()
    left_out: tuple[LeftOut, ...] = ()

    def masses(self) -> tuple[PointMass | SpreadMass, ...]:
        """Masses beside those of the materials."""
        return (*self.point_masses, *self.spread_masses)


def refuse_left_out(contents: MeshContents, changes: Iterable[Change], *, masses: bool = False) -> None:
    """ValueError, naming them, for parts of a file that are not taken and change mass or stiffness.

    ``masses`` says that masses beside those of the materials are not taken, either.
    """
    wanted = set(changes)
    parts = [part.words() for part in contents.left_out if part.changes in wanted]
    names = [part.name for part in contents.left_out if part.changes in wanted]
    if masses:
        parts += [f"{mass.name} ({mass.place})" for mass in contents.masses()]
        names += [mass.name for mass in contents.masses()]
    if parts:
        unique = ", ".join(repr(name) for name in dict.fromkeys(names))
        raise ValueError(
            f"mesh must have no parts that would be lost, got {'; '.join(shortened(parts))}: take them out of the "
            f"file, or leave them out knowingly by omit=({unique},)"
        )


def shortened(words: list[str], most: int = 5) -> list[str]:
    """The first of many words, and how many there are."""
    return words if len(words) <= most else [*words[:most], f"… ({len(words)} in all)"]
