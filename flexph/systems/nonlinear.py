"""Nonlinear port-Hamiltonian descriptor systems ([dg] definition 2) and their gradient pairs ([dg] definition 7)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array, dense
from ..numerics.differences import CENTRAL
from ..numerics.factors.signature import check_semi_definite
from ..numerics.memo import PickledByCall, read_only
from .derivatives import Derivatives
from .discrete_gradients import Invariants
from .ports import NamedPorts, PortMatrices

NEAR = 1e-2
"""Distance from the sample at which a discrete gradient pair is checked, relative to the sizes of the states."""
GRADIENT_TOLERANCE = 1e-6
"""Relative error of a gradient or discrete gradient, compared with central differences, up to which it is accepted.
Differences are accurate to about 4e-11 times the curvature; the tolerance leaves four digits for steep Hamiltonians."""


class ValidityWarning(UserWarning):
    """Warning of a result outside the range of validity of a model."""


class GradientPair(NamedTuple):
    """Pair (E, z) with ``E(x)ᵀz(x) = ∇H(x)``."""

    E: Callable[[Array], Any]
    z: Callable[[Array], Array]
    H: Callable[[Array], float]

    def defect(self, x: Array, floor: Array) -> float:
        """Relative defect of the pair at x, see :meth:`flexph.PHDAE.gradient_defect`.

        ∇H is computed by central differences, with steps relative to the sizes of the states. A size is the magnitude
        of the state, but at least its entry of ``floor`` (n,) if the state has hardly any part of the energy.
        """
        analytic = self.E(x).T @ self.z(x)
        size = np.maximum(np.abs(x), floor)
        # states with energy are moved on their energy scale, as units differ between entries
        size = np.where(np.abs(x * analytic) > 1e-3 * abs(self.H(x)), np.abs(x), size)
        step = CENTRAL * np.where(size > 0.0, size, 1.0)
        numeric = np.empty(x.size)
        for i in range(x.size):
            up, down = x.copy(), x.copy()
            up[i], down[i] = x[i] + step[i], x[i] - step[i]
            numeric[i] = (self.H(up) - self.H(down)) / (up[i] - down[i])
        # and entries are compared by energy for the same reason
        scale = np.abs(step * numeric).max(initial=0.0) + np.abs(step * analytic).max(initial=0.0)
        noise = np.finfo(float).eps * abs(self.H(x))
        defect = float(np.abs(step * (analytic - numeric)).max(initial=0.0))
        if defect > GRADIENT_TOLERANCE * scale:
            aside = x + NEAR * size
            scale = max(scale, float(np.abs(step * (self.E(aside).T @ self.z(aside))).max()))
        return defect / max(scale, noise, 1e-300)

    def check_means(self, means: Mapping[str, Callable[[Array, Array], Any]], x0: Array, x1: Array) -> None:
        """Raise ValueError unless the ``means`` of E and z over the step from x₀ to x₁ form a discrete gradient pair.

        A mean is a function of (x₀, x₁); if that of E is left out, it is E at the midpoint.
        """
        middle = 0.5 * (x0 + x1)
        moved = (means["E"](x0, x1) if "E" in means else self.E(middle)) @ (x1 - x0)
        z = check.array("the mean of z", means["z"](x0, x1), x0.shape)
        change, work = self.H(x1) - self.H(x0), float(z @ moved)
        scale = float(np.abs(z) @ np.abs(moved)) + 1e-6 * abs(self.H(x0))
        if abs(work - change) > GRADIENT_TOLERANCE * scale:
            raise ValueError(
                "the means of E and z must be a discrete gradient pair of H: z̄ᵀĒ(x₁ − x₀) is "
                f"{work:.6g} near the sample, H(x₁) − H(x₀) is {change:.6g}"
            )


class Terms(ABC):
    """Base class of the numerical data of a :class:`flexph.PHDAE`, with which precompiled loops compute its steps."""

    @property
    @abstractmethod
    def derivatives(self) -> Derivatives:
        """Derivatives of the functions of the system; they are not checked against differences."""

    @abstractmethod
    def check(self, system: Any, x: Array) -> None:
        """Raise ValueError, naming the function, unless the functions of the system agree with the terms at a state."""


MatrixFunction = Callable[[Array], Any]
FEEDTHROUGH = ("P", "S", "N")
"""Names of the feed-through matrices."""
MEANS = ("E", "J", "R", "B", "z", *FEEDTHROUGH)
"""Names of the functions of a PHDAE for which ``means`` can give the value over a step."""
ROUND_OFF = np.finfo(float).eps


class Constant:
    """Matrix function that does not depend on the state."""

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix

    def __call__(self, x: Array) -> Any:
        """Matrix, the same for all states."""
        return self.matrix


@checked
@dataclass(frozen=True, eq=False, kw_only=True)
class PHDAE(NamedPorts, PickledByCall):
    """Nonlinear pH descriptor system ``E(x) ẋ = (J − R) z(x) + B u, y = Bᵀz, E(x)ᵀz(x) = ∇H(x)`` ([dg] eq. (5)-(6)).

    E, J, R and B are functions of the state x (n,), or constant matrices. Then dH/dt = yᵀu − zᵀR z. With feed-through
    ([dg] remark 2)

        E ẋ = (J − R) z + (B − P) u,  y = (B + P)ᵀz + (S − N) u,  Z = [[R, P], [Pᵀ, S]] ⪰ 0

    and dH/dt = yᵀu − (z, u)ᵀ Z (z, u); :func:`flexph.interconnection.without_feedthrough` replaces it by algebraic
    states.

    Parameters
    ----------
    E : callable or array
        (n, n).
    J : callable or array
        (n, n), skew-symmetric.
    R : callable or array
        (n, n), symmetric positive semi-definite; zero by default.
    B : callable or array
        (n, m); no inputs by default.
    P : callable or array
        (n, m); zero by default, as S and N.
    S : callable or array
        (m, m), symmetric.
    N : callable or array
        (m, m), skew-symmetric.
    z : callable
        Costates (n,) as a function of x.
    H : callable
        Energy [J] as a function of x.
    sample : array
        State (n,) at which the conditions are checked: shapes, finite values, J = −Jᵀ, R = Rᵀ ⪰ 0, and Eᵀz = ∇H by
        central differences.
    ports : mapping
        Slices of the columns of B by name.
    parts : mapping
        Slices of the states by name.
    means : mapping
        Consistent discretisations of E, J, R, B, P, S, N over a step, functions of (x₀, x₁) by name ([dg] definition
        8), to replace the value in the middle: e.g. a discrete Jacobian of constraints in J satisfies them exactly. A
        mean of z must form a discrete gradient pair with that of E, z̄ᵀĒ (x₁ − x₀) = ΔH ([dg] definition 7, checked
        near the sample), which ``DiscreteGradient("pair")`` uses; other methods form z̄ themselves.
        :func:`flexph.discretisation.with_pair` turns such a method into means.
    invariants : Invariants, optional
        H as a function of quadratic invariants.
    derivatives : Derivatives, optional
        Derivatives of the functions, checked at the sample; iterations then need no differences.
    mean_slope : callable, optional
        ∂((J̄ − R̄) z̄ + (B̄ − P̄) u)/∂x₁ (n, n) of the ``means``, as a function of (x₀, x₁, u). It is not checked;
        replace it together with the means.
    terms : Terms, optional
        Numerical data of the terms, with which ``DiscreteGradient`` and ``Gauss(2)`` use precompiled loops.
        ``rigid.particle_system`` makes them; they are compared with the functions near the sample. Leave them out if
        you replace a function.
    cautions : tuple of callable
        Functions of x that return a text where the coordinates or the model approach their limits, else None. Runs
        evaluate them and warn (:class:`flexph.ValidityWarning`) the first time each returns a text.
    start_defects : tuple of callable
        Functions of a start x and the first step h [s] of a run that return a text if a condition is violated that the
        equations do not contain, such as positions behind constraints on velocities, else None. Runs raise ValueError
        with the text.

    Examples
    --------
    A pendulum of 1 m and 1 kg, with its angle and rate as the state, conserves its energy:

    >>> import numpy as np
    >>> from flexph import PHDAE, integrate
    >>> def energy(x):
    ...     return 0.5 * x[1] ** 2 - 9.81 * np.cos(x[0])
    >>> def costate(x):
    ...     return np.array([9.81 * np.sin(x[0]), x[1]])
    >>> J = np.array([[0.0, 1.0], [-1.0, 0.0]])
    >>> pendulum = PHDAE(E=np.eye(2), J=J, z=costate, H=energy, sample=np.ones(2))
    >>> run = integrate(pendulum, [1.0, 0.0], np.linspace(0.0, 1.0, 101))
    >>> bool(abs(energy(run.states[-1]) - energy(run.states[0])) < 1e-12)
    True
    """

    E: MatrixFunction | Any
    J: MatrixFunction | Any
    R: MatrixFunction | Any = None
    B: MatrixFunction | Any = None
    P: MatrixFunction | Any = None
    S: MatrixFunction | Any = None
    N: MatrixFunction | Any = None
    z: Callable[[Array], Array]
    H: Callable[[Array], float]
    sample: Array
    ports: Mapping[str, slice] = field(default_factory=dict)
    parts: Mapping[str, slice] = field(default_factory=dict)
    means: Mapping[str, Callable[[Array, Array], Any]] = field(default_factory=dict)
    invariants: Invariants | None = None
    derivatives: Derivatives | None = None
    mean_slope: Callable[[Array, Array, Array], Array] | None = None
    terms: Terms | None = None
    cautions: tuple[Callable[[Array], str | None], ...] = ()
    start_defects: tuple[Callable[[Array, float], str | None], ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "sample", check.array("sample", self.sample, (None,)))
        n = len(self.sample)
        for name, shape in (("E", (n, n)), ("J", (n, n)), ("R", (n, n)), ("B", None)):
            self._set_matrix(name, shape or (n, self._columns_of_b()))
        if self.has_feedthrough:
            m = self.inputs_size
            for name, shape in (("P", (n, m)), ("S", (m, m)), ("N", (m, m))):
                self._set_matrix(name, shape)
        for name in self.means:
            check.choice("a mean", name, MEANS)
        object.__setattr__(self, "means", read_only(self.means))
        object.__setattr__(self, "ports", read_only(self.ports))
        check.spans("parts", self.parts, "states")
        object.__setattr__(self, "parts", read_only(self.parts))
        object.__setattr__(self, "cautions", tuple(self.cautions))
        object.__setattr__(self, "start_defects", tuple(self.start_defects))
        self.check(self.sample)
        if self.terms is not None:
            self.terms.check(self, self.sample)
        if self.derivatives is not None and (self.terms is None or self.derivatives is not self.terms.derivatives):
            self.derivatives.check(self, self.sample)
        if "z" in self.means:
            aside = NEAR * np.maximum(np.abs(self.sample), self.floor(self.sample))
            self.gradient_pair.check_means(self.means, self.sample, self.sample + aside)

    def _columns_of_b(self) -> int:
        if self.B is None:
            return 0
        return 0 if callable(self.B) else check.two_dimensional("B", self.B)[1]

    def _set_matrix(self, name: str, shape: tuple[int, int]) -> None:
        """Replace a matrix by a function: zero if left out, :class:`Constant` if given as a matrix."""
        given = getattr(self, name)
        if given is None:
            object.__setattr__(self, name, Constant(np.zeros(shape)))
        elif not callable(given):
            object.__setattr__(self, name, Constant(check.matrix(name, given, shape)))

    @property
    def size(self) -> int:
        """Number n of states."""
        return len(self.sample)

    @property
    def gradient_pair(self) -> GradientPair:
        """Pair (E, z) of the system, with E(x)ᵀz(x) = ∇H(x)."""
        return GradientPair(self.E, self.z, self.H)

    @property
    def exact_derivatives(self) -> Derivatives | None:
        """Derivatives that are exact to round-off; None if none are given, or if given ones are finite differences."""
        return None if self.derivatives is None or self.derivatives.accuracy else self.derivatives

    @property
    def has_feedthrough(self) -> bool:
        """True if P, S or N was given."""
        return any(getattr(self, name) is not None for name in FEEDTHROUGH)

    @property
    def inputs_size(self) -> int:
        """Number m of inputs."""
        return int(self.B(self.sample).shape[1])

    @checked
    def check(self, x: Array) -> None:
        """Raise ValueError, naming the defect, unless the conditions of a pHDAE hold at the state x."""
        n, x = self.size, check.array("x", x, (self.size,))
        matrices = {}
        for name, function in (("E", self.E), ("J", self.J), ("R", self.R)):
            matrices[name] = function(x)
            check.matrix(name, matrices[name], (n, n))
        check.skew("J", matrices["J"])
        check.symmetric("R", matrices["R"])
        check_semi_definite("R", matrices["R"])
        B = self.B(x)
        inputs = check.two_dimensional("B", B)[1]
        check.matrix("B", B, (n, inputs))
        self._check_feedthrough(x, inputs)
        check.covering(self.ports, inputs)
        check.array("z", self.z(x), (n,))
        check.number("H", self.H(x))
        defect = self.gradient_defect(x)
        if defect > GRADIENT_TOLERANCE:
            raise ValueError(f"(E, z) must be a gradient pair of H: ‖Eᵀz − ∇H‖/‖∇H‖ = {defect:.0e}")

    def _check_feedthrough(self, x: Array, inputs: int) -> None:
        if not self.has_feedthrough:
            return
        R, P, S, N = (dense(getattr(self, name)(x)) for name in ("R", *FEEDTHROUGH))
        for name, matrix, rows in (("P", P, self.size), ("S", S, inputs), ("N", N, inputs)):
            check.matrix(name, matrix, (rows, inputs))
        check.symmetric("S", S)
        check.skew("N", N)
        check_semi_definite("[[R, P], [Pᵀ, S]]", np.block([[R, P], [P.T, S]]))

    def check_start(self, x: Array, step: float) -> None:
        """Raise ValueError unless a run can start at the state x with a step [s]."""
        self.check(x)
        for defect in self.start_defects:
            what = defect(x, step)
            if what is not None:
                raise ValueError(f"inconsistent start: {what}")

    def floor(self, x: Array) -> Array:
        """Size below which each state counts as small: 1e-3 of the largest state of its part.

        If the part is zero, it is 1e-3 of the largest of all states.

        A part also counts as zero if it is round-off of the other states, or of an earlier part that contains it.
        """
        largest = float(np.abs(x).max(initial=0.0))
        least, around = np.full(x.size, 1e-3 * largest), np.zeros(x.size)
        rest = ROUND_OFF * largest
        for part in self.parts.values():
            size = float(np.abs(x[part]).max(initial=0.0))
            if size > max(rest, check.ROUND_OFF * float(around[part].max(initial=0.0))):
                least[part], around[part] = 1e-3 * size, size
        return least

    def gradient_defect(self, x: Array) -> float:
        """Defect ‖E(x)ᵀz(x) − ∇H(x)‖ with ∇H by central differences, relative to the larger of both terms.

        In an equilibrium both are round-off; the defect is then relative to the gradient at a distance of 1 %.

        Parameters
        ----------
        x : array
            State (n,).

        Returns
        -------
        float
            Relative defect.
        """
        return self.gradient_pair.defect(x, self.floor(x))

    @checked
    def inputs(self, x: Array, port: str) -> Any:
        """Columns of B(x) of a port.

        Parameters
        ----------
        x : array
            State (n,).
        port : str
            Name of a port.

        Returns
        -------
        array or sparse matrix
            Columns (n, m_port).
        """
        return self.B(x)[:, check.lookup("port", port, self.ports)]

    def port_matrices(self, x: Array) -> PortMatrices:
        """Matrix B and, with feed-through, P, S, N at a state."""
        names = ("B", *FEEDTHROUGH) if self.has_feedthrough else ("B",)
        return PortMatrices(*(getattr(self, name)(x) for name in names))

    @checked
    def output(self, x: Array, u: Array) -> Array:
        """Outputs ``y = (B + P)ᵀz + (S − N) u``.

        Parameters
        ----------
        x : array
            State (n,).
        u : array
            Inputs (m,).

        Returns
        -------
        array
            (m,).
        """
        x, u = check.array("x", x, (self.size,)), check.array("u", u, (self.inputs_size,))
        return self.port_matrices(x).output(self.z(x), u)

    @checked
    def power_balance(self, x: Array, u: Array) -> tuple[float, float]:
        """Power dH/dt = zᵀ(E ẋ) from the right-hand side, and yᵀu − (z, u)ᵀZ(z, u) [W]; equal for a pHDAE.

        Parameters
        ----------
        x : array
            State (n,).
        u : array
            Inputs (m,).

        Returns
        -------
        tuple[float, float]
            Both sides [W].
        """
        x, u = check.array("x", x, (self.size,)), check.array("u", u, (self.inputs_size,))
        z, ports = self.z(x), self.port_matrices(x)
        rate = (self.J(x) - self.R(x)) @ z + ports.flow(u)
        return float(z @ rate), float(ports.output(z, u) @ u) - ports.dissipated(self.R(x), z, u)
