"""Sections of shells of Abaqus input files."""

from __future__ import annotations

from ..contents import ShellSection
from .keywords import Block, number

REFUSED = {
    **{"COMPOSITE": "it has layers", "LAYUP": "it has layers"},
    **{"NODAL THICKNESS": "its thickness is that of the nodes", "SHELL THICKNESS": "its thickness is a distribution"},
    **{"DENSITY": "it has a further mass per area", "STIFFNESS": "its stiffness is given by numbers"},
    **{"MEMBRANE ONLY": "it does not bend", "BENDING ONLY": "it does not stretch", "USER": "a user subroutine"},
}
"""Parameters of sections that are no plates of one material and thickness."""


def shell_section(block: Block) -> ShellSection:
    """Section of shells of a block: thickness, offset, and the reason if it is no homogeneous plate."""
    why = next((text for name, text in REFUSED.items() if name in block.parameters), "")
    if not why and "MATERIAL" not in block.parameters:
        why = "its stiffness is given by numbers"
    thickness = 0.0
    if not why:
        try:
            thickness = number(block.data[0][0])
        except (IndexError, ValueError):
            why = f"its thickness cannot be read from {', '.join(block.data[0]) if block.data else 'an empty line'!r}"
    return ShellSection(thickness, f"*{block.keyword}", block.place, why, _offset(block))


def _offset(block: Block) -> str:
    """Offset of the middle surface as it is written; empty if it is zero."""
    text = block.parameters.get("OFFSET", "0").strip()
    try:
        return "" if number(text) == 0.0 else f"OFFSET={text}"
    except ValueError:
        return f"OFFSET={text}"
