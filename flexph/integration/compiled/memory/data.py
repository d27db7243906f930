"""The flat arrays of the compiled kernels, grouped by what they describe; d dimensions, s spins, K = 1 + s + s² with
zeros up to whole lanes (see :mod:`flexph.integration.compiled.memory.simd`).

Matrices are kept by rows: the entries of row i are those from ``ptr[i]`` to ``ptr[i + 1]``, with columns ``col``.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from ....numerics.arrays import Array


class Entries(NamedTuple):
    """What the entries of a field are for compiled code, and how many axes it has."""

    kind: str
    axes: int


Vector = Annotated[Array, Entries("float64", 1)]
Matrix = Annotated[Array, Entries("float64", 2)]
Tensor = Annotated[Array, Entries("float64", 3)]
Index = Annotated[np.ndarray, Entries("int64", 1)]
IndexMatrix = Annotated[np.ndarray, Entries("int64", 2)]
Number = Annotated[int, Entries("int64", 0)]
Unsigned = Annotated[np.ndarray, Entries("uint64", 1)]
"""Indices that are never negative: looking them up needs no look at their sign, which costs a tenth of a step."""


class Inertia(NamedTuple):
    """Bodies (b) and their flexible coordinates (n); M, N_a, K_ab share one pattern, the shift φ̄ stays outside."""

    mass: Vector  # (b,)
    weight: Matrix  # (b, d)
    J: Tensor  # (b, s, s)
    turns: Index  # (b,) 0 or 1
    first: Unsigned  # (b + 1,) first coordinate of each body
    s: Tensor  # (n, s, s)
    n: Matrix  # (n, s)
    ptr: Unsigned
    col: Unsigned
    val: Matrix  # (rows, K), of entries e of a body b at e + alike[b]: bodies with the same ones share them
    alike: Index  # (b,)
    mean: Matrix  # (n, d), φ̄ of the own body
    form: Tensor  # (b, (1 + s + s²) d, d), with the mass: how the shift enters M, N_a and K_ab, φ̄ᵀ form φ̄
    resolution: Vector  # (4,), see kernels.resolution


class Elastic(NamedTuple):
    """Strain rows D_i(u) = strain_i + G_i u of the stresses (m), C⁻¹ and C, damping."""

    ptr: Unsigned  # (m + 1,)
    row: Unsigned
    col: Unsigned
    strain: Vector  # (entries,)
    G_entry: Unsigned  # to which entries G_i u adds; the same one never twice in a row
    G_col: Unsigned
    G_val: Vector
    inverse_ptr: Unsigned
    inverse_col: Unsigned
    inverse_val: Vector
    compliance_ptr: Unsigned
    compliance_col: Unsigned
    compliance_val: Vector
    damping: Vector  # (m,), β
    body: Unsigned  # (m,)
    viscous: Vector  # on the pattern of the inertia
    is_viscous: Number


class Stiffness(NamedTuple):
    """What the stresses add to the Jacobian, on the pattern of the inertia: constant, D̄ᵀC⁻¹D₁, and G_i σ_i."""

    constant: Vector  # (entries,), DᵀC⁻¹D of the strain rows that do not change
    damping: Vector  # (entries,), β of the body times the same, and what is viscous
    left_mean: Unsigned  # entry of D̄, for each stress that it is coupled with
    left_val: Vector  # C⁻¹
    left_damping: Vector
    pair_place: Unsigned  # see Border.place
    pair_left: Unsigned
    pair_end: Unsigned  # entry of D₁
    stress_place: Unsigned
    stress: Unsigned
    stress_val: Vector


class Nodes(NamedTuple):
    """Places of bodies (k) and their shapes."""

    body: Unsigned
    moves: Vector  # 1 for points, 0 for directions
    follows: Vector  # 1 for points; of means of points how far they move with the unknowns of their body,
    others_ptr: Unsigned  # (k + 1,)
    others: Unsigned  # and with those of other frames
    others_weight: Vector
    position: Matrix  # (k, d)
    ptr: Unsigned
    col: Unsigned
    val: Matrix  # (entries, d)


class Joints(NamedTuple):
    """Vectors between nodes (−1: none), their products, the terms of the constraints, the spring-dampers."""

    plus: Index
    minus: Index
    fixed: Matrix  # (v, d)
    first: Unsigned
    second: Unsigned
    term_row: Unsigned
    term_product: Unsigned
    length_product: Index
    component_product: Index
    sine_product: Index
    cosine_product: Index
    stiffness: Vector
    damping: Vector
    state: Index
    kind: Index  # of the relation of each spring-damper, see flexph.integration.compiled.loops.relations
    parameter: Matrix
    function: Index
    derivative: Index
    steepness: Vector
    resisting: Index
    joins_points: Vector  # (v,), see kernels.constraint_sizes
    holds_points: Vector  # (g,)
    lengths: Vector  # (2,)


class Rolling(NamedTuple):
    """Terms of constraints on velocities, w Π_by Π̇ and a·Ω (see kernels.arrays.Rolling)."""

    row: Unsigned
    product: Unsigned
    by: Unsigned
    weight: Vector
    square: Index
    angular: Index
    spin_row: Unsigned
    spin_body: Unsigned
    spin_axis: Matrix  # (m, s)
    free: Index  # (g,)
    positive: Unsigned
    least: Vector


class Loads(NamedTuple):
    """Inputs as forces on nodes, as torques on sections, and in the axes of sections."""

    node_row: Index
    node_input: Index
    node_val: Vector
    torque_row: Index
    torque_input: Index
    torque_val: Vector
    torque_body: Index
    torque_ptr: Unsigned
    torque_col: Unsigned
    torque_shape: Matrix  # (entries, s)
    follow_input: IndexMatrix  # (f, d)
    follow_node: IndexMatrix
    follower: Index  # (i,), to which of those an input belongs, −1 where it has world axes


class Border(NamedTuple):
    """Order of the unknowns: inner flexible coordinates by body, and the border that is left when they are eliminated.

    The border has ṙ̄, ω̄, φ̄u̇̄ of the bodies, the flexible coordinates at ports (masters) and the multipliers.
    """

    v: IndexMatrix  # (b, d)
    w: IndexMatrix  # (b, s), −1 where a body does not turn
    c: IndexMatrix  # (b, d), −1 where a body is rigid
    m: Index  # (n,), −1 for inner coordinates
    l: Index  # (g,)
    inner: Index  # (n,), place within the body, −1 for masters
    order: Unsigned  # (n,), from the first coordinate of a body on: its inner coordinates by their places
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


class Strains(NamedTuple):
    """Strain rows (e) of bodies of nodes by their points, and these by elements, whose frames they share.

    Vectors (v) are weighted sums of columns 4b + j, of frame b its place (j = 0) and its directions; ``near`` are those
    4f + j of the frames f of the element, by whose unknowns they move.
    """

    column_ptr: Index  # (v + 1,)
    column: Index
    weight: Vector
    near_ptr: Index  # (v + 1,)
    near: Index
    near_weight: Vector
    first: Index  # (p,) vectors of each product
    second: Index
    product: Index  # (e,)
    square: IndexMatrix  # (e, 2), products of directors with themselves, −1 for none
    reference: Vector  # (e,)
    factor: Vector
    stress: Index  # (e,) among all stresses
    stiffness_ptr: Index  # (e + 1,), C⁻¹ between the rows of a point
    stiffness_col: Index
    stiffness_val: Vector
    vector_ptr: Index  # (points + 1,)
    product_ptr: Index
    row_ptr: Index
    element: Index  # (elements + 1,), first point of each
    frame_ptr: Index  # (elements + 1,)
    frame: Index  # frames of the elements
    place: Index  # where the unknowns of a frame begin among those of its element
    unknown_ptr: Index  # (elements + 1,)
    unknown: Index  # in the border
    holds: Index  # (b,), 1 where a frame belongs to a body of nodes; none where there are no such bodies


class Points(NamedTuple):
    """Points (f) of cables: their unknowns are positions and slopes, which couple neighbours alone, v = T x.

    Nodes (n) at ports of cables are means of points.
    """

    own: Index  # (b,), 1 for the frames that are such points
    frame: Index  # (f,)
    ptr: Index  # (f + 1,), T by rows
    col: Index  # frames
    val: Vector
    mass_row: Index  # TᵀMT between frames
    mass_col: Index
    mass_val: Vector
    node: Index  # (n,)
    node_ptr: Index
    node_frame: Index
    node_weight: Vector


class Contacts(NamedTuple):
    """Contacts (c): gaps ±m − offset of what vectors V, W, U measure, their laws, and where they are booked.

    See kernels.contacts.gaps.Contacts; ``node`` are the nodes at the plus and at the minus end of V, W and U. Of the
    ``rigid`` ones the gaps are watched: there are steps in which they are open.
    """

    kind: Index  # (c,)
    rigid: Index  # (c,) 0 or 1
    sign: Vector
    offset: Vector
    node: IndexMatrix  # (c, 6), −1 for none
    fixed: Tensor  # (c, 3, d)
    body: IndexMatrix  # (c, 2), those that friction turns
    share: Matrix  # (c, 2)
    stiffness: Vector
    exponent: Vector
    loss: Vector
    damping: Vector
    friction: Vector
    slipping: Vector
    holding: Vector
    pair: Index  # (c,), number in the table of a group's anchors, 0 of others
    rows: Index  # (c,), of that table
    anchor: Index  # (c,), first of its numbers among the spring forces of the memory, −1 for none
    table: Index  # (c,), where the table begins among those of a state
    stored: Index  # (c,), place among the energies of contacts
    pressed: Index  # (c,), columns of the flows
    rubbed: Index
    lost: Index


class LedgerColumns(NamedTuple):
    """Accounts: columns of the flows for inputs, references, rows, bodies and dampers, of the energies (−1: none).

    Flows are first the work of ports and drives, then of ideal joints, impulses of contacts, then what is lost.
    """

    input: Index
    reference: Index
    row: Index
    body: Index
    damper: Index
    kinetic: Index
    elastic: Index
    potential: Index
    spring: Number
    contact: Number
    earned: Number
    lost: Number


class Redundancy(NamedTuple):
    """Constraints (k) that may depend on others, by groups of them; none where multipliers are not of least norm."""

    own: Index  # (g,), place among them, −1 for the others
    row: Index  # (k,)
    weight: Vector  # (k,), units of the multipliers
    group: Index  # (k,)
    first: Index  # (groups + 1,)
    columns: Index  # (groups,), velocities that they act on
    block: Index  # (groups,), where its matrix begins
    column: Index  # (N,), place among the velocities of the group, −1 for the others
    scale: Vector  # (N,), units of the velocities


class Vibration(NamedTuple):
    """Free vibrations of bodies with full matrices, over (ω, u̇) (see kernels.decay); none where steps lose nothing.

    Blocks of the bodies lie behind each other; ``at`` to ``stress`` say where they begin.
    """

    size: Index  # (b,), spins and coordinates of a body that deforms and is not banded, else 0
    stresses: Index  # (b + 1,), its first stress
    at: Index  # (b,), where what has an entry for each velocity begins
    matrix: Index  # (b,), a matrix of the velocities
    mass: Index  # (b,), a matrix of the coordinates
    strain: Index  # (b,), a matrix of stresses by velocities
    stress: Index  # (b,), a matrix of the stresses
    square: Vector  # ω²
    mode: Vector  # V with VᵀMV = 1
    stressed: Vector  # C⁻¹D₀V
    strained: Vector  # D₀V
    inertia: Vector  # M of the coordinates


class Filter(NamedTuple):
    """Banded bodies in steps that lose energy (see compiled.decay.banded); none where no body is one of them.

    A matrix of such a body has rows for (τ, y, z, u̇̄) of its coordinates, without u̇̄ of its masters, and columns of a
    border: ω̄, φ̄ᵀ, the masters, the spins of z, y, τ and their shifts.
    """

    rows: Index  # (b,), of the banded matrix, 0 for other bodies
    width: Index  # (b,), its bandwidth, that of its storage, and where it begins
    stored: Index
    band: Index
    columns: Index  # (b,), of the border, whole lanes
    reduced: Index  # (b,), where a matrix of rows by columns begins
    corner: Index  # (b,), one of columns by columns
    number: IndexMatrix  # (n, 4), rows of the unknowns of each coordinate; from ``rows`` on columns of the border
    place: Index  # (n,), place within the body where only its coordinates are unknown
    plain_width: Index  # (b,), the bandwidth there, and the same as above
    plain_stored: Index
    plain_band: Index
    stiffness: Vector  # (entries,), K on the pattern of the inertia


class Constants(NamedTuple):
    """Constant arrays of a mechanism."""

    inertia: Inertia
    elastic: Elastic
    stiffness: Stiffness
    nodes: Nodes
    joints: Joints
    rolling: Rolling
    loads: Loads
    border: Border
    strains: Strains
    points: Points
    contacts: Contacts
    ledger: LedgerColumns
    redundancy: Redundancy
    vibration: Vibration
    filter: Filter


class Motion(NamedTuple):
    """A configuration and what follows from it, overwritten step by step (see kernels.state)."""

    r: Matrix
    R: Tensor
    u: Vector
    v: Matrix
    w: Matrix
    du: Vector
    sigma: Vector
    spring: Vector
    Pu: Matrix  # (n, K)
    Pdu: Matrix  # (n, K)
    p_r: Matrix
    p_u: Vector
    arm: Matrix
    vector: Matrix
    product: Vector


class Unknowns(NamedTuple):
    """Mean velocities and multipliers; also their defects, corrections, and the iterate with the smallest of these."""

    v: Matrix
    w: Matrix
    du: Vector
    lam: Vector


class Trial(NamedTuple):
    """What a residual leaves for the Jacobian and the accounts."""

    inverse: Tensor  # (b, d, d), R̄⁻¹
    Pmean: Matrix  # (n, K)
    rate: Matrix  # (n, K)
    c: Matrix  # (b, d), φ̄u̇̄ and work space
    u: Vector  # (n,), ū
    D: Vector  # entries of D̄
    stress: Vector  # (m,), σ̃
    jump: Vector  # (m,), Δσ
    local: Vector  # (m,), work space
    lever: Matrix  # (k, d)
    mean: Matrix  # (v, d), mean vectors
    force: Vector  # (p,), on products
    extension: Vector
    tension: Vector
    by_first: Vector  # (springs,), discrete gradients
    by_second: Vector
    on_node: Matrix  # (k, d)
    on_vector: Matrix  # (v, d)
    on_body: Matrix  # (b, d)
    torque: Matrix  # (b, s), world
    loads: Vector  # (i,)
    section: Matrix  # (t, s), world torques
    stuck: Vector  # (springs,), 1 where the tangent at rest stands for a relation
    before: Vector  # (springs,), extensions before a correction
    moved: Vector  # (springs,), how far the free measures move over the step
    given: Vector  # (i,), inputs in the axes that they are given in


class System(NamedTuple):
    """The factored Jacobian of a step, and space for it."""

    left_D: Vector  # h D̄ᵀ(½h + β)C⁻¹, see Stiffness.left_mean
    entries: Vector  # of F on the pattern of the inertia: those of the inner coordinates in the rows of masters
    band: Vector  # inner matrices of all bodies, banded
    reduced: Vector  # F⁻¹ C of all bodies
    border: Matrix  # (N, stored width)
    D: Vector  # entries of D₁
    col: Matrix  # (n, s): ω̄ in the rows of u̇̄
    row_w: Matrix  # (n, s): u̇̄ in the rows of ω̄
    pivot: Index  # (n,)
    by_c: Tensor  # (b, d, d): φ̄u̇̄ and ṙ̄ act in the rows of u̇̄ by φ̄ᵀ times these
    by_v: Tensor
    left: Matrix  # rows of R F⁻¹ C, work space
    border_pivot: Index
    turn: Tensor  # (b, s, s), world rotation by ω̄
    inverse: Tensor  # (b, d, d), R̄⁻¹ where it was factored
    B: Matrix  # (columns of the vectors, and of those of one contact, d)
    W: Matrix
    through: Matrix  # (s, s), work space
    spin: Matrix
    tangent: Matrix  # (2, 2)
    moved: Vector  # (3,)
    torque: Vector
    turned: Vector
    x: Vector  # (N,)
    y: Vector  # (n,)


class NodalSpace(NamedTuple):
    """What strain rows leave for the Jacobian: columns of frames, vectors and products at both ends, gradients, forces.

    The last matrices have a column for each unknown of an element.
    """

    column: Matrix  # (4b, 3)
    end_column: Matrix
    move: Matrix  # (4b, 3), their changes by a correction
    pull: Matrix  # (4b, 3), forces on them
    vector: Matrix  # (v, 3)
    end_vector: Matrix
    on_vector: Matrix
    product: Vector  # (p,)
    end_product: Vector
    on_product: Vector
    strain: Vector  # (e,)
    gradient: Matrix  # (e, 3), exact over the step, by the product and both squares
    end_gradient: Matrix
    stress: Vector  # (e,), σ̃
    ahead: Vector  # (e,), stresses of the mixed iteration
    torque: Matrix  # (b, 3)
    B: Tensor  # (3b, 3, 3), of each direction by the spins
    W: Tensor
    couple: Matrix  # (products of a point, the same)
    moved: Matrix  # (3 vectors of a point, unknowns)
    rows: Matrix  # (products of a point, unknowns)
    pulled: Matrix
    on: Matrix  # (3 vectors of a point, unknowns)
    columns: Matrix  # (12 frames, unknowns)
    force: Vector  # (unknowns,)


class TouchSpace(NamedTuple):
    """Contacts in a step (see kernels.contacts.gaps.Touch), t = d − 1 tangents each, and space for one of them."""

    before: Vector  # (c,), gaps
    after: Vector
    force: Vector
    elastic: Vector
    slope: Vector
    mean: Tensor  # (c, 3, d), gradients: exact over the step, and at its end
    end: Tensor
    tangent: Tensor  # (c, t, d)
    arm: Tensor  # (c, 2, d)
    slip: Matrix  # (c, t)
    friction: Matrix
    by_normal: Matrix
    by_slip: Tensor  # (c, t, t)
    stored: Vector  # energies by connection
    first: Matrix  # (3, d), V, W, U where the step starts
    last: Matrix
    turn: Matrix  # (2, d), world rotations of the bodies
    trial: Vector  # (t,), force of an anchor on trial, and before the step
    held: Vector
    begin: Index  # (5,), where the entries of V, W, U and of spins begin
    column: Index  # (entries,), in the border
    normal: Vector  # (entries,), how the gap goes with the unknowns: exact over the step, and at its end
    rate: Vector
    along: Matrix  # (2, entries), the same of V·W
    slide: Matrix  # (t, entries), and of the slips
    watched: Index  # (k,), nodes of listed pairs (see integration.compiled.near), the first ones that are counted
    listed: Matrix  # (k, d), where they were
    reach: Vector  # (3,): how far they may go [m], zero without lists, their count, and whether a step went further
    keeps_open: Vector  # (1,), whether steps are only those in which rigid contacts are open
    apart: Tensor  # (2 c, n, n), of a pile: what each body of a pair changes with the other one
    krylov: Matrix  # (5, N), of a pile: work space of the solution


class RunSpace(NamedTuple):
    """State of a run between steps: rows of history (see exact.step.StepStart), energies, G v − ∂g/∂t.

    ``back_…`` are those at the start of the step under way, which may be made of several; ``step_…`` is what it has
    booked so far, and goes to a row only when it is finished.
    """

    history: Matrix  # (HISTORY, width)
    back_history: Matrix
    energy: Vector
    back_energy: Vector
    defect: Vector  # (g,)
    back_defect: Vector
    new_defect: Vector  # work space
    new_energy: Vector
    flow: Vector
    step_flow: Vector
    step_stage: Vector  # (g,)
    step_multipliers: Vector
    step_audit: Vector  # (7,)
    gap: Vector  # (g,)
    space: Matrix  # (2, d), work space
    frame: Matrix  # (d, d), work space
    moved: Matrix  # (k, d), speeds of nodes
    form: Matrix  # (2d, K), work space
    mean_rate: Matrix  # (b, d), φ̄u̇
    extrapolation: Matrix  # (HISTORY, HISTORY + 1), work space
    output: Vector  # (i,), mean velocities of the last step that inputs work on


class StageSpace(NamedTuple):
    """Values of Gauss collocation at a node of a step beside those of a trial (see kernels.gauss.collocation).

    In the memory of the run ``J`` and ``momentum`` are those at the start of the step.
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
    P_change: Matrix  # (n, K), of it
    length: Vector  # (springs,)
    turned: Vector  # (s,), work space


