"""Sensors of contacts: gaps, contact states, normal and friction forces."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..kernels.contacts.gap_arrays import Contacts
from ..kernels.contacts.gaps import (
    TOUCHING,
    Gaps,
    carried,
    gaps_between,
    moved_at,
    rates_of,
    slips,
    tangents,
    vectors_of,
)
from ..kernels.contacts.laws import forces_at, friction_at
from ..kernels.state import coordinate_size, node_arms, touching_points, touching_velocities
from ..mechanisms.model.model import Model
from ..mechanisms.model.state import Configuration, configuration
from ..mechanisms.model.time_table import Anchors
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.rotations import turned_spins
from .forces import Component, has_dry_friction, mean_force, mean_forces, refuse_state
from .panel import histories
from .quantities import Quantity, Reading, StepReading, no_measures


@checked
def gap(contact: str) -> Quantity:
    """Gaps of a contact or stop [m, for stops of angles rad]; negative if bodies penetrate.

    Gaps of rigid contacts reach zero without changing sign, so events look for a small gap, ``x.measured(gap("wall")) -
    1e-9``.

    Parameters
    ----------
    contact : str
        Name of a contact or stop.

    Returns
    -------
    Quantity
        Quantity (c,), one value per pair of shapes or limit, for states and runs.

    Examples
    --------
    >>> import rigid
    >>> from flexph import GROUND, Event, connect, integrate
    >>> from flexph.contacts import Plane, Rigid, contact
    >>> from flexph.sensors import gap
    >>> wall = contact("ball.centre", Plane(GROUND.at(1.0, 0.0), (-1.0, 0.0)), Rigid(), name="wall")
    >>> ball = connect({"ball": rigid.body(1.0, inertia=0.1, ports={"centre": (0.0, 0.0)})}, [wall])
    >>> pose = ball.assemble({"ball": (0.0, 0.0, 0.0)})
    >>> start = ball.consistent_state(pose, velocities={"ball": (1.0, 0.0, 0.0)})
    >>> near = Event(lambda t, x: x.measured(gap("wall")) - 0.1, terminal=True)
    >>> run = integrate(ball, start, [0.0, 0.7, 1.4], events={"near": near})
    >>> round(float(run.times[-1]), 9), float(run.measured(gap("wall"))[0, 0])
    (0.9, 1.0)
    """
    return _read("gap", contact, "m", lambda mechanism: lambda own, x: gaps_in(mechanism, own, x)[2].after)


@checked
def touches(contact: str) -> Quantity:
    """State of the gaps of a contact or stop: each is closed below 1e-11 times the mechanism's size.

    Parameters
    ----------
    contact : str
        Name of a contact or stop.

    Returns
    -------
    Quantity
        Quantity (c,) of True and False, for states and runs.
    """

    def of(mechanism: Model) -> Any:
        def read(own: Contacts, x: Array) -> Array:
            _, (c, _), gaps = gaps_in(mechanism, own, x)
            return is_closed(mechanism, c, gaps.after)

        return read

    return _read("state of contact", contact, "1", of)


@checked
def normal_force(contact: str) -> Quantity:
    """Sum of the normal forces of all gaps of a contact [N, for stops of angles N m], or the joint force |λ|.

    The force of a compliant contact follows from the state: its law at the present depth and rate. The force of a rigid
    contact is a mean over steps, without the impulses that close gaps, which are in ``ledger.impulses``: a
    :class:`flexph.control.Sampled` reads the mean of the last step (zero before the first step); ``run.measured``
    interpolates the means between saved times. The joint force |λ|, of joints with
    :class:`flexph.joints.CoulombFriction`, is such a mean, too.

    Parameters
    ----------
    contact : str
        Name of a contact or stop, or of a joint with friction proportional to its force.

    Returns
    -------
    Quantity
        Scalar quantity, never negative for compliant contacts.
    """
    return _force("normal force", contact, "normal")


@checked
def friction_force(contact: str) -> Quantity:
    """Sum of the magnitudes of the friction forces of all gaps of a contact [N], or the dry friction in a joint.

    States, runs and controllers read it as they read :func:`normal_force`. For a rotating joint the force is the torque
    divided by the radius of the bearing. If the coefficient of friction has a factor that depends on time, the force is
    a mean over steps, and so is that of a smooth friction law on a surface whose speed depends on time.

    Parameters
    ----------
    contact : str
        Name of a contact, or of a joint with :class:`flexph.joints.CoulombFriction`.

    Returns
    -------
    Quantity
        Scalar quantity.
    """
    return _force("friction force", contact, "friction")


def gaps_of(mechanism: Model, contact: str) -> Contacts:
    """Arrays of the gaps of the contact named ``contact``; all gaps of a contact between many balls are one group.

    Raises ValueError, listing the existing names, for an unknown contact.
    """
    owners = {c.name: c for c in mechanism.connections if c.touches}
    check.lookup("contact", contact, owners)
    contacts = mechanism.network.arrays.contacts
    return contacts.of(list(owners).index(contact))


def is_closed(mechanism: Model, c: Configuration, gaps: Array) -> Array:
    """True for each gap that is closed at a configuration, from the values of the gaps."""
    closed: Array = gaps <= TOUCHING * max(coordinate_size(mechanism.network.arrays, c.r), 1e-300)
    return closed


def pressed(mechanism: Model, own: Contacts, x: Array, component: Component) -> Array:
    """Forces (c,) [N] of the compliant contacts ``own`` at a flat state: normal ones or those of friction.

    ``component`` is "normal" or "friction". For contacts between many balls there is one force for each closed gap.
    """
    a = mechanism.network.arrays
    own, (c, arm), gaps = gaps_in(mechanism, own, x, closed=True)
    moved = rates_of(own, touching_velocities(a, c, arm, c.R))
    normal = forces_at(own, gaps.after, np.vecdot(gaps.end, moved).sum(axis=0))
    if component == "normal":
        return normal
    if not own.friction.any():
        return np.zeros(normal.size)
    slip = np.zeros((a.dim - 1, normal.size))
    if not (own.anchor >= 0).all():  # anchors determine their friction force
        tangent, lever = tangents(own, gaps)
        slip = slips(own, tangent, lever, moved_at(own, gaps, moved), turned_spins(c.R, c.omega))
        slip -= carried(own, tangent, gaps.vectors[1])
    return friction_at(own, normal, slip, c.spring)


def gaps_in(
    mechanism: Model, own: Contacts, x: Array, *, closed: bool = False
) -> tuple[Contacts, tuple[Configuration, Array], Gaps]:
    """Contacts with an entry for each gap at a flat state, the configuration and the arms of the nodes, and the gaps.

    If ``closed``, only the closed gaps of contacts between many balls are included.
    """
    c, arm, points = mechanism.once(_LastState).of(x)
    own = own.closed(points) if closed else own.all()
    vectors = vectors_of(own, points)
    return own, (c, arm), gaps_between(own, vectors, vectors)


class _LastState:
    """Cache of the positions of contact nodes at the last state, as several sensors read one state in turn."""

    def __init__(self, mechanism: Model) -> None:
        self.mechanism = mechanism
        self.last: tuple[Array, tuple[Configuration, Array, Array]] | None = None

    def of(self, x: Array) -> tuple[Configuration, Array, Array]:
        """Configuration of a flat state, with the arms and positions of the contact nodes.

        For the last state they come from the cache.
        """
        if self.last is None or not np.array_equal(self.last[0], x):
            a, c = self.mechanism.network.arrays, configuration(self.mechanism, x.copy())
            arm = node_arms(a, c.R, c.u)
            self.last = x.copy(), (c, arm, touching_points(a, c.r, arm))
        return self.last[1]


def _read(kind: str, contact: str, unit: str, of: Any) -> Quantity:
    def of_state(mechanism: Model) -> Reading:
        return partial(of(mechanism), gaps_of(mechanism, contact))

    return Quantity(kind, (contact,), unit, no_measures, scalar=False, of_state=of_state)


def _is_of_steps(mechanism: Model, name: str, component: Component) -> bool:
    return has_dry_friction(mechanism, name) or bool(_have_step_means(gaps_of(mechanism, name).laws, component).any())


def _have_step_means(laws: Contacts, component: Component) -> Array:
    """Mask (c,) of contacts whose force is a mean over steps, not a function of the state.

    These are rigid contacts. For the friction component they are also contacts whose coefficient of friction has a
    factor that depends on time, and contacts on a surface whose speed depends on time, unless their sticking points
    have springs (anchors).
    """
    mask: Array = laws.rigid
    return mask | (laws.rubbing >= 0) | ((laws.timed >= 0) & (laws.anchor < 0)) if component == "friction" else mask


def _force(kind: str, contact: str, component: Component) -> Quantity:
    label = f"{kind} of {contact!r}"

    def of_state(mechanism: Model) -> Reading:
        if has_dry_friction(mechanism, contact):
            return refuse_state(label, mechanism)
        contacts = gaps_of(mechanism, contact)
        if _have_step_means(contacts.laws, component).any():
            kind = "a rigid contact" if contacts.laws.rigid.any() else "with a speed or a friction of time"
            return refuse_state(f"{label}, {kind},", mechanism)
        return lambda x: float(pressed(mechanism, contacts, x, component).sum())

    def of_step(mechanism: Model, anchors: Anchors) -> StepReading:
        if _is_of_steps(mechanism, contact, component):
            return mean_force(mechanism, contact, component)
        read = of_state(mechanism)
        return lambda time, x, last: read(x)

    def over(run: Any) -> Array:
        if _is_of_steps(run.mechanism, contact, component):
            return mean_forces(run, contact, component)
        return histories(run.mechanism, {"it": by_state}, run.states)["it"]

    by_state = Quantity(kind, (contact,), "N", no_measures, of_state=of_state)
    return Quantity(kind, (contact,), "N", no_measures, of_state=of_state, of_run=over, of_step=of_step)
