"""External inputs: constants, tables and functions of time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..numerics import checks as check
from ..numerics.arrays import Array
from .piecewise import Adjustable, PiecewiseConstant

Input = Callable[[float], Any] | Sequence[float] | float | tuple[Sequence[float], Any]


class Table:
    """Piecewise linear input u(t) from a table: ascending times (k,) [s], values (k,) or (k, m).

    ``inputs={"motor": (times, values)}`` makes a table, as does ``Table(times, values)``. A time outside the table
    raises ValueError.
    """

    def __init__(self, times: Any, values: Any, name: str = "table") -> None:
        self.times = check.array(f"times of {name}", times, (None,))
        self.values = check.array(f"values of {name}", values, (None,) * max(np.ndim(values), 1))
        if self.times.size < 2 or np.any(np.diff(self.times) <= 0.0):
            raise ValueError(f"times of {name} must be at least two, ascending")
        if len(self.values) != self.times.size:
            raise ValueError(
                f"{name} must have one row of values for each of its {self.times.size} times, got {len(self.values)}"
            )
        self.name = name

    def __call__(self, time: float) -> Array:
        """Values (m,) at a time [s], or a number for a table of numbers."""
        first, last = self.times[0], self.times[-1]
        if not first <= time <= last:
            raise ValueError(f"{self.name} covers {first:.6g} to {last:.6g} s, and was evaluated at t = {time:.6g} s")
        k = min(int(np.searchsorted(self.times, time, side="right")), self.times.size - 1)
        share = (time - self.times[k - 1]) / (self.times[k] - self.times[k - 1])
        return (1.0 - share) * self.values[k - 1] + share * self.values[k]

    def at_times(self, times: Array) -> Array:
        """Values at many times [s], (times, m), with linear extrapolation beyond the table.

        They are equal to the last bit to calls with single times.
        """
        k = self._pieces(times)
        share, values = (times - self.times[k - 1]) / (self.times[k] - self.times[k - 1]), self.values
        values = values[:, None] if values.ndim == 1 else values
        return (1.0 - share)[:, None] * values[k - 1] + share[:, None] * values[k]

    def with_values(self, values: Any) -> Table | None:
        """Copy of the table with other values; None unless these are finite numbers of the same shape and type."""
        try:
            new_values = np.array(values)
        except ValueError:
            return None
        if (
            new_values.dtype != self.values.dtype
            or new_values.shape != self.values.shape
            or not np.isfinite(new_values).all()
        ):
            return None
        table = object.__new__(Table)
        table.times, table.values, table.name = self.times, new_values, self.name
        return table

    def by_values(self, times: Array, weights: Array) -> Array:
        """Derivatives (k, m) of a weighted sum Σ w·u(t) over given times, with respect to the values of the table.

        The weights w are (times, m); k is the number of times of the table.
        """
        k = self._pieces(times)
        share = ((times - self.times[k - 1]) / (self.times[k] - self.times[k - 1]))[:, None]
        out = np.zeros((self.times.size, weights.shape[1]))
        np.add.at(out, k - 1, (1.0 - share) * weights)
        np.add.at(out, k, share * weights)
        return out

    def _pieces(self, times: Array) -> Array:
        """Index, for each given time, of the time in the table that ends the interval around it."""
        return np.clip(np.searchsorted(self.times, times, side="right"), 1, self.times.size - 1)

    def covers(self, times: Array) -> bool:
        """True if all times [s] are within the table."""
        return bool(self.times[0] <= times.min() and times.max() <= self.times[-1])


def _is_table(given: Any) -> bool:
    """True for a pair whose first entry is a list of times; a pair of numbers is a constant vector."""
    return isinstance(given, tuple) and len(given) == 2 and np.ndim(given[0]) == 1


def _copied(value: Any) -> Any:
    """Copy a function's value if it is an array, as functions may reuse their arrays."""
    return value if isinstance(value, (tuple, float)) else np.array(value, dtype=float)


