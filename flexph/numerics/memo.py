"""What is computed of an immutable value once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, Self, TypeVar, overload

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
        return {name: value for name, value in self.__dict__.items() if name != "_memo"}


class once(Generic[Value]):
    """A property of a :class:`Memo` that is computed once."""

    def __init__(self, compute: Callable[[Any], Value]) -> None:
        self.compute = compute
        self.__doc__ = compute.__doc__

    @overload
    def __get__(self, value: None, owner: type) -> Self: ...

    @overload
    def __get__(self, value: Memo, owner: type) -> Value: ...

    def __get__(self, value: Memo | None, owner: type) -> Self | Value:
        return self if value is None else value.once(self.compute)
