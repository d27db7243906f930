"""Methods of general systems: discrete gradients, collocation, and solvers of libraries."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any, Literal, get_args

from ...numerics import checks as check
from ...numerics.arguments import checked
from ...numerics.arrays import Numbers
from ..times.step_size import RELATIVE, read_tolerances
from .method import Completion, GeneralMethod, check_completion, frozen_tolerance

Gradient = Literal["gonzalez", "mean_value", "invariants", "pair"]
"""Discrete gradients that :class:`DiscreteGradient` accepts by name."""


@checked
@dataclass(frozen=True, repr=False)
class DiscreteGradient(GeneralMethod):
    """Discrete gradient pairs ([dg] eq. (18)-(21)): ΔH = work − dissipation to round-off at any step.

    Ē (x₁ − x₀) = h (J̄ − R̄) z̄ + h B̄ u with Ēᵀz̄ a discrete gradient of H, for systems with a constant E (proposition
    2) or semi-explicit ones. For other singular E(x) of constant rank the gradient lies in the range of Ēᵀ, as in
    :class:`DiracDissipative`. Of second order in differential states, also on index 2. The default method of general
    systems: with the system's own pair if it has one, else with Gonzalez' gradient.

    A step solves for the algebraic states at its middle. ``completion`` defines those at its ends ([dg] examples 5 and
    6); the differential states and the energy do not depend on it.

    With a ``tolerance``, ``times`` are only the saved times. Pairs of equal steps between them are chosen by the error
    of their differential states over rtol·|x| + atol; ``ledger.steps`` and ``ledger.rejected`` count the steps.

    Parameters
    ----------
    gradient : {"gonzalez", "mean_value", "invariants", "pair"}
        Gonzalez' midpoint gradient; the mean value of the gradient between the ends; the gradient of H as a function of
        the system's quadratic ``invariants``; or the pair among the system's own ``means`` (:class:`flexph.PHDAE`,
        :func:`flexph.discretisation.with_pair`), for descriptors E(x) of any kind.
    tolerance : float or (float, float or array), optional
        rtol or (rtol, atol), atol a number or (n,); by default atol is rtol times a size that each state has from the
        start and its energy. Without a tolerance ``times`` prescribe the steps.
    completion : {"new", "old", "mean"}, optional
        Rule for the algebraic states at the ends of steps, from those X₂ at the middle. ``new`` (the default): X₂ is
        the value at the end of the step; ``old``: X₂ is the value at its start, and also in the final state of the run;
        both are of first order. ``mean``: X₂ is the mean of both ends, of second order on index 1, from a start with
        consistent algebraic states (:func:`flexph.consistency.consistent`), as a defect of the start alternates from
        step to step. If given, E must have algebraic states. Not for ``pair``.

    Raises
    ------
    ValueError
        For unknown gradients and completions, tolerances that are not positive, and ``pair`` with a completion.

    Examples
    --------
    >>> DiscreteGradient("mean_value", tolerance=(1e-6, 1e-9))
    DiscreteGradient('mean_value', tolerance=(1e-06, 1e-09))
    """

    gradient: Gradient = "gonzalez"
    _: KW_ONLY
    tolerance: Any = None
    completion: Completion | None = None

    def __post_init__(self) -> None:
        check.choice("gradient", self.gradient, get_args(Gradient))
        _check_options(self)
        if self.gradient == "pair":
            _refuse(self, "'gonzalez', 'mean_value' and 'invariants'", "completion")

    @property
    def name(self) -> str:
        """Name of the method, which is the name of its gradient."""
        return self.gradient


@checked
@dataclass(frozen=True, repr=False, kw_only=True)
class DiracDissipative(GeneralMethod):
    """Dirac-dissipative form ([dg] eq. (25)-(26)), for any E of constant rank: Gonzalez' gradient in im Ēᵀ.

    ΔH = work − dissipation to round-off at any step, of second order. If the null space of E varies, a start must
    satisfy the algebraic equations, the index must be 1, and steps lose order while algebraic states move and no
    differential one does. A step costs more than one of :class:`DiscreteGradient`, whose results are equal if E is
    constant.

    Parameters
    ----------
    tolerance, completion
        See :class:`DiscreteGradient`.

    Raises
    ------
    ValueError
        For unknown completions and tolerances that are not positive.

    Examples
    --------
    >>> DiracDissipative(completion="mean")
    DiracDissipative(completion='mean')
    """

    tolerance: Any = None
    completion: Completion | None = None

    def __post_init__(self) -> None:
        _check_options(self)

    @property
    def name(self) -> str:
        """Name ``dirac``."""
        return "dirac"


@checked
@dataclass(frozen=True, repr=False)
class Gauss(GeneralMethod):
    """Gauss collocation of order 2 (the midpoint rule), 4 or 6 (E. Hairer, C. Lubich, G. Wanner, sec. II.1).

    Balanced if H is quadratic, symmetric, and of order 2s with s stages in differential states of index 1; for index 2
    see docs/guide/time-integration.md. Algebraic states are those of the middle of the step if s = 1, else they are
    extrapolated from the stages, of order s. If the null space of E(x) varies, steps of order 4 and 6 end on the
    algebraic equations, with that order in all states; the index must be 1. A step solves for all stages together.

    Parameters
    ----------
    order : {2, 4, 6}
        Twice the number of stages.
    tolerance, completion
        See :class:`DiscreteGradient`; of order 2 only.

    Raises
    ------
    ValueError
        For other orders, and for a tolerance or completion with order 4 or 6.

    Examples
    --------
    >>> Gauss(4)
    Gauss(4)
    >>> Gauss(4, tolerance=1e-3)
    Traceback (most recent call last):
        ...
    ValueError: tolerance=0.001 is for Gauss(2), got Gauss(4, tolerance=0.001)
    """

    order: Literal[2, 4, 6]
    _: KW_ONLY
    tolerance: Any = None
    completion: Completion | None = None

    def __post_init__(self) -> None:
        if self.order not in (2, 4, 6):
            raise ValueError(f"order must be 2, 4 or 6, got {self.order!r}")
        _check_options(self)
        if self.order > 2:
            _refuse(self, "Gauss(2)", "tolerance", "completion")

    @property
    def name(self) -> str:
        """Name of the method, by its order: ``midpoint``, ``gauss4`` or ``gauss6``."""
        return "midpoint" if self.order == 2 else f"gauss{self.order}"


def _check_options(method: DiscreteGradient | DiracDissipative | Gauss) -> None:
    object.__setattr__(method, "tolerance", frozen_tolerance(method.tolerance))
    if method.tolerance is not None:
        read_tolerances(method.tolerance)
    check_completion(method.completion)


def _refuse(method: GeneralMethod, takers: str, *options: str) -> None:
    """Raise ValueError if one of the options named in ``options`` is set in a method that does not support it.

    ``takers`` is a text for the message that names the methods which support the option.
    """
    for option in options:
        value = getattr(method, option)
        if not (value is None or value is False):
            raise ValueError(f"{option}={value!r} is for {takers}, got {method}")


@dataclass(frozen=True, repr=False)
class Library(GeneralMethod):
    """Adaptive method of another package, on ``F(t, x, ẋ) = E(x)ẋ − (J − R)z − Bu`` of index 1 or 2.

    ``times`` are only the saved times. Multipliers of index 2 take no part in the error test: they are accurate to the
    tolerance of the momenta over the step. If E(x) is singular and not semi-explicit, its rank must be constant, and
    the index 1. Algebraic states of the start are replaced by consistent ones. Work and dissipation are integrals of
    power along the interpolant: the energy balance holds to the tolerance only, and with drives only to the tolerance
    of the drives' multipliers. The cost of a step depends on the order that the package chooses.

    Parameters
    ----------
    rtol : float
        Relative tolerance of the states.
    atol : float or array, optional
        Absolute tolerances, a number or (n,). By default rtol times a size that each state has from the start and its
        energy.

    Raises
    ------
    ValueError
        For tolerances that are not positive, and rtol below 1e-12 or not below 1.
    """

    rtol: float = RELATIVE
    _: KW_ONLY
    atol: Numbers | None = None

    def __post_init__(self) -> None:
        rtol, atol = frozen_tolerance((self.rtol, self.atol))
        object.__setattr__(self, "atol", atol)
        read_tolerances((rtol, atol))

    @property
    def tolerance(self) -> tuple[float, Any]:
        """Relative and absolute tolerance (rtol, atol)."""
        return self.rtol, self.atol

    @property
    def name(self) -> str:
        """Name of the method: that of its class, in lower case."""
        return type(self).__name__.lower()


@checked
class Radau(Library):
    """Radau IIA of order 5, of scipy_dae (extra ``dae``).

    For stiff systems and many digits (E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, sec. IV.8).
    Parameters and errors as for :class:`Library`; ImportError of :func:`flexph.integrate` without the package.

    Examples
    --------
    >>> Radau(1e-8, atol=1e-10)
    Radau(1e-08, atol=1e-10)
    """


@checked
class BDF(Library):
    """Backward differentiation formulas of orders 1 to 5, of scipy_dae (extra ``dae``).

    Limited to order 2 if fast oscillations at the start are hardly damped: orders above 2 amplify these. Parameters and
    errors as for :class:`Library`; ImportError of :func:`flexph.integrate` without the package.
    """


@checked
class IDA(Library):
    """Backward differentiation formulas of orders 1 to 5, IDA of SUNDIALS by scikit-sundae (extra ``ida``).

    A. C. Hindmarsh et al., SUNDIALS: Suite of nonlinear and differential/algebraic equation solvers, ACM Transactions
    on Mathematical Software 31, 2005. Orders as for :class:`BDF`, parameters and errors as for :class:`Library`;
    ImportError of :func:`flexph.integrate` without the package.
    """
