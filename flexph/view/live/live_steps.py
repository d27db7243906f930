"""Display of a simulator, which somebody advances step by step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...numerics.arrays import Array
from .session import Session


class LiveSteps:
    """Simulator with a display, see :meth:`flexph.Simulator.live`.

    Attributes
    ----------
    simulator : Simulator
        The simulator.
    count : int
        Number of steps that were taken here.
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
        """True if the display has ended the run; further steps may be taken."""
        return self._session.ended

    @property
    def inputs(self) -> dict[str, Array]:
        """Present inputs of the sliders by port."""
        return {port: given.values for port, given in self._session.sliders.inputs.items()}

    @property
    def start(self) -> LiveSteps:
        """Start of the next step, with its time and state."""
        return self

    @property
    def time(self) -> float:
        """Current time [s]."""
        return float(self.simulator.time)

    @property
    def x(self) -> Array:
        """Flat state."""
        x: Array = self.simulator.state.x
        return x

    def advance(self, h: float, inputs: Mapping[str, Any] | None = None) -> None:
        """Take a step of h > 0 [s] under constant inputs by port, those of sliders by their values, and show it.

        While the display pauses, this waits before the step. Parameters and errors are those of
        :meth:`flexph.Simulator.advance`.
        """
        self.simulator.advance(h, {**(inputs or {}), **self.inputs})
        self.count += 1
        self._sums.add()
        self._session.after(self)


class _Sums:
    """Energies of a simulator, summed up from its start; zeros with controllers, whose accounts only runs have."""

    def __init__(self, simulator: Any) -> None:
        self._simulator, self._begun, self._work, self._lost = simulator, 0.0, 0.0, 0.0
        if not simulator.controllers:
            self._begun = sum(simulator.account.energy.values())

    def at(self, steps: LiveSteps) -> tuple[float, float, float]:
        """Change of the stored energy, and work and dissipation up to the last step [J]."""
        if self._simulator.controllers:
            return 0.0, 0.0, 0.0
        return sum(self._simulator.account.energy.values()) - self._begun, self._work, self._lost

    def add(self) -> None:
        """Add the last step."""
        if not self._simulator.controllers:
            account = self._simulator.account
            self._work += sum(account.work.values())
            self._lost += sum(account.dissipation.values())
