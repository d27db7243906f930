"""Static equilibrium and steady rotation of mechanisms, with the joint forces."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from ...contacts.arrays import refuse_contacts
from ...kernels.arrays import Arrays
from ...kernels.constraint_sizes import displacement_sizes
from ...kernels.continuous import mass_matrix, strain_operator, strain_rates
from ...kernels.state import Configuration, derive
from ...kernels.stiffness.steady_dampers import has_dampers
from ...kernels.strains import strain_stresses
from ...numerics import checks as check
from ...numerics.arrays import Array
from ...numerics.corrections import Corrected, Corrections
from ...systems.inputs import Input
from ..model.consistency import check_consistent
from ..model.constraints import constraint_gap, extent, spring_forces
from ..model.range_of_validity import refuse_turned, warn_of_range
from ..model.redundancy import explain_redundancy
from ..model.state import Pose, State, at_rest, flat
from ..model.time_table import laws
from .balance import (
    Problem,
    coordinates,
    in_motion,
    independent_rows,
    moved_by,
    newton_step,
    problem,
    saddle,
    stiffness_at,
)
from .load_steps import follow_loads
from .stability import is_minimum
from .steady_rotation import refuse_supports, steady_rotation
from .turned_motion import refuse_unsteady

if TYPE_CHECKING:
    from ..model.model import Model

SEARCH = Corrections(most=100, settled=1e-13, stagnated=1e-9)
"""Corrections over the size of the mechanism: round-off of the positions, or, ill-conditioned but at rest, no smaller
than the one before."""
STEP = Corrections(most=15, settled=1e-13, stagnated=1e-9, diverged=1e3)
"""The same of a step of the loads."""
NEAR = 1e-6
"""Correction over the size from which on its direction is judged: below, it is round-off."""
AGAINST = 1e-3
"""Cosine of a step with the acceleration, in the metric of the mass, from which on it goes against it."""
FADES = "; dampers and friction of the ground take a spin away unless a drive of that rate holds it"
RAISES = 12
ROUND_OFF = 1e-14
BALANCED = 1e-6
"""Unbalanced force over the largest force up to which a given state counts as an equilibrium."""


def equilibrium(
    mechanism: Model,
    pose: Pose,
    inputs: Mapping[str, Input],
    *,
    spin: Any,
    about: Any,
    time: float,
    redundant: str,
) -> State:
    """See :meth:`flexph.Mechanism.equilibrium`."""
    refuse_contacts(mechanism.connections, "mechanism.equilibrium", has_curves=True)
    check.number("time", time)
    check.choice("redundant", redundant, ("refuse", "least_norm"))
    steady = steady_rotation(mechanism, spin, about)
    if np.any(steady.spin):
        refuse_nonholonomic(mechanism, "a steady rotation")
    given = problem(mechanism, pose.anchors, time, inputs=inputs, steady=steady)
    start = in_motion(mechanism, at_rest(mechanism, pose.centres, pose.rotations), steady)
    refuse_supports(mechanism, given.constraints(start), start, steady.spin)
    size = extent(mechanism, start.r, start.R)
    sizes = displacement_sizes(mechanism.network.arrays, size)

    def corrected(c: Configuration, judged: bool, of: Problem = given) -> tuple[Configuration, float]:
        held = of.mechanism.rigid_motion is not None and not judged
        correction = newton_step(of, c) if held else _correction(of, c, size, judged)
        return moved_by(mechanism, c, correction, of.steady), float(np.abs(correction / sizes).max(initial=0.0))

    def under(share: float, c: Configuration) -> Corrected[Configuration]:
        limits = STEP if share == 1.0 else replace(STEP, settled=NEAR)
        return limits.run(c, partial(corrected, judged=False, of=given.under(share)))

    def stable_under(share: float, c: Configuration) -> Corrected[Configuration]:
        end = under(share, c)
        return end._replace(settled=end.settled and is_minimum(given.under(share), end.value))

    def refuse(share: float, c: Configuration) -> None:
        refuse_turned(mechanism, flat(mechanism, c), f"under {100.0 * share:.3g} % of the loads")

    judged, newton = (partial(SEARCH.run, start, partial(corrected, judged=judged)) for judged in (True, False))
    searches: list[Callable[[], Corrected[Configuration]]]
    searches, reached = [judged, lambda: follow_loads(start, stable_under, refuse)[0], newton], 0.0
    if mechanism.rigid_motion is not None:
        followed, reached = follow_loads(start, under, refuse)
        searches = [lambda: followed, judged]  # without a potential or with one, loads are followed from nothing
    for search in searches:  # beside buckling, and without a potential, a judged search may go in circles
        end = search()
        if end.settled:
            refuse_unsteady(given, end.value)
            state = _finished(given, end.value, redundant)
            warn_of_range(mechanism, np.array([time]), state.x[None])
            return state
    fades = np.any(steady.spin) and has_dampers(mechanism.network.arrays, start)
    raise ArithmeticError(not_found(end.defect, reached) + (FADES if fades else ""))


def not_found(moved: float, reached: float) -> str:
    """Why there is no equilibrium, by the last correction over the size and the share of the loads that was reached."""
    if reached > 0.0:
        return (
            f"no equilibrium was found under all loads: followed from none on, it ends at {100.0 * reached:.3g} % of "
            "them, as at a limit point, where a structure snaps through: take smaller loads, a pose beyond that point, "
            "or a run with damping"
        )
    return (
        f"no equilibrium was found: the last iteration still moved the mechanism by {moved:.1e} of its size; start "
        "from a pose nearer to it, or check that one exists under these loads"
    )


def refuse_nonholonomic(mechanism: Model, what: str) -> None:
    """Raise ValueError where a constraint on velocities fixes no position."""
    for name, law in zip(mechanism.constraint_names, laws(mechanism), strict=True):
        if law.of_rates:
            raise ValueError(
                f"{what} is not known of mechanisms with nonholonomic joints or gears, and {name!r} is one"
            )


def _correction(given: Problem, c: Configuration, size: float, judged: bool) -> Array:
    """A Newton step towards balance, held back by the inertia where the forces are still large.

        (K + μM) ξ − Gᵀλ = −ρ,   G ξ = −g,

    μ the acceleration over the size, which fades with it; larger where the step would go against the acceleration,
    towards an equilibrium that is not a minimum.
    """
    a, T = coordinates(given, c)
    M, whole = mass_matrix(a, c.u), given.mechanism.network.arrays
    G, spread = independent_rows(given, c, T)
    force = T.T @ given.unbalanced(c, np.zeros(spread.shape[0]))
    solution = saddle(whole, M, G, np.concatenate([-force, np.zeros(G.shape[0])]))
    acceleration, own = solution[: force.size], solution[force.size :]
    sizes = displacement_sizes(whole, size)
    weight = np.sqrt(max(float(acceleration @ (M @ acceleration)) / float(a.mass.sum()), 0.0)) / size
    K = stiffness_at(given, c, a, spread @ own)
    gap = constraint_gap(given.mechanism, c, given.table, given.time)
    rhs = np.concatenate([G.T @ own - force, -(spread.T @ gap)])
    for _ in range(RAISES):
        step = saddle(whole, K + weight * M, G, rhs)[: force.size]
        forward, length = float(step @ (M @ acceleration)), float(step @ (M @ step))
        far = np.abs((T @ step) / sizes).max(initial=0.0) > NEAR
        if not judged or not far or forward >= -AGAINST * np.sqrt(length * float(acceleration @ (M @ acceleration))):
            break
        weight *= 4.0
    return T @ step


def _finished(given: Problem, c: Configuration, redundant: str) -> State:
    """The state with the joint forces that balance it; raises unless they do."""
    mechanism, steady, anchors = given.mechanism, given.steady, given.table.anchors
    a = mechanism.network.arrays
    sigma = c.sigma.copy()
    sigma[a.strains.stress] = strain_stresses(a.strains, derive(a, c).product)
    c = c._replace(spring=spring_forces(mechanism, c, given.table, given.time)[a.springs.state >= 0], sigma=sigma)
    G = given.constraints(c)
    names = explain_redundancy(mechanism, G)
    if names and redundant == "refuse":
        raise ValueError(f"{names}. The joint forces are not unique: redundant='least_norm' takes the smallest")
    force = given.unbalanced(c, np.zeros(G.shape[0]))
    solved_in, T = coordinates(given, c)
    own, spread = independent_rows(given, c, T)
    rhs = np.concatenate([-(T.T @ force), np.zeros(own.shape[0])])
    solution = saddle(a, mass_matrix(solved_in, c.u), own, rhs)
    lam = spread @ solution[force.size :]
    left = force - G.T @ lam
    if not is_balanced(mechanism, c, left, force, spin=steady.spin):
        raise ArithmeticError(f"the iteration settled where forces do not balance: {np.abs(left).max():.1e} is left")
    state = State(given.time, flat(mechanism, c), lam, anchors, joint_forces=True)
    turning = bool(np.any(steady.spin))
    try:
        check_consistent(mechanism, state, velocities=turning)  # at rest drives stand where they are
    except ValueError as error:
        if not turning:
            raise
        raise ValueError(
            f"the joints do not turn with the spin {steady.spin} rad/s: hold the body by a revolute joint about that "
            f"axis and a drive of that rate ({error})"
        ) from None
    return state


def is_balanced(mechanism: Model, c: Configuration, left: Array, forces: Array, *, spin: Array) -> bool:
    """Whether forces that are left on (ṙ, ω, u̇) are round-off of these forces and the weights.

    All are compared by their work along displacements of the size of the mechanism: forces, torques and what acts on
    flexible coordinates have no unit in common.
    """
    a, size = mechanism.network.arrays, extent(mechanism, c.r, c.R)
    sizes = displacement_sizes(a, size)
    largest = max(np.abs(forces * sizes).max(initial=0.0), size * np.abs(a.weight).max(initial=0.0))
    return bool(np.abs(left * sizes).max(initial=0.0) <= BALANCED * largest + _noise(a, c, size, spin))


def _noise(a: Arrays, c: Configuration, size: float, spin: Array) -> float:
    """Work that round-off of the positions makes: of stiffness, and of the inertia of a steady rotation [J]."""
    D = strain_operator(a, c.u) @ sparse.diags_array(displacement_sizes(a, size)[a.columns.u])
    moved = a.springs.length_product.size + a.springs.component_product.size
    turning, own = float(a.springs.stiffness[moved:].sum()), float(a.springs.stiffness[:moved].sum())
    elastic = float(abs(D.T @ sparse.csr_array(a.stiffness) @ D).max()) if D.nnz else 0.0
    if a.strains.stress.size:
        S = strain_rates(a, c, derive(a, c)) @ sparse.diags_array(displacement_sizes(a, size))
        elastic += float(abs(S.T @ sparse.csr_array(a.strains.of_undeformed) @ S).max())
    return ROUND_OFF * (elastic + turning + size**2 * (own + float(a.mass.sum() * (spin @ spin))))
