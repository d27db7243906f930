"""Forces and torques of joints over a run, and in the last step before a sample."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

import numpy as np

from ..mechanisms.model.model import Model
from ..mechanisms.model.state import State
from ..mechanisms.model.time_table import Anchors
from ..mechanisms.poses.reactions import reaction_of_state
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from .quantities import LastStep, Quantity, Reading, StepReading, no_measures

Body = Literal["first", "second"]
Axes = Literal["world", "first", "second"]


@checked
def joint_force(joint: str, *, on: Body = "first", frame: Axes = "world") -> Quantity:
    """Force [N] of a joint or drive on one of its bodies; see :meth:`Solution.reaction`.

    Steps compute it in their middle. ``run.measured`` interpolates it at the saved times, of second order. A
    :class:`flexph.control.Sampled` reads the force of the last step at the bodies' present placement, of first order;
    before the first step it reads that of the start, zero unless the start has multipliers
    (:meth:`Mechanism.consistent_multipliers`).

    Parameters
    ----------
    joint : str
        Name of a joint or drive, as in ``mechanism.connections``.
    on : {"first", "second"}
        Body on which the force acts.
    frame : {"world", "first", "second"}
        Axes of the result: of the world, or of the section at a port.

    Returns
    -------
    Quantity
        Quantity (d,) for finished runs and sampled controllers.
    """
    return _reaction("force", "N", joint, on=on, frame=frame)


@checked
def joint_torque(joint: str, *, on: Body = "first", frame: Axes = "world") -> Quantity:
    """Torque [N m] of a joint or drive on one of its bodies; see :func:`joint_force`.

    Parameters
    ----------
    joint : str
        Name of a joint or drive, as in ``mechanism.connections``.
    on : {"first", "second"}
        Body on which the torque acts.
    frame : {"world", "first", "second"}
        Axes of the result: of the world, or of the section at a port.

    Returns
    -------
    Quantity
        Quantity (1,) in the plane or (3,) in space, for finished runs and sampled controllers.
    """
    return _reaction("torque", "N m", joint, on=on, frame=frame)


def _reaction(kind: str, unit: str, joint: str, *, on: Body, frame: Axes) -> Quantity:
    def over(run: Any) -> Array:
        reaction = run.reaction(joint, on=on, frame=frame)
        return at_saved_times(run.times, reaction.times, getattr(reaction, kind))

    def of_step(mechanism: Model, anchors: Anchors) -> StepReading:
        check.lookup("joint", joint, {c.name: c for c in mechanism.connections if c.rows})

        def read(time: float, x: Array, last: LastStep) -> Array:
            state = State(time, x, last.multipliers, anchors, joint_forces=True)
            reaction = reaction_of_state(mechanism, state, joint, on=on, frame=frame)
            return np.asarray(getattr(reaction, kind)[0])

        return read

    label = f"{kind} of {joint!r}"
    refused = partial(refuse_state, label)
    return Quantity(label, (), unit, no_measures, scalar=False, of_state=refused, of_run=over, of_step=of_step)


def refuse_state(label: str, mechanism: Model) -> Reading:
    """Raise ValueError: a quantity exists over steps only, not in a state."""
    reason = f"the {label} exists over steps only, not in a state"
    raise ValueError(f"{reason}: use run.measured(...) after the run, or read it in a Sampled")


def at_saved_times(times: Array, middles: Array, values: Array) -> Array:
    """Values (k, …) in the middles of steps, interpolated linearly at the saved times."""
    if len(middles) < 2:
        if not len(middles):
            raise ValueError(
                "a run without steps has no forces and accelerations of steps: for a joint use "
                "mechanism.reaction(state, joint)"
            )
        return np.repeat(values, len(times), axis=0)
    before = np.clip(np.searchsorted(middles, times) - 1, 0, len(middles) - 2)
    share = (times - middles[before]) / (middles[before + 1] - middles[before])
    share = share.reshape(-1, *np.ones(values.ndim - 1, dtype=int))
    return np.asarray(values[before] + share * (values[before + 1] - values[before]))
