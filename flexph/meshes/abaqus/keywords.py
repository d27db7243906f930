"""Keyword blocks of Abaqus and CalculiX input files (.inp)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from ..contents import DeckFiles, Place
from .vocabulary import TAKEN, keyword, parameters


class Block(NamedTuple):
    """A keyword and its parameters in capitals, and its data lines as written in the file.

    ``place`` is the place of the keyword in the file, ``places`` are those of the data lines.
    """

    keyword: str
    parameters: Mapping[str, str]
    texts: list[str]
    place: Place
    places: list[Place]

    def add(self, place: Place, text: str) -> None:
        """Append a data line."""
        self.places.append(place)
        self.texts.append(text)

    @property
    def data(self) -> list[list[str]]:
        """The data lines, each split at commas."""
        return [fields(text) for text in self.texts]

    def name(self, parameter: str) -> str:
        """The value of a required parameter; raises ValueError if it is missing."""
        if not self.parameters.get(parameter):
            raise ValueError(f"{self.place}: *{self.keyword} must have {parameter}=")
        return self.parameters[parameter]

    def numbers(self) -> list[list[float]]:
        """The data lines as numbers, blank fields as 0. Raises ValueError, with the place, for any other word."""
        rows = []
        for place, row in zip(self.places, self.data, strict=True):
            try:
                rows.append([number(word) for word in row])
            except ValueError:
                raise ValueError(f"{place}: *{self.keyword} must have numbers, got {', '.join(row)!r}") from None
        return rows


def number(word: str) -> float:
    """A number in Abaqus notation: blank is 0, the exponent letter is E or D. Raises ValueError for any other word."""
    value = float(word.upper().replace("D", "E")) if word else 0.0
    if not math.isfinite(value):
        raise ValueError(f"{word} is not a finite number")
    return value


def fields(text: str) -> list[str]:
    """The fields of a line, without empty fields at its end."""
    return [part.strip() for part in text.rstrip(", \t").split(",")]


def keyword_blocks(path: Path) -> list[Block]:
    """The blocks of a file and of its included files, which must lie in its folder.

    Raises ValueError for data before any keyword, and for more included files than allowed.
    """
    blocks: list[Block] = []
    files = DeckFiles(path)
    for place, text, file in _statements(path, files):
        if text.startswith("*"):
            blocks.append(_block(text, place))
            if "INPUT" in blocks[-1].parameters and blocks[-1].keyword in TAKEN:
                for at, row in _joined(_input(blocks[-1], file, files), files):
                    blocks[-1].add(at, row)
        elif blocks:
            blocks[-1].add(place, text)
        else:
            raise ValueError(f"{place}: {text!r} must follow a keyword such as *NODE")
    return blocks


def _statements(path: Path, files: DeckFiles) -> Iterator[tuple[Place, str, Path]]:
    """Yield the statements of a file, with included files inserted, each with its place and file."""
    for place, text in _joined(path, files):
        if text[0] == "*" and keyword(text[1:].partition(",")[0]) == "INCLUDE":
            yield from _statements(_input(_block(text, place), path, files), files)
        else:
            yield place, text, path


def _input(block: Block, path: Path, files: DeckFiles) -> Path:
    """Path of the file in the parameter INPUT of a keyword."""
    return files.included(block.name("INPUT"), path, by=f"{block.place}: *{block.keyword}")


def _block(text: str, place: Place) -> Block:
    """Block of a keyword line with its parameters; names in quotation marks may contain commas."""
    quoted = text.split('"')
    marked = '"'.join(part.replace(",", "\0") if k % 2 else part for k, part in enumerate(quoted))
    first, *rest = (part.replace("\0", ",") for part in marked[1:].split(","))
    pairs = (part.partition("=") for part in rest if part.strip())
    given = {" ".join(key.upper().split()): value.strip().strip('"') for key, _, value in pairs}
    word = keyword(first)
    return Block(word, parameters(word, given, place), [], place, [])


def _joined(path: Path, files: DeckFiles) -> list[tuple[Place, str]]:
    """Lines without comments and blank lines; a keyword line that ends with a comma is joined with the next."""
    statements: list[tuple[Place, str]] = []
    goes_on = False
    for place, raw in files.lines(path):
        text = raw.strip()
        if not text or text.startswith("**"):
            continue
        if goes_on and text[0] != "*":
            statements[-1] = (statements[-1][0], statements[-1][1] + text)
        else:
            statements.append((place, text))
        goes_on = statements[-1][1][0] == "*" and text[-1] == ","
    return statements
