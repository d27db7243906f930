"""Reading of Abaqus and CalculiX input files into meshes, regions, materials, sections and masses."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

from ...numerics.arguments import warn
from ..contents import LeftOut, MeshContents, shortened
from ..materials import CONSTANTS, FileMaterial, Kind, Row
from .assembly import Builder
from .constraints import names_of
from .instances import Instance, instance, take_assembly_set
from .keywords import Block, keyword_blocks, number, pad
from .parts import Part
from .vocabulary import LAWS, MASS, VOCABULARY, in_full

ELASTICITIES = (
    *("ISOTROPIC", "ORTHOTROPIC", "ENGINEERING CONSTANTS", "LAMINA", "ANISOTROPIC", "TRACTION", "COUPLED TRACTION"),
    *("SHEAR", "SHORT FIBER", "BILAMINA"),
)


def abaqus_contents(path: Path, omit: Collection[str] = ()) -> MeshContents:
    """The contents of an input file, flat or with parts and instances, without the keywords and element types ``omit``.

    Sets and surfaces become regions of the same names. Sets and surfaces of a part are called ``instance.name`` if
    there are several instances, or if the assembly has a set or surface of this name. Sets that Abaqus marks as
    internal are no regions unless a section or mass is assigned to them. Unsupported elements and constraints are
    entries of ``left_out``; unknown keywords cause a warning. Raises ValueError, with the line, for keywords that make
    or move nodes or elements, and if no element is supported.
    """
    deck = Deck()
    for block in _supported_blocks(keyword_blocks(path), {word.upper() for word in omit}):
        deck.add(block)
    if deck.unknown:
        warn(f"unknown keywords of {path.name!r} are ignored: {', '.join(shortened(deck.unknown))}")
    instances = deck.placed()
    _refuse_empty(instances)
    contents = Builder(instances, deck.assembly).model(deck.materials)
    return replace(contents, left_out=(*deck.left_out, *contents.left_out))


def _refuse_empty(instances: Iterable[Instance]) -> None:
    """Raise ValueError, naming the first unsupported element, if no element of the file is supported."""
    parts = [one.part for one in instances]
    lost = [strange.left_out for part in parts for strange in part.strange]
    if lost and not any(part.elements for part in parts):
        raise ValueError(f"{lost[0].place}: elements of type {lost[0].name} are not supported, and there are no others")


def _supported_blocks(blocks: Iterable[Block], omit: set[str]) -> Iterable[Block]:
    """Blocks without the omitted keywords and element types.

    Sets of omitted elements become empty sets.
    """
    names = omit | ({"ROTARYI"} if "ROTARY INERTIA" in omit else set())
    for block in blocks:
        if block.keyword == "ELEMENT" and block.parameters.get("TYPE", "").upper() in names:
            if "ELSET" in block.parameters:
                yield Block("ELSET", {"ELSET": block.parameters["ELSET"]}, [], block.place, [])
        elif block.keyword not in omit:
            yield block


@dataclass
class Deck:
    """Keyword blocks of an input file, sorted by part, assembly, instance and material.

    ``loose``: blocks outside of all of these.
    """

    loose: Part = field(default_factory=lambda: Part(""))
    assembly: Part = field(default_factory=lambda: Part("assembly"))
    parts: dict[str, Part] = field(default_factory=dict)
    instances: list[Instance] = field(default_factory=list)
    materials: dict[str, FileMaterial] = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)
    scope: Part | None = None
    material: str = ""
    in_step: bool = False

    def placed(self) -> list[Instance]:
        """The instances; without any, one instance of the nodes and elements outside of parts.

        Raises ValueError for nodes outside of parts in a file with instances, and for parts without an instance.
        """
        if self.instances:
            if self.loose.nodes:
                raise ValueError("a file with an *ASSEMBLY must have its nodes in parts, got nodes outside of parts")
            self.assembly.constraints += self.loose.constraints
            self.assembly.orientations |= self.loose.orientations
            return self.instances
        if any(p.nodes for p in self.parts.values()):
            raise ValueError("a file with parts must have an *ASSEMBLY with an *INSTANCE, got none")
        return [Instance("", self.loose, Part(""))]

    def add(self, block: Block) -> None:
        """Assign a keyword block to the part, assembly, instance or material in which it stands in the file."""
        word = block.keyword
        if word in ("STEP", "END STEP"):
            self.in_step = word == "STEP"
        elif self.in_step:
            self._take_in_step(block)
        elif word == "MATERIAL":
            self.material = block.name("NAME")
            again = self.material.upper() in {name.upper() for name in self.materials}
            refused = f"*MATERIAL ({block.place}), which defines it a second time" if again else ""
            self.materials[self.material] = FileMaterial(refused=refused)
        elif word in ("DENSITY", "ELASTIC", *LAWS):
            known = self.materials.get(self.material, FileMaterial())
            self.materials[self.material] = with_property(known, block)
        elif word in MASS:
            self.left_out.append(LeftOut(word, block.place, "mass", names_of(block)))
        elif word == "INITIAL CONDITIONS" and in_full(block.parameters.get("TYPE", ""), ("STRESS",)):
            self.left_out.append(LeftOut(word, block.place, "stiffness", "TYPE=STRESS"))
        elif word not in VOCABULARY:
            self.unknown.append(f"*{word} ({block.place})")
        else:
            self._take_in_scope(block)

    def _take_in_step(self, block: Block) -> None:
        """Add a set that is defined in an analysis step, in a file without instances; ignore other keywords.

        Record *MODEL CHANGE as unknown, because it removes elements.
        """
        if block.keyword in ("NSET", "ELSET") and not self.instances:
            self.loose.add(block)
        elif block.keyword == "MODEL CHANGE":
            self.unknown.append(f"*MODEL CHANGE ({block.place})")

    def _take_in_scope(self, block: Block) -> None:
        word, scope = block.keyword, self.scope or self.loose
        if word == "PART":
            self.scope = self.parts.setdefault(block.name("NAME").upper(), Part(block.name("NAME")))
        elif word == "INSTANCE":
            self.instances.append(instance(block, self.parts))
            self.scope = self.instances[-1].part
        elif word in ("ASSEMBLY", "END INSTANCE"):
            self.scope = self.assembly
        elif word in ("END PART", "END ASSEMBLY"):
            self.scope = self.loose
        elif scope is self.assembly and word in ("NSET", "ELSET"):
            take_assembly_set(block, self.assembly, self.instances)
        else:
            scope.add(block)


KINDS: dict[str, Kind] = {
    **{"ISOTROPIC": "isotropic", "ENGINEERING CONSTANTS": "engineering constants"},
    **{"ORTHOTROPIC": "orthotropic", "ANISOTROPIC": "anisotropic"},
}
"""Kinds of *ELASTIC whose constants are read."""
PER_LINE = 8
"""Largest number of constants in a line."""


def with_property(material: FileMaterial, block: Block) -> FileMaterial:
    """Material with the density, elastic constants or damping of a keyword added.

    A keyword that cannot be read is recorded in ``refused`` of the material, an ignored material law in ``besides``.
    """
    if block.keyword == "DAMPING":
        return _with_damping(material, block)
    if block.keyword in LAWS:
        return replace(material, besides=(*material.besides, f"*{block.keyword} ({block.place})"))
    given = block.parameters.get("TYPE", "ISOTROPIC").upper()
    name = in_full(given, ELASTICITIES) or given
    kind = "density" if block.keyword == "DENSITY" else KINDS.get(name)
    words = f"*{block.keyword}{f', TYPE={name}' if block.keyword == 'ELASTIC' else ''} ({block.place})"
    if kind is None or "DEPENDENCIES" in block.parameters or not block.texts:
        return replace(material, refused=words)
    density = kind == "density"
    known = material.density if density else material.modulus()
    if known is not None or any((row.kind == "density") == density for row in material.rows):
        return replace(material, refused=f"{words}, the second one")
    lines = block.numbers()
    try:
        return material.with_rows(_rows(kind, lines))
    except ValueError as error:
        return replace(material, refused=f"{words}: {error}")


def _rows(kind: Kind, lines: list[list[float]]) -> tuple[Row, ...]:
    """Constants of one kind at each temperature from the data lines of a keyword.

    The lines of a temperature have the constants first and the temperature last. Blank constants are zero. Raises
    ValueError for a wrong number of constants, or if a temperature occurs twice.
    """
    count = CONSTANTS[kind]
    each = -(-count // PER_LINE)
    if len(lines) % each:
        raise ValueError(f"it must have {each} lines for each temperature, got {len(lines)} lines")
    rows = []
    for first in range(0, len(lines), each):
        row = [value for line in lines[first : first + each - 1] for value in pad(line, PER_LINE)]
        row += pad(lines[first + each - 1], count + 1 - PER_LINE * (each - 1))
        if len(row) > count + 1:
            raise ValueError(f"it must have {count} constants and a temperature, got {len(row)} numbers")
        rows.append(Row(kind, row[count], tuple(row[:count])))
    if len({row.temperature for row in rows}) != len(rows):
        raise ValueError("its temperatures must differ")
    return tuple(rows)


def _with_damping(material: FileMaterial, block: Block) -> FileMaterial:
    """Material with Rayleigh damping by ALPHA and BETA added.

    A keyword with parameters of other damping is ignored as a whole, and listed in ``besides``.
    """
    others = [name for name in block.parameters if name not in ("ALPHA", "BETA")]
    if others or not block.parameters:
        text = f"*DAMPING, {', '.join(others)} ({block.place})" if others else f"*DAMPING ({block.place})"
        return replace(material, besides=(*material.besides, text))
    try:
        alpha, beta = (number(block.parameters.get(name, "")) for name in ("ALPHA", "BETA"))
    except ValueError:
        raise ValueError(f"{block.place}: *DAMPING must have numbers as ALPHA and BETA") from None
    return replace(material, damping=(alpha, beta))
