"""Materials of Nastran files: isotropic, orthotropic and anisotropic."""

from __future__ import annotations

from ..materials import FileMaterial, Row
from .cards import Card

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


def _isotropic(card: Card) -> FileMaterial:
    """Moduli E, G and ν, of which one may follow from the others."""
    young, shear, poisson = (card.real(k) if card.field(k) else None for k in (1, 2, 3))
    if young is None and shear is not None and poisson is not None:
        young = 2.0 * shear * (1.0 + poisson)
    if poisson is None and young and shear:
        poisson = 0.5 * young / shear - 1.0
    refused = "" if poisson is None or not shear or not young else _defect(young, shear, poisson, card)
    besides = (f"GE of {card}",) if card.field(8) and card.real(8) else ()
    return FileMaterial(young=young, poisson=poisson or 0.0, refused=refused, besides=besides)


def _defect(young: float, shear: float, poisson: float, card: Card) -> str:
    """Message for moduli that do not satisfy G = E/(2(1 + ν)) within 1 %; empty if they do."""
    other = 0.5 * young / (1.0 + poisson)
    return "" if abs(shear - other) <= 0.01 * other else f"E, G and ν that contradict each other ({card.place})"


def _anisotropic(card: Card) -> FileMaterial:
    """Upper triangle of the stiffness, by rows."""
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
    """E_1 to E_3, ν_12, ν_13, ν_23, G_12, G_13, G_23, in the order of the card."""
    return FileMaterial().with_rows((Row("engineering constants", 0.0, tuple(card.real(k) for k in range(1, 10))),))
