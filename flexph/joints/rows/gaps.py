"""Gaps of contacts: what three world vectors V, W, U measure, and the law that holds where it closes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from .vectors import PortName, Vector

GapKind = Literal["offset", "distance", "angle", "axial"]


@dataclass(frozen=True)
class Gap:
    """A gap g = ±m − c of a measure m of world vectors, open where it is positive.

    ``offset``: V·W, ``distance``: |V|, ``angle``: that of sine V·W and cosine V·U, ``axial``: |V − (V·W) W|.
    ``sides`` are the ports on which friction acts, ``radii`` how far the point of contact lies from them along the
    normal; None where nothing slides.
    """

    kind: GapKind
    vectors: tuple[Vector, Vector, Vector]
    sign: float
    offset: float
    law: Any
    sides: tuple[PortName, PortName] | None = None
    radii: tuple[float, float] = (0.0, 0.0)
    name: str = ""


def gaps(connections: Sequence[Any]) -> list[tuple[str, Gap]]:
    """Names of the connections and gaps of all contacts, in their order."""
    return [(c.name, gap) for c in connections for gap in c.form.gaps]
