"""Sections of shells of Ansys archives: SECTYPE with SHELL, SECDATA or SECBLOCK, SECOFFSET."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..contents import Place, ShellSection
from .commands import Command, number

NAMES = ("SECTYPE", "SECDATA", "SECBLOCK", "SECOFFSET")


@dataclass
class _Section:
    """Section of shells as written in the file: thickness and material of each layer, and offset."""

    place: Place
    layers: list[tuple[float, int]] = field(default_factory=list)
    offset: str = ""
    why: str = ""


class Sections:
    """Collector of the sections of shells by their numbers."""

    def __init__(self) -> None:
        self.held: dict[int, _Section] = {}
        self.own: _Section | None = None

    def add(self, command: Command) -> None:
        """Add a command to the section of shells that SECTYPE has begun.

        Commands of other sections have no effect.
        """
        if command.name == "SECTYPE":
            is_shell = command.field(1).upper() == "SHELL"
            self.own = self.held.setdefault(command.whole(0), _Section(command.place)) if is_shell else None
        elif self.own is None:
            return
        elif command.name == "SECOFFSET":
            text = command.field(0).upper()
            self.own.offset = "" if text in ("", "MID") else f"SECOFFSET,{text}"
        elif command.name == "SECDATA":
            self._layer(command.fields)
        else:
            for row in (command.format, *command.rows):
                self._layer([word.strip() for word in row.split(",")])

    def _layer(self, words: list[str]) -> None:
        """Add a layer to the current section.

        ``words`` are its thickness, material number and angle. Record the reason if the thickness cannot be read, or if
        the layer is turned.
        """
        assert self.own is not None
        try:
            thickness, material = number(words[0]), int(number(words[1] if len(words) > 1 else ""))
            turned = number(words[2] if len(words) > 2 else "")
        except ValueError:
            self.own.why = f"its thickness cannot be read from {', '.join(words)!r}"
            return
        if turned:
            self.own.why = f"its layer is turned by {turned:g}°"
        self.own.layers.append((thickness, material))

    def sections(self, materials: dict[int, set[int]]) -> dict[int, ShellSection]:
        """Sections of shells by number, for those numbers that elements have.

        ``materials``: material numbers of the elements of each section.
        """
        return {n: _checked(section, materials[n]) for n, section in self.held.items() if n in materials}


def _checked(own: _Section, materials: set[int]) -> ShellSection:
    why = own.why
    if not why and len(own.layers) != 1:
        why = f"it has {len(own.layers)} layers"
    if not why and own.layers[0][1] and {own.layers[0][1]} != materials:
        why = f"its material {own.layers[0][1]} is not that of its elements"
    return ShellSection(own.layers[0][0] if own.layers else 0.0, "SECTYPE", own.place, why, own.offset)
