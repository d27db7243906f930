"""Search for an equilibrium in which the contacts closed in a pose stay closed, or for the cause if there is none."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ..systems.inputs import Input
from .contact_equilibrium import SlipError
from .contact_search import OpenError, Search
from .model.state import Pose, State
from .substitutes import OF_DISTANCES

Mechanism = Any
"""A :class:`flexph.Mechanism`, whose module imports this one."""
AWAY = 0.1
"""Displacement relative to the size of the mechanism, or rotation, beyond which an equilibrium is another pose."""
LIGHT = 1e-6
"""Normal force, relative to the largest one, below which a contact counts as about to open."""


class PoseEquilibrium(NamedTuple):
    """Result of the search for an equilibrium with the contacts of a pose closed.

    ``state`` is the equilibrium; if there is none it is None, with a ``cause`` and a ``message``. ``open`` names the
    contact that is about to open, as its force is almost zero.
    """

    state: State | None
    cause: str = ""
    message: str = ""
    open: str | None = None


def held_at(mechanism: Mechanism, pose: Pose, inputs: Mapping[str, Input], *, time: float) -> PoseEquilibrium:
    """Equilibrium near a pose in which the contacts that touch in the pose stay closed, or the cause if there is none.

    Friction holds these contacts, and compliant ones, along their tangents. Raises ValueError for other shapes than
    points, balls and planes.
    """
    if others := [c.name for c in mechanism.connections if any(gap.kind in OF_DISTANCES for gap in c.form.gaps)]:
        raise ValueError(
            f"limit_load takes contacts of points and balls, and {others[0]!r} touches a box, capsule, mesh or skin: "
            "take ports at its corners on a Plane"
        )
    search = Search(mechanism, pose, inputs, time, keeps_pose=True)
    closed = search.closed_in_pose()[0]
    held = [t for t in search.touches if t.has_tangents and t.friction > 0.0 and (t.name in closed or not t.is_rigid)]
    try:
        result = search.settled(held, in_place=True)
    except SlipError as error:
        return PoseEquilibrium(None, "slip", str(error))
    except OpenError as error:
        return PoseEquilibrium(None, "opening", f"{error.contact!r} opens")
    except ArithmeticError as error:
        return PoseEquilibrium(None, "no equilibrium", str(error))
    if search.moved(result) > AWAY:
        return PoseEquilibrium(
            None, "no equilibrium", "the nearest equilibrium is another pose, as of a body that tips over"
        )
    if not search.is_stable(result):
        return PoseEquilibrium(None, "instability", "the equilibrium is not stable")
    pressing = result.pressing
    lightest = min(pressing, key=lambda name: pressing[name], default=None)
    is_light = lightest is not None and pressing[lightest] <= LIGHT * max(pressing.values())
    return PoseEquilibrium(result.with_contacts(mechanism), open=lightest if is_light else None)
