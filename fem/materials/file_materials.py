"""Materials of mesh files: densities and moduli of the regions to which they are assigned."""

from __future__ import annotations

from flexph.meshes.abaqus.elements import differences, lumped
from flexph.meshes.contents import FileMaterial, MeshContents
from flexph.numerics.arguments import warn
from flexph.systems.nonlinear import ValidityWarning

from .materials import Material


def file_materials(contents: MeshContents) -> dict[str, Material]:
    """Materials of a mesh file by the names of the regions of cells to which it assigns them.

    Raises ValueError if the file assigns none, or one without density or isotropic moduli.
    """
    if not contents.sections:
        held = f"its materials {', '.join(map(repr, contents.materials))} are assigned to no region"
        raise ValueError(f"material must be given: {held if contents.materials else 'the mesh has none of its own'}")
    return {region: file_material(name, contents) for region, name in contents.sections}


def file_material(name: str, contents: MeshContents) -> Material:
    """Material of a mesh file with a name. Raises ValueError if it is missing or not isotropic."""
    given = _found(name, contents)
    if given.refused:
        raise ValueError(
            f"material {name!r} of the mesh must be isotropic and constant, got {given.refused}: give material="
        )
    if given.young is None and not contents.types:
        raise ValueError(f"material must be given: {name!r} of the drawing has no Young's modulus")
    lacking = [word for word, value in (("*DENSITY", given.density), ("*ELASTIC", given.young)) if value is None]
    if lacking or given.density is None or given.young is None:
        raise ValueError(f"material {name!r} of the mesh must have {' and '.join(lacking)}: give material=")
    return Material(young=given.young, density=given.density, poisson=given.poisson)


def _found(name: str, contents: MeshContents) -> FileMaterial:
    known = {key.upper(): material for key, material in contents.materials.items()}
    if name.upper() not in known:
        raise ValueError(
            f"material {name!r} of a section of the mesh must be defined, there are "
            f"{', '.join(map(repr, contents.materials)) or 'none'}"
        )
    return known[name.upper()]


def file_densities(contents: MeshContents) -> dict[str, float] | None:
    """Densities of a mesh file by the names of regions of cells; None if one is missing."""
    materials = {key.upper(): material for key, material in contents.materials.items()}
    densities = {region: materials.get(name.upper(), FileMaterial()).density for region, name in contents.sections}
    known = {region: density for region, density in densities.items() if density is not None}
    return known if known and len(known) == len(densities) else None


def element_notes(contents: MeshContents) -> list[str]:
    """Texts on differences between the elements of this package and those of the program of the file."""
    notes = [note for kind in contents.types for note in differences(kind)]
    linear = [kind for kind in contents.types if lumped(kind)]
    if linear:
        notes.append(f"masses of {', '.join(linear)} are lumped in the program of the file, and consistent here")
    return notes


def warn_of_elements(contents: MeshContents) -> None:
    """Warn if stiffnesses differ from those of the program of the file."""
    notes = [note for kind in contents.types for note in differences(kind)]
    if notes:
        text = f"{'; '.join(notes)}: fem.solid integrates fully (docs/guide/solids.md has the size of the difference)"
        warn(text, ValidityWarning)


def law_notes(contents: MeshContents) -> list[str]:
    """Texts on properties of used materials that are left out, other than density and isotropic elasticity."""
    known = {key.upper(): (key, material) for key, material in contents.materials.items()}
    used = [known[name.upper()] for _, name in contents.sections if name.upper() in known]
    return [
        f"material {key!r} is elastic here, without {', '.join(m.besides)}"
        for key, m in dict(used).items()
        if m.besides
    ]


def unread_notes(contents: MeshContents) -> list[str]:
    """Texts on used materials whose density or moduli cannot be read."""
    known = {key.upper(): (key, material) for key, material in contents.materials.items()}
    used = dict(known[name.upper()] for _, name in contents.sections if name.upper() in known)
    return [f"material {key!r} cannot be read: {m.refused}" for key, m in used.items() if m.refused]


def warn_of_laws(contents: MeshContents) -> None:
    """Warn if properties of materials of a file are left out."""
    notes = law_notes(contents)
    if notes:
        warn("; ".join(notes), ValidityWarning)
