"""Static responses and lowest modes of a distributed solid, by a MUMPS factor or by multigrid.

Arrays (own, …) have a row for each of the coordinates that the rank owns.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from petsc4py import PETSc
from slepc4py import SLEPc

from flexph.numerics.arrays import Array

from .lobpcg import lobpcg
from .multigrid import multigrid
from .ranks import total
from .system import System

Solver = Literal["factor", "multigrid"]
CROSSOVER = 1_000_000
"""Number of coordinates above which multigrid needs less memory and time than a factor on few ranks."""
SPARE = 6
"""Number of modes computed in addition to the requested ones."""
EXACT, SETTLED, FREE_OF_FACTOR, LOOSE = 1e-12, 1e-10, 1e-9, 1e-4
"""Tolerances: residual of a static response relative to its load, residual of 1/ω² by a factor, error in energy of a
mode by multigrid, and tolerance of the search for missed modes."""
TRIES, STEPS, SEARCHED = 5, 5000, 300
"""Largest numbers of searches for missed modes, of steps of linear and Krylov-Schur solvers, and of LOBPCG steps."""


@dataclass(frozen=True, eq=False)
class CholeskySolver:
    """Cholesky factor of K by MUMPS, for static responses and for the Krylov-Schur method on (M, K)."""

    system: System
    ksp: Any

    def pairs(self, count: int, known: Array, tolerance: float | None = None) -> tuple[Array, Array]:
        """Lowest ω² (count,) of K x = ω² M x in ascending order, and their vectors (own, count).

        The Krylov-Schur method finds them as the largest θ = 1/ω² of M x = θ K x, among vectors that are
        K-orthogonal to the vectors ``known`` (own, m).
        """
        eps = _problem(self.system, _mass_operator(self.system), self.system.stiffness, known)
        eps.setType(SLEPc.EPS.Type.KRYLOVSCHUR)
        eps.setWhichEigenpairs(SLEPc.EPS.Which.LARGEST_REAL)
        eps.setDimensions(count)
        eps.setTolerances(tolerance or SETTLED, STEPS)
        _precondition(eps.getST(), self.ksp.solve)
        values, vectors = _solved(eps, self.system, count)
        return 1.0 / values, vectors


@dataclass(frozen=True, eq=False)
class Multigrid:
    """Multigrid preconditioner of K, for conjugate gradients and LOBPCG."""

    system: System
    ksp: Any

    def pairs(self, count: int, known: Array, tolerance: float = FREE_OF_FACTOR) -> tuple[Array, Array]:
        """Lowest ω² (count,) of K x = ω² M x in ascending order, and their vectors (own, count).

        LOBPCG finds them, K-orthogonal to the vectors ``known`` (own, m).
        """
        width = max(count, min(count + SPARE, self.system.stiffness.getSize()[0] // 4))
        start = _random(self.system, width, known)
        return lobpcg(
            self.system, self._corrections, start, known=known, wanted=count, tolerance=tolerance, steps=SEARCHED
        )

    def _corrections(self, residuals: Array) -> Array:
        right, left = self.system.stiffness.createVecs()
        result = np.empty_like(residuals)
        for k, residual in enumerate(residuals.T):
            left.array[:] = residual
            self.ksp.getPC().apply(left, right)
            result[:, k] = right.array
        return result


def prepared(system: System, solver: Solver) -> CholeskySolver | Multigrid:
    """Set up a solver for K: a factor or a multigrid hierarchy. Raises ArithmeticError if the set-up fails."""
    ksp = PETSc.KSP().create(PETSc.COMM_WORLD)
    ksp.setOperators(system.stiffness)
    ksp.setTolerances(rtol=EXACT, max_it=STEPS)
    factored = solver == "factor"
    ksp.setType(PETSc.KSP.Type.PREONLY if factored else PETSc.KSP.Type.CG)
    pc = ksp.getPC()
    try:
        if factored:
            pc.setType(PETSc.PC.Type.CHOLESKY)
            pc.setFactorSolverType(PETSc.Mat.SolverType.MUMPS)
        else:
            multigrid(system, pc)
        ksp.setFromOptions()
        ksp.setUp()
    except PETSc.Error as error:
        raise ArithmeticError(f"setting up the solver {solver!r} of the stiffness failed: {error}") from error
    return (CholeskySolver if factored else Multigrid)(system, ksp)


def responses(search: CholeskySolver | Multigrid, loads: Array) -> Array:
    """Compute static responses (own, k) to loads (own, k); loads on a free body are balanced by its inertia."""
    return _solutions(search.ksp, search.system.balanced(loads))


def _solutions(ksp: Any, loads: Array) -> Array:
    """Solutions K⁻¹F for loads (own, k)."""
    right, left = ksp.getOperators()[0].createVecs()
    answer = np.empty_like(loads)
    for k, load in enumerate(loads.T):
        left.array[:] = load
        ksp.solve(left, right)
        if ksp.getConvergedReason() < 0:
            raise ArithmeticError(
                f"a static response did not converge in {ksp.getIterationNumber()} steps (reason "
                f"{ksp.getConvergedReason()}): use --solver factor"
            )
        answer[:, k] = right.array
    return answer


def lowest_modes(search: CholeskySolver | Multigrid, count: int) -> Array:
    """Compute vectors (own, count) of the lowest modes; repeat the search until none below the last one is missing."""
    system = search.system
    if not count:
        return np.zeros((len(system.held), 0))
    squares, vectors = search.pairs(count, np.zeros((len(system.held), 0)))
    for _ in range(TRIES):
        if search.pairs(1, vectors, LOOSE)[0][0] >= squares[-1] * (1.0 - LOOSE):
            return vectors
        more, further = search.pairs(1, vectors)
        order = np.argsort(np.concatenate([squares, more]))[:count]
        squares = np.concatenate([squares, more])[order]
        vectors = np.hstack([vectors, further])[:, order]
    raise ArithmeticError(f"the {count} lowest modes were not separated from others; request another number of modes")


def _problem(system: System, a: Any, b: Any, known: Array) -> Any:
    """SLEPc eigenproblem A x = λ B x for x that are B-orthogonal to ``known`` (own, m), with a random start."""
    eps = SLEPc.EPS().create(PETSc.COMM_WORLD)
    eps.setOperators(a, b)
    eps.setProblemType(SLEPc.EPS.ProblemType.GHEP)
    if known.shape[1]:
        eps.setDeflationSpace([_vector(system, values) for values in known.T])
    eps.setInitialSpace([_vector(system, _random(system, 1, known)[:, 0])])
    return eps


def _random(system: System, count: int, known: Array) -> Array:
    """Random vectors (own, count), zero at held coordinates and equal in every job with the same number of ranks.

    The seed is the rank and the number of the vectors ``known`` (own, m).
    """
    start = np.random.default_rng([system.comm.rank, known.shape[1]]).standard_normal((len(system.held), count))
    start[system.held] = 0.0
    return start


def _precondition(transform: Any, apply: Callable[[Any, Any], None]) -> None:
    """Let a PETSc spectral transformation solve by the function ``apply`` (right side, solution).

    A solver passed to the transformation would be set up again with the matrices of the transformation, which would
    compute a second factor.
    """
    inner = transform.getKSP()
    inner.setType(PETSc.KSP.Type.PREONLY)
    inner.getPC().setType(PETSc.PC.Type.PYTHON)
    inner.getPC().setPythonContext(_Applied(apply))


class _Applied:
    """Python context of a PETSc preconditioner that calls a function of (right side, solution)."""

    def __init__(self, apply: Callable[[Any, Any], None]) -> None:
        self._apply = apply

    def apply(self, _: Any, right: Any, solution: Any) -> None:
        """Write the solution for the right side ``right`` into ``solution``, as the function gives it."""
        self._apply(right, solution)


def _solved(eps: Any, system: System, count: int) -> tuple[Array, Array]:
    eps.setFromOptions()
    try:
        eps.solve()
    except PETSc.Error as error:
        raise ArithmeticError(f"the search for {count} modes failed, use another --solver: {error}") from error
    if eps.getConverged() < count:
        raise ArithmeticError(
            f"{eps.getConverged()} of {count} modes converged in {eps.getIterationNumber()} steps: ask for another "
            "number of them, or use --solver factor"
        )
    vector = system.stiffness.createVecRight()
    values, vectors = np.empty(count), np.empty((len(system.held), count))
    for k in range(count):
        values[k] = eps.getEigenpair(k, vector).real
        vectors[:, k] = vector.array
    eps.destroy()  # otherwise it would keep the factor
    return values, vectors


def _vector(system: System, values: Array) -> Any:
    vector = system.stiffness.createVecRight()
    vector.array[:] = values
    return vector


def _mass_operator(system: System) -> Any:
    """PETSc operator of the mass M of a system; about mean axes that of M − WWᵀ, which projects rigid motions out."""
    if not system.momenta.shape[1]:
        return system.mass
    operator = PETSc.Mat().createPython(system.mass.getSizes(), context=_MeanAxes(system), comm=PETSc.COMM_WORLD)
    operator.setUp()
    return operator


class _MeanAxes:
    """Python context of a PETSc matrix for the mass M − WWᵀ of motion relative to mean axes.

    W are the momenta of the rigid motions.
    """

    def __init__(self, system: System) -> None:
        self._system = system

    def mult(self, _: Any, x: Any, y: Any) -> None:
        """Compute y = (M − WWᵀ)x, W the momenta of the rigid motions, and write it into the PETSc vector ``y``."""
        system = self._system
        system.mass.mult(x, y)
        y.array[:] -= system.momenta @ total(system.comm, system.momenta.T @ x.array_r)

    def getDiagonal(self, _: Any, diagonal: Any) -> None:
        """Write the diagonal of M − WWᵀ into ``diagonal``, for preconditioners that need it."""
        system = self._system
        system.mass.getDiagonal(diagonal)
        diagonal.array[:] -= np.einsum("nr,nr->n", system.momenta, system.momenta)