class NullSpace(NamedTuple):
    """N with NᵀWG = 0 of redundant constraints, and the border of the Jacobian (see loops.redundancy)."""

    number: Index  # (1,), columns of N, of at most q
    chosen: Index  # (q,), rows that depend on others
    pivot: Index  # (2q,)
    vectors: Matrix  # (q, k), the columns of N
    reduced: Matrix  # (q, k), work space
    space: Vector  # (k²,), work space
    rows: Vector  # W G by groups
    gain: Vector  # (k,), work space
    sums: Vector  # (columns of a group,), work space
    shift: Vector  # (q,), σ
    answers: Matrix  # (2q, N), Z
    small: Matrix  # the border less what the bodies answer, banded
    x: Vector  # (2q,)


class DecaySpace(NamedTuple):
    """What steps of the decaying scheme lose by, blocks of the bodies behind each other (see :class:`Vibration`)."""

    share: Vector  # (1,), α
    length: Vector  # (1,), the step that the coefficients are of [s]
    mobility: Vector  # B
    by_inertia: Vector  # B M of the columns of the coordinates, at (v, n) of each matrix
    softening: Vector  # ½A
    stiffness: Vector  # ½A C⁻¹
    factor: Vector  # 1 + B M(u₁), factored
    pivot: Index
    rate: Vector  # work space, of one body: a right-hand side
    columns: Vector  # matrices of its velocities
    slopes: Vector
    rows: Vector  # stresses by coordinates
    turn: Matrix  # (d, d)
    mu: Vector  # (g,)


