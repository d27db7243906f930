"""Checks of values by type annotations, with their descriptions for messages."""

from __future__ import annotations

import os
import types
import typing
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal, NamedTuple, Union

import numpy as np
from scipy import sparse

from . import checks as check
from .arrays import BoolArray, ComplexArray

Check = Callable[[str, Any], Any]


class Condition(NamedTuple):
    """Condition that an annotation sets for values: text that describes them, test of their kind, and check.

    ``meant`` is True for values of the right kind, such as a number, which may still be wrong. ``check(name, value)``
    raises ValueError for a wrong value.
    """

    words: str
    meant: Callable[[Any], bool]
    check: Check
    remedy: str = ""
    """Hint where such values come from."""
    in_arrays: bool = False
    """True if such values may be entries of an array."""


def condition_of(hint: Any) -> Condition:
    """Condition for the values of a type hint."""
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
        return condition_of(Sequence[bool])
    if hint == ComplexArray:
        return Condition("a list of numbers", _is_many, partial(_numbers, complex_too=True), in_arrays=True)
    if kind is np.ndarray or _is_list_of_numbers(hint):
        return Condition("a list of numbers", _is_many, _numbers, in_arrays=True)
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


def _one_word(known: tuple[Any, ...]) -> Condition:
    """Condition of a Literal type: a value must be one of the words or numbers ``known``."""
    if all(isinstance(word, str) for word in known):
        return Condition(
            listed_words([repr(w) for w in known]),
            lambda v: isinstance(v, str) and v in known,
            lambda n, v: check.choice(n, v, known),
        )
    return _of(listed_words([repr(word) for word in known]), lambda v: _is_one(v) and v in known)


def _of(words: str, meant: Callable[[Any], bool]) -> Condition:
    """Condition that a value passes the test ``meant``, which ``words`` describe.

    The error for other values ends with the attribute ``misplaced`` of their class, a text, if there is one.
    """

    def ask(name: str, value: Any) -> None:
        if not meant(value):
            misplaced = getattr(type(value), "misplaced", "")
            raise ValueError(f"{name} must be {words}, got {check.shown(value)}{misplaced and ': '}{misplaced}")

    return Condition(words, meant, ask)


def _one_of_kind(kind: type) -> Condition:
    """Condition that a value is an instance of a class.

    The error for other values contains the attribute ``remedy`` of the class, which says where such values come from.
    """
    words, remedy = _article(kind.__name__), f", {kind.remedy}" if hasattr(kind, "remedy") else ""

    def ask(name: str, value: Any) -> None:
        if not isinstance(value, kind):
            shown = f" {check.shown(value)}" if isinstance(value, int | float | str) else ""
            raise ValueError(f"{name} must be {words}{remedy}, got {type(value).__name__}{shown}")

    return Condition(words, lambda v: isinstance(v, kind), ask, remedy)


def _one_of(hints: tuple[Any, ...]) -> Condition:
    """Condition of a union: a value must pass the check of one of the types to whose kind it belongs."""
    is_path = any((typing.get_origin(hint) or hint) in (Path, os.PathLike) for hint in hints)
    kinds = [kind for kind in map(condition_of, hints) if not (is_path and kind is _PLAIN[str])]
    kinds = list({kind.words if kind.in_arrays else kind: kind for kind in kinds}.values())
    if _ANYTHING in kinds:
        return _ANYTHING
    given = [kind for kind in kinds if kind is not _PLAIN[type(None)]]

    def ask(name: str, value: Any) -> None:
        meant = [kind for kind in kinds if kind.meant(value)] or given[:1] * (len(given) == 1)
        for kind in meant:
            try:
                return kind.check(name, value)
            except ValueError as error:
                if len(meant) == 1 or "must be finite" in str(error):
                    raise
        raise ValueError(f"{name} must be {words}{remedy}, got {check.shown(value)}{check.unit_hint(value)}")

    words, remedy = listed_words(list(dict.fromkeys(kind.words for kind in given))), "".join(k.remedy for k in given)
    in_arrays = any(kind.in_arrays for kind in kinds)
    return Condition(words, lambda v: any(kind.meant(v) for kind in kinds), ask, in_arrays=in_arrays)


