"""Transfer of a state from a mechanism to one of the same bodies with other joints, at an instant.

First the velocities are projected onto the old joints, G v = b, since runs satisfy them in the mean of each step only.
Then the new joints close, with v′ = v − M⁻¹GᵀΛ, S Λ = G v − b, S = G M⁻¹Gᵀ. Joints are anchored to the pose of the
instant, at which g(q) = 0. The kinetic energy changes by the work −Λᵀb of drives, and by −½Δvᵀ M Δv ≤ 0, which is
lost. Momentum and angular momentum are unchanged, as joints between bodies act by opposite forces.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from ...joints.rows.connection import measures
from ...kernels.continuous import mass_of
from ...kernels.state import constraint_sizes, derive, weighed
from ...numerics.arrays import Array
from ..model.accounts import Accounts
from ..model.constraints import angle_rows, gap_of, rates_at, spring_states, velocities_of, with_velocities
from ..model.redundancy import independent
from ..model.state import State, configuration, flat
from ..model.time_table import Anchors, TimeTable, anchor, law_values, table_of
from .impacts import impulses

if TYPE_CHECKING:
    from ..model.model import Model


CLOSED = 1e-9
"""Gap of a joint that becomes active, relative to its size, up to which it counts as closed."""
AT_REST = 1e-13
"""Velocity after a lock, relative to those before, that counts as zero: round-off of bodies that cannot move."""
ARRIVAL = "joints at changes"
"""Account of the energy lost when velocities are projected onto the joints before these change."""


@dataclass(frozen=True)
class JointChangeBalance:
    """Energy balance of a change of joints.

    ``loss`` (≥ 0) and ``work``, of drives and springs, are by account [J]; ``impulses`` are by constraint row.
    ``change`` is the change of the total energy, computed from both states.
    """

    loss: Mapping[str, float]
    work: Mapping[str, float]
    impulses: Mapping[str, float]
    change: float

    @property
    def residual(self) -> float:
        """Error of the energy balance, |ΔH − work + losses| [J]."""
        return abs(self.change - sum(self.work.values()) + sum(self.loss.values()))


def sum_of_bookings(joint_changes: Iterable[JointChangeBalance]) -> JointChangeBalance:
    """Sum of the energy balances of several successive changes of joints, name by name."""
    loss: dict[str, float] = {}
    work: dict[str, float] = {}
    sums: dict[str, float] = {}
    change = 0.0
    for joint_change in joint_changes:
        for whole, part in ((loss, joint_change.loss), (work, joint_change.work), (sums, joint_change.impulses)):
            for name, value in part.items():
                whole[name] = whole.get(name, 0.0) + value
        change += joint_change.change
    return JointChangeBalance(loss, work, sums, change)


def state_after_passage(
    old: Model, new: Model, state: State, name: str, *, strikes: bool = True
) -> tuple[State, JointChangeBalance]:
    """State after the joints of the mechanism ``old`` are replaced by those of ``new``, and the energy balance.

    Losses and work are recorded under the account ``name``. Impulses of joints that become active are recorded if
    ``strikes`` is true; a release of joints has no impulses.

    Raises ValueError, naming the joint and its gap, if a joint that becomes active is not closed at this pose, or if a
    drive prescribes a motion that it prevents.
    """
    arrived, loss, work, _ = _projected(old, state, table_of(old, state.anchors))
    losses, works = {ARRIVAL: loss}, dict(work)
    begun = copied_state(old, new, arrived)
    _refuse_open(old, new, begun, name)
    held, loss, work, impulse = _projected(new, begun, table_of(new, begun.anchors))
    _refuse_driven(new, held, name)
    started = {c.name for c in new.connections} - {c.name for c in old.connections}
    losses[name if strikes else ARRIVAL] = loss + (0.0 if strikes else losses[ARRIVAL])
    for drive, amount in work.items():
        works[drive] = works.get(drive, 0.0) + amount
    ends = _stored(old, arrived), _stored(new, held)  # of new, removed and broken elements
    stored = sum(ends[1].get(name, 0.0) - ends[0].get(name, 0.0) for name in dict.fromkeys([*ends[0], *ends[1]]))
    if stored > 0.0:
        works[name] = stored
    elif stored < 0.0:
        losses[name] = losses.get(name, 0.0) - stored
    names = zip(new.constraint_names, impulse, strict=True)
    struck = {row: float(abs(amount)) for row, amount in names if row.rpartition(": ")[0] in started}
    return held, JointChangeBalance(losses, works, struck if strikes else {}, _energy(new, held) - _energy(old, state))


def _projected(mechanism: Model, state: State, table: TimeTable) -> tuple[State, float, dict[str, float], Array]:
    """State with velocities projected onto those that satisfy G v = b, and the energy balance of this projection.

    The further values are the energy lost [J], the work of drives by connection [J], and the impulses of all constraint
    rows (g,).
    """
    c, rows = configuration(mechanism, state.x), mechanism.layout.multipliers
    none = np.zeros(rows)
    fresh = replace(state, multipliers=none, memory=np.zeros((0, 0)), joint_forces=False)
    if not rows:
        return fresh, 0.0, {}, none
    a = mechanism.network.arrays
    G, b = rates_at(mechanism, (c, derive(a, c)), table, state.time)
    v = velocities_of(mechanism, c)
    change, mu = np.zeros_like(v), none
    basis = independent(mechanism, G)
    spread = sparse.eye_array(rows) if basis is None else basis
    arrays = weighed(a, state.time)
    for _ in range(2):  # the second time removes round-off
        y = impulses(arrays, c.u, spread.T @ G, (spread.T @ (G @ (v - change) - b))[:, None])[:, 0]
        change, mu = change + y[: v.size], mu + spread @ y[v.size :]
    M = mass_of(arrays, c.u)
    if not b.any() and _energy_of(M, v - change) <= AT_REST**2 * _energy_of(M, v):
        change = v  # nothing can move
    lost = _energy_of(M, change)
    by_joint: dict[str, float] = {}
    for connection, row in _rows_of(mechanism):
        if b[row]:
            by_joint[connection] = by_joint.get(connection, 0.0) - float(mu[row] * b[row])
    x = flat(mechanism, with_velocities(mechanism, c, v - change))
    return replace(fresh, x=x), lost, by_joint, mu


def _energy_of(M: Any, v: Array) -> float:
    """Kinetic energy ½ vᵀ M v [J] of velocities v, with the mass matrix M."""
    return 0.5 * float(v @ (M @ v))


def _rows_of(mechanism: Model) -> list[tuple[str, int]]:
    """Name of the connection of each constraint row, paired with the index of the row."""
    names = [c.name for c in mechanism.connections for _ in c.rows]
    return list(zip(names, range(len(names)), strict=True))


def copied_state(old: Model, new: Model, state: State) -> State:
    """State of the mechanism ``new``: parts of the state of ``old`` with the same names are copied.

    New joints and springs are anchored to the pose, multipliers are zero, and broken elements have no stress.
    """
    x = np.zeros(new.layout.size)
    theirs = {name: part for name, part in old.layout.parts.items() if part.start < old.layout.size}
    for name, part in new.layout.parts.items():
        if name in theirs:
            x[part] = state.x[theirs[name]]
    for name, body in new.bodies.items():
        if body is not old.bodies[name]:
            x[new.layout.parts[f"{name}.stress"]] *= body.elasticity.factors != 0.0  # broken elements have no stress
    a = new.network.arrays
    c = configuration(new, x)
    anchors = carried(old, new, state.anchors, anchor(new, derive(a, c).product))
    known = {name for name, measure in measures(old.connections) if measure.has_state}
    fresh = [name not in known for name, measure in measures(new.connections) if measure.has_state]
    if any(fresh):
        forces = spring_states(new, c, table_of(new, anchors), state.time)
        spring = c.spring.copy()
        spring[: forces.size][fresh] = forces[fresh]
        x = flat(new, c._replace(spring=spring))
    none = np.zeros(new.layout.multipliers)
    return replace(state, x=x, multipliers=none, anchors=anchors)


def carried(old: Model, new: Model, kept: Anchors, fresh: Anchors) -> Anchors:
    """Anchors of the mechanism ``new``: ``kept`` for joints and springs with a name in ``old``, else ``fresh``."""
    rows, springs = fresh.rows.copy(), fresh.springs.copy()
    theirs = dict(zip(old.constraint_names, law_values(old), strict=True))
    for name, part in zip(new.constraint_names, law_values(new), strict=True):
        if name in theirs:
            rows[part] = kept.rows[theirs[name]]
    known = {name: i for i, (name, _) in enumerate(measures(old.connections))}
    for i, (name, _) in enumerate(measures(new.connections)):
        if name in known:
            springs[i] = kept.springs[known[name]]
    return Anchors(rows, springs)


def _refuse_open(old: Model, new: Model, state: State, name: str) -> None:
    """Raise ValueError if a constraint of ``new`` that ``old`` does not have is violated in a state of ``new``.

    ``name`` is that of the change of joints, for the message.
    """
    if not new.layout.multipliers:
        return
    a, c = new.network.arrays, configuration(new, state.x)
    d, (coefficient, offset) = derive(a, c), table_of(new, state.anchors).at(state.time)
    gap, sizes = gap_of(a, d.product, coefficient, offset), constraint_sizes(a, d.vector)
    angles = new.once(angle_rows)
    gap[angles.rows] = angles.angle_errors(d.product, coefficient)
    theirs = set(old.constraint_names)
    excess = np.abs(gap) - CLOSED * sizes
    excess[[row in theirs for row in new.constraint_names]] = -1.0
    worst = int(np.argmax(excess))
    if excess[worst] > 0.0:
        unit = "rad" if [r for connection in new.connections for r in connection.rows][worst].unit == "N m" else "m"
        raise ValueError(
            f"{name} at t = {state.time:.6g} s: {new.constraint_names[worst]} is off by {abs(gap[worst]):.3g} {unit}; "
            "lock where the joint is closed: give the instant by when=, or a joint without a stated pose"
        )


def _refuse_driven(mechanism: Model, state: State, name: str) -> None:
    """Raise ValueError if no velocities satisfy both joints and drives, as a joint blocks the motion of a drive.

    This is so if the velocities of the state violate G v = b. ``name`` is that of the change of joints, for the
    message.
    """
    if not mechanism.layout.multipliers:
        return
    c = configuration(mechanism, state.x)
    table = table_of(mechanism, state.anchors)
    G, b = rates_at(mechanism, (c, derive(mechanism.network.arrays, c)), table, state.time)
    v = velocities_of(mechanism, c)
    if b.any() and np.any(np.abs(G @ v - b) > CLOSED * (abs(G) @ np.abs(v) + np.abs(b).max())):
        moved = dict.fromkeys(connection for connection, row in _rows_of(mechanism) if b[row])
        raise ValueError(
            f"{name} at t = {state.time:.6g} s holds what {', '.join(map(repr, moved))} moves: no velocities satisfy "
            "both; release the drive before it in the list of changes, or lock at an instant where the drive is at rest"
        )


def _energy(mechanism: Model, state: State) -> float:
    """Total energy [J] of a state of a mechanism: kinetic, elastic and potential energy."""
    c = configuration(mechanism, state.x)
    return float(mechanism.once(Accounts).energies(c, derive(mechanism.network.arrays, c), state.time).sum())


def _stored(mechanism: Model, state: State) -> dict[str, float]:
    """Energies [J] of springs, compliant contacts and elastic bodies at a state, by their accounts."""
    accounts, c = mechanism.once(Accounts), configuration(mechanism, state.x)
    energies = accounts.energies(c, derive(mechanism.network.arrays, c), state.time)
    return {
        name: float(energy)
        for name, energy in zip(accounts.energy, energies, strict=True)
        if name.startswith(("stored ", "elastic "))
    }
