"""Keyword blocks of Abaqus input files (.inp), as Abaqus and CalculiX write them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from ..files.reading import refuse_cut
from .guarded import refuse_outside

INCLUDED = 1000
"""Files that one input file may include."""


class Block(NamedTuple):
    """A keyword in capitals, its parameters by names in capitals, and its data lines, each split at commas.

    ``line`` is the number of the keyword's line, ``lines`` those of the data.
    """

    keyword: str
    parameters: Mapping[str, str]
    data: list[list[str]]
    line: int
    lines: list[int]

    def name(self, parameter: str) -> str:
        """The value of a parameter that must be there."""
        if not self.parameters.get(parameter):
            raise ValueError(f"line {self.line}: *{self.keyword} must have {parameter}=")
        return self.parameters[parameter]


def keyword_blocks(path: Path) -> list[Block]:
    """The blocks of a file and of those that it includes, which must lie in its folder.

    Raises ValueError for data before any keyword, a file that is cut within data, and more files than INCLUDED.
    """
    return _blocks(path, path.parent, itertools.count(1))


def _blocks(path: Path, folder: Path, count: Iterator[int]) -> list[Block]:
    blocks: list[Block] = []
    if next(count) > INCLUDED:
        raise ValueError(f"it must include at most {INCLUDED} files; does one include itself?")
    for line, text in _statements(path):
        if text.startswith("*"):
            keyword, *rest = _split(text[1:])
            pairs = (part.partition("=") for part in rest)
            parameters = {key.strip().upper(): value.strip().strip('"') for key, _, value in pairs}
            block = Block(" ".join(keyword.upper().split()), parameters, [], line, [])
            if block.keyword == "INCLUDE":
                blocks += _blocks(_included((folder, path.parent), block), folder, count)
            else:
                blocks.append(block)
        elif not blocks:
            raise ValueError(f"line {line}: {text!r} must follow a keyword such as *NODE")
        else:
            blocks[-1].data.append(_split(text))
            blocks[-1].lines.append(line)
    return blocks


def _statements(path: Path) -> list[tuple[int, str]]:
    """Lines without comments and blank ones; a keyword that ends with a comma goes on in the next line."""
    statements: list[tuple[int, str]] = []
    goes_on = False
    content = path.read_text(encoding="latin-1")
    if not content.rpartition("\n")[2].lstrip().startswith("*"):  # what follows a keyword may be left out
        refuse_cut(content.rstrip(" \t"))
    for k, raw in enumerate(content.splitlines(), 1):
        text = raw.strip()
        if not text or text.startswith("**"):
            continue
        if goes_on and not text.startswith("*"):
            statements[-1] = (statements[-1][0], statements[-1][1] + text)
        else:
            statements.append((k, text))
        goes_on = statements[-1][1].startswith("*") and text.endswith(",")
    return statements


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.rstrip(",").split(",")]


def _included(folders: tuple[Path, Path], block: Block) -> Path:
    """An included file by its place beside the first file, or beside the one that names it."""
    given = block.name("INPUT")
    included = next((folder / given for folder in folders if (folder / given).is_file()), None)
    refuse_outside(folders[0], str(included or given))
    if included is None:
        raise ValueError(f"line {block.line}: *INCLUDE names {given!r}, and there is no such file")
    return included
