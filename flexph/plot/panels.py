"""What a picture of curves says, without a library that draws it: panels, their curves, units with their prefixes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from ..numerics.arrays import Array

Style = Literal["line", "dashed", "dashdot", "dotted", "points"]
PREFIXES = {"M": 1e6, "k": 1e3, "": 1.0, "m": 1e-3, "µ": 1e-6, "n": 1e-9}
PREFIXED = ("J", "N", "Pa", "W", "m")
"""Beginnings of the units that take a prefix."""
READABLE = 0.01, 1e4
"""Largest values that need no prefix."""
MOST = 8
"""Curves of a panel; a legend of more is not read."""
LONGEST = 40
"""Characters of a name in a legend."""


@dataclass(frozen=True, eq=False)
class Curve:
    """Values y (k,) over x (k,), with a name for the legend."""

    x: Array
    y: Array
    label: str = ""
    style: Style = "line"
    color: str | None = None


@dataclass(frozen=True, eq=False)
class Panel:
    """Curves over one axis, ``quantity`` [``unit``]; ``over`` is the label of x, ``log`` names logarithmic axes."""

    curves: tuple[Curve, ...]
    quantity: str
    unit: str = ""
    over: str = "t [s]"
    log: Literal["", "x", "y", "xy"] = ""
    height: float = 1.0

    @property
    def label(self) -> str:
        """The label of y."""
        return f"{self.quantity} [{self.unit}]" if self.unit else self.quantity

    def prefixed(self) -> Panel:
        """The same panel in a unit whose numbers are neither long nor small: mJ, kN, MPa."""
        prefix = prefix_of([curve.y for curve in self.curves], self.unit) if "y" not in self.log else ""
        curves = tuple(replace(curve, y=curve.y / PREFIXES[prefix]) for curve in self.curves) if prefix else self.curves
        return replace(self, curves=curves, unit=prefix + self.unit)


def prefix_of(values: Sequence[Array], unit: str) -> str:
    """The prefix of a unit with which the largest of some values is from 1 to 1000, where it needs one."""
    largest = max((float(np.nanmax(np.abs(v))) for v in values if np.isfinite(v).any()), default=0.0)
    if not unit.startswith(PREFIXED) or READABLE[0] <= largest < READABLE[1] or not 0.0 < largest < np.inf:
        return ""
    allowed = {prefix: size for prefix, size in PREFIXES.items() if not (unit.startswith("m") and size > 1.0)}
    below = [prefix for prefix, size in allowed.items() if size <= largest]
    return below[0] if below else ""


def largest_of(curves: Sequence[Curve], *, rest: str = "", most: int = MOST) -> tuple[Curve, ...]:
    """The curves with the largest values in their order, at most so many; the sum of the others as one named ``rest``.

    Without such a name the others are left out.
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
    """A name for a legend: the middle of a long one is left out."""
    return name if len(name) <= LONGEST else f"{name[: LONGEST - 16]}…{name[-15:]}"
