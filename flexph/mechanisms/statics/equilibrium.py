"""Static equilibrium and steady rotation of mechanisms, with their joint forces."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...contacts.arrays import refuse_contacts
from ...joints.rows.connection import refuse_hysteresis
from ...kernels.continuous import elastic_stress
from ...kernels.stiffness.steady_slopes import has_dampers
from ...numerics import checks as check
from ...numerics.arrays import Array
from ...systems.inputs import Input
from ..model.constraints import check_laws
from ..model.range_of_validity import warn_of_range
from ..model.state import Pose, State, at_rest
from ..model.time_table import laws
from .balance import in_motion, problem
from .balanced_state import Balance, balanced_state
from .searches import FAR_AWAY, Searches
from .steady_rotation import refuse_supports, steady_rotation
from .turned_motion import refuse_unsteady

if TYPE_CHECKING:
    from ..model.model import Model


class UnheldError(ArithmeticError):
    """Error for a mechanism that has no equilibrium because no joint, spring or weight opposes its motion."""


FADES = "; dampers and friction to the ground stop a rotation unless a drive of that rate keeps it up"


def equilibrium(
    mechanism: Model,
    pose: Pose,
    inputs: Mapping[str, Input],
    *,
    spin: Any,
    about: Any,
    time: float,
    redundant: str,
    bent: Array | None = None,
) -> State:
    """Implementation of :meth:`flexph.Mechanism.equilibrium`; the search starts from the coordinates ``bent`` (n,)."""
    refuse_contacts(mechanism.connections, "mechanism.equilibrium", has_curves=True, at_rest=True)
    refuse_hysteresis(mechanism.connections, "mechanism.equilibrium")
    check.number("time", time)
    check.choice("redundant", redundant, ("refuse", "least_norm"))
    steady = steady_rotation(mechanism, spin, about)
    if np.any(steady.spin):
        refuse_nonholonomic(mechanism, "a steady rotation")
        if mechanism.network.arrays.flows:
            raise ValueError("a steady rotation supports no flows along rods and cables (fem.Flow): use integrate()")
    given = problem(mechanism, pose.anchors, time, inputs=inputs, steady=steady)
    c = at_rest(mechanism, pose.centres, pose.rotations)
    if bent is not None:
        c = c._replace(u=bent, sigma=elastic_stress(mechanism.network.arrays, bent))
    start = in_motion(mechanism, c, steady)
    refuse_supports(mechanism, given.constraints(start), start, steady.spin)
    check_laws(mechanism, start, given.table, time)
    searches, unbalanced, moved = Searches(given, start), None, [np.inf]
    for search in searches.in_order():
        if unbalanced is not None and not unbalanced.takes_spin(given) and search != searches.judged:
            continue  # critical speed: another equilibrium can exist only far away, where forces are nonlinear
        end = search()
        moved.append(end.defect)
        if not end.settled:
            continue
        balance = searches.balance(end.value)
        if balance.holds(given, searches.size):
            refuse_unsteady(given, balance.c)
            state = balanced_state(given, balance, redundant)
            warn_of_range(mechanism, np.array([time]), state.x[None])
            return state
        unbalanced = unbalanced or balance
        if not np.any(steady.spin):
            break
    refuse_unsteady(given, start)
    if unbalanced is None and not np.any(steady.spin) and np.isinf(moved).all() and searches.followed.share == 0.0:
        raise UnheldError(
            f"no equilibrium was found: nothing holds the mechanism, which moves away by {FAR_AWAY:.0f} times its "
            "size; add a joint, a spring or a contact in the direction of the loads, or smaller loads"
        )
    raise ArithmeticError(_no_equilibrium(searches, unbalanced, moved[-1]))


def _no_equilibrium(searches: Searches, unbalanced: Balance | None, moved: float) -> str:
    """Message of the error for a mechanism of which no search found an equilibrium.

    ``unbalanced`` is the balance at which a search ended, ``moved`` the last correction relative to the size.
    """
    given, start = searches.given, searches.start
    spin = given.steady.spin
    if not np.any(spin):
        if unbalanced is not None:
            left = np.abs(unbalanced.left).max()
            return f"the iteration converged to a configuration in which forces do not balance: {left:.1e} remains"
        return not_found(moved, searches.followed.share)
    if unbalanced is not None and not unbalanced.takes_spin(given):
        return (
            f"there is no steady rotation with the spin {spin} rad/s: it is a critical speed, at which centrifugal "
            "forces excite an undamped resonance. Take another spin, or add damping to the ground"
        )
    return not_found(moved, 0.0) + (FADES if has_dampers(given.mechanism.network.arrays, start) else "")


def not_found(moved: float, reached: float) -> str:
    """Text for a failed search.

    ``moved`` is the last correction relative to the size of the mechanism, ``reached`` the share of the loads up to
    which there are equilibria, 0 if load steps were not used.
    """
    if reached > 0.0:
        return (
            "no equilibrium was found under all loads: when they are increased from zero, the equilibria end at "
            f"{100.0 * reached:.3g} % of them, as at a limit point (snap-through): use smaller loads, a pose beyond "
            "that point, or a run with damping"
        )
    return (
        f"no equilibrium was found: the last iteration still moved the mechanism by {moved:.1e} of its size; start "
        "from a pose nearer to it, or check that one exists under these loads"
    )


def refuse_nonholonomic(mechanism: Model, what: str) -> None:
    """Raise ValueError if a joint constrains velocities without fixing positions, such as rolling.

    ``what`` names the method in the message.
    """
    for name, law in zip(mechanism.constraint_names, laws(mechanism), strict=True):
        if law.of_rates:
            raise ValueError(
                f"{what} is not available for mechanisms with nonholonomic joints or gears such as {name!r}"
            )
