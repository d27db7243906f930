"""What stands between two points: rigid rods, springs and dashpots."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from flexph.numerics import checks as check
from flexph.numerics.arguments import checked
from flexph.numerics.arrays import Array
from flexph.numerics.memo import Remade
from flexph.systems.resistive_relations import Relation

End = str | Sequence[float] | Array
"""A point by name, or a fixed place (dim,) [m]."""


@checked
@dataclass(frozen=True, eq=False)
class Rod:
    """A rigid massless rod of a length L [m]: ``0 = ½(|d|²/L − L)``, d from the first end to the second.

    Its multiplier is the force along it [N], positive where it pulls its ends together.

    Parameters
    ----------
    first : str or array_like
        Name of a particle, or a point that is fixed [m].
    second : str or array_like
        The other end.
    length : float
        L [m].
    name : str, optional
        Name of its multiplier.
    """

    first: End
    second: End
    length: float
    name: str | None = None


@checked
@dataclass(frozen=True, eq=False)
class Spring(Remade):
    """A spring with the energy V(ℓ) [J] of its length ℓ [m] and the force V'(ℓ) [N] that pulls its ends together.

    :meth:`linear` makes the common one.

    Parameters
    ----------
    first : str or array_like
        Name of a particle, or a point that is fixed [m].
    second : str or array_like
        The other end.
    energy : callable
        V of ℓ [J].
    force : callable
        V' of ℓ [N].
    name : str, optional
        Name of its part of the energy.
    """

    first: End
    second: End
    energy: Callable[[float], float]
    force: Callable[[float], float]
    name: str | None = None

    @classmethod
    @checked
    def linear(cls, first: End, second: End, *, stiffness: float, length: float, name: str | None = None) -> Spring:
        """``V = ½ k (ℓ − ℓ₀)²``, k [N/m], ℓ₀ [m]."""
        k, rest = check.positive("stiffness", stiffness, "N/m"), check.not_negative("length", length, "m")
        return cls(first, second, lambda at: 0.5 * k * (at - rest) ** 2, lambda at: k * (at - rest), name)


@checked
@dataclass(frozen=True, eq=False)
class Dashpot:
    """A damper along the line between its ends: the force ρ(ℓ̇) pulls them together ([rigid] eq. (3)).

    Parameters
    ----------
    first : str or array_like
        Name of a particle, or a point that is fixed [m].
    second : str or array_like
        The other end.
    relation : Relation
        ρ, of the rate of its length [m/s].
    name : str, optional
        Name of its account in the ledger.
    """

    first: End
    second: End
    relation: Relation
    name: str | None = None
