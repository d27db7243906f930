"""Control loops of a run of a mechanism, and checks that the method of the run supports them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..control.control_loops import Controller, ControlLoops
from ..mechanisms.mechanism import Mechanism
from ..mechanisms.model.accounts import Accounts
from ..mechanisms.model.references import controlled_factors
from ..mechanisms.model.state import State
from .methods.exact import Exact4, ExactGauss
from .methods.method import MechanismMethod


def loops_of(
    mechanism: Mechanism, start: State, method: MechanismMethod, controllers: Mapping[str, Controller]
) -> ControlLoops:
    """Control loops of a run from ``start``, after checks that the method and the mechanism support the controllers.

    Raises ValueError if they do not.
    """
    loops = ControlLoops(mechanism, controllers, start)
    _refuse_springs(mechanism, loops)
    if loops.called and method.tolerance is not None:
        raise ValueError(
            f"controllers that are called between steps, such as {loops.called[0].name!r}, need prescribed steps, "
            f"got {method}: leave its tolerance out"
        )
    if loops.coupled is not None:
        _check_coupled(mechanism, loops, method)
        if isinstance(method, ExactGauss):
            loops.coupled.evaluate_at(method.stages)
        fastest = float(np.abs(start.x[mechanism.layout.parts_of_motion]).max(initial=0.0))
        loops.coupled.check_starts(start.x, start.time, fastest)
    return loops


def _check_coupled(mechanism: Mechanism, loops: ControlLoops, method: MechanismMethod) -> None:
    """Raise ValueError if controllers that are solved within steps do not suit the method or the mechanism.

    The method may not support them at all, or not their sensors or systems; or a controller has the name of an energy
    account of the mechanism.
    """
    coupled = loops.coupled
    assert coupled is not None
    name = (coupled.controllers or coupled.feedback)[0].name
    if isinstance(method, Exact4):
        raise ValueError(
            f"Exact4() has steps back in time, in which nothing may dissipate, as controller {name!r} may within the "
            "step: use Exact(), or a Sampled, which is called between steps"
        )
    if isinstance(method, ExactGauss) and coupled.controllers:
        raise ValueError(
            f"ExactGauss() does not support the Continuous {name!r}, which has states within the step: use Exact() or "
            "a StateFeedback"
        )
    if not (_takes_any(method) or loops.is_compiled):
        raise ValueError(
            f"controller {name!r} within the steps of {method} must be evaluated by the loops, which do not support "
            f"its {'sensors' if coupled.feedback else 'system'}: use Exact(), or a Sampled, called between steps"
        )
    accounts = mechanism.once(Accounts)
    for controller in coupled.controllers:
        if controller.name in accounts.dissipation or f"stored {controller.name}" in accounts.energy:
            raise ValueError(
                f"controller {controller.name!r} needs another name: an element of the mechanism has this one"
            )


def _refuse_springs(mechanism: Mechanism, loops: ControlLoops) -> None:
    """Raise ValueError for controllers solved within steps that would set a stiffness or a coefficient of friction."""
    within = [] if loops.coupled is None else loops.coupled.entries.tolist()
    for factor in mechanism.once(controlled_factors):
        if factor.entry in within:
            raise ValueError(
                f"the {factor.what} of {factor.name!r} is for Sampled controllers, which are called between steps"
            )


def _takes_any(method: MechanismMethod) -> bool:
    """True if controllers within the steps of a method may be evaluated in Python.

    The method then repeats a step until mechanism and controllers agree.
    """
    return method.tolerance is None and not isinstance(method, ExactGauss)
