"""The flat arrays of the compiled kernels, grouped by what they describe; d dimensions, s spins, K = 1 + s + s² with
zeros up to whole lanes (see :mod:`flexph.integration.compiled.memory.simd`).

Matrices are kept by rows: the entries of row i are those from ``ptr[i]`` to ``ptr[i + 1]``, with columns ``col``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ....numerics.arrays import Array

Index = np.ndarray


class Inertia(NamedTuple):
    """Bodies (b) and their flexible coordinates (n); M, N_a, K_ab share one pattern, the shift φ̄ stays outside."""

    mass: Array  # (b,)
    weight: Array  # (b, d)
    J: Array  # (b, s, s)
    turns: Index  # (b,) 0 or 1
    first: Index  # (b + 1,) first coordinate of each body
    s: Array  # (n, s, s)
    n: Array  # (n, s)
    ptr: Index
    col: Index
    val: Array  # (entries, K)
    mean: Array  # (n, d), φ̄ of the own body
    form: Array  # (b, (1 + s + s²) d, d), with the mass: how the shift enters M, N_a and K_ab, φ̄ᵀ form φ̄
    resolution: Array  # (4,), see kernels.resolution


class Elastic(NamedTuple):
    """Strain rows D_i(u) = strain_i + G_i u of the stresses (m), C⁻¹ and C, damping."""

    ptr: Index  # (m + 1,)
    row: Index
    col: Index
    strain: Array  # (entries,)
    G_entry: Index  # to which entries G_i u adds; the same one never twice in a row
    G_col: Index
    G_val: Array
    inverse_ptr: Index
    inverse_col: Index
    inverse_val: Array
    compliance_ptr: Index
    compliance_col: Index
    compliance_val: Array
    damping: Array  # (m,), β
    body: Index  # (m,)
    viscous: Array  # on the pattern of the inertia
    is_viscous: int


class Stiffness(NamedTuple):
    """What the stresses add to the Jacobian, on the pattern of the inertia: constant, D̄ᵀC⁻¹D₁, and G_i σ_i."""

    constant: Array  # (entries,), DᵀC⁻¹D of the strain rows that do not change
    damping: Array  # (entries,), β of the body times the same, and what is viscous
    left_mean: Index  # entry of D̄, for each stress that it is coupled with
    left_val: Array  # C⁻¹
    left_damping: Array
    pair_place: Index  # see Border.place
    pair_left: Index
    pair_end: Index  # entry of D₁
    stress_place: Index
    stress: Index
    stress_val: Array


class Nodes(NamedTuple):
    """Places of bodies (k) and their shapes."""

    body: Index
    moves: Array  # 1 for points, 0 for directions
    position: Array  # (k, d)
    ptr: Index
    col: Index
    val: Array  # (entries, d)


class Joints(NamedTuple):
    """Vectors between nodes (−1: none), their products, the terms of the constraints, the spring-dampers."""

    plus: Index
    minus: Index
    fixed: Array  # (v, d)
    first: Index
    second: Index
    term_row: Index
    term_product: Index
    length_product: Index
    component_product: Index
    sine_product: Index
    cosine_product: Index
    stiffness: Array
    damping: Array
    state: Index
    kind: Index  # of the relation of each spring-damper, see flexph.integration.compiled.loops.relations
    parameter: Array
    function: Index
    derivative: Index
    steepness: Array
    resisting: Index
    joins_points: Array  # (v,), see kernels.constraint_sizes
    holds_points: Array  # (g,)
    lengths: Array  # (2,)


class Rolling(NamedTuple):
    """Terms of constraints on velocities, w Π_by Π̇ and a·Ω (see kernels.arrays.Rolling)."""

    row: Index
    product: Index
    by: Index
    weight: Array
    square: Index
    spin_row: Index
    spin_body: Index
    spin_axis: Array  # (m, s)
    free: Index  # (g,)
    positive: Index
    least: Array


class Loads(NamedTuple):
    """Inputs as forces on nodes, as torques on sections, and in the axes of sections."""

    node_row: Index
    node_input: Index
    node_val: Array
    torque_row: Index
    torque_input: Index
    torque_val: Array
    torque_body: Index
    torque_ptr: Index
    torque_col: Index
    torque_shape: Array  # (entries, s)
    follow_input: Index  # (f, d)
    follow_node: Index


class Border(NamedTuple):
    """Order of the unknowns: inner flexible coordinates by body, and the border that is left when they are eliminated.

    The border has ṙ̄, ω̄, φ̄u̇̄ of the bodies, the flexible coordinates at ports (masters) and the multipliers.
    """

    v: Index  # (b, d)
    w: Index  # (b, s), −1 where a body does not turn
    c: Index  # (b, d), −1 where a body is rigid
    m: Index  # (n,), −1 for inner coordinates
    l: Index  # (g,)
    inner: Index  # (n,), place within the body, −1 for masters
    order: Index  # (n,), from the first coordinate of a body on: its inner coordinates by their places
    place: Index  # (entries of the inertia,), where each stands from ``system.entries`` on
    inners: Index  # (b,)
    width: Index  # (b,) bandwidth of the inner matrices
    stored: Index  # (b,) width of their storage
    band: Index  # (b,) where it begins
    masters: Index  # (b + 1,)
    master: Index  # flexible coordinates, by body
    local: Index  # (n,), place among the masters of the body
    columns: Index  # (b,) of F⁻¹ C, whole lanes
    reduced: Index  # (b,) where F⁻¹ C of the body begins
    vector_ptr: Index  # (v + 1,) columns that each vector depends on
    vector_col: Index
    size: Index  # (2,), number of unknowns in the border, and its bandwidth


class Books(NamedTuple):
    """Accounts: columns of the flows for inputs, rows, bodies and dampers, and of the energies (−1: none).

    Flows are first the work of ports and drives, then of ideal joints, then what is lost.
    """

    input: Index
    row: Index
    body: Index
    damper: Index
    elastic: Index
    potential: Index
    spring: int
    earned: int
    lost: int


class Constants(NamedTuple):
    """Everything about a mechanism that does not change."""

    inertia: Inertia
    elastic: Elastic
    stiffness: Stiffness
    nodes: Nodes
    joints: Joints
    rolling: Rolling
    loads: Loads
    border: Border
    books: Books


class Motion(NamedTuple):
    """A configuration and what follows from it, overwritten step by step (see kernels.state)."""

    r: Array
    R: Array
    u: Array
    v: Array
    w: Array
    du: Array
    sigma: Array
    spring: Array
    Pu: Array  # (n, K)
    Pdu: Array  # (n, K)
    p_r: Array
    p_u: Array
    arm: Array
    vector: Array
    product: Array


class Unknowns(NamedTuple):
    """Mean velocities and multipliers; also their defects and corrections."""

    v: Array
    w: Array
    du: Array
    lam: Array


class Trial(NamedTuple):
    """What a residual leaves for the Jacobian and the books."""

    inverse: Array  # (b, d, d), R̄⁻¹
    Pmean: Array  # (n, K)
    rate: Array  # (n, K)
    c: Array  # (b, d), φ̄u̇̄ and work space
    u: Array  # (n,), ū
    D: Array  # entries of D̄
    stress: Array  # (m,), σ̃
    jump: Array  # (m,), Δσ
    local: Array  # (m,), work space
    lever: Array  # (k, d)
    mean: Array  # (v, d), mean vectors
    force: Array  # (p,), on products
    extension: Array
    tension: Array
    by_first: Array  # (springs,), discrete gradients
    by_second: Array
    on_node: Array  # (k, d)
    on_vector: Array  # (v, d)
    on_body: Array  # (b, d)
    torque: Array  # (b, s), world
    loads: Array  # (i,)
    section: Array  # (t, s), world torques
    stuck: Array  # (springs,), 1 where the tangent at rest stands for a relation
    before: Array  # (springs,), extensions before a correction


class System(NamedTuple):
    """The factored Jacobian of a step, and space for it."""

    left_D: Array  # h D̄ᵀ(½h + β)C⁻¹, see Stiffness.left_mean
    entries: Array  # of F on the pattern of the inertia: those of the inner coordinates in the rows of masters
    band: Array  # inner matrices of all bodies, banded
    reduced: Array  # F⁻¹ C of all bodies
    border: Array  # (N, stored width)
    D: Array  # entries of D₁
    col: Array  # (n, s): ω̄ in the rows of u̇̄
    row_w: Array  # (n, s): u̇̄ in the rows of ω̄
    pivot: Index  # (n,)
    by_c: Array  # (b, d, d): φ̄u̇̄ and ṙ̄ act in the rows of u̇̄ by φ̄ᵀ times these
    by_v: Array
    left: Array  # rows of R F⁻¹ C, work space
    border_pivot: Index
    turn: Array  # (b, s, s), world rotation by ω̄
    inverse: Array  # (b, d, d), R̄⁻¹ where it was factored
    B: Array  # (columns of the vectors, d)
    W: Array
    through: Array  # (s, s), work space
    spin: Array
    tangent: Array  # (2, 2)
    moved: Array  # (3,)
    made: Array
    turned: Array
    x: Array  # (N,)
    y: Array  # (n,)


class Carried(NamedTuple):
    """What one step leaves for the next: rows of memory (see single.Station), energies, G v − ∂g/∂t.

    ``back_…`` are those at the start of the step under way, which may be made of several; ``step_…`` is what it has
    booked so far, and goes to a row only when it is finished.
    """

    memory: Array  # (WOVEN, width)
    back_memory: Array
    energy: Array
    back_energy: Array
    defect: Array  # (g,)
    back_defect: Array
    new_defect: Array  # work space
    new_energy: Array
    flow: Array
    step_flow: Array
    step_stage: Array  # (g,)
    step_multipliers: Array
    step_audit: Array  # (7,)
    gap: Array  # (g,)
    space: Array  # (2, d), work space
    frame: Array  # (d, d), work space
    moved: Array  # (k, d), speeds of nodes
    form: Array  # (2d, K), work space
    mean_rate: Array  # (b, d), φ̄u̇
    weave: Array  # (WOVEN, WOVEN + 1), work space


class Workspace(NamedTuple):
    """Everything that is overwritten from step to step."""

    at: Motion
    end: Motion
    x: Unknowns
    defect: Unknowns
    correction: Unknowns
    trial: Trial
    system: System
    carried: Carried
