"""Materials of Nastran files: isotropic, orthotropic and anisotropic."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from ..materials import FileMaterial, Row
from .cards import Card, real

MODULI = {"MAT1": range(1, 4), "MAT9": range(1, 22), "MAT11": range(1, 10)}
"""Fields of the elastic constants by the name of the card."""
DENSITY = {"MAT1": 4, "MAT9": 22, "MAT11": 10}
"""Field of the density."""
MATERIALS = tuple(MODULI)
STIFFNESSES = ("xx", "yy", "zz", "xy", "yz", "zx")
"""Components of strain of MAT9."""
ABAQUS = (0, 1, 2, 3, 5, 4)
"""For each component (xx, yy, zz, xy, yz, xz) of MAT9, its index in the order of Abaqus, (xx, yy, zz, xy, xz, yz)."""


def file_material(card: Card, factor: float) -> FileMaterial:
    """Material of a card MAT1, MAT9 or MAT11, whose density is multiplied by ``factor``."""
    density, errors = None, list[str]()
    try:
        density = factor * card.real(DENSITY[card.name]) or None
    except ValueError as error:
        errors.append(str(error))
    try:
        material = _elastic(card)
    except ValueError as error:
        errors.append(str(error))
    if errors:
        return FileMaterial(density=density, refused="; ".join(errors))
    return material if density is None else material.with_rows((Row("density", 0.0, (density,)),))


def tabled_material(card: Card, table: Card, curves: Mapping[str, Card], factor: float) -> FileMaterial:
    """Material of a card, in which tables of MATT1, MATT9 or MATT11 by temperature replace its constants.

    Elastic constants are given in the range common to all of their tables, as Nastran extrapolates each table by its
    own last values. ``curves``: TABLEM1 cards by number; the density is multiplied by ``factor``.
    """
    material = FileMaterial(held_beyond=False)
    try:
        for fields in (MODULI[card.name], (DENSITY[card.name],)):
            tables = {k: _curve(table, k, curves) for k in fields if table.field(k) not in ("", "0")}
            rows = []
            for t in _temperatures(table, tables):
                replaced = _replaced(card, {k: float(np.interp(t, *curve)) for k, curve in tables.items()})
                if len(fields) == 1:
                    density = factor * replaced.real(fields[0])
                    rows += [Row("density", t, (density,))] if density else []
                    continue
                found = _elastic(replaced)
                if found.refused:
                    return FileMaterial(refused=f"{found.refused}, at the temperature {t:g}")
                if not found.modulus():
                    return FileMaterial(refused=f"{table.name} ({table.place}): no Young's modulus of {card}")
                rows.append(_elastic_row(replaced, t))
            material = material.with_rows(tuple(rows)) if rows else material
    except ValueError as error:
        return FileMaterial(refused=str(error))
    return material


def _temperatures(table: Card, tables: Mapping[int, tuple[list[float], list[float]]]) -> list[float]:
    """Temperatures, ascending, of all tables within their common range; only 0 without tables.

    ``tables``: temperatures and values by index of the field. Raises ValueError without a common range.
    """
    if not tables:
        return [0.0]
    low, high = max(at[0] for at, _ in tables.values()), min(at[-1] for at, _ in tables.values())
    if low > high:
        raise ValueError(f"{table} must have tables with common temperatures, got them from {low:g} and to {high:g}")
    return sorted({t for at, _ in tables.values() for t in at if low <= t <= high})


def _replaced(card: Card, values: Mapping[int, float]) -> Card:
    """Card with ``values`` in the fields of the given indices."""
    fields = [*card.fields, *[""] * (max(values, default=0) + 1 - len(card.fields))]
    for k, value in values.items():
        fields[k] = repr(value)
    return card._replace(fields=fields)


def _curve(table: Card, k: int, curves: Mapping[str, Card]) -> tuple[list[float], list[float]]:
    """Temperatures, ascending, and values at them, from the card TABLEM1 that field ``k`` of the card ``table`` names.

    ``curves`` are the cards TABLEM1 of the file by number. Raises ValueError if there is no such card, and for a card
    with logarithmic axes or without ascending pairs.
    """
    card = curves.get(table.field(k))
    if card is None:
        raise ValueError(f"{table.name} ({table.place}) must name TABLEM1 cards of the file, got {table.field(k)!r}")
    if card.field(1) not in ("", "LINEAR") or card.field(2) not in ("", "LINEAR"):
        raise ValueError(f"{card} must have linear axes")
    words = card.fields[8:]
    words = words[: words.index("ENDT")] if "ENDT" in words else words
    numbers = [real(word) for word in words if word and word != "SKIP"]
    at, values = numbers[::2], numbers[1::2]
    if not at or len(at) != len(values) or any(low >= high for low, high in pairwise(at)):
        raise ValueError(f"{card} must have pairs of ascending temperatures and values")
    return at, values


def _elastic(card: Card) -> FileMaterial:
    """Material with the elastic constants of a card MAT1, MAT9 or MAT11 only."""
    return _isotropic(card) if card.name == "MAT1" else FileMaterial().with_rows((_elastic_row(card, 0.0),))


def _elastic_row(card: Card, temperature: float) -> Row:
    """Elastic constants of a card at a temperature.

    They are E and ν of MAT1, stiffnesses of MAT9, or engineering constants of MAT11.
    """
    if card.name == "MAT1":
        found = _isotropic(card)
        return Row("isotropic", temperature, (found.young or 0.0, found.poisson or 0.0))
    if card.name == "MAT9":
        return Row("anisotropic", temperature, _anisotropic(card))
    return Row("engineering constants", temperature, tuple(card.real(k) for k in MODULI["MAT11"]))


def _isotropic(card: Card) -> FileMaterial:
    """Isotropic material of a card with E, G and ν, one of which may be computed from the other two."""
    young, shear, poisson = (card.real(k) if card.field(k) else None for k in MODULI["MAT1"])
    if young is None and shear is not None and poisson is not None:
        young = 2.0 * shear * (1.0 + poisson)
    if poisson is None and young and shear:
        poisson = 0.5 * young / shear - 1.0
    refused = _defect(young, shear, poisson, card) if young and shear and poisson is not None else ""
    besides = (f"GE of {card}",) if card.field(8) and card.real(8) else ()
    return FileMaterial(young=young, poisson=poisson or 0.0, refused=refused, besides=besides)


def _defect(young: float, shear: float, poisson: float, card: Card) -> str:
    """Message for moduli that do not satisfy G = E/(2(1 + ν)) within 1 %; empty if they do."""
    other = 0.5 * young / (1.0 + poisson)
    return "" if abs(shear - other) <= 0.01 * other else f"E, G and ν that contradict each other ({card.place})"


def _anisotropic(card: Card) -> tuple[float, ...]:
    """Stiffnesses of a card MAT9, reordered from the upper triangle by rows to Abaqus' order: by columns."""
    size = len(STIFFNESSES)
    whole = [(i, j) for i in range(size) for j in range(i, size)]
    stiffness = dict(zip(whole, (card.real(k) for k in MODULI["MAT9"]), strict=True))
    places = [(ABAQUS[i], ABAQUS[j]) for j in range(size) for i in range(j + 1)]
    return tuple(stiffness[min(place), max(place)] for place in places)
