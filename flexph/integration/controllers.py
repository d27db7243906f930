"""The controllers of a run of a mechanism, which its method must know how to take."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..control.control_loops import Controller, ControlLoops
from ..control.joined import Joined
from ..mechanisms.mechanism import Mechanism
from ..mechanisms.model.accounts import Accounts
from ..mechanisms.model.state import State
from .methods import Exact, MechanismMethod


def loops_of(
    mechanism: Mechanism, start: State, method: MechanismMethod, controllers: Mapping[str, Controller]
) -> ControlLoops | None:
    """The controllers of a run, or None; raises ValueError for methods and mechanisms that they are not for."""
    if not controllers:
        return None
    if method.tolerance is not None:
        raise ValueError(f"controllers need steps that are given, got {method}: leave its tolerance out")
    loops = ControlLoops(mechanism, controllers, start)
    if loops.joined is not None:
        _check_joined(mechanism, loops.joined, method)
        fastest = float(np.abs(start.x[mechanism.layout.parts_of_motion]).max(initial=0.0))
        loops.joined.check_starts(start.x, start.time, fastest)
    return loops


def _check_joined(mechanism: Mechanism, joined: Joined, method: MechanismMethod) -> None:
    """Raise ValueError where controllers within the step cannot be, or share the name of an account."""
    if not isinstance(method, Exact):
        told = "a Continuous or StateFeedback is solved within the steps of Exact()"
        raise ValueError(f"{told}, got {method}: take Exact(), or a Sampled, which is called between steps")
    if mechanism.network.arrays.contacts.laws.rigid.any():
        told = "a Continuous or StateFeedback is not for mechanisms with rigid contacts"
        raise ValueError(f"{told}: take a Sampled, which is called between steps")
    if mechanism.network.arrays.bearings.number:
        told = "a Continuous or StateFeedback is not for mechanisms with CoulombFriction of joints"
        raise ValueError(f"{told}: take a Sampled, which is called between steps")
    accounts = mechanism.once(Accounts)
    for controller in joined.controllers:
        if controller.name in accounts.dissipation or f"stored {controller.name}" in accounts.energy:
            raise ValueError(f"controller {controller.name!r} must not be called as an element of the mechanism is")
