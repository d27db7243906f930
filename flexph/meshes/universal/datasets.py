"""Data sets of universal files, and their numbers in columns."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from ..contents import Place
from ..safe_reading import deck_lines

END = "-1"


class DataSet(NamedTuple):
    """A data set: its number, its lines, and the place of its first line."""

    number: int
    lines: list[str]
    place: Place

    def at(self, line: int) -> Place:
        """Place in the file of a line of the data set, counted from 0."""
        return Place(self.place.line + line)

    def whole(self, line: int) -> list[int]:
        """Integers of a line, separated by blanks or in columns of ten characters.

        Raises ValueError, with the place, for any other line.
        """
        text = self._line(line)
        columns = [text[k : k + 10].strip() for k in range(0, len(text.rstrip()), 10)]
        for words in (text.split(), [word for word in columns if word]):
            if all(word.lstrip("+-").isdecimal() and len(word) <= 10 for word in words):
                return [int(word) for word in words]
        raise ValueError(f"{self.at(line)}: {text.strip()!r} must be whole numbers in columns of ten")

    def real(self, line: int, count: int) -> list[float]:
        """The first ``count`` numbers of a line, whose exponents may begin with D.

        Raises ValueError, with the place, for any other line.
        """
        text = self._line(line)
        try:
            values = [float(word.upper().replace("D", "E")) for word in text.split()]
        except ValueError:
            values = []
        if len(values) < count:
            raise ValueError(f"{self.at(line)}: {text.strip()!r} must be {count} numbers")
        return values[:count]

    def _line(self, line: int) -> str:
        if line >= len(self.lines):
            raise ValueError(f"data set {self.number} ({self.place}) ends early")
        return self.lines[line]


def data_sets(path: Path) -> Iterator[DataSet]:
    """Yield the data sets of a file. Raises ValueError for a file that does not begin or end with -1."""
    lines = deck_lines(path)
    begin: int | None = None
    for k, text in enumerate(lines):
        if text.strip() == END:
            if begin is None:
                begin = k
                continue
            yield _data_set(lines, begin, k)
            begin = None
        elif begin is None and text.strip():
            raise ValueError(f"{Place(k + 1)}: {text.strip()!r} must be -1, which begins a data set")
    if begin is not None:
        raise ValueError(f"it is incomplete: the data set at {Place(begin + 1)} has no end")


def _data_set(lines: list[str], begin: int, end: int) -> DataSet:
    head = lines[begin + 1].split() if begin + 1 < end else []
    if not head or not head[0].isdecimal():
        raise ValueError(f"{Place(begin + 2)}: a data set must have a number, got {' '.join(head) or 'none'!r}")
    return DataSet(int(head[0]), lines[begin + 2 : end], Place(begin + 3))
