"""Errors of model files with their position."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

MOST = 20
"""Largest number of problems listed for one file."""

Path = tuple[str | int, ...]
"""Path of a value in a file: names in mappings and indices in lists."""


@dataclass(frozen=True)
class Problem:
    """One error of a file: path of the value, text on what was given and what would be right, line and column."""

    path: Path
    text: str
    line: int = 1
    column: int = 1

    def __str__(self) -> str:
        return f"{self.line}:{self.column}: {f'{dotted(self.path)}: ' if self.path else ''}{self.text}"


class ModelError(ValueError):
    """Model file that cannot be read, built or run; ``problems`` lists the errors, one per line of the message."""

    def __init__(self, name: str, problems: Sequence[Problem]) -> None:
        self.name, self.problems = name, tuple(problems)
        more = len(self.problems) - MOST
        lines = [f"{name}:{problem}" for problem in self.problems[:MOST]]
        super().__init__("\n".join(lines + [f"… and {more} more"] * (more > 0)))

    def __reduce__(self) -> tuple[Any, ...]:
        return ModelError, (self.name, self.problems)


class Misfit(ValueError):
    """Error at a path of the data, before its line is looked up."""

    def __init__(self, path: Path, text: str) -> None:
        self.path, self.text = path, text
        super().__init__(f"{dotted(path)}: {text}")


def dotted(path: Path) -> str:
    """Text of a path: ``bodies.rod.length``, ``connections[2].first``."""
    text = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return text.removeprefix(".")
