"""Nonlinear resistive characteristics: entry by entry, and of several entries together ([survey] eq. (2.17)-(2.18))."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...numerics import checks as check
from ...numerics.arguments import checked
from ...numerics.arrays import Array
from ...numerics.differences import CENTRAL, central
from ...systems.resistive_relations import Relation
from .resistance import Control, LinearResistance, ModulatedResistance, Resistance

NODES = (0.5 - np.sqrt(1.0 / 12.0), 0.5 + np.sqrt(1.0 / 12.0))
"""Gauss' quadrature on [0, 1], exact for slopes up to degree 3; what it errs by is put right by the splitting."""
PROBES = np.logspace(-3.0, 3.0, 7)
"""Efforts over their scale at which eᵀF(e) ≥ 0 is checked, in random directions."""
DIRECTIONS = 4
GENERATED = 1e-10
"""eᵀF(e) over Σ|e_i F_i| down to which it is a round-off zero: forces are sums that may cancel."""
ZERO = 1e-14
"""eᵀF(e) over Σ|e_i F_i| up to which power counts as zero."""
VANISHING = 1e-8
"""eᵀBe over eᵀF(e) below which the slopes of F do not see what F dissipates, as of a characteristic that saturates."""
NOISE = 1e-9
"""Eigenvalue of the symmetric part of slopes, over their largest entry, that differences may leave."""


@checked
@dataclass(frozen=True)
class Characteristic(Resistance):
    """``f_i = −ρ_i(e_i)``, e ρ(e) ≥ 0, entry by entry ([survey] eq. (2.17)-(2.18)), relations as of friction.

    With ``controlled="flow"`` it is ``e_i = −ρ_i(f_i)``.

    Parameters
    ----------
    relations : tuple of Relation
        ρ_i, as of friction.
    controlled : {"effort", "flow"}
        What they are functions of.
    """

    relations: tuple[Relation, ...]
    controlled: Control = "effort"

    def __post_init__(self) -> None:
        check.choice("controlled", self.controlled, ("effort", "flow"))
        for r in self.relations:
            if not isinstance(r, Relation):
                raise ValueError(
                    f"relations must come from viscous, quadratic, coulomb or resistive of flexph.systems, got {r!r}"
                )
        object.__setattr__(self, "relations", tuple(self.relations))

    @property
    def size(self) -> int:
        """m."""
        return len(self.relations)

    def matrix(self, efforts: Array) -> Array:
        """The diagonal ρ_i(e_i)/e_i (m, m), with which f = −R(e) e."""
        return np.diag([float(r.resistance(e)) for r, e in zip(self.relations, efforts, strict=True)])

    def matrices(self, x: Array, efforts: Array) -> tuple[Array, Array]:
        """R of :meth:`matrix`, and S = 0."""
        return self.matrix(efforts), np.zeros((self.size,) * 2)


