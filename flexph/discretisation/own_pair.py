"""Discrete gradient pairs defined by a system itself, or taken from a method ([dg] definition 7 and eq. (18)).

Composite systems read the matrices of their parts at a state or over a step by one interface.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any, Protocol

import numpy as np

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array, dense
from ..systems.discrete_gradients import check_discrete_gradient
from ..systems.nonlinear import FEEDTHROUGH, PHDAE, Constant
from .descriptor_split import differential_states
from .dirac_form import Dirac
from .discrete_gradient_pairs import GradientPair
from .discretised import Advance, Discretised, discretised, ports_over
from .newton import Newton, StepEquations
from .parametrized import ParametrizedPair, dirac_form, gradient_pair

PAIRED = ("gonzalez", "mean_value", "invariants", "dirac")
"""Names of the methods with a discrete gradient of their own, a function of (x₀, x₁)."""
AROUND = 0.1
"""Distance from the sample, relative to the size of each state, of states at which a discrete gradient is checked."""


@checked
def with_pair(system: PHDAE, method: str | Callable[[Array, Array], Array] = "gonzalez") -> PHDAE:
    """System with the discrete gradient pair and the other means of a method as its ``means``.

    ``DiscreteGradient("pair")`` then takes the steps of that method, and :func:`flexph.systems.transform` carries them
    to other coordinates ([dg] theorems 6 and 9). For ``dirac`` the pair is (Ē, f) with the completed costate f of the
    Dirac-dissipative form: in other coordinates f̃ = Ū⁻¹f, which minimises ``‖Ū(f̃ − ẑ)‖`` as f minimises ``‖f − z̄‖``
    ([dg] remark 15). A discrete gradient of H instead of a method, a function of (x₀, x₁) as from
    :mod:`flexph.discrete_gradients`, is checked near the sample and gives ``z̄₁ = Ē₁₁⁻ᵀ∇̄H`` ([dg] eq. (20)).

    Parameters
    ----------
    system : PHDAE
        System.
    method : str or callable
        Name of a method, or a discrete gradient of H.

    Returns
    -------
    PHDAE
        Same equations, with means.

    Raises
    ------
    ValueError
        If the method defines no pair or refuses E, or the function is no discrete gradient of H.
    """
    if callable(method):
        _check_gradient(system, method)
        pair: GradientPair | Dirac | ParametrizedPair = gradient_pair(system, method)
    else:
        check.choice("method", method, PAIRED)
        pair = dirac_form(system) if method == "dirac" else gradient_pair(system, method)

    @lru_cache(maxsize=1)  # all of them are asked for one after the other
    def over_step(x0: bytes, x1: bytes) -> Discretised:
        return pair.over_step(np.frombuffer(x0), np.frombuffer(x1))

    names = ("E", "J", "R", "z", "B", *(FEEDTHROUGH if system.has_feedthrough else ()))
    means = {name: partial(_entry, over_step, name) for name in names}
    return replace(system, means=means, mean_slope=None, terms=None)


def _entry(over_step: Callable[[bytes, bytes], Discretised], name: str, x0: Array, x1: Array) -> Any:
    evaluated = over_step(*(np.asarray(x, dtype=float).tobytes() for x in (x0, x1)))
    return getattr(evaluated.ports if name in ("B", *FEEDTHROUGH) else evaluated, name)


def _check_gradient(system: PHDAE, discrete: Callable[[Array, Array], Array]) -> None:
    x = system.sample
    size = AROUND * np.maximum(np.abs(x), system.floor(x))
    draw = np.random.default_rng(0).uniform(-1.0, 1.0, (3, x.size))
    slope = lambda at: np.asarray(dense(system.E(at)).T @ system.z(at))  # noqa: E731
    check_discrete_gradient(discrete, system.H, slope, [(x, x + size * step) for step in draw])


class OwnPair:
    """Step ``Ē (x₁ − x₀) = h (J̄ − R̄) z̄ + h (B̄ − P̄)u`` with the pair (Ē, z̄) in ``means`` ([dg] eq. (18)).

    Functions without a mean are evaluated in the middle. E and Ē may vary and be singular, as no system with them is
    solved. The balance is exact if ``z̄ᵀĒ (x₁ − x₀) = H(x₁) − H(x₀)`` ([dg] theorem 2).
    """

    def __init__(self, system: PHDAE) -> None:
        if "z" not in system.means:
            raise ValueError(
                "DiscreteGradient('pair') needs a system with a mean of z: see flexph.discretisation.with_pair"
            )
        self.system, self.newton = system, Newton()
        self._means = [discretised(system, name, system.means) for name in "EJR"]
        self._ports = ports_over(system, system.means)
        # the derivative of a varying Ē is not part of the flow's slope
        self._slope = system.mean_slope if isinstance(system.E, Constant) and "E" not in system.means else None
        self._moving = dense(system.E(system.sample)).any(axis=0)

    def step(self, x0: Array, h: float, u: Array, size: Array, *, history: Array | None = None) -> Advance:
        """Take a step of length h [s] from x₀ with constant inputs u.

        ``size`` (n,) are the sizes of the states, to which corrections are compared; ``history`` (n,) is the rate of
        the last step, from which the end is predicted. Raises StepFailed.
        """
        driven = bool(u.any())  # port matrices may be expensive
        derivative = None if self._slope is None else partial(self._derivative, x0, h, u)
        equations = StepEquations(lambda x1, part: self._over(x0, x1, ports=driven).equation(u, part * h), derivative)
        guess = x0 if history is None else x0 + h * history  # extrapolated from the last step
        solved = self.newton.step(equations, x0, guess, size)
        solved = solved._replace(x=self.newton.polished_root(solved.x, solved.terms.equation(u, h)[0], size))
        rate = np.where(self._moving, (solved.x - x0) / h, 0.0)
        return self._over(x0, solved.x).advance(self.system, solved, u, h, history=rate)

    def _derivative(self, x0: Array, h: float, u: Array, x1: Array, part: float) -> Array:
        assert self._slope is not None
        return dense(self.system.E(x0)) - part * h * self._slope(x0, x1, u)

    def _over(self, x0: Array, x1: Array, *, ports: bool = True) -> Discretised:
        middle = 0.5 * (x0 + x1)
        E, J, R = (at(x0, x1, middle) for at in self._means)
        matrices = self._ports(x0, x1, middle) if ports else None
        return Discretised(E, J, R, matrices, self.system.means["z"](x0, x1), E @ (x1 - x0))


class View(Protocol):
    """Access to a system's matrices E, J, R, B (dense) and costate z by name, at a state or over a step.

    ``place`` is the state at which functions of the system other than these are to be evaluated.
    """

    place: Array

    def __call__(self, name: str) -> Array:
        """Matrix E, J, R or B, or costate z, whose letter is ``name``."""


class AtState:
    """Matrices E, J, R, B and costate z of a system at a state."""

    def __init__(self, system: PHDAE, x: Array) -> None:
        self.system, self.place = system, x

    def __call__(self, name: str) -> Array:
        """Matrix E, J, R or B, or costate z, whose letter is ``name``."""
        return dense(getattr(self.system, name)(self.place))


class OverStep:
    """Matrices and costate of a system over a step: its means, or its functions at the middle ([dg] definition 8).

    ``middle`` gives the evaluation point of functions without a mean, see :func:`middle_of`.
    """

    def __init__(self, system: PHDAE, middle: Callable[[Array, Array], Array], x0: Array, x1: Array) -> None:
        self.system, self.x0, self.x1, self.place = system, x0, x1, middle(x0, x1)

    def __call__(self, name: str) -> Array:
        """Discretised Ē, J̄, R̄, B̄ or z̄ for the letter ``name``."""
        if name == "z":
            return np.asarray(self.system.means["z"](self.x0, self.x1))
        return dense(discretised(self.system, name, self.system.means)(self.x0, self.x1, self.place))


def middle_of(system: PHDAE) -> Callable[[Array, Array], Array]:
    """Evaluation point, a function of (x₀, x₁), of the system's functions without a mean.

    It is the midpoint if z has a mean; otherwise the middle of the differential and the end of the algebraic states.
    """
    if "z" in system.means:
        return lambda x0, x1: 0.5 * (x0 + x1)
    basis = differential_states(system)[0]
    onto_states = basis @ basis.T
    return lambda x0, x1: x1 - 0.5 * (onto_states @ (x1 - x0))


def all_paired(systems: tuple[PHDAE, ...]) -> tuple[PHDAE, ...]:
    """The given systems, if none has a discrete gradient pair; else those without one get the pair of ``gonzalez``."""
    if not any("z" in s.means for s in systems):
        return systems
    return tuple(s if "z" in s.means else with_pair(s) for s in systems)
