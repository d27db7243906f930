"""Consistency conditions of a general system: its algebraic equations and, for index 2, their rates.

V₁ᵀx are the differential and V₂ᵀx the algebraic states of x, the rows with U₁ᵀ and U₂ᵀ the differential and algebraic
equations, as in :class:`flexph.discretisation.descriptor_split.Split`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..numerics.arrays import Array
from ..numerics.corrections import IterationLimits
from ..numerics.differences import FORWARD, forward
from ..numerics.ranks import equilibrated, singular_vectors
from ..systems.nonlinear import ROUND_OFF
from .equations import AT_LEAST, LOST, Equations, balancing, sizes, with_algebraic

STEP = 1e-5
"""Step of differences, relative to the sizes of states, for functions that contain differences themselves."""
ITERATIONS = 20


def nearest_zero(function: Callable[[Array], Array], unknowns: int) -> Array:
    """Zero y of a function (k,) of ``unknowns`` variables that is nearest to y = 0.

    Newton's method with steps of least norm finds a zero, Gauss-Newton steps from there reduce its norm. If the
    Gauss-Newton steps do not converge, the zero of least norm that they found is returned.
    """
    y, one, best = np.zeros(unknowns), np.eye(unknowns), np.zeros(unknowns)
    for iteration in range(3 * ITERATIONS):
        here = function(y)
        matrix = forward(function, y, here, STEP * np.ones(unknowns), directions=one)
        largest = np.abs(matrix).max(axis=1, keepdims=True, initial=0.0)
        scale = np.where(largest > 0.0, largest, 1.0)  # rows without dependence are not scaled
        first = iteration < ITERATIONS
        target = -here if first else matrix @ y - here
        solution = np.linalg.lstsq(matrix / scale, target / scale[:, 0], rcond=1e-11)[0]
        change = solution if first else solution - y
        solved = float(np.abs(here / scale[:, 0]).max(initial=0.0)) <= 1e-13
        if first or (solved and np.linalg.norm(y) <= np.linalg.norm(best)):
            best = y
        if not first and np.abs(change).max(initial=0.0) <= 1e-9:
            break
        y = y + change
    return best


DEPENDENT = 1e-6
"""Singular value of the scaled derivatives of the algebraic equations with respect to the algebraic states, relative to
the largest one, below which an equation is dependent. Forward differences are far more accurate."""
CONSISTENT = 1e-8
"""Defect of an algebraic equation, relative to its largest terms, up to which a state counts as consistent."""
SOLVED = IterationLimits(most=ITERATIONS, settled=1e-15, stagnated=1e-9, slow=0.1)
"""Limits of Newton's method for algebraic states, on corrections relative to their sizes."""


class Undetermined(ArithmeticError):
    """Error: the equations do not determine the algebraic states."""


@dataclass(frozen=True, eq=False)
class Inconsistency:
    """Defects of the algebraic equations of a system at a state; true if the state is inconsistent.

    An equation has the name of the state whose row it is.

    Attributes
    ----------
    algebraic : mapping
        Defects of ``0 = U₂ᵀ((J − R)z + Bu)`` by name.
    hidden : mapping
        Defects of the time derivatives of those equations that contain no algebraic state. They determine the
        algebraic states of index 2 (multipliers), and a start with guessed multipliers violates them.
    relative : float
        Largest defect, relative to the largest terms of its equation.
    """

    algebraic: Mapping[str, float]
    hidden: Mapping[str, float]
    relative: float

    def __bool__(self) -> bool:
        return self.relative > CONSISTENT

    def __str__(self) -> str:
        if not self:
            return "consistent"
        rows = [("equation", n, v) for n, v in self.algebraic.items()]
        rows += [("rate of equation", n, v) for n, v in self.hidden.items()]
        worst = sorted(rows, key=lambda row: -abs(row[2]))[:5]
        listed = ", ".join(f"{kind} {name!r} by {value:.3g}" for kind, name, value in worst)
        return f"violated (relative {self.relative:.1e}): {listed}"


