"""Plan of the changes of a run: their order, and the mechanism between any two changes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from ..bodies.breaking.broken import element_at
from ..joints.rows.connection import Connection
from ..laws.elastic_laws import ElasticLaw
from ..mechanisms.mechanism import Mechanism
from ..mechanisms.poses.locked_joints import can_lock
from ..numerics import checks as check
from ..numerics.arguments import checked
from .change import Change, Tension, place_of
from .joint_lock import joint_lock


class Action(NamedTuple):
    """Change in a plan, its name, and the names of the connections that it activates and deactivates.

    ``begins`` or ``ceases`` is None if there is no such connection.
    """

    change: Change
    name: str
    begins: str | None
    ceases: str | None


class Plan:
    """Plan of the changes of a run of a mechanism, with an action for each change.

    The changes of each joint are checked in their order. ``union`` is the mechanism with all connections that are
    active at any time.
    """

    def __init__(self, mechanism: Mechanism, changes: Sequence[Change]) -> None:
        self.base, self.actions = mechanism, []
        self._added: list[Connection] = []
        self._holding: dict[str, str | None] = {}  # by joint: the connection that is active instead of it
        names: list[str] = []
        for change in _listed(changes):
            repeated = sum(1 for planned in names if planned == f"{change.kind} {change.name}")
            names.append(f"{change.kind} {change.name}")
            name = names[-1] if not repeated else f"{names[-1]} ({repeated + 1})"
            kinds = {"lock": self._locked, "release": self._released, "rupture": self._broken}
            self.actions.append(kinds[change.kind](change, name))
        _check_order(self.actions)
        present = {c.name: c for c in mechanism.connections}
        added = [c for c in self._added if c.name not in present]
        self.union = mechanism.replace(joints=[*mechanism.connections, *added]) if added else mechanism
        self._known = {frozenset(c.name for c in m.connections): m for m in (self.union, self.base)}

    def mechanism(self, holding: frozenset[str]) -> Mechanism:
        """Mechanism with only those connections of ``union`` that are named in ``holding``."""
        if holding not in self._known:
            joints = [c for c in self.union.connections if c.name in holding]
            self._known[holding] = self.union.replace(joints=joints)
        return self._known[holding]

    def _joint(self, change: Change) -> Connection:
        """Connection that a change names, of the mechanism or added by an earlier change."""
        connections = {c.name: c for c in self.base.connections}
        joint = change.name.removeprefix("lock ")
        if f"lock {joint}" in connections and connections[f"lock {joint}"].kind == "lock" and joint not in connections:
            raise ValueError(
                f"{change.kind}({change.name!r}): this mechanism has a lock in place of {joint!r}, from the end of an "
                f"earlier run: continue with the mechanism of that run, in which {joint!r} is free, and lock it again"
            )
        connection: Connection = check.lookup("joint", change.name, connections | {c.name: c for c in self._added})
        return connection

    def _locked(self, change: Change, name: str) -> Action:
        if isinstance(change.joint, Connection):
            return self._begun(change, change.joint, name)
        joint, dim = self._joint(change), self.base.layout.dim
        if not can_lock(joint):
            lockable = [c.name for c in (*self.base.connections, *self._added) if can_lock(c) and c.kind != "lock"]
            raise ValueError(
                f"lock({change.name!r}) must name a joint between two ports: "
                f"{', '.join(map(repr, lockable)) or 'there is none'}"
            )
        self._refuse_held(change, joint.name)
        lock = joint_lock(joint, self.base.bodies, name).formed(dim)
        self._added.append(lock)
        self._holding[joint.name] = lock.name
        return Action(change, name, lock.name, joint.name)

    def _begun(self, change: Change, joint: Connection, name: str) -> Action:
        """Action that adds a joint; raises ValueError if it cannot be added or its name is taken."""
        joint = joint.formed(self.base.layout.dim)
        if not (joint.kind != "drive" and (joint.form.rows or joint.input is None)):
            raise ValueError(f"lock({joint.name!r}): a joint or a spring can be added, not {_kind_of(joint)}")
        if joint.name in (c.name for c in (*self.base.connections, *self._added)):
            raise ValueError(
                f"lock({joint.name!r}): the mechanism has a joint of this name; give the new one another name="
            )
        self._added.append(joint)
        return Action(change, name, joint.name, None)

    def _refuse_held(self, change: Change, joint: str) -> None:
        """Raise ValueError for a lock of a joint that has been released or is already locked."""
        holds = self._holding.get(joint, joint)
        if holds is None:
            raise ValueError(
                f"lock({change.name!r}): it was released before; give the joint that begins to hold, as "
                f"lock(weld(..., name='latch'))"
            )
        if holds != joint:
            raise ValueError(f"lock({change.name!r}): it is locked already; release it before")

    def _broken(self, change: Change, name: str) -> Action:
        """Action of a rupture: adds a crack in an element of a rod or cable, or removes a spring."""
        if change.name not in self.base.bodies:
            connections = {c.name: c for c in (*self.base.connections, *self._added)}
            if not check.lookup("rod, cable or spring", change.name, connections).form.measures:
                raise ValueError(f"rupture({change.name!r}): a spring, rod or cable breaks; use release() for joints")
            if change.s is not None:
                raise ValueError(f"rupture({change.name!r}): s must be left out for a spring, got {change.s}")
            if isinstance(change.when, Tension):
                _check_tension(connections[change.name])
            return self._released(change, name)
        element = element_at(change.name, self.base.bodies[change.name], place_of(change.name, change.s))
        if (change.name, element) in [c.breaks for c in (*self.base.connections, *self._added)]:
            raise ValueError(
                f"rupture({change.name!r}): the element at s = {change.s} m is broken already; if the first of several "
                "causes breaks it, give one rupture with when=, a function of (t, state) zero at the first cause"
            )
        crack = Connection("crack", (f"{change.name}.root",), label=name, breaks=(change.name, element))
        self._added.append(crack)
        return Action(change, name, crack.name, None)

    def _released(self, change: Change, name: str) -> Action:
        joint = self._joint(change)
        if joint.input is not None:
            raise ValueError(
                f"{change.kind}({change.name!r}): it is an external port; give its input as a function of time"
            )
        holds = self._holding.get(joint.name, joint.name)
        if holds is None:
            before = next(a.change.kind for a in self.actions if a.change.name == joint.name and a.begins is None)
            raise ValueError(
                f"{change.kind}({change.name!r}): a {before} earlier in the list removes it; if the first of several "
                "causes does, give a single change with when=, a function of (t, state) that is zero at the first cause"
            )
        is_locked = holds != joint.name
        self._holding[joint.name] = joint.name if is_locked else None
        return Action(change, name, joint.name if is_locked else None, holds)


@checked
def with_changes(mechanism: Mechanism, changes: Sequence[Change]) -> Mechanism:
    """Mechanism with all joints of a run with changes, to load the run: ``Solution.load(path, with_changes(...))``.

    Parameters
    ----------
    mechanism : Mechanism
        Mechanism of the run.
    changes : sequence of Change
        Changes of the run.

    Returns
    -------
    Mechanism
        Mechanism of the run's solution.
    """
    return Plan(mechanism, changes).union


def _kind_of(joint: Connection) -> str:
    """Description of a connection that cannot be added within a run, with an article, for a message."""
    if any(measure.is_controlled for measure in joint.form.measures):
        return "a spring whose stiffness is an input; give it the law without controlled()"
    return f"a {joint.kind}"


def _check_tension(spring: Connection) -> None:
    """Raise ValueError for a spring with a schedule, or with a law whose force depends on more than its elongation."""
    for measure in spring.form.measures:
        if measure.is_scheduled or not (measure.law is None or isinstance(measure.law, ElasticLaw)):
            raise ValueError(
                f"rupture({spring.name!r}): tension= is an elastic force of states alone, which {measure.law} is not; "
                "give at=, a time, or when=, a function of (t, state) that is zero at the rupture"
            )


def _listed(changes: Any) -> list[Change]:
    """List of the given changes; raises ValueError for other values."""
    if isinstance(changes, Change) or not isinstance(changes, Sequence) or isinstance(changes, str):
        raise ValueError(
            f"changes must be a list of lock(...), release(...) and rupture(...), got {check.shown(changes)}"
        )
    for change in changes:
        if not isinstance(change, Change):
            raise ValueError(f"changes must be lock(...), release(...) and rupture(...), got {check.shown(change)}")
    return list(changes)


def _check_order(actions: Sequence[Action]) -> None:
    """Raise ValueError if the changes of one joint or part are not given in ascending order of their times."""
    last: dict[str, tuple[float, str]] = {}
    for action in actions:
        at, joint = action.change.at, action.change.subject
        if at is None:
            continue
        if joint in last and at < last[joint][0]:
            raise ValueError(
                f"changes of {joint!r} must be listed in the order of their times: {action.name} at {at} s comes after "
                f"{last[joint][1]} at {last[joint][0]} s"
            )
        last[joint] = at, action.name
