"""Published cases: options, checks, and the search for installed cases."""

from __future__ import annotations

import ast
import inspect
import math
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import KW_ONLY, dataclass
from difflib import get_close_matches
from importlib.abc import InspectLoader
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Generic, Literal, TypeVar, get_args, get_origin, get_type_hints

GROUP = "flexph.cases"
"""Entry-point group under which a distribution registers its cases."""

LISTED = 10
"""Largest number of cases that an error message about an unknown case lists."""

RESERVED = frozenset({"out", "force", "checkpoint", "resume", "report", "checks", "help", "quiet", "verbose"})
"""Option names of the command line, which no parameter of a case may have."""

Kind = Literal["published", "closed form", "independent code", "theorem", "bound", "not comparable"]
"""Kinds of references, see :class:`Check`."""

_Result = TypeVar("_Result")


@dataclass(frozen=True)
class Option:
    """Description of a parameter of a case, as in `elements: Annotated[int, Option("elements of the rod")] = 8`.

    `unit` is the SI unit of the value, empty for values without a unit.
    """

    help: str
    unit: str = ""


@dataclass(frozen=True)
class Parameter:
    """Parameter of a case's run function; `kind` is int, float, str, bool or a `Literal` of strings.

    Raises ValueError for a reserved name, for any other kind, and for a default of another kind.
    """

    name: str
    kind: Any
    default: Any
    option: Option

    def __post_init__(self) -> None:
        if self.name in RESERVED:
            raise ValueError(f"parameter {self.name!r}: the command line reserves this name")
        if not self.choices and self.kind not in (int, float, str, bool):
            raise ValueError(f"parameter {self.name!r} is neither int, float, str, bool nor a Literal of strings")
        if not self._admits_default():
            raise ValueError(f"parameter {self.name!r}: the default {self.default!r} is not of its type")

    @property
    def choices(self) -> tuple[str, ...]:
        """Admissible values of a `Literal` of strings; empty for every other kind."""
        values = get_args(self.kind) if get_origin(self.kind) is Literal else ()
        return values if all(isinstance(value, str) for value in values) else ()

    def _admits_default(self) -> bool:
        if self.choices:
            return self.default in self.choices
        # True is an int and 2 serves as a float, but a flag is a flag and nothing else is.
        admissible = (int, float) if self.kind is float else self.kind
        return isinstance(self.default, admissible) and isinstance(self.default, bool) == (self.kind is bool)


@dataclass(frozen=True)
class Check:
    """Comparison of a computed number with a reference, with the kind of the reference and a tolerance.

    The `kind` of the reference is one of

    - `published`: the source prints the number, with the digits that are compared;
    - `closed form`: a formula or a series of the source, evaluated for the data of the case;
    - `independent code`: the result of another program, library or formulation;
    - `theorem`: a theoretical value for any data: zero for a conserved quantity, an order of convergence, a count;
    - `bound`: an upper bound for the computed number rather than a value to match;
    - `not comparable`: the source prints the number for other data; both numbers are shown, without a verdict.

    `tolerance` bounds `|computed − reference|`, divided by `|reference|` if `relative`; for a `bound` it is the allowed
    excess; a check that is `not comparable` has no tolerance. Raises ValueError for another kind, if `reference` is not
    finite, if it is zero although the difference is relative, or if `tolerance` is not positive and finite, as such a
    check could never fail, or never pass.
    """

    quantity: str
    source: str
    reference: float
    computed: float
    _: KW_ONLY
    kind: Kind
    tolerance: float | None
    relative: bool = True

    def __post_init__(self) -> None:
        if self.kind not in get_args(Kind):
            raise ValueError(f"{self.quantity}: the kind must be one of {get_args(Kind)}, not {self.kind!r}")
        if not math.isfinite(self.reference):
            raise ValueError(f"{self.quantity}: the reference must be finite, not {self.reference}")
        if self.relative and self.reference == 0:
            raise ValueError(f"{self.quantity}: a difference relative to zero is undefined, use relative=False")
        if self.kind == "not comparable":
            if self.tolerance is not None:
                raise ValueError(
                    f"{self.quantity}: a reference that is not comparable has no tolerance, got {self.tolerance}"
                )
        elif self.tolerance is None or not 0 < self.tolerance < math.inf:
            raise ValueError(f"{self.quantity}: the tolerance must be positive and finite, not {self.tolerance}")

    @property
    def difference(self) -> float:
        """`computed − reference`, divided by `|reference|` if `relative`."""
        difference = float(self.computed - self.reference)
        return difference / abs(self.reference) if self.relative else difference

    @property
    def passed(self) -> bool | None:
        """True if `|difference| ≤ tolerance`, for a bound `difference ≤ tolerance`; None if not comparable.

        A computed NaN does not pass.
        """
        if self.tolerance is None:
            return None
        return (self.difference if self.kind == "bound" else abs(self.difference)) <= self.tolerance

    @property
    def verdict(self) -> str:
        """`ok`, `FAIL`, or `-` if not comparable."""
        return {True: "ok", False: "FAIL", None: "-"}[self.passed]


