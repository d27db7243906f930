"""Materials of mesh files: densities and moduli of the regions to which they are assigned."""

from __future__ import annotations

import numpy as np

from flexph.meshes.abaqus.elements import differences, lumped
from flexph.meshes.contents import MeshContents
from flexph.meshes.materials import FileMaterial
from flexph.meshes.unit_systems import other_units
from flexph.numerics.arguments import warn
from flexph.numerics.arrays import Array
from flexph.systems.nonlinear import ValidityWarning

from .damping import Damping
from .elastic import Anisotropic, Elastic
from .materials import Material


def file_materials(contents: MeshContents) -> dict[str, Elastic]:
    """Read the materials of a mesh file, by the names of the regions of cells to which they are assigned.

    Raises ValueError if the file assigns no material, or one without density or moduli.
    """
    if not contents.sections:
        held = f"its materials {', '.join(map(repr, contents.materials))} are assigned to no region"
        none = contents.unread or "the mesh has none of its own"
        raise ValueError(f"material must be given: {held if contents.materials else none}")
    return {
        region: file_material(name, contents, contents.orientations.get(region, NO_AXES))
        for region, name in contents.sections
    }


NO_AXES = np.eye(3)


def file_material(name: str, contents: MeshContents, axes: Array | str = NO_AXES) -> Elastic:
    """Read a material of a mesh file by its name.

    ``axes`` (3, 3) are the axes of an anisotropic material, or the reason why they are unknown. Raises ValueError
    if the material is missing or cannot be read.
    """
    given = _found(name, contents)
    if given.refused:
        raise ValueError(f"material {name!r} of the mesh must be linear elastic, got {given.refused}: give material=")
    if given.rows:
        raise ValueError(f"material {name!r} of the mesh has {given.tables()}: give temperature=, or material=")
    known = given.young is not None or given.stiffness is not None
    if not known and not contents.types:
        raise ValueError(f"material must be given: {name!r} of the drawing has no Young's modulus")
    if given.density is None or not known:
        words = [word for word, there in (("*DENSITY", given.density is not None), ("*ELASTIC", known)) if not there]
        raise ValueError(f"material {name!r} of the mesh must have {' and '.join(words)}: give material=")
    try:
        if given.stiffness is None and given.young is not None:
            return Material(young=given.young, density=given.density, poisson=given.poisson)
        if isinstance(axes, str):
            raise ValueError(f"its axes are not known: {axes}")
        return Anisotropic(stiffness=given.stiffness, density=given.density, axes=axes)
    except ValueError as error:
        raise ValueError(f"material {name!r} of the mesh: {error}") from None


def file_damping(contents: MeshContents) -> Damping:
    """Read the Rayleigh damping of a mesh file, given for the whole model or equal in all materials.

    Warns if the materials differ: the body is then undamped.
    """
    known = {key.upper(): material for key, material in contents.materials.items()}
    used = {known[name.upper()].damping for _, name in contents.sections if name.upper() in known}
    of_file = contents.damping
    if of_file is None and len(used) > 1:
        warn("materials of the mesh have different *DAMPING, but a body has one: it is undamped, give damping=")
        return Damping()
    alpha, beta = of_file or next(iter(used), None) or (0.0, 0.0)
    return Damping(mass=alpha, stiffness=beta)


def _found(name: str, contents: MeshContents) -> FileMaterial:
    known = {key.upper(): material for key, material in contents.materials.items()}
    if name.upper() not in known:
        raise ValueError(
            f"material {name!r} of a section of the mesh must be defined, there are "
            f"{', '.join(map(repr, contents.materials)) or 'none'}"
        )
    return known[name.upper()]


def file_densities(contents: MeshContents) -> dict[str, float] | None:
    """Densities of a mesh file by the names of its regions of cells; None if any region has no density."""
    materials = {key.upper(): material for key, material in contents.materials.items()}
    densities = {region: materials.get(name.upper(), FileMaterial()).density for region, name in contents.sections}
    known = {region: density for region, density in densities.items() if density is not None}
    return known if known and len(known) == len(densities) else None


def element_notes(contents: MeshContents) -> list[str]:
    """Notes on how the elements of this package differ from those of the program for which a mesh file is written."""
    notes = [note for kind in contents.types for note in differences(kind)]
    linear = [kind for kind in contents.types if lumped(kind)]
    if linear:
        notes.append(f"masses of {', '.join(linear)} are lumped in the program of the file, and consistent here")
    return notes


def warn_of_elements(contents: MeshContents) -> None:
    """Warn if elements of a file are stiffer or softer here than in the program for which the file is written."""
    notes = [note for kind in contents.types for note in differences(kind)]
    if notes:
        text = f"{'; '.join(notes)}: fem.solid integrates fully (docs/guide/solids.md has the size of the difference)"
        warn(text, ValidityWarning)


def law_notes(contents: MeshContents) -> list[str]:
    """Notes on the ignored properties of used materials, that is, all but density and elasticity."""
    known = {key.upper(): (key, material) for key, material in contents.materials.items()}
    used = [known[name.upper()] for _, name in contents.sections if name.upper() in known]
    return [
        f"material {key!r} is elastic here, without {', '.join(m.besides)}"
        for key, m in dict(used).items()
        if m.besides
    ]


def unit_notes(contents: MeshContents) -> list[str]:
    """A note if the materials of a file are not plausible in SI units; empty if they are, or if this is undecidable."""
    text = other_units(contents)
    return [text] if text else []


def unread_notes(contents: MeshContents) -> list[str]:
    """Notes on used materials whose density or moduli cannot be read."""
    known = {key.upper(): (key, material) for key, material in contents.materials.items()}
    used = dict(known[name.upper()] for _, name in contents.sections if name.upper() in known)
    words = {key: f"cannot be read: {m.refused}" if m.refused else f"has {m.tables()}" for key, m in used.items()}
    return [f"material {key!r} {text}" for key, text in words.items() if used[key].refused or used[key].rows]


def warn_of_laws(contents: MeshContents) -> None:
    """Warn if properties of materials of a file are left out, or if its numbers are not those of SI units."""
    notes = [*law_notes(contents), *unit_notes(contents)]
    if notes:
        warn("; ".join(notes), ValidityWarning)