class Conditions:
    """Conditions ``Qᵀg = 0, h = Nᵀġ = 0`` for algebraic states, ``Nᵀg = 0`` for differential ones, near a state.

    g are the m algebraic equations, h are hidden conditions. The columns of N (m, k) are the combinations of equations
    that contain no algebraic state, those of Q their complement. ``size`` (n,) are the sizes of the states, and
    ``multipliers`` (n,) is True for states in no algebraic equation (index 2).
    """

    def __init__(self, equations: Equations, time: float, x: Array) -> None:
        self.equations, self.time, self.split = equations, time, equations.split
        self.size = with_algebraic(equations.system, x, sizes(equations.system, x))
        self.N, self.Q = self._without_algebraic(x)
        self._slopes: tuple[Array, Array] | None = None

    def move_to(self, time: float) -> None:
        """Set the time [s] at which inputs and conditions are evaluated."""
        if time != self.time:
            self.time, self._slopes = time, None

    def _without_algebraic(self, x: Array) -> tuple[Array, Array]:
        s = self.split
        if not s.U2.shape[1]:
            self._unit, self.multipliers = np.zeros(0), np.zeros(x.size, dtype=bool)
            return np.zeros((0, 0)), np.zeros((0, 0))
        columns = self._columns(x)
        matrix = s.U2.T @ columns
        self.multipliers = (s.V2[:, ~matrix.any(axis=0)] != 0.0).any(axis=1)
        used = matrix.any(axis=1)
        one = np.eye(len(matrix))
        scaled, rows, _ = equilibrated(matrix[used])
        factors = singular_vectors(scaled, tolerance=DEPENDENT)
        back = one[:, used] @ (factors.left / rows[:, None])
        return np.hstack([one[:, ~used], back[:, factors.rank :]]), back[:, : factors.rank]

    def _columns(self, x: Array) -> Array:
        """Derivatives (n, n − r) of all equations with respect to the algebraic states, with round-off set to zero.

        It also increases the entries of ``size`` that are too small for these states to balance their equations.
        """
        e, s = self.equations, self.split
        columns, least = e.along_algebraic(self.time, x, self.size), np.abs(s.V2.T) @ self.size
        terms = self._terms(x)[:, None]
        noise = 1e1 * FORWARD if e.system.exact_derivatives is None else LOST
        columns = np.where(np.abs(columns) * least > noise * terms, columns, 0.0)
        others = np.maximum(terms - np.abs(columns) * np.abs(s.V2.T @ x), 0.0)
        rows = np.hstack([s.U2, s.U1]).T
        differential = np.arange(x.size) >= s.U2.shape[1]
        self._unit = np.maximum(balancing(np.abs(rows @ columns), np.abs(rows) @ others, differential), least)
        self.size = np.maximum(self.size, np.abs(s.V2) @ self._unit)
        return columns

    @cached_property
    def names(self) -> list[str]:
        """Names of the algebraic equations, by the states in whose rows they are."""
        return [self._name(column) for column in self.split.U2.T]

    def _name(self, column: Array) -> str:
        rows = np.flatnonzero(column)
        if rows.size != 1:
            return f"combination of rows {', '.join(map(str, rows[:6]))}"
        for name, part in self.equations.system.parts.items():
            inside = range(*part.indices(column.size))
            if rows[0] in inside:
                return name if len(inside) == 1 else f"{name}[{rows[0] - inside[0]}]"
        return f"row {rows[0]}"

    def hidden(self, x: Array) -> Array:
        """Hidden conditions ``h = Nᵀġ = Nᵀ(∂g/∂x V₁V₁ᵀẋ + U₂ᵀBu̇)``."""
        if not self.N.shape[1]:
            return np.zeros(0)
        e, differential = self.equations, self.split.V1.T @ x
        rows = self.split.U2 @ self.N
        if self._slopes is None or not np.array_equal(self._slopes[0], differential):
            self._slopes = differential, e.slopes(self.time, x, self.size, rows)
        known_part: Array = self._slopes[1] @ e.rate(self.time, x)
        return known_part + rows.T @ e.system.port_matrices(x).flow(e.input_rate(self.time))

    def rate(self, x: Array) -> Array:
        """Rate ẋ (n,) from Eẋ = (J − R)z + (B − P)u, zero for algebraic states."""
        projected: Array = self.split.V1 @ self.equations.rate(self.time, x)
        return projected

    def for_algebraic(self, x: Array) -> Array:
        """Residuals (Qᵀg, h) of the conditions that determine the algebraic states, one for each of them."""
        return np.concatenate([self.Q.T @ self.equations.algebraic(self.time, x), self.hidden(x)])

    def report(self, x: Array) -> Inconsistency:
        """Defects of all conditions at a state."""
        e, s = self.equations, self.split
        g, h = e.algebraic(self.time, x), self.hidden(x)
        terms = self._terms(x, ROUND_OFF)
        relative = np.abs(g) / np.maximum(np.abs(s.U2.T) @ terms, 1e-300)
        of_hidden = self._relative(x, h, terms) if h.size else h
        names = [self.names[int(np.argmax(np.abs(c)))] for c in self.N.T]
        largest = max(float(relative.max(initial=0.0)), float(of_hidden.max(initial=0.0)))
        return Inconsistency(
            dict(zip(self.names, map(float, g), strict=True)), dict(zip(names, map(float, h), strict=True)), largest
        )

    def _relative(self, x: Array, h: Array, terms: Array) -> Array:
        """Absolute defects of ``h = 0``, each divided by the sum of the magnitudes of its terms.

        This sum is at least 1/1000 of the contribution that the rates would have if all states changed as fast as the
        fastest one, max|ẋ/size|. Defects of the size of round-off are returned as zero.
        """
        s, algebraic = self.split, self.split.V2.T @ x
        each = forward(self.hidden, x, h, STEP * self._unit, directions=s.V2)
        size = np.abs(self.hidden(x - s.V2 @ algebraic)) + np.abs(each) @ np.abs(algebraic) + np.abs(h)
        assert self._slopes is not None
        slopes, rate = np.abs(self._slopes[1]), np.abs(self.equations.rate(self.time, x))
        differential = np.abs(s.V1.T) @ self.size
        fastest = float((rate / np.where(differential > 0.0, differential, np.inf)).max(initial=0.0))
        size = np.maximum(size, AT_LEAST * fastest * (slopes @ differential))
        defects = np.abs(h) / np.where(size > 0.0, size, 1.0)
        # rates of the size of round-off are zero, e.g. for bodies that fall together
        noise = 1e-14 * (np.abs(self.N.T) @ (np.abs(s.U2.T) @ terms) + slopes @ rate)
        return np.where(np.abs(h) <= noise, 0.0, defects)

    def _terms(self, x: Array, least: float = 0.0) -> Array:
        """Sum of the magnitudes of the terms of each equation (n,); for ``least`` see :meth:`Equations.terms`."""
        return self.equations.terms(self.time, x, self.size, least)

    def with_algebraic(self, x: Array) -> Array:
        """State with algebraic states that solve (Qᵀg, h) = 0, by Newton's method from those of x.

        Raises Undetermined if they are not determined, or not found.
        """
        if not self.split.V2.shape[1]:
            return x
        corrected = SOLVED.run(x, self._corrected)
        if not corrected.settled:
            raise Undetermined(
                f"the algebraic states at t = {self.time} s could not be found (last change {corrected.defect:.1e})"
            )
        return corrected.value

    def _corrected(self, x: Array) -> tuple[Array, float]:
        """State after one Newton correction of its algebraic states, and the relative size of the correction."""
        V2, defect = self.split.V2, self.for_algebraic(x)
        jacobian = forward(self.for_algebraic, x, defect, STEP * self._unit, directions=V2)
        scale = np.abs(jacobian).max(axis=1)
        if np.any(scale == 0.0) or not np.all(np.isfinite(jacobian)):
            raise Undetermined(self._singular())
        matrix = jacobian / scale[:, None]
        columns = np.abs(matrix).max(axis=0)
        if np.any(columns == 0.0) or np.linalg.cond(matrix / columns) > 1.0 / FORWARD:
            raise Undetermined(self._singular())
        step = V2 @ np.linalg.solve(matrix, defect / scale)
        return x - step, float(np.max(np.abs(step) / np.maximum(np.abs(x), self.size), initial=0.0))

    def _singular(self) -> str:
        return (
            f"the algebraic equations and their rates do not determine the algebraic states at t = {self.time} s: "
            "the index is above 2, or equations are dependent"
        )

    def nearest(self, x0: Array, fixed: Array) -> Array:
        """Nearest state to x0 with ``Nᵀg = 0``, by changes of the differential states relative to their sizes.

        States are unchanged where ``fixed`` (n,) is True.
        """
        V1, x = self.split.V1, x0
        if not self.N.shape[1]:
            return x
        weight = np.where(fixed, 0.0, self.size)
        moves = V1 * (np.abs(V1.T) @ weight)  # in units of the sizes of states
        if fixed.any():
            moves = moves[:, np.abs(V1[fixed]).max(axis=0) == 0.0]
        return x0 + moves @ nearest_zero(
            lambda y: self.N.T @ self.equations.algebraic(self.time, x0 + moves @ y), moves.shape[1]
        )
