"""Keyword blocks of Abaqus and CalculiX input files (.inp), and their rows of data."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...numerics.arrays import Array
from ..axes import cylindrical, spherical_by_elevation
from ..contents import DeckFiles, Place
from .vocabulary import TAKEN, in_full, keyword, parameters


class Block(NamedTuple):
    """Keyword in capitals, its parameters by names in capitals, and its data lines as written in the file.

    ``place`` is the line of the keyword in the file, ``places`` are those of the data lines.
    """

    keyword: str
    parameters: Mapping[str, str]
    texts: list[str]
    place: Place
    places: list[Place]

    def add(self, place: Place, text: str) -> None:
        """Append a data line, and its place in the file."""
        self.places.append(place)
        self.texts.append(text)

    @property
    def data(self) -> list[list[str]]:
        """The data lines, each split at commas."""
        return [fields(text) for text in self.texts]

    def name(self, parameter: str) -> str:
        """Value of the parameter with the given name; raises ValueError if the keyword has none."""
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
    """Fields of a line, which are separated by commas, without empty fields at its end."""
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
    """Block of a keyword line with its parameters.

    Names in quotation marks may contain commas.
    """
    quoted = text.split('"')
    marked = '"'.join(part.replace(",", "\0") if k % 2 else part for k, part in enumerate(quoted))
    first, *rest = (part.replace("\0", ",") for part in marked[1:].split(","))
    pairs = (part.partition("=") for part in rest if part.strip())
    given = {" ".join(key.upper().split()): value.strip().strip('"') for key, _, value in pairs}
    word = keyword(first)
    return Block(word, parameters(word, given, place), [], place, [])


def _joined(path: Path, files: DeckFiles) -> list[tuple[Place, str]]:
    """Statements of a file with their places, without comments and blank lines.

    A keyword line that ends with a comma is continued in the next line.
    """
    statements: list[tuple[Place, str]] = []
    goes_on = False
    for place, raw in files.lines(path):
        text = raw.strip()
        if not text or text.startswith("**"):
            continue
        if goes_on and text[0] != "*" and not text[0].isdecimal():  # parameters begin with a letter
            statements[-1] = (statements[-1][0], statements[-1][1] + text)
        else:
            statements.append((place, text))
        goes_on = statements[-1][1][0] == "*" and text[-1] == ","
    return statements


def node_rows(block: Block) -> tuple[Array, Array]:
    """Numbers (k,) and coordinates (k, 3) of nodes as written in the file.

    Blank fields are 0.
    """
    try:  # fast path: equally many numbers in each line
        rows = np.loadtxt(block.texts, delimiter=",", comments=None, ndmin=2) if block.texts else np.zeros((0, 1))
    except ValueError:
        rows = np.zeros((0, 0))
    whole = rows.shape[1] >= 1 and np.isfinite(rows).all() and np.array_equal(rows[:, 0], np.floor(rows[:, 0]))
    if not whole:
        return _slow_rows(block)
    at = np.zeros((len(rows), 3))
    at[:, : min(3, rows.shape[1] - 1)] = rows[:, 1:4]
    return rows[:, 0].astype(int), at


def _slow_rows(block: Block) -> tuple[Array, Array]:
    """Numbers and coordinates as in :func:`node_rows`, read line by line; raises ValueError for a malformed line."""
    numbers, at = [], np.zeros((len(block.texts), 3))
    for k, (place, text) in enumerate(zip(block.places, block.texts, strict=True)):
        row = fields(text)
        try:
            numbers.append(int(row[0]))
            coordinates = [number(word) for word in row[1:4]]
        except ValueError:
            raise ValueError(f"{place}: {', '.join(row)!r} must be a node number and its coordinates") from None
        at[k, : len(coordinates)] = coordinates
    return np.array(numbers, dtype=int), at


def element_rows(block: Block, kind: str, width: int) -> Array:
    """Numbers of elements and their nodes, (k, width) with the element first.

    An element may take several lines. ``kind`` names the type in errors. Raises ValueError for a line that does not
    fit.
    """
    texts = [text.rstrip(", \t") for text in block.texts]
    ends = np.cumsum([0, *(text.count(",") + 1 for text in texts)])
    wrong = f"{{}}: elements of type {kind} must have a number and {width - 1} nodes each"
    starts = np.arange(0, ends[-1] + 1, width)
    lost = np.flatnonzero(~np.isin(starts, ends))
    if lost.size or ends[-1] % width:
        first = starts[max(int(lost[0]) - 1, 0)] if lost.size else starts[-1]
        row = min(int(np.searchsorted(ends, first, side="right")) - 1, len(block.places) - 1)
        raise ValueError(wrong.format(block.places[row]))
    try:
        return np.array(",".join(texts).split(",") if texts else [], dtype=object).astype(np.int64).reshape(-1, width)
    except ValueError:
        place = next(at for at, text in zip(block.places, texts, strict=True) if not _whole(text))
        raise ValueError(wrong.format(place)) from None


def _whole(text: str) -> bool:
    try:
        return all(isinstance(int(word), int) for word in text.split(","))
    except ValueError:
        return False


SYSTEMS = ("RECTANGULAR", "CYLINDRICAL", "SPHERICAL")


def nodes_in(block: Block) -> tuple[Array, Array]:
    """Numbers (k,) and coordinates (k, 3) of the nodes of a block, in rectangular axes of the system set by *SYSTEM."""
    given = block.parameters.get("SYSTEM", "R")
    kind = in_full(given, SYSTEMS)
    if kind is None:
        raise ValueError(f"{block.place}: SYSTEM must be R, C or S, got {given!r}")
    numbers, values = node_rows(block)
    if kind == "CYLINDRICAL":
        return numbers, cylindrical(values)
    return numbers, spherical_by_elevation(values) if kind == "SPHERICAL" else values


def pad(row: list[float], width: int) -> list[float]:
    """The numbers of a line, padded with zeros to ``width``."""
    return [*row, *[0.0] * (width - len(row))]
