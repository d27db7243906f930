"""Changes within a run: joints that lock or are released; springs, rods and cables that break."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..bodies.breaking.broken import element_at
from ..joints.rows.connection import Connection
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..sensors.quantities import Quantity, no_measures
from ..sensors.states import spring_force
from ..units.arguments import in_si, quantities


@checked
@dataclass(frozen=True)
class Change:
    """Change within a run, created by :func:`lock`, :func:`release` or :func:`rupture`.

    Attributes
    ----------
    kind : {"lock", "release", "rupture"}
        Kind of the change.
    joint : str or Connection
        Name of a joint; for a lock also a joint to be added; for a rupture the name of a spring, rod or cable.
    at : float, optional
        Time [s].
    when : Event, callable or Quantity, optional
        Condition instead of a time: a function of (t, state) whose first zero is the instant, or a sensor.
    reaches : float or str, optional
        Reading of the sensor at the instant, in its SI unit or with a unit.
    s : float, optional
        Position of the rupture along a rod or cable [m].
    """

    kind: Literal["lock", "release", "rupture"]
    joint: str | Connection
    at: float | None = None
    when: Any = None
    reaches: float | str | None = None
    s: float | None = None

    def __post_init__(self) -> None:
        what = f"{self.kind}({self.name!r})"
        if (self.at is None) == (self.when is None):
            raise ValueError(f"{what} needs either at=, a time [s], or when=, a condition")
        if self.at is not None:
            object.__setattr__(self, "at", check.number("at", self.at))
        is_sensor = isinstance(self.when, Quantity)
        if is_sensor != (self.reaches is not None):
            raise ValueError(f"{what}: reaches= must be given if when= is a sensor, and only then")
        if is_sensor and not self.when.scalar:
            raise ValueError(f"{what}: when= must be a sensor of one number, got the {self.when}")
        if is_sensor and (self.when.of_run is not None or self.when.of_step is not None):
            raise ValueError(f"{what}: when= must be a sensor of states, got the {self.when}")
        if is_sensor:
            object.__setattr__(self, "reaches", _reading(self.reaches, self.when))
        if self.when is not None and not (is_sensor or callable(getattr(self.when, "function", self.when))):
            raise ValueError(
                f"{what}: when= must be a function of (t, state), an Event or a sensor, got {check.shown(self.when)}"
            )

    @property
    def name(self) -> str:
        """Name of the joint or part."""
        return self.joint if isinstance(self.joint, str) else self.joint.name

    @property
    def subject(self) -> str:
        """Name of the part that changes, with the position along a rod or cable.

        Changes of one part must be given in their order in time.
        """
        return self.name if self.s is None else f"{self.name} at {self.s}"

    @property
    def condition(self) -> Callable[[float, Any], Any] | Any:
        """Function of (t, state) that is zero at the instant of the change, or an Event.

        It is None for a change at a time.
        """
        if self.reaches is None:
            return self.when
        return SensorDifference(self.when, float(self.reaches))


def _reading(given: Any, of: Quantity) -> float:
    """Reading of a sensor, a number or a text with a unit; raises ValueError for the unit of another quantity."""
    return check.number("reaches", in_si("reaches", given, tuple(of.unit.translate(PLAIN).split("*or*"))))


PLAIN = str.maketrans({" ": "*", "·": "*", "²": "^2", "³": "^3"})
"""Replacements that turn the symbols in a sensor's unit into the text of a unit argument, as N·m into N*m."""


class SensorDifference:
    """Difference between the reading of a sensor and a value, as a function of (t, state) for the search of its zero.

    Angles are unwrapped: each is the angle nearest to that of the last call.
    """

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
def lock(
    joint: str | Connection, *, at: float | None = None, when: Any = None, reaches: float | str | None = None
) -> Change:
    """Lock a joint within a run at its current position, or add a joint within a run.

    Velocities jump by the impulse Λ of the joints to satisfy the constraints of the lock:

        v⁺ = v − M⁻¹GᵀΛ,   G M⁻¹GᵀΛ = G v − b,   loss ½ Δvᵀ M Δv ≥ 0,   work of drives −Λᵀb

    with the constraint matrix G of all joints and of the lock, whose reference is the pose at this instant. Momentum
    and angular momentum of free mechanisms are conserved. A step ends at the instant, to round-off.

    Parameters
    ----------
    joint : str or Connection
        Name of a joint between two ports of the mechanism, which is replaced by a joint ``lock NAME`` that fixes the
        relative position; or a joint to be added, such as ``weld("ship.nose", "station.dock", name="dock")``. If it
        prescribes a pose, the bodies must have this pose at the instant.
    at : float, optional
        Time [s].
    when : Event, callable or Quantity, optional
        Condition instead of a time: a function of (t, state), as for events of :func:`flexph.integrate`, whose first
        zero is the instant; or, with ``reaches``, a sensor of :mod:`flexph.sensors`.
    reaches : float or str, optional
        Reading of the sensor at the instant, in its SI unit or such as ``"20 deg"``; angles are unwrapped. A run
        that never comes to this reading ends without the lock, and warns.

    Returns
    -------
    Change
        For ``changes`` of :func:`flexph.integrate`.

    Raises
    ------
    ValueError
        Unless exactly one of ``at`` and ``when`` is given, and ``reaches`` if and only if ``when`` is a sensor.

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
def release(joint: str, *, at: float | None = None, when: Any = None, reaches: float | str | None = None) -> Change:
    """Release a joint within a run: remove its lock or, if it is not locked, the joint itself.

    Velocities do not change. The energy of a released spring is dissipated, as for a rope that breaks.

    Parameters
    ----------
    joint : str
        Name of a joint or spring of the mechanism, or of a joint added by :func:`lock`.
    at : float, optional
        Time [s].
    when : Event, callable or Quantity, optional
        Condition instead of a time, see :func:`lock`.
    reaches : float or str, optional
        Reading of the sensor ``when`` at the instant.

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


