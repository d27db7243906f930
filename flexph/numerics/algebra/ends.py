"""One end of a banded matrix that is factored from both ends (see halves)."""

from __future__ import annotations

from typing import NamedTuple

from ..arrays import Array


class EliminatedEnd(NamedTuple):
    """Rows of a banded matrix that are eliminated from one end: those of eliminated unknowns, then middle ones."""

    matrix: Array  # (eliminated + half, width), see band
    pivot: Array  # (eliminated + half,); entry ``eliminated`` is 1 if the elimination succeeded
    half: int  # half bandwidth
    eliminated: int  # number of unknowns that are eliminated
    x: Array  # (eliminated + half,), right-hand side and solution
