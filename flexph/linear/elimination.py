"""Elimination of constraints by congruent projection on a null-space basis ([flex] eq. (47)), and their multipliers."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse
from scipy.linalg import qr
from scipy.sparse.linalg import norm

from ..numerics import checks as check
from ..numerics.arguments import checked, computing, warn
from ..numerics.arrays import Array
from ..numerics.connected import connected_blocks
from ..numerics.factors.ldl import semi_definite_product
from ..numerics.factors.singular_systems import solve_regular
from ..numerics.factors.sparse_null_space import sparse_null_space
from ..systems.linear import LinearPHDAE, linear_system, unknowns


class ReductionWarning(UserWarning):
    """Warning of a reduced system or body with a large error."""


def project(system: LinearPHDAE, basis: Any, *, kinetic: Array | None = None) -> LinearPHDAE:
    """System in the states x̂ with x = P x̂, by congruent projection.

    ``Ê = PᵀEP, Ĵ = PᵀJP, R̂ = PᵀRP, B̂ = PᵀB, Ĝ = G P``. P is ``basis`` (n, r), of full column rank, sparse or dense.
    The kind of system, H and y are kept; Ĝ is dropped if it is round-off ([flex] eq. (47)). Entries of E and R that are
    round-off of their terms become zero (:func:`flexph.numerics.factors.ldl.semi_definite_product`), so that stiffness
    damping leaves rigid motions undamped. The result is sparse if the system and P are. ``kinetic`` (r,) marks the new
    states that are velocities; None if they do not split.
    """
    lean = system.is_sparse and sparse.issparse(basis)
    p = sparse.csr_array(basis) if lean else (basis.toarray() if sparse.issparse(basis) else np.asarray(basis))
    e, r = (semi_definite_product(name, a, p) for name, a in (("E", system.E), ("R", system.R)))
    j = p.T @ (system.J @ p)
    left = system.G @ p
    kept = check.norm(left) > check.ROUND_OFF * max(system.G.shape) * check.norm(system.G) * _largest_column(p)
    return LinearPHDAE(
        E=e,
        J=0.5 * (j - j.T),
        R=r,
        B=p.T @ system.B if lean or not system.is_sparse else (system.B.T @ p).T,
        G=left if kept else None,
        ports=system.ports,
        causality=system.causality,
        parts=system.parts,
        constraints=system.constraints if kept else (),
        kinetic=kinetic,
        lift=p if system.lift is None else system.lift @ p,
    )


def _largest_column(p: Any) -> float:
    squares = p.multiply(p) if sparse.issparse(p) else p * p
    return float(np.sqrt(np.max(squares.sum(axis=0), initial=0.0)))


LARGEST_DENSE = 16
"""Number of constraints in a connected group up to which its null space is computed by dense QR."""
LISTED = 4
"""Largest number of constraints that a message lists in full as the cause of a redundant one."""


class RedundantConstraintWarning(UserWarning):
    """Warning of dependent constraints; the motion is unaffected, their multipliers are not unique."""


@computing(unknowns)
def eliminate(system: LinearPHDAE) -> LinearPHDAE:
    """Eliminate the constraints of a system: x = P x̂ with range P = null G ([flex] sec. 5.3).

    ``Ê = PᵀEP, Ĵ = PᵀJP, R̂ = PᵀRP, B̂ = PᵀB``. States without constraints stay unchanged. P is orthonormal on each
    connected group of up to 16 constraints (QR with column pivoting). On larger groups it is sparse
    (``sparse_null_space``): some states of the group are kept and determine the others. Matrices then stay as sparse as
    the constraints are local, and the columns of P are neither orthogonal nor of unit length.

    Parameters
    ----------
    system : LinearPHDAE
        System with constraints 0 = G x.

    Returns
    -------
    LinearPHDAE
        System of the same kind (dense or sparse) without constraints. Its :meth:`~LinearPHDAE.expand` gives the named
        parts of the original states. A system without constraints is returned unchanged.

    Raises
    ------
    ArithmeticError
        If ‖G P‖ exceeds 1e-12 ‖G‖ times the largest column of P.

    Warns
    -----
    RedundantConstraintWarning
        If G does not have full rank; the message names the constraints.

    Examples
    --------
    Two masses with one velocity are one mass:

    >>> import numpy as np
    >>> from flexph import LinearPHDAE, eliminate
    >>> masses = LinearPHDAE(E=np.diag([1.0, 3.0]), J=np.zeros((2, 2)), G=np.array([[1.0, -1.0]]))
    >>> together = eliminate(masses)
    >>> together.size
    1
    >>> together.expand(np.array([1.0])).round(3)  # both velocities, of unit length
    array([0.707, 0.707])
    """
    if not linear_system(system).G.shape[0]:
        return system
    basis, redundant = null_space(system.G, system.constraints)
    for names in redundant:
        warn(
            f"{explain_redundant(names)}; the motion is unaffected, the multipliers are not unique",
            RedundantConstraintWarning,
        )
    defect = check.norm(system.G @ basis) / max(check.norm(system.G), np.finfo(float).tiny)
    if defect > check.ROUND_OFF * norm(basis, axis=0).max(initial=1.0):
        raise ArithmeticError(f"elimination failed: ‖G P‖/‖G‖ = {defect:.0e}")
    return project(system, basis, kinetic=_kinetic(system, basis))


def independent(system: LinearPHDAE) -> LinearPHDAE:
    """System without the constraints that follow from others, so that multipliers are unique; the motion is the same.

    Warns with :class:`RedundantConstraintWarning`, which names them.
    """
    if not system.G.shape[0]:
        return system
    dependent = [list(weights) for weights in null_space_and_redundancy(system.G)[1]]
    if not dependent:
        return system
    for involved in dependent:
        named = explain_redundant([system.constraints[i] for i in involved])
        warn(f"{named}; the motion is unaffected", RedundantConstraintWarning)
    kept = np.setdiff1d(np.arange(system.G.shape[0]), [involved[0] for involved in dependent])
    return replace(system, G=system.G[kept], constraints=tuple(system.constraints[i] for i in kept))


def _kinetic(system: LinearPHDAE, basis: sparse.csr_array) -> Array | None:
    """True for each new state that is a velocity, (r,); None if constraints mix velocities with stresses.

    ``basis`` P maps the new states to those of the system.
    """
    if system.kinetic is None:
        return None
    moving = np.asarray(abs(basis).T @ system.kinetic.astype(float))
    resting = np.asarray(abs(basis).T @ (~system.kinetic).astype(float))
    return None if np.any((moving > 0.0) & (resting > 0.0)) else moving > 0.0


def explain_redundant(names: list[str]) -> str:
    """Text that names a redundant constraint and the constraints from which it follows."""
    first, *others = names
    listed = ", ".join(map(repr, others[:LISTED])) or "nothing (an empty row)"
    more = f" and {len(others) - LISTED} more" if len(others) > LISTED else ""
    return f"redundant constraint: {first!r} follows from {listed}{more}"


def null_space(g: Any, names: tuple[str, ...]) -> tuple[sparse.csr_array, list[list[str]]]:
    """Basis of the null space of g, sparse (n, n − rank), and for each redundant row its name and those that imply it.

    ``names`` are those of the rows. The basis is the identity on states without constraints. States are grouped by the
    constraints that link them; each group is treated by dense QR, or by sparse elimination if it is large.
    """
    basis, dependent = null_space_and_redundancy(g)
    return basis, [[names[i] for i in weights] for weights in dependent]


def null_space_and_redundancy(g: Any) -> tuple[sparse.csr_array, list[dict[int, float]]]:
    """Basis of the null space of g as in :func:`null_space`, and a vanishing sum of rows for each redundant row.

    The sum is given by the weights of its rows, by index of the row; the first one is 1, for the redundant row itself.
    """
    g = sparse.csr_array(g)
    g.eliminate_zeros()
    n = g.shape[1]
    free = np.setdiff1d(np.arange(n), np.unique(g.indices))
    count, rows, columns, values = free.size, [free], [np.arange(free.size)], [np.ones(free.size)]
    redundant: list[dict[int, float]] = []
    entries = sparse.coo_array(g)
    whole = g.toarray() if g.shape[0] * n <= check.SMALL else None
    for block_rows, columns_of in connected_blocks(entries.row, entries.col, g.shape):
        if block_rows.size > LARGEST_DENSE:
            block, dependent = sparse_null_space(g[block_rows][:, columns_of])
        else:
            part = g[block_rows][:, columns_of].toarray() if whole is None else whole[np.ix_(block_rows, columns_of)]
            block, dependent = _dense_null_space(part)
        redundant += [{int(block_rows[i]): weight for i, weight in weights.items()} for weights in dependent]
        row, column, value = sparse.find(block) if sparse.issparse(block) else _entries(block)
        rows.append(columns_of[row])
        columns.append(count + column)
        values.append(value)
        count += block.shape[1]
    entries_of_basis = np.concatenate(rows), np.concatenate(columns), np.concatenate(values)
    return _near_diagonal(entries_of_basis, (n, count)), redundant


def _entries(block: Array) -> tuple[Array, Array, Array]:
    row, column = np.nonzero(block)
    return row, column, block[row, column]


def _near_diagonal(entries: tuple[Array, Array, Array], shape: tuple[int, int]) -> sparse.csr_array:
    """Sparse matrix with its columns reordered, so that the largest entry of each is near the diagonal.

    ``entries`` are rows, columns and values of the nonzero entries before the reordering.
    """
    row, column, value = entries
    order = np.lexsort((row, -np.abs(value), column))
    largest = row[order][np.searchsorted(column[order], np.arange(shape[1]))]
    place = np.argsort(np.argsort(largest, kind="stable"))
    return sparse.csr_array((value, (row, place[column])), shape=shape)


def _dense_null_space(g: Array) -> tuple[Array, list[dict[int, float]]]:
    """Orthonormal basis of the null space of a dense block, and a vanishing sum of rows for each redundant row.

    The sum is given by the weights of its rows, by index of the row; the redundant row comes first with weight 1.
    """
    if not g.shape[1]:
        return np.zeros((0, 0)), [{k: 1.0} for k in range(g.shape[0])]
    size = np.linalg.norm(g, axis=1)
    size = np.where(size > 0.0, size, 1.0)
    q, r, pivot = qr((g / size[:, None]).T, pivoting=True)
    diagonal = np.abs(np.diag(r))
    rank = int(np.sum(diagonal > max(g.shape) * np.finfo(float).eps * 10.0 * max(diagonal[0], 1e-300)))
    dependent = []
    for k in range(rank, len(pivot)):
        weight = np.linalg.solve(r[:rank, :rank], r[:rank, k]) if rank else np.zeros(0)
        others = {
            int(pivot[i]): -weight[i] * size[pivot[k]] / size[pivot[i]] for i in np.flatnonzero(abs(weight) > 1e-8)
        }
        dependent.append({int(pivot[k]): 1.0} | others)
    return q[:, rank:], dependent


@checked
def recover_multipliers(system: LinearPHDAE, x: Any, u: Any = None) -> Array:
    """Multipliers λ of ``E ẋ = (J − R) x + B u + Gᵀλ, 0 = G ẋ``, by ``(G E⁻¹Gᵀ) λ = −G E⁻¹((J − R) x + B u)``.

    The system ``[[E, −Gᵀ, 0], [G, 0, N], [0, Nᵀ, 0]]`` is solved, sparse and without an inverse of E; redundant
    constraints get multipliers of least norm, Nᵀλ = 0 with range N = null Gᵀ. With the implicit midpoint rule the
    multipliers of a step belong to ½(x₀ + x₁) and the u of that step.

    Parameters
    ----------
    system : LinearPHDAE
        System with its constraints.
    x : array_like
        States (n,) with G x = 0, or several (n, k). For a solution x̂ of the eliminated system they are
        ``eliminate(system).expand(x̂)``, if the system itself was not projected before.
    u : array_like, optional
        Inputs (m,) or (m, k); zero by default.

    Returns
    -------
    array
        λ (g,) or (g, k).

    Raises
    ------
    ValueError
        If shapes do not match, x violates the constraints by more than 1e-6, or E is singular on motions that the
        constraints admit, so that x and u do not determine the multipliers.
    """
    n, m, g = system.size, system.B.shape[1], system.G.shape[0]
    x = check.numbers("x", x)
    columns = x.shape[1:]
    x = check.array("x", x, (n, *columns[:1])).reshape(n, *columns or (1,))
    given = np.zeros((m, *columns)) if u is None else u
    u = check.array("u", given, (m, *columns)).reshape(m, x.shape[1])
    left = np.linalg.norm(system.G @ x)
    if left > 1e-6 * check.norm(system.G) * np.linalg.norm(x):
        raise ValueError(
            f"x must satisfy the constraints: ‖G x‖ = {left:.1e}; give states of the system with constraints"
        )
    E, G, N = sparse.csr_array(system.E), sparse.csr_array(system.G), _left_null_space(system.G)
    matrix = sparse.block_array([[E, -G.T, None], [G, None, N], [None, N.T, None]]).tocsr()
    force = (system.J @ x) - (system.R @ x) + (system.B @ u)
    solution = solve_regular(matrix, np.vstack([force, np.zeros((g + N.shape[1], force.shape[1]))]))
    if solution is None:
        raise ValueError("multipliers need E positive definite on the motions that the constraints admit")
    return solution[n : n + g].reshape(g, *columns)


def _left_null_space(g: Any) -> sparse.csr_array:
    """Basis N, sparse (g, g − rank), of the combinations of rows that vanish, Nᵀ G = 0.

    It has one column for each redundant row.
    """
    dependent = null_space_and_redundancy(g)[1]
    rows = [i for weights in dependent for i in weights]
    columns = [k for k, weights in enumerate(dependent) for _ in weights]
    values = [value for weights in dependent for value in weights.values()]
    return sparse.coo_array((values, (rows, columns)), shape=(g.shape[0], len(dependent))).tocsr()
