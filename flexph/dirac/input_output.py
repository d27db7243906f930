"""Input-state-output systems with feedthrough ([survey] sec. 2.8)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import block_diag

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.factors.signature import check_semi_definite
from ..systems.nonlinear import PHDAE, Constant
from .resistance import LinearResistance, ModulatedResistance, Resistance
from .structure import DiracStructure
from .system import PortHamiltonian

MatrixFunction = Callable[[Array], Any]


@checked
@dataclass(frozen=True, eq=False, kw_only=True)
class InputStateOutput:
    """System ``ẋ = (J − R) ∇H + (g − P) u``, ``y = (g + P)ᵀ∇H + (M + S) u`` ([survey] eq. (2.43)).

    Matrices are constant, or functions of the state x (n,). With J = −Jᵀ, M = −Mᵀ and

        Z = [[R, P], [Pᵀ, S]] = Zᵀ ⪰ 0                                                            (2.44)

    dH/dt = yᵀu − (∇H, u)ᵀ Z (∇H, u). The conditions are checked at the sample.

    Parameters
    ----------
    J : callable or array
        (n, n).
    g : callable or array
        (n, m).
    H : callable
        Energy as a function of x [J].
    gradient : callable
        ∇H (n,) as a function of x.
    sample : array
        State (n,).
    R : callable or array
        (n, n); zero by default, like P, M and S.
    P : callable or array
        (n, m).
    M : callable or array
        (m, m).
    S : callable or array
        (m, m).

    Raises
    ------
    ValueError
        If a condition fails; the message has the defect.
    """

    J: MatrixFunction | Any
    g: MatrixFunction | Any
    H: Callable[[Array], float]
    gradient: Callable[[Array], Array]
    sample: Array
    R: MatrixFunction | Any = None
    P: MatrixFunction | Any = None
    M: MatrixFunction | Any = None
    S: MatrixFunction | Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "sample", check.array("sample", self.sample, (None,)))
        n = self.size
        m = check.two_dimensional("g", self.g(self.sample) if callable(self.g) else self.g)[1]
        shapes = {"J": (n, n), "R": (n, n), "g": (n, m), "P": (n, m), "M": (m, m), "S": (m, m)}
        for name, shape in shapes.items():
            given = getattr(self, name)
            if given is None:
                given = np.zeros(shape)
            if not callable(given):
                given = Constant(check.array(name, given, shape))
            check.array(name, given(self.sample), shape)
            object.__setattr__(self, name, given)
        self.check(self.sample)

    @property
    def size(self) -> int:
        """Number n of states."""
        return len(self.sample)

    @property
    def inputs_size(self) -> int:
        """Number m of inputs."""
        return int(self.g(self.sample).shape[1])

    def check(self, x: Array) -> None:
        """Raise ValueError with the defect unless J and M are skew and Z ⪰ 0 at a state."""
        check.skew("J", self.J(x))
        check.skew("M", self.M(x))
        for name in "RS":
            check.symmetric(name, getattr(self, name)(x))
        check_semi_definite("Z = [[R, P], [Pᵀ, S]]", self.Z(x))

    def Z(self, x: Array) -> Array:
        """Matrix [[R, P], [Pᵀ, S]] (n + m, n + m)."""
        P = self.P(x)
        return np.block([[self.R(x), P], [P.T, self.S(x)]])

    def rate(self, x: Array, u: Array) -> Array:
        """Rate ẋ."""
        return (self.J(x) - self.R(x)) @ self.gradient(x) + (self.g(x) - self.P(x)) @ u

    def output(self, x: Array, u: Array) -> Array:
        """Output y."""
        return (self.g(x) + self.P(x)).T @ self.gradient(x) + (self.M(x) + self.S(x)) @ u

    def phdae(self) -> PHDAE:
        """System as a :class:`flexph.PHDAE` of index 1, with additional algebraic states ν = u and y.

        ẋ = (J − R)∇H + (g − P)ν,   0 = −(g + P)ᵀ∇H − (M + S)ν + y,   0 = −ν + u
        """
        n, m = self.size, self.inputs_size
        one, extra = np.eye(m), np.zeros(2 * m)

        def J(x: Array) -> Array:
            g, zero = self.g(x[:n]), np.zeros
            return np.block(
                [
                    [self.J(x[:n]), g, zero((n, m))],
                    [-g.T, -self.M(x[:n]), one],
                    [zero((m, n)), -one, zero((m, m))],
                ]
            )

        def R(x: Array) -> Array:
            loss = np.zeros((n + 2 * m,) * 2)
            loss[: n + m, : n + m] = self.Z(x[:n])
            return loss

        sample = np.concatenate([self.sample, extra])
        constant = all(isinstance(getattr(self, name), Constant) for name in "JRgPMS")
        return PHDAE(
            E=np.diag(np.concatenate([np.ones(n), extra])),
            J=J(sample) if constant else J,
            R=R(sample) if constant else R,
            B=np.vstack([np.zeros((n + m, m)), one]),
            z=lambda x: np.concatenate([self.gradient(x[:n]), x[n:]]),
            H=lambda x: float(self.H(x[:n])),
            sample=sample,
            ports={"u": slice(0, m)},
            parts={"x": slice(0, n), "nu": slice(n, n + m), "y": slice(n + m, n + 2 * m)},
        )

    def port_hamiltonian(self) -> PortHamiltonian:
        """This system as a :class:`PortHamiltonian` with ports ``x``, ``resistive`` (f_R = −Z (∇H, u)) and ``u``."""
        n, m = self.size, self.inputs_size
        ports = {"x": slice(0, n), "resistive": slice(n, 2 * n + m), "u": slice(2 * n + m, 2 * (n + m))}

        def structure(x: Array) -> DiracStructure:
            x_, r, u = (ports[name] for name in ports)
            matrix = np.zeros((2 * (n + m),) * 2)
            matrix[x_, x_], matrix[x_, u], matrix[u, u] = -self.J(x), -self.g(x), self.M(x)
            matrix[u, x_] = self.g(x).T
            fed = np.zeros((2 * (n + m), n + m))  # effect of f_R on f_S and y
            fed[x_, :n], fed[u, n:] = -np.eye(n), -np.eye(m)
            matrix[:, r], matrix[r] = fed, -fed.T
            return DiracStructure.from_hybrid(matrix, np.arange(len(matrix)) >= n, ports)

        constant = all(isinstance(getattr(self, name), Constant) for name in "JgM")
        dissipates_equally = all(isinstance(getattr(self, name), Constant) for name in "RPS")
        return PortHamiltonian(
            structure=structure(self.sample) if constant else structure,
            H=self.H,
            gradient=self.gradient,
            sample=self.sample,
            storage=("x",),
            resistive={"resistive": self.Z(self.sample) if dissipates_equally else self.Z} if n + m else {},
        )


@checked
def input_state_output(system: PortHamiltonian) -> InputStateOutput:
    """Input-state-output form of a system with linear resistances f = −R(x) e ([survey] eq. (2.43)-(2.45)).

    A hybrid form gives f_S, e_R, y as functions of ∇H, f_R, u. With f_R eliminated, f_S and y are W (∇H, u); the
    symmetric part of W is Z, the skew one [[−J, −g], [gᵀ, M]].

    Parameters
    ----------
    system : PortHamiltonian
        System with linear resistances.

    Returns
    -------
    InputStateOutput
        J, R, g, P, M and S as functions of the state.

    Raises
    ------
    ValueError
        If the storage is constrained (eliminate the algebraic constraints before, or use
        :meth:`PortHamiltonian.constrained_form`), or Lagrangian, as its efforts are no function of the energy
        variables.
    """
    if system.lagrangian is not None:
        raise ValueError("an input-state-output form needs efforts ∇H(x): give H and gradient instead of lagrangian")
    relations: Mapping[str, Resistance] = system.resistive
    _check_linear(relations)
    n, k = system.size, sum(relation.size for relation in relations.values())
    names = [*relations, *system.external]

    def form(x: Array) -> Array:
        D = system.at(x).reordered([*system.storage, *names])
        try:
            J = D.hybrid(names)
        except ValueError as error:
            raise ValueError(f"the storage is constrained, or the chosen inputs are dependent: {error}") from None
        R = _resistance(relations, x)
        keep = np.r_[0:n, n + k : len(J)]
        r = np.arange(n, n + k)
        inner = np.linalg.solve(np.eye(k) + J[np.ix_(r, r)] @ R, J[np.ix_(r, keep)])
        return J[np.ix_(keep, keep)] - J[np.ix_(keep, r)] @ R @ inner

    def part(rows: slice, columns: slice, sign: float, *, skew: bool) -> MatrixFunction | Array:
        def block(x: Array) -> Array:
            W = form(x)
            whole = 0.5 * (W - W.T if skew else W + W.T)
            return sign * whole[rows, columns]

        return block(system.sample) if constant else block

    constant = system.is_constant and all(relation.is_constant for relation in relations.values())
    s, u = slice(0, n), slice(n, None)
    return InputStateOutput(
        J=part(s, s, -1.0, skew=True),
        g=part(s, u, -1.0, skew=True),
        M=part(u, u, 1.0, skew=True),
        R=part(s, s, 1.0, skew=False),
        P=part(s, u, 1.0, skew=False),
        S=part(u, u, 1.0, skew=False),
        H=system.H,
        gradient=system.gradient,
        sample=system.sample,
    )


def _check_linear(relations: Mapping[str, Resistance]) -> None:
    for name, relation in relations.items():
        if not isinstance(relation.base if isinstance(relation, ModulatedResistance) else relation, LinearResistance):
            raise ValueError(f"the relation of {name!r} must be linear")


def _resistance(relations: Mapping[str, Resistance], x: Array) -> Array:
    """Block-diagonal R of all linear relations at a state."""
    blocks = [relation.matrices(x, np.zeros(relation.size))[0] for relation in relations.values()]
    return np.asarray(block_diag(*blocks)) if blocks else np.zeros((0, 0))
