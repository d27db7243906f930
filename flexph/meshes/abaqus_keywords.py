"""Keyword blocks of Abaqus input files (.inp), as Abaqus and CalculiX write them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple


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
    """The blocks of a file and of those that it includes. Raises ValueError for data before any keyword."""
    blocks: list[Block] = []
    for line, text in _statements(path):
        if text.startswith("*"):
            keyword, *rest = _split(text[1:])
            pairs = (part.partition("=") for part in rest)
            parameters = {key.strip().upper(): value.strip().strip('"') for key, _, value in pairs}
            block = Block(" ".join(keyword.upper().split()), parameters, [], line, [])
            if block.keyword == "INCLUDE":
                blocks += keyword_blocks(_included(path, block))
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
    for k, raw in enumerate(path.read_text(encoding="latin-1").splitlines(), 1):
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


def _included(path: Path, block: Block) -> Path:
    given = Path(block.name("INPUT"))
    included = given if given.is_file() else path.parent / given
    if not included.is_file():
        raise ValueError(f"line {block.line}: *INCLUDE names {str(given)!r}, and there is no such file")
    return included
