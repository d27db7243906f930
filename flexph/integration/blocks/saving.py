"""Selection of the steps of a block that are saved."""

from __future__ import annotations

from typing import NamedTuple


class Save(NamedTuple):
    """Selection of every ``every``-th step of a run; ``before`` steps precede the block."""

    every: int
    before: int

    def closes(self, step: int) -> bool:
        """True if a step of the block, counted from one, is saved."""
        return (self.before + step) % self.every == 0

    def rows(self, steps: int) -> int:
        """Number of rows for so many ``steps``, including the open one at their end."""
        return (self.before % self.every + steps) // self.every + 1


EACH = Save(1, 0)
"""One row for every step."""
