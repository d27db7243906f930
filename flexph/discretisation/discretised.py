"""Systems over a step: their means, the matrices in the middle where they have none, and what a step leaves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from ..numerics.arrays import Array
from ..systems.nonlinear import FEEDTHROUGH, PHDAE, Constant
from ..systems.port_matrices import PortMatrices

Means = Mapping[str, Callable[[Array, Array], Any]]


class Discretised(NamedTuple):
    """Ē, J̄, R̄, the matrices of ports and z̄ over a step, and ĒΔx; without ports inputs are zero."""

    E: Any
    J: Any
    R: Any
    ports: Any
    z: Array
    moved: Array

    def equation(self, u: Array, h: float) -> tuple[Array, Discretised]:
        """``Ē Δx − h (J̄ − R̄) z̄ − h (B̄ − P̄) u``, and what it is computed from."""
        flow = self.J @ self.z - self.R @ self.z
        return self.moved - h * (flow + self.ports.flow(u) if u.size and self.ports is not None else flow), self

    def advance(self, system: PHDAE, solved: Any, u: Array, h: float, *, history: Any = None) -> Advance:
        """The step that is solved by these."""
        lost, output = h * self.ports.dissipated(self.R, self.z, u), self.ports.output(self.z, u)
        return Advance(solved.x, solved.iterations, output, lost, system.H(solved.x), history=history)


class Advance(NamedTuple):
    """A step: the state at its end, Newton iterations, the output (B̄ + P̄)ᵀz̄ + (S̄ − N̄)u, the energy it dissipates, H.

    ``start`` is the state before, where the step redefines its algebraic states; ``history`` is what the next step
    takes over from this one and those before, beside the state. ``closing`` of the inputs at the end of the step makes
    its state there, and may raise StepFailed.
    """

    state: Array
    iterations: int
    output: Array
    dissipated: float
    energy: float
    start: Array | None = None
    history: Any = None
    closing: Callable[[Array], Array] | None = None


class Latest:
    """A function that remembers its last value: iterations ask twice for the same array."""

    def __init__(self, function: Callable[[Array], Any]) -> None:
        self._function = function
        self._x: Array | None = None
        self._value: Any = None

    def __call__(self, x: Array) -> Any:
        """function(x)."""
        if x is not self._x:
            self._x, self._value = x, self._function(x)
        return self._value


def ports_over(system: PHDAE, own: Means) -> Callable[[Array, Array, Array], PortMatrices]:
    """B̄ and, with feed-through, P̄, S̄, N̄ as a function of x₀, x₁ and the middle."""
    names = ("B", *FEEDTHROUGH) if system.has_feedthrough else ("B",)
    matrices = [discretised(system, name, own) for name in names]
    return lambda x0, x1, middle: PortMatrices(*(at(x0, x1, middle) for at in matrices))


def discretised(system: PHDAE, name: str, own: Means) -> Callable[[Array, Array, Array], Any]:
    """A matrix by name as a function of x₀, x₁ and the middle: constant, the user's own mean, or in the middle."""
    function = getattr(system, name)
    if name in own:
        mean = own[name]
        return lambda x0, x1, middle: mean(x0, x1)
    if isinstance(function, Constant):
        matrix = function.matrix
        return lambda x0, x1, middle: matrix
    return lambda x0, x1, middle: function(middle)
