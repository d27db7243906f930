"""Ideal transformers and gyrators between two pairs of nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from ...numerics import checks as check
from ...numerics.arguments import checked
from .terminals import Branch, branch


@dataclass(frozen=True)
class TwoPort:
    """Ideal transformer, ``v₁ = n v₂, i₂ = −n i₁``, or gyrator, ``v₁ = −r i₂, v₂ = r i₁``; ``ratio`` is n or r.

    Attributes
    ----------
    kind : {"transformer", "gyrator"}
        Kind of element.
    first : tuple of str
        Nodes of the first pair.
    second : tuple of str
        Nodes of the second pair.
    ratio : float
        n, or r [Ω].
    """

    kind: Literal["transformer", "gyrator"]
    first: Branch
    second: Branch
    ratio: float


@checked
def transformer(first: Branch, second: Branch, ratio: float) -> TwoPort:
    """Ideal transformer between two pairs of nodes: v₁ = n v₂, i₂ = −n i₁, with the turns ratio n ≠ 0.

    Parameters
    ----------
    first : Branch
        Nodes (plus, minus) of the first pair.
    second : Branch
        Nodes (plus, minus) of the second pair.
    ratio : float
        Turns ratio n.

    Returns
    -------
    TwoPort
        Element for :func:`flexph.circuits.circuit`.
    """
    return _two_port("transformer", first, second, ratio)


@checked
def gyrator(first: Branch, second: Branch, resistance: float) -> TwoPort:
    """Ideal gyrator between two pairs of nodes: v₁ = −r i₂, v₂ = r i₁, r ≠ 0 [Ω].

    Parameters
    ----------
    first : Branch
        Nodes (plus, minus) of the first pair.
    second : Branch
        Nodes (plus, minus) of the second pair.
    resistance : float
        Resistance r [Ω].

    Returns
    -------
    TwoPort
        Element for :func:`flexph.circuits.circuit`.
    """
    return _two_port("gyrator", first, second, resistance)


def _two_port(kind: Any, first: Any, second: Any, ratio: float) -> TwoPort:
    pairs = []
    for name, pair in (("first", first), ("second", second)):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise ValueError(f"{name} of a {kind} must be a pair of nodes (plus, minus), got {pair!r}")
        pairs.append(branch(*pair))
    if check.number("ratio", ratio) == 0.0:
        raise ValueError(f"the ratio of a {kind} must not be zero")
    return TwoPort(kind, pairs[0], pairs[1], float(ratio))
