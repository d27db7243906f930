"""Adaptive methods of other packages: Radau IIA and BDF of scipy_dae, IDA of SUNDIALS."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

from ...numerics.arguments import checked
from ...numerics.arrays import Numbers
from ..times.step_size import RELATIVE, read_tolerances
from .method import GeneralMethod, frozen_tolerance


@dataclass(frozen=True, repr=False)
class Library(GeneralMethod):
    """Adaptive method of another package, on ``F(t, x, ẋ) = E(x)ẋ − (J − R)z − Bu`` of index 1 or 2.

    ``times`` are only the saved times. Multipliers of index 2 take no part in the error test: they are accurate to the
    tolerance of the momenta over the step. If E(x) is singular and not semi-explicit, its rank must be constant, and
    the index 1. Algebraic states of the start are replaced by consistent ones. Work and dissipation are integrals of
    power along the interpolant: the balance holds to the tolerance only, at drives to that of their multipliers. The
    cost of a step depends on the order that the package chooses.

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
        """(rtol, atol)."""
        return self.rtol, self.atol

    @property
    def name(self) -> str:
        """Class name in small letters."""
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

    Held to order 2 if fast oscillations of the start are hardly damped, which orders above 2 amplify. Parameters and
    errors as for :class:`Library`; ImportError of :func:`flexph.integrate` without the package.
    """


@checked
class IDA(Library):
    """Backward differentiation formulas of orders 1 to 5, IDA of SUNDIALS by scikit-sundae (extra ``ida``).

    A. C. Hindmarsh et al., SUNDIALS: Suite of nonlinear and differential/algebraic equation solvers, ACM Transactions
    on Mathematical Software 31, 2005. Orders as for :class:`BDF`, parameters and errors as for :class:`Library`;
    ImportError of :func:`flexph.integrate` without the package.
    """
