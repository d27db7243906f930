"""Meshes, regions, materials and section assignments of Abaqus input files."""

from __future__ import annotations

from pathlib import Path

from ..numerics.arguments import warn
from .abaqus_assembly import Builder
from .abaqus_instances import Instance, instance, take_assembly_set
from .abaqus_keywords import Block, keyword_blocks
from .abaqus_parts import Part
from .contents import FileMaterial, MeshContents


def is_abaqus(path: Path) -> bool:
    """Whether a file begins, after blank lines, with a keyword or a comment of Abaqus."""
    with path.open(encoding="latin-1") as file:
        return next((line.lstrip().startswith("*") for line in file if line.strip()), False)


def abaqus_contents(path: Path) -> MeshContents:
    """The contents of an input file, flat or of parts and instances.

    Sets and surfaces keep their names. Those of a part are called ``instance.name`` where there are several instances,
    or where the assembly has one of the same name. Sets that Abaqus marks as internal are no regions, unless a section
    is assigned to them. Raises ValueError, with the line, for elements and keywords that it cannot read.
    """
    loose, parts, assembly, instances, materials = _collected(keyword_blocks(path))
    if not instances:
        if any(p.nodes for p in parts.values()):
            raise ValueError("parts must have an *INSTANCE in an *ASSEMBLY, got none")
        instances = [Instance("", loose, Part(""))]
    elif loose.nodes:
        raise ValueError("nodes must be in parts where there is an *ASSEMBLY, got some outside of them")
    return Builder(instances, assembly.surfaces).model(materials)


def _collected(
    blocks: list[Block],
) -> tuple[Part, dict[str, Part], Part, list[Instance], dict[str, FileMaterial]]:
    """Blocks by what they belong to: no part, a part, the assembly, instances, materials."""
    loose, assembly = Part(""), Part("assembly")
    parts: dict[str, Part] = {}
    instances: list[Instance] = []
    materials: dict[str, FileMaterial] = {}
    scope, material = loose, ""
    for block in blocks:
        word = block.keyword
        if word == "PART":
            scope = parts.setdefault(block.name("NAME").upper(), Part(block.name("NAME")))
        elif word == "INSTANCE":
            instances.append(instance(block, parts))
            scope = instances[-1].part
        elif word in ("ASSEMBLY", "END INSTANCE"):
            scope = assembly
        elif word in ("END PART", "END ASSEMBLY"):
            scope = loose
        elif word == "MATERIAL":
            material = block.name("NAME")
            materials[material] = FileMaterial()
        elif word in ("DENSITY", "ELASTIC"):
            materials[material] = _with_property(materials.get(material, FileMaterial()), block)
        elif scope is assembly and word in ("NSET", "ELSET"):
            take_assembly_set(block, instances)
        elif scope is assembly and word == "ELEMENT":
            text = f"elements of type {block.name('TYPE')} of the assembly are left out (line {block.line})"
            warn(text)
        else:
            scope.take(block)
    return loose, parts, assembly, instances, materials


def _with_property(material: FileMaterial, block: Block) -> FileMaterial:
    """The material with a density or with moduli; temperatures and other kinds of elasticity are refused in words."""
    given = {"density": material.density, "young": material.young, "poisson": material.poisson}
    kind = block.parameters.get("TYPE", "ISOTROPIC").upper()
    refused = material.refused
    if len(block.data) != 1 or (block.keyword == "ELASTIC" and kind != "ISOTROPIC"):
        kind = f", TYPE={kind}" if block.keyword == "ELASTIC" else ""
        refused = f"*{block.keyword}{kind} with {len(block.data)} lines (line {block.line})"
    elif block.keyword == "DENSITY":
        given["density"] = float(block.data[0][0])
    else:
        given["young"] = float(block.data[0][0])
        given["poisson"] = float(block.data[0][1]) if len(block.data[0]) > 1 and block.data[0][1] else 0.0
    return FileMaterial(**given, refused=refused)
