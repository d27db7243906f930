"""Gaps of contacts as functions of three world vectors V, W, U, and the contact law that acts when a gap closes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from .vectors import PortName, Vector, between

GapKind = Literal["offset", "distance", "angle", "axial", "rim"]


@dataclass(frozen=True)
class Gap:
    """Gap g = ±m − c of a measure m of world vectors, open where it is positive.

    Measures m by kind: ``offset`` V·W, ``distance`` |V|, ``angle`` with sine V·W and cosine V·U, ``axial``
    |V − (V·W) W/|W|²|, ``rim`` V·W − r √(1 − (W·U)²) with the first of the ``radii``. Friction acts on the ports
    ``sides`` (None without friction); ``radii`` are the distances [m] from these to the point of contact along the
    normal. An angle is measured from ``origin`` [rad] and unique within half a turn from there.
    """

    kind: GapKind
    vectors: tuple[Vector, Vector, Vector]
    sign: float
    offset: float
    law: Any
    sides: tuple[PortName, PortName] | None = None
    radii: tuple[float, float] = (0.0, 0.0)
    name: str = ""
    origin: float = 0.0


@dataclass(frozen=True)
class GapGroup:
    """Gaps |V| − r₁ − r₂ between every two of many balls (in the plane, discs) about ports of bodies."""

    ports: tuple[str, ...]
    radii: tuple[float, ...]
    law: Any

    @property
    def number(self) -> int:
        """Number of all pairs, including pairs within one body."""
        return len(self.ports) * (len(self.ports) - 1) // 2

    def gap(self, i: int, j: int, dim: int) -> Gap:
        """Gap between balls i and j."""
        sides, radii, none = (self.ports[i], self.ports[j]), (self.radii[i], self.radii[j]), Vector(fixed=(0.0,) * dim)
        offset = sum(radii)
        shares = (radii[0] / offset, radii[1] / offset)
        return Gap("distance", (between(*sides), none, none), 1.0, offset, self.law, sides, shares)
