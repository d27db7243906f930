"""Changes of the joints of a mechanism within a run: lock and release."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from ..joints.rows.connection import Connection
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..sensors.quantities import Quantity
from ..units.arguments import quantities


@checked
@dataclass(frozen=True)
class Change:
    """Lock or release of a joint within a run, made by :func:`lock` and :func:`release`.

    Attributes
    ----------
    kind : {"lock", "release"}
        Kind of the change.
    joint : str or Connection
        Name of a joint; of a lock also a joint that begins to hold.
    at : float, optional
        Time [s].
    when : Event, callable or Quantity, optional
        Instead of a time: a function of (t, state) whose first zero is the instant, or a sensor.
    reaches : float, optional
        Reading of the sensor at the instant.
    """

    kind: Literal["lock", "release"]
    joint: str | Connection
    at: float | None = None
    when: Any = None
    reaches: float | None = None

    def __post_init__(self) -> None:
        what = f"{self.kind}({self.name!r})"
        if (self.at is None) == (self.when is None):
            raise ValueError(f"{what} needs either at=, a time [s], or when=, a condition")
        if self.at is not None:
            object.__setattr__(self, "at", check.number("at", self.at))
        is_sensor = isinstance(self.when, Quantity)
        if is_sensor != (self.reaches is not None):
            raise ValueError(f"{what}: reaches= goes with a sensor as when=, and a sensor needs it")
        if is_sensor and not self.when.scalar:
            raise ValueError(f"{what}: when= must be a sensor of one number, got the {self.when}")
        if is_sensor and (self.when.of_run is not None or self.when.of_step is not None):
            raise ValueError(f"{what}: when= must be a sensor of states, got the {self.when}")
        if self.when is not None and not (is_sensor or callable(getattr(self.when, "function", self.when))):
            raise ValueError(
                f"{what}: when= must be a function of (t, state), an Event or a sensor, got {check.shown(self.when)}"
            )

    @property
    def name(self) -> str:
        """Name of the joint."""
        return self.joint if isinstance(self.joint, str) else self.joint.name

    @property
    def condition(self) -> Callable[[float, Any], Any] | Any:
        """Function of (t, state) that is zero at the instant of the change, or an Event.

        None for a change at a time.
        """
        if self.reaches is None:
            return self.when
        return Reaching(self.when, self.reaches)


class Reaching:
    """Function of (t, state): reading of a sensor minus the value to be reached; angles count full turns."""

    def __init__(self, quantity: Quantity, value: float) -> None:
        self.quantity, self.value, self._turns = quantity, value, quantity.unit == "rad"
        self._last: float | None = None

    def __call__(self, time: float, state: Any) -> float:
        """Reading minus the value to be reached, at a time and state."""
        reading = float(state.measured(self.quantity))
        if self._turns and self._last is not None:
            reading += 2.0 * math.pi * round((self._last - reading) / (2.0 * math.pi))
        self._last = reading
        return reading - self.value


@quantities(at="s")
@checked
def lock(joint: str | Connection, *, at: float | None = None, when: Any = None, reaches: float | None = None) -> Change:
    """Lock a joint within a run in its position at that instant, or let a further joint begin to hold.

    Velocities jump by the impulse Λ of the joints, after which the lock holds:

        v⁺ = v − M⁻¹GᵀΛ,   G M⁻¹GᵀΛ = G v − b,   loss ½ Δvᵀ M Δv ≥ 0,   work of drives −Λᵀb

    with the rows G of all joints and of the lock, which is anchored to the pose of the instant. Momentum and angular
    momentum of free mechanisms stay. Steps end at the instant, to round-off.

    Parameters
    ----------
    joint : str or Connection
        Name of a joint between two ports of the mechanism: its bodies then keep their relative position by a joint
        ``lock NAME``, which replaces it. Or a further joint, as ``weld("ship.nose", "station.dock", name="dock")``;
        it must be closed at the instant if it states a pose.
    at : float, optional
        Time [s].
    when : Event, callable or Quantity, optional
        Instead of a time, the first zero of a function of (t, state) as for events of :func:`flexph.integrate`, or
        with ``reaches`` a sensor of :mod:`flexph.sensors`.
    reaches : float, optional
        Reading of the sensor at the instant; angles count full turns.

    Returns
    -------
    Change
        For ``changes`` of :func:`flexph.integrate`.

    Raises
    ------
    ValueError
        Unless exactly one of ``at`` and ``when`` is given, and ``reaches`` with a sensor but not otherwise.

    Examples
    --------
    >>> import numpy as np
    >>> import rigid
    >>> from flexph import GROUND, connect, hinge, integrate
    >>> from flexph.changes import lock
    >>> from flexph.sensors import joint_angle
    >>> arm = connect({"arm": rigid.bar(1.0, 3.0)}, [hinge("arm.root", GROUND, name="pivot")])
    >>> start = arm.consistent_state(arm.assemble({"arm": 0.0}), velocities={"arm": 2.0})
    >>> latch = lock("pivot", when=joint_angle("arm.root"), reaches=1.0)
    >>> run = integrate(arm, start, np.linspace(0.0, 1.0, 11), changes=[latch])
    >>> round(float(run.ledger.dissipation["lock pivot"].sum()), 12), float(run.measured(latch.when)[-1].round(9))
    (2.0, 1.0)
    """
    return Change("lock", joint, at, when, reaches)


@quantities(at="s")
@checked
def release(joint: str, *, at: float | None = None, when: Any = None, reaches: float | None = None) -> Change:
    """Release a joint within a run: its lock or, if it is not locked, the joint itself.

    Velocities stay. A spring that is released loses its energy, as a rope that breaks.

    Parameters
    ----------
    joint : str
        Name of a joint or spring of the mechanism, or of one that began to hold by :func:`lock`.
    at : float, optional
        Time [s].
    when : Event, callable or Quantity, optional
        Instead of a time, see :func:`lock`.
    reaches : float, optional
        Reading of a sensor ``when``.

    Returns
    -------
    Change
        For ``changes`` of :func:`flexph.integrate`.

    Raises
    ------
    ValueError
        Unless one of ``at`` and ``when`` is given.

    Examples
    --------
    >>> import numpy as np
    >>> import rigid
    >>> from flexph import connect, integrate, weld
    >>> from flexph.changes import release
    >>> pair = connect({"a": rigid.bar(1.0, 2.0), "b": rigid.bar(1.0, 2.0)}, [weld("a.tip", "b.root", name="clamp")])
    >>> start = pair.consistent_state(pair.assemble({"a": 0.0}, guess={"b": (1.0, 0.0, 0.0)}), velocities={"a": 1.0})
    >>> run = integrate(pair, start, np.linspace(0.0, 1.0, 11), changes=[release("clamp", at=0.5)])
    >>> bool(abs(run.linear_momentum()[-1] - run.linear_momentum()[0]).max() < 1e-14)
    True
    """
    return Change("release", joint, at, when, reaches)
