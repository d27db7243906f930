"""Derivatives of buckling factors by parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import eigvals

from ...kernels.state import Configuration
from ...mechanisms.mechanism import Mechanism
from ...mechanisms.model.state import State, configuration
from ...mechanisms.statics.balance import Problem, moved_by
from ...mechanisms.statics.buckling import APART, buckling_point, equilibrium_point, equilibrium_problem
from ...mechanisms.statics.stability import free_stiffness, softest_motions
from ...numerics import checks as check
from ...numerics.arguments import checked
from ...numerics.arrays import Array
from ...numerics.differences import central_of_order_four
from ...numerics.memo import NamedFields
from ...systems.inputs import Input
from .along_parameters import stated_steps

MOST = 6
"""Largest number of modes that are computed at the buckling load. At most one less may have the same factor."""
REPEATED = 1e-5
"""Relative distance between the buckling factors of two modes up to which they count as equal."""
CORRECTIONS = 3
"""Number of Newton corrections of the buckling factor, at which the tangent stiffness of the mode vanishes."""
LOADS = 1e-3
"""Step of the differences of the stiffness with respect to the factor of the loads, relative to this factor."""


@dataclass(frozen=True)
class BucklingSensitivities(NamedFields):
    """Buckling factor, and its ``derivatives`` by parameter.

    Attributes
    ----------
    factor : float
        Factor of all loads at which the equilibrium loses its stability.
    derivatives : mapping
        Derivatives (m,) by parameter, ascending, for the m modes with this factor.
    """

    factor: float
    derivatives: Mapping[str, Array]


@checked
def buckling_sensitivities(
    loaded: Callable[..., Any], at: Mapping[str, float], *, steps: float | Mapping[str, float] = 1e-3
) -> BucklingSensitivities:
    """Derivatives of the buckling factor of a loaded mechanism (:meth:`flexph.Mechanism.buckling`).

    At a bifurcation the tangent stiffness has ``K φ = 0`` at the equilibrium q(λ, p) under λ times the loads. With
    k(λ, p) = φᵀK(q(λ, p), λ, p) φ the derivative is ``dλ/dp = −k_p/k_λ``: K includes the geometric stiffness and the
    deformation before buckling. If several modes have the same factor, its derivatives are the eigenvalues of this form
    on these modes. k is differentiated by differences of fourth order along the equilibria.

    Parameters
    ----------
    loaded : callable
        Function of named parameters that returns a mechanism, its stable equilibrium, and inputs if there are any.
    at : dict
        Parameter values.
    steps : float or dict
        Steps of the differences by parameter; one number is the step relative to the size of each parameter.

    Returns
    -------
    BucklingSensitivities
        Buckling factor, and its derivatives by parameter.

    Raises
    ------
    ValueError
        As for :meth:`flexph.Mechanism.buckling`, and at limit points such as that of a snap-through, for which
        :func:`flexph.studies.sensitivities` gives differences.
    ArithmeticError
        If the mechanism does not buckle, or no equilibrium is found near the buckling load.

    Examples
    --------
    Euler's column, λ F = π²EI/4L²:

    >>> import fem
    >>> from flexph import GROUND, connect, force, weld
    >>> from flexph.studies import buckling_sensitivities
    >>> def column(length, young):
    ...     section, material = fem.Section(area=1.0, second_moment=1e-6), fem.Material(young=young, density=1.0)
    ...     beam = fem.beam(length, material, section, elements=4, strain="von_karman")
    ...     mechanism = connect({"column": beam}, [weld("column.root", GROUND), force("column.tip", name="F")])
    ...     push = {"F": (-1.0, 0.0)}
    ...     pose = mechanism.assemble({"column": (0.0, 0.0, 0.0)})
    ...     return mechanism, mechanism.equilibrium(pose, inputs=push), push
    >>> found = buckling_sensitivities(column, {"length": 1.0, "young": 1e6})
    >>> round(found.factor, 3), found.derivatives["length"].round(3)  # −2 λ/L
    (2.467, array([-4.935]))
    """
    relative_steps = stated_steps(at, steps)
    start = _loaded(loaded, at)
    point, is_limit = buckling_point(start.problem, start.c)
    if is_limit:
        raise ValueError(
            f"loads must end at a bifurcation, {point.factor:.6g} times the loads are a limit point: use differences "
            "of mechanism.buckling by flexph.studies.sensitivities"
        )
    factor, c = point.factor, point.c
    for _ in range(CORRECTIONS):
        c = _equilibrium(start.problem, factor, c)
        squares, noise, shapes = softest_motions(start.problem.under(factor), c, MOST)
        by_load = central_of_order_four(partial(_stiffness, start, (start.c, c), shapes), factor, LOADS * factor)
        by_load /= LOADS * factor
        if abs(squares[0]) <= noise[0]:
            break
        factor -= float(squares[0] / by_load[0, 0])
    shared = np.abs(squares) <= REPEATED * abs(factor * by_load[0, 0]) + noise
    shared[0] = True
    if shared.all() and shared.size == MOST:
        raise ValueError(f"at most {MOST - 1} modes may buckle at once, at {factor:.6g} times the loads")
    modes, by_load = shapes[:, shared], by_load[np.ix_(shared, shared)]
    derivatives = {}
    for name, step in relative_steps.items():

        def along(value: float, name: str = name) -> Array:
            return _stiffness(_loaded(loaded, {**at, name: value}), (start.c, c), modes, factor)

        moved = central_of_order_four(along, at[name], step) / step
        derivatives[name] = np.sort(eigvals(-moved, by_load).real)
    return BucklingSensitivities(factor, derivatives)


class _LoadedEquilibrium(NamedTuple):
    """Equilibrium problem of a mechanism, and its configuration ``c`` in equilibrium under the given loads."""

    problem: Problem
    c: Configuration


def _loaded(loaded: Callable[..., Any], at: Mapping[str, float]) -> _LoadedEquilibrium:
    """Problem and equilibrium returned by the user's function at given parameters."""
    made = check.value_of("loaded", lambda parameters: loaded(**parameters), dict(at))
    if not (isinstance(made, tuple) and len(made) in (2, 3) and isinstance(made[0], Mechanism)):
        raise ValueError(f"loaded must return a mechanism and its equilibrium, and inputs if any, got {made!r:.100}")
    given: tuple[Mechanism, State, Mapping[str, Input]] = (*made, {})[:3]
    mechanism, state, inputs = given
    return _LoadedEquilibrium(equilibrium_problem(mechanism, state, inputs), configuration(mechanism, state.x))