@dataclass(frozen=True)
class Cover:
    """Time and direction of view of the picture of a case in a gallery.

    Parameters
    ----------
    at : float, optional
        Time [s] of the scene; by default one of large motion.
    towards : tuple of float, optional
        Direction (3,) from the scene to the viewer.

    Raises
    ------
    ValueError
        For a time that is not finite, or a direction that is not three finite numbers, or is zero.
    """

    at: float | None = None
    towards: tuple[float, float, float] | None = None

    def __post_init__(self) -> None:
        if self.at is not None and not math.isfinite(self.at):
            raise ValueError(f"at must be a finite time, got {self.at}")
        if self.towards is not None:
            direction = self.towards
            if len(direction) != 3 or not all(map(math.isfinite, direction)) or not any(direction):
                raise ValueError(f"towards must be a direction (x, y, z), got {direction}")


@dataclass(frozen=True)
class Case(Generic[_Result]):
    """Published system that `flexph run` computes, defined by functions.

    - `run(*, ...)` computes and has no side effects. All parameters are keyword-only, have a default, and are annotated
      as `Annotated[type, Option(...)]`. The first line of its docstring describes the case.
    - `write(result, folder)` writes tables and pictures into an empty folder and returns the numbers of the
      summary, as JSON values.
    - `checks()` yields the comparisons with published numbers, closed forms, other programs and theorems.
    - `needs` names the optional modules that `write` imports, so that a missing one is reported before computing.
    - `system()`, optional, returns the system for `flexph analyze`: a `PHDAE`, `LinearPHDAE`,
      `flexph.dirac.PortHamiltonian` or `SwitchingPHDAE`, to be analysed at its sample, or a pair of it and
      inputs by port.
    - `figures(result)`, optional, returns the numbers that `write` returns, without writing anything.
    - `scenes(result)`, optional, returns the `flexph.scenes.Scene`s for `flexph view` by name;
      the default is a scene of each run (`flexph.Solution`) in the result.
    - `cover`, optional, is the time and direction of view of its picture in a gallery.

    Raises ValueError if `run` has no docstring or a parameter that cannot become an option.
    """

    run: Callable[..., _Result]
    write: Callable[[_Result, Path], Mapping[str, Any]]
    checks: Callable[[], Iterable[Check]]
    needs: tuple[str, ...] = ()
    system: Callable[[], Any] | None = None
    figures: Callable[[_Result], Mapping[str, Any]] | None = None
    scenes: Callable[[_Result], Mapping[str, Any]] | None = None
    cover: Cover = Cover()

    def __post_init__(self) -> None:
        if not self.summary:
            raise ValueError(f"{self.run!r} needs a docstring, whose first line describes the case")
        _ = self.parameters

    @property
    def summary(self) -> str:
        """First line of the docstring of `run`."""
        return (inspect.getdoc(self.run) or "").partition("\n")[0]

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Parameters of `run`, in their order."""
        hints = get_type_hints(self.run, include_extras=True)
        return tuple(_parameter(entry, hints) for entry in inspect.signature(self.run).parameters.values())


def find_cases() -> Mapping[str, Case[Any]]:
    """Cases of all installed distributions by name.

    A case is imported when it is accessed: a list of names needs no imports, and a case whose import fails does not
    affect other cases. The access raises TypeError if the entry point does not refer to a `Case`. Raises ValueError if
    two distributions register different cases under one name.
    """
    return _Installed(_entries())


def no_case(name: str, cases: Iterable[str]) -> str:
    """Error message for an unknown name: nearest names, and all names or the command that lists them."""
    known = sorted(cases)
    near = " or ".join(map(repr, get_close_matches(name, known)))
    hint = f"did you mean {near}? " if near else ""
    listed = ", ".join(map(repr, known)) or "none"
    return f"no case {name!r}: {hint}there are {listed if len(known) <= LISTED else f'{len(known)}, see flexph list'}"


def written_summaries() -> dict[str, str]:
    """Summaries of cases by name, read from their source files without an import, where this is possible."""
    summaries = {name: _written_summary(entry.module, entry.attr) for name, entry in _entries().items()}
    return {name: summary for name, summary in summaries.items() if summary}


def _entries() -> dict[str, EntryPoint]:
    entries: dict[str, EntryPoint] = {}
    for entry in entry_points(group=GROUP):
        other = entries.setdefault(entry.name, entry)
        if other.value != entry.value:
            raise ValueError(f"two cases are named {entry.name!r}: {other.value} and {entry.value}")
    return entries


class _Installed(Mapping[str, Case[Any]]):
    """Mapping of cases by name, each of which is imported when it is accessed."""

    def __init__(self, entries: Mapping[str, EntryPoint]) -> None:
        self._entries = entries

    def __getitem__(self, name: str) -> Case[Any]:
        entry = self._entries[name]
        case = entry.load()
        if not isinstance(case, Case):
            raise TypeError(f"case {name!r}: {entry.value} is a {type(case).__name__}, not a Case")
        return case

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, name: object) -> bool:
        # The method of the mixin would look the case up, and so import it.
        return name in self._entries


def _written_summary(module: str, name: str) -> str:
    """First line of the docstring of ``run`` in the source ``name = Case(run, …)``; empty for any other source."""
    try:
        spec = find_spec(module)
        source = spec.loader.get_source(module) if spec and isinstance(spec.loader, InspectLoader) else None
        tree = ast.parse(source or "")
    except (ImportError, SyntaxError, ValueError):  # the error is reported when the case is loaded
        return ""
    summaries = {node.name: ast.get_docstring(node) or "" for node in tree.body if isinstance(node, ast.FunctionDef)}
    for node in tree.body:
        match node:
            case ast.Assign([ast.Name(assigned)], ast.Call(ast.Name("Case"), [ast.Name(run), *_])) if assigned == name:
                return summaries.get(run, "").partition("\n")[0]
    return ""


def _parameter(entry: inspect.Parameter, hints: Mapping[str, Any]) -> Parameter:
    if entry.kind is not entry.KEYWORD_ONLY or entry.default is entry.empty:
        raise ValueError(f"parameter {entry.name!r} of a case must be keyword-only and have a default")
    hint = hints.get(entry.name)
    kind, *extras = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    options = [extra for extra in extras if isinstance(extra, Option)]
    if len(options) != 1:
        raise ValueError(f"parameter {entry.name!r} of a case must be annotated as Annotated[type, Option(...)]")
    return Parameter(entry.name, kind, entry.default, options[0])
