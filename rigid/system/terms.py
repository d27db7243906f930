"""Terms of a multibody system: potentials, constraints, ports and dampers in redundant coordinates ([rigid] sec. 4).

Symbols as in :class:`rigid.MultibodySystem`: positions ζ and velocities ϖ with ζ̇ = Z ϖ, momenta Γ = Mϖ, gyroscopic
matrix G, potential V, position constraints c(ζ) = 0 with multipliers λ, velocity constraints A ϖ = 0 with multipliers
μ, input matrix B.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from flexph.laws.resistive_relations import Relation
from flexph.numerics import checks as check
from flexph.numerics.arguments import checked
from flexph.numerics.arrays import Array
from flexph.systems.discrete_gradients import discrete_jacobian

from .matrix_functions import MatrixFunction, at, mapped


@checked
@dataclass(frozen=True, eq=False)
class Potential:
    """Potential energy V(ζ) [J] and its gradient ∇V (n_pot,).

    Parameters
    ----------
    energy : callable
        V as a function of ζ [J].
    gradient : callable
        ∇V (n_pot,) as a function of ζ.
    """

    energy: Callable[[Array], float]
    gradient: Callable[[Array], Array]


@checked
@dataclass(frozen=True, eq=False)
class PositionMap:
    """A function p(ζ) (k,) of the positions and its Jacobian p'(ζ) (k, n_pot).

    Parameters
    ----------
    value : callable
        p as a function of ζ.
    jacobian : callable
        p' as a function of ζ.
    terms : tuple[tuple[slice, PositionMap], ...]
        Functions of parts of the positions with the sum p (:meth:`of_terms`).
    """

    value: Callable[[Array], Array]
    jacobian: MatrixFunction
    terms: tuple[tuple[slice, PositionMap], ...] = ()

    @classmethod
    def of_terms(cls, size: int, terms: tuple[tuple[slice, PositionMap], ...]) -> PositionMap:
        """Sum ``p(ζ) = Σ pᵢ(ζᵢ)`` of maps, each of a slice ζᵢ of the ``size`` positions."""

        def jacobian(zeta: Array) -> Array:
            return _spread(size, [(span, term.jacobian(zeta[span])) for span, term in terms])

        return cls(lambda zeta: np.sum([term.value(zeta[span]) for span, term in terms], axis=0), jacobian, terms)

    def part(self, rows: slice) -> PositionMap:
        """Map of the entries ``rows`` of p."""
        return PositionMap(
            lambda zeta: self.value(zeta)[rows],
            mapped(lambda slope: slope[..., rows, :], self.jacobian),
            tuple((span, term.part(rows)) for span, term in self.terms),
        )

    def discrete(self, zeta0: Array, zeta1: Array, *, kept: bool = False) -> Array:
        """Discrete Jacobian of p over a step, ``D̄p Δζ = Δp`` ([dg] definition 6).

        The discrete Jacobian of a sum is the sum of the discrete Jacobians of its terms, so that the correction and the
        forces of a term involve only the positions of this term. ``kept``, see :func:`discrete_jacobian`, is ignored
        for several terms.
        """
        if not self.terms:
            return discrete_jacobian(self.value, self.jacobian, zeta0, zeta1, kept=kept)
        alone = kept and len(self.terms) == 1
        gradients = [(span, term.discrete(zeta0[span], zeta1[span], kept=alone)) for span, term in self.terms]
        return _spread(zeta0.size, gradients)


def _spread(size: int, blocks: list[tuple[slice, Array]]) -> Array:
    matrix = np.zeros((len(blocks[0][1]), size))
    for span, block in blocks:
        matrix[:, span] += block
    return matrix


@checked
@dataclass(frozen=True)
class PositionConstraint:
    """Position constraint ``0 = c(ζ)``, c (k,), with multipliers λ in ``−Zᵀ c'ᵀ λ``. Holonomic, without drift.

    Parameters
    ----------
    name : str
        Name of its multipliers.
    map : PositionMap
        c(ζ) (k,) and its Jacobian.
    """

    name: str
    map: PositionMap


@checked
@dataclass(frozen=True, eq=False)
class VelocityConstraint:
    """Velocity constraint ``0 = A(ζ) ϖ``, A (l, n_kin), a function of ζ or constant, with multipliers μ in ``−Aᵀ μ``.

    If it is the rate of a position map, ``A = p' Z``, it is holonomic and preserves the initial p without drift
    ([rigid] remark 4); otherwise it holds at the midpoint of each step.

    Parameters
    ----------
    name : str
        Name of its multipliers.
    matrix : callable or array
        A (l, n_kin), a function of ζ or constant.
    position : PositionMap, optional
        p, if A is its rate.
    closed : bool
        True if p must be zero, as for couplings of two positions: initial states are checked against that.
    """

    name: str
    matrix: MatrixFunction | Array
    position: PositionMap | None = None
    closed: bool = False


@checked
@dataclass(frozen=True, eq=False)
class ExternalPort:
    """Port with ``ϖ_ext = Bᵀ(ζ) ϖ`` and the force ``B(ζ) F``, F = −τ_ext: the power into the system is ϖ_extᵀ F.

    Parameters
    ----------
    matrix : callable or array
        B (n_kin, k), a function of ζ or constant.
    position : PositionMap, optional
        p(ζ) with ``p' Z = Bᵀ``, if the port has a position. The work over a step is then FᵀΔp, and a coupling of two
        such ports preserves p₁ − p₂ without drift.
    """

    matrix: MatrixFunction | Array
    position: PositionMap | None = None

    def part(self, columns: slice) -> ExternalPort:
        """Port with some columns of B, a slice, and the corresponding components of its position."""
        B = self.matrix
        cut = mapped(lambda b: b[..., columns], B) if callable(B) else at(B, np.zeros(0))[:, columns]
        return ExternalPort(cut, None if self.position is None else self.position.part(columns))


@checked
@dataclass(frozen=True, eq=False)
class Damper:
    """Damper ``τ_d = W ρ(Wᵀ ϖ)``: a resistive relation ρ for each rate Wᵀϖ (k,); W (n_kin, k), of ζ or constant.

    Parameters
    ----------
    name : str
        Name of its account in the ledger.
    directions : callable or array
        W (n_kin, k), a function of ζ or constant.
    relation : Relation
        ρ, applied to each of the rates Wᵀϖ (k,).
    """

    name: str
    directions: MatrixFunction | Array
    relation: Relation


@checked
@dataclass(frozen=True, eq=False)
class Dissipation:
    """Dissipation by any ``τ_d(ζ, ϖ)`` (n_kin,) with ``ϖᵀ τ_d ≥ 0`` ([rigid] eq. (8)).

    Parameters
    ----------
    name : str
        Name of its account in the ledger.
    force : callable
        τ_d (n_kin,) as a function of ζ and ϖ.
    """

    name: str
    force: Callable[[Array, Array], Array]


def entries(name: str, given: Any, wanted: str = "a tuple or list") -> tuple[Any, ...]:
    """Check that the given objects are a sequence and return a tuple; ``wanted`` describes them in the error."""
    if isinstance(given, str | Mapping) or not isinstance(given, Iterable):
        raise ValueError(f"{name} must be {wanted}, got {type(given).__name__}")
    return tuple(given)


def named(name: str, given: Any) -> dict[Any, Any]:
    """Copy of a mapping as a dict, in which slices without a start begin at 0.

    Raises ValueError unless ``given`` is a mapping whose keys are names; ``name`` describes the mapping in the message.
    """
    if not isinstance(given, Mapping):
        raise ValueError(f"{name} must be a dict with names as keys, got {type(given).__name__}")
    for key in given:
        check.name(f"one of the {name}", key)
    return {key: slice(of.start or 0, of.stop, of.step) if isinstance(of, slice) else of for key, of in given.items()}


GENERATES = 1e-12
"""Generated power below which a dissipative term is accepted, relative to the sum of |velocity × force| of all
components: it is round-off."""


class Resistance(NamedTuple):
    """Resistance matrices: R ⪰ 0 symmetric (n_kin, n_kin), and S skew (n_kin, n_kin), or None for zero."""

    R: Array
    S: Array | None


def force_of(term: Damper | Dissipation, zeta: Array, omega: Array) -> Array:
    """Force (n_kin,) of one dissipative term; raise ValueError if it generates energy."""
    if isinstance(term, Damper):
        W = at(term.directions, zeta)
        force: Array = W @ term.relation.force(W.T @ omega)
    else:
        force = np.asarray(term.force(zeta, omega), dtype=float)
    _refuse_source(term.name, omega, force)
    return force


def _of_damper(term: Damper, W: Array, rates: Array) -> Array:
    if term.relation.kind == "general":
        for k, s in enumerate(rates):
            row = f"{term.name}[{k}]" if rates.size > 1 else term.name
            _refuse_source(row, s[None], np.asarray(term.relation.force(s), dtype=float)[None])
    scaled = W * np.sqrt(np.maximum(term.relation.resistance(rates), 0.0))
    return scaled @ scaled.T


def _refuse_source(name: str, omega: Array, force: Array) -> None:
    power = float(omega @ force)
    if power < -GENERATES * float(np.abs(omega) @ np.abs(force)):
        raise ValueError(
            f"dissipation {name!r} must not generate energy, ϖᵀτ_d >= 0: it feeds {-power:.3g} W into the system "
            f"at velocities up to {np.abs(omega).max():.3g}"
        )