@quantities(s="m", tension="N", at="s")
@checked
def rupture(
    part: str,
    s: float | None = None,
    *,
    tension: float | None = None,
    at: float | None = None,
    when: Any = None,
    reaches: float | str | None = None,
) -> Change:
    """Break a rod or cable at a position, or a spring or rope, within a run.

    The element of a rod or cable at s loses all forces and moments, but not its mass. Velocities and momenta do not
    change. The elastic energy of the element is dissipated: it is ``dissipation["rupture NAME"]``, with zeros for a
    part that has none or does not break. A part breaks once; several alternative causes must be one condition ``when``.

    Parameters
    ----------
    part : str
        Name of a rod or cable, or of a spring or rope between two ports.
    s : float, optional
        Position along a rod or cable [m]; the element at this position breaks.
    tension : float, optional
        Tension at which the part breaks [N]: the largest tension of the element, or the elastic force of the spring
        (not of a spring with a force law, hysteresis or a schedule). A part with a larger tension at the start breaks
        at the start.
    at : float, optional
        Time [s] instead of a tension.
    when : Event, callable or Quantity, optional
        Condition instead of a tension, see :func:`lock`.
    reaches : float or str, optional
        Reading of the sensor ``when`` at the instant.

    Returns
    -------
    Change
        For ``changes`` of :func:`flexph.integrate`.

    Raises
    ------
    ValueError
        Unless one of ``tension``, ``at`` and ``when`` is given, for a tension that is not positive, and in a run for a
        part that cannot break, and for a position outside of its length.

    Examples
    --------
    >>> import fem
    >>> import numpy as np
    >>> from flexph import GROUND, connect, force, hinge, integrate
    >>> from flexph.changes import rupture
    >>> rope = fem.cable(2.0, mass_per_length=0.1, axial=1e4, bending=0.01, elements=4, dim=2)
    >>> hung = connect({"rope": rope}, [hinge("rope.root", GROUND), force("rope.tip", name="pull")])
    >>> start = hung.consistent_state(hung.assemble())
    >>> pull = {"pull": lambda t: [1e3 * t, 0.0]}
    >>> snap = rupture("rope", 0.7, tension=40.0)
    >>> run = integrate(hung, start, np.linspace(0.0, 0.06, 61), inputs=pull, changes=[snap])
    >>> bool(run.ledger.dissipation["rupture rope"].sum() > 0.0)
    True
    """
    if tension is not None:
        if when is not None or at is not None or reaches is not None:
            raise ValueError(f"rupture({part!r}) needs either tension=, a force [N], or at= or when=")
        when, reaches = tension_of(part, s), check.positive("tension", tension, "N")
    return Change("rupture", part, at, when, reaches, s)


class Tension(Quantity):
    """Tension sensor of a rupture; a part whose tension is larger at the start breaks at the start."""


def tension_of(part: str, s: float | None) -> Tension:
    """Sensor of the largest tension [N] of the element of a rod or cable at s, or of the elastic force of a spring."""

    def of_state(mechanism: Any) -> Any:
        if part not in mechanism.bodies:
            reading = spring_force(part).of_state
            assert reading is not None
            return reading(mechanism)
        body = mechanism.bodies[part]
        element = element_at(part, body, place_of(part, s))
        rows = [r for r in body.pieces.axial if body.pieces.shares[element, r] > 0.0]
        rows_of_stress = mechanism.layout.parts[f"{part}.stress"].start + np.array(rows)
        return lambda x: float(x[rows_of_stress].max())

    place = "" if s is None else f" at {s:.6g} m"
    return Tension(f"tension{place}", (part,), "N", no_measures, scalar=True, of_state=of_state)


def place_of(part: str, s: float | None) -> float:
    """Position s of a rupture [m]; raises ValueError if it is None."""
    if s is None:
        raise ValueError(f"rupture({part!r}): s must be given, the position along the rod or cable [m]")
    return s
