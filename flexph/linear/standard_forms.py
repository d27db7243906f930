"""Standard form ẋ = (J − R) Q x + B u of linear port-Hamiltonian systems."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

import numpy as np
from scipy.linalg import cholesky, solve_triangular

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array, dense
from ..numerics.factors.definiteness import check_semi_definite
from ..numerics.factors.ldl import semi_definite_product
from ..numerics.memo import read_only
from ..systems.linear import LinearPHDAE
from .elimination import eliminate

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
        (n, n).
    R : array
        (n, n).
    Q : array
        (n, n).
    B : array
        (n, m).
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
        """Number n of states."""
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
        """Energy H = ½ xᵀQ x [J]."""
        return 0.5 * float(x @ (self.Q @ x))

    def expand(self, x: Array) -> Array:
        """States that ``parts`` names, from x (n,) or (n, k)."""
        return self.lift @ x

    def part(self, name: str, x: Array) -> Array:
        """Named part of a state."""
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
