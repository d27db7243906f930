"""Switches of a run at an instant: the cause that ends a mode, and the modes that follow at once."""

from __future__ import annotations

import numpy as np

from ..numerics.arrays import Array
from .arrival import DrivenSystem, Instant, switched
from .branch import Branch
from .record import Record
from .trajectory import ModeChange
from .transition import At, Every, Impasse, SwitchFailed, Transition
from .watch import ModeWatch, WatchedBound, bounds


class Switches:
    """Executor of the switches of a run, which records them; ``grid`` are the times of the run.

    Times within ``close`` [s] coincide. ``watch`` contains the bounds of the present mode.
    """

    watch: ModeWatch

    def __init__(self, driven: DrivenSystem, record: Record, *, grid: Array, close: float) -> None:
        self.driven, self.system, self.record, self.grid, self.close = driven, driven.system, record, grid, close
        self._recent: list[ModeChange] = []  # within one step of the grid

    def settled(self, at: Instant, cause: WatchedBound | Transition | None) -> Instant:
        """Make and record all switches at an instant, one after the other; return the instant after the last.

        ``cause`` is the cause of the first one; None as a run starts.
        """
        used: list[Transition] = []
        if cause is None:
            cause = self._immediate_cause(at, None)
        while cause is not None:
            transition = cause.transition if isinstance(cause, WatchedBound) else cause
            if transition is None:
                assert isinstance(cause, WatchedBound)
                name, targets, reset = f"not valid: {cause.name}", self.system.following(at.mode), None
            else:
                name, targets, reset = transition.name, tuple(transition.target), transition.reset
                used.append(transition)
            only = transition is not None and len(targets) == 1  # further targets are needed only if one is not valid
            step = None if only else self.usual(at.time)
            switch, branch = switched(self.driven, at, targets, cause=name, reset=reset, step=step)  # type: ignore[arg-type]
            self._count(switch)
            self.record.switch(switch)
            at = Instant(at.time, switch.target, switch.after, np.maximum(at.size, np.abs(switch.after)))
            cause = self._immediate_cause(at, used, branch)
        return at

    def usual(self, time: float) -> float:
        """Length [s] of the grid interval that contains a time."""
        k = min(int(np.searchsorted(self.grid, time, side="right")), self.grid.size - 1)
        return float(self.grid[k] - self.grid[k - 1])

    def timed(self, mode: str) -> list[tuple[Transition, At | Every]]:
        """Transitions out of a mode that are triggered by a time, with their triggers."""
        return [(t, t.when) for t in self.system.leaving(mode) if isinstance(t.when, At | Every)]

    def cause(self, at: Instant, due: float) -> WatchedBound | Transition | None:
        """Cause that ended the steps within a mode, or None.

        ``due`` is the next time at which a transition out of this mode is triggered.
        """
        if self.watch.fired is not None:
            return self.watch.fired
        return self._due(at, []) if abs(at.time - due) <= self.close else None

    def from_impasse(self, at: Instant) -> Transition:
        """Transition that starts at an impasse point; raises SwitchFailed if there is none."""
        for transition in self.system.leaving(at.mode):
            if isinstance(transition.when, Impasse) and _allows(transition, at):
                return transition
        raise SwitchFailed(f"mode {at.mode!r} ends at an impasse point at t = {at.time:.9g} s, x = {at.state}")

    def _due(self, at: Instant, used: list[Transition]) -> Transition | None:
        """First transition that is triggered by the present time and can be taken, or None.

        Its condition is true, and it is not one of the transitions ``used`` at this instant.
        """
        for transition, when in self.timed(at.mode):
            moment = when.after(at.time - self.close)
            if transition not in used and abs(moment - at.time) <= self.close and _allows(transition, at):
                return transition
        return None

    def _immediate_cause(
        self, at: Instant, used: list[Transition] | None, branch: Branch | None = None
    ) -> WatchedBound | Transition | None:
        """Begin to watch the mode of an instant, and return the cause that ends it at once, or None.

        ``used`` are the timed transitions already taken at this instant; None as a run starts, when none are taken.
        """
        branch = branch or self.driven.branch(at.mode, at.time, at.state, entered=False)
        self.watch = ModeWatch(bounds(self.system, at.mode), branch, at.time, at.size)
        return (None if used is None else self._due(at, used)) or self.watch.at_once(at.time)

    def _count(self, switch: ModeChange) -> None:
        k = np.searchsorted(self.grid, switch.time, side="right")
        if self._recent and np.searchsorted(self.grid, self._recent[0].time, side="right") != k:
            self._recent = []
        self._recent.append(switch)
        if len(self._recent) > self.system.limit:
            last = ", ".join(f"{s.source!r} to {s.target!r} at {s.time:.12g} s" for s in self._recent[-3:])
            raise SwitchFailed(
                f"switches accumulate (Zeno): more than limit = {self.system.limit} of them between two times of the "
                f"run, from t = {self._recent[0].time:.12g} s on, the last ones {last}. Add a mode for their limit,  "
                "to, or a larger limit"
            )


def _allows(transition: Transition, at: Instant) -> bool:
    return transition.condition is None or bool(transition.condition(at.time, at.state))
