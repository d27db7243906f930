"""One-step methods of general systems, made from method values."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from ...discretisation.gauss_collocation import GaussCollocation
from ...discretisation.own_pair import OwnPair
from ...discretisation.parametrized import dirac_form, gradient_pair
from ...systems.nonlinear import PHDAE
from .. import methods
from .completion import completed
from .stepper import OneStepMethod


def one_step_method(method: methods.GeneralMethod, system: PHDAE) -> OneStepMethod:
    """Select the one-step method for a system, with its completion of algebraic states; raises ValueError without any.

    It keeps the Jacobian of its last iteration: each run makes a separate one.
    """
    return completed(_equations(method, system), system, method.completion)


@singledispatch
def _equations(method: Any, system: PHDAE) -> OneStepMethod:
    raise TypeError(f"there are no steps of {method} for general systems")


@_equations.register
def _gradient(method: methods.DiscreteGradient, system: PHDAE) -> OneStepMethod:
    return OwnPair(system) if method.gradient == "pair" else gradient_pair(system, method.gradient)


@_equations.register
def _dirac(method: methods.DiracDissipative, system: PHDAE) -> OneStepMethod:
    return dirac_form(system)


@_equations.register
def _gauss(method: methods.Gauss, system: PHDAE) -> OneStepMethod:
    return gradient_pair(system, "midpoint") if method.order == 2 else GaussCollocation(system, method.order // 2)