def _entries(kind: Any, inner: tuple[Any, ...]) -> Condition:
    """Condition of a list whose entries have one type, or of a tuple with a type for each entry.

    ``kind`` is the class of the annotation, ``inner`` are the types.
    """
    each = [condition_of(hint) for hint in inner if hint is not ...] or [_ANYTHING]
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
        if (
            not meant(value)
            and not length
            and each != [_ANYTHING]
            and not isinstance(value, str)
            and each[0].meant(value)
        ):
            raise ValueError(f"{name} must be {words}, got a single one: write it as a list, [ … ]")
        if not meant(value) or (length is not None and len(value) != length):
            raise ValueError(f"{name} must be {words}, got {check.shown(value)}")
        if isinstance(value, Collection) and each != [_ANYTHING]:
            for k, entry in enumerate(value):
                each[k if length else 0].check(f"{name}[{k}]", entry)

    return Condition(words, meant, ask)


def _entries_by_name(inner: tuple[Any, ...]) -> Condition:
    """Condition of a dict whose keys and values have the types ``inner``."""
    key, entry = [condition_of(hint) for hint in inner] or [_ANYTHING, _ANYTHING]
    words = f"a dict of names with {_many(entry)}"

    def ask(name: str, value: Any) -> None:
        if not isinstance(value, Mapping):
            raise ValueError(f"{name} must be {words}, got {check.shown(value)}")
        for k, v in value.items():
            key.check(f"a name of {name}", k)
            entry.check(f"{name}[{k!r}]", v)

    return Condition(words, lambda v: isinstance(v, Mapping), ask)


def _numbers(name: str, value: Any, *, complex_too: bool = False) -> None:
    if not np.ndim(check.numbers(name, value, complex_too=complex_too)):
        raise ValueError(f"{name} must be a list of numbers, got {check.shown(value)}")


def _is_many(value: Any) -> bool:
    """True for values that can be iterated over, except texts, mappings, sparse matrices and arrays without axes."""
    if type(value) is np.ndarray:  # the usual case
        return value.ndim > 0
    single = isinstance(value, str | bytes | Mapping) or sparse.issparse(value) or getattr(value, "ndim", 1) == 0
    return isinstance(value, Iterable) and not single


def _is_one(value: Any) -> bool:
    return (
        (hasattr(type(value), "__float__") or isinstance(value, complex))
        and not isinstance(value, bool | np.bool_)
        and not _is_many(value)
    )


def _many(condition: Condition) -> str:
    known = {"anything": "values", "a text": "names", "True or False": "truth values"}
    if condition.words in known or " or " in condition.words:
        return known.get(condition.words, f"entries that are {condition.words}")
    noun = condition.words.split(maxsplit=1)[-1]
    if "list" in noun:
        return noun.replace("list", "lists")
    if noun.endswith(("ed", "ic")):  # Sampled, Hyperelastic
        return f"{noun} values"
    return f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"


def _article(noun: str) -> str:
    return f"{'an' if noun[0] in 'AEIOU' else 'a'} {noun}"


def listed_words(words: list[str], last: str = "or") -> str:
    """Text that joins words by commas, with the word ``last`` instead of the last comma."""
    return f" {last} ".join(filter(None, (", ".join(words[:-1]), words[-1])))


_ANYTHING = Condition("anything", lambda v: True, lambda n, v: None, in_arrays=True)
_PLAIN: dict[Any, Condition] = {
    Any: _ANYTHING,
    type(None): Condition("None", lambda v: v is None, lambda n, v: None),
    float: Condition("a number", _is_one, check.number, in_arrays=True),
    int: Condition("a whole number", _is_one, check.whole, in_arrays=True),
    bool: _of("True or False", lambda v: isinstance(v, bool | np.bool_))._replace(in_arrays=True),
    str: _of("a text", lambda v: isinstance(v, str)),
    slice: Condition("a slice", lambda v: True, lambda n, v: None),  # checks.spans names the owner
    Path: Condition("a path", lambda v: isinstance(v, str | os.PathLike), check.path),
}
