"""Panels of curves for any drawing library: curves, quantities, and units with prefixes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ..numerics.arrays import Array

Style = Literal["line", "dashed", "dashdot", "dotted", "points"]
PREFIXES = {"M": 1e6, "k": 1e3, "": 1.0, "m": 1e-3, "µ": 1e-6, "n": 1e-9}
PREFIXED = ("J", "N", "Pa", "W", "m")
"""Units (by their first letters) that take a prefix."""
READABLE = 0.01, 1e4
"""Range of largest values that need no prefix."""
MOST = 8
"""Largest number of curves in a panel with a readable legend."""
LONGEST = 40
"""Largest number of characters of a name in a legend."""


@dataclass(frozen=True, eq=False)
class Curve:
    """Curve of values y (k,) against x (k,), with a name for the legend."""

    x: Array
    y: Array
    label: str = ""
    style: Style = "line"
    color: str | None = None


@dataclass(frozen=True, eq=False)
class Panel:
    """Curves of a quantity in one diagram: quantity and unit of the y axis, and label ``over`` of the x axis.

    ``log`` names the logarithmic axes; ``height`` is relative to other panels.
    """

    curves: tuple[Curve, ...]
    quantity: str
    unit: str = ""
    over: str = "t [s]"
    log: Literal["", "x", "y", "xy"] = ""
    height: float = 1.0

    @property
    def label(self) -> str:
        """Label of the y axis."""
        return f"{self.quantity} [{self.unit}]" if self.unit else self.quantity

    def prefixed(self) -> Panel:
        """Panel in a unit with a prefix (mJ, kN, MPa) for which the numbers are short."""
        prefix = prefix_of([curve.y for curve in self.curves], self.unit) if "y" not in self.log else ""
        curves = tuple(replace(curve, y=curve.y / PREFIXES[prefix]) for curve in self.curves) if prefix else self.curves
        return replace(self, curves=curves, unit=prefix + self.unit)


def prefix_of(values: Sequence[Array], unit: str) -> str:
    """Prefix of a unit with which the largest value is from 1 to 1000; empty if none is needed or allowed."""
    largest = max((float(np.nanmax(np.abs(v))) for v in values if np.isfinite(v).any()), default=0.0)
    if not unit.startswith(PREFIXED) or READABLE[0] <= largest < READABLE[1] or not 0.0 < largest < np.inf:
        return ""
    allowed = {prefix: size for prefix, size in PREFIXES.items() if not (unit.startswith("m") and size > 1.0)}
    below = [prefix for prefix, size in allowed.items() if size <= largest]
    return below[0] if below else ""


def largest_of(curves: Sequence[Curve], *, rest: str = "", most: int = MOST) -> tuple[Curve, ...]:
    """The ``most`` curves with the largest values, in the given order.

    If ``rest`` is given, the last of these is the sum of all other curves, labelled by their number and ``rest``;
    otherwise the other curves are left out.
    """
    if len(curves) <= most:
        return tuple(curves)
    size = [float(np.nanmax(np.abs(curve.y), initial=0.0)) for curve in curves]
    first = np.sort(np.argsort(size)[::-1][: most - bool(rest)]).tolist()
    kept = tuple(curves[k] for k in first)
    if not rest:
        return kept
    others = [curve for k, curve in enumerate(curves) if k not in first]
    total = np.sum([curve.y for curve in others], axis=0)
    return (*kept, replace(others[0], y=total, label=f"{len(others)} {rest}"))


def short(name: str) -> str:
    """Name for a legend.

    The middle of a long name is left out.
    """
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 16]}…{name[-15:]}"
