"""Materials of Nastran files: isotropic, orthotropic and anisotropic."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

import numpy as np

from ..materials import FileMaterial, Row
from .cards import Card, real

MATERIALS = ("MAT1", "MAT9", "MAT11")
STIFFNESSES = ("xx", "yy", "zz", "xy", "yz", "zx")
"""Components of strain of MAT9."""
ABAQUS = (0, 1, 2, 3, 5, 4)
"""Their indices in the order (xx, yy, zz, xy, xz, yz)."""


def file_material(card: Card, factor: float) -> FileMaterial:
    """Material of a card MAT1, MAT9 or MAT11, whose density is multiplied by ``factor``."""
    density, errors = None, list[str]()
    try:
        density = factor * card.real({"MAT1": 4, "MAT9": 22, "MAT11": 10}[card.name]) or None
    except ValueError as error:
        errors.append(str(error))
    try:
        material = {"MAT1": _isotropic, "MAT9": _anisotropic, "MAT11": _orthotropic}[card.name](card)
    except ValueError as error:
        errors.append(str(error))
    if errors:
        return FileMaterial(density=density, refused="; ".join(errors))
    return material if density is None else material.with_rows((Row("density", 0.0, (density,)),))


def tabled_material(card: Card, table: Card, curves: Mapping[str, Card], factor: float) -> FileMaterial:
    """Isotropic material of MAT1 with the tables of MATT1 by temperature, which replace its constants."""
    try:
        tables = {k: _curve(table, k, curves) for k in (1, 2, 3, 4) if table.field(k) not in ("", "0")}
        constants = {k: card.real(k) for k in (1, 2, 3, 4) if card.field(k)}
    except ValueError as error:
        return FileMaterial(refused=str(error))
    material = FileMaterial(held_beyond=False)
    for kind, own in (("isotropic", (1, 2, 3)), ("density", (4,))):
        at = sorted({t for k in own if k in tables for t in tables[k][0]}) or [0.0]
        rows: list[Row] = []
        for t in at:
            values = {k: float(np.interp(t, *tables[k])) if k in tables else constants.get(k) for k in own}
            if kind == "density":
                rows += [Row("density", t, (factor * values[4],))] if values[4] else []
                continue
            young, poisson = _completed(values[1], values[2], values[3])
            if young is None:
                return FileMaterial(refused=f"{table.name} ({table.place}): no Young's modulus of {card}")
            refused = _contradiction(young, values[2], poisson, card)
            if refused:
                return FileMaterial(refused=f"{refused}, at the temperature {t:g}")
            rows.append(Row("isotropic", t, (young, poisson or 0.0)))
        material = material.with_rows(tuple(rows)) if rows else material
    return material


def _curve(table: Card, k: int, curves: Mapping[str, Card]) -> tuple[list[float], list[float]]:
    """Temperatures, ascending, and values of a TABLEM1 card that a field of MATT1 names."""
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


def _completed(young: float | None, shear: float | None, poisson: float | None) -> tuple[float | None, float | None]:
    """Young's modulus and Poisson's ratio, one of which may be computed from the shear modulus."""
    if young is None and shear is not None and poisson is not None:
        young = 2.0 * shear * (1.0 + poisson)
    if poisson is None and young and shear:
        poisson = 0.5 * young / shear - 1.0
    return young, poisson


def _contradiction(young: float | None, shear: float | None, poisson: float | None, card: Card) -> str:
    return "" if poisson is None or not shear or not young else _defect(young, shear, poisson, card)


def _isotropic(card: Card) -> FileMaterial:
    """Isotropic material of a card with E, G and ν, one of which may be computed from the other two."""
    given, shear, ratio = (card.real(k) if card.field(k) else None for k in (1, 2, 3))
    young, poisson = _completed(given, shear, ratio)
    refused = _contradiction(young, shear, poisson, card)
    besides = (f"GE of {card}",) if card.field(8) and card.real(8) else ()
    return FileMaterial(young=young, poisson=poisson or 0.0, refused=refused, besides=besides)


def _defect(young: float, shear: float, poisson: float, card: Card) -> str:
    """Message for moduli that do not satisfy G = E/(2(1 + ν)) within 1 %; empty if they do."""
    other = 0.5 * young / (1.0 + poisson)
    return "" if abs(shear - other) <= 0.01 * other else f"E, G and ν that contradict each other ({card.place})"


def _anisotropic(card: Card) -> FileMaterial:
    """Anisotropic material of a card with the upper triangle of its stiffness by rows."""
    size = len(STIFFNESSES)
    stiffness = {}
    k = 1
    for i in range(size):
        for j in range(i, size):
            stiffness[i, j] = stiffness[j, i] = card.real(k)
            k += 1
    values = tuple(stiffness[ABAQUS[i], ABAQUS[j]] for j in range(size) for i in range(j + 1))
    return FileMaterial().with_rows((Row("anisotropic", 0.0, values),))


def _orthotropic(card: Card) -> FileMaterial:
    """Orthotropic material of a card with E_1 to E_3, ν_12, ν_13, ν_23, G_12, G_13, G_23."""
    return FileMaterial().with_rows((Row("engineering constants", 0.0, tuple(card.real(k) for k in range(1, 10))),))
