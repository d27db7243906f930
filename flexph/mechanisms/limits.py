"""Equilibrium of a mechanism that stays on its contacts in a pose, or why there is none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..systems.inputs import Input
from .model.state import Pose, State
from .resting import Search, Slips

Mechanism = Any
"""A :class:`flexph.Mechanism`, which imports this module."""
AWAY = 0.1
"""Displacement over the size of the mechanism, or turn [rad], from the pose beyond which it is another one."""
LIGHT = 1e-6
"""Normal force, relative to the largest one, at which a contact is about to open."""


class Held(NamedTuple):
    """Equilibrium on contacts: its state, or None with the cause and a message; the contact that is about to open."""

    state: State | None
    cause: str = ""
    message: str = ""
    open: str | None = None


def _is_stiff(mechanism: Mechanism) -> bool:
    """True for rigid bodies without springs."""
    return not (mechanism.layout.flexible or mechanism.layout.springs or mechanism.rigid_motion is not None)


def held_at(mechanism: Mechanism, pose: Pose, inputs: Mapping[str, Input], *, time: float) -> Held:
    """Equilibrium in which contacts that touch in the pose stay, by friction where they have it."""
    search = Search(mechanism, pose, inputs, time)
    search.explains, search.stays = False, _is_stiff(mechanism) and all(t.is_rigid for t in search.touches)
    closed = search.closed_in_pose()[0]
    held = [t for t in search.touches if t.has_tangents and t.friction > 0.0 and (t.name in closed or not t.is_rigid)]
    try:
        made, state = search.settled(held, in_place=True)
    except Slips as error:
        return Held(None, "slip", str(error))
    except ArithmeticError as error:
        return Held(None, "no equilibrium", str(error))
    if search.moved(made, state) > AWAY:
        return Held(None, "no equilibrium", "the nearest equilibrium is another pose, as of a body that tips over")
    if not search.is_stable(made, state):
        return Held(None, "instability", "the equilibrium is not stable")
    pressing = search.pressing(made, state)
    lightest = min(pressing, key=lambda name: pressing[name], default=None)
    is_light = lightest is not None and pressing[lightest] <= LIGHT * max(pressing.values())
    return Held(search.whole(made, state), open=lightest if is_light else None)
