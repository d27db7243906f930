"""Multipliers of eliminated constraints, computed from the motion."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.factors.singular_systems import solve_regular
from ..systems.linear import LinearPHDAE
from .elimination import analysed


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
    """N (g, g − rank) with Nᵀ G = 0, one column for each redundant row."""
    dependent = analysed(g)[1]
    rows = [i for weights in dependent for i in weights]
    columns = [k for k, weights in enumerate(dependent) for _ in weights]
    values = [value for weights in dependent for value in weights.values()]
    return sparse.coo_array((values, (rows, columns)), shape=(g.shape[0], len(dependent))).tocsr()
