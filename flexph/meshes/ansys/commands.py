"""Commands of Ansys archives, and the blocks of columns that follow some of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ..contents import Place
from ..safe_reading import deck_lines

BLOCKS = ("NBLOCK", "EBLOCK", "CMBLOCK", "RLBLOCK", "BFBLOCK", "SFEBLOCK", "ETBLOCK", "SECBLOCK")
"""Commands with a line of formats, and rows in columns, behind them."""
FORMAT = re.compile(r"(\d*)([a-z])(\d+)")
NUMBERED = re.compile(r"[-+.\d\s]")


class Command(NamedTuple):
    """A command: its name in capitals, its arguments, its place, and the rows of its block with their widths."""

    name: str
    fields: list[str]
    place: Place
    format: str = ""
    rows: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.name} ({self.place})"

    def field(self, k: int) -> str:
        """Argument with index k, counted from 0; an empty text if the command has fewer arguments."""
        return self.fields[k] if k < len(self.fields) else ""

    def whole(self, k: int) -> int:
        """An argument as integer. Raises ValueError, with the place, for any other text."""
        try:
            return int(self.field(k))
        except ValueError:
            raise ValueError(f"{self} must have a whole number in field {k + 2}, got {self.field(k)!r}") from None

    def real(self, k: int) -> float:
        """An argument as number, 0 if it is blank. Raises ValueError, with the place, for any other text."""
        try:
            return number(self.field(k))
        except ValueError:
            raise ValueError(f"{self} must have a number in field {k + 2}, got {self.field(k)!r}") from None

    def at(self, row: int) -> Place:
        """Place of a row of the block."""
        return Place(self.place.line + 2 + row)

    def widths(self) -> list[tuple[str, int]]:
        """Kind (i, e or g) and width of each column, from the line of formats; raises ValueError for any other line."""
        columns = [
            (kind, int(width)) for count, kind, width in FORMAT.findall(self.format) for _ in range(int(count or 1))
        ]
        if not columns or any(kind not in "ieg" or not 0 < width <= 100 for kind, width in columns):
            raise ValueError(f"{self.at(-1)}: {self.format!r} must be formats such as (3i9,6e21.13)")
        return columns[:100]

    def words(self, row: int, columns: list[tuple[str, int]]) -> list[str]:
        """Words of a row by its columns.

        Columns beyond the end of the row are left out.
        """
        text, words, start = self.rows[row].rstrip(), list[str](), 0
        for _, width in columns:
            if start >= len(text):
                break
            words.append(text[start : start + width].strip())
            start += width
        return words


def number(word: str) -> float:
    """A number, 0 for a blank. Raises ValueError for any other word and for infinite numbers."""
    value = float(word.upper().replace("D", "E")) if word else 0.0
    if value - value != 0.0:
        raise ValueError(f"{word} is not a finite number")
    return value


def commands(path: Path) -> Iterator[Command]:
    """Yield the commands of a file.

    The names of commands within *IF and *DO get the prefix ``*IF``, as conditions and loops are not run.
    """
    lines, k, depth = deck_lines(path), 0, 0
    while k < len(lines):
        text, place, k = lines[k].partition("!")[0].strip(), Place(k + 1), k + 1
        for part in text.split("$"):
            fields = [word.strip() for word in part.split(",")]
            name = fields[0].upper()
            if not name:
                continue
            if name in ("*ENDIF", "*ENDDO"):
                depth = max(depth - 1, 0)
            if name in BLOCKS:
                first, k = k, _end_of_block(lines, k, name)
                form = lines[first].strip().lower() if first < len(lines) else ""
                yield Command(name, fields[1:], place, form, tuple(lines[first + 1 : k]))
            else:
                yield Command(f"*IF {name}" if depth and name[0] != "*" else name, fields[1:], place)
            if name in ("*IF", "*DO"):
                depth += 1


def _end_of_block(lines: list[str], first: int, name: str) -> int:
    """Index of the first line after the numbers of a block: the line -1 that ends it, or the next command.

    ``first`` is the index of the line after the command, the line of formats; ``name`` is that of the command.
    """
    k = first + 1
    if name == "RLBLOCK" and k < len(lines) and lines[k].lstrip().startswith("("):  # format of further rows
        k += 1
    while k < len(lines) and lines[k].strip() and NUMBERED.match(lines[k]):
        if name in ("NBLOCK", "EBLOCK") and lines[k].strip() == "-1":
            break
        k += 1
    return min(k, len(lines))
