"""Motions of joints and points as piecewise polynomials."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.memo import Memo, once


@checked
@dataclass(frozen=True, eq=False, repr=False)
class Motion(Memo):
    """Motion x(t) as a piecewise polynomial, which is constant before its begin and after its end.

    A call with a time returns the value: a number for one coordinate, else an array (n,); with k times an array (k,) or
    (k, n). A motion is therefore a function of time for :func:`flexph.drive`, :func:`flexph.torsion_spring` and
    controllers. ``motion["elbow"]`` is the motion of one coordinate.

    Parameters
    ----------
    times : array_like
        Ascending ends of the p pieces, (p + 1,) [s].
    coefficients : array_like
        Coefficients (p, n, m) of the powers 0 … m − 1 of the time since the begin of a piece, for n coordinates.
    names : tuple of str, optional
        Names of the coordinates.
    scalar : bool
        True for one coordinate whose values are numbers.

    Raises
    ------
    ValueError
        For times that do not ascend, and coefficients or names of another size.

    Examples
    --------
    >>> from flexph.robots import polynomial
    >>> move = polynomial({"shoulder": 0.0, "elbow": 0.5}, {"shoulder": 1.0, "elbow": -0.5}, duration=2.0)
    >>> move(1.0), move.velocity(1.0), move["elbow"](2.0)
    (array([0.5, 0. ]), array([ 0.9375, -0.9375]), -0.5)
    """

    times: Array
    coefficients: Array
    names: tuple[str, ...] = ()
    scalar: bool = False

    def __post_init__(self) -> None:
        times = check.array("times", self.times, (None,))
        if times.size < 2 or not (np.diff(times) > 0.0).all():
            raise ValueError(f"times must be at least two and ascend, got {check.shown(self.times)}")
        given = check.array("coefficients", self.coefficients, (times.size - 1, None, None))
        if self.names and len(self.names) != given.shape[1]:
            raise ValueError(f"names must be {given.shape[1]}, got {len(self.names)}")
        if self.scalar and given.shape[1] != 1:
            raise ValueError(f"a scalar motion has one coordinate, got {given.shape[1]}")
        object.__setattr__(self, "times", times)
        object.__setattr__(self, "coefficients", given)

    def __repr__(self) -> str:
        of = ", ".join(self.names) or f"{self.size} coordinates"
        return f"<Motion of {of} from {self.begin:.6g} to {self.end:.6g} s>"

    @property
    def size(self) -> int:
        """Number n of coordinates."""
        return int(self.coefficients.shape[1])

    @property
    def begin(self) -> float:
        """First time of the motion [s]."""
        return float(self.times[0])

    @property
    def end(self) -> float:
        """Last time of the motion [s]."""
        return float(self.times[-1])

    def __call__(self, t: Any) -> Any:
        """Value at a time [s], or at k times."""
        return self._value(t, 0)

    def velocity(self, t: Any) -> Any:
        """First time derivative of the value at a time [s], zero before the begin and after the end."""
        return self._value(t, 1)

    def acceleration(self, t: Any) -> Any:
        """Second time derivative at a time [s], zero before the begin and after the end.

        Between two pieces it is that of the later piece.
        """
        return self._value(t, 2)

    def __getitem__(self, name: str | int) -> Motion:
        """Motion of one coordinate, by its name or number."""
        if isinstance(name, str):
            check.lookup("coordinate", name, dict.fromkeys(self.names), "the motion")
        k = self.names.index(name) if isinstance(name, str) else check.whole("coordinate", name)
        if not 0 <= k < self.size:
            raise ValueError(f"coordinate must be 0 to {self.size - 1}, got {k}")
        return Motion(self.times, self.coefficients[:, [k]], self.names[k : k + 1], scalar=True)

    @checked
    def later(self, delay: float) -> Motion:
        """Motion delayed by a time [s].

        Parameters
        ----------
        delay : float
            Delay [s]; negative to begin earlier.

        Returns
        -------
        Motion
            The delayed motion.
        """
        return Motion(self.times + check.number("delay", delay), self.coefficients, self.names, self.scalar)

    @once
    def _pieces(self) -> tuple[tuple[list[float], list[list[list[float]]]], ...]:
        """Polynomials of the value, of its first and of its second derivative: (times, coefficients) of each.

        Coefficients are by piece and coordinate, the highest power first.
        """
        times, rows = self.times.tolist(), self.coefficients
        orders = []
        for _ in range(3):
            orders.append((times, rows[:, :, ::-1].tolist()))
            powers = np.arange(1, rows.shape[2])
            rows = rows[:, :, 1:] * powers if powers.size else np.zeros((*rows.shape[:2], 1))
        return tuple(orders)

    def _value(self, t: Any, order: int) -> Any:
        if isinstance(t, int | float):
            values = self.values_at(float(t), order)
            return values[0] if self.scalar else np.array(values)
        every = np.array([self.values_at(float(one), order) for one in check.array("t", t, (None,))]).reshape(
            -1, self.size
        )
        return every[:, 0] if self.scalar else every

    def values_at(self, t: float, order: int = 0) -> list[float]:
        """Values of all coordinates at a time [s], or their time derivatives of ``order`` 1 or 2."""
        times, pieces = self._pieces[order]
        if order and not times[0] <= t <= times[-1]:
            return [0.0] * self.size
        t = min(max(t, times[0]), times[-1])
        k = min(bisect_right(times, t) - 1, len(pieces) - 1)
        since, values = t - times[k], []
        for powers in pieces[k]:
            value = 0.0
            for c in powers:
                value = value * since + c
            values.append(value)
        return values
