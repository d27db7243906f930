"""Connections between ports of substructures: ties, clamps, couples."""

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
    """Tie of ports with equal velocities; see :func:`tie`."""

    ports: tuple[str, ...]
    components: tuple[int, ...] | None
    turn: Array | None

    def __str__(self) -> str:
        return f"tie {'–'.join(self.ports)}"


@dataclass(frozen=True)
class Clamp:
    """Clamp of a port; see :func:`clamp`."""

    port: str
    components: tuple[int, ...] | None

    @property
    def ports(self) -> tuple[str, ...]:
        """Names of the ports of the connection: only one."""
        return (self.port,)

    def __str__(self) -> str:
        return f"clamp {self.port}"


@dataclass(frozen=True, eq=False)
class Couple:
    """Couple of two ports, each driven by the output of the other; see :func:`couple`."""

    ports: tuple[str, str]
    components: tuple[int, ...] | None
    gain: Array | None
    gyroscopic: bool

    def __str__(self) -> str:
        return f"couple {'–'.join(self.ports)}"


Link = Tie | Clamp | Couple


@checked
def tie(first: str, *others: str, components: Sequence[int] | None = None, turn: Any = None) -> Tie:
    """Tie ports of one causality: equal velocities, and forces that add to zero ([flex] eq. (41), (45)).

    For ports with forces as inputs: u₁ = λ, u₂ = −Tᵀλ, with a multiplier and a constraint ``0 = y₁ − T y₂`` for each
    component. For ports with velocities as inputs: u₁ = T λ, u₂ = λ, ``0 = Tᵀy₁ + y₂`` (forces).

    Parameters
    ----------
    first : str
        Port ``block.port``.
    *others : str
        Ports of other blocks, each tied to the first.
    components : sequence of int, optional
        Tied components of each port, e.g. (0, 1) of (x, y, rotation) for a hinge; all by default.
    turn : array_like, optional
        T (m₁, m₂), which maps velocities of the second port to the axes of the first; the identity by default.

    Returns
    -------
    Tie
        Connection for :func:`substructure`.
    """
    if not others or len({first, *others}) != 1 + len(others):
        raise ValueError(f"a tie needs two or more different ports, got {', '.join(map(repr, (first, *others)))}")
    if turn is not None and len(others) > 1:
        raise ValueError(f"turn= needs a tie of two ports, got {len(others) + 1}: tie them in pairs")
    return Tie((first, *others), _places(components), None if turn is None else check.array("turn", turn, (None, None)))


@checked
def clamp(port: str, *, components: Sequence[int] | None = None) -> Clamp:
    """Clamp a port: zero velocity, ``0 = y`` with a multiplier, or u = 0 for a port with a velocity as input.

    Parameters
    ----------
    port : str
        Port ``block.port``.
    components : sequence of int, optional
        Clamped components; all by default.

    Returns
    -------
    Clamp
        Connection for :func:`substructure`.
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
    """Couple a force port f and a velocity port v: ``u_f = −C y_v, u_v = Cᵀ y_f``.

    This is the gyrator of [flex] sec. 5.1, without a multiplier. If C is the identity, both ports have one velocity.
    Between two ports of one causality it is a gyroscopic force, ``u₁ = −C y₂, u₂ = Cᵀ y₁``, proportional to velocities.

    Parameters
    ----------
    first : str
        Port ``block.port``.
    second : str
        Port of another block.
    gain : array_like, optional
        C or Cᵀ (m₁, m₂), in the order of the given ports; the identity by default.
    components : sequence of int, optional
        Coupled components of each port; all by default.
    gyroscopic : bool
        True allows two ports of one causality.

    Returns
    -------
    Couple
        Connection for :func:`substructure`.
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
        raise ValueError(f"components must be different indices, at least one, got {tuple(components)}")
    return places
