"""Contents of mesh files: mesh, regions, materials, masses, couplings, and unsupported parts by line."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

import meshio

from ..numerics.arrays import Array
from .materials import FileMaterial
from .safe_reading import deck_lines, refuse_outside

INCLUDED = 200
"""Largest number of files that one deck may include."""


class Place(NamedTuple):
    """Place in a file: line number from 1, and path relative to the folder of the main file ("" for this file)."""

    line: int
    file: str = ""

    def __str__(self) -> str:
        return f"line {self.line}" + (f" of {self.file!r}" if self.file else "")


@dataclass
class DeckFiles:
    """Main file and its included files, which must be in the same folder.

    ``read`` counts the included files.
    """

    deck: Path
    read: int = -1

    def lines(self, path: Path) -> Iterator[tuple[Place, str]]:
        """Yield the lines of one of the files with their places; raises ValueError for more than INCLUDED files."""
        self.read += 1
        if self.read > INCLUDED:
            raise ValueError(f"it must include at most {INCLUDED} files; does one include itself?")
        name = "" if path == self.deck else Path(os.path.relpath(path, self.deck.parent)).as_posix()
        for number, text in enumerate(deck_lines(path), 1):
            yield Place(number, name), text

    def included(self, name: str, path: Path, *, by: str) -> Path:
        """The path of an included file, relative to the deck or to the including file ``path``.

        ``by``: place of the reference, for the error message. Raises ValueError if the file is missing or outside of
        the folder of the deck.
        """
        folders = (self.deck.parent, path.parent)
        file = next((folder / name for folder in folders if name and (folder / name).is_file()), None)
        refuse_outside(self.deck.parent, str(file or name))
        if file is None:
            raise ValueError(f"{by} names {name!r}, and there is no such file")
        return file


Change = Literal["mass", "stiffness", "nothing"]
"""Effect of a missing part of a file on the body: on its mass (and perhaps stiffness), its stiffness, or none."""


@dataclass(frozen=True)
class PointMass:
    """A mass, in units of the file, at a point of the mesh, with the name and place of its keyword."""

    point: int
    mass: float
    name: str
    place: Place


@dataclass(frozen=True)
class SpreadMass:
    """A mass, in units of the file, distributed over a region of cells.

    ``value`` is a mass per volume if ``by`` is "per volume"; otherwise it is the total mass, distributed in proportion
    to mass or to volume.
    """

    region: str
    value: float
    by: Literal["per volume", "total by mass", "total by volume"]
    name: str
    place: Place


@dataclass(frozen=True)
class LeftOut:
    """An unsupported part of a mesh file: its keyword or element type, its place, and its effect on the body.

    ``reach`` (k,): indices of the points on which it acts, None if unknown; ``dim``: dimension of elements that are
    left out because it is lower than the body's; ``port``: name of the coupling that a body can have as a port instead.
    """

    name: str
    place: Place
    changes: Change
    why: str = ""
    reach: Array | None = field(default=None, compare=False)
    dim: int = -1
    port: str = ""

    def words(self) -> str:
        """Text with keyword, place in the file and reason."""
        return f"{self.name} ({self.place}{f': {self.why}' if self.why else ''})"


@dataclass(frozen=True)
class Coupling:
    """Coupling of points to a reference point, which a body takes as a port of the coupling's name.

    ``how``: ``rigid`` (RBE2, kinematic coupling, rigid body) or ``mean`` (RBE3, distributing coupling). ``region``:
    name of the region of the points; ``points`` (k,): their indices in the mesh; ``at`` (3,): reference point;
    ``weights`` (k,) of the points in the mean, None to weight them by area.
    """

    name: str
    how: Literal["rigid", "mean"]
    region: str
    points: Array = field(compare=False)
    at: tuple[float, ...]
    keyword: str
    place: Place
    weights: Array | None = field(default=None, compare=False)

    def words(self) -> str:
        """Text with name, kind, region and reference point."""
        at = ", ".join(f"{x:.6g}" for x in self.at)
        return f"port {self.name!r} ({self.keyword}, {self.place}): {self.how}, {len(self.points)} nodes, at ({at})"


@dataclass(frozen=True)
class ShellSection:
    """Section of the shells of a region: their thickness in units of the file, with its keyword and place.

    ``why``: the reason if they are no plate of this thickness and one material; ``offset``: distance of the middle
    surface from the nodes, as the file writes it. Both are empty for a homogeneous plate in its middle surface.
    """

    thickness: float
    keyword: str
    place: Place
    why: str = ""
    offset: str = ""

    def words(self) -> str:
        """Text with keyword, place in the file and unsupported properties."""
        return f"{self.keyword} ({self.place}{f': {self.why}' if self.why else ''})"


@dataclass(frozen=True)
class ProposedPort:
    """Proposed port of a body from a drawing; the region of the same name contains its facets.

    ``kind``: hole, pin, socket, ball or plane; ``centre`` (3,) [m]; ``axis`` (3,) of a hole or pin, outward normal of a
    plane, z for a ball or socket; ``radius`` [m], None for a plane; ``length`` [m] along the axis, √area of a plane,
    None for a ball or socket; ``faces``: numbers in the drawing.
    """

    name: str
    kind: str
    centre: tuple[float, ...]
    axis: tuple[float, ...]
    radius: float | None = None
    length: float | None = None
    faces: tuple[int, ...] = ()


@dataclass(frozen=True, eq=False)
class MeshContents:
    """Contents of a mesh file: mesh, and further data of the file.

    ``numbers`` (N,): node numbers of the file, None if it has none; ``types``: element types; ``materials`` by name;
    ``sections``: pairs of a region of cells and the name of its material; ``left_out``: unsupported parts; ``ports``:
    ports that a drawing proposes; ``notes``: texts on the file for reports; ``couplings`` by name; ``aliases``: further
    names of groups of cells, for the selection of a part; ``orientations``: material axes (3, 3) by regions of
    sections, or the reason why there are none; ``damping``: Rayleigh's α and β of the whole file; ``unread``: reason
    why materials are not read; ``unit``: unit of length [m] of the file; ``shells``: sections of shells by region.
    """

    mesh: meshio.Mesh
    numbers: Array | None = None
    types: tuple[str, ...] = ()
    materials: Mapping[str, FileMaterial] = field(default_factory=dict)
    sections: tuple[tuple[str, str], ...] = ()
    point_masses: tuple[PointMass, ...] = ()
    spread_masses: tuple[SpreadMass, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    ports: tuple[ProposedPort, ...] = ()
    notes: tuple[str, ...] = ()
    couplings: Mapping[str, Coupling] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)
    orientations: Mapping[str, Array | str] = field(default_factory=dict)
    damping: tuple[float, float] | None = None
    unread: str = ""
    unit: float | None = None
    shells: Mapping[str, ShellSection] = field(default_factory=dict)

    def masses(self) -> tuple[PointMass | SpreadMass, ...]:
        """Additional masses, which do not come from the densities of the materials."""
        return (*self.point_masses, *self.spread_masses)


def refuse_left_out(
    contents: MeshContents, changes: Iterable[Change], *, masses: bool = False, ports: Iterable[str] = ()
) -> None:
    """Raise ValueError if a file has unsupported parts whose effect on the body is one of ``changes``.

    ``masses``: True to refuse additional masses of the file, too. ``ports``: names of couplings that become ports, and
    thus are supported.
    """
    wanted, ports = set(changes), set(ports)
    left_out = [
        part for part in contents.left_out if part.changes in wanted and (not part.port or part.port not in ports)
    ]
    parts = [part.words() for part in left_out]
    names = [part.name for part in left_out]
    if masses:
        parts += [f"{mass.name} ({mass.place})" for mass in contents.masses()]
        names += [mass.name for mass in contents.masses()]
    if parts:
        unique = ", ".join(repr(name) for name in dict.fromkeys(names))
        raise ValueError(
            f"mesh must have supported parts only, got {'; '.join(shortened(parts))}: remove them from the "
            f"file, or ignore them by omit=({unique},){_hint(left_out)}"
        )


def _hint(left_out: list[LeftOut]) -> str:
    """Text that suggests the argument ``ports`` by which the first unsupported coupling becomes a port; or empty."""
    named = next((part.port for part in left_out if part.port), None)
    return f", or use them as ports, such as ports={{'hub': {named!r}}}" if named else ""


def shortened(words: list[str], most: int = 5) -> list[str]:
    """The first ``most`` of a list of words, followed by the number of all if there are more."""
    return words if len(words) <= most else [*words[:most], f"… ({len(words)} in all)"]
