"""The stepper that a method makes for a mechanism."""

from __future__ import annotations

from functools import singledispatch
from typing import TYPE_CHECKING, NamedTuple

from ...kernels.tolerances import WOVEN
from ...mechanisms.model.constraints import Checked
from ...mechanisms.model.state import State
from ...mechanisms.model.time_table import TimeTable
from ...systems.inputs import Forcing
from .. import methods
from ..times.step_size import read_tolerance
from .composition import fourth_order
from .decaying import Decaying
from .gauss import Gauss
from .pairs_of_steps import Pairs
from .step import Method, Single

if TYPE_CHECKING:
    from ...mechanisms.model.model import Model


class Given(NamedTuple):
    """What a stepper is made for: a mechanism, its checked start, and what time prescribes."""

    mechanism: Model
    start: State
    forcing: Forcing
    table: TimeTable
    checked: Checked

    def single(self, depth: int, *, least_norm: bool) -> Single:
        """The single step of the exact scheme, which remembers so many steps."""
        known = (self.checked.c, self.checked.d)
        return Single(
            self.mechanism,
            self.start,
            self.forcing,
            least_norm=least_norm,
            depth=depth,
            table=self.table,
            known=known,
        )


@singledispatch
def stepper_of(method: methods.MechanismMethod, given: Given) -> Method:
    """What takes the steps of a method.

    Compositions go back and forth and control takes second differences, so both remember more.
    """
    raise TypeError(f"there are no steps of {method} for mechanisms")


@stepper_of.register(methods.Exact)
def _exact(method: methods.Exact, given: Given) -> Method:
    depth = 2 if method.tolerance is None else 3
    return _controlled(given.single(depth, least_norm=method.redundant == "least_norm"), method)


@stepper_of.register(methods.Exact4)
def _exact4(method: methods.Exact4, given: Given) -> Method:
    return fourth_order(given.single(WOVEN, least_norm=method.redundant == "least_norm"))


@stepper_of.register(methods.ExactGauss)
def _exact_gauss(method: methods.ExactGauss, given: Given) -> Method:
    return Gauss(given.single(method.stages, least_norm=False), method.stages)


@stepper_of.register(methods.Decaying)
def _decaying(method: methods.Decaying, given: Given) -> Method:
    depth, least_norm = 2 if method.tolerance is None else 3, method.redundant == "least_norm"
    mechanism, start, forcing = given.mechanism, given.start, given.forcing
    single = Decaying(mechanism, start, forcing, radius=method.radius, least_norm=least_norm, depth=depth)
    return _controlled(single, method)


def _controlled(single: Single, method: methods.Exact | methods.Decaying) -> Method:
    """The single step, or pairs of them where a tolerance chooses their length."""
    return single if method.tolerance is None else Pairs(single, read_tolerance(method.tolerance))
