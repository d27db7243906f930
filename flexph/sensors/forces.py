"""Forces and torques of joints and wheels, over a run, in the last step, and as means of impulses of the ledger."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

import numpy as np

from ..contacts.arrays import has_slipping_wheel
from ..joints.rows.connection import Slip
from ..joints.rows.friction import CoulombFriction
from ..kernels.arrays import Arrays
from ..kernels.rates.slips import slip_forces, slip_rows
from ..kernels.state import derive, node_velocities, product_changes
from ..laws.creep_laws import CreepLaw
from ..mechanisms.model.accounts import Accounts
from ..mechanisms.model.model import Model
from ..mechanisms.model.state import State, configuration
from ..mechanisms.model.time_table import Anchors, table_of
from ..mechanisms.poses.reactions import motion_before, reaction, reaction_of_state
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from .panel import histories
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

    def of_steps(mechanism: Model, anchors: Anchors) -> Callable[[Array, Array, Array, Array], Array]:
        table = table_of(mechanism, anchors)

        def read(times: Array, lengths: Array, states: Array, multipliers: Array) -> Array:
            motion = motion_before(mechanism, times, 0.5 * lengths, states)
            own = reaction(mechanism, motion, multipliers, table, joint=joint, on=on, frame=frame)
            return np.asarray(getattr(own, kind))

        return read

    label = f"{kind} of {joint!r}"
    refused = partial(refuse_state, label)
    ways: dict[str, Any] = {"of_state": refused, "of_run": over, "of_step": of_step, "of_steps": of_steps}
    return Quantity(label, (), unit, no_measures, scalar=False, **ways)


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


Way = Literal["normal", "friction"]
SLIPPING = 1e-9
"""Relative distance from the friction bound above which a joint counts as sticking."""


@checked
def sticks(joint: str) -> Quantity:
    """Sticking of a joint with :class:`flexph.joints.CoulombFriction`: its friction is below the bound μ|λ|.

    It exists over steps: a :class:`flexph.control.Sampled` reads the last step (False before the first step);
    ``run.measured`` tells for each saved time whether the joint stuck since the previous one.

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
            normal, tangential = (accounts.mean_force(joint, way, last.flows, last.length) for way in _WAYS)
            return bool(tangential < (1.0 - SLIPPING) * friction.coefficient * normal)

        return read

    def over(run: Any) -> Array:
        friction, impulses = friction_of(run.mechanism, joint), run.ledger.impulses
        normal, tangential = (impulses[f"{joint}: {way}"] for way in _WAYS)
        holds = tangential < (1.0 - SLIPPING) * friction.coefficient * normal
        return np.append(holds[:1], holds)

    def of_state(mechanism: Model) -> Reading:
        friction_of(mechanism, joint)
        return refuse_state(f"state of friction of {joint!r}", mechanism)

    return Quantity("state of friction", (joint,), "1", no_measures, of_state=of_state, of_run=over, of_step=of_step)


_WAYS = ("pressing", "friction")


def friction_of(mechanism: Model, joint: str) -> CoulombFriction:
    """Law of dry friction of a joint; raises ValueError with the existing names."""
    known = {c.name: c.form.bearing.friction for c in mechanism.connections if c.form.bearing is not None}
    law: CoulombFriction = check.lookup("joint with CoulombFriction", joint, known)
    if law.factor is not None:
        raise ValueError(f"the bound of the friction of {joint!r} changes with time: read friction_force({joint!r})")
    return law


def has_dry_friction(mechanism: Model, name: str) -> bool:
    """True if a joint with dry friction has this name."""
    return any(c.name == name and c.form.bearing is not None for c in mechanism.connections)


def impulse_of(mechanism: Model, name: str, way: Way) -> str:
    """Name in the ledger of the impulses of a contact, or of a joint with dry friction."""
    return f"{name}: {'pressing' if way == 'normal' and has_dry_friction(mechanism, name) else way}"


def mean_force(mechanism: Model, name: str, way: Way) -> StepReading:
    """Function that reads the mean force over the last step."""
    accounts, own = mechanism.once(Accounts), impulse_of(mechanism, name, way).removeprefix(f"{name}: ")
    return lambda time, x, last: accounts.mean_force(name, own, last.flows, last.length)


def mean_forces(run: Any, name: str, way: Way) -> Array:
    """Mean forces between saved times, interpolated at the saved times."""
    impulses, whole = run.ledger.impulses, impulse_of(run.mechanism, name, way)
    own = impulses[whole]
    if f"{whole} at impacts" in impulses:
        own = own - impulses[f"{whole} at impacts"]
    return at_saved_times(run.times, 0.5 * (run.times[1:] + run.times[:-1]), own / np.diff(run.times))


