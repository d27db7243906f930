"""Which steps of a block are saved."""

from __future__ import annotations

from typing import NamedTuple


class Save(NamedTuple):
    """That every so many steps are saved, and how many were taken before those of a block."""

    every: int
    before: int

    def closes(self, step: int) -> bool:
        """Whether a step of the block, counted from one, is saved."""
        return (self.before + step) % self.every == 0

    def rows(self, steps: int) -> int:
        """Rows of so many steps, the one under way at their end among them."""
        return (self.before % self.every + steps) // self.every + 1


EACH = Save(1, 0)
"""That every step has a row of its own."""
