"""Derivatives of Floquet multipliers of periodic motions by parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.linalg import eig

from ...analysis.multipliers import LinearisedPeriod, linearised_period, read_period
from ...integration.methods.exact import Exact, ExactGauss
from ...mechanisms.mechanism import Mechanism
from ...mechanisms.model.state import State, flat
from ...mechanisms.poses.neighbours import between, neighbour
from ...numerics import checks as check
from ...numerics.arguments import checked
from ...numerics.arrays import Array
from ...numerics.differences import central_of_order_four
from ...numerics.memo import NamedFields
from ...systems.inputs import Input
from .along_parameters import Matrices, stated_steps
from .poles import eigenvalue_derivatives

CORRECTIONS = 10
"""Largest number of corrections of the state by which a periodic motion is closed."""
CLOSED, NEARLY = 1e-12, 1e-8
"""Change of the state over a period, relative to the size of the mechanism, up to which the motion is closed; the
second value holds if corrections reduce the change no further."""
FAR = 0.3
"""Change of the state over a period, relative to the size of the mechanism, above which no periodic motion is near."""
ISOLATED = 1e-9
"""Smallest singular value of I − M, relative to the largest one, below which other periodic motions are near this
one."""


@dataclass(frozen=True)
class MultiplierSensitivities(NamedFields):
    """Floquet multipliers (k,) and their ``derivatives`` (k,) by parameter, both complex.

    Attributes
    ----------
    multipliers : array
        Multipliers (k,), complex, by descending modulus; positive imaginary part first in conjugate pairs.
    derivatives : mapping
        Derivatives (k,) by parameter; those of a repeated multiplier in the order of their real parts.
    period : float
        Period [s].
    growth : mapping
        Derivatives (k,) by parameter of the growth rates ln|μ|/T [1/s]; the period T depends on the parameters, too.
    """

    multipliers: Array
    derivatives: Mapping[str, Array]
    period: float
    growth: Mapping[str, Array]


@checked
def multiplier_sensitivities(
    motion: Callable[..., Any],
    at: Mapping[str, float],
    count: int,
    *,
    per_period: int = 64,
    method: Exact | ExactGauss | None = None,
    steps: float | Mapping[str, float] = 1e-3,
) -> MultiplierSensitivities:
    """Derivatives of the largest Floquet multipliers of a periodic motion of a mechanism.

    The monodromy matrix M is the product of the linearised steps of a period (:func:`flexph.analysis.floquet`). With
    its right and left eigenvectors x and y, ``dμ = yᴴdM x / yᴴx``; for a repeated multiplier the derivatives are the
    eigenvalues of this form on its eigenvectors. M is differentiated by differences of fourth order along the periodic
    motion at changed parameters, whose start is corrected by (I − M)⁻¹ times the closure error of a period. Runs are
    accurate to round-off, so the derivatives of the discrete motion are accurate to about 1e-9.

    Parameters
    ----------
    motion : callable
        Function of named parameters that returns a mechanism, a state on its periodic motion, the period [s], and
        inputs if there are any. If no other periodic motions are near, a state near the motion is sufficient.
    at : dict
        Parameter values.
    count : int
        Number of multipliers.
    per_period : int
        Number of steps in a period.
    method : Exact or ExactGauss, optional
        Method of the steps, see :func:`flexph.analysis.floquet`.
    steps : float or dict
        Steps of the differences by parameter; one number is the step relative to the size of each parameter.

    Returns
    -------
    MultiplierSensitivities
        Multipliers, and their derivatives by parameter.

    Raises
    ------
    ValueError
        As for :func:`flexph.analysis.floquet`, for defective multipliers, and for motions that do not close if other
        periodic motions are near.
    ArithmeticError
        If no periodic motion is found.

    Examples
    --------
    A mass on a spring and a damper; after a time T its multipliers are e^{λT}:

    >>> import numpy as np
    >>> import rigid
    >>> from flexph import GROUND, connect
    >>> from flexph.joints import cartesian_spring_damper
    >>> from flexph.studies import multiplier_sensitivities
    >>> def mass(damping):
    ...     held = cartesian_spring_damper("mass.point", GROUND.at(0.0, 0.0), stiffness=(9.0, 4.0), damping=damping)
    ...     mechanism = connect({"mass": rigid.point(1.0)}, [held])
    ...     return mechanism, mechanism.consistent_state(mechanism.assemble({"mass": (0.0, 0.0, 0.0)})), 0.5
    >>> found = multiplier_sensitivities(mass, {"damping": 0.2}, 1, per_period=8)
    >>> found.growth["damping"].round(6)  # Re λ = −½ d/m
    array([-0.5])
    """
    relative_steps = stated_steps(at, steps)
    here = _closed_period(motion, at, per_period, method)
    values, left, right = eig(here.monodromy, left=True)
    order = np.lexsort((-values.imag, -np.round(np.abs(values), 9)))
    if not 1 <= check.count("count", count) <= order.size:
        raise ValueError(f"count must be at most {order.size}, the number of multipliers, got {count}")
    chosen, unit = order[:count], np.eye(order.size)
    multipliers, period = values[chosen], here.run.period
    derivatives, growth = {}, {}
    for name, step in relative_steps.items():

        def along(value: float, name: str = name) -> Array:
            there = _closed_period(motion, {**at, name: value}, per_period, method)
            turn = there.free.coordinates(here.free.variations)  # the same coordinates at all parameters
            stacked = np.empty(2, dtype=object)
            stacked[:] = np.linalg.solve(turn, there.monodromy @ turn), there.run.period
            return stacked

        moved, later = central_of_order_four(along, at[name], step) / step
        change = Matrices(np.zeros_like(unit), moved, unit)
        derivatives[name] = eigenvalue_derivatives(values, (left, right), chosen, (unit, change), "multiplier")
        rate = np.log(np.maximum(np.abs(multipliers), np.finfo(float).tiny)) / period
        growth[name] = ((derivatives[name] / multipliers).real - rate * later) / period
    return MultiplierSensitivities(multipliers, derivatives, period, growth)


def _closed_period(
    motion: Callable[..., Any], at: Mapping[str, float], count: int, method: Exact | ExactGauss | None
) -> LinearisedPeriod:
    """Linearised period of the periodic motion nearest to the state that the user's function returns.

    ``count`` is the number of steps in the period. Raises ValueError if other periodic motions are near,
    ArithmeticError if none is found.
    """
    mechanism, state, period, inputs = _periodic_run(motion, at)
    size = last = np.inf
    for _ in range(CORRECTIONS):
        linearised = linearised_period(mechanism, read_period(mechanism, state, period, count), method, inputs)
        open_ = linearised.free.coordinates(
            between(mechanism.network.arrays, linearised.start.state.c, linearised.end.state.c)
        )[:, 0]
        size = float(np.abs(open_).max(initial=0.0))
        if size <= CLOSED or (size <= NEARLY and size > 0.5 * last):
            return linearised
        if size > FAR:
            break
        matrix = np.eye(open_.size) - linearised.monodromy
        singular = np.linalg.svd(matrix, compute_uv=False)
        if singular[-1] <= ISOLATED * singular[0]:
            raise ValueError(
                f"the motion must close if other periodic motions are near, as for free motions: after {period:.6g} s "
                f"its distance from the start is {size:.1e} of its size"
            )
        moves = linearised.free.variations @ np.linalg.solve(matrix, open_)
        c = neighbour(mechanism, linearised.table, (linearised.start.state.c, state.time), *moves)
        state, last = replace(state, x=flat(mechanism, c), memory=np.zeros((0, 0))), size
    raise ArithmeticError(
        f"no periodic motion of {period:.6g} s was found: after a period the distance from the start is {size:.1e} of "
        "the size of the mechanism: give a state nearer to the motion"
    )


def _periodic_run(
    motion: Callable[..., Any], at: Mapping[str, float]
) -> tuple[Mechanism, State, float, Mapping[str, Input]]:
    """Mechanism, state, period [s] and inputs returned by the user's function at given parameters."""
    made = check.value_of("motion", lambda parameters: motion(**parameters), dict(at))
    if not (isinstance(made, tuple) and len(made) in (3, 4) and isinstance(made[0], Mechanism)):
        raise ValueError(f"motion must return a mechanism, a state and a period, and inputs if any, got {made!r:.100}")
    mechanism, state, period, inputs = (*made, {})[:4]
    return mechanism, state, check.positive("period of motion", period, "s"), inputs
