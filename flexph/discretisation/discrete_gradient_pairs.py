"""Discrete gradient pairs for general systems ([dg] eq. (18)-(26))."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..numerics.arrays import Array
from ..numerics.ranks import rank_of
from ..numerics.step_failed import StepFailed
from ..systems.derivatives import Derivatives
from ..systems.discrete_gradients import MEAN_POINTS, ROUND_OFF, correction, gonzalez, line_mean, through_invariants
from ..systems.nonlinear import FEEDTHROUGH, PHDAE, Constant
from ..systems.port_matrices import PortMatrices
from .broyden import Newton
from .descriptor_split import Split, dense, differential_projection, differential_split, split_of

PARTS = np.linspace(0.125, 1.0, 8)
"""Lengths of a step, over its own, by which its solution is followed where it is not found at once."""
FED_BACK = 1e-9
"""Error of H, over the energy that a step exchanges, up to which it is round-off that the step makes up for."""

Gradient = Callable[[Array], Array]


class Advance(NamedTuple):
    """A step: the state at its end, Newton iterations, the output (B̄ + P̄)ᵀz̄ + (S̄ − N̄)u, the energy it dissipates, H.

    ``start`` is the state before, where the step redefines its algebraic states; ``history`` is what the next step
    takes over from this one and those before, beside the state.
    """

    state: Array
    iterations: int
    output: Array
    dissipated: float
    energy: float
    start: Array | None = None
    history: Any = None


class Latest:
    """A function that remembers its last value: iterations ask twice for the same array."""

    def __init__(self, function: Callable[[Array], Any]) -> None:
        self._function, self._x, self._value = function, None, None

    def __call__(self, x: Array) -> Any:
        """function(x)."""
        if x is not self._x:
            self._x, self._value = x, self._function(x)  # type: ignore[assignment]
        return self._value


def discrete_gradient(system: PHDAE, kind: str | Any, split: Split) -> Callable[[Array, float], Gradient]:
    """x₀, H(x₀) to the function x₁ to ∇̄H(x₀, x₁), by name, along the differential states, or a function of (x₀, x₁)."""
    if callable(kind):
        return lambda x0, before: partial(kind, x0)
    part = split.differential

    def slope(x: Array) -> Array:
        return system.E(x).T @ system.z(x)

    def closed(x0: Array, before: float) -> Gradient:
        def at(x1: Array) -> Array:
            step = part(x1 - x0)
            return gonzalez(slope(x1 - 0.5 * step), step, before, system.H(x1))

        return at

    def mean(x0: Array, before: float) -> Gradient:
        def at(x1: Array) -> Array:
            step = part(x1 - x0)
            # closed by the last term where H is no polynomial of the degree that the points integrate
            return gonzalez(line_mean(slope, x1 - step, x1, MEAN_POINTS), step, before, system.H(x1))

        return at

    if kind != "invariants":
        return mean if kind == "mean_value" else closed
    if system.invariants is None:
        raise ValueError(
            "DiscreteGradient('invariants') needs a system with invariants=, see flexph.systems.Invariants"
        )
    return partial(through_invariants, system.invariants)


class Discretised(NamedTuple):
    """Ē, J̄, R̄, the matrices of ports and z̄ over a step, the differential part of Δx, and ĒΔx."""

    E: Any
    J: Any
    R: Any
    ports: PortMatrices
    z: Array
    step: Array
    moved: Array


class Terms(NamedTuple):
    """Ē Δx, (J̄ − R̄)z̄ + (B̄ − P̄)u, z̄, R̄ and the matrices of ports of a step."""

    moved: Array
    flow: Array
    costate: Array
    R: Any
    ports: Any


def terms_of(at: Discretised, u: Array) -> Terms:
    """The terms of a step from its discretisation."""
    flow = at.J @ at.z - at.R @ at.z
    return Terms(at.moved, flow + at.ports.flow(u) if u.size else flow, at.z, at.R, at.ports)


class History(NamedTuple):
    """H by the account of work and dissipation, the energy Σ|z̄ᵢ(Ē Δx)ᵢ| that the last step exchanged, and its rate."""

    account: float
    exchanged: float
    rate: Array


def with_effort(residual: Callable[..., Array], x0: Array, guess: Array, size: Array) -> tuple[Newton, Array, int]:
    """A step whose solution is not found at once; ``residual`` takes ``part``, its length over its own.

    Long steps turn the motion around: grow the step up to its length. Where that fails too, friction may turn over.
    """
    x1, iterations, newton = x0, 0, Newton()
    try:
        for part in PARTS:
            newton = Newton()
            x1, more = newton.solve(partial(residual, part=part), x1, size)
            iterations += more
        return newton, x1, iterations
    except StepFailed as error:
        newton = Newton()
        try:
            return newton, *newton.searched(residual, guess, size)
        except StepFailed:
            raise error from None


class GradientPair:
    """``Ē Δx = h (J̄ − R̄) z̄ + h (B̄ − P̄)u`` with ``Ē₁₁ᵀ z̄₁ = ∇̄H`` on the differential states ([dg] eq. (20)-(21)).

    Matrices are those in the middle of the step unless the system has ``means`` of its own. The algebraic states are
    stage values: they hold in the middle of the step, where they are of second order, and z̄₂ is taken at them.
    With ``midpoint`` all is taken in the middle, z̄ too: a discrete gradient where H is quadratic and E constant.
    Derivatives of the system make the Newton matrix; where they are not those of the step itself (``means``, a
    gradient that is not Gonzalez', a varying E), they are those of the middle, near by the order of the step.

    States are rounded, and so H(x₀) is off the sum of work and dissipation so far by some round-off. Where that is as
    small as round-off should be, the sum takes the place of H(x₀): the errors of steps do not add up in long runs.
    """

    def __init__(self, system: PHDAE, kind: str | Any, split: Split | None = None) -> None:
        self.system, self.kind, self.split = system, kind, split or differential_split(system)
        own = {} if kind == "midpoint" else system.means
        self._E, self._J, self._R = (discretised(system, name, own) for name in "EJR")
        self._ports = ports_over(system, own)
        in_middle = kind == "midpoint" or (kind == "gonzalez" and "E" not in own)
        self._gradient = None if in_middle else discrete_gradient(system, kind, self.split)
        self._inverse = (
            self.split.to_costates(dense(system.E(system.sample))) if isinstance(system.E, Constant) else None
        )
        self._energy, self._newton = Latest(system.H), Newton()

    def step(self, x0: Array, h: float, u: Array, size: Array, history: History | None = None) -> Advance:
        """Advance by h under constant inputs; raises StepFailed."""
        energy = float(self._energy(x0))
        account, exchanged, rate = history or History(energy, 0.0, np.zeros(x0.size))
        before = account if abs(account - energy) <= FED_BACK * exchanged else energy
        gradient = None if self._gradient is None else self._gradient(x0, before)
        terms = Latest(lambda x1: self._terms(x0, x1, u, before, gradient))

        def residual(x1: Array, part: float = 1.0) -> Array:
            at: Terms = terms(x1)
            return at.moved - (part * h) * at.flow

        guess = x0 + h * self.split.differential(rate)  # as in the last step
        slopes = (
            None if self.system.derivatives is None else partial(self.slopes, self.system.derivatives, x0, h, u, before)
        )
        try:
            x1, iterations = self._newton.solve(residual, guess, size, slopes)
        except StepFailed:
            self._newton, x1, iterations = with_effort(residual, x0, guess, size)
        at: Terms = terms(x1)
        lost, output = h * at.ports.dissipated(at.R, at.costate, u), at.ports.output(at.costate, u)
        exchanged = float(np.abs(at.costate) @ np.abs(at.moved))
        reached = History(account + h * float(output @ u) - lost, exchanged, (x1 - x0) / h)
        return Advance(x1, iterations, output, lost, self._energy(x1), history=reached)

    def over(self, x0: Array, x1: Array) -> Discretised:
        """The discretisation over a step from x₀ to x₁: (Ē, z̄) is the discrete gradient pair of [dg] eq. (30)."""
        before = float(self._energy(x0))
        return self._over(x0, x1, before, None if self._gradient is None else self._gradient(x0, before))

    def _terms(self, x0: Array, x1: Array, u: Array, before: float, gradient: Gradient | None) -> Terms:
        return terms_of(self._over(x0, x1, before, gradient), u)

    def _over(self, x0: Array, x1: Array, before: float, gradient: Gradient | None) -> Discretised:
        step = self.split.differential(x1 - x0)
        middle = x1 - 0.5 * step
        E, J, R, ports = (at(x0, x1, middle) for at in (self._E, self._J, self._R, self._ports))
        moved, costate = E @ step, self.system.z(middle)
        if gradient is not None:
            costate = self._to_costates(E) @ gradient(x1) + self.split.unseen(costate)
        elif self.kind == "gonzalez":  # z̄₁ = Ē₁₁⁻ᵀ∇̄H where ∇H(m) = Ēᵀz(m)
            ratio = correction(float(costate @ moved), step, before, self._energy(x1))
            costate = costate + self._to_costates(E) @ (ratio * step) if ratio else costate
        return Discretised(E, J, R, ports, costate, step, moved)

    def slopes(self, given: Derivatives, x0: Array, h: float, u: Array, before: float, x1: Array) -> Array:
        """The derivative of Ē Δx − h (J̄ − R̄)z̄ − h (B̄ − P̄)u by x₁."""
        system, inner = self.system, self.split.inner
        step = self.split.differential(x1 - x0)
        middle = x1 - 0.5 * step
        E, flow, z = dense(system.E(middle)), system.J(middle) - system.R(middle), system.z(middle)
        of_costate = inner(dense(given.costate(middle)))
        if self.kind == "gonzalez":
            moved, end = E @ step, system.E(x1).T @ system.z(x1)
            ratio = correction(float(z @ moved), step, before, self._energy(x1))
            if ratio:  # z̄ = z(m) + ratio Ē₁₁⁻ᵀΔx
                of_ratio = (end - moved @ of_costate - z @ E - (2.0 * ratio) * step) / float(step @ step)
                inverse = self._to_costates(E)
                of_costate = of_costate + np.outer(inverse @ step, of_ratio) + ratio * inverse
        slope: Array = E - h * (flow @ of_costate + inner(given.of_terms(middle, z, u)))
        return slope if given.descriptor is None else slope + inner(given.of_descriptor(middle, step))

    def _to_costates(self, E: Any) -> Array:
        return self.split.to_costates(dense(E)) if self._inverse is None else self._inverse


class Dirac:
    """``Ē Δx = h (J̄ − R̄) f + h (B̄ − P̄)u``, ``Ēᵀf = ∇̄H`` with costates f ([dg] eq. (25)-(26)).

    E may vary and be singular, with a constant rank. ∇̄H is Gonzalez' gradient restricted to the range of Ēᵀ, as lemma
    1 of [dg] asks for: with the orthogonal projection P onto it,

        ∇̄H = P∇H(m) + (ΔH − P∇H(m)·Δx)/(PΔx·PΔx) PΔx,

    a discrete gradient since PΔx·Δx = PΔx·PΔx, for which f exists. What Ēᵀf = ∇̄H leaves open is the part of f that Ēᵀ
    does not see: it is that of z in the middle m of the step, which does not touch the energy balance ([dg] example 6).
    Where the null space of E is constant, algebraic states are stage values and m is taken at the new ones.

    Raises StepFailed where H changes along a step that Ē does not see: no f exists then ([dg] example 8).
    """

    def __init__(self, system: PHDAE) -> None:
        self.system, self._newton = system, Newton()
        try:
            self._split: Split | None = differential_split(system)
        except ValueError:
            self._split = None  # it is that of Ē at each step
        self._onto_states = differential_projection(system) if self._split is None else self._split.onto_states
        self._varies = self._split is None or "E" in system.means
        self._means = [*(discretised(system, name, system.means) for name in "EJR"), ports_over(system, system.means)]
        self._rank = rank_of(dense(system.E(system.sample)))
        # on semi-explicit systems the steps are those of the pair ([dg] theorem 5), and so are their derivatives
        self._pair = None if self._split is None else GradientPair(system, "gonzalez")

    def step(self, x0: Array, h: float, u: Array, size: Array, history: None = None) -> Advance:
        """Advance by h under constant inputs; raises StepFailed."""
        before, given = float(self.system.H(x0)), self.system.derivatives
        terms = Latest(lambda x1: self._terms(x0, x1, u, before))
        slopes = None if self._pair is None or given is None else partial(self._pair.slopes, given, x0, h, u, before)

        def residual(x1: Array, part: float = 1.0) -> Array:
            at: Terms = terms(x1)
            return at.moved - (part * h) * at.flow

        try:
            x1, iterations = self._newton.solve(residual, x0, size, slopes)
        except StepFailed:
            self._newton, x1, iterations = with_effort(residual, x0, x0, size)
        at: Terms = terms(x1)
        lost, output = h * at.ports.dissipated(at.R, at.costate, u), at.ports.output(at.costate, u)
        return Advance(x1, iterations, output, lost, self.system.H(x1))

    def over(self, x0: Array, x1: Array) -> Discretised:
        """The discretisation over a step from x₀ to x₁: with its completion f, (Ē, f) is a discrete gradient pair."""
        return self._over(x0, x1, float(self.system.H(x0)))

    def _terms(self, x0: Array, x1: Array, u: Array, before: float) -> Terms:
        return terms_of(self._over(x0, x1, before), u)

    def _over(self, x0: Array, x1: Array, before: float) -> Discretised:
        system, change = self.system, x1 - x0
        middle = x1 - 0.5 * (self._onto_states @ change)
        E, J, R, ports = (at(x0, x1, middle) for at in self._means)
        split = self._split_of(dense(E))
        z = system.z(middle)
        gradient = restricted(split, system.E(middle).T @ z, change, (before, float(system.H(x1))))
        costate = split.to_costates(dense(E)) @ gradient + split.unseen(z)
        return Discretised(E, J, R, ports, costate, split.differential(change), E @ change)

    def _split_of(self, E: Array) -> Split:
        """The split of Ē, whose rank is that of E."""
        if self._split is not None and not self._varies:
            return self._split
        split = split_of(E)
        if split.V1.shape[1] != self._rank:
            raise StepFailed(f"the rank of Ē is {split.V1.shape[1]}, that of E(x) {self._rank}", 0, np.inf)
        return split


def restricted(split: Split, slope: Array, change: Array, energies: tuple[float, float]) -> Array:
    """Gonzalez' gradient in the range of Ēᵀ from ∇H(m), Δx, and H at both ends. Raises StepFailed where ΔH ⟂ Ē."""
    step, middle = split.differential(change), split.differential(slope)
    unseen = np.abs(step) <= ROUND_OFF * (np.abs(split.onto_states) @ np.abs(change))
    if unseen.all() and correction(float(middle @ change), change, *energies):
        raise StepFailed("the energy changes along a step that Ē does not see: no costate exists", 0, np.inf)
    return gonzalez(middle, step, *energies)


def ports_over(
    system: PHDAE, own: Mapping[str, Callable[[Array, Array], Any]]
) -> Callable[[Array, Array, Array], PortMatrices]:
    """B̄ and, with feed-through, P̄, S̄, N̄ as a function of x₀, x₁ and the middle."""
    names = ("B", *FEEDTHROUGH) if system.has_feedthrough else ("B",)
    matrices = [discretised(system, name, own) for name in names]
    return lambda x0, x1, middle: PortMatrices(*(at(x0, x1, middle) for at in matrices))


def discretised(
    system: PHDAE, name: str, own: Mapping[str, Callable[[Array, Array], Any]]
) -> Callable[[Array, Array, Array], Any]:
    """A matrix by name as a function of x₀, x₁ and the middle: constant, the user's own mean, or in the middle."""
    function = getattr(system, name)
    if name in own:
        mean = own[name]
        return lambda x0, x1, middle: mean(x0, x1)
    if isinstance(function, Constant):
        matrix = function.matrix
        return lambda x0, x1, middle: matrix
    return lambda x0, x1, middle: function(middle)
