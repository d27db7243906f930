"""Quantities for sensors: angles, distances, offsets, positions of ports, also along curves, and their rates."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from ..joints.rows.connection import Measure, planar_or_about
from ..joints.rows.laws import PointOnCurve
from ..joints.rows.vectors import GROUND, Ground, PortName, Product, Vector, along, between, fitting, unit, unit_axes
from ..joints.rows.vectors import axis as axis_of
from ..kernels.arrays import Arrays
from ..kernels.rates.on_curves import OnCurve
from ..kernels.state import Configuration, Derived, derive, node_velocities, product_changes
from ..mechanisms.model.model import Model
from ..mechanisms.model.state import configuration
from ..mechanisms.model.time_table import Anchors
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..units.arguments import quantities

Reading = Callable[[Array], Any]
"""Function from a flat state to a reading."""


class LastStep(NamedTuple):
    """Data of the last step, except its end state, for sensors of steps.

    ``before`` is the flat state at the start of the step. The other data are the multipliers, the works, impulses and
    losses (flows) in the order of the accounts, and the length [s].
    """

    multipliers: Array
    flows: Array
    length: float
    before: Array

    @classmethod
    def none(cls, multipliers: Array, x: Array) -> LastStep:
        """Data that stand for a step before the first: multipliers and flat state of the start, no flows, length 0."""
        return cls(multipliers, np.zeros(0), 0.0, x)


StepReading = Callable[[float, Array, LastStep], Any]
"""Function from the time [s] and flat state at the end of a step, and its data, to a reading."""


class Slopes(NamedTuple):
    """Exact derivatives (k, c, n) of a reading with respect to flat states (k, n).

    The caller computes the derivatives with respect to the entries ``left`` of the state by differences.
    """

    at: Callable[[Array], Array]
    left: Array


@dataclass(frozen=True)
class Quantity:
    """A measurable quantity: its kind, ports and unit, and how it is evaluated.

    Attributes
    ----------
    kind : str
        Kind of quantity, in words.
    ports : tuple of str
        Ports where it is measured.
    unit : str
        Unit.
    make : callable
        Function from the dimension (2 or 3) to its measures, one for each component.
    scalar : bool
        True for a scalar.
    is_rate : bool
        True if the rate of the measures is meant.
    of_state : callable, optional
        Instead of measures: function from a mechanism to the reading of a flat state, a number or an array.
    of_rate : callable, optional
        With ``of_state``, if it has a rate: function from a mechanism to the reading of the rate.
    of_run : callable, optional
        Instead of measures and ``of_state``: function from a finished run to the values at the saved times.
    of_step : callable, optional
        Instead of measures or ``of_state``: function from a mechanism and the anchors of its start to the reading of
        the last step by sampled controllers.
    of_steps : callable, optional
        Function from a mechanism and the anchors of its start to the readings (k, c) in the middles of k steps, as a
        function of the times there, the lengths of the steps, the states at their ends, and their multipliers.
    slopes : callable, optional
        With ``of_state``: function from a mechanism to its exact :class:`Slopes`, None where there are none.
    is_smooth : bool
        True if the quantity can be linearised; False for the largest of several values.
    """

    kind: str
    ports: tuple[PortName, ...]
    unit: str
    make: Callable[[int], tuple[Measure, ...]] = field(compare=False, repr=False)
    scalar: bool = True
    is_rate: bool = False
    of_state: Callable[[Model], Reading] | None = field(default=None, compare=False, repr=False)
    of_rate: Callable[[Model], Reading] | None = field(default=None, compare=False, repr=False)
    of_run: Callable[[Any], Array] | None = field(default=None, compare=False, repr=False)
    of_step: Callable[[Model, Anchors], StepReading] | None = field(default=None, compare=False, repr=False)
    of_steps: Callable[[Model, Anchors], Callable[[Array, Array, Array, Array], Array]] | None = field(
        default=None, compare=False, repr=False
    )
    slopes: Callable[[Model], Slopes | None] | None = field(default=None, compare=False, repr=False)
    is_smooth: bool = True

    def __str__(self) -> str:
        return f"{self.kind} of {' and '.join(map(str, self.ports))}" if self.ports else self.kind


@quantities(zero="rad")
@checked
def joint_angle(
    first: str,
    second: PortName = GROUND,
    *,
    axis: Sequence[float] | None = None,
    second_axis: Sequence[float] | None = None,
    zero: float = 0.0,
) -> Quantity:
    """Angle [rad] of the section at a port relative to the section at another, as a torsion spring measures it.

    Sections of flexible bodies rotate with their deformation. In space the angle is about ``axis``, which a joint must
    keep parallel to ``second_axis``. Within a run full turns are counted.

    The angle is ``-zero`` if the first section is the second one, rotated by the smallest rotation that aligns the
    axes.

    Parameters
    ----------
    first : str
        Port ``body.port`` of a body.
    second : str or Ground
        Port of another body, or a place ``GROUND.at(...)``.
    axis : array_like, optional
        Axis in the section at the first port, in space.
    second_axis : array_like, optional
        The same axis in the section at the second port; by default the same components.
    zero : float
        Angle [rad] that counts as zero: with 0.5 a sensor that would read 0.5 reads 0.

    Returns
    -------
    Quantity
        Quantity for sensors of runs.

    Examples
    --------
    >>> import rigid
    >>> from flexph import GROUND, connect, hinge, integrate
    >>> from flexph.sensors import joint_angle
    >>> arm = connect({"arm": rigid.bar(1.0, 2.0)}, [hinge("arm.root", GROUND)])
    >>> run = integrate(arm, arm.consistent_state(arm.assemble({"arm": (0.0, 0.0, 0.5)})), [0.0, 0.1])
    >>> [round(float(run.measured(joint_angle("arm.root", zero=zero))[0]), 12) for zero in (0.0, 0.2)]
    [0.5, 0.3]
    """
    axes, origin = unit_axes(axis, second_axis), check.number("zero", zero)

    def make(dim: int) -> tuple[Measure, ...]:
        return (_measured("angle", planar_or_about(first, second, dim, kind="an angle", axes=axes, zero=origin)),)

    return Quantity("angle", (first, second), "rad", make)


@checked
def joint_rate(
    first: str,
    second: PortName = GROUND,
    *,
    axis: Sequence[float] | None = None,
    second_axis: Sequence[float] | None = None,
) -> Quantity:
    """Rate [rad/s] at which the angle :func:`joint_angle` of two sections changes.

    Parameters
    ----------
    first : str
        Port ``body.port`` of a body.
    second : str or Ground
        Port of another body, or a place ``GROUND.at(...)``.
    axis : array_like, optional
        Axis in the section at the first port, in space.
    second_axis : array_like, optional
        The same axis in the section at the second port; by default the same components.

    Returns
    -------
    Quantity
        Quantity for sensors of runs.
    """
    return rate_of(joint_angle(first, second, axis=axis, second_axis=second_axis))


@checked
def distance(first: str, second: PortName) -> Quantity:
    """Distance [m] between two ports, or of a port from a point of the ground.

    Parameters
    ----------
    first : str
        Port ``body.port`` of a body.
    second : str or Ground
        Port of another body, or a place ``GROUND.at(...)``.

    Returns
    -------
    Quantity
        Quantity for sensors of runs.
    """
    gap = between(first, second)
    return Quantity("distance", (first, second), "m", lambda dim: (_measured("length", (Product(gap, gap),)),))


@checked
def offset(first: str, second: PortName, direction: Sequence[float]) -> Quantity:
    """Offset [m] of a port from another along a direction of the second section, such as that of a slider.

    Parameters
    ----------
    first : str
        Port ``body.port`` of a body.
    second : str or Ground
        Port of another body, or a place ``GROUND.at(...)``.
    direction : array_like
        Direction in the axes of the section at the second port.

    Returns
    -------
    Quantity
        Quantity for sensors of runs.
    """
    to = unit("direction", direction)

    def make(dim: int) -> tuple[Measure, ...]:
        product = Product(between(first, second), along(second, fitting("direction", to, dim)))
        return (_measured("component", (product,)),)

    return Quantity("offset", (first, second), "m", make)


@checked
def position(port: str, origin: Ground = GROUND) -> Quantity:
    """Position (d,) [m] of a port in world axes, relative to ``origin``.

    Parameters
    ----------
    port : str
        Port ``body.port`` of a body.
    origin : Ground
        Origin as ``GROUND.at(...)``; by default the origin of the world.

    Returns
    -------
    Quantity
        Quantity for sensors of runs.
    """
    gap = between(port, origin)

    def make(dim: int) -> tuple[Measure, ...]:
        axes = (Vector(fixed=axis_of(i, dim)) for i in range(dim))
        return tuple(_measured("component", (Product(gap, vector),)) for vector in axes)

    return Quantity("position", (port,), "m", make, scalar=False)


@checked
def velocity(port: str) -> Quantity:
    """Velocity (d,) [m/s] of a port in world axes.

    Parameters
    ----------
    port : str
        Port ``body.port`` of a body.

    Returns
    -------
    Quantity
        Quantity for sensors of runs.
    """
    return rate_of(position(port))


def rate_of(quantity: Quantity) -> Quantity:
    """Sensor of the time derivative of a quantity that is measured between ports."""
    return replace(quantity, kind=f"rate of the {quantity.kind}", unit=f"{quantity.unit}/s", is_rate=True)


def no_measures(dim: int) -> tuple[Measure, ...]:
    """Empty tuple, as quantities that are computed from states, runs or steps have no measures."""
    return ()


def _measured(kind: str, products: tuple[Product, ...]) -> Measure:
    return Measure(kind, products, 0.0, 0.0, None)  # type: ignore[arg-type]


@checked
def place_on_curve(joint: str) -> Quantity:
    """Position s of a port on its curve, in the coordinate ``at`` of :func:`flexph.joints.point_on_curve`.

    If ``at`` are metres along the undeformed body, s is the material point under the port [m]; :func:`rate` of it is
    the speed of sliding, positive towards larger s.

    Parameters
    ----------
    joint : str
        Name of the joint, as in ``mechanism.connections``.

    Returns
    -------
    Quantity
        Quantity for sensors of runs.

    Examples
    --------
    >>> import numpy as np
    >>> import rigid
    >>> from flexph import GROUND, connect, integrate
    >>> from flexph.joints import point_on_curve
    >>> from flexph.sensors import place_on_curve, rate
    >>> rail = point_on_curve("bead.point", [GROUND.at(0.0, 0.0), GROUND.at(3.0, 4.0)], at=(0.0, 5.0))
    >>> mechanism = connect({"bead": rigid.point(1.0)}, [rail])
    >>> pose = mechanism.assemble(guess={"bead": (0.6, 0.8, 0.0)})
    >>> start = mechanism.consistent_state(pose, velocities={"bead": (1.2, 1.6)})
    >>> run = integrate(mechanism, start, np.linspace(0.0, 1.0, 11))
    >>> place = place_on_curve(rail.name)
    >>> round(float(run.measured(place)[-1]), 9), round(float(run.measured(rate(place))[-1]), 9)
    (3.0, 2.0)
    """

    def place(a: Arrays, at: OnCurve, index: int, moving: tuple[Configuration, Derived]) -> float:
        return at.places[1]

    def speed(a: Arrays, at: OnCurve, index: int, moving: tuple[Configuration, Derived]) -> float:
        c, d = moving
        change = product_changes(a, a.incidence @ node_velocities(a, c, c.R, d.arm), d.vector)
        return float(np.vdot(at.moved, change[a.curves[index].products]))

    label = f"place of {joint!r} on its curve"
    of_state, of_rate = (_reading(joint, read) for read in (place, speed))
    return Quantity(label, (), "of its places", no_measures, of_state=of_state, of_rate=of_rate)


Read = Callable[[Arrays, OnCurve, int, tuple[Configuration, Derived]], float]


def _reading(joint: str, read: Read) -> Callable[[Model], Reading]:
    def of_state(mechanism: Model) -> Reading:
        curves = [c.name for c in mechanism.connections if any(isinstance(r.law, PointOnCurve) for r in c.rows)]
        check.lookup("point_on_curve", joint, dict.fromkeys(curves))
        index = curves.index(joint)
        a = mechanism.network.arrays

        def of(x: Array) -> float:
            c = configuration(mechanism, x)
            d = derive(a, c)
            return read(a, d.on_curves[index], index, (c, d))

        return of

    return of_state