class FilterSpace(NamedTuple):
    """What banded bodies lose by (see :class:`Filter`): factors of M, S and S + αh²K, and the matrices of a step.

    What has three parts has one for each of these matrices.
    """

    factors: Vector  # three bands of each body
    pivot: Index  # (3n,)
    answers: Matrix  # (3n, s + d padded), what the coordinates do by spins and shift
    small: Vector  # (3b, (s + d)²), what is left for these
    small_pivot: Index  # (3b (s + d),)
    strain: Vector  # (m,), work space
    x: Matrix  # (2s + 1, s + largest body), work space: right-hand sides
    y: Vector  # (s + largest body,)
    feedback: Matrix  # (2s, 2s), work space
    feedback_pivot: Index
    gain: Vector  # (2s,)
    band: Vector  # the matrix of each body
    band_pivot: Index
    reduced: Vector  # its border columns, F⁻¹ times them later
    left: Vector  # its border rows, by columns
    corner: Vector  # what rows and columns of the border have in common
    rest: Vector  # work space: the border without the rows
    last: Vector  # (b (3s + 3d)²,), for spins and shifts alone, factored
    last_pivot: Index
    border: Vector  # (3s + 3d,), work space: spins and shifts
    inner: Vector  # (rows,), the solution of a step
    done: Vector  # (columns,), what it does in the rows of the border
    turn: Matrix  # (2d, d), work space: how the shift is turned
    spin: Matrix  # (s, s)


