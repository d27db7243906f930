"""Cache for functions of index arrays, which mechanisms of the same structure share."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, wraps
from typing import Any

import numpy as np

MOST, FEW = 128, 20_000
"""Number of results in the cache of a function, and largest number of entries of arguments that are cached."""


class _Arguments:
    """Arguments of a function as a key of its cache; equal if their arrays have equal entries."""

    def __init__(self, given: tuple[Any, ...]) -> None:
        self.given = given
        self._key = tuple((x.shape, x.dtype.char, x.tobytes()) if isinstance(x, np.ndarray) else x for x in given)

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Arguments) and self._key == other._key


def cached(function: Callable[..., tuple[Any, ...]]) -> Callable[..., tuple[Any, ...]]:
    """Decorator that caches the results of a function of index arrays for its last arguments; results are read-only."""

    @lru_cache(maxsize=MOST)
    def compute(arguments: _Arguments) -> tuple[Any, ...]:
        results = function(*arguments.given)
        for result in results:
            if isinstance(result, np.ndarray):
                result.setflags(write=False)
        return results

    @wraps(function)
    def wrapper(*given: Any) -> tuple[Any, ...]:
        entries = sum(x.size for x in given if isinstance(x, np.ndarray))
        return function(*given) if entries > FEW else compute(_Arguments(given))

    return wrapper
