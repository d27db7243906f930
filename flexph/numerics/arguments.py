"""Arguments of public functions and values, checked by their annotations.

What an annotation says is asked of the argument, and no more: signs, shapes and names are checks of the function.

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
"""

from __future__ import annotations

import inspect
import os
import sys
import types
import typing
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import cache, partial, wraps
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar, Union

import numpy as np
from scipy import sparse

from . import checks as check
from .arrays import BoolArray, ComplexArray
from .memo import Described, Remade
from .threads import one_thread

Public = TypeVar("Public", bound=Callable[..., Any])
Check = Callable[[str, Any], Any]
HUGE = 1e75
"""Numbers whose fourth power is beyond double precision."""


def checked(public: Public) -> Public:
    """The same function, method or class, which raises ValueError for arguments that their annotations do not allow."""
    if isinstance(public, type):
        public.__init__ = _checked(public.__init__, public)  # type: ignore[misc]
        return public
    return typing.cast(Public, _checked(public, public))


def computing(unknowns: Callable[[Any], int]) -> Callable[[Public], Public]:
    """As :func:`checked`, of what computes with dense matrices: ``unknowns(first argument)``, if few, in one thread."""

    def of(public: Public) -> Public:
        return typing.cast(Public, _checked(public, public, unknowns))

    return of


def _checked(
    function: Callable[..., Any], owner: Any, unknowns: Callable[[Any], int] | None = None
) -> Callable[..., Any]:
    @cache  # annotations are read at the first call, when all names in them are there
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
        if isinstance(result, Remade | Described):
            result.made_by(door, arguments, named)
        return result

    return door


def stack_level(calls: int) -> int:
    """The ``stacklevel`` of a warning that many calls up, which does not count the doors in between."""
    level, frame = 1, sys._getframe(1)
    while calls > 1 and frame.f_back is not None:
        level, frame = level + 1, frame.f_back
        calls -= frame.f_code.co_name != "door" or frame.f_code.co_filename != __file__
    return level