class Workspace(NamedTuple):
    """Arrays that are overwritten from step to step."""

    at: Motion
    end: Motion
    x: Unknowns
    defect: Unknowns
    correction: Unknowns
    best: Unknowns
    trial: Trial
    system: System
    nodal: NodalSpace
    touch: TouchSpace
    run: RunSpace
    stage: StageSpace
    null: NullSpace
    decay: DecaySpace
    filtering: FilterSpace


SPANS = {
    "at": ("at_r", "at_product"),
    "x": ("x_v", "x_lam"),
    "x_velocities": ("x_v", "x_du"),
    "defect": ("defect_v", "defect_lam"),
    "correction": ("correction_v", "correction_lam"),
    "best": ("best_v", "best_lam"),
    "at_state": ("at_r", "at_spring"),
    "end_state": ("end_r", "end_spring"),
    "at_velocities": ("at_v", "at_du"),
    "at_vectors": ("at_arm", "at_product"),
    "end_vectors": ("end_arm", "end_product"),
    "trial_forces": ("trial_on_node", "trial_torque"),
    "system_jacobian": ("system_band", "system_border"),
    "system_flexible": ("system_entries", "system_border"),
    "run_step": ("run_step_flow", "run_step_audit"),
}
"""Fields that follow each other, first and last, seen as one vector."""
