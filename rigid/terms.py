"""What a multibody system in redundant coordinates is made of ([rigid] sec. 4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from flexph import Relation
from flexph.space import Array

MatrixFunction = Callable[[Array], Array]


@dataclass(frozen=True)
class Potential:
    """Potential energy V(ζ) [J] and its gradient ∇V (n_pot,)."""

    energy: Callable[[Array], float]
    gradient: Callable[[Array], Array]


@dataclass(frozen=True)
class PositionMap:
    """A function p(ζ) (k,) of the positions and its Jacobian p'(ζ) (k, n_pot)."""

    value: Callable[[Array], Array]
    jacobian: MatrixFunction


@dataclass(frozen=True)
class PositionConstraint:
    """``0 = c(ζ)``, c (k,): its multipliers λ act with ``−Zᵀ c'ᵀ λ``. Holonomic; kept without drift."""

    name: str
    map: PositionMap


@dataclass(frozen=True)
class VelocityConstraint:
    """``0 = A(ζ) ϖ``, A (l, n_kin), a function of ζ or constant: its multipliers μ act with ``−Aᵀ μ``.

    Where it is the rate of a position map, ``A = p' Z``, and that is given, it is holonomic and kept without drift at
    the p of the start ([rigid] remark 4); else it holds at the middle of each step.
    """

    name: str
    matrix: MatrixFunction | Array
    position: PositionMap | None = None


@dataclass(frozen=True)
class ExternalPort:
    """``ϖ_ext = Bᵀ(ζ) ϖ`` and the force ``B(ζ) F`` on the system, F = −τ_ext: the power into it is ϖ_extᵀ F.

    B (n_kin, k) is a function of ζ or constant. ``position`` is p(ζ) with ``p' Z = Bᵀ`` where the port is a place: work
    is then that along the way, and couplings of two such ports hold at position level.
    """

    matrix: MatrixFunction | Array
    position: PositionMap | None = None


@dataclass(frozen=True)
class Damper:
    """``τ_d = W ρ(Wᵀ ϖ)``: a resistive relation ρ for each of the rates Wᵀϖ (k,); W (n_kin, k), of ζ or constant."""

    name: str
    directions: MatrixFunction | Array
    relation: Relation


@dataclass(frozen=True)
class Dissipation:
    """Any ``τ_d(ζ, ϖ)`` (n_kin,) with ``ϖᵀ τ_d ≥ 0`` ([rigid] eq. (8))."""

    name: str
    force: Callable[[Array, Array], Array]
