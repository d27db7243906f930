"""Run of a mechanism whose joints change: separate runs between the changes, joined into one solution."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..bodies.nodal_body import AnyBody
from ..changes.change import Change, Tension
from ..changes.plan import Action, Plan
from ..mechanisms.mechanism import Mechanism
from ..mechanisms.model.references import controlled_factors
from ..mechanisms.model.state import State
from ..mechanisms.poses.passage import JointChangeBalance, state_after_passage, sum_of_bookings
from ..numerics.arguments import warn
from ..numerics.arrays import Array
from ..results.consecutive_runs import booked, joined, with_first_state
from ..results.ledger import Ledger
from ..results.result import Occurrences
from ..results.solution import Solution
from ..results.state_view import MechanismView
from ..results.statics import static_solution
from ..results.unfinished import InputError, IntegrationError, IntegrationInterrupted, Unfinished
from ..systems.nonlinear import ValidityWarning
from .mechanism_run import run_mechanism
from .methods.method import MechanismMethod
from .times.events import ON_ZERO, Event, event_value
from .times.options import SAME_TIME, RunOptions, ascending_from

if TYPE_CHECKING:
    from .times.options import Checkpoint


def run_with_changes(
    mechanism: Mechanism,
    start: State,
    times: Sequence[float] | Array,
    *,
    method: MechanismMethod,
    options: RunOptions,
    changes: Sequence[Change],
) -> Solution:
    """Integrate a mechanism whose joints change during the run, and join the parts into one solution.

    The arguments are those of :func:`flexph.integrate`.
    """
    for factor in mechanism.once(controlled_factors):
        raise ValueError(f"changes cannot be combined with {factor.what} that is an input, as that of {factor.name!r}")
    grid = ascending_from(start.time, times)
    plan = plan_of(mechanism, changes, grid)
    for action in plan.actions:
        if action.name in options.events:
            raise ValueError(f"events: {action.name!r} is the name of a change; give the event another one")
    return _ChangedRun(plan, grid, method, options).run(start)


def plan_of(mechanism: Mechanism, changes: Sequence[Change], grid: Array) -> Plan:
    """Plan of the changes of a run, after checks of their order and times.

    Raises ValueError for a change whose time is outside of the times of the run, ``grid``.
    """
    plan = Plan(mechanism, changes)
    _check_times(plan.actions, grid)
    return plan


def continue_run(
    run: Solution,
    mechanism: Mechanism,
    times: Sequence[float] | Array,
    *,
    method: MechanismMethod,
    options: RunOptions,
    changes: Sequence[Change],
) -> Solution:
    """Continue a finished run with a mechanism that has the same bodies and may have other joints.

    Returns the solution of both runs. The other arguments are those of :func:`flexph.integrate`.
    """
    if not isinstance(run, Solution):
        raise ValueError(f"start must be a State or a Solution, got {type(run).__name__}")
    old = run.final_mechanism
    bodies = old.bodies
    pairs = zip(bodies.values(), mechanism.bodies.values(), strict=False)
    if list(bodies) != list(mechanism.bodies) or any(_whole(body) is not _whole(other) for body, other in pairs):
        raise ValueError("mechanism must have the same bodies as the run: make it by run.mechanism.replace(...)")
    start, joint_change = run.final, None
    if [c.name for c in old.connections] != [c.name for c in mechanism.connections]:
        start, joint_change = state_after_passage(old, mechanism, start, CHANGED)
    do = run_with_changes if changes else run_mechanism
    more: dict[str, Any] = {"changes": changes} if changes else {}
    try:
        return _after(run, do(mechanism, start, times, method=method, options=options, **more), joint_change)
    except (IntegrationError, InputError, IntegrationInterrupted) as error:
        error.solution = _after(run, error.solution, joint_change)
        raise


def _whole(body: AnyBody) -> AnyBody:
    """Body with all its elements, as before any of them broke."""
    return body.whole or body


CHANGED = "change of joints"
"""Account of the energy lost when a run goes on with other joints."""


def _after(run: Solution, later: Solution, joint_change: JointChangeBalance | None) -> Solution:
    """Join a run and its continuation ``later`` into one solution.

    ``joint_change`` has the energy lost and the work done by the change of joints between the two runs, which are added
    to the ledger of ``later``.
    """
    if joint_change is not None and len(later.times) > 1:
        later = replace(later, ledger=booked(later.ledger, joint_change))
    return _joined([run, later])


def _joined(runs: Sequence[Solution], union: Mechanism | None = None) -> Solution:
    """Join consecutive runs into one solution of the mechanism ``union``, which has the joints of all of them.

    By default ``union`` is the mechanism of the first run with the further joints of the later ones.
    """
    if union is None:
        union, known = runs[0].mechanism, {c.name for c in runs[0].mechanism.connections}
        added = [c for run in runs[1:] for c in run.mechanism.connections if c.name not in known]
        union = union.replace(joints=[*union.connections, *added]) if added else union
    kept = [run for run in runs if len(run.times) > 1] or runs[:1]
    whole: Solution = joined(kept, union)
    return whole


class _ChangedRun:
    """Run over the times ``grid`` in which the joints change as planned.

    ``pending`` are the changes still to come, ``holding`` the names of the active connections, ``parts`` the
    solutions of the finished parts, and ``made`` the changes so far: name, time and flat state.
    """

    def __init__(self, plan: Plan, grid: Array, method: MechanismMethod, options: RunOptions) -> None:
        self.plan, self.grid, self.method, self.options = plan, grid, method, options
        self.pending = list(plan.actions)
        self.conditions = {a.name: a.change.condition for a in plan.actions if a.change.at is None}
        self.holding = frozenset(c.name for c in plan.base.connections)
        self.parts: list[Solution] = []
        self.made: list[tuple[str, float, Array]] = []
        self._before: Solution | None = None  # the state before changes at the start
        self._observe = _CachedObserver(options.observe) if options.observe is not None else None

    def run(self, start: State) -> Solution:
        """Integrate part by part up to the last time, or to an event that ends the run; return the solution."""
        state, due = start, self._due(start.time, self._exceeded(start))
        try:
            while True:
                state, joint_change = self._changed(state, due)
                state, met = self._part(state, joint_change)
                if state.time >= self.grid[-1] or not (due := self._due(state.time, met)):
                    self._warn_of_pending(state.time)
                    return self._whole()
        except (IntegrationError, InputError, IntegrationInterrupted) as error:
            if error.solution is not None:
                self.parts.append(error.solution)
            error.solution = self._whole()
            raise

    def _changed(self, state: State, due: Sequence[Action]) -> tuple[State, JointChangeBalance | None]:
        """Apply the changes ``due`` in order; return the state after them, and their losses and work for the ledger.

        The losses and work are None if no change was due. A failure raises ValueError before the first part of the run,
        InputError later.
        """
        joint_changes = []
        for action in due:
            old = self.plan.mechanism(self.holding)
            if not self.made and not self.parts:
                self._before = static_solution(old, state)
            self.made.append((action.name, state.time, self._in_union(old, state)))
            begins = frozenset() if action.begins is None else frozenset({action.begins})
            self.holding = (self.holding - {action.ceases}) | begins
            self.pending.remove(action)
            try:
                new, strikes = self.plan.mechanism(self.holding), action.change.kind == "lock"
                state, joint_change = state_after_passage(old, new, state, action.name, strikes=strikes)
            except ValueError as error:
                if not self.parts:
                    raise
                raise InputError(str(error), None) from error
            joint_changes.append(joint_change)
        return state, sum_of_bookings(joint_changes) if joint_changes else None

    def _warn_of_pending(self, time: float) -> None:
        """Warn of changes that did not happen, as their conditions were not met up to the end ``time`` of the run."""
        if time >= self.grid[-1]:
            for action in self.pending:
                warn(
                    f"{action.name} did not happen: its condition did not become true up to t = {time:.6g} s; if it "
                    "is true at the start, give a time instead",
                    ValidityWarning,
                )

    def _in_union(self, mechanism: Mechanism, state: State) -> Array:
        """Convert a flat state of ``mechanism`` to the layout of the mechanism with the connections of all changes."""
        x: Array = joined([static_solution(mechanism, state)], self.plan.union).states[0]
        return x

    def _part(self, state: State, joint_change: JointChangeBalance | None) -> tuple[State, list[str]]:
        """Run from a state to the next change; return the state there and the names of the conditions that are met.

        A condition is met if its event ended the part, or if its value at the end is zero to round-off of its value
        at the start. ``joint_change`` are the energies of the change before the part.
        """
        watched, mechanism = dict(self._conditions()), self.plan.mechanism(self.holding)
        values = {name: _value(name, of, MechanismView(mechanism, state.x), state.time) for name, of in watched.items()}
        options = replace(
            self.options,
            events={**self.options.events, **{name: self._event(given) for name, given in watched.items()}},
            observe=self._observe,
            checkpoint=_numbered(self.options.checkpoint, len(self.parts)),
        )
        try:
            part = run_mechanism(mechanism, state, self._times(state.time), method=self.method, options=options)
        except Unfinished as error:
            error.solution = self._stored_part(error.solution, watched, joint_change)
            raise
        self.parts.append(self._stored_part(part, watched, joint_change))
        end, view = part.final, MechanismView(part.mechanism, part.states[-1])
        apart = {
            name: 0.0 if part.events[name].times.size else abs(_value(name, of, view, end.time))
            for name, of in watched.items()
        }
        return end, [name for name, value in apart.items() if value <= ON_ZERO * abs(values[name])]

    def _stored_part(
        self, part: Solution, watched: dict[str, Any], joint_change: JointChangeBalance | None
    ) -> Solution:
        """Solution of a part as stored: with the energies of the change before it, without the events of conditions.

        ``joint_change`` are these energies, ``watched`` the conditions by the names of their events.
        """
        if joint_change is not None and len(part.times) > 1:
            part = replace(part, ledger=booked(part.ledger, joint_change))
        return replace(
            part, events={name: occurrences for name, occurrences in part.events.items() if name not in watched}
        )

    def _whole(self) -> Solution:
        """Solution of all parts, whose events include the times of the changes."""
        whole = _joined(self.parts, self.plan.union)
        if self._before is not None:
            whole = with_first_state(whole, joined([self._before], self.plan.union))
        events = dict(whole.events)
        for name in dict.fromkeys(action.name for action in self.plan.actions):
            occurred = [(t, x) for change, t, x in self.made if change == name]
            states = np.array([x for _, x in occurred]).reshape(len(occurred), whole.mechanism.layout.size)
            events[name] = Occurrences(np.array([t for t, _ in occurred]), states)
        return replace(whole, events=events, ledger=self._with_accounts(whole.ledger))

    def _with_accounts(self, ledger: Ledger) -> Ledger:
        """Ledger that has a loss for each lock and rupture of the plan; zero for those that did not happen."""
        losing = (action.name for action in self.plan.actions if action.change.kind != "release")
        none = {name: np.zeros(len(ledger.residual)) for name in losing if name not in ledger.dissipation}
        return replace(ledger, dissipation={**ledger.dissipation, **none}) if none else ledger

    def _times(self, time: float) -> Array:
        """Times of the part that begins at ``time``: the run's times up to the next change whose time is given."""
        ends = [a.change.at for a in self.pending if a.change.at is not None]
        end = min([self.grid[-1], *(at for at in ends if at > time)])
        close = SAME_TIME * float(np.diff(self.grid).min())
        inner = self.grid[(self.grid > time + close) & (self.grid < end - close)]
        return np.array([time, *inner, end])

    def _conditions(self) -> Iterator[tuple[str, Any]]:
        """Name and condition of each change that waits for a condition and is the next one of its joint."""
        for action in self._next():
            if action.change.at is None:
                yield action.name, self.conditions[action.name]

    def _next(self) -> Iterator[Action]:
        """First pending change of each joint, in the order of the plan."""
        seen: set[str] = set()
        for action in self.pending:
            if action.change.subject not in seen:
                seen.add(action.change.subject)
                yield action

    def _event(self, given: Any) -> Event:
        """Event that ends a part of the run if the condition ``given`` of a change is met."""
        return replace(given, terminal=True) if isinstance(given, Event) else Event(given, terminal=True)

    def _exceeded(self, start: State) -> list[str]:
        """Names of ruptures whose limit the tension reaches already at the start, so that they happen at once."""
        strengths = [action for action in self._next() if isinstance(action.change.when, Tension)]
        if not strengths:
            return []
        view = MechanismView(self.plan.mechanism(self.holding), start.x)
        return [a.name for a in strengths if _value(a.name, self.conditions[a.name], view, start.time) >= 0.0]

    def _due(self, time: float, met: Sequence[str]) -> list[Action]:
        """Changes that happen at ``time``, in order: their condition is in ``met``, or their given time has come.

        A change waits if an earlier one of its joint has not happened; raises InputError if it has a given time.
        """
        due: list[Action] = []
        waits: set[str] = set()
        for action in self.pending:
            change = action.change
            is_due = action.name in met if change.at is None else change.at <= time
            if is_due and change.subject in waits:
                if change.at is not None:
                    raise InputError(
                        f"{action.name} at t = {change.at:.6g} s: the change of {change.name!r} listed before it has "
                        "not happened yet; give both a condition, or a later time",
                        None,
                    )
                continue
            if is_due:
                due.append(action)
            else:
                waits.add(change.subject)
        return due


