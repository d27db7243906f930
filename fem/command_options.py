"""Options of commands that read a mesh file: lengths with units, shares and materials."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from flexph.meshes.drawings.drawing import MeshRequest
from flexph.meshes.files.reading import read_contents
from flexph.units.quantities import read_quantity

from .materials.elastic import Elastic
from .materials.file_materials import file_material
from .materials.materials import Material


def length(option: str, text: str | None) -> float | None:
    """Length [m] from the text that the user gave for the option ``option``; None without a text."""
    try:
        return None if text is None else read_quantity(text, "m")
    except ValueError as error:
        raise click.UsageError(f"{option}: {error}") from None


def unit_of(text: str | None) -> float | None:
    """Unit of length [m] from its name (``mm``) or from a length (``25.4 mm``)."""
    return length("--unit", f"1 {text}" if text is not None and text.strip().isalpha() else text)


def share(option: str, text: str | None) -> float | None:
    """Fraction from the text of an option: ``0.01`` or ``1%``; None without a text."""
    if text is None:
        return None
    try:
        return float(text.removesuffix("%")) / (100.0 if text.endswith("%") else 1.0)
    except ValueError:
        raise click.UsageError(f"{option} must be a number such as 0.01 or 1%, got {text!r}") from None


def material_of(text: str | None, mesh: Path, given: dict[str, Any]) -> Elastic | None:
    """Material from the text of the option ``--material``: YOUNG,DENSITY,POISSON, or a name in the mesh file.

    Without a text it is None: each region then has the material that the file assigns. ``given`` are the other options
    of the command. Raises ValueError for a text that is neither.
    """
    if text is None:
        return None
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        if "," in text:
            raise ValueError(f"--material must be YOUNG,DENSITY,POISSON in SI units, or a name, got {text!r}") from None
        try:
            request = MeshRequest(unit=given["unit"], temperature=given["temperature"])
            return file_material(text, read_contents(mesh, given["omit"], request))
        except ValueError as error:
            raise ValueError(f"--material may be YOUNG,DENSITY,POISSON, and for a name: {error}") from None
    if len(numbers) != 3:
        raise ValueError(f"--material must be three numbers YOUNG,DENSITY,POISSON, got {text!r}")
    return Material(young=numbers[0], density=numbers[1], poisson=numbers[2])
