"""Immutable values: what is computed of one once, mappings that cannot be changed, and how they travel."""

from __future__ import annotations

import copyreg
import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, is_dataclass
from functools import cache, cached_property
from pathlib import PurePath
from pickle import PicklingError
from types import FunctionType, MappingProxyType
from typing import Any, NamedTuple, Self, TypeVar

from numpy import ndarray, number

Value = TypeVar("Value")
Key = TypeVar("Key")
LIGHT = 1000
"""Entries of arrays and lists that recipes keep."""
BY_VALUE = ("cloudpickle", "dill")
"""Modules that send functions by their code."""


class UnknownName(KeyError):
    """A name that is not in a mapping, with those that are."""

    def __str__(self) -> str:  # that of KeyError is in quotation marks
        return str(self.args[0])


class Named(dict[Key, Value]):
    """Values by name; the error for a name that is not there lists those that are.

    ``why`` says of names that one would expect, in words, why they are not there.
    """

    def __init__(self, values: Mapping[Key, Value], what: str = "", why: Mapping[Key, str] | None = None) -> None:
        super().__init__(values)
        self.what, self.why = what, dict(why) if why else {}

    def __missing__(self, name: Any) -> Value:
        names, reason = ", ".join(map(repr, self)) or "none", self.why.get(name, "")
        raise UnknownName(f"no {name!r}{self.what and ' in '}{self.what}: {reason}{reason and '; '}there are {names}")

    def __reduce__(self) -> tuple[Any, ...]:
        return Named, (dict(self), self.what, self.why)


class NamedFields:
    """Base of frozen dataclasses whose fields are values by name: what is not there is told with the field."""

    def __post_init__(self) -> None:
        for name, values in vars(self).items():
            if type(values) is dict:
                object.__setattr__(self, name, Named(values, name))


def read_only(mapping: Mapping[Key, Value]) -> Mapping[Key, Value]:
    """A copy of a mapping that nobody can change; it is pickled and copied as any other value."""
    return MappingProxyType(Named(mapping))


def _reduced(mapping: MappingProxyType[Any, Any]) -> tuple[Any, ...]:
    return read_only, (dict(mapping),)


copyreg.pickle(MappingProxyType, _reduced)  # Python's own pickles do not know it


class Remade:
    """Base of values with functions that the library writes: they travel as the public call that made them.

    Its arguments are values, and functions of the user. Copies in the same process share the functions.
    """

    def __reduce_ex__(self, protocol: Any) -> Any:
        asking = sys._getframe(1).f_globals.get("__name__", "")
        call = self.__dict__.get("_call")
        if asking == "copy":
            return super().__reduce_ex__(protocol)
        if not any(word in asking for word in BY_VALUE):
            _refuse_local_functions(self, call)
        return super().__reduce_ex__(protocol) if call is None else (_again, call)

    def made_by(self, function: Callable[..., Any], arguments: tuple[Any, ...], named: Mapping[str, Any]) -> None:
        """Note the call that made the value, the first time; a class as first argument is that of a class method."""
        if "_call" in self.__dict__ or any(self is given for given in (*arguments, *named.values())):
            return
        if arguments and isinstance(arguments[0], type):
            function, arguments = getattr(arguments[0], function.__name__), arguments[1:]
        self.__dict__["_call"] = (function, arguments, dict(named))


def _refuse_local_functions(value: Any, call: tuple[Any, ...] | None) -> None:
    """Raise PicklingError for a function of the user that other processes do not know by name."""
    if call is None:
        owner, given = type(value).__name__, value.__dict__
    else:
        texts = [repr(a) for a in call[1] if isinstance(a, str)]
        owner, given = f"{call[0].__name__}({', '.join(texts[:1])})", _by_name(*call)
    for name, entry in given.items():
        if isinstance(entry, FunctionType) and "<" in entry.__qualname__:
            raise PicklingError(
                f"{name} of {owner} cannot travel: {entry.__qualname__} is a lambda or a function in a function; "
                "define it by def in a module, or send it by cloudpickle"
            )


def _by_name(function: Callable[..., Any], arguments: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
    return dict(zip(_parameters(function), arguments, strict=False)) | dict(named)


@cache
def _parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    return tuple(inspect.signature(function).parameters)


def _again(function: Callable[..., Any], arguments: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
    return function(*arguments, **named)


@dataclass(frozen=True, eq=False)
class Recipe:
    """The public call that made a value: the function by module and name, and its arguments as light values.

    Of a large array or anything that holds some, such as a mesh, only the name of its type is kept, as :class:`Lost`;
    of a described value its own recipe.
    """

    function: str
    arguments: Mapping[str, Any]


class Lost(NamedTuple):
    """The place of an argument that is not kept."""

    kind: str


class Described:
    """Base of values that know by which public call they were made; a value that is computed from one does not.

    The recipe is no part of the value: it is not compared, and ``dataclasses.replace`` leaves it out.
    """

    @property
    def recipe(self) -> Recipe | None:
        """The outermost public call that made the value."""
        return self.__dict__.get("_recipe")

    def made_by(self, function: Callable[..., Any], arguments: tuple[Any, ...], named: Mapping[str, Any]) -> None:
        """Note the call; one that returns what it was given makes nothing."""
        given = _by_name(function, arguments, named)
        if not any(self is value for value in given.values()):
            light = {name: _light(value) for name, value in given.items()}
            self.__dict__["_recipe"] = Recipe(f"{function.__module__}.{function.__qualname__}", light)


def _light(value: Any) -> Any:
    """An argument as a recipe keeps it."""
    match value:
        case Described():
            return value.recipe or Lost(type(value).__name__)
        case Mapping():
            return {name: _light(item) for name, item in value.items()}
        case list() | tuple() if len(value) <= LIGHT:
            return tuple(map(_light, value))
        case ndarray() if value.size <= LIGHT:
            return value
        case bool() | int() | float() | str() | PurePath() | number() | None:
            return value
    if is_dataclass(value) and not isinstance(value, type) and value.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        return Lost(type(value).__name__) if any(isinstance(_light(v), Lost) for v in vars(value).values()) else value
    return Lost(type(value).__name__)


class Memo:
    """Base of immutable values of which others compute something costly: arrays of kernels, names of accounts, solvers.

    The memo is no part of the value: it is neither compared nor pickled, and a value that is computed from this one
    starts without it.
    """

    def once(self, compute: Callable[[Self], Value]) -> Value:
        """``compute(self)``, called the first time and kept; ``compute`` is a function or class, which is the key."""
        memo: dict[Any, Any] = self.__dict__.setdefault("_memo", {})
        if compute not in memo:
            memo[compute] = compute(self)
        return memo[compute]

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled and copied."""
        computed = _computed(type(self))  # type: ignore[arg-type]  # mypy takes classes for unhashable
        return {name: value for name, value in self.__dict__.items() if name not in computed}


class once(cached_property[Value]):
    """A property of a :class:`Memo` that is computed once; where it is known it costs what an attribute does."""


@cache
def _computed(kind: type) -> frozenset[str]:
    """Names under which values of a class keep what is computed of them."""
    return frozenset({"_memo", *(n for k in kind.__mro__ for n, member in vars(k).items() if isinstance(member, once))})
