"""Limit loads: the factor of the inputs at which an equilibrium is lost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..joints.rows.connection import refuse_other_laws
from ..mechanisms.limits import PoseEquilibrium, held_at
from ..mechanisms.mechanism import Mechanism
from ..mechanisms.model.state import Pose, State, at_rest
from ..mechanisms.statics.balance import problem
from ..mechanisms.statics.buckling import lost_stability
from ..mechanisms.statics.equilibrium import refuse_nonholonomic
from ..mechanisms.statics.steady_rotation import steady_rotation
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..systems.inputs import Input

NARROW = 1e-6
"""Relative width of the interval around a limit load at which bisection ends; the equilibrium with friction is no more
accurate."""
HALVINGS = 60


@dataclass(frozen=True, eq=False)
class LimitLoad:
    """Largest factor of the inputs under which an equilibrium holds.

    Attributes
    ----------
    factor : float
        Factor λ of the inputs.
    cause : {"slip", "opening", "instability", "limit point", "no equilibrium"}
        Reason of the limit: a contact slips or opens, or the equilibrium becomes unstable or ends (snap-through).
    message : str
        Reason as a sentence, with the name of the contact.
    state : State
        Equilibrium at the limit; without contacts at 99.9 % of the factor, where it is stable still.
    """

    factor: float
    cause: str
    message: str
    state: State


@checked
def limit_load(
    mechanism: Mechanism,
    pose: Pose,
    inputs: Mapping[str, Input],
    *,
    time: float = 0.0,
    largest: float = 1e6,
) -> LimitLoad:
    """Largest factor λ of the inputs under which a mechanism stays in equilibrium; weights and springs are constant.

    With contacts the mechanism rests in the pose: closed contacts press, |T| ≤ μN where friction holds, and the
    equilibrium is a minimum of the energy. The factor is found by bisection on converged equilibria. Without contacts
    the equilibrium is followed from λ = 0 to a bifurcation or a limit point, as by :meth:`Mechanism.buckling`, which
    scales the weights as well.

    Parameters
    ----------
    mechanism : Mechanism
        Mechanism with external ports.
    pose : Pose
        Pose at rest; contacts are closed where the bodies touch in this pose.
    inputs : mapping
        Values or functions of time by external port, at λ = 1.
    time : float
        Time [s] of inputs and drives.
    largest : float
        Factor up to which a limit is searched.

    Returns
    -------
    LimitLoad
        Factor, cause, and the state at the limit.

    Raises
    ------
    ValueError
        If there is no equilibrium without inputs, and for force laws, hysteresis, nonholonomic joints and flows.
    ArithmeticError
        If the equilibrium holds up to ``largest``.

    Examples
    --------
    A block of 2 kg with μ = 0.3 is pushed at the height of its ground until it slips at μ m g:

    >>> import rigid
    >>> from flexph import GROUND, connect, force
    >>> from flexph.analysis import limit_load
    >>> from flexph.contacts import Plane, Rigid, contact
    >>> block = rigid.body(2.0, inertia=0.1, ports={"left": (-0.2, -0.1), "right": (0.2, -0.1)})
    >>> ground = Plane(GROUND.at(0.0, 0.0), (0.0, 1.0))
    >>> feet = contact(["block.left", "block.right"], ground, Rigid(friction=0.3), name="feet")
    >>> mechanism = connect({"block": block}, [feet, force("block.left", name="push")], gravity=(0.0, -10.0))
    >>> limit = limit_load(mechanism, mechanism.assemble({"block": (0.0, 0.1, 0.0)}), {"push": (1.0, 0.0)})
    >>> round(limit.factor, 4), limit.cause
    (6.0, 'slip')
    """
    largest = check.positive("largest", largest)
    if not inputs:
        raise ValueError("inputs must have a load of an external port: the limit is a factor of it")
    refuse_other_laws(mechanism, "analysis.limit_load", has_schedules=True)
    refuse_nonholonomic(mechanism, "analysis.limit_load")
    if any(c.touches for c in mechanism.connections):
        return _of_contacts(mechanism, pose, inputs, time=time, largest=largest)
    given = problem(mechanism, pose.anchors, time, inputs=inputs, steady=steady_rotation(mechanism, None, None))
    factor, c, is_limit = lost_stability(given, at_rest(mechanism, pose.centres, pose.rotations), largest)
    state = mechanism.equilibrium(
        Pose(c.r, c.R, pose.anchors, pose.bodies), inputs=_scaled(mechanism, inputs, 0.999 * factor), time=time
    )
    cause, what = "instability", "the equilibrium becomes unstable"
    if is_limit:
        cause, what = "limit point", "the equilibria end, as in a snap-through"
    return LimitLoad(factor, cause, f"{factor:.6g} times the inputs: {what}", state)


def _of_contacts(
    mechanism: Mechanism, pose: Pose, inputs: Mapping[str, Input], *, time: float, largest: float
) -> LimitLoad:
    """Limit load of a mechanism that rests on contacts."""

    def at(factor: float) -> PoseEquilibrium:
        return held_at(mechanism, pose, _scaled(mechanism, inputs, factor), time=time)

    low, first = 0.0, at(0.0)
    if first.state is None:
        raise ValueError(f"without inputs the mechanism must rest in the pose: {first.message}")
    high = min(1.0, largest)
    held, lost = first, at(high)
    while lost.state is not None:
        if high == largest:
            raise ArithmeticError(
                f"no limit found: the equilibrium holds up to {largest:g} times the inputs; give a higher largest="
            )
        low, held, high = high, lost, min(2.0 * high, largest)
        lost = at(high)
    for _ in range(HALVINGS):
        if high - low <= NARROW * high:
            break
        middle = 0.5 * (low + high)
        pose_equilibrium = at(middle)
        low, held, high, lost = (
            (middle, pose_equilibrium, high, lost)
            if pose_equilibrium.state is not None
            else (low, held, middle, pose_equilibrium)
        )
    assert held.state is not None
    cause = lost.cause if lost.cause in ("slip", "opening") or held.open is None else "opening"
    reason = lost.message if cause == lost.cause else f"{held.open!r} opens"
    return LimitLoad(low, cause, f"{low:.6g} times the inputs: {reason}", held.state)


def _scaled(mechanism: Mechanism, inputs: Mapping[str, Input], factor: float) -> dict[str, Input]:
    """Inputs by port with values or functions of time multiplied by a factor."""

    def times(value: Any) -> Any:
        return (lambda t: factor * np.asarray(value(t))) if callable(value) else factor * np.asarray(value)

    for name in inputs:
        check.lookup("external port", name, mechanism.network.input_slices)
    return {name: times(value) for name, value in inputs.items()}
