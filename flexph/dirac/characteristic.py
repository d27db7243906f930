"""Nonlinear relations of the flows f and efforts e of resistive ports, by entry or coupled ([survey] (2.17)-(2.18))."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..laws.resistive_relations import Relation
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.differences import CENTRAL, central
from .resistance import Control, LinearResistance, ModulatedResistance, Resistance

NODES = (0.5 - np.sqrt(1.0 / 12.0), 0.5 + np.sqrt(1.0 / 12.0))
"""Gauss points on [0, 1] for the mean slope, exact for slopes up to degree 3. The function :func:`splitting`
compensates the error for other slopes."""
PROBES = np.logspace(-3.0, 3.0, 7)
"""Efforts, divided by their scale, at which eᵀF(e) ≥ 0 is checked, in random directions."""
DIRECTIONS = 4
GENERATED = 1e-10
"""Negative eᵀF(e), relative to Σ|e_i F_i|, that counts as round-off: terms may cancel."""
ZERO = 1e-14
"""Value of eᵀF(e), relative to Σ|e_i F_i|, up to which power counts as zero."""
VANISHING = 1e-8
"""Ratio eᵀBe/eᵀF(e) below which the positive part B of the mean slope does not contain the dissipation of F, as for a
saturating characteristic."""
NOISE = 1e-9
"""Eigenvalue of the symmetric part of the mean slope, relative to its largest entry, below which it is noise of
differences."""


@checked
@dataclass(frozen=True)
class Characteristic(Resistance):
    """Characteristic ``f_i = −ρ_i(e_i)``, e ρ(e) ≥ 0, of single entries ([survey] eq. (2.17)-(2.18)).

    With ``controlled="flow"`` it is ``e_i = −ρ_i(f_i)``.

    Parameters
    ----------
    relations : tuple of Relation
        Functions ρ_i, such as :func:`flexph.laws.viscous`.
    controlled : {"effort", "flow"}
        Argument of the functions.
    """

    relations: tuple[Relation, ...]
    controlled: Control = "effort"

    def __post_init__(self) -> None:
        check.choice("controlled", self.controlled, ("effort", "flow"))
        for r in self.relations:
            if not isinstance(r, Relation):
                raise ValueError(
                    f"relations must come from viscous, quadratic, coulomb or resistive of flexph.laws, got {r!r}"
                )
        object.__setattr__(self, "relations", tuple(self.relations))

    @property
    def size(self) -> int:
        """Number m of entries."""
        return len(self.relations)

    def matrix(self, efforts: Array) -> Array:
        """Diagonal matrix ρ_i(e_i)/e_i (m, m), with f = −R(e) e."""
        return np.diag([float(r.resistance(e)) for r, e in zip(self.relations, efforts, strict=True)])

    def matrices(self, x: Array, efforts: Array) -> tuple[Array, Array]:
        """Symmetric part R of :meth:`matrix`, and skew part S = 0."""
        return self.matrix(efforts), np.zeros((self.size,) * 2)


@checked
@dataclass(frozen=True, eq=False, kw_only=True)
class MultiportCharacteristic(Resistance):
    """Characteristic ``f = −F(e)`` with ``eᵀF(e) ≥ 0`` ([survey] eq. (2.17)-(2.18)); ``e = −F(f)`` if flow-controlled.

    F: ℝᵐ → ℝᵐ may be the gradient ∂𝓡/∂e of a convex Rayleigh function, or have an asymmetric Jacobian (transistors).
    At each e, ``F(e) = (R + S) e`` with R ⪰ 0 and S = −Sᵀ from :func:`splitting` of the mean slope
    ``L = ∫₀¹ F'(se) ds``, for which F(e) = L e. R and S are the symmetric and the skew part of L if the symmetric part
    is positive definite.

    Parameters
    ----------
    entries : int
        Number m of entries.
    function : callable
        F (m,).
    slope : callable, optional
        Jacobian of F (m, m); by default by differences.
    scale : float or array_like
        Typical size of efforts, a number or (m,) in their units; give it if units differ. For efforts of about
        this size eᵀF(e) ≥ 0 is checked in random directions; steps of differences and comparisons of entries are
        relative to it.
    controlled : {"effort", "flow"}
        Argument of F.

    Raises
    ------
    ValueError
        If power is generated, at construction or at any evaluated efforts; the message has efforts and power.
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
        """Number m of entries."""
        return self.entries

    def force(self, efforts: Array) -> Array:
        """Value F(e) (m,) of the function."""
        return check.array("F(e)", check.value_of("a resistive characteristic", self.function, efforts), (self.size,))

    def power(self, efforts: Array) -> float:
        """Power eᵀF(e); raises ValueError if it is negative."""
        terms = efforts * self.force(efforts)
        if terms.sum() < -GENERATED * np.abs(terms).sum():
            raise ValueError(f"eᵀF(e) must not be negative, it is {terms.sum():.3g} at e = {efforts}")
        return float(terms.sum()) if terms.sum() > ZERO * np.abs(terms).sum() else 0.0

    def mean_slope(self, efforts: Array) -> Array:
        """Mean slope ``L = ∫₀¹ F'(se) ds`` (m, m) by quadrature, exact for F up to degree 4."""
        slopes = [self._slope(s * efforts) for s in NODES]
        return 0.5 * (slopes[0] + slopes[1])

    def _slope(self, efforts: Array) -> Array:
        """Jacobian F', given or by central differences."""
        if self.slope is not None:
            return check.array("slope", self.slope(efforts), (self.size,) * 2)
        moved = float(np.max(np.abs(efforts) / self.scale)) or 1.0
        steps = CENTRAL * moved * self.scale
        return np.array([central(self.force, efforts, move) for move in np.diag(steps)]).T / steps

    def matrices(self, x: Array, efforts: Array) -> tuple[Array, Array]:
        """Matrices R ⪰ 0 and S = −Sᵀ of ``(R + S) e = F(e)``, by :func:`splitting` of efforts divided by ``scale``."""
        unit = np.outer(self.scale, self.scale)
        L, force = self.mean_slope(efforts) * unit, self.force(efforts) * self.scale
        R, S = splitting(L, efforts / self.scale, force, self.power(efforts))
        return R / unit, S / unit


def splitting(L: Array, e: Array, force: Array, power: float) -> tuple[Array, Array]:
    """Matrices R = Rᵀ ⪰ 0 and S = −Sᵀ (m, m) with ``(R + S) e = F`` and R + S near L, for eᵀF = p ≥ 0, the ``power``.

    With B = C Cᵀ the positive part of the symmetric part of L, A its skew part, w = B e, b = eᵀw, g = (p/b) w,

        R = B + (p − b)/b² w wᵀ = K Kᵀ,   K = C + (√(p/b) − 1)/b w (Cᵀe)ᵀ
        S = A + (d wᵀ − w dᵀ)/b,          d = F − g − A e

    Then Re = g, and Se = F − g as eᵀd = 0. If L e = F and the symmetric part is positive, R = B and S = A. If B has
    no dissipation along e, as for vanishing slopes, w = e and R = p/b² w wᵀ. All entries must have one unit.
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
    """Resistance of a port from a user's value, for a system with a state ``sample``.

    The value is a number or matrix R of f = −R e, relations, a :class:`Resistance`, or a function of the state x that
    returns one of these.
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
