"""Forces and torques of joints and wheels, over a run, in the last step, and as means of impulses of the ledger."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import numpy as np

from ..joints.rows.friction import CoulombFriction
from ..mechanisms.model.accounts import Accounts
from ..mechanisms.model.model import Model
from ..mechanisms.model.state import State
from ..mechanisms.model.time_table import Anchors, table_of
from ..mechanisms.poses.reactions import motion_before, reaction, reaction_of_state
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from .quantities import LastStep, Quantity, Reading, StepReading, no_measures

Body = Literal["first", "second"]
Axes = Literal["world", "first", "second"]


@checked
def joint_force(joint: str, *, on: Body = "first", frame: Axes = "world") -> Quantity:
    """Force [N] of a joint or drive on one of its bodies; see :meth:`Solution.reaction`.

    Steps compute it in their middle. ``run.measured`` interpolates it at the saved times to second order. A
    :class:`flexph.control.Sampled` reads the force of the last step at the bodies' present placement, to first order;
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

    def of_steps(mechanism: Model, anchors: Anchors) -> Callable[[Array, Array, Array, Array], Array]:
        table = table_of(mechanism, anchors)

        def read(times: Array, lengths: Array, states: Array, multipliers: Array) -> Array:
            motion = motion_before(mechanism, times, 0.5 * lengths, states)
            values = reaction(mechanism, motion, multipliers, table, joint=joint, on=on, frame=frame)
            return np.asarray(getattr(values, kind))

        return read

    label = f"{kind} of {joint!r}"
    refused = partial(refuse_state, label)
    readers: dict[str, Any] = {"of_state": refused, "of_run": over, "of_step": of_step, "of_steps": of_steps}
    return Quantity(label, (), unit, no_measures, scalar=False, **readers)


def refuse_state(label: str, mechanism: Model) -> Reading:
    """Raise ValueError, as the quantity ``label`` exists over steps only and cannot be read from a single state."""
    reason = f"the {label} exists over steps only, not in a state"
    raise ValueError(f"{reason}: use run.measured(...) after the run, or read it by a Sampled controller")


def at_saved_times(times: Array, middles: Array, values: Array) -> Array:
    """Values (N + 1, …) at the saved times, by linear interpolation of values (N, …) in the middles of steps.

    Raises ValueError for a run without steps.
    """
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


Component = Literal["normal", "friction"]
SLIPPING = 1e-9
"""Relative distance from the friction bound above which a joint counts as sticking."""


@checked
def sticks(joint: str) -> Quantity:
    """Sticking of a joint with :class:`flexph.joints.CoulombFriction`: its friction is below the bound μ|λ|.

    It exists over steps: a :class:`flexph.control.Sampled` reads the last step (False before the first step);
    for a saved time, ``run.measured`` returns True if the joint stuck since the saved time before.

    Parameters
    ----------
    joint : str
        Name of a joint with friction proportional to its force.

    Returns
    -------
    Quantity
        Boolean quantity for finished runs and sampled controllers.

    Examples
    --------
    >>> import numpy as np
    >>> import rigid
    >>> from flexph import GROUND, connect, integrate, slider
    >>> from flexph.joints import CoulombFriction
    >>> from flexph.sensors import sticks
    >>> rail = slider("block.point", GROUND.at(0, 0), turning=True, friction=CoulombFriction(0.5), name="rail")
    >>> mechanism = connect({"block": rigid.point(1.0)}, [rail], gravity=(0.0, -9.81))
    >>> start = mechanism.consistent_state(mechanism.assemble(), velocities={"block": (0.1, 0.0)})
    >>> run = integrate(mechanism, start, np.linspace(0.0, 0.04, 5))  # it stops after 0.1/(0.5 · 9.81) s
    >>> run.measured(sticks("rail")).tolist()
    [False, False, False, True, True]
    """

    def of_step(mechanism: Model, anchors: Anchors) -> StepReading:
        accounts, friction = mechanism.once(Accounts), friction_of(mechanism, joint)

        def read(time: float, x: Array, last: LastStep) -> Any:
            normal, tangential = (accounts.mean_force(joint, component, last.flows, last.length) for component in _WAYS)
            return bool(tangential < (1.0 - SLIPPING) * friction.coefficient * normal)

        return read

    def over(run: Any) -> Array:
        friction, impulses = friction_of(run.mechanism, joint), run.ledger.impulses
        normal, tangential = (impulses[f"{joint}: {component}"] for component in _WAYS)
        holds = tangential < (1.0 - SLIPPING) * friction.coefficient * normal
        return np.append(holds[:1], holds)

    def of_state(mechanism: Model) -> Reading:
        friction_of(mechanism, joint)
        return refuse_state(f"state of friction of {joint!r}", mechanism)

    return Quantity("state of friction", (joint,), "1", no_measures, of_state=of_state, of_run=over, of_step=of_step)


_WAYS = ("pressing", "friction")


def friction_of(mechanism: Model, joint: str) -> CoulombFriction:
    """Law of dry friction of a joint.

    Raises ValueError for a joint without dry friction, and for one whose law varies in time.
    """
    known = {c.name: c.form.bearing.friction for c in mechanism.connections if c.form.bearing is not None}
    law: CoulombFriction = check.lookup("joint with CoulombFriction", joint, known)
    if law.factor is not None:
        raise ValueError(f"the bound of the friction of {joint!r} changes with time: read friction_force({joint!r})")
    return law


def has_dry_friction(mechanism: Model, name: str) -> bool:
    """True if the mechanism has a joint of this name, and the joint has dry friction."""
    return any(c.name == name and c.form.bearing is not None for c in mechanism.connections)


def impulse_of(mechanism: Model, name: str, component: Component) -> str:
    """Name in the ledger of the impulses of a contact or of a joint with dry friction.

    ``component`` is "normal" or "friction".
    """
    return f"{name}: {'pressing' if component == 'normal' and has_dry_friction(mechanism, name) else component}"


def mean_force(mechanism: Model, name: str, component: Component) -> StepReading:
    """Function that reads the mean force of a contact or joint over the last step of a run."""
    accounts, account = mechanism.once(Accounts), impulse_of(mechanism, name, component).removeprefix(f"{name}: ")
    return lambda time, x, last: accounts.mean_force(name, account, last.flows, last.length)


def mean_forces(run: Any, name: str, component: Component) -> Array:
    """Mean forces of a contact or joint between saved times, without impacts, interpolated at the saved times."""
    impulses, whole = run.ledger.impulses, impulse_of(run.mechanism, name, component)
    impulse = impulses[whole]
    if f"{whole} at impacts" in impulses:
        impulse = impulse - impulses[f"{whole} at impacts"]
    return at_saved_times(run.times, 0.5 * (run.times[1:] + run.times[:-1]), impulse / np.diff(run.times))
