"""Eigenfrequencies and modes of linear port-Hamiltonian systems."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import cholesky, solve_triangular, svd, svdvals

from ...display.labelled import Labelled, Labels, Variable
from ...display.tables import html_table
from ...numerics import checks as check
from ...numerics.arguments import computing
from ...numerics.arrays import Array, dense
from ...numerics.ranks import rank_of
from ...systems.linear import LinearPHDAE, linear_system, unknowns
from ..elimination import eliminate
from .lowest_modes import lowest_modes
from .pencils import eigenvalues

DENSE_LIMIT = 600
"""Number of velocities up to which modes are computed densely; beyond, the lowest ones by shift-invert."""


@dataclass(frozen=True, eq=False, repr=False)
class Eigenmodes(Labelled):
    """Undamped free vibrations x(t) = Re(shape e^{iωt}).

    Shapes are normalised by energy: shapeᴴE shape = 2, of which one half is kinetic and one half elastic.

    Attributes
    ----------
    frequencies : array
        ω > 0 (k,), ascending [rad/s].
    shapes : array
        Complex (n, k) in the states that ``parts`` names: velocities are real and stresses imaginary, as they are a
        quarter of a period apart.
    rigid : int
        Number of zero modes that are velocities without stress rates.
    self_stress : int
        Number of zero modes that are stresses without force.
    """

    frequencies: Array
    shapes: Array
    rigid: int
    self_stress: int

    def __repr__(self) -> str:
        span = ", {:.4g} to {:.4g} rad/s".format(*self.frequencies[[0, -1]]) if len(self.frequencies) else ""
        return f"<Eigenmodes: {len(self.frequencies)} vibrations{span}; {self._zeros()}>"

    def _zeros(self) -> str:
        return f"{self.rigid} rigid motions, {self.self_stress} self-stresses"

    def _repr_html_(self) -> str:
        """HTML table of the frequencies for notebooks."""
        rows = [(k + 1, float(w), float(w / (2.0 * np.pi))) for k, w in enumerate(self.frequencies)]
        return html_table(("mode", "rad/s", "Hz"), rows, title=f"Vibrations, {self._zeros()}")

    def _labels(self) -> Labels:
        numbers = Variable(("mode",), np.arange(1, len(self.frequencies) + 1), "", "number of the vibration")
        variables = {
            "frequency": Variable(("mode",), self.frequencies, "rad/s", "natural frequency"),
            "shapes": Variable(("mode", "state"), self.shapes.T, "", "complex shape over the states, of energy 1"),
        }
        return Labels("mode", variables, {"mode": numbers}, {"rigid": self.rigid, "self_stress": self.self_stress})


@computing(unknowns)
def eigenfrequencies(system: LinearPHDAE, count: int | None = None) -> Array:
    """Lowest eigenfrequencies ω > 0 of ``iω E x = J x``.

    They are real by construction: from the singular values of L_C⁻¹ D L_M⁻ᵀ, or from the Hermitian pencil (iJ, E). Zero
    modes are left out; :func:`modes` counts them.

    Parameters
    ----------
    system : LinearPHDAE
        System without dissipation; constraints are eliminated.
    count : int, optional
        Number of frequencies; by default all.

    Returns
    -------
    Array
        Frequencies (count,) [rad/s], ascending.

    Raises
    ------
    ValueError
        If R ≠ 0; see :func:`poles`.

    Examples
    --------
    >>> import numpy as np
    >>> from flexph import LinearPHDAE, eigenfrequencies
    >>> oscillator = LinearPHDAE(E=np.diag([2.0, 0.125]), J=np.array([[0.0, -1.0], [1.0, 0.0]]))
    >>> eigenfrequencies(oscillator)  # √(8/2)
    array([2.])
    """
    return _solve(system, count, shapes=False).frequencies


@computing(unknowns)
def modes(system: LinearPHDAE, count: int | None = None) -> Eigenmodes:
    """Lowest free vibrations of a system without dissipation.

    Systems that split into velocities and stresses, E = diag(M, C), J = [[0, −Dᵀ], [D, 0]], are solved through D;
    systems with gyroscopic coupling through the Hermitian pencil (iJ, E). Zero modes are counted by the rank of D (or
    J); those of large solids are motions with strains at round-off. Up to 600 velocities, or if all modes are
    requested, matrices are dense. Larger systems are solved by shift-invert: Sylvester's law of inertia then certifies
    the number of rigid motions and that no mode is missed (:func:`flexph.linear.eigenmodes.lowest_modes.lowest_modes`).

    Parameters
    ----------
    system : LinearPHDAE
        System without dissipation; constraints are eliminated.
    count : int, optional
        Number of modes; by default all.

    Returns
    -------
    Eigenmodes
        Frequencies, complex shapes and the numbers of zero modes.

    Raises
    ------
    ValueError
        If R ≠ 0; see :func:`poles`.
    ArithmeticError
        If it cannot be certified that no mode is missed.

    Examples
    --------
    A free pair of masses 1 kg and 2 kg on a spring of 6 N/m:

    >>> import numpy as np
    >>> from flexph import LinearPHDAE, modes
    >>> J = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0], [-1.0, 1.0, 0.0]])
    >>> pair = LinearPHDAE(E=np.diag([1.0, 2.0, 1.0 / 6.0]), J=J, kinetic=np.array([True, True, False]))
    >>> vibrations = modes(pair)
    >>> vibrations.frequencies.round(9), vibrations.rigid
    (array([3.]), 1)
    """
    return _solve(system, count, shapes=True)


def _solve(system: LinearPHDAE, count: int | None, *, shapes: bool) -> Eigenmodes:
    if check.norm(linear_system(system).R) > 0.0:
        raise ValueError(
            "eigenfrequencies and modes need R = 0: this system dissipates; use poles(system) or damping_ratios(system)"
        )
    if count is not None:
        check.count("count", count)
    free = eliminate(system)
    blocks = _split(free)
    if blocks is None:
        spectrum = _gyroscopic(free, count)
    elif count is not None and free.is_sparse and blocks[0].shape[0] > DENSE_LIMIT:
        spectrum = _shift_invert(free, blocks, count)
    else:
        spectrum = _dense(free, blocks, count, shapes)
    return Eigenmodes(spectrum.frequencies, free.expand(spectrum.shapes), spectrum.rigid, spectrum.self_stress)


@computing(unknowns)
def poles(system: LinearPHDAE) -> Array:
    """All finite poles s of ``s E x = (J − R) x``.

    Parameters
    ----------
    system : LinearPHDAE
        System; constraints are eliminated, and matrices are dense.

    Returns
    -------
    Array
        Poles [1/s], complex, by ascending modulus; Re s ≤ 0 up to round-off.

    Examples
    --------
    >>> import numpy as np
    >>> from flexph import LinearPHDAE, poles
    >>> E, J = np.diag([1.0, 0.2]), np.array([[0.0, -1.0], [1.0, 0.0]])
    >>> damped = LinearPHDAE(E=E, J=J, R=np.diag([2.0, 0.0]))  # s² + 2 s + 5 = 0
    >>> np.sort_complex(poles(damped)).round(9)
    array([-1.-2.j, -1.+2.j])
    """
    free = eliminate(system)
    values = eigenvalues(dense(free.E), dense(free.J) - dense(free.R))
    return values[np.argsort(np.abs(values), kind="stable")]


def _root(what: str, e: Array) -> Array:
    """Lower Cholesky factor of E or of a part of it; raises ValueError, with the name ``what``, if it is singular."""
    try:
        return cholesky(e, lower=True)
    except np.linalg.LinAlgError:
        raise ValueError(f"modes need a positive definite E: {what} is singular") from None


def _split(system: LinearPHDAE) -> tuple[Any, Any, Any] | None:
    """Blocks M, C, D of a system with E = diag(M, C), J = [[0, −Dᵀ], [D, 0]]; None for a system of another form."""
    if system.kinetic is None:
        return None
    v, s = np.flatnonzero(system.kinetic), np.flatnonzero(~system.kinetic)
    e, j = system.E, system.J
    if check.norm(e[v][:, s]) or check.norm(j[v][:, v]) or check.norm(j[s][:, s]):
        return None
    return e[v][:, v], e[s][:, s], j[s][:, v]


def _dense(system: LinearPHDAE, blocks: tuple[Any, Any, Any], count: int | None, shapes: bool) -> Eigenmodes:
    m, c, d = (dense(b) for b in blocks)
    lm, lc = _root("its part of the velocities", m), _root("its part of the stresses", c)
    scaled = solve_triangular(lc, solve_triangular(lm, d.T, lower=True).T, lower=True)
    rank = rank_of(d)
    pick = np.arange(rank)[::-1][:count]  # singular values descend
    zeros = {"rigid": m.shape[0] - rank, "self_stress": c.shape[0] - rank}
    if not shapes:
        return Eigenmodes(svdvals(scaled)[pick], np.zeros((system.size, 0)), **zeros)
    left, values, right = svd(scaled, full_matrices=False)
    return Eigenmodes(
        values[pick],
        _shapes(
            system,
            solve_triangular(lm, right[pick].T, lower=True, trans=1),
            solve_triangular(lc, left[:, pick], lower=True, trans=1),
        ),
        **zeros,
    )


def _shapes(system: LinearPHDAE, velocity: Array, stress: Array) -> Array:
    """Complex shapes (n, k) of modes from real amplitudes of velocities and stresses.

    Stresses get the factor −i, as C σ̇ = D v puts them a quarter of a period behind.
    """
    assert system.kinetic is not None
    shapes = np.zeros((system.size, velocity.shape[1]), dtype=complex)
    shapes[system.kinetic] = velocity
    shapes[~system.kinetic] = -1j * stress
    return shapes


def _gyroscopic(system: LinearPHDAE, count: int | None) -> Eigenmodes:
    e, j = dense(system.E), dense(system.J)
    lower = _root("it", e)
    half = solve_triangular(lower, j, lower=True)
    skew = solve_triangular(lower, half.T, lower=True).T
    values, vectors = np.linalg.eigh(-0.5j * (skew - skew.T))
    rank = rank_of(j)
    pick = np.arange(system.size - rank // 2, system.size)[:count]  # eigenvalues ascend, ±ω
    shapes = solve_triangular(lower, vectors[:, pick], lower=True, trans=1) * np.sqrt(2.0)
    return Eigenmodes(values[pick], shapes, rigid=system.size - rank, self_stress=0)


def _shift_invert(system: LinearPHDAE, blocks: tuple[Any, Any, Any], count: int) -> Eigenmodes:
    """Lowest modes of DᵀC⁻¹D v = ω²M v by shift-invert; by dense algebra if nearly all modes are requested."""
    m, c, d = (sparse.csc_array(b) for b in blocks)
    lowest = lowest_modes(m, c, d, count)
    if lowest is None:
        return _dense(system, blocks, count, shapes=True)
    shapes = _shapes(system, lowest.velocity, lowest.stress)
    return Eigenmodes(lowest.frequencies, shapes, lowest.rigid, self_stress=c.shape[0] - m.shape[0] + lowest.rigid)