@checked
def wheel_slip(joint: str) -> Quantity:
    """Slip velocity (k,) [m/s] of a wheel on the ground: along and across it, or along the axis of its rollers.

    Parameters
    ----------
    joint : str
        Name of a ``slipping_wheel`` or ``railway_wheel``, as in ``mechanism.connections``.

    Returns
    -------
    Quantity
        Quantity for sensors of runs.

    Examples
    --------
    >>> import rigid
    >>> from flexph import GROUND, connect, integrate, slider
    >>> from flexph.joints import slipping_wheel
    >>> from flexph.laws import creep
    >>> from flexph.sensors import wheel_force, wheel_slip
    >>> grip = slipping_wheel("disc.c", radius=0.1, friction=creep(longitudinal=400.0, limit=4.0), name="grip")
    >>> lane = slider("disc.c", GROUND.at(0.0, 0.0), direction=(1.0, 0.0), turning=True)
    >>> disc = connect({"disc": rigid.body(2.0, inertia=0.03, ports={"c": (0.0, 0.0)})}, [lane, grip])
    >>> spun = disc.consistent_state(disc.assemble(), velocities={"disc": (5.0, 0.0, 0.0)})
    >>> run = integrate(disc, spun, [0.0, 0.01])
    >>> [run.measured(sensor("grip"))[0].tolist() for sensor in (wheel_slip, wheel_force)]
    [[5.0], [-4.0]]
    """

    def of_state(mechanism: Model) -> Reading:
        read = _reading(joint, mechanism, _slips)
        return lambda x: read(x, None)

    return Quantity(f"slip of {joint!r}", (), "m/s", no_measures, scalar=False, of_state=of_state)


@checked
def wheel_force(joint: str) -> Quantity:
    """Force (k,) [N] of the ground on a wheel against the components of its slip.

    With a law by the wheel load it exists over steps, see :func:`joint_force`.

    Parameters
    ----------
    joint : str
        Name of a ``slipping_wheel`` or ``railway_wheel``, as in ``mechanism.connections``.

    Returns
    -------
    Quantity
        Quantity for sensors of runs; see :func:`wheel_slip`.
    """
    label = f"grip of {joint!r}"

    def of_state(mechanism: Model) -> Reading:
        if _by_load(mechanism, joint):
            return refuse_state(label, mechanism)
        read = _reading(joint, mechanism, _grip)
        return lambda x: read(x, None)

    def of_step(mechanism: Model, anchors: Anchors) -> StepReading:
        read = _reading(joint, mechanism, _grip)
        return lambda time, x, last: read(x, last.multipliers)

    def over(run: Any) -> Array:
        if not _by_load(run.mechanism, joint):
            return np.asarray(histories(run.mechanism, {"it": by_state}, run.states)["it"])
        read = _reading(joint, run.mechanism, _grip)
        loads = at_saved_times(run.times, run.multiplier_times, run.multipliers)
        return np.array([read(x, lam) for x, lam in zip(run.states, loads, strict=True)])

    by_state = Quantity(label, (), "N", no_measures, scalar=False, of_state=of_state)
    return Quantity(label, (), "N", no_measures, scalar=False, of_state=of_state, of_run=over, of_step=of_step)


Read = Callable[[Arrays, Array, Array | None], Array]


def _slips(a: Arrays, rates: Array, multipliers: Array | None) -> Array:
    return rates


def _grip(a: Arrays, rates: Array, multipliers: Array | None) -> Array:
    return slip_forces(a.slips, rates, multipliers)[0]


def _slip_of(mechanism: Model, joint: str) -> tuple[int, Slip]:
    """Number of the slip of a wheel, and the slip."""
    wheels = [c.name for c in mechanism.connections if has_slipping_wheel(c)]
    check.lookup("slipping wheel", joint, dict.fromkeys(wheels))
    slips = [(c.name, slip) for c in mechanism.connections for slip in c.form.slips]
    own = [name for name, _ in slips].index(joint)
    return own, slips[own][1]


def _by_load(mechanism: Model, joint: str) -> bool:
    """True if the friction of a wheel is limited by its load, a force of steps."""
    slip = _slip_of(mechanism, joint)[1]
    if slip.contact is not None:
        raise ValueError(
            f"wheel_force({joint!r}): the wheel load is that of a contact, which states do not know: take "
            f"normal_force({slip.contact!r}), and run.ledger.dissipation[{joint!r}] for the loss"
        )
    return slip.load is not None


def _reading(joint: str, mechanism: Model, read: Read) -> Callable[[Array, Array | None], Array]:
    """Reading of the components of a wheel's slip at a flat state and multipliers, without those of rolling."""
    number, slip = _slip_of(mechanism, joint)
    own = np.flatnonzero(mechanism.network.arrays.slips.slip == number)
    own = own[: min(own.size - 1, 2)] if isinstance(slip.friction, CreepLaw) else own

    def at(x: Array, multipliers: Array | None) -> Array:
        a, c = mechanism.network.arrays, configuration(mechanism, x)
        d = derive(a, c)
        change = product_changes(a, a.incidence @ node_velocities(a, c, c.R, d.arm), d.vector)
        return read(a, slip_rows(a.slips, d.product) @ change, multipliers)[own]

    return at
