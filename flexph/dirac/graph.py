"""Internal form of Dirac structures: the graph of a skew matrix over one variable of each pair (f_i, e_i).

f are flows and e efforts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..numerics import checks as check
from ..numerics.arrays import Array
from ..numerics.subspaces import RANK, rank_of, unit_rows

LARGEST = 1e2
"""Entry of J above which flows and efforts are exchanged. Smaller bounds are possible, but would change more of the
given equations. The basis of the structure then has a condition number of at most about n LARGEST."""
PREFERRED = 0.1
"""Pivot of a flow, relative to the pivot of an effort, from which the flow is preferred as the output."""
ILL = 1e-6
"""Asymmetry ‖J + Jᵀ‖/‖J‖ of a computed J above which equations that conserve power are too nearly dependent."""


@dataclass(frozen=True, eq=False)
class Graph:
    """Graph ``w = J v``, J = −Jᵀ exactly; each pair (w_i, v_i) is (f_i, e_i), or (e_i, f_i) for ``flow_inputs``.

    J is (n, n), flow_inputs (n,) are truth values ([survey] eq. (3.6)).
    """

    J: Array
    flow_inputs: Array

    def __post_init__(self) -> None:
        for a in (self.J, self.flow_inputs):
            a.setflags(write=False)

    def kernel(self) -> tuple[Array, Array]:
        """Matrices F and E of the kernel form ``F f + E e = 0``, from w − J v = 0."""
        n, swapped = len(self.J), self.flow_inputs
        one, minus = np.eye(n), -self.J + 0.0
        return np.where(swapped, minus, one), np.where(swapped, one, minus)

    def exchanged(self, which: Array) -> Graph:
        """Same structure with v_i and w_i exchanged for the indices ``which``, by principal pivoting.

        Raises ValueError if the block of J for these indices is singular, so that the new v_i cannot be inputs.
        """
        a, J = np.asarray(which, dtype=int), self.J
        b = np.setdiff1d(np.arange(len(J)), a)
        block = J[np.ix_(a, a)]
        values = np.linalg.svd(block, compute_uv=False)
        if a.size and (a.size % 2 or values[-1] <= RANK * max(float(np.abs(J).max()), 1.0)):
            raise ValueError(
                f"the chosen variables cannot be inputs together: the block of J of the {a.size} exchanged entries is "
                "singular "
                f"({'odd size' if a.size % 2 else f'smallest singular value {values[-1]:.0e}'})"
            )
        pivoted, inverse = np.empty_like(J), np.linalg.inv(block) if a.size else block
        inner = inverse @ J[np.ix_(a, b)]
        pivoted[np.ix_(a, a)], pivoted[np.ix_(a, b)], pivoted[np.ix_(b, a)] = inverse, -inner, inner.T
        pivoted[np.ix_(b, b)] = J[np.ix_(b, b)] - J[np.ix_(b, a)] @ inner
        flows = self.flow_inputs.copy()
        flows[a] = ~flows[a]
        return Graph(0.5 * (pivoted - pivoted.T), flows)

    def settled(self, candidates: Array, *, tolerance: float = RANK) -> Graph:
        """Same structure with v_i and w_i exchanged for as many of the given indices i as possible, two at a time.

        Among the remaining candidates no w_i depends on a v_j: this block of J is below ``tolerance`` times the largest
        entry of J, or below ``tolerance``, and is set to zero.
        """
        graph, left = self, np.asarray(candidates, dtype=int)
        while left.size > 1:
            block = np.abs(graph.J[np.ix_(left, left)])
            i, j = np.unravel_index(int(np.argmax(block)), block.shape)
            if block[i, j] <= tolerance * max(float(np.abs(graph.J).max()), 1.0):
                break
            graph = graph.exchanged(left[[i, j]])
            left = np.delete(left, [i, j])
        J = graph.J.copy()
        J[np.ix_(left, left)] = 0.0
        return Graph(J, graph.flow_inputs.copy())


def graph_of(F: Array, E: Array) -> Graph:
    """Graph of ``{F f + E e = 0}``, F and E (k, n), k ≥ n; raises ValueError with the defect if it is not Dirac.

    Any n independent rows of a structure have such a form ([survey] sec. 3.1.3): one variable of each pair (f_i, e_i)
    is chosen by elimination with complete pivoting, preferably the flow; J is then solved from the rows of the pivots.
    """
    n = F.shape[1]
    rows = unit_rows(np.hstack([F, E]))
    power = rows[:, :n] @ rows[:, n:].T
    check_power(power + power.T)
    rank = rank_of(rows)
    if rank < n:
        raise ValueError(f"a Dirac structure is maximal: rank [F E] = {rank}, it must be {n}")
    flow_inputs, chosen = _outputs(rows)
    rows = rows[chosen]
    graph = _solved(rows, flow_inputs)
    while n and np.abs(graph.J).max() > LARGEST:
        worst = np.unravel_index(int(np.argmax(np.abs(graph.J))), graph.J.shape)
        flows = graph.flow_inputs.copy()
        flows[list(worst)] = ~flows[list(worst)]
        graph = _solved(rows, flows)
    return graph


def check_power(defects: Array) -> None:
    """Raise ValueError unless F Eᵀ + E Fᵀ (``defects``), with rows [F E] of unit length, is round-off."""
    defect = check.norm(defects)
    if defect > check.ROUND_OFF * max(len(defects), 1):
        raise ValueError(f"a Dirac structure conserves power: ‖F Eᵀ + E Fᵀ‖ = {defect:.0e} (rows of length 1)")


def _solved(rows: Array, flow_inputs: Array) -> Graph:
    n = rows.shape[1] // 2
    F, E = rows[:, :n], rows[:, n:]
    outputs, inputs = np.where(flow_inputs, E, F), np.where(flow_inputs, F, E)
    J = -np.linalg.solve(outputs, inputs)
    size, defect = check.norm(J), check.norm(J + J.T)
    if defect > ILL * max(size, 1.0):
        raise ValueError(
            f"a Dirac structure conserves power: ‖J + Jᵀ‖/‖J‖ = {defect / size:.0e} of its equations, whose condition "
            f"number is {np.linalg.cond(outputs):.0e}"
        )
    skew = 0.5 * (J - J.T)
    # round-off of sums of this size; zero and it cannot be told apart
    terms = np.abs(inputs) + np.abs(outputs) @ np.abs(skew)
    lost = np.finfo(float).eps * (np.abs(np.linalg.inv(outputs)) @ terms)
    skew[np.abs(skew) <= np.maximum(lost, lost.T)] = 0.0
    return Graph(skew, flow_inputs)


def _outputs(rows: Array) -> tuple[Array, Array]:
    """Choose the output of each pair (f_i, e_i) of ``rows`` [F E] by elimination with complete pivoting.

    Returns the mask (n,) of pairs whose flow is the input, and the indices of the n pivot rows.
    """
    n, order = rows.shape[1] // 2, np.arange(len(rows))
    work, flow_inputs, free = rows.copy(), np.zeros(n, dtype=bool), np.ones(n, dtype=bool)
    for k in range(n):
        left = np.abs(work[k:]) * np.tile(free, 2)
        row = int(np.argmax(left.max(axis=1)))
        flow, effort = (int(np.argmax(left[row, s])) for s in (slice(0, n), slice(n, None)))
        flow_inputs_here = left[row, flow] < PREFERRED * left[row, n + effort]
        i, column = (effort, n + effort) if flow_inputs_here else (flow, flow)
        flow_inputs[i], free[i] = flow_inputs_here, False
        exchanged = np.array([k + row, k])
        work[[k, k + row]], order[[k, k + row]] = work[exchanged], order[exchanged]
        work[k + 1 :] -= np.outer(work[k + 1 :, column] / work[k, column], work[k])
        work[k + 1 :, column] = 0.0
    return flow_inputs, order[:n]
