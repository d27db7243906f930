"""Recorded evaluations for algorithms that request runs one by one; no run is repeated."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from ..numerics import checks as check
from ..numerics.arrays import Array
from .execution.records import Record, key
from .execution.runs import Place, Runs, runs_of
from .execution.subjects import subject
from .parameter_study import collected
from .samples import table


class Evaluations:
    """Evaluations of a function of real parameters, with a record of each run; no run is repeated."""

    def __init__(self, runs: Runs, keep: bool) -> None:
        self._runs, self._keep = runs, keep
        self._samples: dict[str, dict[str, float]] = {}

    @property
    def samples(self) -> list[dict[str, float]]:
        """Parameters of the runs so far."""
        return list(self._samples.values())

    def records(self, samples: Sequence[Mapping[str, float]]) -> list[Record]:
        """Records of samples; missing ones are computed concurrently."""
        plain = [{name: float(value) for name, value in sample.items()} for sample in samples]
        self._samples |= {key(sample): sample for sample in plain}
        return self._runs.records(plain)

    def values(self, samples: Sequence[Mapping[str, float]]) -> list[Mapping[str, Array]]:
        """Values at samples; raises ArithmeticError if a run fails."""
        records = self.records(samples)
        for record in records:
            if record.error:
                raise ArithmeticError(f"the run at {told(record.parameters)} failed: {record.error}")
        return [record.values for record in records]

    def dataset(self) -> Any:
        """All runs so far as an xarray.Dataset."""
        return collected(self._runs, table(self.samples), keep=self._keep)


@contextmanager
def evaluations(function: Callable[..., Any] | str, names: Sequence[str], place: Place) -> Iterator[Evaluations]:
    """Context with the evaluations of a function or case with the given parameters."""
    own = subject(function)
    own.check_names(names)
    with runs_of(own, place) as runs:
        yield Evaluations(runs, keep=place.out is not None)


def value_of(values: Mapping[str, Array], name: str) -> Array:
    """Value of a run with a name, as real numbers; raises ValueError if there is none."""
    array = check.lookup("value", name, values, "a run")
    if array.dtype.kind not in "fib":
        raise ValueError(f"the value {name!r} must be numbers, got {check.shown(array.tolist())}")
    return np.asarray(array, dtype=float)


def told(parameters: Mapping[str, Any]) -> str:
    """Parameters as text for a message."""
    return ", ".join(f"{name} = {value:.6g}" for name, value in parameters.items())