def _stiffness(
    there: _LoadedEquilibrium, here: tuple[Configuration, Configuration], modes: Array, factor: float
) -> Array:
    """Matrix φᵀK φ (m, m) with m buckling modes φ and the tangent stiffness K in equilibrium under scaled loads.

    ``factor`` scales the loads.

    ``there`` is the mechanism at changed parameters. ``here`` are two equilibria at the parameters of the modes: under
    the given loads, and at buckling. The equilibrium under scaled loads is searched from the configuration of ``there``
    plus the difference of the two equilibria.
    """
    first, buckled = here
    turned = np.einsum("bij,bkj->bik", there.c.R, first.R)
    near = there.c._replace(
        r=there.c.r + (buckled.r - first.r),
        R=np.einsum("bij,bjk->bik", turned, buckled.R),
        u=there.c.u + (buckled.u - first.u),
    )
    return free_stiffness(there.problem.under(factor), _equilibrium(there.problem, factor, near), modes)


def _equilibrium(problem: Problem, factor: float, near: Configuration) -> Configuration:
    """Equilibrium under a factor of the loads, near a configuration. Raises ArithmeticError if there is none.

    Exactly at a bifurcation the stiffness is singular, and Newton's method fails. Then the result is the mean of the
    equilibria under slightly smaller and larger loads, whose error is of second order.
    """
    point = equilibrium_point(problem.under(factor), factor, near)
    if point is not None:
        return point.c
    ends = []
    for shifted in ((1.0 - APART) * factor, (1.0 + APART) * factor):
        point = equilibrium_point(problem.under(shifted), shifted, near)
        if point is None:
            raise ArithmeticError(
                f"no equilibrium was found under {factor:.9g} times the loads, next to where they buckle"
            )
        ends.append(point.c)
    below, above = ends
    left, _, right = np.linalg.svd(0.5 * (below.R + above.R))  # the rotation nearest to the mean of the matrices
    mean = below._replace(r=0.5 * (below.r + above.r), R=left @ right, u=0.5 * (below.u + above.u))
    return moved_by(problem.under(factor), mean, np.zeros(problem.mechanism.layout.velocities))  # with its stresses
