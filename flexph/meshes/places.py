"""Line numbers in input decks, and the files that a deck includes."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from .guarded import deck_lines, refuse_outside

INCLUDED = 200
"""Largest number of files that one deck may include."""


class Place(NamedTuple):
    """A line number, from 1, and the path of its file relative to the folder of the deck; "" is the deck itself."""

    line: int
    file: str = ""

    def __str__(self) -> str:
        return f"line {self.line}" + (f" of {self.file!r}" if self.file else "")


@dataclass
class DeckFiles:
    """A deck and the files that it includes, which must lie in its folder; ``read`` counts the included files."""

    deck: Path
    read: int = -1

    def lines(self, path: Path) -> Iterator[tuple[Place, str]]:
        """The lines of one of the files with their places; raises ValueError for more than INCLUDED files."""
        self.read += 1
        if self.read > INCLUDED:
            raise ValueError(f"it must include at most {INCLUDED} files; does one include itself?")
        name = "" if path == self.deck else Path(os.path.relpath(path, self.deck.parent)).as_posix()
        for number, text in enumerate(deck_lines(path), 1):
            yield Place(number, name), text

    def included(self, name: str, path: Path, *, by: str) -> Path:
        """The path of an included file, relative to the deck or to the including file ``path``.

        ``by``: place of the reference, for the error message. Raises ValueError if the file is missing or outside of
        the folder of the deck.
        """
        folders = (self.deck.parent, path.parent)
        file = next((folder / name for folder in folders if name and (folder / name).is_file()), None)
        refuse_outside(self.deck.parent, str(file or name))
        if file is None:
            raise ValueError(f"{by} names {name!r}, and there is no such file")
        return file
