"""Linear systems without constraints: state spaces in energy coordinates, and ẋ = (J − R) Q x + B u."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from scipy.linalg import cholesky, null_space, solve_triangular

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array, dense
from ..numerics.factors.ldl import semi_definite_product
from ..numerics.factors.signature import check_semi_definite
from ..numerics.memo import read_only
from ..systems.linear import LinearPHDAE
from .elimination import eliminate

PRESCRIBED = 1e-11
"""Input in an equation that holds differential states at zero, relative to its terms, that is more than round-off."""
SINGULAR = 1e-13
"""Eigenvalue of E, scaled to a unit diagonal, below which a state has no energy: round-off of a few hundred terms."""


class Improper(ValueError):
    """Error for a transfer function that grows with the frequency: an input prescribes a state that carries energy."""


class StateSpace(NamedTuple):
    """State space ``ξ̇ = A ξ + B u, y = C ξ + D u`` with H = ½ ξᵀξ: A (n, n), B (n, m), C (m, n), D (m, m), dense.

    It satisfies ``[[A + Aᵀ, B − Cᵀ], [Bᵀ − C, −(D + Dᵀ)]] ⪯ 0``; if E is regular, D = 0, C = Bᵀ and A = J − R.
    """

    A: Array
    B: Array
    C: Array
    D: Array

    def between(self, columns: list[int], rows: list[int]) -> StateSpace:
        """State space with the same states, and only the inputs ``columns`` and the outputs ``rows``."""
        return StateSpace(self.A, self.B[:, columns], self.C[rows], self.D[np.ix_(rows, columns)])


def state_space(system: LinearPHDAE) -> StateSpace:
    """State space of a system without constraints and algebraic states, in coordinates with E = 1.

    The coordinates follow from the Cholesky factor of E. States of a singular E are eliminated by their algebraic
    equations, 0 = A₂₁x₁ + A₂₂x₂ + B₂u, which results in D ≠ 0 and C ≠ Bᵀ. If A₂₂ is singular, some are multipliers that
    hold a combination of the others at zero. Raises :class:`Improper`, a ValueError, if the input prescribes that
    combination, and ArithmeticError if the energy balance of the result fails.
    """
    free = eliminate(system)
    e, a, b = dense(free.E), dense(free.J) - dense(free.R), dense(free.B)
    scale = 1.0 / np.sqrt(np.where(e.diagonal() > 0.0, e.diagonal(), 1.0))
    e, a, b = scale[:, None] * e * scale, scale[:, None] * a * scale, scale[:, None] * b
    try:
        lower = np.linalg.cholesky(e)
    except np.linalg.LinAlgError:
        lower = np.zeros_like(e)
    if np.all(lower.diagonal() ** 2 > SINGULAR):
        half = solve_triangular(lower, a, lower=True)
        b = solve_triangular(lower, b, lower=True)
        return StateSpace(solve_triangular(lower, half.T, lower=True).T, b, b.T.copy(), np.zeros((b.shape[1],) * 2))
    return audited(_without_algebraic_states(e, a, b))


def _without_algebraic_states(e: Array, a: Array, b: Array) -> StateSpace:
    values, vectors = np.linalg.eigh(e)
    top = float(values.max(initial=0.0))
    stores = values > (SINGULAR * top if top > 0.0 else np.inf)
    first, second = vectors[:, stores] / np.sqrt(values[stores]), vectors[:, ~stores]
    second = second * _row_scale(second.T @ a @ second, second.T @ a @ first)
    a21, a12, a22 = second.T @ a @ first, first.T @ a @ second, second.T @ a @ second
    a11, b1, b2 = first.T @ a @ first, first.T @ b, second.T @ b
    open_ = null_space(a22, rcond=SINGULAR)  # J₂₂ − R₂₂ has the same kernel from both sides
    if open_.shape[1]:
        terms = np.abs(open_.T) @ np.abs(second.T) @ np.abs(b)
        if np.any(np.abs(open_.T @ b2) > PRESCRIBED * terms):
            raise Improper(
                "an input prescribes a velocity of something with inertia (or a stress rate): the transfer function "
                "grows with the frequency and has no state space; exchange input and output of that port"
            )
        free = null_space(open_.T @ a21, rcond=SINGULAR)
        kept = null_space(open_.T)
        a11, a12, a21, b1 = free.T @ a11 @ free, free.T @ a12 @ kept, kept.T @ a21 @ free, free.T @ b1
        a22, b2 = kept.T @ a22 @ kept, kept.T @ b2
    inner = np.linalg.solve(a22, np.hstack([a21, b2]))
    of_state, of_input = inner[:, : a21.shape[1]], inner[:, a21.shape[1] :]
    return StateSpace(a11 - a12 @ of_state, b1 - a12 @ of_input, b1.T - b2.T @ of_state, -b2.T @ of_input)


def _row_scale(a22: Array, a21: Array) -> Array:
    """Factors by which algebraic equations are scaled to one size, from A₂₂ where it is not zero, else from A₂₁."""
    diagonal, other = np.abs(a22).max(axis=1, initial=0.0), np.abs(a21).max(axis=1, initial=0.0)
    noise = float(np.finfo(float).eps * diagonal.max(initial=1e-300))
    return 1.0 / np.where(diagonal > noise, np.sqrt(np.maximum(diagonal, 1e-300)), np.where(other > 0.0, other, 1.0))


def audited(model: StateSpace) -> StateSpace:
    """Check that a state space creates no energy, and return it; raises ArithmeticError otherwise."""
    a, b, c, d = model
    balance = np.block([[a + a.T, b - c.T], [b.T - c, -d - d.T]])
    size = np.abs(np.block([[a, b], [c, d]]))  # for lossless rows the balance itself is round-off
    scale = np.sqrt(np.maximum((size + size.T).max(axis=1, initial=0.0), 1e-300))
    top = float(np.linalg.eigvalsh(balance / scale[:, None] / scale)[-1]) if balance.size else 0.0
    bottom = np.linalg.norm(np.block([[a, b], [c, d]]) / scale[:, None] / scale) if balance.size else 0.0
    if top > 1e-9 * max(bottom, 1.0):
        raise ArithmeticError(f"algebraic states were not eliminated: the result creates energy ({top:.0e})")
    return model


Coordinates = Literal["energy", "scaled"]
LARGEST = 5000
"""Largest number of states: Q is dense."""


@dataclass(frozen=True, eq=False, kw_only=True)
class StandardForm:
    """Standard form ``ẋ = (J − R) Q x + B u, y = BᵀQ x``, H = ½ xᵀQ x ([survey]; [flex] eq. (47) with p = M v).

    Enforced conditions are J = −Jᵀ, R = Rᵀ ⪰ 0, Q = Qᵀ ⪰ 0, shapes, and finite entries. Then dH/dt = yᵀu − zᵀR z with
    z = Q x. Matrices are dense; x (n,), u (m,).

    Parameters
    ----------
    J : array
        Structure matrix (n, n), skew-symmetric.
    R : array
        Dissipation matrix (n, n), symmetric.
    Q : array
        Hessian of the energy, (n, n), symmetric.
    B : array
        Input matrix (n, m).
    lift : array
        Matrix from x to the states that ``parts`` names.
    ports : mapping
        As in :class:`LinearPHDAE`.
    causality : mapping
        As in :class:`LinearPHDAE`.
    parts : mapping
        Slices of the states by name.
    """

    J: Array
    R: Array
    Q: Array
    B: Array
    lift: Array
    ports: Mapping[str, slice] = field(default_factory=dict)
    causality: Mapping[str, Literal["force", "velocity"]] = field(default_factory=dict)
    parts: Mapping[str, slice] = field(default_factory=dict)

    def __post_init__(self) -> None:
        n, m = check.two_dimensional("B", self.B)
        rows = check.two_dimensional("lift", self.lift)[0]
        shapes = {"J": (n, n), "R": (n, n), "Q": (n, n), "B": (n, m), "lift": (rows, n)}
        for name, shape in shapes.items():
            object.__setattr__(self, name, check.array(name, getattr(self, name), shape))
        check.skew("J", self.J)
        for name in ("R", "Q"):
            check.symmetric(name, getattr(self, name))
            check_semi_definite(name, getattr(self, name))
        check.covering(self.ports, m)
        for name in ("ports", "causality", "parts"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def size(self) -> int:
        """Number n of states x."""
        return len(self.J)

    @property
    def A(self) -> Array:
        """Matrix (J − R) Q, (n, n)."""
        return (self.J - self.R) @ self.Q

    @property
    def C(self) -> Array:
        """Matrix BᵀQ, (m, n): y = C x."""
        return self.B.T @ self.Q

    def energy(self, x: Array) -> float:
        """Energy H = ½ xᵀQ x [J] of a state x (n,)."""
        return 0.5 * float(x @ (self.Q @ x))

    def expand(self, x: Array) -> Array:
        """States of the system from which the standard form was made, from states x (n,) or (n, k) of the form."""
        return self.lift @ x

    def part(self, name: str, x: Array) -> Array:
        """Entries of one named part of the original states, from states x of the standard form."""
        return self.expand(x)[check.lookup("part", name, self.parts)]


@checked
def standard_form(system: LinearPHDAE, *, coordinates: Coordinates = "energy") -> StandardForm:
    """Standard form ``ẋ = (J − R) Q x + B u, y = BᵀQ x`` of a system; constraints are eliminated first.

    With the states z of the eliminated system, E ż = (J − R) z + B u:

    - ``energy``: x = E z (momenta and strains), Q = E⁻¹, and J, R, B as they are;
    - ``scaled``: x = Lᵀz with E = L Lᵀ, Q = 1, and L⁻¹J L⁻ᵀ, L⁻¹R L⁻ᵀ, L⁻¹B.

    Parameters
    ----------
    system : LinearPHDAE
        System, dense or sparse.
    coordinates : {"energy", "scaled"}
        States of the form.

    Returns
    -------
    StandardForm
        Standard form with dense matrices and the names of ports and parts.

    Raises
    ------
    ValueError
        If E is singular, or there are more than 5000 states (the matrices are dense): reduce such a system first.

    Examples
    --------
    >>> import numpy as np
    >>> from flexph import LinearPHDAE
    >>> from flexph.linear import standard_form
    >>> oscillator = LinearPHDAE(E=np.diag([2.0, 0.125]), J=np.array([[0.0, -1.0], [1.0, 0.0]]))
    >>> standard_form(oscillator).Q.diagonal()  # 1/mass and stiffness
    array([0.5, 8. ])
    """
    check.choice("coordinates", coordinates, get_args(Coordinates))
    free = eliminate(system)
    if free.size > LARGEST:
        raise ValueError(f"standard_form has dense matrices of up to {LARGEST} states, got {free.size}: reduce first")
    E, J, R, B = (dense(a) for a in (free.E, free.J, free.R, free.B))
    lift = np.eye(free.size) if free.lift is None else dense(free.lift)
    unit = 1.0 / np.sqrt(np.where(np.diag(E) > 0.0, np.diag(E), 1.0))  # one scale for metres and for pascals
    try:
        lower = cholesky(unit[:, None] * E * unit, lower=True) / unit[:, None]
    except np.linalg.LinAlgError:
        raise ValueError("standard_form needs a positive definite E: some states carry no energy") from None
    half = lambda a: solve_triangular(lower, a, lower=True)  # noqa: E731 - L⁻¹ a
    names: dict[str, Any] = {"ports": free.ports, "causality": free.causality, "parts": free.parts}
    if coordinates == "energy":
        root = half(np.eye(free.size))
        Q = root.T @ root
        return StandardForm(J=J, R=R, Q=Q, B=B, lift=lift @ Q, **names)
    skew, frame = half(half(J).T).T, half(np.eye(free.size)).T
    return StandardForm(
        J=0.5 * (skew - skew.T),
        R=semi_definite_product("R", R, frame),
        Q=np.eye(free.size),
        B=half(B),
        lift=half(lift.T).T,
        **names,
    )
