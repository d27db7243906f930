"""Observations: values of a function of time and state at the saved times of a run."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...numerics.arrays import Array
from ...numerics.step_failed import TimedError
from ...results.state_view import StateView


class Observer:
    """Calls a function at each saved time once the state there is final: the next step may redefine algebraic states.

    Does nothing without a function. If the function raises or its value does not fit, it raises ValueError with the
    time, and is not called again.
    """

    def __init__(
        self,
        function: Callable[[float, Any], Any] | None,
        view: Callable[[Array], StateView],
        *,
        start: tuple[float, Array],
    ) -> None:
        self._function, self._view = function, view
        self._values: list[Array | None] = []
        self._shape: tuple[int, ...] | None = None
        self._latest: tuple[float, Array] | None = start

    @property
    def active(self) -> bool:
        """True if there is a function to call."""
        return self._function is not None

    def saved(self, time: float, x: Array) -> None:
        """Note a saved state; the previous one is final now."""
        self.settle()
        self._latest = (time, x)

    def redefine(self, x: Array) -> None:
        """Replace the state at the last saved time."""
        if self._latest is not None:
            self._latest = (self._latest[0], x)

    def settle(self) -> None:
        """Call the function at the last saved state, which is final."""
        if self._latest is None or self._function is None:
            return
        (time, x), self._latest = self._latest, None
        function, self._function = self._function, None
        self._values.append(self._value(function, time, x))
        self._function = function

    @property
    def latest(self) -> tuple[float, Array] | None:
        """Last saved time and state if they are not final, else None."""
        return self._latest

    @property
    def count(self) -> int:
        """Number of calls so far."""
        return len(self._values)

    def since(self, first: int) -> dict[str, Any]:
        """Number of calls from the given one on, and their values (k, …), NaN for None; None without any value yet."""
        count = self.count - first
        return {"count": count, "values": None if self._shape is None else self._rows(self._values[first:], count)}

    def restore(self, values: Sequence[Array | None], latest: tuple[float, Array] | None) -> None:
        """Restore the values, and the last saved state if it is not final."""
        shapes = [value.shape for value in values if value is not None]
        self._values, self._shape, self._latest = list(values), shapes[0] if shapes else None, latest

    def _value(self, function: Callable[[float, Any], Any], time: float, x: Array) -> Array | None:
        try:
            value = function(time, self._view(x))
        except Exception as error:
            raise TimedError(f"at t = {time:.6g} s: observe raised {type(error).__name__}: {error}") from error
        if value is None:
            return None
        try:
            observed = np.array(value, dtype=float)
        except (TypeError, ValueError):
            raise TimedError(
                f"at t = {time:.6g} s: observe must return a number, an array of numbers or None, got {value!r}"
            ) from None
        if self._shape not in (None, observed.shape):
            raise TimedError(f"at t = {time:.6g} s: observe returned the shape {observed.shape}, before {self._shape}")
        self._shape = observed.shape
        return observed

    def observations(self, count: int) -> Array:
        """Values at the first ``count`` saved times (count, …), NaN where there is none; (0,) without any value."""
        return np.zeros(0) if self._shape is None else self._rows(self._values, count)

    def _rows(self, values: Sequence[Array | None], count: int) -> Array:
        rows = np.full((count, *(self._shape or ())), np.nan)
        for k, value in enumerate(values[:count]):
            if value is not None:
                rows[k] = value
        return rows
