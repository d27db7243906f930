"""What sensors measure: angles, distances, offsets and places of ports, and how fast they change."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np

from ..joints.rows.connection import Measure, PortName, planar_or_about
from ..joints.rows.directions import axis as axis_of
from ..joints.rows.directions import fitting, unit, unit_axes
from ..joints.rows.vectors import GROUND, Ground, Product, Vector, along, between
from ..mechanisms.model.model import Model
from ..mechanisms.model.time_table import Anchors
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..units.arguments import quantities

Reading = Callable[[Array], Any]
"""What is read of a flat state."""


class LastStep(NamedTuple):
    """What a step leaves beside its state: multipliers, flows in the order of the accounts, its length [s].

    ``before`` is the flat state at its start.
    """

    multipliers: Array
    flows: Array
    length: float
    before: Array

    @classmethod
    def none(cls, multipliers: Array, x: Array) -> LastStep:
        """Before the first step: the multipliers of the start, and no length."""
        return cls(multipliers, np.zeros(0), 0.0, x)


StepReading = Callable[[float, Array, LastStep], Any]
"""What is read of the time [s] and flat state at the end of a step, and of the step."""


@dataclass(frozen=True)
class Quantity:
    """Something that can be measured at ports: what it is, where, its unit, and whether its rate is meant.

    Attributes
    ----------
    kind : str
        What it is.
    ports : tuple of str
        Where.
    unit : str
        Its unit.
    make : callable
        Its measures in 2 or 3 dimensions, one for each of its numbers.
    scalar : bool
        Whether it is one number.
    is_rate : bool
        Whether its rate is meant.
    of_state : callable, optional
        In place of measures: from a mechanism to what is read of a flat state, a number or an array.
    of_rate : callable, optional
        Beside ``of_state``, of what has a rate: from a mechanism to what is read of that.
    of_run : callable, optional
        In place of both: from a finished run to its values at the saved times.
    of_step : callable, optional
        In place of the first two: from a mechanism and the anchors of its start to what sampled controllers read of
        the last step.
    is_smooth : bool
        Whether it may be linearised: not the largest of several values.
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
    """The angle [rad] of the section at a port from that at another, as a torsion spring measures it.

    Sections of flexible bodies turn with them. In space the angle is about ``axis``, which a joint must hold. Within a
    run full turns are counted.

    The angle is ``-zero`` where the first section is the second one, turned by the smallest rotation that brings the
    axes together.

    Parameters
    ----------
    first : str
        Port ``body.port`` of a body.
    second : str or Ground
        Port of another body, or a place ``GROUND.at(...)``.
    axis : array_like, optional
        Axis in the section at the first port, in space.
    second_axis : array_like, optional
        The same axis in the section at the second port; the same components by default.
    zero : float
        Angle [rad] that counts as zero: 0.5 reads 0 where the sensor without it reads 0.5.

    Returns
    -------
    Quantity
        For sensors of runs.

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
    """The rate [rad/s] of :func:`joint_angle`.

    Parameters
    ----------
    first : str
        Port ``body.port`` of a body.
    second : str or Ground
        Port of another body, or a place ``GROUND.at(...)``.
    axis : array_like, optional
        Axis in the section at the first port, in space.
    second_axis : array_like, optional
        The same axis in the section at the second port; the same components by default.

    Returns
    -------
    Quantity
        For sensors of runs.
    """
    return rate_of(joint_angle(first, second, axis=axis, second_axis=second_axis))


@checked
def distance(first: str, second: PortName) -> Quantity:
    """The distance [m] of two ports, or of a port from a position of the ground.

    Parameters
    ----------
    first : str
        Port ``body.port`` of a body.
    second : str or Ground
        Port of another body, or a place ``GROUND.at(...)``.

    Returns
    -------
    Quantity
        For sensors of runs.
    """
    gap = between(first, second)
    return Quantity("distance", (first, second), "m", lambda dim: (_measured("length", (Product(gap, gap),)),))


@checked
def offset(first: str, second: PortName, direction: Sequence[float]) -> Quantity:
    """How far a port is from another along a direction of the section at the second one [m]: where a slider stands.

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
        For sensors of runs.
    """
    to = unit("direction", direction)

    def make(dim: int) -> tuple[Measure, ...]:
        product = Product(between(first, second), along(second, fitting("direction", to, dim)))
        return (_measured("component", (product,)),)

    return Quantity("offset", (first, second), "m", make)


@checked
def position(port: str, origin: Ground = GROUND) -> Quantity:
    """The place (d,) [m] of a port in world axes, from a position of the ground where one is given.

    Parameters
    ----------
    port : str
        Port ``body.port`` of a body.
    origin : Ground
        ``GROUND.at(...)``, from which it counts; the origin of the world by default.

    Returns
    -------
    Quantity
        For sensors of runs.
    """
    gap = between(port, origin)

    def make(dim: int) -> tuple[Measure, ...]:
        axes = (Vector(fixed=axis_of(i, dim)) for i in range(dim))
        return tuple(_measured("component", (Product(gap, own),)) for own in axes)

    return Quantity("position", (port,), "m", make, scalar=False)


@checked
def velocity(port: str) -> Quantity:
    """The velocity (d,) [m/s] of a port in world axes.

    Parameters
    ----------
    port : str
        Port ``body.port`` of a body.

    Returns
    -------
    Quantity
        For sensors of runs.
    """
    return rate_of(position(port))


def rate_of(quantity: Quantity) -> Quantity:
    """The rate of what is measured between ports."""
    return replace(quantity, kind=f"rate of the {quantity.kind}", unit=f"{quantity.unit}/s", is_rate=True)


def no_measures(dim: int) -> tuple[Measure, ...]:
    """Of what is read of states, runs or steps."""
    return ()


def _measured(kind: str, products: tuple[Product, ...]) -> Measure:
    return Measure(kind, products, 0.0, 0.0, None)  # type: ignore[arg-type]
