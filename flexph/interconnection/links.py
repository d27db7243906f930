"""Connections of substructures: what is joined to what, by the names of ports."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array, Numbers


@dataclass(frozen=True, eq=False)
class Tie:
    """Ports that move as one; see :func:`tie`."""

    ports: tuple[str, ...]
    components: tuple[int, ...] | None
    turn: Array | None

    def __str__(self) -> str:
        return f"tie {'–'.join(self.ports)}"


@dataclass(frozen=True)
class Clamp:
    """A port that does not move; see :func:`clamp`."""

    port: str
    components: tuple[int, ...] | None

    @property
    def ports(self) -> tuple[str, ...]:
        """The port, alone in a tuple."""
        return (self.port,)

    def __str__(self) -> str:
        return f"clamp {self.port}"


@dataclass(frozen=True, eq=False)
class Couple:
    """The output of each of two ports is the input of the other; see :func:`couple`."""

    ports: tuple[str, str]
    components: tuple[int, ...] | None
    gain: Array | None
    gyroscopic: bool

    def __str__(self) -> str:
        return f"couple {'–'.join(self.ports)}"


Link = Tie | Clamp | Couple


@checked
def tie(first: str, *others: str, components: Sequence[int] | None = None, turn: Any = None) -> Tie:
    """Ports ("block.port") of one causality with equal velocities and forces that add to zero ([flex] eq. (41), (45)).

    Ports that take forces: u₁ = λ, u₂ = −Tᵀλ with the multiplier of a constraint for each component,
    ``0 = y₁ − T y₂``. Ports that take velocities: u₁ = T λ, u₂ = λ, ``0 = Tᵀy₁ + y₂`` (the forces).

    Parameters
    ----------
    first : str
        Port ``block.port``.
    *others : str
        Ports of other blocks, each tied to the first.
    components : sequence of int, optional
        Those of each port that are tied, (0, 1) of (x, y, rotation) for a hinge; the others stay. All by default.
    turn : array_like, optional
        T (m₁, m₂), which maps the velocities of the second port to those of the first where their axes differ; the
        identity by default.

    Returns
    -------
    Tie
        The connection, for :func:`substructure`.
    """
    if not others or len({first, *others}) != 1 + len(others):
        raise ValueError(f"a tie needs two or more different ports, got {', '.join(map(repr, (first, *others)))}")
    if turn is not None and len(others) > 1:
        raise ValueError(f"turn= needs a tie of two ports, got {len(others) + 1}: tie them one pair at a time")
    return Tie((first, *others), _places(components), None if turn is None else check.array("turn", turn, (None, None)))


@checked
def clamp(port: str, *, components: Sequence[int] | None = None) -> Clamp:
    """A port whose velocity is zero: ``0 = y`` with a multiplier, or the input u = 0 where it takes a velocity.

    Parameters
    ----------
    port : str
        Port ``block.port``.
    components : sequence of int, optional
        Those that are clamped; all by default.

    Returns
    -------
    Clamp
        The connection, for :func:`substructure`.
    """
    return Clamp(port, _places(components))


@checked
def couple(
    first: str,
    second: str,
    *,
    gain: Numbers | None = None,
    components: Sequence[int] | None = None,
    gyroscopic: bool = False,
) -> Couple:
    """``u_f = −C y_v, u_v = Cᵀ y_f``: a port f that takes forces and a port v that takes velocities, joined directly.

    The gyrator of [flex] sec. 5.1, without a multiplier. Both move with one velocity where C is the identity. Between
    two ports of one causality this is a gyroscopic force, ``u₁ = −C y₂, u₂ = Cᵀ y₁``, proportional to the velocities.

    Parameters
    ----------
    first : str
        Port ``block.port``.
    second : str
        Port of another block.
    gain : array_like, optional
        C or Cᵀ (m₁, m₂), of the ports as they are given; the identity by default.
    components : sequence of int, optional
        Those of each port that are coupled; all by default.
    gyroscopic : bool
        Allow ports of one causality.

    Returns
    -------
    Couple
        The connection, for :func:`substructure`.
    """
    if first == second:
        raise ValueError(f"a couple needs two different ports, got {first!r} twice")
    matrix = None if gain is None else check.array("gain", np.atleast_2d(gain), (None, None))
    return Couple((first, second), _places(components), matrix, gyroscopic)


def _places(components: Sequence[int] | None) -> tuple[int, ...] | None:
    if components is None:
        return None
    places = tuple(check.count(f"components[{k}]", i, 0) for k, i in enumerate(components))
    if not places or len(set(places)) != len(places):
        raise ValueError(f"components must be different places of a port, got {tuple(components)}")
    return places