def _wrong_call(error: Exception, call: tuple[int, Mapping[str, Any]], function: Any, owner: Any) -> TypeError | None:
    """The error of arguments that a function does not have, or lacks: what it takes, and how.

    ``call`` is the number of those by place, and those by name.
    """
    if not isinstance(error, TypeError) or error.__traceback__ is None or error.__traceback__.tb_next is not None:
        return None
    known, (count, named) = dict(inspect.signature(function).parameters), call
    count -= known.pop("self", None) is not None
    takes = f"it takes {', '.join(known) or 'none'}"
    places = [n for n, p in known.items() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    variadic = {p.kind for p in known.values()}
    told = f"{owner.__name__}()"
    if unknown := [n for n in named if n not in known and inspect.Parameter.VAR_KEYWORD not in variadic]:
        others = sorted(kind.__name__ for kind in _kin(owner) if unknown[0] in inspect.signature(kind).parameters)
        hint = f"; {_or(others)} would take it" if others else ""
        return TypeError(f"{told} has no argument {unknown[0]!r}: {takes}{hint}")
    if count > len(places) and inspect.Parameter.VAR_POSITIONAL not in variadic:
        rest = [f"{n}=…" for n in known if n not in places]
        hint = f"; write {', '.join(rest)}{' for the others' if places else ''}" if rest else ""
        allowed = f"{_or(places, 'and')} without names" if places else "no argument without its name"
        return TypeError(f"{told} takes {allowed}, got {count}{hint}")
    if twice := [n for n in places[:count] if n in named]:
        return TypeError(f"{told} got {twice[0]!r} twice, by its place and by its name")
    without = [n for n, p in known.items() if p.default is p.empty and p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    missing = [n for n in without if n not in named and n not in places[:count]]
    return TypeError(f"{told} lacks {_or(missing, 'and')}: {takes}") if missing else None


def _kin(owner: Any) -> set[type]:
    """Public classes of the same abstract base."""
    bases: list[Any] = (
        [base for base in owner.__mro__[1:] if inspect.isabstract(base)] if isinstance(owner, type) else []
    )
    near = [kind for base in bases for kind in base.__subclasses__() if kind is not owner]
    return {kind for kind in near if not inspect.isabstract(kind) and not kind.__name__.startswith("_")}


def _reason(error: Exception, given: Mapping[str, Any]) -> Exception | None:
    """What an argument did that only shows in use: functions that take or return something else, and huge numbers."""
    if error.__traceback__ is not None and error.__traceback__.tb_next is None:
        return None  # names or numbers of arguments that the function does not have
    what = f"{type(error).__name__}: {error}"
    if isinstance(error, OverflowError | np.linalg.LinAlgError):
        huge = [name for name, value in given.items() if isinstance(value, float | int) and abs(value) > HUGE]
        return ValueError(f"{_or(huge)} must be smaller, the calculation overflows") if huge else None
    functions = [name for name, value in given.items() if callable(value)]
    if not functions:
        return None
    return ValueError(f"{_or(functions)} must be a function as documented, its call or its value ended in {what}")


def _checks_of(function: Any, owner: Any) -> tuple[tuple[tuple[str, Check | None], ...], dict[str, Check]]:
    """Checks by place and by name."""
    hints = typing.get_type_hints(owner if hasattr(owner, "__dataclass_fields__") else function)
    names = {name: _arm(hint).check for name, hint in hints.items() if name != "return" and hint is not Any}
    places: list[tuple[str, Check | None]] = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            places.append((parameter.name, names.get(parameter.name)))
    return tuple(places), names


class _Arm(NamedTuple):
    """What an annotation asks: in words, whether a value is meant for it at all, and what is wrong with it then."""

    words: str
    meant: Callable[[Any], bool]
    check: Check
    remedy: str = ""
    """Where such values come from."""
    in_arrays: bool = False
    """Whether such values may stand in an array, as names may not."""


def _arm(hint: Any) -> _Arm:
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if origin in (Union, types.UnionType):
        return _one_of(inner)
    if origin is Literal:
        return _one_word(inner)
    kind = origin or hint
    if kind in _PLAIN:
        return _PLAIN[kind]
    if kind is os.PathLike:
        return _PLAIN[Path]
    if hint == BoolArray:
        return _arm(Sequence[bool])
    if hint == ComplexArray:
        return _Arm("a list of numbers", _is_many, partial(_numbers, complex_too=True), in_arrays=True)
    if kind is np.ndarray or _is_list_of_numbers(hint):
        return _Arm("a list of numbers", _is_many, _numbers, in_arrays=True)
    if kind is Callable:
        return _of("a function", callable)
    if kind in (Sequence, Collection, Iterable, list, tuple):
        return _entries(kind, inner)
    if kind is Mapping or kind is dict:
        return _entries_by_name(inner)
    if isinstance(kind, type) and not getattr(kind, "_is_protocol", False):
        return _one_of_kind(kind)
    return _ANYTHING


def _is_list_of_numbers(hint: Any) -> bool:
    inner = typing.get_args(hint)
    number = inner in ((float,), (float, ...)) or (len(inner) == 1 and _is_list_of_numbers(inner[0]))
    return typing.get_origin(hint) in (Sequence, list, tuple) and number


def _one_word(known: tuple[Any, ...]) -> _Arm:
    """A literal: one of some words or numbers."""
    if all(isinstance(word, str) for word in known):
        return _Arm(
            _or([repr(w) for w in known]),
            lambda v: isinstance(v, str) and v in known,
            lambda n, v: check.choice(n, v, known),
        )
    return _of(_or([repr(word) for word in known]), lambda v: _is_one(v) and v in known)


def _of(words: str, meant: Callable[[Any], bool]) -> _Arm:
    """A kind of values that have nothing more to check; what is given may say in ``misplaced`` where it belongs."""

    def ask(name: str, value: Any) -> None:
        if not meant(value):
            misplaced = getattr(type(value), "misplaced", "")
            raise ValueError(f"{name} must be {words}, got {check.shown(value)}{misplaced and ': '}{misplaced}")

    return _Arm(words, meant, ask)


def _one_of_kind(kind: type) -> _Arm:
    """A value of a class, which may say in ``remedy`` where its values come from."""
    words, remedy = _article(kind.__name__), f", {kind.remedy}" if hasattr(kind, "remedy") else ""

    def ask(name: str, value: Any) -> None:
        if not isinstance(value, kind):
            raise ValueError(f"{name} must be {words}{remedy}, got {type(value).__name__}")

    return _Arm(words, lambda v: isinstance(v, kind), ask, remedy)


def _one_of(hints: tuple[Any, ...]) -> _Arm:
    is_path = any((typing.get_origin(hint) or hint) in (Path, os.PathLike) for hint in hints)
    all_arms = [arm for arm in map(_arm, hints) if not (is_path and arm is _PLAIN[str])]
    arms = list({arm.words if arm.in_arrays else arm: arm for arm in all_arms}.values())
    if _ANYTHING in arms:
        return _ANYTHING
    given = [arm for arm in arms if arm is not _PLAIN[type(None)]]

    def ask(name: str, value: Any) -> None:
        meant = [arm for arm in arms if arm.meant(value)] or given[:1] * (len(given) == 1)
        for arm in meant:
            try:
                return arm.check(name, value)
            except ValueError as error:
                if len(meant) == 1 or "must be finite" in str(error):
                    raise
        raise ValueError(f"{name} must be {words}{remedy}, got {check.shown(value)}")

    words, remedy = _or(list(dict.fromkeys(arm.words for arm in given))), "".join(arm.remedy for arm in given)
    return _Arm(words, lambda v: any(arm.meant(v) for arm in arms), ask, in_arrays=any(arm.in_arrays for arm in arms))


def _entries(kind: Any, inner: tuple[Any, ...]) -> _Arm:
    """A list of values, or a tuple of given length."""
    each = [_arm(hint) for hint in inner if hint is not ...] or [_ANYTHING]
    length = len(inner) if kind is tuple and ... not in inner else None
    ordered = kind in (Sequence, list, tuple)
    if length:
        words = f"a pair of {_many(each[0])}" if length == 2 else f"{length} entries, the first {each[0].words}"
    else:
        words = f"a list of {_many(each[0])}"

    def meant(value: Any) -> bool:
        sized = kind is Iterable or (hasattr(value, "__getitem__") if ordered else isinstance(value, Collection))
        return _is_many(value) and sized and (each[0].in_arrays or not hasattr(value, "dtype"))

    def ask(name: str, value: Any) -> None:
        if not meant(value) or (length is not None and len(value) != length):
            raise ValueError(f"{name} must be {words}, got {check.shown(value)}")
        if isinstance(value, Collection) and each != [_ANYTHING]:
            for k, entry in enumerate(value):
                each[k if length else 0].check(f"{name}[{k}]", entry)

    return _Arm(words, meant, ask)


def _entries_by_name(inner: tuple[Any, ...]) -> _Arm:
    """A dict."""
    key, entry = [_arm(hint) for hint in inner] or [_ANYTHING, _ANYTHING]
    words = f"a dict of names with {_many(entry)}"

    def ask(name: str, value: Any) -> None:
        if not isinstance(value, Mapping):
            raise ValueError(f"{name} must be {words}, got {check.shown(value)}")
        for k, v in value.items():
            key.check(f"a name of {name}", k)
            entry.check(f"{name}[{k!r}]", v)

    return _Arm(words, lambda v: isinstance(v, Mapping), ask)


def _numbers(name: str, value: Any, *, complex_too: bool = False) -> None:
    if not np.ndim(check.numbers(name, value, complex_too=complex_too)):
        raise ValueError(f"{name} must be a list of numbers, got {check.shown(value)}")


def _is_many(value: Any) -> bool:
    """Whether a value has entries that a list may have: a matrix of scipy has none."""
    single = isinstance(value, str | bytes | Mapping) or sparse.issparse(value) or getattr(value, "ndim", 1) == 0
    return isinstance(value, Iterable) and not single


def _is_one(value: Any) -> bool:
    return (
        (hasattr(type(value), "__float__") or isinstance(value, complex))
        and not isinstance(value, bool | np.bool_)
        and not _is_many(value)
    )


def _many(arm: _Arm) -> str:
    known = {"anything": "values", "a text": "names", "True or False": "truth values"}
    if arm.words in known or " or " in arm.words:
        return known.get(arm.words, f"entries that are {arm.words}")
    noun = arm.words.split(maxsplit=1)[-1]
    if "list" in noun:
        return noun.replace("list", "lists")
    if noun.endswith(("ed", "ic")):  # Sampled, Hyperelastic
        return f"{noun} values"
    return f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"


def _article(noun: str) -> str:
    return f"{'an' if noun[0] in 'AEIOU' else 'a'} {noun}"


def _or(words: list[str], last: str = "or") -> str:
    return f" {last} ".join(filter(None, (", ".join(words[:-1]), words[-1])))


_ANYTHING = _Arm("anything", lambda v: True, lambda n, v: None, in_arrays=True)
_PLAIN: dict[Any, _Arm] = {
    Any: _ANYTHING,
    type(None): _Arm("None", lambda v: v is None, lambda n, v: None),
    float: _Arm("a number", _is_one, check.number, in_arrays=True),
    int: _Arm("a whole number", _is_one, check.whole, in_arrays=True),
    bool: _of("True or False", lambda v: isinstance(v, bool | np.bool_))._replace(in_arrays=True),
    str: _of("a text", lambda v: isinstance(v, str)),
    slice: _Arm("a slice", lambda v: True, lambda n, v: None),  # checks.spans says of what
    Path: _Arm("a path", lambda v: isinstance(v, str | os.PathLike), check.path),
}
