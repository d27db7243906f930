"""Real constants of shells of Ansys archives: R, RMORE and RLBLOCK.

Other elements have them, too, so that constants that cannot be read are refused only where a shell needs them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ..contents import Place, ShellSection
from .commands import Command, number

NAMES = ("R", "RMORE", "RLBLOCK")
SHELLS = (43, 63, 93, 181)
"""Bending shells whose first four real constants are the thickness at their corners."""
CORNERS = 4


@dataclass
class _RealSet:
    """Set of real constants as written in the file: values, keyword, place, and the reason if they cannot be read."""

    place: Place
    keyword: str
    values: list[float] = field(default_factory=list)
    why: str = ""

    def add(self, words: list[str]) -> None:
        """Add constants from their words.

        Record an error for a word that is no number, such as a parameter.
        """
        try:
            self.values += [number(word) for word in words]
        except ValueError:
            self.why = f"it cannot be read from {', '.join(words)!r}"


class RealConstants:
    """Collector of real constants by the numbers of their sets."""

    def __init__(self) -> None:
        self.held: dict[int, _RealSet] = {}
        self.own: _RealSet | None = None

    def add(self, command: Command) -> None:
        """Add a set, or further constants of the last one."""
        if command.name == "RLBLOCK":
            self._add_block(command)
        elif command.name == "R":
            self.own = _RealSet(command.place, "R")
            self.own.add(command.fields[1:])
            if command.field(0).isdecimal():
                self.held[int(command.field(0))] = self.own
        elif self.own is not None:
            self.own.add([""] * (-len(self.own.values) % 6))  # R and each RMORE have six
            self.own.add(command.fields)

    def _add_block(self, command: Command) -> None:
        """Add the sets of an RLBLOCK block.

        Its first row is the format of continuation rows. Raises ValueError for rows that do not begin with a number and
        a count.
        """
        if not command.rows:
            return
        first, others, row = command.widths(), command._replace(format=command.rows[0].lower()).widths(), 1
        while row < len(command.rows):
            words, constants = command.words(row, first), _RealSet(command.at(row), "RLBLOCK")
            try:
                which, count = int(words[0]), int(words[1])
            except (ValueError, IndexError):
                raise ValueError(f"{constants.place}: {command.rows[row].strip()!r} must be real constants") from None
            constants.add(words[2:])
            row += 1
            while not constants.why and len(constants.values) < count and row < len(command.rows):
                constants.add(command.words(row, others))
                row += 1
            if not constants.why and len(constants.values) < count:
                constants.why = f"it must have {count} real constants, got {len(constants.values)}"
            self.held[which] = constants

    def section(self, which: int) -> ShellSection:
        """Section of the shells that refer to the set of real constants with the number ``which``.

        Its ``why`` is the reason if the set does not describe a plate of constant thickness.
        """
        constants = self.held[which]
        corners, others = constants.values[:CORNERS], constants.values[CORNERS:]
        thickness = corners[0] if corners else 0.0
        why = constants.why
        if why:
            thickness = 0.0
        elif any(value not in (0.0, thickness) for value in corners):
            why = "its thickness is not the same at all corners"
        elif any(others):
            k = next(k for k, value in enumerate(constants.values) if k >= CORNERS and value)
            why = f"its real constant {k + 1} is {constants.values[k]:g}, which is no thickness"
        return ShellSection(thickness, constants.keyword, constants.place, why)
