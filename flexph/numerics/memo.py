"""What is computed of an immutable value once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, cached_property
from typing import Any, Self, TypeVar

Value = TypeVar("Value")


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
