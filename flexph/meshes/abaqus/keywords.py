"""Keyword blocks of Abaqus input files (.inp), as Abaqus and CalculiX write them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from ..guarded import deck_lines, refuse_outside
from .vocabulary import TAKEN, keyword, parameters

INCLUDED = 1000
"""Files that one input file may include."""


class Block(NamedTuple):
    """A keyword in capitals, its parameters by names in capitals, and its data lines as they stand.

    ``line`` is the number of the keyword's line, ``lines`` those of the data.
    """

    keyword: str
    parameters: Mapping[str, str]
    texts: list[str]
    line: int
    lines: list[int]

    @property
    def data(self) -> list[list[str]]:
        """The data lines, each split at commas."""
        return [fields(text) for text in self.texts]

    def name(self, parameter: str) -> str:
        """The value of a parameter that must be there."""
        if not self.parameters.get(parameter):
            raise ValueError(f"line {self.line}: *{self.keyword} must have {parameter}=")
        return self.parameters[parameter]

    def numbers(self) -> list[list[float]]:
        """The data lines as numbers, blank fields as 0. Raises ValueError, with the line, for other words."""
        rows = []
        for line, row in zip(self.lines, self.data, strict=True):
            try:
                rows.append([number(word) for word in row])
            except ValueError:
                raise ValueError(f"line {line}: *{self.keyword} must have numbers, got {', '.join(row)!r}") from None
        return rows


def number(word: str) -> float:
    """A number of Abaqus: blank is 0, the exponent is marked by E or D. ValueError for another word, inf and nan."""
    value = float(word.upper().replace("D", "E")) if word else 0.0
    if not math.isfinite(value):
        raise ValueError(f"{word} is no number")
    return value


def fields(text: str) -> list[str]:
    """The fields of a line; commas at its end are none."""
    return [part.strip() for part in text.rstrip(", \t").split(",")]


def keyword_blocks(path: Path) -> list[Block]:
    """The blocks of a file and of those that it includes, which must lie in its folder.

    Raises ValueError for data before any keyword, and more files than INCLUDED.
    """
    return _blocks(path, path.parent, itertools.count(1))


def _blocks(path: Path, folder: Path, count: Iterator[int]) -> list[Block]:
    blocks: list[Block] = []
    if next(count) > INCLUDED:
        raise ValueError(f"it must include at most {INCLUDED} files; does one include itself?")
    for line, text in _statements(path):
        if not text.startswith("*"):
            if not blocks:
                raise ValueError(f"line {line}: {text!r} must follow a keyword such as *NODE")
            blocks[-1].texts.append(text)
            blocks[-1].lines.append(line)
            continue
        block = _block(text, line)
        if block.keyword == "INCLUDE":
            blocks += _blocks(_included((folder, path.parent), block), folder, count)
            continue
        if "INPUT" in block.parameters and block.keyword in TAKEN:
            rows = _statements(_included((folder, path.parent), block))
            block.lines.extend(number for number, _ in rows)
            block.texts.extend(row for _, row in rows)
        blocks.append(block)
    return blocks


def _block(text: str, line: int) -> Block:
    """A keyword with its parameters: names in quotation marks may hold commas."""
    quoted = text.split('"')
    marked = '"'.join(part.replace(",", "\0") if k % 2 else part for k, part in enumerate(quoted))
    first, *rest = (part.replace("\0", ",") for part in marked[1:].split(","))
    pairs = (part.partition("=") for part in rest if part.strip())
    given = {" ".join(key.upper().split()): value.strip().strip('"') for key, _, value in pairs}
    word = keyword(first)
    return Block(word, parameters(word, given, line), [], line, [])


def _statements(path: Path) -> list[tuple[int, str]]:
    """Lines without comments and blank ones; a keyword that ends with a comma goes on in the next line."""
    statements: list[tuple[int, str]] = []
    goes_on = False
    for k, raw in enumerate(deck_lines(path), 1):
        text = raw.strip()
        if not text or text.startswith("**"):
            continue
        if goes_on and text[0] != "*":
            statements[-1] = (statements[-1][0], statements[-1][1] + text)
        else:
            statements.append((k, text))
        goes_on = statements[-1][1][0] == "*" and text[-1] == ","
    return statements


def _included(folders: tuple[Path, Path], block: Block) -> Path:
    """An included file by its place beside the first file, or beside the one that names it."""
    given = block.name("INPUT")
    included = next((folder / given for folder in folders if (folder / given).is_file()), None)
    refuse_outside(folders[0], str(included or given))
    if included is None:
        raise ValueError(f"line {block.line}: *{block.keyword} names {given!r}, and there is no such file")
    return included
