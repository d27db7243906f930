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
    """The force [N] of a joint or drive on one of its bodies: see :meth:`Solution.reaction`.

    Steps have it in their middle. In ``run.measured`` it is interpolated at the saved times, of second order; a
    :class:`flexph.control.Sampled` reads that of the last step, with the bodies where they are, of first order: before
    the first step that of the start, zero unless it has multipliers (:meth:`Mechanism.consistent_multipliers`).

    Parameters
    ----------
    joint : str
        Name of a joint or drive, as in ``mechanism.connections``.
    on : {"first", "second"}
        On which of its bodies it acts.
    frame : {"world", "first", "second"}
        Axes: of the world, or of the section at a port.

    Returns
    -------
    Quantity
        (d,), read after runs and by sampled controllers.
    """
    return _reaction("force", "N", joint, on=on, frame=frame)


@checked
def joint_torque(joint: str, *, on: Body = "first", frame: Axes = "world") -> Quantity:
    """The torque [N m] of a joint or drive on one of its bodies, as :func:`joint_force`.

    Parameters
    ----------
    joint : str
        Name of a joint or drive, as in ``mechanism.connections``.
    on : {"first", "second"}
        On which of its bodies it acts.
    frame : {"world", "first", "second"}
        Axes: of the world, or of the section at a port.

    Returns
    -------
    Quantity
        (1,) in the plane, (3,) in space, read after runs and by sampled controllers.
    """
    return _reaction("torque", "N m", joint, on=on, frame=frame)


def _reaction(kind: str, unit: str, joint: str, *, on: Body, frame: Axes) -> Quantity:
    def over(run: Any) -> Array:
        reaction = run.reaction(joint, on=on, frame=frame)
        return over_saved_times(run.times, reaction.times, getattr(reaction, kind))

    def of_step(mechanism: Model, anchors: Anchors) -> StepReading:
        check.lookup("joint", joint, {c.name: c for c in mechanism.connections if c.rows})

        def read(time: float, x: Array, last: LastStep) -> Array:
            state = State(time, x, last.multipliers, anchors, joint_forces=True)
            reaction = reaction_of_state(mechanism, state, joint, on=on, frame=frame)
            return np.asarray(getattr(reaction, kind)[0])

        return read

    told = f"{kind} of {joint!r}"
    refused = partial(not_of_a_state, told)
    return Quantity(told, (), unit, no_measures, scalar=False, of_state=refused, of_run=over, of_step=of_step)


def not_of_a_state(told: str, mechanism: Model) -> Reading:
    """Raise ValueError: what is told is known over steps."""
    known = f"the {told} is known over steps, not of a state"
    raise ValueError(f"{known}: take run.measured(...) after the run, or read it by a Sampled")


def over_saved_times(times: Array, middles: Array, values: Array) -> Array:
    """Values (k, …) of the middles of steps at saved times, by straight lines through the two that are near."""
    if len(middles) < 2:
        if not len(middles):
            raise ValueError(
                "a run without steps has no forces and accelerations of steps: of joints take "
                "mechanism.reaction(state, joint)"
            )
        return np.repeat(values, len(times), axis=0)
    before = np.clip(np.searchsorted(middles, times) - 1, 0, len(middles) - 2)
    share = (times - middles[before]) / (middles[before + 1] - middles[before])
    share = share.reshape(-1, *np.ones(values.ndim - 1, dtype=int))
    return np.asarray(values[before] + share * (values[before + 1] - values[before]))
