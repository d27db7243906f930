"""Studies of a model file: a run repeated for samples of its settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import Field, model_validator

from .entry import Entry
from .fields import File, wrong

Ends = Annotated[list[Any], Field(min_length=2, max_length=2)]
Values = Annotated[list[Any], Field(min_length=1)]
Row = Annotated[dict[str, Any], Field(min_length=1)]


class RandomSamples(Entry):
    """``count`` points of a box with bounds by the path of a setting: ``bodies.rod.length: [2 m, 3 m]``."""

    count: Annotated[int, Field(ge=1)]
    bounds: Annotated[dict[str, Ends], Field(min_length=1)]
    seed: Annotated[int, Field(ge=0)] = 0


class Study(Entry):
    """A run repeated for many values of settings by path, such as ``bodies.rod.elements``; its results are measures.

    Give one of: ``vary`` for all combinations of values, ``samples`` as a list, a ``table`` of comma-separated values
    with paths in its first row, a ``latin_hypercube``, or a ``sobol`` sequence of a power of two points.
    """

    run: str
    vary: Annotated[dict[str, Values], Field(min_length=1)] = None
    samples: Annotated[list[Row], Field(min_length=1)] = None
    table: File = None
    latin_hypercube: RandomSamples = None
    sobol: RandomSamples = None

    @model_validator(mode="after")
    def _refuse_several(self) -> Study:
        given = [name for name in SOURCES if name in self.model_fields_set]
        if len(given) != 1:
            message = f"got {' and '.join(given)}" if given else "got none of them"
            raise wrong(f"{message}: write one of {', '.join(SOURCES)}")
        count = self.sobol.count if self.sobol is not None else 1
        if count & (count - 1):
            raise wrong(f"count of sobol must be a power of two such as {1 << count.bit_length()}, got {count}")
        return self

    @property
    def bounds(self) -> Mapping[str, Ends]:
        """Bounds of random samples as written in the file; none for other studies."""
        drawn = self.latin_hypercube or self.sobol
        return {} if drawn is None else drawn.bounds


SOURCES = ("vary", "samples", "table", "latin_hypercube", "sobol")
"""Fields that define the samples."""
