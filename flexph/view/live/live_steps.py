"""Live display of a simulator that the user's program advances step by step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...numerics.arrays import Array
from .session import Session


class LiveSteps:
    """Simulator with a live display, see :meth:`flexph.Simulator.live`.

    Attributes
    ----------
    simulator : Simulator
        Simulator that takes the steps.
    count : int
        Number of steps taken by :meth:`advance`.
    """

    def __init__(self, simulator: Any, session: Session) -> None:
        self.simulator, self.count = simulator, 0
        self._session = session
        self._sums = _Sums(simulator)
        session.of_steps(simulator.mechanism, self._sums)
        session.before(self)

    def __repr__(self) -> str:
        return f"<LiveSteps at t = {self.time:.6g} s, {self.count} steps>"

    @property
    def ended(self) -> bool:
        """True if the user has ended the run in the display.

        Further steps are possible.
        """
        return self._session.ended

    @property
    def inputs(self) -> dict[str, Array]:
        """Inputs at the current values of the sliders, by port."""
        return {port: given.values for port, given in self._session.sliders.inputs.items()}

    @property
    def start(self) -> LiveSteps:
        """This object itself, because a session reads time and state of a run from its attribute ``start``."""
        return self

    @property
    def time(self) -> float:
        """Current time [s]."""
        return float(self.simulator.time)

    @property
    def x(self) -> Array:
        """Current state as a flat array (n,)."""
        x: Array = self.simulator.state.x
        return x

    def advance(self, h: float, inputs: Mapping[str, Any] | None = None) -> None:
        """Take a step of h > 0 [s] under constant inputs by port, and show it; values of sliders replace inputs.

        Wait before the step while the display is paused. Parameters and errors are those of
        :meth:`flexph.Simulator.advance`.
        """
        self.simulator.advance(h, {**(inputs or {}), **self.inputs})
        self.count += 1
        self._sums.add()
        self._session.after(self)


class _Sums:
    """Change of the stored energy, work and dissipation of a simulator since the begin of its live display.

    They are zero for a simulator with controllers, whose energies only runs record.
    """

    def __init__(self, simulator: Any) -> None:
        self._simulator, self._begun, self._work, self._lost = simulator, 0.0, 0.0, 0.0
        if not simulator.controllers:
            self._begun = sum(simulator.account.energy.values())

    def at(self, steps: LiveSteps) -> tuple[float, float, float]:
        """Change of the stored energy, work, and dissipated energy since the begin [J].

        ``steps`` is not used; a session passes it to the method ``at`` of all accounts.
        """
        if self._simulator.controllers:
            return 0.0, 0.0, 0.0
        return sum(self._simulator.account.energy.values()) - self._begun, self._work, self._lost

    def add(self) -> None:
        """Add work and dissipation of the last step."""
        if not self._simulator.controllers:
            account = self._simulator.account
            self._work += sum(account.work.values())
            self._lost += sum(account.dissipation.values())
