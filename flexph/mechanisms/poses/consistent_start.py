"""Consistent initial states: velocities that satisfy the constraint rates, springs, elastic deformation."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from ...bodies.nodal_body import FramedBody
from ...contacts.arrays import refuse_contacts
from ...joints.rows.connection import refuse_hysteresis
from ...numerics import checks as check
from ..model.consistency import check_consistent
from ..model.constraints import check_laws, spring_states
from ..model.placement import Motion
from ..model.state import Pose, State, flat
from ..model.state import at_rest as placed
from ..model.time_table import table_of
from .admissible_velocities import move_with
from .given_velocities import warn_of_changed, warn_of_loose

if TYPE_CHECKING:
    from ..model.model import Model


def consistent_state(
    mechanism: Model,
    pose: Pose,
    velocities: Mapping[str, Motion],
    *,
    elastic: str,
    joints: str | None,
    time: float,
) -> State:
    """See :meth:`flexph.Mechanism.consistent_state`."""
    from ..model.range_of_validity import warn_of_range
    from .quasistatic import deform

    check.choice("elastic", elastic, ("undeformed", "quasi_static"))
    if joints is not None:
        check.choice("joints", joints, ("free", "at rest"))
    check.number("time", time)
    table = table_of(mechanism, pose.anchors)
    at_rest = joints == "at rest"
    c = placed(mechanism, pose.centres, pose.rotations)
    if elastic == "quasi_static":
        refuse_contacts(mechanism.connections, "elastic='quasi_static'")
        refuse_hysteresis(mechanism.connections, "elastic='quasi_static'")
        several = [name for name, body in mechanism.bodies.items() if isinstance(body, FramedBody)]
        if several:
            raise ValueError(
                f"elastic='quasi_static' is not available for {several[0]!r}, a body of several frames: take "
                "'undeformed' or an equilibrium"
            )
        c = deform(mechanism, c, velocities, table=table, time=time, at_rest=at_rest)
    c = move_with(mechanism, c, velocities, table=table, time=time, at_rest=at_rest)
    warn_of_changed(mechanism, c, velocities, table=table, time=time)
    if joints is None:
        warn_of_loose(mechanism, c, velocities, table=table, time=time)
    check_laws(mechanism, c, table, time)
    forces = spring_states(mechanism, c, table, time)
    c = c._replace(spring=np.concatenate([forces, c.spring[forces.size :]]))  # anchors of friction carry no force yet
    none, names = np.zeros(mechanism.layout.multipliers), tuple(mechanism.bodies)
    state = State(time, flat(mechanism, c), none, pose.anchors, joint_forces=False, bodies=names)
    check_consistent(mechanism, state, table=table)
    if elastic == "quasi_static":
        warn_of_range(mechanism, np.array([time]), state.x[None])
    return state