@checked
@dataclass(frozen=True, eq=False, kw_only=True)
class MultiportCharacteristic(Resistance):
    """``f = −F(e)`` with F: ℝᵐ → ℝᵐ, ``eᵀF(e) ≥ 0`` ([survey] eq. (2.17)-(2.18)); ``e = −F(f)`` if flow-controlled.

    Gradients ∂𝓡/∂e of convex Rayleigh functions are such F, and so are characteristics whose Jacobian is not symmetric
    (transistors). With the mean slope ``L = ∫₀¹ F'(se) ds``, F(e) = L e exactly: R is the symmetric part of L where
    that is positive semi-definite, S the skew one (:func:`splitting`).

    Parameters
    ----------
    entries : int
        m.
    function : callable
        F (m,).
    slope : callable, optional
        Its Jacobian (m, m); by differences by default.
    scale : float or array_like
        A size of efforts, a number or (m,) in their units, to be given where these differ: around it eᵀF(e) ≥ 0 is
        checked in random directions, differences are made with it, and entries are compared by it.
    controlled : {"effort", "flow"}
        What F is a function of.

    Raises
    ------
    ValueError
        With the efforts and the power, where power is generated: here, and at any efforts that are asked for.
    """

    entries: int
    function: Callable[[Array], Any]
    slope: Callable[[Array], Any] | None = None
    scale: Any = 1.0
    controlled: Control = "effort"
    is_reciprocal = False  # F' need not be symmetric

    def __post_init__(self) -> None:
        m = check.count("entries", self.entries)
        check.choice("controlled", self.controlled, ("effort", "flow"))
        scale = check.broadcast("scale", self.scale, (m,))
        if not (scale > 0.0).all():
            raise ValueError(f"scale must be positive efforts, one or {m} of them, got {self.scale!r}")
        object.__setattr__(self, "scale", scale)
        if np.any(self.force(np.zeros(m))):
            raise ValueError(f"F(0) must be zero where eᵀF(e) ≥ 0 at all efforts, got {self.force(np.zeros(m))}")
        for way in np.random.default_rng(0).standard_normal((DIRECTIONS, m)):
            for size in PROBES:
                self.power(size * way * scale)

    @property
    def size(self) -> int:
        """m."""
        return self.entries

    def force(self, efforts: Array) -> Array:
        """F(e)."""
        return check.array("F(e)", check.asked("a resistive characteristic", self.function, efforts), (self.size,))

    def power(self, efforts: Array) -> float:
        """eᵀF(e); raises ValueError where it is negative."""
        terms = efforts * self.force(efforts)
        if terms.sum() < -GENERATED * np.abs(terms).sum():
            raise ValueError(f"eᵀF(e) must not be negative, it is {terms.sum():.3g} at e = {efforts}")
        return float(terms.sum()) if terms.sum() > ZERO * np.abs(terms).sum() else 0.0

    def mean_slope(self, efforts: Array) -> Array:
        """``L = ∫₀¹ F'(se) ds`` (m, m) by quadrature, exact for F up to degree 4."""
        slopes = [self._slope(s * efforts) for s in NODES]
        return 0.5 * (slopes[0] + slopes[1])

    def _slope(self, efforts: Array) -> Array:
        """F' as it is given or by central differences."""
        if self.slope is not None:
            return check.array("slope", self.slope(efforts), (self.size,) * 2)
        moved = float(np.max(np.abs(efforts) / self.scale)) or 1.0
        steps = CENTRAL * moved * self.scale
        return np.array([central(self.force, efforts, move) for move in np.diag(steps)]).T / steps

    def matrices(self, x: Array, efforts: Array) -> tuple[Array, Array]:
        """R ⪰ 0 and S = −Sᵀ with ``(R + S) e = F(e)``: the splitting of efforts over their ``scale``."""
        unit = np.outer(self.scale, self.scale)
        L, force = self.mean_slope(efforts) * unit, self.force(efforts) * self.scale
        R, S = splitting(L, efforts / self.scale, force, self.power(efforts))
        return R / unit, S / unit


def splitting(L: Array, e: Array, force: Array, power: float) -> tuple[Array, Array]:
    """R = Rᵀ ⪰ 0 and S = −Sᵀ (m, m) with ``(R + S) e = F``, near L: eᵀF = ``power`` ≥ 0.

    With B = C Cᵀ the positive part of the symmetric part of L, A its skew part, w = B e, b = eᵀw, g = (p/b) w,

        R = B + (p − b)/b² w wᵀ = K Kᵀ,   K = C + (√(p/b) − 1)/b w (Cᵀe)ᵀ
        S = A + (d wᵀ − w dᵀ)/b,          d = F − g − A e

    Re = g, and Se = F − g as eᵀd = 0. Where L e = F and the symmetric part is positive, R = B and S = A. Where B does
    not see what is dissipated, as of slopes that vanish, it is w = e and R = p/b² w wᵀ. Entries are of one unit.
    """
    A, size = 0.5 * (L - L.T), float(np.abs(L).max(initial=0.0))
    values, vectors = np.linalg.eigh(0.5 * (L + L.T))
    kept = values > NOISE * size
    C = vectors[:, kept] * np.sqrt(values[kept])
    c = C.T @ e
    w, b = C @ c, float(c @ c)
    if not e.any():
        return C @ C.T, A
    if b > VANISHING * power and b > NOISE * size * float(e @ e):
        K = C + (np.sqrt(power / b) - 1.0) / b * np.outer(w, c)
        R = K @ K.T
    else:
        w, b = e, float(e @ e)
        R = power / b**2 * np.outer(w, w)
    d = force - (power / b) * w - A @ e
    return R, A + (np.outer(d, w) - np.outer(w, d)) / b


def resistance_of(name: str, given: Any, size: int, sample: Array) -> Resistance:
    """The resistance of a port from what a user gives, for a system with a state ``sample``.

    A number or matrix R of f = −R e, relations, a :class:`Resistance`, or a function of the state x that returns one of
    these.
    """
    if callable(given) and not isinstance(given, Resistance):
        return ModulatedResistance(lambda x: resistance_of(name, given(x), size, sample), sample)
    if isinstance(given, Relation):
        given = (given,)
    if isinstance(given, Sequence) and given and all(isinstance(g, Relation) for g in given):
        given = Characteristic(tuple(given))
    if not isinstance(given, Resistance):
        matrix = np.asarray(check.array(f"resistance of {name!r}", np.atleast_2d(given), (None, None)))
        if matrix.shape == (1, 1) and size > 1:
            matrix = matrix[0, 0] * np.eye(size)
        given = LinearResistance.of_efforts(matrix)
    if given.size != size:
        raise ValueError(f"the resistance of {name!r} must have {size} entries, got {given.size}")
    return given