class Forcing:
    """External inputs of all ports of a system as one vector u (m,), at any time.

    ``slices`` are the columns of each port in u, ``inputs`` the constants, tables and functions by port; ports without
    input have zeros. If ``dim`` is given, an input of ``dim`` entries is repeated for all nodes of its port. Raises
    ValueError for an unknown port.
    """

    def __init__(self, slices: Mapping[str, slice], inputs: Mapping[str, Input], dim: int | None = None) -> None:
        self.slices = slices
        for name in inputs:
            check.lookup("external port", name, self.slices)
        self._given: dict[str, Any] = {
            name: Table(given[0], given[1], f"input {name!r}") if _is_table(given) else given  # type: ignore[index]
            for name, given in inputs.items()
        }
        self._dim = dim
        self._size = sum(s.stop - s.start for s in self.slices.values())
        self._constant: Array | None = None

    @property
    def tables(self) -> dict[str, Table]:
        """Tables among the inputs, by port."""
        return {name: given for name, given in self._given.items() if isinstance(given, Table)}

    def with_inputs(self, inputs: Mapping[str, Input]) -> Forcing:
        """Copy with other inputs of the ports.

        The times of a new table are not checked again if they are equal to the times of the old table of its port.
        """
        tables = {}
        for name, given in inputs.items():
            known = self._given.get(name)
            if isinstance(known, Table) and _is_table(given) and np.array_equal(known.times, given[0]):  # type: ignore[index]
                tables[name] = known.with_values(given[1]) or given  # type: ignore[index]
        return Forcing(self.slices, {**inputs, **tables}, self._dim)

    @property
    def varying(self) -> Array:
        """Mask (m,) of the inputs that are functions of time."""
        varying = np.zeros(self._size, dtype=bool)
        for name, given in self._given.items():
            varying[self.slices[name]] = callable(given)
        return varying

    @property
    def jumping(self) -> Array:
        """Mask (m,) of the inputs that may jump during a run: piecewise constant ones, and those that sliders set."""
        jumping = np.zeros(self._size, dtype=bool)
        for name, given in self._given.items():
            jumping[self.slices[name]] = isinstance(given, Adjustable | PiecewiseConstant)
        return jumping

    def at_times(self, times: Array, ends: tuple[float, float] | None = None) -> Array:
        """Inputs u at many times, (times, m), or a single row (1, m) if no input changes after the first time.

        An input that sliders set counts as constant if it was last set at or before the first time. A table that covers
        the interval ``ends`` of the steps is extrapolated linearly to times outside of this interval.
        """
        functions, first = {name: given for name, given in self._given.items() if callable(given)}, float(times[0])
        constant = self._constants(first)[None].copy()
        for name, given in list(functions.items()):
            if isinstance(given, Adjustable) and given.since <= first:
                constant[0, self.slices[name]] = functions.pop(name).values
        if not functions:
            return constant
        u = np.repeat(constant, len(times), axis=0)
        for name, function in functions.items():
            u[:, self.slices[name]] = self._sampled(name, function, times.tolist(), ends)
        return u

    def at(self, time: float) -> Array:
        """Inputs at a time [s], zero for ports without one."""
        u = self._constants(time).copy()
        for name, given in self._given.items():
            if callable(given):
                u[self.slices[name]] = self._asked(name, given, time)
        return u

    def before(self, times: Array) -> Array:
        """Inputs (times, m) just before given times, at which piecewise constant inputs and sliders may jump."""
        u = np.array(np.broadcast_to(self.at_times(times), (len(times), self._size)))
        for name, given in self._given.items():
            if isinstance(given, Adjustable | PiecewiseConstant):
                values, part = given.before(times), self.slices[name]
                u[:, part] = np.tile(values, (part.stop - part.start) // values.shape[1])  # one density for all nodes
        return u

    def _constants(self, time: float) -> Array:
        """Vector (m,) of the inputs that are constants, with zeros for functions of time.

        It is computed once and read-only; ``time`` [s] is for error messages.
        """
        if self._constant is None:
            constant = np.zeros(self._size)
            for name, given in self._given.items():
                if not callable(given):
                    constant[self.slices[name]] = self._entries(name, given, time)
            self._constant = constant
        return self._constant

    def _sampled(
        self, name: str, function: Callable[[float], Any], times: list[float], ends: tuple[float, float] | None
    ) -> Array:
        """Values (k, entries) of the input of port ``name``, a function of time, at k times.

        Tables and piecewise constant inputs are evaluated at all times at once, other functions one by one. For
        ``ends`` see :meth:`at_times`.
        """
        part = self.slices[name]
        many = np.array(times)
        if isinstance(function, Adjustable | PiecewiseConstant) or (
            isinstance(function, Table)
            and many.size
            and function.values.ndim <= 2
            and function.covers(many if ends is None else np.array(ends))
        ):
            values = function.at_times(many)
            if values.shape[1] == part.stop - part.start:
                return values
        try:
            asked = [value if type(value := function(t)) is float else _copied(value) for t in times]
            values = np.array(asked, dtype=float)
        except Exception:  # evaluated one by one below, so that the error names the time
            values = np.zeros(0)
        values = values[:, None] if values.ndim == 1 else values
        if values.shape == (len(times), part.stop - part.start) and np.isfinite(values).all():
            return values
        return np.array([self._asked(name, function, t) for t in times])

    def _asked(self, name: str, function: Callable[[float], Any], time: float) -> Array:
        return self._entries(name, check.value_of(f"input {name!r}", function, time), time)

    def _entries(self, name: str, given: Any, time: float) -> Array:
        """Convert a value of the input of port ``name`` to a finite vector with the entries of this port.

        Raises ValueError for another number of entries, or values that are not finite at ``time`` [s].
        """
        value, part = _numbers(name, given), self.slices[name]
        size = part.stop - part.start
        dim = self._dim or size
        if size > dim and value.shape == (dim,):
            value = np.tile(value, size // dim)  # one density for all elements of a load port
        if value.size != size or (value.ndim == 2 and value.shape != (size // dim, dim)):
            raise ValueError(f"input {name!r} must have {size} entries, got shape {value.shape}")
        if not np.isfinite(value).all():
            raise ValueError(f"input {name!r} at t = {time} s must be finite, got {value}")
        return value.ravel()


def _numbers(name: str, given: Any) -> Array:
    try:
        return np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise ValueError(f"input {name!r} must be numbers, got {given!r}") from None
