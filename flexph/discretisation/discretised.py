"""Discretised systems: means over a step, or matrices in its middle, and the result of a step."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ..numerics.arrays import Array
from ..systems.nonlinear import FEEDTHROUGH, PHDAE, Constant
from ..systems.ports import PortMatrices

Means = Mapping[str, Callable[[Array, Array], Any]]


class Discretised(NamedTuple):
    """Matrices Ē, J̄, R̄ and costate z̄ over a step, its port matrices, and ĒΔx (``moved``).

    Without port matrices, inputs have no effect.
    """

    E: Any
    J: Any
    R: Any
    ports: Any
    z: Array
    moved: Array

    def equation(self, u: Array, h: float) -> tuple[Array, Discretised]:
        """Residual ``Ē Δx − h (J̄ − R̄) z̄ − h (B̄ − P̄) u`` (n,), and this object, which has its terms."""
        flow = self.J @ self.z - self.R @ self.z
        return self.moved - h * (flow + self.ports.flow(u) if u.size and self.ports is not None else flow), self

    def advance(self, system: PHDAE, solved: Any, u: Array, h: float, *, history: Any = None) -> Advance:
        """Result of a step of length h with this discretisation, from the solution ``solved`` of its equations.

        ``history`` are data for the next step.
        """
        lost, output = h * self.ports.dissipated(self.R, self.z, u), self.ports.output(self.z, u)
        return Advance(solved.x, solved.iterations, output, lost, system.H(solved.x), history=history)


class Advance(NamedTuple):
    """Result of a step: end state, Newton iterations, output (B̄ + P̄)ᵀz̄ + (S̄ − N̄)u, dissipated energy, and H.

    ``start`` is the initial state with its algebraic states redefined, None if they are unchanged; ``history`` is for
    the next step. ``closing`` maps the inputs at the end of the step to the consistent end state, and may raise
    StepFailed.
    """

    state: Array
    iterations: int
    output: Array
    dissipated: float
    energy: float
    start: Array | None = None
    history: Any = None
    closing: Callable[[Array], Array] | None = None


class CachedFunction:
    """Function that caches its last value, as iterations evaluate it twice at the same array."""

    def __init__(self, function: Callable[[Array], Any]) -> None:
        self._function = function
        self._x: Array | None = None
        self._value: Any = None

    def __call__(self, x: Array) -> Any:
        """Value of the function at x, cached for the same array."""
        if x is not self._x:
            self._x, self._value = x, self._function(x)
        return self._value


def ports_over(system: PHDAE, own: Means) -> Callable[[Array, Array, Array], PortMatrices]:
    """Function (x₀, x₁, middle) ↦ port matrices B̄ and, with feed-through, P̄, S̄, N̄ over a step.

    ``own`` are the means of the system by name, which have priority; matrices without a mean are evaluated at the state
    ``middle``.
    """
    names = ("B", *FEEDTHROUGH) if system.has_feedthrough else ("B",)
    matrices = [discretised(system, name, own) for name in names]
    return lambda x0, x1, middle: PortMatrices(*(at(x0, x1, middle) for at in matrices))


def discretised(system: PHDAE, name: str, own: Means) -> Callable[[Array, Array, Array], Any]:
    """Function (x₀, x₁, middle) ↦ matrix ``name`` of a system over a step.

    It is the mean in ``own`` if there is one, otherwise the constant matrix or its value at the state ``middle``.
    """
    function = getattr(system, name)
    if name in own:
        mean = own[name]
        return lambda x0, x1, middle: mean(x0, x1)
    if isinstance(function, Constant):
        matrix = function.matrix
        return lambda x0, x1, middle: matrix
    return lambda x0, x1, middle: function(middle)
