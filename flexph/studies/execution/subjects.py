"""Function of a study: a function of named parameters, or an installed case."""

from __future__ import annotations

import hashlib
import inspect
import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from ...case import Case, Parameter, find_cases, no_case
from ...numerics import checks as check

PACKAGES = ("xarray", "h5netcdf", "loky", "cloudpickle")
MISSING = 'studies need the extra studies: pip install "flexph[studies]"'


def needed_xarray() -> ModuleType:
    """Module xarray. Raises ModuleNotFoundError, naming the extra, if a package of studies is missing."""
    try:
        xarray, *_ = map(import_module, PACKAGES)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(f"{MISSING} ({error.name} is missing)", name=error.name) from error
    return xarray


@dataclass(frozen=True)
class StudyFunction:
    """Function of a study with its name, a hash of its source, and the units of its parameters."""

    function: Callable[..., Any]
    name: str
    source: str
    units: Mapping[str, str] = field(default_factory=dict)
    defaults: Mapping[str, Any] = field(default_factory=dict)
    kinds: Mapping[str, Parameter] = field(default_factory=dict)
    """Descriptions of the parameters of a case by name; empty for functions."""

    def pickled(self) -> bytes:
        """Pickled function for workers, with its code if workers cannot import it.

        Raises ValueError if the function cannot be pickled.
        """
        import cloudpickle

        try:
            return bytes(cloudpickle.dumps(self.function))
        except Exception as error:  # pickle may raise anything
            said = f"{type(error).__name__}: {error}"
            raise ValueError(f"function must be picklable for other processes, got {self.name}: {said}") from error

    def identity(self) -> dict[str, str]:
        """Name and source of the function and version of flexph, which must be unchanged if a study is resumed."""
        return {"function": self.name, "source": self.source, "flexph": version("flexph")}

    def check_names(self, given: Iterable[str]) -> None:
        """Raise ValueError for unknown parameters, and for missing mandatory ones."""
        try:
            names = self.kinds or inspect.signature(self.function).parameters
        except ValueError as error:  # functions written in C
            raise ValueError(f"function must have an inspectable signature, got {self.name}") from error
        kinds = {name: getattr(entry, "kind", None) for name, entry in names.items()}
        if inspect.Parameter.VAR_KEYWORD not in kinds.values():
            for name in given:
                check.lookup("parameter", name, names, self.name)
        for name, entry in names.items():
            named = kinds[name] in (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
            if named and entry.default is inspect.Parameter.empty and name not in given:
                raise ValueError(f"samples must have the parameter {name!r}, which {self.name} needs")

    def check_columns(self, columns: Mapping[str, Iterable[Any]]) -> None:
        """Raise ValueError for parameters that the function does not have, and for values that a case does not accept.

        ``columns``: values by parameter.
        """
        self.check_names(columns)
        for name, values in columns.items() if self.kinds else ():
            for value in values:
                _check_kind(self.kinds[name], value)


def subject(given: Callable[..., Any] | str) -> StudyFunction:
    """Subject of a function, or of a case by its name. Raises ValueError if there is no case with this name."""
    needed_xarray()
    if isinstance(given, str):
        cases = find_cases()
        if given not in cases:
            raise ValueError(no_case(given, cases))
        case = cases[given]
        return StudyFunction(
            partial(run_of_case, given),
            f"case {given}",
            _source(case.run),
            {p.name: p.option.unit for p in case.parameters if p.option.unit},
            {p.name: p.default for p in case.parameters},
            {p.name: p for p in case.parameters},
        )
    return StudyFunction(given, _name(given), _source(given))


def run_of_case(name: str, **parameters: Any) -> Mapping[str, Any]:
    """Summary numbers of a run of an installed case.

    If the case computes these numbers only while it writes its files, the files are written to a temporary folder.
    """
    case: Case[Any] = find_cases()[name]
    result = case.run(**{p.name: p.default for p in case.parameters} | parameters)
    if case.figures is not None:
        return case.figures(result)
    with tempfile.TemporaryDirectory(prefix="flexph-") as folder:
        return case.write(result, Path(folder))


def _check_kind(parameter: Parameter, value: Any) -> None:
    if parameter.choices:
        check.choice(parameter.name, value, parameter.choices)
        return
    kind = (int, float) if parameter.kind is float else parameter.kind
    if not isinstance(value, kind) or isinstance(value, bool) != (parameter.kind is bool):
        raise ValueError(f"{parameter.name} must be {parameter.kind.__name__}, got {check.shown(value)}")


def _name(function: Callable[..., Any]) -> str:
    if isinstance(function, partial):
        fixed = [*map(repr, function.args), *(f"{name}={value!r}" for name, value in function.keywords.items())]
        return f"{_name(function.func)}({', '.join(fixed)})"
    if not hasattr(function, "__qualname__") and hasattr(function, "__wrapped__"):
        return f"{type(function).__qualname__}({_name(function.__wrapped__)})"
    return getattr(function, "__qualname__", type(function).__qualname__)


def _source(function: Callable[..., Any]) -> str:
    """Hash of the source of a function and of the settings of its wrappers; empty if neither is available."""
    settings = []
    while isinstance(function, partial) or hasattr(function, "__wrapped__"):
        settings += [_text(setting) for setting in getattr(function, "settings", ())]
        function = function.func if isinstance(function, partial) else function.__wrapped__
    try:
        text = inspect.getsource(function)
    except (OSError, TypeError):  # defined at a prompt, or compiled
        text = ""
    text = "\n".join([text, *settings]) if settings else text
    return hashlib.sha256(text.encode()).hexdigest()[:16] if text else ""


def _text(setting: Any) -> str:
    """Text of a setting, equal in all processes; for a function its name and source."""
    if isinstance(setting, np.ndarray):
        return repr(setting.tolist())
    return f"{_name(setting)} {_source(setting)}" if callable(setting) else repr(setting)
