"""What sensors read of contacts: gaps, whether they touch, normal and friction forces."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from ..kernels.contacts.gap_arrays import Contacts
from ..kernels.contacts.gaps import TOUCHING, Gaps, gaps_between, rates_of, slips, tangents, vectors_of
from ..kernels.contacts.laws import forces_at
from ..kernels.contacts.rubbing import friction_at
from ..kernels.resolution import coordinate_size
from ..kernels.state import node_arms, touching_points, touching_velocities
from ..mechanisms.model.model import Model
from ..mechanisms.model.state import Configuration, configuration
from ..mechanisms.model.time_table import Anchors
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.rotations import turned_spins
from .forces import not_of_a_state
from .mean_forces import Way, mean_force, mean_forces, rubs
from .panel import histories
from .quantities import Quantity, Reading, StepReading, no_measures


@checked
def gap(contact: str) -> Quantity:
    """The gaps of a contact or stop [m, of stops for angles rad]: negative where bodies are in each other.

    Those of rigid contacts come to zero and do not pass it: events look for a small gap, ``x.measured(gap("wall")) -
    1e-9``.

    Parameters
    ----------
    contact : str
        Name of a contact or stop.

    Returns
    -------
    Quantity
        (c,), one for each pair of its shapes or limit, of groups too, read of states and runs.

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
    """Whether the gaps of a contact or stop are closed: up to 1e-11 of the size of the mechanism.

    Parameters
    ----------
    contact : str
        Name of a contact or stop.

    Returns
    -------
    Quantity
        (c,) of True and False, read of states and runs.
    """

    def of(mechanism: Model) -> Any:
        def read(own: Contacts, x: Array) -> Array:
            _, (c, _), gaps = gaps_in(mechanism, own, x)
            return is_closed(mechanism, c, gaps.after)

        return read

    return _read("state of contact", contact, "1", of)


@checked
def normal_force(contact: str) -> Quantity:
    """The sum of the normal forces of all gaps of a contact [N, of stops for angles N m], or what presses a joint.

    Of a compliant contact it follows from the state: the law at its depth and rate. A rigid one has a mean force over
    steps, without the impulses with which gaps close, which are no forces and stand in ``ledger.impulses``: a
    :class:`flexph.control.Sampled` reads that of the last step, before the first one zero; ``run.measured`` has it from
    saved time to saved time, interpolated at these. For a joint with
    :class:`flexph.joints.CoulombFriction` it is |λ|.

    Parameters
    ----------
    contact : str
        Name of a contact or stop, or of a joint with dry friction under its own force.

    Returns
    -------
    Quantity
        A number, never negative of a compliant contact.
    """
    return _force("normal force", contact, "normal")


@checked
def friction_force(contact: str) -> Quantity:
    """The sum of the sizes of the friction forces of all gaps of a contact [N], or the dry friction of a joint.

    It is known as :func:`normal_force` is; of joints that turn it is the torque over the radius of the bearing.

    Parameters
    ----------
    contact : str
        Name of a contact, or of a joint with :class:`flexph.joints.CoulombFriction`.

    Returns
    -------
    Quantity
        A number.
    """
    return _force("friction force", contact, "friction")


def gaps_of(mechanism: Model, contact: str) -> Contacts:
    """The gaps of a contact, of a group as such; raises ValueError with the names that there are."""
    owners = {c.name: c for c in mechanism.connections if c.touches}
    check.lookup("contact", contact, owners)
    own = mechanism.network.arrays.contacts
    return own.of(list(owners).index(contact))


def is_closed(mechanism: Model, c: Configuration, gaps: Array) -> Array:
    """Which gaps are closed at a configuration."""
    closed: Array = gaps <= TOUCHING * max(coordinate_size(mechanism.network.arrays, c.r), 1e-300)
    return closed


def pressed(mechanism: Model, own: Contacts, x: Array, way: Way) -> Array:
    """Normal forces of compliant contacts at a state, or sizes of their friction, (c,) [N]; of groups the closed."""
    a = mechanism.network.arrays
    own, (c, arm), gaps = gaps_in(mechanism, own, x, closed=True)
    moved = rates_of(own, touching_velocities(a, c, arm, c.R))
    normal = forces_at(own, gaps.after, np.vecdot(gaps.end, moved).sum(axis=0))
    if way == "normal":
        return normal
    if not own.friction.any():
        return np.zeros(normal.size)
    slip = np.zeros((a.dim - 1, normal.size))
    if not (own.anchor >= 0).all():  # anchors know their force
        slip = slips(own, *tangents(own, gaps), moved[0], turned_spins(c.R, c.omega))
    return friction_at(own, normal, slip, c.spring)


def gaps_in(
    mechanism: Model, own: Contacts, x: Array, *, closed: bool = False
) -> tuple[Contacts, tuple[Configuration, Array], Gaps]:
    """All contacts at a state, or of groups the closed ones, its configuration, the arms of the nodes, and gaps."""
    c, arm, points = mechanism.once(_LastState).of(x)
    own = own.closed(points) if closed else own.all()
    vectors = vectors_of(own, points)
    return own, (c, arm), gaps_between(own, vectors, vectors)


class _LastState:
    """The state that was read last: several sensors read one after the other."""

    def __init__(self, mechanism: Model) -> None:
        self.mechanism = mechanism
        self.last: tuple[Array, tuple[Configuration, Array, Array]] | None = None

    def of(self, x: Array) -> tuple[Configuration, Array, Array]:
        """The configuration of a flat state, the arms of the nodes, and where they are."""
        if self.last is None or not np.array_equal(self.last[0], x):
            a, c = self.mechanism.network.arrays, configuration(self.mechanism, x.copy())
            arm = node_arms(a, c.R, c.u)
            self.last = x.copy(), (c, arm, touching_points(a, c.r, arm))
        return self.last[1]


def _read(kind: str, contact: str, unit: str, of: Any) -> Quantity:
    def of_state(mechanism: Model) -> Reading:
        return partial(of(mechanism), gaps_of(mechanism, contact))

    return Quantity(kind, (contact,), unit, no_measures, scalar=False, of_state=of_state)


def _is_of_steps(mechanism: Model, name: str) -> bool:
    return rubs(mechanism, name) or bool(gaps_of(mechanism, name).laws.rigid.any())


def _force(kind: str, contact: str, way: Way) -> Quantity:
    told = f"{kind} of {contact!r}"

    def of_state(mechanism: Model) -> Reading:
        if rubs(mechanism, contact):
            return not_of_a_state(told, mechanism)
        own = gaps_of(mechanism, contact)
        if own.laws.rigid.any():
            return not_of_a_state(f"{told}, a rigid contact,", mechanism)
        return lambda x: float(pressed(mechanism, own, x, way).sum())

    def of_step(mechanism: Model, anchors: Anchors) -> StepReading:
        if _is_of_steps(mechanism, contact):
            return mean_force(mechanism, contact, way)
        read = of_state(mechanism)
        return lambda time, x, last: read(x)

    def over(run: Any) -> Array:
        if _is_of_steps(run.mechanism, contact):
            return mean_forces(run, contact, way)
        return histories(run.mechanism, {"it": by_state}, run.states)["it"]

    by_state = Quantity(kind, (contact,), "N", no_measures, of_state=of_state)
    return Quantity(kind, (contact,), "N", no_measures, of_state=of_state, of_run=over, of_step=of_step)
