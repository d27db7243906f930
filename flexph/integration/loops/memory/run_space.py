"""Work space of a compiled run: history, nodes of Gauss collocation, null spaces of constraints, and energy loss."""

from __future__ import annotations

from typing import NamedTuple

from .data import Index, Matrix, Tensor, Vector


class RunSpace(NamedTuple):
    """State of a run between steps: history (see schemes.scheme.StepStart), energies, and velocity defects G v + ∂g/∂t.

    Fields ``back_…`` are the values at the start of the current step, which may have several substeps. Fields
    ``step_…`` are the results of the current step, which are added to a row when it is finished.
    """

    back_history: Matrix  # (HISTORY, width)
    back_energy: Vector
    back_defect: Vector  # (g,)
    history: Matrix
    energy: Vector
    defect: Vector
    new_defect: Vector  # work space
    new_energy: Vector
    flow: Vector
    step_flow: Vector
    step_stage: Vector  # (g,)
    step_multipliers: Vector
    step_output: Vector  # (i,), mean outputs of the step, or of its last substep
    step_audit: Vector  # (8,), residuals, counts, defect of the complementarity
    gap: Vector  # (g,)
    space: Matrix  # (2, d), work space
    frame: Matrix  # (d, d), work space
    moved: Matrix  # (k, d), speeds of nodes
    form: Matrix  # (2d, K), work space
    mean_rate: Matrix  # (b, d), φ̄u̇
    extrapolation: Matrix  # (HISTORY, HISTORY + 1), work space
    output: Vector  # (i,), mean outputs of a part of the step
    asked: Vector  # (n,), vector that Python multiplies with matrices of large bodies (see loops.wide.kept_block),
    answered: Matrix  # (n, K), and the products; empty if Python holds no matrices
    length: Vector  # (1,), length of the step whose Jacobian is factored [s]
    failure: Vector  # (3,), reason, iterations and last correction of a step that is not solved (see codes)


class StageSpace(NamedTuple):
    """Values at a node of a step of Gauss collocation, in addition to the fields of Trial (see gauss.momenta).

    In the memory of the run, ``J`` and ``momentum`` are the values at the start of the step.
    """

    spin: Matrix  # (b, s), Ω
    spin_change: Matrix  # (b, s), hω̇
    spread: Matrix  # (b, s), Σ e ẇ
    J: Tensor  # (b, s, s)
    J_rate: Tensor
    momentum: Matrix  # (b, s), π
    pushed: Matrix  # (k, d), R⁻ᵀφu̇
    product_rate: Vector  # (p,)
    du_change: Vector  # (n,), hü
    P_change: Matrix  # (n, K), inertia products of ``du_change``
    length: Vector  # (springs,)
    turned: Vector  # (s,), work space
    stress_rate: Vector  # (m,), σ̇ as unknowns
    stress_defect: Vector  # (m,), σ̇ − C⁻¹D u̇
    strain_row: Vector  # entries of D where the Jacobian was taken, in the memory of the run
    strain_row_rate: Vector  # entries of Ḋ = ∂D/∂u u̇
    law_slope: Matrix  # (springs, 3), 1 where ∂F/∂x and ∂F/∂v of the law at the node follow


class NullSpace(NamedTuple):
    """Null space of redundant constraints, N with NᵀWG = 0, and the border by which it extends the Jacobian.

    G is the Jacobian of the constraints; the diagonal W has units that make them comparable (see mechanics.redundancy).
    """

    number: Index  # (1,), number of columns of N, at most q
    chosen: Index  # (q,), rows that depend on others
    pivot: Index  # (2q,)
    vectors: Matrix  # (q, k), the columns of N
    reduced: Matrix  # (q, k), work space
    space: Vector  # work space of a group of rows
    rows: Vector  # W G by groups
    gain: Vector  # (k,), work space
    sums: Vector  # (columns of a group,), work space
    shift: Vector  # (q,), σ
    answers: Matrix  # (2q, N), Z
    small: Matrix  # Schur complement of the bodies in the border, banded
    x: Vector  # (2q,)


class DecaySpace(NamedTuple):
    """Coefficients of the energy loss of the decaying scheme, in blocks of the bodies (see data.Vibration)."""

    share: Vector  # (1,), α
    length: Vector  # (1,), step length of the coefficients [s]
    mobility: Vector  # B
    by_inertia: Vector  # B M of the columns of the coordinates, at (v, n) of each matrix
    softening: Vector  # weights a of the modes in ½A C⁻¹ = S a Sᵀ
    factor: Vector  # 1 + B M(u₁), factored
    pivot: Index
    rate: Vector  # work space, of one body: a right-hand side
    columns: Vector  # matrices of its velocities
    slopes: Vector
    left: Vector
    right: Vector
    turn: Matrix  # (d, d)
    mu: Vector  # (g,)


class FilterSpace(NamedTuple):
    """Work space of the energy loss of banded bodies (see data.Filter): factors and matrices.

    The factors are those of the mass matrix M, of S = 4M + h²K with the stiffness K, and of S + αh²K (see
    kernels.decay); arrays of three parts have one for each.
    """

    factors: Vector  # three bands of each body
    pivot: Index  # (3n,)
    answers: Matrix  # (3n, s + d padded), responses of the coordinates to spins and shift
    small: Vector  # (3b, (s + d)²), Schur complements for these
    small_pivot: Index  # (3b (s + d),)
    strain: Vector  # (m,), work space
    x: Matrix  # (2s + 1, s + largest body), work space: right-hand sides
    y: Vector  # (s + largest body,)
    feedback: Matrix  # (2s, 2s), work space
    feedback_pivot: Index
    gain: Vector  # (2s,)
    band: Vector  # the matrix of each body
    band_pivot: Index
    reduced: Vector  # its border columns C, later F⁻¹ C
    left: Vector  # its border rows, by columns
    corner: Vector  # its block of border rows by border columns
    rest: Vector  # work space: the border without the rows
    last: Vector  # (b (3s + 3d)²,), for spins and shifts alone, factored
    last_pivot: Index
    border: Vector  # (3s + 3d,), work space: spins and shifts
    inner: Vector  # (rows,), the solution of a step
    done: Vector  # (columns,), its contribution to the rows of the border
    turn: Matrix  # (2d, d), work space: rotation of the shift
    spin: Matrix  # (s, s)
