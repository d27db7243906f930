"""Data of STEP files (ISO 10303-21) that gmsh does not read: unit of length, materials and densities of products."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ENTITY = re.compile(r"#(\d+)\s*=\s*((?:'(?:[^']|'')*'|[^';])*);")
STRING = re.compile(r"'((?:[^']|'')*)'")
REFERENCE = re.compile(r"#(\d+)")
PREFIXES = {"MILLI": "mm", "CENTI": "cm", "MICRO": "µm", "KILO": "km", "DECI": "dm", "$": "m"}
LONG = re.compile(r"\\X2\\((?:[0-9A-F]{4})+)\\X0\\")
SHORT = re.compile(r"\\X\\([0-9A-F]{2})")
LARGEST = 500_000_000
"""Largest file that is searched for texts [bytes]."""


@dataclass(frozen=True)
class FileMaterialName:
    """Material of a product in a STEP file: its name and density [kg/m³], None if not given."""

    name: str | None = None
    density: float | None = None


def without_escapes(text: str) -> str:
    """Text with the letters that STEP writes as ``\\X2\\00E4\\X0\\`` or ``\\X\\E4``."""
    text = LONG.sub(lambda m: "".join(chr(int(m[1][k : k + 4], 16)) for k in range(0, len(m[1]), 4)), text)
    return SHORT.sub(lambda m: chr(int(m[1], 16)), text)


def entities(path: Path) -> dict[int, str]:
    """Entities of the data of a STEP file by number, each as the text after its equals sign.

    Empty for a file larger than LARGEST, which is not searched.
    """
    if path.stat().st_size > LARGEST:
        return {}
    text = path.read_text(encoding="latin-1")
    return {int(m[1]): " ".join(m[2].split()) for m in ENTITY.finditer(text)}


def length_unit(held: dict[int, str]) -> str | None:
    """Unit of length of a STEP file in words, from its entities ``held`` by number; None if it is not found."""
    for text in held.values():
        if "LENGTH_UNIT" not in text or "CONVERSION_BASED_UNIT" in text:
            continue
        si = re.search(r"SI_UNIT\s*\(\s*(?:\.(\w+)\.|(\$))\s*,\s*\.METRE\.", text)
        if si and not any("CONVERSION_BASED_UNIT" in t and "LENGTH_UNIT" in t for t in held.values()):
            return PREFIXES.get(si[1] or "$", f"{(si[1] or '').lower()}metre")
    for text in held.values():
        named = re.search(r"CONVERSION_BASED_UNIT\s*\(\s*'([^']*)'", text) if "LENGTH_UNIT" in text else None
        if named:
            return named[1].lower()
    return None


def materials(held: dict[int, str]) -> dict[str, FileMaterialName]:
    """Materials of a STEP file by the names of products, from its entities ``held`` by number.

    A property of a product definition has a representation, whose items are a text (the name) or a measure (density, in
    kg/m³ or as its derived unit says).
    """
    names: dict[str, str | None] = {}
    densities: dict[str, float] = {}
    representation: dict[int, int] = {}
    for text in held.values():
        if text.startswith("PROPERTY_DEFINITION_REPRESENTATION"):
            refs = [int(n) for n in REFERENCE.findall(text)]
            if len(refs) == 2:
                representation.setdefault(refs[0], refs[1])
    for number, text in held.items():
        if not text.startswith("PROPERTY_DEFINITION(") and not text.startswith("PROPERTY_DEFINITION ("):
            continue
        words = " ".join(STRING.findall(text)).lower()
        if ("material" not in words and "density" not in words) or number not in representation:
            continue
        refs = [int(n) for n in REFERENCE.findall(text)]
        product = _product(held, refs[-1]) if refs else None
        if product is None:
            continue
        for item in (int(n) for n in REFERENCE.findall(held.get(representation[number], ""))):
            content = held.get(item, "")
            strings = [without_escapes(s) for s in STRING.findall(content)]
            if content.startswith("DESCRIPTIVE_REPRESENTATION_ITEM") and strings and "density" not in words:
                names[product] = next((s for s in strings if s), None)
            elif content.startswith(("MEASURE_REPRESENTATION_ITEM", "( MEASURE")) and "density" in (
                words + " ".join(strings).lower()
            ):
                value = re.search(r"_MEASURE\s*\(\s*([-+0-9.Ee]+)\s*\)", content)
                if value and (scale := _density_unit(held, content)) is not None:
                    densities[product] = scale * float(value[1])
    return {p: FileMaterialName(names.get(p), densities.get(p)) for p in {*names, *densities}}


def _product(held: dict[int, str], number: int, depth: int = 6) -> str | None:
    """Name of the product to which the entity ``number`` leads by references; None if none is found.

    ``held``: text of each relevant entity by its number. At most ``depth`` references are followed in a row.
    """
    text = held.get(number, "")
    if text.startswith("PRODUCT(") or text.startswith("PRODUCT ("):
        strings = STRING.findall(text)
        return without_escapes(next((s for s in reversed(strings[:2]) if s), "")) or None
    if depth == 0 or not text.startswith(("PRODUCT_DEFINITION", "PROPERTY_DEFINITION", "SHAPE_ASPECT")):
        return None
    for n in REFERENCE.findall(text):
        name = _product(held, int(n), depth - 1)
        if name:
            return name
    return None


MASSES = {"$": 1e-3, "KILO": 1.0, "MEGA": 1e3}
LENGTHS = {"$": 1.0, "MILLI": 1e-3, "CENTI": 1e-2, "DECI": 1e-1}


def _density_unit(held: dict[int, str], item: str) -> float | None:
    """Factor to kg/m³ of a measured density, from its derived unit of mass and length; None for an unknown unit."""
    factor, mass, length = 1.0, False, False
    pending = [int(n) for n in REFERENCE.findall(item)]
    elements = [held.get(n, "") for n in pending]
    for text in elements:
        if not text.startswith("DERIVED_UNIT"):
            continue
        for n in REFERENCE.findall(text):
            element = held.get(int(n), "")
            power = re.search(r",\s*([-+0-9.Ee]+)\s*\)", element)
            base = held.get(int((REFERENCE.findall(element) or ["0"])[0]), "")
            si = re.search(r"SI_UNIT\s*\(\s*(?:\.(\w+)\.|(\$))\s*,\s*\.(\w+)\.", base)
            if not power or not si:
                return None
            prefix, kind = si[1] or "$", si[3]
            table = MASSES if kind == "GRAM" else LENGTHS if kind == "METRE" else {}
            if prefix not in table:
                return None
            mass, length = mass or kind == "GRAM", length or kind == "METRE"
            factor *= table[prefix] ** float(power[1])
    return factor if mass and length else None
