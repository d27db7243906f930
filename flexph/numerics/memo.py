"""What is made of an immutable value once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self, TypeVar

Value = TypeVar("Value")


class Memo:
    """Base of immutable values of which others make something costly: arrays of kernels, names of accounts, solvers.

    What is made is no part of the value: it is neither compared nor pickled, and a value that is made from this one
    starts without it.
    """

    def once(self, make: Callable[[Self], Value]) -> Value:
        """``make(self)``, made at the first call and kept; ``make`` is a function or class, which is the key."""
        memo: dict[Any, Any] = self.__dict__.setdefault("_memo", {})
        if make not in memo:
            memo[make] = make(self)
        return memo[make]

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled and copied."""
        return {name: value for name, value in self.__dict__.items() if name != "_memo"}
