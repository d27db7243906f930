"""User-defined spring forces, as functions of extension, rate and time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.memo import PickledByCall

REACH = 1e-6
"""Step of the differences of a force by extension and rate, relative to each or to one."""


@dataclass(frozen=True)
class ForceLaw(PickledByCall):
    """Spring force F(x, v, t) [N or N m] of the extension x [m or rad], its rate v and the time t; positive in tension.

    The law stores no energy. In a step the force is evaluated at the mean extension, the mean rate and the middle time,
    and does the work −F Δx on the mechanism. The ledger records energy that the force absorbs (F v > 0) as dissipation
    under the name of the spring, and energy that it supplies as work under the same name.

    Parameters
    ----------
    function : callable
        Function F(x, v, t) of the extension, its rate and the time.
    """

    function: Callable[[float, float, float], float]

    def force(self, extension: float, rate: float = 0.0, time: float = 0.0) -> float:
        """Force F(x, v, t); raises ValueError if the function raises or returns no finite number."""
        place = f"the extension {extension:.6g}, the rate {rate:.6g} and t = {time:.6g} s"
        try:
            value = float(self.function(extension, rate, time))
        except Exception as error:
            raise ValueError(f"{self} at {place} raised {type(error).__name__}: {error}") from error
        if not isfinite(value):
            raise ValueError(f"{self} must be finite, got {value} at {place}")
        return value

    def stiffness(self, extension: float, time: float = 0.0, rate: float = 0.0) -> float:
        """Derivative ∂F/∂x at an extension, a rate and a time, by central differences."""
        step = REACH * max(abs(extension), 1.0)
        return (self.force(extension + step, rate, time) - self.force(extension - step, rate, time)) / (2.0 * step)

    def damping(self, extension: float, rate: float = 0.0, time: float = 0.0) -> float:
        """Derivative ∂F/∂v with respect to the rate at an extension, a rate and a time, by central differences."""
        step = REACH * max(abs(rate), 1.0)
        return (self.force(extension, rate + step, time) - self.force(extension, rate - step, time)) / (2.0 * step)

    def __str__(self) -> str:
        return f"force_law({getattr(self.function, '__name__', 'function')})"


@checked
def force_law(function: Callable[[float, float, float], float]) -> ForceLaw:
    """Make a law from a function of the extension, its rate and the time.

    An elastic part of the force is recorded as work, not as stored energy: for elastic forces use
    :func:`flexph.laws.potential`.

    Parameters
    ----------
    function : callable
        F(x, v, t) [N or N m], positive where it pulls.

    Returns
    -------
    ForceLaw
        For ``law=`` of springs.

    Raises
    ------
    ValueError
        For an argument that is not a function.

    Examples
    --------
    >>> from math import sin
    >>> from flexph import GROUND, spring_damper
    >>> from flexph.laws import force_law
    >>> muscle = force_law(lambda x, v, t: 20.0 * sin(5.0 * t) + 2.0 * v)
    >>> actuator = spring_damper("arm.tip", GROUND.at(0.0, 1.0), law=muscle, length=0.5)
    """
    if not callable(function):
        raise ValueError(f"function must be a function of extension, rate and time, got {check.shown(function)}")
    return ForceLaw(function)
