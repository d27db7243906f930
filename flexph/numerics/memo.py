"""Tools for immutable values: cached quantities, read-only mappings, and pickling by the call that made them."""

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
"""Largest number of entries of an array or list that is stored with the call that made an object."""
BY_VALUE = ("cloudpickle", "dill")
"""Modules that pickle functions by their code."""


class UnknownName(KeyError):
    """Error for an unknown name in a mapping, which lists the known ones."""

    def __str__(self) -> str:  # KeyError would add quotation marks
        return str(self.args[0])


class Named(dict[Key, Value]):
    """Dictionary whose error for an unknown name lists the known ones.

    ``what`` says what is named. ``why`` maps names that a user might expect to the reasons for their absence.
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
    """Base of frozen dataclasses; converts their dictionaries to :class:`Named`, whose errors name the field."""

    def __post_init__(self) -> None:
        for name, values in vars(self).items():
            if type(values) is dict:
                object.__setattr__(self, name, Named(values, name))


def read_only(mapping: Mapping[Key, Value]) -> Mapping[Key, Value]:
    """Read-only copy of a mapping, which can be pickled and copied."""
    return MappingProxyType(Named(mapping))


def _reduced(mapping: MappingProxyType[Any, Any]) -> tuple[Any, ...]:
    return read_only, (dict(mapping),)


copyreg.pickle(MappingProxyType, _reduced)  # pickle does not support it by itself


class PickledByCall:
    """Base of values that hold functions of the library; they are pickled as the public call that made them.

    The arguments of the call are values and user functions. Copies in the same process share the functions.
    """

    def __reduce_ex__(self, protocol: Any) -> Any:
        asking = sys._getframe(1).f_globals.get("__name__", "")
        call = self.__dict__.get("_call")
        if asking == "copy":
            return super().__reduce_ex__(protocol)
        if not any(word in asking for word in BY_VALUE):
            _refuse_local_functions(self, call)
        return super().__reduce_ex__(protocol) if call is None else (_remade, call)

    def made_by(self, function: Callable[..., Any], arguments: tuple[Any, ...], named: Mapping[str, Any]) -> None:
        """Record the call that made the value, unless one is recorded or the call only returned one of its arguments.

        If the first argument is a class, ``function`` is one of its class methods.
        """
        if "_call" in self.__dict__ or any(self is given for given in (*arguments, *named.values())):
            return
        if arguments and isinstance(arguments[0], type):
            function, arguments = getattr(arguments[0], function.__name__), arguments[1:]
        self.__dict__["_call"] = (function, arguments, dict(named))


def _refuse_local_functions(value: Any, call: tuple[Any, ...] | None) -> None:
    """Raise PicklingError if an argument of the call that made a value is a lambda or nested function.

    Other processes cannot import such functions by name. Without a call the attributes of the value are tested instead.
    """
    if call is None:
        owner, given = type(value).__name__, value.__dict__
    else:
        texts = [repr(a) for a in call[1] if isinstance(a, str)]
        owner, given = f"{call[0].__name__}({', '.join(texts[:1])})", _by_name(*call)
    for name, entry in given.items():
        if isinstance(entry, FunctionType) and "<" in entry.__qualname__:
            raise PicklingError(
                f"{name} of {owner} cannot be pickled: {entry.__qualname__} is a lambda or a nested function; "
                "define it by def in a module, or use cloudpickle"
            )


def _by_name(function: Callable[..., Any], arguments: tuple[Any, ...], named: Mapping[str, Any]) -> dict[str, Any]:
    return dict(zip(_parameters(function), arguments, strict=False)) | dict(named)


@cache
def _parameters(function: Callable[..., Any]) -> tuple[str, ...]:
    return tuple(inspect.signature(function).parameters)


def _remade(function: Callable[..., Any], arguments: tuple[Any, ...], named: Mapping[str, Any]) -> Any:
    return function(*arguments, **named)


@dataclass(frozen=True, eq=False)
class Recipe:
    """Name of the public function that made a value, and lightweight copies of its arguments.

    Large arrays, and values such as meshes that contain large arrays, are replaced by :class:`OmittedArgument` with the
    name of their type. Values that have a recipe of their own are replaced by this recipe.
    """

    function: str
    arguments: Mapping[str, Any]


class OmittedArgument(NamedTuple):
    """Placeholder for an argument too large for a recipe."""

    kind: str


class WithRecipe:
    """Base of values that remember, as their recipe, the public call that made them.

    The recipe is not part of the value: it is not compared, and ``dataclasses.replace`` drops it.
    """

    @property
    def recipe(self) -> Recipe | None:
        """Recipe of the outermost public call that made the value; None if unknown."""
        return self.__dict__.get("_recipe")

    def made_by(self, function: Callable[..., Any], arguments: tuple[Any, ...], named: Mapping[str, Any]) -> None:
        """Record a call as the recipe of this value, unless the call only returned one of its arguments."""
        given = _by_name(function, arguments, named)
        if not any(self is value for value in given.values()):
            light = {name: _light_copy(value) for name, value in given.items()}
            self.__dict__["_recipe"] = Recipe(f"{function.__module__}.{function.__qualname__}", light)


def _light_copy(value: Any) -> Any:
    """Lightweight copy of an argument for a recipe: the value itself, its own recipe, or its type if it is large."""
    match value:
        case WithRecipe():
            return value.recipe or OmittedArgument(type(value).__name__)
        case Mapping():
            return {name: _light_copy(item) for name, item in value.items()}
        case list() | tuple() if len(value) <= LIGHT:
            return tuple(map(_light_copy, value))
        case ndarray() if value.size <= LIGHT:
            return value
        case bool() | int() | float() | str() | PurePath() | number() | None:
            return value
    if is_dataclass(value) and not isinstance(value, type) and value.__dataclass_params__.frozen:  # type: ignore[attr-defined]
        return (
            OmittedArgument(type(value).__name__)
            if any(isinstance(_light_copy(v), OmittedArgument) for v in vars(value).values())
            else value
        )
    return OmittedArgument(type(value).__name__)


class Memo:
    """Base of immutable values that cache quantities computed from them, such as kernel arrays or solvers.

    The cache is not part of the value: it is neither compared nor pickled, and values derived from this one start
    without it.
    """

    def once(self, compute: Callable[[Self], Value]) -> Value:
        """Result of ``compute(self)``, computed at the first call and cached; ``compute`` is a function or class."""
        memo: dict[Any, Any] = self.__dict__.setdefault("_memo", {})
        if compute not in memo:
            memo[compute] = compute(self)
        return memo[compute]

    def __getstate__(self) -> dict[str, Any]:
        """State for pickling and copying, without cached quantities."""
        computed = _computed(type(self))  # type: ignore[arg-type]  # mypy takes classes for unhashable
        return {name: value for name, value in self.__dict__.items() if name not in computed}


class once(cached_property[Value]):
    """Property of a :class:`Memo` that is computed once and then as fast as an attribute.

    Unlike :func:`functools.cached_property` of Python 3.11 it takes no lock, which costs a microsecond. Threads that
    compute it at the same time all get the first result.
    """

    def __get__(self, instance: Any, owner: type[Any] | None = None) -> Any:
        if instance is None:
            return self
        return instance.__dict__.setdefault(self.attrname, self.func(instance))


@cache
def _computed(kind: type) -> frozenset[str]:
    """Names of the attributes in which values of a class cache quantities."""
    return frozenset({"_memo", *(n for k in kind.__mro__ for n, member in vars(k).items() if isinstance(member, once))})
