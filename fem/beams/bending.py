"""Bending of one straight beam as a linear port-Hamiltonian block ([flex] sec. 4.3 without its rigid motion)."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from scipy import sparse

from flexph.linear.eigenmodes.modes import modes
from flexph.numerics import checks as check
from flexph.numerics.arguments import checked
from flexph.numerics.factors.low_rank import inverse_by_blocks
from flexph.numerics.gauss_tableau import gauss_points
from flexph.systems.linear import LinearPHDAE

from ..materials.damping import Damping
from ..materials.materials import Material, Section
from .elements import Field

Causality = Literal["force", "velocity"]
UNDAMPED = Damping()
ENDS = ("root", "tip")
LARGEST_LOAD = 4
"""Degree of a distributed load up to which 4 Gauss points are exact: 7 with cubic velocities."""


@checked
def bending(
    length: float,
    material: Material,
    section: Section,
    *,
    elements: int,
    causality: Causality = "force",
    clamped: Collection[str] = (),
    damping: Damping = UNDAMPED,
    load: int | None = None,
) -> LinearPHDAE:
    """Small transverse motions w(x, t) of an Euler-Bernoulli beam along x, with ``elements`` equal elements:

        ρA v̇ = −M'' + p,  Ṁ/EI = v'',  v = ẇ [m/s], M the bending moment [N m], p the load per length [N/m].

    Ports ``root`` and ``tip``, width 2: the pair of velocity v and rotation rate v' of the section, and of external
    force [N] and moment [N m], (M', −M) at the root and (−M', M) at the tip. ``causality`` selects which of these are
    inputs:

    - ``force``: forces in, velocities out; a free beam. Hermite velocities φ and discontinuous P1 moments ψ,
      ``E = diag(∫ρA φφᵀ, ∫ψψᵀ/EI)``, ``D = ∫ψφ''ᵀ`` of ``J = [[0, −Dᵀ], [D, 0]]``;
    - ``velocity``: velocities in, forces out; a beam that is driven at both ends. The dual pair: discontinuous P1
      velocities ψ, Hermite moments φ, ``D = ∫φ''ψᵀ``; v(0), v(L) enter with Ṁ/EI = v'' tested with φ.

    Neither form has spurious frequencies. States: part ``velocity``, then part ``moment``; Hermite fields node by node
    as (value, element length · slope), P1 fields element by element as the values at its ends. All matrices are sparse.

    Parameters
    ----------
    length : float
        Length [m].
    material : Material
        E and ρ.
    section : Section
        A and I_z.
    elements : int
        Number of equal elements.
    causality : str, optional
        Input at the ends, ``force`` or ``velocity``.
    clamped : collection of str, optional
        Fixed ends, which have no port.
    damping : Damping, optional
        Damping of all velocities, including rigid motion: αM + βDᵀC⁻¹D, and ratios of the lowest modes.
    load : int, optional
        Adds a port ``load``: p is a polynomial of this degree d ≤ 4 on each element, given element by element by its
        values at d + 1 Gauss points (d = 0: p is constant on each element).

    Returns
    -------
    LinearPHDAE
        With the parts ``velocity`` and ``moment`` and a port for each end that moves.

    Raises
    ------
    ValueError
        If a length or a count is not positive, an end or a causality is unknown, the degree is not from 0 to 4, or a
        beam driven by velocities has stiffness damping or ratios: the velocities of its ends would have to enter the
        damping force as well.

    Examples
    --------
    >>> import fem
    >>> from flexph import eigenfrequencies
    >>> steel, section = fem.Material(young=210e9, density=7850.0), fem.Section(width=0.02, height=0.01)
    >>> cantilever = fem.bending(1.0, steel, section, elements=8, clamped=["root"])
    >>> list(cantilever.ports)
    ['tip']
    >>> round(float(eigenfrequencies(cantilever)[0]), 2)  # rad/s: 1.8751² √(EI/ρAL⁴)
    52.5
    """
    step = check.positive("length", length, "m") / check.count("elements", elements)
    check.choice("causality", causality, get_args(Causality))
    held = _ends(clamped)
    if causality == "velocity" and (damping.stiffness or any(damping.ratios)):
        raise ValueError("a beam with causality 'velocity' takes mass damping only; use causality 'force'")
    mesh = _mesh(elements, step, causality, held)
    inertia, rigidity = material.density * section.area, material.young * section.second_moment
    M, C, D = inertia * mesh.mass, mesh.compliance / rigidity, mesh.strain
    columns = {end: mesh.end(end) for end in ENDS if end not in held}
    if load is not None:
        columns["load"] = mesh.load(_degree(load))
    widths = np.cumsum([0, *(b.shape[1] for b in columns.values())])
    system = LinearPHDAE(
        E=sparse.block_diag([M, C]).tocsr(),
        J=sparse.csr_array(sparse.block_array([[None, -D.T], [D, None]])),
        B=sparse.csr_array(sparse.hstack(list(columns.values()))) if columns else None,
        ports={name: slice(int(widths[i]), int(widths[i + 1])) for i, name in enumerate(columns)},
        causality={end: causality for end in columns if end in ENDS},
        parts={"velocity": slice(0, M.shape[0]), "moment": slice(M.shape[0], M.shape[0] + C.shape[0])},
        kinetic=np.arange(M.shape[0] + C.shape[0]) < M.shape[0],
    )
    return _damped(system, M, C, D, damping=damping)


def _ends(clamped: Collection[str]) -> set[str]:
    if isinstance(clamped, str):
        raise ValueError(f"clamped must be names of ends, such as ('root',), got the text {clamped!r}")
    return {check.choice("an end in clamped", end, ENDS) for end in clamped}


def _degree(load: int) -> int:
    if check.count("load", load, 0) > LARGEST_LOAD:
        raise ValueError(f"load must be a degree from 0 to {LARGEST_LOAD}, got {load}")
    return load


class _Mesh(NamedTuple):
    """Finite-element matrices of a beam in bending, for ρA = 1 and EI = 1.

    ``velocity`` and ``moment`` are the fields of the pair, ``step`` is the element length [m]. The matrix ``kept`` (n,
    free) gives the n coordinates of the velocity field from those that are not clamped.
    """

    causality: Causality
    step: float
    velocity: Field
    moment: Field
    kept: Any

    @property
    def mass(self) -> Any:
        return self.kept.T @ self._product(self.velocity, self.velocity) @ self.kept

    @property
    def compliance(self) -> Any:
        return self._product(self.moment, self.moment)

    @property
    def strain(self) -> Any:
        """Matrix D (moments, free velocities) of the power mᵀDv = ∫M v'' dx of the bending moment M.

        m are the coordinates of M, v those of the velocity. With the causality ``velocity`` the derivatives are on the
        moment instead: ∫M'' v dx.
        """
        if self.causality == "force":
            return self._product(self.moment, self.velocity, curved=True) @ self.kept
        return sparse.csr_array(self._product(self.velocity, self.moment, curved=True).T)

    def end(self, name: str) -> Any:
        """Columns (states, 2) of the input matrix B for the port at the end ``name``, root or tip.

        The two inputs are force and moment with the causality ``force``, velocity and rotation rate with ``velocity``.
        """
        hermite = self.velocity if self.causality == "force" else self.moment
        local, row = (np.array([0.0]), 0) if name == "root" else (np.array([1.0]), hermite.elements - 1)
        value, slope = (hermite.rows(local, self.step, k)[[row]].T for k in (0, 1))
        if self.causality == "force":
            above, below = self.kept.T @ sparse.hstack([value, slope]), (self.moment.size, 2)
            return sparse.vstack([above, sparse.csr_array(below)])
        sign = 1.0 if name == "tip" else -1.0  # [φ v' − φ' v] from 0 to L
        return sparse.vstack([sparse.csr_array((self.velocity.size, 2)), sign * sparse.hstack([-slope, value])])

    def load(self, degree: int) -> Any:
        """Columns (states, elements · (d + 1)) of the input matrix B for a distributed load: ∫φp dx.

        φ are the shape functions of the velocity. p are the Lagrange polynomials of degree d, ``degree``, on each
        element: each is 1 at one of the d + 1 Gauss points of the element and 0 at the others.
        """
        nodes, (points, weight) = gauss_points(degree + 1)[0], gauss_points(4)
        basis = np.linalg.solve(np.vander(nodes).T, np.vander(points, degree + 1).T)  # (d + 1, points)
        spread = sparse.kron(sparse.eye_array(self.velocity.elements), (basis * weight).T)
        above = self.kept.T @ (self.step * self.velocity.rows(points, self.step).T @ spread)
        return sparse.vstack([above, sparse.csr_array((self.moment.size, above.shape[1]))])

    def _product(self, left: Field, right: Field, *, curved: bool = False) -> Any:
        """Matrix ∫ f gᵀ dx of the shape functions f of the field ``left`` and g of the field ``right``.

        If ``curved``, g'' takes the place of g. The rule of 4 Gauss points for each element is exact.
        """
        points, weight = gauss_points(4)
        w = sparse.diags_array(self.step * np.tile(weight, left.elements))
        product = left.rows(points, self.step).T @ w @ right.rows(points, self.step, 2 if curved else 0)
        return sparse.csr_array(product)


def _mesh(elements: int, step: float, causality: Causality, held: set[str]) -> _Mesh:
    hermite, local = Field("Hermite", elements), Field("P1", elements, continuous=False)
    if causality == "velocity":  # an end without a port has the input zero
        return _Mesh(causality, step, local, hermite, sparse.eye_array(local.size, format="csr"))
    fixed = [i for end in held for i in ((0, 1) if end == "root" else (hermite.size - 2, hermite.size - 1))]
    kept = np.setdiff1d(np.arange(hermite.size), fixed)
    return _Mesh(causality, step, hermite, local, sparse.eye_array(hermite.size, format="csr")[:, kept])


def _damped(system: LinearPHDAE, M: Any, C: Any, D: Any, *, damping: Damping) -> LinearPHDAE:
    """Copy of the system of a beam with the dissipation matrix R = diag(αM + βDᵀC⁻¹D + Σ 2ζω (Mφ)(Mφ)ᵀ, 0).

    M, C and D are mass, compliance and strain matrix; α, β and the ratios ζ of the lowest modes φ with frequencies ω
    [rad/s] are those of ``damping``. Raises ValueError for more ratios than modes.
    """
    if damping == UNDAMPED:
        return system
    loss = damping.mass * M
    if damping.stiffness:
        loss = loss + damping.stiffness * (D.T @ inverse_by_blocks(C) @ D)
    if any(damping.ratios):
        lowest = modes(system, len(damping.ratios))
        if len(lowest.frequencies) < len(damping.ratios):
            raise ValueError(f"damping has {len(damping.ratios)} ratios, the beam {len(lowest.frequencies)} modes")
        weight = np.sqrt(2.0 * np.array(damping.ratios) * lowest.frequencies)
        root = sparse.csr_array(M @ lowest.shapes[: M.shape[0]].real * weight)
        loss = loss + root @ root.T
    return replace(system, R=sparse.block_diag([0.5 * (loss + loss.T), sparse.csr_array(C.shape)]).tocsr())
