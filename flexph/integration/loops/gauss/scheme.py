"""Stages of a step in separate memories, and the systems into which the Jacobian of all stages decouples.

If it is taken at one state for all nodes, the Jacobian is A⁻¹ ⊗ M + 1 ⊗ hC + A ⊗ h²K, with the Gauss matrix A, mass M,
damping C and stiffness K. With A⁻¹ = V diag(μ) V⁻¹ it decouples into

    μM + hC + h²K/μ = ½μ (2M + h'C + ½h'²K),  h' = 2h/μ,

each of which is the Jacobian of a step h' of the exact scheme. At most one μ is real, the others are pairs of
conjugates, of which one suffices. The same loops factor it, with complex numbers.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from ....numerics.arrays import Array
from ....numerics.gauss_tableau import Tableau, gauss
from ..memory.data import Index
from ..memory.memory import CONSTANTS, FIELDS, REAL, ROW, SYSTEMS, Cells, Memory, addresses_of
from ..memory.workspace import SPANS
from .spaces import Acceleration, Damped, acceleration_of, damped_of


class Scheme(NamedTuple):
    """Tableau of Gauss collocation for the loops, and addresses of the memories of its stages and linear systems."""

    stages: Index  # (s,) addresses
    real: Index  # (0 or 1,), address of the system of the real eigenvalue
    pairs: Index  # addresses of the systems of pairs of eigenvalues
    nodes: Array  # nodes of the tableau
    weights: Array
    a: Array
    inverse: Array
    ends: Array
    curvature: Array
    between: Array  # (2s, s), x₀ + h Σ between_qj ẋ_j at the Gauss points of laws of springs
    projection: Array  # (s, 2s), of values there on the nodes
    point_weights: Array  # (2s,), weights of these points
    eigenvalue: Array  # (k,) complex, of the inverse; a real one comes first
    left: Array  # (k, s) complex, rows of V⁻¹
    right: Array  # (s, k) complex, columns of V, multiplied by 2 for complex eigenvalues
    transport: Array  # (b, s·d, s·d), factors of 1 − hA[Ω]×
    driven: Array  # (s·d,), work space
    acceleration: Acceleration  # of the unknowns of all stages
    damped: Damped  # of the unknowns without stress rates


UNKNOWNS = ("x_v", "stage_spin", "x_du", "x_lam", "stage_stress_rate")


class InitialMemories(NamedTuple):
    """Memories of a mechanism before a run, to be copied: of a stage, of a real and of a complex linear system."""

    stage: Memory
    real: Memory
    complex: Memory


class StageMemories:
    """Memories of all stages of a run, which share its constants; the work spaces of all are parts of ``cells``."""

    def __init__(self, run: Memory, before: InitialMemories, tableau: Tableau) -> None:
        stages, size = tableau.nodes.size, before.stage.space.cells.size
        self.cells = np.empty(stages * size, dtype=np.int64)
        self.stages = [_stage(run, before.stage, cells) for cells in self.cells.reshape(stages, size)]
        middle = self.stages[stages // 2]
        eigenvalue, left, right = spectrum(stages)
        self.systems = [_system(middle, before.complex if mu.imag else before.real) for mu in eigenvalue]
        addresses = addresses_of([*self.stages, *self.systems])
        odd = stages % 2
        bodies, d = run.inertia_weight.shape
        unknowns, rates = (sum(run.__getattr__(name).size for name in part) for part in (UNKNOWNS[:-1], UNKNOWNS[-1:]))
        self.scheme = Scheme(
            stages=addresses[:stages],
            real=addresses[stages : stages + odd],
            pairs=addresses[stages + odd :],
            nodes=tableau.nodes,
            weights=tableau.weights,
            a=tableau.a,
            inverse=tableau.inverse,
            ends=tableau.ends,
            curvature=tableau.curvature,
            between=tableau.between,
            projection=tableau.projection,
            point_weights=tableau.point_weights,
            eigenvalue=eigenvalue,
            left=left,
            right=right,
            transport=np.zeros((bodies, stages * d, stages * d)),
            driven=np.zeros(stages * d),
            acceleration=acceleration_of(stages * (unknowns + rates)),
            damped=damped_of(stages * unknowns),
        )


@cache
def spectrum(stages: int) -> tuple[Array, Array, Array]:
    """Eigenvalues μ of the inverse A⁻¹ of the Gauss matrix with Im μ ≥ 0, matching rows of V⁻¹ and columns of V.

    A⁻¹ = V diag(μ) V⁻¹. A real μ, for an odd number of stages, comes first. Columns of complex μ are multiplied by 2,
    so that the real part of their products also contains the conjugate one.
    """
    values, right = np.linalg.eig(gauss(stages).inverse)
    left, size = np.linalg.inv(right), np.abs(values).max()
    kept = [k for k in np.argsort(values.imag) if values[k].imag > -1e-9 * size]
    values = np.where(np.abs(values.imag) > 1e-9 * size, values, values.real)[kept]
    return (
        values + 0j,
        left[kept] + 0j,
        np.ascontiguousarray(right[:, kept] * np.where(values.imag > 0.0, 2.0, 1.0) + 0j),
    )


def before_runs(run: Memory) -> InitialMemories:
    """Memories of a stage and of linear systems, from the memory of a mechanism before a run.

    In a stage's memory the fields for the start, the end and the mean of a step coincide: they have the values at a
    node.
    """
    table = run.table.copy()
    table[_NAMED] = table[_NODES]
    reals, wholes = run.reals.size, run.wholes.size
    spaces = run.space.copy(), Cells.of_zeros(reals, wholes), Cells.of_zeros(2 * reals, wholes)
    of = InitialMemories(*(Memory(run.constants, space, table) for space in spaces))
    of.complex.addresses[_OWN_REALS, 0] += 8 * table[_OWN_REALS, 0]
    of.complex.span_fields(is_complex=True)
    return of


def _stage(run: Memory, before: Memory, cells: Index) -> Memory:
    """Memory of a stage as a copy of ``before`` in the given cells, with the constants of the memory of the run."""
    stage = before.copy(cells=cells)
    stage.addresses[:CONSTANTS] = run.addresses[:CONSTANTS]
    return stage


def _system(middle: Memory, before: Memory) -> Memory:
    """Memory with a linear system of its own, copied from ``before``; it shares all other values with a stage."""
    system = before.copy()
    addresses = system.addresses[_OWN]
    system.addresses[:] = middle.addresses
    system.addresses[_OWN] = addresses
    return system


def _rows_at_a_node() -> dict[int, int]:
    """Fields at the end of a step that replace fields at its start and in its mean, in the memory of a stage.

    Keys are the rows of the replaced fields in the table of a memory, values the rows of the fields at the end.
    """
    rows = {ROW[name]: ROW[f"end_{name.removeprefix('at_')}"] for name in FIELDS if name.startswith("at_")}
    for mean, node in (("Pmean", "Pu"), ("u", "u"), ("lever", "arm"), ("mean", "vector")):
        rows[ROW[f"trial_{mean}"]] = ROW[f"end_{node}"]
    return rows


_NAMED, _NODES = (np.array(part) for part in zip(*_rows_at_a_node().items(), strict=True))
_OWN = np.flatnonzero([f"{name}_".startswith(SYSTEMS) for name in (*FIELDS, *SPANS)])
_OWN_REALS = np.flatnonzero([name.startswith(SYSTEMS) for name in FIELDS] & REAL)
