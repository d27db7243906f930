"""Methods of mechanisms that keep energy balance, rotations, position constraints and momenta to round-off."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Literal

from ...kernels.convergence.tolerances import HISTORY
from ...numerics import checks as check
from ...numerics.arguments import checked
from ..times.step_size import read_tolerance
from .method import MechanismMethod, Redundancy, check_redundant, frozen_tolerance


@checked
@dataclass(frozen=True, repr=False, kw_only=True)
class Exact(MechanismMethod):
    """Exact scheme of mechanisms, a discrete gradient pair ([dg] eq. (18)); the default method of mechanisms.

    With steps of any length, ΔH = work − dissipation, RᵀR = 1, position constraints and the balances of linear and
    angular momentum hold to round-off. The scheme is symmetric, of second order in positions, velocities and midpoint
    multipliers, and adds no numerical damping. Velocities keep the constraints in the mean of each step, and at its
    ends to second order; the alternating part that this adds to the multipliers is removed from those returned and left
    in the ``stage_multipliers``. With equal steps all orders hold; if long and short steps alternate, velocities and
    multipliers fall to first order.

    With a ``tolerance``, ``times`` are only the saved times, which are met exactly. Steps between them come in pairs
    of equal length that are accepted or rejected together. Their error is that of velocities in the norm of kinetic
    energy, relative to the largest one of the run or atol [J] if that is larger; modes that a step does not resolve
    count by 4/(hω)². Errors of positions, velocities and multipliers are proportional to rtol. ``ledger.steps`` and
    ``ledger.rejected`` count the steps.

    A step solves for the velocities and multipliers of its middle by Newton's method, mostly in two or three
    iterations with one factorisation. Drives and inputs must be functions of time alone: they are evaluated many steps
    ahead, drives that take arrays for all times at once.

    Parameters
    ----------
    tolerance : float or (float, float), optional
        rtol or (rtol, atol [J]): steps are chosen by their error. By default ``times`` prescribe them.
    redundant : {"refuse", "least_norm"}
        Treatment of constraints that follow from others (the parallel hinges of a closed loop in space): refused, with
        their names, or accepted. The motion does not depend on them. Of all multipliers that give this motion those of
        least norm are returned, with torques divided by a length of the size of the mechanism.
    contact : {"events", "steps"}
        Treatment of impacts of rigid contacts (:class:`flexph.contacts.Rigid`): a step is split at each impact, exact
        in time and for few contacts, or all impacts of a step are at its start, for many and without ``tolerance``.

    Raises
    ------
    ValueError
        For a tolerance that is not positive.

    Examples
    --------
    >>> Exact(tolerance=1e-4)
    Exact(tolerance=0.0001)
    """

    tolerance: float | tuple[float, float] | None = None
    redundant: Redundancy = "refuse"
    contact: Literal["events", "steps"] = "events"

    def __post_init__(self) -> None:
        object.__setattr__(self, "tolerance", frozen_tolerance(self.tolerance))
        if self.tolerance is not None:
            read_tolerance(self.tolerance)
        check_redundant(self.redundant)
        check.choice("contact", self.contact, ("events", "steps"))

    @property
    def name(self) -> str:
        """Name ``exact``."""
        return "exact"


@checked
@dataclass(frozen=True, repr=False, kw_only=True)
class Exact4(MechanismMethod):
    """Fourth-order composition of the exact scheme: six substeps in each step, in three pairs.

    The composition Ψ(γ₁h) Ψ(γ₂h) Ψ(γ₁h) with γ₁ = 1/(2 − 2^⅓) and γ₂ = 1 − 2γ₁ (triple jump; E. Hairer, C. Lubich, G.
    Wanner, Geometric Numerical Integration, sec. II.4) is as exact as :class:`Exact`, of fourth order in positions and
    velocities, of third in multipliers. For mechanisms without damping, since two substeps go back in time. Drives are
    evaluated at times up to 0.352 h before and after each step, inputs (at the middles of the substeps) up to 0.0135 h;
    tables that end with the run are extrapolated linearly. A step costs as much as six of :class:`Exact`.

    Parameters
    ----------
    redundant
        See :class:`Exact`.

    Raises
    ------
    ValueError
        By :func:`flexph.integrate` for a mechanism that dissipates.

    Examples
    --------
    >>> Exact4(redundant="least_norm")
    Exact4(redundant='least_norm')
    """

    redundant: Redundancy = "refuse"

    def __post_init__(self) -> None:
        check_redundant(self.redundant)

    @property
    def name(self) -> str:
        """Name ``exact4``."""
        return "exact4"


@checked
@dataclass(frozen=True, repr=False)
class ExactGauss(MechanismMethod):
    """Gauss collocation with the invariants of the exact scheme (docs/guide/time-integration.md), damped or not.

    Collocation preserves quadratic functions of its variables. Arms, products of joint vectors, inertias and momenta
    are collocated together with the coordinates, so that all invariants are quadratic.

    Three stages are of sixth order in positions, of fourth in velocities at equal steps, of third in multipliers;
    without constraints of sixth in all. An odd number of stages is better than the even one above it: velocities of
    two stages are of second order (E. Hairer, C. Lubich, M. Roche, The numerical solution of differential-algebraic
    systems by Runge-Kutta methods, 1989, chapter 5).

    For mechanisms without friction laws, hysteresis, redundant constraints and large bodies about mean axes. In a
    mechanism of more than 300 velocities the matrices of the bodies must have narrow bands, or full matrices of up to
    600 coordinates. A step of three stages costs as much as ten of :class:`Exact`. Inputs and force laws of springs are
    evaluated at the Gauss points of each step; the forces of elastic laws are projected on the polynomials of the step,
    with exact energies. Drives, moving references and factors of laws are polynomials through the Gauss-Lobatto points
    of each step.

    Parameters
    ----------
    stages : int
        Number of Gauss points, 1 to 5.

    Raises
    ------
    ValueError
        For a number of stages that is not from 1 to 5.

    Examples
    --------
    >>> ExactGauss()
    ExactGauss()
    """

    stages: int = 3

    def __post_init__(self) -> None:
        if check.count("stages", self.stages) > HISTORY:
            raise ValueError(f"stages must be at most {HISTORY}, got {self.stages}")

    @property
    def name(self) -> str:
        """Name ``exact_gauss``."""
        return "exact_gauss"


@checked
@dataclass(frozen=True, repr=False)
class Decaying(MechanismMethod):
    """Energy-decaying scheme: exact in positions and momenta, dissipates motions that a step cannot resolve.

    Vibrations of a body with hω ≫ 1 and velocities against the constraints, such as after a jump of a drive, are
    reduced to the spectral radius ρ at each step. Those with hω ≪ 1 lose (hω)⁴/4 (1 − ρ)/(1 + ρ) of their energy, rigid
    motions nothing. Of second order. The loss is ``ledger.dissipation["numerical"]``, so that the balance closes to
    round-off (derivation in docs/guide/time-integration.md). For mechanisms of up to 300 velocities, and larger ones
    in which the matrices of the bodies have narrow bands, or are full with up to 600 coordinates.

    Parameters
    ----------
    radius : float
        Spectral radius ρ at high frequencies, 0 to 1; 1 is the exact scheme.
    tolerance, redundant
        See :class:`Exact`.

    Raises
    ------
    ValueError
        For a radius that does not lie between 0 and 1.

    Examples
    --------
    >>> Decaying(0.8, tolerance=1e-4)
    Decaying(0.8, tolerance=0.0001)
    """

    radius: float = 0.5
    _: KW_ONLY
    tolerance: float | tuple[float, float] | None = None
    redundant: Redundancy = "refuse"

    def __post_init__(self) -> None:
        if not 0.0 <= check.number("radius", self.radius) <= 1.0:
            raise ValueError(f"radius must lie between 0 and 1, got {self.radius}")
        object.__setattr__(self, "tolerance", frozen_tolerance(self.tolerance))
        if self.tolerance is not None:
            read_tolerance(self.tolerance)
        check_redundant(self.redundant)

    @property
    def name(self) -> str:
        """Name ``decaying``."""
        return "decaying"
