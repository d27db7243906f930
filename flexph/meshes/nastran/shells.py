"""Sections of shells of Nastran files."""

from __future__ import annotations

from collections.abc import Iterable

from ..contents import ShellSection
from .cards import Card

SHELL_SECTIONS = ("PSHELL", "PCOMP", "PCOMPG")
OFFSET = {"CQUAD4": 7, "CQUADR": 7, "CTRIA3": 6, "CTRIAR": 6, "CQUAD8": 15, "CTRIA6": 9}
"""Index of the field ZOFFS of elements."""
CORNERS = {
    **dict.fromkeys(("CQUAD4", "CQUADR", "CQUAD8"), range(10, 14)),
    **dict.fromkeys(("CTRIA3", "CTRIAR", "CTRIA6"), range(10, 13)),
}
"""Indices of the fields T1, T2, … of elements: thickness at the corners."""
PLAIN = {4: 1.0, 6: 0.833333, 7: 0.0}
"""Values of 12I/T³, TS/T and NSM of a plate of one material; blank fields have them, too."""


def shell_section(card: Card, elements: Iterable[Card]) -> ShellSection:
    """Section of shells of a property card: thickness, and the reason if it is no homogeneous plate."""
    why, offset, thickness = _defect(card), "", 0.0
    for element in elements:
        at = OFFSET.get(element.name)
        if at is not None and element.real(at):
            offset = offset or f"ZOFFS={element.field(at)} of {element}"
        if any(element.field(k) for k in CORNERS.get(element.name, ())):
            why = why or f"{element} has a thickness at its corners"
    if not why:
        thickness = card.real(2)
    return ShellSection(thickness, card.name, card.place, why, offset)


def _defect(card: Card) -> str:
    """Reason why a property is no plate of one material; empty for a plate."""
    if card.name != "PSHELL":
        return "it has layers"
    field = card.field(1)
    if not card.field(2):
        return "it has no thickness T"
    if not card.field(3):
        return "without MID2 it does not bend"
    if card.field(3) != field or card.field(5) not in ("", field) or card.field(10):
        return "it has several materials"
    for k, value in PLAIN.items():
        if card.field(k) and abs(card.real(k) - value) > 1e-4:
            return f"{('12I/T**3', 'TS/T', 'NSM')[list(PLAIN).index(k)]} is {card.field(k)}"
    return ""
