"""Mean forces over steps of rigid contacts and dry friction, from the impulses of the ledger."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from ..joints.rows.friction import CoulombFriction
from ..mechanisms.model.accounts import Accounts
from ..mechanisms.model.model import Model
from ..mechanisms.model.time_table import Anchors
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from .forces import at_saved_times, refuse_state
from .quantities import LastStep, Quantity, Reading, StepReading, no_measures

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
