"""Decorators of public functions: checks of arguments by their annotations, and one thread for small matrices.

Only the type of an argument is checked here; functions check signs, shapes and names themselves.

    ======================== ===============================================================================
    ``float``                a finite real number: no text, truth value or date
    ``int``, ``bool``        a whole number; True or False
    ``str``, ``Path``        a text; a path or a text that can be one
    ``Array``                finite real numbers, in an array or in lists, none of them masked
    ``Sequence[T]``          a list of T, ``Mapping[str, T]`` a dict of T by name
    ``Callable``             a function
    ``Literal["a", "b"]``    one of these words
    a class                  one of its values
    ``A | B | None``         one of these; ``Any`` is checked by the function itself
    ======================== ===============================================================================

OpenBLAS distributes products from 64 × 64 on among its threads. Their synchronisation takes longer than such a
product, and a hundred times longer if other processes are running. NumPy and SciPy bring an OpenBLAS each.
"""

from __future__ import annotations

import inspect
import sys
import typing
import warnings
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from functools import cache, wraps
from threading import Lock, get_ident
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

from .annotations import Check, condition_of, listed_words
from .memo import PickledByCall, WithRecipe

LARGE = 1000
"""Number of unknowns of dense matrices from which on several threads may be faster."""


class _OneThread(AbstractContextManager[None]):
    """Context in which linear algebra of the process runs in one thread.

    It may be entered repeatedly; the limit holds until the Python thread that entered first leaves its outermost block.
    Other Python threads change nothing meanwhile: they would read the limit and, restoring it at their end, make it
    permanent.
    """

    def __init__(self) -> None:
        import scipy.linalg  # noqa: F401 - the controller finds libraries that are loaded

        self.controller, self.lock = ThreadpoolController().select(user_api="blas"), Lock()
        self.owner, self.depth = 0, 0
        self.limit: Any = None

    def __enter__(self) -> None:
        with self.lock:
            self.owner = self.owner or get_ident()
            if self.owner != get_ident():
                return
            self.depth += 1
            if self.depth == 1 and any(library.num_threads > 1 for library in self.controller.lib_controllers):
                self.limit = self.controller.limit(limits=1)
                self.limit.__enter__()

    def __exit__(self, *error: Any) -> None:
        with self.lock:
            if self.owner != get_ident():
                return
            self.depth -= 1
            if self.depth == 0:
                self.owner, limit, self.limit = 0, self.limit, None
                if limit is not None:
                    limit.__exit__(*error)


@cache
def _of_process() -> _OneThread:
    return _OneThread()


def one_thread(unknowns: int = 0) -> AbstractContextManager[None]:
    """Context in which linear algebra runs in one thread; with a thousand unknowns or more it changes nothing."""
    return _of_process() if unknowns < LARGE else nullcontext()


Public = TypeVar("Public", bound=Callable[..., Any])
HUGE = 1e75
"""Size of numbers whose fourth power overflows."""
PASSED = {"flexph", "fem", "rigid", "numpy", "scipy", *sys.stdlib_module_names}
"""Packages that warnings never point to."""


def checked(public: Public) -> Public:
    """Decorate a function, method or class so that it raises ValueError for arguments that violate its annotations."""
    if isinstance(public, type):
        public.__init__ = _checked(public.__init__, public)  # type: ignore[misc]
        return public
    return typing.cast(Public, _checked(public, public))


def computing(unknowns: Callable[[Any], int]) -> Callable[[Public], Public]:
    """Decorator as :func:`checked`, which also limits linear algebra to one thread for small problems.

    ``unknowns(first argument)`` is the number of unknowns, by which :func:`one_thread` decides.
    """

    def of(public: Public) -> Public:
        return typing.cast(Public, _checked(public, public, unknowns))

    return of


