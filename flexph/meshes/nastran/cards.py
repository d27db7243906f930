"""Cards of Nastran files: small, large and free field format, continuation lines, included files."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, TypeVar

from ..contents import DeckFiles, Place

EXPONENT = re.compile(r"(?<=[\d.])([+-]\d+)$")
"""Pattern of an exponent without its letter, as in 1.5+3."""


Key = TypeVar("Key", int, str)


class Card(NamedTuple):
    """The name of a card in capitals, its fields from the second on, and the place of its first line."""

    name: str
    fields: list[str]
    place: Place

    def __str__(self) -> str:
        return f"{self.name} ({self.place})"

    def field(self, k: int) -> str:
        """Field of the index k, counted from 0 after the name; an empty text if the card is shorter."""
        return self.fields[k] if k < len(self.fields) else ""

    def whole(self, k: int, default: int | None = None) -> int:
        """A field as integer, ``default`` if it is blank. Raises ValueError, with the card, for any other text."""
        word = self.field(k)
        try:
            if not word and default is not None:
                return default
            return int(word)
        except ValueError:
            raise ValueError(f"{self} must have a whole number in field {k + 2}, got {word!r}") from None

    def real(self, k: int) -> float:
        """A field as number, 0 if it is blank. Raises ValueError, with the card, for any other text."""
        word = self.field(k)
        try:
            return real(word)
        except ValueError:
            raise ValueError(f"{self} must have a number in field {k + 2}, got {word!r}") from None


def hold(held: dict[Key, Card], number: Key, card: Card, what: str, fields: slice = slice(None)) -> None:
    """Add a card to ``held`` under its number; raise ValueError if a different card has this number.

    Only ``fields`` of the cards are compared; ``what`` names the numbered thing in the error.
    """
    known = held.setdefault(number, card)
    if known is not card and (known.name, known.fields[fields]) != (card.name, card.fields[fields]):
        raise ValueError(f"{card} must not define {what} {number} a second time")


Line = tuple[str, Place]
"""A line without comments and trailing blanks, and its place."""
SMALL = tuple(slice(k, k + 8) for k in range(8, 72, 8))
LARGE = tuple(slice(k, k + 16) for k in range(8, 72, 16))
"""Columns of the fields of a line in small and in large field format."""


def real(word: str) -> float:
    """A number in Nastran notation: 1.5, 1.5E3, 1.5D3 or 1.5+3; blank is 0. Raises ValueError for any other word."""
    try:
        value = float(word or "0")
    except ValueError:
        value = float(EXPONENT.sub(r"E\1", word.upper().replace("D", "E")))
    if value - value != 0.0:
        raise ValueError(f"{word} is not a finite number")
    return value


def bulk_cards(path: Path) -> Iterator[Card]:
    """Yield the cards between BEGIN BULK and ENDDATA, or of a whole file with neither executive nor case control.

    Raises ValueError for incomplete files, superelements, and continuations that do not follow their card.
    """
    name, fields, first, mark = "", list[str](), Place(0), ""
    for line in _bulk(_lines(path, DeckFiles(path))):
        head, continued, tail = _split(line)
        if head and head[0] not in "+*":
            if name:
                yield Card(name, fields, first)
            name, fields, first = head.rstrip("* ").upper(), continued, line[1]
        else:
            if not name or (mark and head):
                _refuse_astray(line, name, (mark, head))
            if len(fields) % 8 and "*" not in head:
                fields = [*fields, *[""] * (8 - len(fields) % 8)]
            fields = fields + continued
        mark = tail
    if name:
        yield Card(name, fields, first)


def _refuse_astray(line: Line, name: str, marks: tuple[str, str]) -> None:
    """Raise ValueError for a continuation line that does not follow its card.

    ``name``: name of the card before it, empty if there is none. ``marks``: mark at the end of the previous line, and
    at the begin of this one; they must be equal if both are given.
    """
    before, present = (mark.strip("+* ") for mark in marks)
    same = before == present or before[1:] == present  # the first columns may differ
    if not name or (before and present and not same):
        raise ValueError(f"{line[1]}: the continuation {line[0][:8].strip()!r} must follow its card")


def _split(line: Line) -> tuple[str, list[str], str]:
    """Name or continuation mark of a line, its 8 fields (4 in large format), and the mark at its end."""
    text = line[0]
    if "," in text:
        return _split_free(line)
    head = text[:8].strip()
    return head, [text[columns].strip() for columns in (LARGE if "*" in head else SMALL)], text[72:80].strip()


def _split_free(line: Line) -> tuple[str, list[str], str]:
    """Name or mark, fields, and end mark of a line in free format, with commas."""
    head, *words = (word.strip() for word in line[0].split(","))
    count = 4 if "*" in head else 8
    fields, rest = words[:count], words[count:]
    if fields and not rest and fields[-1].startswith("+") and not fields[-1][1:2].isdigit():
        fields, rest = fields[:-1], fields[-1:]
    if any(rest[1:]):
        raise ValueError(f"{line[1]}: a line in free format must have at most {count} fields and a mark")
    return head, fields + [""] * (count - len(fields)), rest[0] if rest else ""


def _bulk(lines: list[Line]) -> list[Line]:
    """Lines of the bulk data."""
    begins, control, end = list[int](), False, None
    for k, (text, _) in enumerate(lines):
        word = text.split(None, 1)[0].upper() if text[0] in "BEST best" else ""
        if word == "BEGIN":
            begins.append(k)
        elif word.startswith("ENDDATA") and end is None:
            end = k
        control = control or word in ("SOL", "TIME")
    parts = [k for k in begins if not re.match(r"\s*BEGIN(\s+BULK)?\s*$", lines[k][0], re.IGNORECASE)]
    if parts or len(begins) > 1:
        text, place = lines[(parts or begins)[-1]]
        raise ValueError(f"{place}: {text} begins a superelement or another separate part, which is not supported")
    if not begins and control:
        raise ValueError("it has no BEGIN BULK")
    if begins and end is None:
        raise ValueError("it is incomplete: ENDDATA is missing")
    return lines[begins[0] + 1 if begins else 0 : end]


def _lines(path: Path, files: DeckFiles) -> list[Line]:
    """Lines of a file, with included files inserted."""
    lines: list[Line] = []
    rows = files.lines(path)
    for place, raw in rows:
        text = raw.rstrip() if "$" not in raw else raw.partition("$")[0].rstrip()
        if not text:
            continue
        if text[0] in "Ii \t" and text.split(None, 1)[0].upper() == "INCLUDE":
            given = raw.strip()[7:].strip()
            while given[:1] in ("'", '"') and given.count(given[0]) < 2:  # a long path continues in the next lines
                given += next(rows, (place, given[0]))[1].strip()
            lines += _lines(files.included(_name(given), path, by=f"{place}: INCLUDE"), files)
        else:
            lines.append((text.expandtabs(8) if "\t" in text else text, place))
    return lines


def _name(given: str) -> str:
    """The file name of an INCLUDE line, without quotation marks and comments."""
    quote = given[:1]
    return given[1:].partition(quote)[0] if quote in ("'", '"') else given.partition("$")[0].strip()
