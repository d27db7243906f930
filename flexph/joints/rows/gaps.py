"""Gaps of contacts: what three world vectors V, W, U measure, and the law that holds where it closes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from .vectors import PortName, Vector, between

GapKind = Literal["offset", "distance", "angle", "axial"]


@dataclass(frozen=True)
class Gap:
    """A gap g = ±m − c of a measure m of world vectors, open where it is positive.

    ``offset``: V·W, ``distance``: |V|, ``angle``: that of sine V·W and cosine V·U, ``axial``: |V − (V·W) W/|W|²|.
    ``sides`` are the ports on which friction acts, ``radii`` how far the point of contact lies from them along the
    normal; None where nothing slides. An angle counts from an ``origin`` [rad], and is known up to half a
    turn from there.
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
    """Gaps |V| − r₁ − r₂ of balls about ports of bodies, in the plane of discs, of each with each other."""

    ports: tuple[str, ...]
    radii: tuple[float, ...]
    law: Any

    @property
    def number(self) -> int:
        """Number of all pairs, also of those within a body."""
        return len(self.ports) * (len(self.ports) - 1) // 2

    def gap(self, i: int, j: int, dim: int) -> Gap:
        """The gap of two of them."""
        sides, radii, none = (self.ports[i], self.ports[j]), (self.radii[i], self.radii[j]), Vector(fixed=(0.0,) * dim)
        offset = sum(radii)
        shares = (radii[0] / offset, radii[1] / offset)
        return Gap("distance", (between(*sides), none, none), 1.0, offset, self.law, sides, shares)
