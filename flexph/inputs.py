"""External inputs as users give them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from . import checks as check
from .space import Array

Input = Callable[[float], Any] | Sequence[float] | float


class Forcing:
    """External inputs as one vector; raises ValueError for a port that does not exist."""

    def __init__(self, slices: Mapping[str, slice], inputs: Mapping[str, Input], dim: int | None = None) -> None:
        self._slices = slices
        for name in inputs:
            check.lookup("external port", name, self._slices)
        self._given, self._dim = dict(inputs), dim
        self._size = sum(s.stop - s.start for s in self._slices.values())

    def at(self, time: float) -> Array:
        """The inputs at a time [s], zero where none is given."""
        u = np.zeros(self._size)
        for name, given in self._given.items():
            part = self._slices[name]
            size = part.stop - part.start
            value = _numbers(name, given(time) if callable(given) else given)
            dim = self._dim or size
            if size > dim and value.shape == (dim,):
                value = np.tile(value, size // dim)  # one force per length for all elements of a load port
            if value.size != size or (value.ndim == 2 and value.shape != (size // dim, dim)):
                raise ValueError(f"input {name!r} must have {size} entries, got shape {value.shape}")
            if not np.all(np.isfinite(value)):
                raise ValueError(f"input {name!r} at t = {time} s must be finite, got {value}")
            u[part] = value.ravel()
        return u


def _numbers(name: str, given: Any) -> Array:
    try:
        return np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"input {name!r} must be numbers, got {given!r}") from None
