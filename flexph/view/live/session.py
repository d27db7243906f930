"""Session of a run with a display: snapshots of the state, commands of the user, pace, and end of the run."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from ...numerics import checks as check
from ...numerics.arrays import Array
from .frames import MechanismDrawing
from .sliders import Sliders

ORDERS = ("pause", "continue", "step", "end", "pace", "slider")
"""Commands that a display can send."""
PATIENCE = 0.03
"""Longest wait [s] between two tests for commands of the display and for an interrupt."""
SHORTEST = 0.1
"""Least length of a block of steps, relative to the time between two snapshots."""
HASTE = 0.5
"""Least time between two snapshots after a late one, relative to the period of snapshots."""
LATE = 0.25
"""Delay [s] behind the pace that is made up; a longer one is dropped."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """State of a run between two blocks of steps.

    Attributes
    ----------
    number : int
        Number of the snapshot, ascending.
    drawn : MechanismDrawing, optional
        Drawing of the mechanism; None before the run begins.
    time : float
        Time of the run [s].
    x : array
        Flat state.
    account : tuple of float
        Change of the stored energy, work and dissipation since the start [J].
    steps : int
        Number of finished steps.
    state : str
        "waiting", "running", "paused", "finished", "ended" or "failed".
    message : str
        Error of a failed run.
    """

    number: int = 0
    drawn: MechanismDrawing | None = None
    time: float = 0.0
    x: Array = field(default_factory=lambda: np.zeros(0))
    account: tuple[float, float, float] = (0.0, 0.0, 0.0)
    steps: int = 0
    state: str = "waiting"
    message: str = ""


class Session:
    """Connection of a run to a display, see :class:`flexph.integration.times.loop.Follower`.

    Parameters
    ----------
    sliders : Sliders
        Inputs that the display may set.
    rate : float
        Largest number of snapshots per second.
    pace : float, optional
        Largest simulated time per second of the clock; None for no limit.
    paused : bool
        True to pause the run before its first step.
    ready : callable
        Function of the session, called before the first step; it may wait.
    look : callable
        Function of the session, called after each snapshot in the thread of the run.
    """

    def __init__(
        self,
        sliders: Sliders,
        *,
        rate: float,
        pace: float | None,
        paused: bool,
        ready: Callable[[Session], None] = lambda session: None,
        look: Callable[[Session], None] = lambda session: None,
    ) -> None:
        self.sliders, self.rate, self.pace = sliders, rate, pace
        self.news = threading.Condition()
        self.snapshot = Snapshot()
        self.ended, self.paused = False, paused
        self._steps, self._single, self._ordered = 0, False, False
        self._ready, self._look = ready, look
        self._account: Any = _Account()
        self._drawn: MechanismDrawing | None = None
        self._next = self._resumed = time.perf_counter()
        self._counted, self._per_second = 0, 0.0
        self._origin: tuple[float, float] | None = None
        self._hold_at = -np.inf
        self._begun = False
        self.waits = False
        self._run: Any = None

    # ---- orders of the display, from any thread

    def order(self, what: Any, **given: Any) -> None:
        """Send a command of :data:`ORDERS` to the run; raises ValueError for an unknown one.

        The command ``pace`` needs a ``value``, ``slider`` a ``name`` and a ``value``.
        """
        check.choice("order", what, ORDERS)
        with self.news:
            if what == "slider":
                self.sliders.order(given.get("name"), given.get("value"))
            elif what == "pace":
                value = given.get("value")
                self.pace = None if value is None else check.positive("pace", value)
                self._origin = None
            elif what == "step":
                self.paused, self._steps = True, self._steps + 1
            elif what == "end":
                self.ended = True
            else:
                self.paused, self._steps = what == "pause", 0
            self._ordered = True
            self.news.notify_all()

    def later_than(self, number: int, timeout: float) -> Snapshot | None:
        """Wait for a snapshot with a number above ``number`` and return it; None after ``timeout`` seconds."""
        with self.news:
            self.news.wait_for(lambda: self.snapshot.number > number and self.snapshot.drawn is not None, timeout)
            return self.snapshot if self.snapshot.number > number and self.snapshot.drawn is not None else None

    # ---- the run, in its own thread

    def of(self, mechanism: Any, accounts: Any) -> Session:
        """Prepare for a run of a mechanism, or for its continuation after a change of joints; return the session.

        ``accounts`` are the energy accounts of the run.
        """
        self._drawn = MechanismDrawing(mechanism, 0 if self._drawn is None else self._drawn.number + 1)
        self._account.next(accounts)
        self._counted = 0
        return self

    def of_steps(self, mechanism: Any, account: Any) -> Session:
        """Prepare for steps of a simulator of a mechanism; return the session.

        The method ``at`` of ``account`` returns the energies since the begin of the display.
        """
        self._drawn, self._account = MechanismDrawing(mechanism, 0), account
        return self

    def before(self, run: Any) -> None:
        """Show the initial state, wait until the display is ready, then wait while the run is paused."""
        self._run = run
        self._take(run)
        if not self._begun:
            self._begun = True
            self._ready(self)
        self._hold(run)

    def block_limit(self, times: Array, reached: int) -> int:
        """Largest number of steps that the run may take before it reports to the session again.

        ``reached`` is the index of the current time in ``times``. The steps shall end when the next snapshot is due, by
        the measured computing time of a step, and shall not get ahead of the pace.
        """
        if self._single or self.ended:
            return 1
        left = max(self._next - time.perf_counter(), SHORTEST / self.rate)  # also for a late snapshot
        computed = max(int(self._per_second * left), 1) if self._per_second else len(times)
        if self.pace is None:
            return computed
        paced = int(np.searchsorted(times, times[reached] + self.pace / self.rate, side="right")) - 1 - reached
        return max(min(computed, paced), 1)

    def after(self, run: Any) -> bool:
        """Take a snapshot if one is due, and wait while the run is paused or ahead of its pace.

        Returns True if the user has ended the run.
        """
        now = time.perf_counter()
        if now < self._next and not (self._ordered or self.paused) and run.start.time < self._hold_at:
            return False
        steps, elapsed = run.count - self._counted, now - self._resumed
        if steps > 0 and elapsed > 0.0:
            self._per_second = steps / elapsed
        self._take(run)
        self._hold(run)
        return self.ended

    def close(self, state: str, message: str = "") -> None:
        """Show the last state of the run with a message; ``state`` is "finished", "ended" or "failed"."""
        if self._run is not None and self._run.start.time > self.snapshot.time:
            self._take(self._run)
        self._publish(replace(self.snapshot, state=state, message=message))

    def _take(self, run: Any) -> None:
        account = self._account.at(run)
        state = "paused" if self.paused else "running"
        start = run.start
        self._publish(Snapshot(0, self._drawn, start.time, start.x, account, run.count, state))

    def _publish(self, snapshot: Snapshot) -> None:
        with self.news:
            self.snapshot = replace(snapshot, number=self.snapshot.number + 1)
            self.news.notify_all()
        self._look(self)

    def _hold(self, run: Any) -> None:
        """Wait while the run is paused or ahead of its pace, then set the inputs that sliders have moved."""
        with self.news:
            while not self.ended and (wait := self._wait(run.start.time)) > 0.0:
                self.waits = True
                self.news.wait(min(wait, PATIENCE))
                state = "paused" if self.paused else "running"
                if state != self.snapshot.state:
                    self._publish(replace(self.snapshot, state=state))
                self._look(self)
            self.waits = False
            self._single = self.paused and self._steps > 0
            self._steps -= int(self._single)
            self._ordered = False
            self.sliders.take_over(run.start.time)
        now = time.perf_counter()
        period = 1.0 / self.rate
        # after a late snapshot the next one is earlier, so that the mean rate is kept
        self._next = now + min(max(self._next + period - now, HASTE * period), period)
        self._resumed, self._counted = now, run.count
        self._hold_at = np.inf if self.pace is None else run.start.time + self.pace / self.rate

    def _wait(self, reached: float) -> float:
        """Time [s] to wait at the simulated time ``reached`` before the next block of steps; ≤ 0 if it is due."""
        if self.paused:
            self._origin = None
            return 0.0 if self._steps else PATIENCE
        if self.pace is None:
            return 0.0
        now = time.perf_counter()
        if self._origin is None:
            self._origin = now, reached
        began, first = self._origin
        ahead = (reached - first) / self.pace - (now - began)
        if ahead < -LATE:
            self._origin = now, reached
        return ahead


class _Account:
    """Change of the stored energy, work and dissipation of a run in progress since its start."""

    def __init__(self) -> None:
        self._accounts: Any = None
        self._begun: float | None = None
        self._before = np.zeros(2)  # work and dissipation of earlier parts, and of the changes between parts
        self._own = np.zeros(2)  # work and dissipation of the present part
        self._stored = 0.0

    def next(self, accounts: Any) -> None:
        """Continue with the energy accounts of the run after a change of its joints."""
        self._before, self._own = self._before + self._own, np.zeros(2)
        self._accounts, self._rows, self._fresh = accounts, 1, True
        self._sums: Array = np.zeros(accounts.flow_count)
        self._last = self._before.copy()

    def at(self, run: Any) -> tuple[float, float, float]:
        """Change of the stored energy, work, and dissipated energy from the start of the run to its last step [J]."""
        recorder, accounts = run.recorder, self._accounts
        rows = recorder.rows(self._rows - 1)
        closed = recorder.saved - self._rows
        self._sums = self._sums + rows["flows"][1 : 1 + closed].sum(axis=0)
        self._rows += closed
        flows = self._sums + recorder.open_values("flows")
        energy = float(rows["energy"][-1].sum())
        if self._begun is None:
            self._begun = energy
        elif self._fresh:  # energy lost by a change of joints counts as dissipated
            self._before[1] -= energy - self._begun - self._stored
        self._fresh, self._stored = False, energy - self._begun
        losses = len(accounts.dissipation)
        self._own = np.array([flows[: len(accounts.work)].sum(), flows[flows.size - losses :].sum()])
        work, dissipated = (self._before + self._own).tolist()
        return self._stored, work, dissipated
