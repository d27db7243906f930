"""The stepper that a method makes for a mechanism."""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING, NamedTuple

from ...kernels.tolerances import HISTORY
from ...mechanisms.model.constraints import Checked
from ...mechanisms.model.state import State
from ...mechanisms.model.time_table import TimeTable
from ...systems.inputs import Forcing
from .. import methods
from ..times.step_size import read_tolerance
from .composition import fourth_order
from .decaying import DecayingStepper
from .gauss import GaussStepper
from .pairs_of_steps import PairStepper
from .step import ExactStepper, Stepper

if TYPE_CHECKING:
    from ...mechanisms.model.model import Model


class Given(NamedTuple):
    """What a stepper is for: a mechanism, its checked start, and what time prescribes."""

    mechanism: Model
    start: State
    forcing: Forcing
    table: TimeTable
    checked: Checked

    def exact(self, depth: int, *, least_norm: bool) -> ExactStepper:
        """The single step of the exact scheme, which remembers so many steps."""
        known = (self.checked.c, self.checked.d)
        return ExactStepper(
            self.mechanism,
            self.start,
            self.forcing,
            least_norm=least_norm,
            depth=depth,
            table=self.table,
            known=known,
        )


@singledispatch
def stepper_of(method: methods.MechanismMethod, given: Given) -> Stepper:
    """What takes the steps of a method.

    Compositions go back and forth and control takes second differences, so both remember more.
    """
    raise TypeError(f"there are no steps of {method} for mechanisms")


@stepper_of.register(methods.Exact)
def _exact(method: methods.Exact, given: Given) -> Stepper:
    depth = 2 if method.tolerance is None else 3
    return _controlled(given.exact(depth, least_norm=method.redundant == "least_norm"), method)


@stepper_of.register(methods.Exact4)
def _exact4(method: methods.Exact4, given: Given) -> Stepper:
    return fourth_order(given.exact(HISTORY, least_norm=method.redundant == "least_norm"))


@stepper_of.register(methods.ExactGauss)
def _exact_gauss(method: methods.ExactGauss, given: Given) -> Stepper:
    return GaussStepper(given.exact(method.stages, least_norm=False), method.stages)


@stepper_of.register(methods.Decaying)
def _decaying(method: methods.Decaying, given: Given) -> Stepper:
    depth, least_norm = 2 if method.tolerance is None else 3, method.redundant == "least_norm"
    mechanism, start, forcing = given.mechanism, given.start, given.forcing
    stepper = DecayingStepper(mechanism, start, forcing, radius=method.radius, least_norm=least_norm, depth=depth)
    return _controlled(stepper, method)


def _controlled(stepper: ExactStepper, method: methods.Exact | methods.Decaying) -> Stepper:
    """The single step, or pairs of them where a tolerance chooses their length."""
    return stepper if method.tolerance is None else PairStepper(stepper, read_tolerance(method.tolerance))
