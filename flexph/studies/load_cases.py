"""Load cases: functions of the same parameters, each computed by a separate run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .execution.records import Record

CASE = "load case"
"""Parameter of a run that names its load case."""

Function = Callable[..., Any] | str | Mapping[str, Callable[..., Any]]
"""Function of named parameters, name of a case, or functions by load case."""


@dataclass(frozen=True)
class LoadCases:
    """Function of the parameters and of the name of a load case, which calls the function of this case."""

    functions: Mapping[str, Callable[..., Any]]

    @property
    def __wrapped__(self) -> Callable[..., Any]:
        """First function, whose signature and source identify the study."""
        return next(iter(self.functions.values()))

    @property
    def settings(self) -> tuple[Any, ...]:
        """Names and functions of the load cases, which must be equal if a study is resumed."""
        return *self.functions, *self.functions.values()

    def __call__(self, **given: Any) -> Any:
        """Values of the named load case at parameters."""
        case = given.pop(CASE)
        return self.functions[case](**given)


def joined(parameters: Mapping[str, float], records: Mapping[str, Record]) -> Record:
    """Join the records of load cases to one record with values ``case.value``.

    If a load case failed, the joined record has no values, and the errors of the cases.
    """
    values: dict[str, np.ndarray] = {}
    for case, record in records.items():
        values |= {f"{case}.{name}": value for name, value in record.values.items()}
    errors = [f"{case}: {record.error}" for case, record in records.items() if record.error]
    seconds = sum(record.seconds for record in records.values())
    return Record(parameters, {} if errors else values, error="; ".join(errors), seconds=seconds)