def _checked(
    function: Callable[..., Any], owner: Any, unknowns: Callable[[Any], int] | None = None
) -> Callable[..., Any]:
    @cache  # at the first call, when all names in annotations are defined
    def checks() -> tuple[tuple[tuple[str, Check | None], ...], dict[str, Check]]:
        return _checks_of(function, owner)

    def threads(arguments: tuple[Any, ...], named: Mapping[str, Any]) -> AbstractContextManager[None]:
        if unknowns is None:
            return nullcontext()
        first = arguments[0] if arguments else named.get(checks()[0][0][0])
        return nullcontext() if first is None else one_thread(unknowns(first))

    @wraps(function)
    def door(*arguments: Any, **named: Any) -> Any:
        places, names = checks()
        for (name, ask), value in zip(places, arguments, strict=False):
            if ask is not None:
                ask(name, value)
        for name, value in named.items():
            if name in names:
                names[name](name, value)
        try:
            with threads(arguments, named):
                result = function(*arguments, **named)
        except (TypeError, AttributeError, LookupError, OverflowError, np.linalg.LinAlgError) as error:
            given = named | {name: value for (name, _), value in zip(places, arguments, strict=False)}
            reason = _wrong_call(error, (len(arguments), named), function, owner) or _reason(error, given)
            if reason is None:
                raise
            raise reason from error
        if isinstance(result, (PickledByCall, WithRecipe)):
            result.made_by(door.public, arguments, named)  # type: ignore[attr-defined]
        return result

    door.public = door  # type: ignore[attr-defined]  # the object that the module exports; another decorator may replace it
    return door


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn, with the line of user code that called the library as the location.

    The location is the innermost line outside of the packages flexph, fem and rigid, of NumPy, SciPy and the standard
    library.
    """
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in PASSED:
        frame = frame.f_back
    names = frame.f_globals
    registry = names.setdefault("__warningregistry__", {})
    warnings.warn_explicit(text, category, frame.f_code.co_filename, frame.f_lineno, names.get("__name__"), registry)


def _wrong_call(error: Exception, call: tuple[int, Mapping[str, Any]], function: Any, owner: Any) -> TypeError | None:
    """TypeError for a call with unknown, missing or repeated arguments; it lists the right ones. None for other errors.

    ``call`` are the number of positional arguments and the named arguments, ``error`` is the exception of the call, and
    ``owner`` the function or class whose name is shown.
    """
    if not isinstance(error, TypeError) or error.__traceback__ is None or error.__traceback__.tb_next is not None:
        return None
    known, (count, named) = dict(inspect.signature(function).parameters), call
    count -= known.pop("self", None) is not None
    takes = f"it takes {', '.join(known) or 'none'}"
    places = [n for n, p in known.items() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    variadic = {p.kind for p in known.values()}
    title = f"{owner.__name__}()"
    if unknown := [n for n in named if n not in known and inspect.Parameter.VAR_KEYWORD not in variadic]:
        others = sorted(
            kind.__name__ for kind in _sibling_classes(owner) if unknown[0] in inspect.signature(kind).parameters
        )
        hint = f"; {listed_words(others)} would take it" if others else ""
        return TypeError(f"{title} has no argument {unknown[0]!r}: {takes}{hint}")
    if count > len(places) and inspect.Parameter.VAR_POSITIONAL not in variadic:
        rest = [f"{n}=…" for n in known if n not in places]
        hint = f"; write {', '.join(rest)}{' for the others' if places else ''}" if rest else ""
        allowed = f"{listed_words(places, 'and')} without names" if places else "no argument without its name"
        return TypeError(f"{title} takes {allowed}, got {count}{hint}")
    if twice := [n for n in places[:count] if n in named]:
        return TypeError(f"{title} got {twice[0]!r} twice, by position and by name")
    without = [n for n, p in known.items() if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    missing = [n for n in without if n not in named and n not in places[:count]]
    return TypeError(f"{title} lacks {listed_words(missing, 'and')}: {takes}") if missing else None


def _sibling_classes(owner: Any) -> set[type]:
    """Public classes, other than ``owner``, that are derived from the same abstract base class."""
    bases: list[Any] = (
        [base for base in owner.__mro__[1:] if inspect.isabstract(base)] if isinstance(owner, type) else []
    )
    near = [kind for base in bases for kind in base.__subclasses__() if kind is not owner]
    return {kind for kind in near if not inspect.isabstract(kind) and not kind.__name__.startswith("_")}


def _reason(error: Exception, given: Mapping[str, Any]) -> Exception | None:
    """ValueError that explains an exception by the arguments of a call; None if they do not explain it.

    Reasons are a function among the arguments whose call failed, or a number so large that the calculation overflows.
    """
    if error.__traceback__ is not None and error.__traceback__.tb_next is None:
        return None  # unknown names or a wrong number of arguments
    what = f"{type(error).__name__}: {error}"
    if isinstance(error, OverflowError | np.linalg.LinAlgError):
        huge = [name for name, value in given.items() if isinstance(value, float | int) and abs(value) > HUGE]
        return ValueError(f"{listed_words(huge)} must be smaller, the calculation overflows") if huge else None
    functions = [name for name, value in given.items() if callable(value)]
    if not functions:
        return None
    return ValueError(
        f"{listed_words(functions)} must be a function as documented, but its call or its value raised {what}"
    )


def _checks_of(function: Any, owner: Any) -> tuple[tuple[tuple[str, Check | None], ...], dict[str, Check]]:
    """Checks of a function's arguments: those of positional arguments as pairs of name and check, and all by name."""
    hints = typing.get_type_hints(owner if hasattr(owner, "__dataclass_fields__") else function)
    names = {name: condition_of(hint).check for name, hint in hints.items() if name != "return" and hint is not Any}
    places: list[tuple[str, Check | None]] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            places.append((parameter.name, names.get(parameter.name)))
    return tuple(places), names
