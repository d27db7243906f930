"""State with the joint forces that balance a configuration, and the test of this balance."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...kernels.arrays import Arrays
from ...kernels.continuous import mass_of, strain_of, strain_rates
from ...kernels.gradient import scale_both
from ...kernels.state import Configuration, derive, displacement_sizes
from ...kernels.strains import strain_stresses
from ...numerics.arrays import Array
from ..model.consistency import check_consistent, explain_redundancy
from ..model.constraints import spring_states, velocities_of
from ..model.model import extent
from ..model.state import State, flat
from .balance import Problem, coordinates, independent_rows, solve_saddle_point

if TYPE_CHECKING:
    from ..model.model import Model

ROUND_OFF = 1e-14
BALANCED = 1e-6
"""Unbalanced force of a configuration, relative to the largest force, up to which a state counts as an equilibrium."""
TURNS = 0.1
"""Cosine between unbalanced forces and a steady rotation above which these forces slow the rotation down."""


class Balance(NamedTuple):
    """Configuration with springs and stresses, and the multipliers (g,) of the joints that balance it best.

    ``force`` (n_v,) is the unbalanced force without joints, ``left`` (n_v,) the one that remains with the joints.
    """

    c: Configuration
    multipliers: Array
    force: Array
    left: Array

    def holds(self, given: Problem, size: float = 0.0) -> bool:
        """True if the remaining unbalanced forces are round-off; ``size`` [m] is that of the mechanism at the start."""
        return is_balanced(given.mechanism, self.c, self.left, self.force, spin=given.steady.spin, least=size)

    def takes_spin(self, given: Problem) -> bool:
        """True if the remaining unbalanced forces slow a steady rotation down, as dampers to the ground do."""
        sizes = displacement_sizes(given.mechanism.network.arrays, extent(given.mechanism, self.c.r, self.c.R))
        work, v = self.left * sizes, velocities_of(given.mechanism, self.c) / sizes
        return bool(abs(work @ v) > TURNS * np.linalg.norm(work) * np.linalg.norm(v))


def balance_at(given: Problem, c: Configuration) -> Balance:
    """Multipliers of the joints that balance a configuration best, and the forces that remain."""
    mechanism, a = given.mechanism, given.mechanism.network.arrays
    sigma = c.sigma.copy()
    sigma[a.strains.stress] = strain_stresses(a.strains, derive(a, c).product, given.time)
    c = c._replace(spring=spring_states(mechanism, c, given.table, given.time), sigma=sigma)
    G = given.constraints(c)
    force = given.unbalanced(c, np.zeros(G.shape[0]))
    solved_in, T = coordinates(given, c)
    rows, spread = independent_rows(given, c, T)
    rhs = np.concatenate([-(T.T @ force), np.zeros(rows.shape[0])])
    lam = spread @ solve_saddle_point(a, mass_of(solved_in, c.u), rows, rhs)[T.shape[1] :]
    return Balance(c, lam, force, force - G.T @ lam)


def balanced_state(given: Problem, at: Balance, redundant: str) -> State:
    """State with the multipliers of a balance as joint forces.

    Raises ValueError if joint forces are not unique and ``redundant`` is "refuse", and for joints that do not turn with
    the spin.
    """
    mechanism, steady = given.mechanism, given.steady
    names = explain_redundancy(mechanism, given.constraints(at.c))
    if names and redundant == "refuse":
        raise ValueError(f"{names}. The joint forces are not unique: use redundant='least_norm'")
    options: dict[str, Any] = {"joint_forces": True, "bodies": tuple(mechanism.bodies)}
    state = State(given.time, flat(mechanism, at.c), at.multipliers, given.table.anchors, **options)
    turning = bool(np.any(steady.spin))
    try:
        check_consistent(mechanism, state, velocities=turning)  # at rest the rates of drives do not matter
    except ValueError as error:
        if not turning:
            raise
        raise ValueError(
            f"the joints do not turn with the spin {steady.spin} rad/s: hold the body by a revolute joint about that "
            f"axis and a drive of that rate ({error})"
        ) from None
    return state


def is_balanced(
    mechanism: Model, c: Configuration, left: Array, forces: Array, *, spin: Array, least: float = 0.0
) -> bool:
    """True if the unbalanced forces ``left`` (n_v,) are round-off compared with ``forces`` (n_v,) and weights.

    Forces, torques and generalised forces have no common unit: they are compared by their work along displacements of
    the size of the mechanism. As all ports may coincide, the size is taken to be at least ``least`` [m]. ``spin`` is
    that of a steady rotation.
    """
    a, size = mechanism.network.arrays, max(least, extent(mechanism, c.r, c.R))
    sizes = displacement_sizes(a, size)
    largest = max(np.abs(forces * sizes).max(initial=0.0), size * np.abs(a.weight).max(initial=0.0))
    missing = float(np.abs(left * sizes).max(initial=0.0))
    return missing <= BALANCED * largest or missing <= BALANCED * largest + round_off_work(a, c, size, spin)


def round_off_work(a: Arrays, c: Configuration, size: float, spin: Array) -> float:
    """Work [J] along displacements by the ``size`` [m] of forces that are due to round-off of the positions.

    Such forces come from stiffness and from the inertia of a steady rotation with the ``spin`` [rad/s].
    """
    sizes = displacement_sizes(a, size)
    D = scale_both(strain_of(a, c.u), np.ones(a.strain.shape[0]), sizes[a.columns.u])
    stiff = a.springs.stiffness_sizes(c.spring)
    turning = float(stiff[a.springs.angles].sum())
    stiffening = float(stiff.sum()) - turning
    elastic = float(abs(D.T @ (a.stiffness @ D)).max()) if a.columns.u.size else 0.0
    if a.strains.stress.size:
        S = scale_both(strain_rates(a, c, derive(a, c)), np.ones(a.strains.stress.size), sizes)
        elastic += float(abs(S.T @ (a.strains.of_undeformed @ S)).max())
    return ROUND_OFF * (elastic + turning + size**2 * (stiffening + float(a.mass.sum() * (spin @ spin))))
