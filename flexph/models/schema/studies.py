"""Studies of a model file, which repeat a run for samples of settings, and optimisations of settings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from .entry import Entry
from .fields import File, Number, by_shape, wrong
from .runs import Size

Ends = Annotated[list[Any], Field(min_length=2, max_length=2)]
Values = Annotated[list[Any], Field(min_length=1)]
Weights = Annotated[dict[str, Size], Field(min_length=1)]
Limits = Annotated[list[Size | None], Field(min_length=2, max_length=2)]
Row = Annotated[dict[str, Any], Field(min_length=1)]


class RandomSamples(Entry):
    """``count`` random points within bounds, by path of a setting: ``bodies.rod.length: [2 m, 3 m]``."""

    count: Annotated[int, Field(ge=1)]
    bounds: Annotated[dict[str, Ends], Field(min_length=1)]
    seed: Annotated[int, Field(ge=0)] = 0


class Study(Entry):
    """A run repeated for many values of settings by path, such as ``bodies.rod.elements``.

    Its results are measures. Give one of: ``vary`` for all combinations of values, ``samples`` as a list, a ``table``
    of comma-separated values with paths in its first row, a ``latin_hypercube``, or a ``sobol`` sequence of a power of
    two points.
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
        """Bounds of random samples as written in the file, by path of the setting; empty for other studies."""
        drawn = self.latin_hypercube or self.sobol
        return {} if drawn is None else drawn.bounds


SOURCES = ("vary", "samples", "table", "latin_hypercube", "sobol")
"""Fields that define the samples."""


class Optimisation(Entry):
    """Minimisation of a measure of a run over settings by path within bounds, see :func:`flexph.studies.optimise`.

    ``objective`` is a measure, or weights by measure of a weighted sum; it is minimised. ``parameters`` are bounds by
    path, as ``bodies.rod.length: [2 m, 3 m]``; the search begins at the values of the file, or else in the middle of
    the bounds. ``constraints`` are lower and upper limits of measures, null for none. ``step`` is the step of finite
    differences relative to each parameter, for runs without gradients.
    """

    run: str
    objective: by_shape("a measure, or weights by measure", scalar=str, mapping=Weights)
    parameters: Annotated[dict[str, Ends], Field(min_length=1)]
    constraints: dict[str, Limits] = Field(default_factory=dict)
    method: Literal["auto", "COBYQA", "SLSQP", "trust-constr", "L-BFGS-B", "interior-point"] = "auto"
    step: Number = None
    most: Annotated[int, Field(ge=1)] = 100
    tolerance: Number = 1e-3

    @property
    def weights(self) -> Mapping[str, float]:
        """Weights of the objective by measure."""
        return {self.objective: 1.0} if isinstance(self.objective, str) else self.objective

    @property
    def measures(self) -> tuple[str, ...]:
        """Measures that the objective and the constraints name."""
        return tuple(dict.fromkeys([*self.weights, *self.constraints]))

    @model_validator(mode="after")
    def _refuse_reversed(self) -> Optimisation:
        for name, (least, largest) in self.constraints.items():
            if least is None and largest is None:
                raise wrong(f"the constraint of {name!r} has no limit: write [null, 1] or [-1, 1]")
            if least is not None and largest is not None and least > largest:
                raise wrong(f"the constraint of {name!r} must have the lower limit first, got {least:g}, {largest:g}")
        return self
