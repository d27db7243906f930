"""Nonlinear port-Hamiltonian descriptor systems ([dg] definition 2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array, dense
from ..numerics.factors.definiteness import check_semi_definite
from ..numerics.memo import Remade, read_only
from .derivatives import Derivatives
from .discrete_gradients import Invariants
from .gradient_pair import GRADIENT_TOLERANCE, NEAR, GradientPair
from .named_ports import NamedPorts
from .port_matrices import PortMatrices
from .terms import Terms

MatrixFunction = Callable[[Array], Any]
FEEDTHROUGH = ("P", "S", "N")
"""The matrices of feed-through."""
MEANS = ("E", "J", "R", "B", "z", *FEEDTHROUGH)
"""What may be discretised over a step by a function of its own."""
ROUND_OFF = np.finfo(float).eps


class Constant:
    """A matrix function that does not depend on the state."""

    def __init__(self, matrix: Any) -> None:
        self.matrix = matrix

    def __call__(self, x: Array) -> Any:
        """The matrix."""
        return self.matrix


@checked
@dataclass(frozen=True, eq=False, kw_only=True)
class PHDAE(NamedPorts, Remade):
    """``E(x) ẋ = (J(x) − R(x)) z(x) + B(x) u``, ``y = B(x)ᵀ z(x)``, H(x), ``E(x)ᵀ z(x) = ∇H(x)`` ([dg] eq. (5)-(6)).

    The matrices are functions of the state x (n,), or constant matrices. Then dH/dt = yᵀu − zᵀR z. With feed-through
    ([dg] remark 2)

        E ẋ = (J − R) z + (B − P) u,  y = (B + P)ᵀz + (S − N) u,  Z = [[R, P], [Pᵀ, S]] ⪰ 0

    dH/dt = yᵀu − (z, u)ᵀ Z (z, u); :func:`flexph.interconnection.without_feedthrough` takes it into algebraic states.

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
        Costates (n,) of x.
    H : callable
        Energy of x [J].
    sample : array
        A state (n,), at which the conditions are checked: shapes, finite, J = −Jᵀ, R = Rᵀ ⪰ 0, and Eᵀz = ∇H against
        central differences.
    ports : mapping
        Columns of B by name.
    parts : mapping
        States by name.
    means : mapping
        Consistent discretisations of E, J, R, B, P, S, N over a step, functions of (x₀, x₁) by name ([dg] definition
        8), where the value in the middle will not do: a discrete Jacobian of constraints in J keeps them. One of z
        makes with that of E a discrete gradient pair, z̄ᵀĒ (x₁ − x₀) = ΔH ([dg] definition 7, checked near the sample),
        which ``DiscreteGradient("pair")`` takes; the other methods make z̄ themselves.
        :func:`flexph.discretisation.with_pair` turns theirs into means.
    invariants : Invariants, optional
        H through quadratic ones.
    derivatives : Derivatives, optional
        Those of the functions, checked at the sample against differences; they spare the iterations theirs.
    mean_slope : callable, optional
        ``∂((J̄ − R̄) z̄ + (B̄ − P̄) u)/∂x₁`` (n, n) of (x₀, x₁, u), of the ``means``; nothing checks it, and what
        replaces them replaces it.
    terms : Terms, optional
        Terms of the system by numbers: steps of ``DiscreteGradient`` and ``Gauss(2)`` are then taken by loops
        that are compiled ahead of time. ``rigid.particle_system`` makes them; they are compared with the functions
        near the sample. Where a function replaces another one, leave them out.
    cautions : tuple of callable
        Functions of x that say where the coordinates or the model are near their limits, or None: runs ask them along
        the way and warn (:class:`flexph.ValidityWarning`) the first time that each speaks.
    start_defects : tuple of callable
        Functions of a start x and of the first step h [s] of a run that say what it does not meet of what the equations
        do not contain, such as positions behind constraints on velocities, or None: runs raise ValueError with what
        they say.

    Examples
    --------
    A pendulum of 1 m and 1 kg, its state the angle and its rate, keeps its energy:

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
        """A matrix as a function: zero where it was left out, :class:`Constant` where it was no function."""
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
        """(E, z) of H."""
        return GradientPair(self.E, self.z, self.H)

    @property
    def exact_derivatives(self) -> Derivatives | None:
        """The derivatives, where they are known to round-off: not those of which a part is differenced."""
        return None if self.derivatives is None or self.derivatives.accuracy else self.derivatives

    @property
    def has_feedthrough(self) -> bool:
        """Whether P, S or N was given."""
        return any(getattr(self, name) is not None for name in FEEDTHROUGH)

    @property
    def inputs_size(self) -> int:
        """Number m of inputs."""
        return int(self.B(self.sample).shape[1])

    @checked
    def check(self, x: Array) -> None:
        """Raise ValueError, naming the defect, unless the conditions of a pHDAE hold at the state x."""
        n, x = self.size, check.array("x", x, (self.size,))
        for name, function in (("E", self.E), ("J", self.J), ("R", self.R)):
            check.matrix(name, function(x), (n, n))
        check.skew("J", self.J(x))
        check.symmetric("R", self.R(x))
        check_semi_definite("R", self.R(x))
        inputs = check.two_dimensional("B", self.B(x))[1]
        check.matrix("B", self.B(x), (n, inputs))
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
        """What counts as small of each state: 1e-3 of its part, whose entries share a unit; of all where that rests.

        A part rests too that is round-off of all others, or of a part named before it that it belongs to: it says
        nothing about its own size.
        """
        largest = float(np.abs(x).max(initial=0.0))
        least, around = np.full(x.size, 1e-3 * largest), np.zeros(x.size)
        rest = ROUND_OFF * largest
        for part in self.parts.values():
            own = float(np.abs(x[part]).max(initial=0.0))
            if own > max(rest, check.ROUND_OFF * float(around[part].max(initial=0.0))):
                least[part], around[part] = 1e-3 * own, own
        return least

    def gradient_defect(self, x: Array) -> float:
        """‖E(x)ᵀz(x) − ∇H(x)‖ / ‖∇H(x)‖ with ∇H by central differences, relative to the larger of both.

        In an equilibrium both are round-off: there it is relative to the gradient at a distance of 1 %.

        Parameters
        ----------
        x : array
            State (n,).

        Returns
        -------
        float
            A relative defect.
        """
        return self.gradient_pair.defect(x, self.floor(x))

    @checked
    def inputs(self, x: Array, port: str) -> Any:
        """The columns of B(x) that belong to a port.

        Parameters
        ----------
        x : array
            State (n,).
        port : str
            Name of a port.

        Returns
        -------
        array or sparse matrix
            (n, m_port).
        """
        return self.B(x)[:, check.lookup("port", port, self.ports)]

    def port_matrices(self, x: Array) -> PortMatrices:
        """B and, with feed-through, P, S, N at a state."""
        names = ("B", *FEEDTHROUGH) if self.has_feedthrough else ("B",)
        return PortMatrices(*(getattr(self, name)(x) for name in names))

    @checked
    def output(self, x: Array, u: Array) -> Array:
        """``y = (B + P)ᵀz + (S − N) u`` (m,).

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
        """zᵀ(E ẋ) = dH/dt from the right-hand side, and yᵀu − (z, u)ᵀZ(z, u) [W]: equal for a pHDAE.

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