def _value(name: str, given: Any, state: MechanismView, time: float) -> float:
    """Value at a state of the function that is the condition of a change; ``name`` of the change is for errors."""
    return event_value(name, given.function if isinstance(given, Event) else given, time, state)


class _CachedObserver:
    """Observer that calls ``function`` once at each time, and returns the stored value if it is called again.

    Without it, ``function`` would be called twice at the time at which one part of a run ends and the next begins.
    """

    def __init__(self, function: Callable[[float, Any], Any]) -> None:
        self.function = function
        self._last: tuple[float, Any] | None = None

    def __call__(self, time: float, state: Any) -> Any:
        if self._last is None or self._last[0] != time:
            self._last = time, self.function(time, state)
        return self._last[1]


def _numbered(checkpoint: Checkpoint | None, number: int) -> Checkpoint | None:
    """Checkpoint of one part of a run, in a subfolder named by the number of the part; None without a checkpoint."""
    if checkpoint is None:
        return None
    return replace(checkpoint, path=Path(checkpoint.path) / f"part-{number:04d}")


def _check_times(actions: Sequence[Action], grid: Array) -> None:
    """Raise ValueError for a change outside of the times of the run."""
    for action in actions:
        at = action.change.at
        if at is not None and not grid[0] <= at < grid[-1]:
            raise ValueError(
                f"{action.name} at {at} s is outside of the run, which takes changes from {grid[0]} s to before "
                f"{grid[-1]} s"
            )
