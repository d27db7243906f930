"""Consistent initial states: velocities that satisfy the constraint rates, springs, elastic deformation.

Warnings name given velocities that constraints change, and bodies without any.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...bodies.nodal_body import FramedBody
from ...bodies.ports import first_frame
from ...contacts.arrays import refuse_contacts
from ...joints.rows.connection import refuse_hysteresis
from ...kernels.state import Configuration, constraint_sizes, derive, displacement_sizes, lever
from ...numerics import checks as check
from ...numerics.arguments import warn
from ...numerics.arrays import Array
from ..model.consistency import check_consistent
from ..model.constraints import (
    CONSISTENT,
    check_laws,
    constraint_rates,
    rate_doubt,
    rates_at,
    spring_states,
    velocities_of,
)
from ..model.placement import Motion
from ..model.state import Pose, State, flat
from ..model.state import at_rest as placed
from ..model.time_table import TimeTable, table_of
from .admissible_velocities import move_with, wanted_velocities
from .locked_joints import joint_rates, locked_joints

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
    """Implementation of :meth:`flexph.Mechanism.consistent_state`."""
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
                f"elastic='quasi_static' is not available for {several[0]!r}, a body of several frames: use "
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


MOVES = 1e-6
"""Rate of a joint, relative to the largest one, above which it counts as moving."""


def warn_of_changed(
    mechanism: Model, c: Configuration, velocities: Mapping[str, Motion], *, table: TimeTable, time: float
) -> None:
    """Warn of given velocities that differ from those of a consistent configuration.

    The message names the constraint that the given velocities violate most.
    """
    a, consistent = mechanism.network.arrays, velocities_of(mechanism, c)
    sizes, changed = displacement_sizes(a, lever(a)), {}
    wanted, given = wanted_velocities(mechanism, c, velocities)
    scale = float(max(np.abs(wanted / sizes).max(initial=0.0), np.abs(consistent / sizes).max(initial=0.0)))
    doubt = rate_doubt(a, derive(a, c), table.doubts(time)) if velocities else 0.0
    for name, motion in velocities.items():
        columns_of = wanted_velocities(mechanism, c, {name: motion})[1]
        change = np.abs(consistent - wanted)[columns_of]
        if np.any(change > (CONSISTENT * scale + doubt) * sizes[columns_of]):
            moves = np.isin(columns_of, a.columns[0])
            by = [(change[moves].max(initial=0.0), "m/s"), (change[~moves].max(initial=0.0), "rad/s")]
            changed[name] = " and ".join(f"{size:.3g} {unit}" for size, unit in by if size > 0.0)
    if changed:
        broken = _broken(mechanism, constraint_rates(mechanism, c, table, time), wanted, given)
        warn(
            "the velocities given contradict the joints, the drives or each other; the nearest admissible ones are "
            f"taken: changed are {', '.join(f'{name!r} by {by}' for name, by in changed.items())}{broken}"
        )


def _broken(mechanism: Model, rates: tuple[Array, Array], wanted: Array, given: Array) -> str:
    """Text that names the constraint which given velocities violate most; empty if they violate none.

    ``rates`` are G and b, ``wanted`` all velocities, ``given`` the indices of the given ones. Only constraints between
    bodies whose velocities are all given are considered.
    """
    G, b = rates
    left = np.ones(wanted.size)
    left[given] = 0.0
    left[mechanism.network.arrays.columns[0].size + np.count_nonzero(mechanism.network.arrays.columns[1] >= 0) :] = 0.0
    defect = np.where(abs(G) @ left > 0.0, 0.0, np.abs(G @ wanted - b))
    worst = int(np.argmax(defect)) if defect.size else 0
    return f"; they break {mechanism.constraint_names[worst]} by {defect[worst]:.3g}" if np.any(defect > 0.0) else ""


def warn_of_loose(
    mechanism: Model, c: Configuration, velocities: Mapping[str, Motion], *, table: TimeTable, time: float
) -> None:
    """Warn of bodies that move relative to neighbouring ones although their joints could be at rest.

    Considered are bodies without a given velocity. Bodies at rest are not named, unless drives move their neighbours.
    """
    others = [name for name in mechanism.bodies if name not in velocities]
    driven, v = _is_driven(mechanism, c, table, time), velocities_of(mechanism, c)
    joints = locked_joints(mechanism)
    if not joints or not others or not np.any(v) or not (driven or velocities):
        return
    L = joint_rates(mechanism, c)
    least = _by_joint(L, v, len(joints))
    if not np.any(least > MOVES * _by_joint(abs(L), np.abs(v), len(joints))):
        return
    rigid = velocities_of(mechanism, move_with(mechanism, c, velocities, table=table, time=time, at_rest=True))
    unit = MOVES * float(least.max())
    loose = (least > unit) & (_by_joint(L, rigid, len(joints)) <= unit)
    carried = {owner for joint, is_loose in zip(joints, loose, strict=True) if is_loose for owner in joint.owners}
    differences = [_difference(mechanism, name, v, rigid, threshold=unit) for name in others if name in carried]
    if texts := [text for text, moves in filter(None, differences) if moves or driven]:
        more = f" and {len(texts) - 3} others" if len(texts) > 3 else ""
        warn(
            "bodies without a given velocity start with the least kinetic energy, not in rigid motion with their "
            f"carriers: {', '.join(texts[:3])}{more}. Use joints='at rest' for the rigid motion, joints='free' for the "
            "least energy without this warning, or velocities={...} for given velocities"
        )


def _is_driven(mechanism: Model, c: Configuration, table: TimeTable, time: float) -> bool:
    """True if drives prescribe rates above round-off."""
    a, d = mechanism.network.arrays, derive(mechanism.network.arrays, c)
    rates = np.abs(rates_at(mechanism, (c, d), table, time)[1]) / constraint_sizes(a, d.vector)
    return bool(np.any(rates > rate_doubt(a, d, table.doubts(time))))


def _by_joint(L: Any, v: Array, joints: int) -> Array:
    """Largest component of the rates L v of each joint [rad/s], (joints,), with L the matrix of :func:`joint_rates`."""
    rates: Array = np.abs(L @ v).reshape(joints, -1).max(axis=1, initial=0.0)
    return rates


def _difference(mechanism: Model, name: str, v: Array, rigid: Array, *, threshold: float) -> tuple[str, bool] | None:
    """Text that compares the velocity of the body ``name`` in v with that in a rigid motion.

    The second value is True if the body moves. None if both agree up to the ``threshold`` [rad/s].
    """
    a, first = mechanism.network.arrays, first_frame(name, mechanism.bodies)
    frames = slice(first, first + len(mechanism.bodies[name].frames))
    for columns, scale, unit in ((a.columns[1], 1.0, "rad/s"), (a.columns[0], lever(a), "m/s")):
        columns_of = columns[frames]
        columns_of = columns_of[columns_of[:, 0] >= 0][:1]
        if columns_of.size and np.abs(v[columns_of] - rigid[columns_of]).max() > threshold * scale:
            of_body, of_rigid = (
                x[columns_of[0]] if columns_of.size == 1 else np.linalg.norm(x[columns_of[0]]) for x in (v, rigid)
            )
            text = f"{name!r} has {float(np.ravel(of_body)[0]):.3g}, not {float(np.ravel(of_rigid)[0]):.3g} {unit}"
            return text, bool(np.abs(v[columns_of]).max() > threshold * scale)
    return None
