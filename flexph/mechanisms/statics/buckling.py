"""Buckling loads, at which the stiffness of a loaded mechanism becomes singular."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import scipy

from ...contacts.arrays import refuse_contacts
from ...joints.rows.connection import refuse_other_laws
from ...kernels.state import Configuration, displacement_sizes
from ...numerics import checks as check
from ...numerics.arrays import Array
from ...numerics.corrections import IterationLimits
from ...systems.inputs import Input
from ..model.model import extent
from ..model.state import State, configuration
from .balance import Problem, moved_by, newton_step, problem
from .small_motion import shape_parts
from .stability import softest_motion
from .steady_rotation import steady_motion

if TYPE_CHECKING:
    from ..model.model import Model

SEARCH = IterationLimits(most=12, settled=1e-12, stagnated=1e-9, diverged=1e3)
"""Limits of the iteration for an equilibrium under a share of the loads, relative to the size of the mechanism."""
APART = 1e-6
"""Relative distance of factors that are tried in place of one under which the stiffness is singular."""
SETTLED = 1e-8
"""Relative change of the factor at which the search for a bifurcation ends."""
NARROW = 1e-5
"""Relative change of the factor at which the search for a limit point ends; and the displacement, relative to the size,
up to which a given state counts as the equilibrium."""
FAR = 3.0
"""Displacement, relative to that of the first correction, beyond which an equilibrium is on another branch; on the way
to a limit point the ratio reaches two."""
FIRST, LEAST, LARGEST = 0.25, 1e-9, 1e3
"""First increment of the factor, the least one, and the largest factor."""


@dataclass(frozen=True, eq=False)
class Buckling:
    """Buckling factor of the loads of a state, and its buckling mode.

    Attributes
    ----------
    factor : float
        Factor of all loads at which the equilibrium loses its stability.
    shape : array
        Buckling mode (n_v,): displacements (δr of the centres of mass in world axes, rotation θ in body axes, δu) of
        all bodies, with largest entry 1; :meth:`part` gives parts by name.
    is_limit : bool
        True at a limit point, where the equilibria end and the structure snaps through; False at a bifurcation, where
        they become unstable and another branch begins.
    parts : mapping
        Slices of the parts of ``shape``, by name.
    """

    factor: float
    shape: Array
    is_limit: bool
    parts: Mapping[str, slice]

    def part(self, name: str) -> Array:
        """Entries of the buckling mode for one part of the state, e.g. ``rod.centre``."""
        part: Array = self.shape[check.lookup("part", name, self.parts)]
        return part


class EquilibriumPoint(NamedTuple):
    """Equilibrium under a load factor, with its softest small motion.

    ``square`` is the least ω² of the small motions, ``shape`` (n_v,) the shape of that motion. ``moved`` is the
    distance from the previous configuration to this one, relative to the size of the mechanism.
    """

    factor: float
    c: Configuration
    square: float
    shape: Array
    moved: float


def buckling(mechanism: Model, state: State, inputs: Mapping[str, Input]) -> Buckling:
    """Implementation of :meth:`flexph.Mechanism.buckling`."""
    point, is_limit = buckling_point(equilibrium_problem(mechanism, state, inputs), configuration(mechanism, state.x))
    return Buckling(point.factor, point.shape, is_limit, shape_parts(mechanism))


def equilibrium_problem(mechanism: Model, state: State, inputs: Mapping[str, Input]) -> Problem:
    """Balance of forces for a state at rest under inputs.

    Raises ValueError for a steady rotation, and for contacts and laws for which buckling is not available.
    """
    refuse_contacts(mechanism.connections, "mechanism.buckling", at_rest=True)
    refuse_other_laws(mechanism, "mechanism.buckling")
    steady = steady_motion(mechanism, state)
    if np.any(steady.spin):
        raise ValueError("state must be at rest for a buckling load, got a steady rotation")
    return problem(mechanism, state.anchors, state.time, inputs=inputs, steady=steady)


def buckling_point(given: Problem, c: Configuration) -> tuple[EquilibriumPoint, bool]:
    """Point at which the stable equilibrium at a configuration loses its stability as all loads grow in proportion.

    The second value is True at a limit point, False at a bifurcation. Raises ValueError unless the configuration is a
    stable equilibrium, ArithmeticError if there is no such point.
    """
    last = equilibrium_point(given, 1.0, c)
    if last is None or last.square <= 0.0 or last.moved > NARROW:
        raise ValueError(
            "state must be a stable equilibrium under inputs=, of a mechanism without free motions: use "
            "mechanism.equilibrium(pose, ...) with smaller loads"
        )
    return _loss_of_stability(given.under, last, LARGEST)


def lost_stability(given: Problem, c: Configuration, largest: float) -> tuple[float, Configuration, bool]:
    """Factor of the inputs, increased from zero, at which the equilibrium near a configuration loses its stability.

    Returns this factor, the configuration there, and True at a limit point, False at a bifurcation. Weights are not
    scaled.
    Raises ArithmeticError if there is no such factor up to the ``largest``, ValueError without a stable equilibrium.
    """
    start = equilibrium_point(given.pushed(0.0), 0.0, c)
    if start is None or start.square <= 0.0:
        raise ValueError(
            "without inputs the mechanism must have a stable equilibrium near the pose: hold its free motions, or "
            "start from a pose nearer to it"
        )
    point, is_limit = _loss_of_stability(given.pushed, start, largest)
    return point.factor, point.c, is_limit


def _loss_of_stability(
    under: Callable[[float], Problem], last: EquilibriumPoint, largest: float
) -> tuple[EquilibriumPoint, bool]:
    """Point at which equilibria lose their stability as the load factor grows from that of ``last``.

    ``under`` is the problem under a load factor. The second value is True at a limit point, False at a bifurcation.
    Raises ArithmeticError if there is no such point up to the factor ``largest``.
    """
    step = FIRST
    beyond = np.inf  # the least factor without an equilibrium so far
    while last.factor < largest:
        factor = last.factor + step
        ahead = equilibrium_point(under(factor), factor, last.c)
        if ahead is None:
            beyond, step = factor, 0.5 * step
            if step <= NARROW * last.factor or step <= LEAST:
                return last, True
        elif ahead.square <= 0.0:
            return _between(under, last, ahead), False
        else:
            fall = last.square - ahead.square
            expected = 1.2 * step * ahead.square / fall if fall > 0.0 else np.inf
            last, step = ahead, float(np.clip(expected, 0.5 * step, 2.0 * step))
            beyond = beyond if beyond > last.factor else np.inf
            step = min(step, max(0.5 * (beyond - last.factor), 2.0 * NARROW * last.factor))
    raise ArithmeticError(f"no buckling load was found up to {largest:g} times the loads")


def _between(under: Callable[[float], Problem], below: EquilibriumPoint, above: EquilibriumPoint) -> EquilibriumPoint:
    """Equilibrium at which the least ω² vanishes, between a stable and an unstable one.

    ``under`` is the problem under a load factor.
    """

    ends = {point.factor: point for point in (below, above)}

    def at(factor: float) -> EquilibriumPoint:
        if factor in ends:
            return ends[factor]
        for shifted in (factor, factor - APART * above.factor, factor + APART * above.factor):
            if (point := equilibrium_point(under(shifted), shifted, below.c)) is not None:
                return point
        raise ArithmeticError(f"no equilibrium was found under {factor:.6g} times the loads")

    width = SETTLED * above.factor
    factor = scipy.optimize.brentq(
        lambda factor: at(factor).square, below.factor, above.factor, xtol=width, rtol=SETTLED
    )
    return at(float(factor))


def equilibrium_point(of: Problem, factor: float, near: Configuration) -> EquilibriumPoint | None:
    """Equilibrium near a configuration, with its softest small motion; None if there is no equilibrium nearby.

    ``of`` is the problem under the load factor ``factor``.
    """
    mechanism = of.mechanism
    size = extent(mechanism, near.r, near.R)
    sizes = displacement_sizes(mechanism.network.arrays, size)
    first = float(np.abs(newton_step(of, near) / sizes).max(initial=0.0))

    def corrected(c: Configuration) -> tuple[Configuration, float]:
        correction = newton_step(of, c)
        return moved_by(of, c, correction), float(np.abs(correction / sizes).max(initial=0.0))

    end = SEARCH.run(near, corrected)
    moved = max(float(np.abs(end.value.r - near.r).max()) / size, float(np.abs(end.value.R - near.R).max()))
    if not end.settled or moved > FAR * first + NARROW:
        return None
    soft = softest_motion(of, end.value)
    shape = soft.shape / soft.shape[np.abs(soft.shape).argmax()]
    return EquilibriumPoint(factor, end.value, soft.square, shape, moved)
