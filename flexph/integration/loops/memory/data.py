"""Types of the flat arrays of the compiled kernels, and the arrays of bodies.

There are d dimensions, s spins, and K = 1 + s + s² inertia products, padded with zeros to a multiple of LANES (see
:mod:`flexph.numerics.loops.views`). Matrices are stored by rows: the entries of row i are those from ``ptr[i]`` to
``ptr[i + 1]``, with columns ``col``.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from ....numerics.arrays import Array


class Entries(NamedTuple):
    """Type of the entries of an array field in compiled code, and the number of axes of the array."""

    kind: str
    axes: int


Vector = Annotated[Array, Entries("float64", 1)]
Matrix = Annotated[Array, Entries("float64", 2)]
Tensor = Annotated[Array, Entries("float64", 3)]
Index = Annotated[np.ndarray, Entries("int64", 1)]
IndexMatrix = Annotated[np.ndarray, Entries("int64", 2)]
Number = Annotated[int, Entries("int64", 0)]
Unsigned = Annotated[np.ndarray, Entries("uint64", 1)]
"""Indices that are never negative: access by them needs no test of the sign, which would cost a tenth of a step."""


class Inertia(NamedTuple):
    """Inertia of bodies (b) and of their flexible coordinates (n), see kernels.state.

    With spins ω_a and rates u̇ a body has the momenta J(u) ω + (n + N u)·u̇ and ω (n + N u) + M u̇; K_ab are the
    quadratic terms of J(u). The matrices M, N_a and K_ab of a body have the same pattern, and exclude the shift φ̄ of
    its centre of mass.
    """

    mass: Vector  # (b,)
    weight: Matrix  # (b, d)
    J: Tensor  # (b, s, s)
    turns: Index  # (b,), 1 for bodies that turn, 0 for points
    first: Unsigned  # (b + 1,) first coordinate of each body
    s: Tensor  # (n, s, s)
    n: Matrix  # (n, s)
    ptr: Unsigned
    col: Unsigned
    val: Matrix  # (rows, K), entry e of a body b is at e + alike[b]: bodies with equal matrices share them
    alike: Index  # (b,)
    mean: Matrix  # (n, d), φ̄ of the body of a coordinate
    form: Tensor  # (b, (1 + s + s²) d, d), with the mass: M, N_a and K_ab get φ̄ᵀ form φ̄ by the shift
    is_asked: Number  # 1 if Python holds M, N_a and K_ab (see loops.wide.kept_block), and forms are zero
    resolution: Vector  # (4,), see kernels.state


class Elastic(NamedTuple):
    """Strain rows D_i(u) = strain_i + G_i u of all stresses (m), with their stiffness C⁻¹, compliance C, and damping.

    Their product D u̇ with the rates of the flexible coordinates u is the vector of the strain rates.
    """

    ptr: Unsigned  # (m + 1,)
    row: Unsigned
    col: Unsigned
    strain: Vector  # (entries,)
    G_entry: Unsigned  # entries to which G_i u adds; consecutive ones differ
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
    viscous: Vector  # constant damping, on the pattern of the inertia
    is_viscous: Number


class Stiffness(NamedTuple):
    """Numbers from which the stiffness and damping of the stresses are added to the Jacobian.

    There is a constant part, and the terms D̄ᵀC⁻¹D₁ and G_i σ_i, all on the pattern of the inertia. D̄ and D₁ are the
    strain rows (see Elastic) in the mean and at the end of a step. D̄ᵀC⁻¹D₁ is a sum over the entries (i, j) of C⁻¹
    of all products of row i of D̄ with row j of D₁.
    """

    constant: Vector  # (entries,), DᵀC⁻¹D of the strain rows that do not change
    damping: Vector  # (entries,), sum of β times ``constant`` and the constant damping
    left_mean: Unsigned  # entries of D̄, repeated for each stress that C⁻¹ couples with theirs
    left_val: Vector  # C⁻¹
    left_damping: Vector
    left_ptr: Unsigned  # of each entry (i, j): the entries of row i
    second: Unsigned  # j
    block: Unsigned  # where its products begin among the places
    pair_place: Unsigned  # see Border.place; entries whose rows have the same columns share them
    stress_place: Unsigned
    stress: Unsigned
    stress_val: Vector


class Nodes(NamedTuple):
    """Nodes (k): points and directions of bodies to which vectors lead, or means of points, with their shapes.

    A shape gives the motion of a node by the flexible coordinates of its body.
    """

    body: Unsigned
    side: Index  # the body, or for a mean of points its number, after those of all bodies
    moves: Vector  # 1 for points, 0 for directions
    follows: Vector  # 1 for points; for means of points the weight of the unknowns of their body,
    others_ptr: Unsigned  # (k + 1,)
    others: Unsigned  # and other frames with their weights
    others_weight: Vector
    position: Matrix  # (k, d)
    ptr: Unsigned
    col: Unsigned
    val: Matrix  # (entries, d)


class Strains(NamedTuple):
    """Strain rows (e) of nodal bodies at quadrature points; the points of an element depend on the same frames.

    Vectors (v) are weighted sums of columns 4b + j: the position (j = 0) and the directions of frame b. ``near`` are
    the columns in the numbering 4f + j by the frames f of the element.
    """

    column_ptr: Index  # (v + 1,)
    column: Index
    weight: Vector
    near_ptr: Index  # (v + 1,)
    near: Index
    near_weight: Vector
    first: Index  # (p,) vectors of each product
    second: Index
    crossed: Index  # (p,), 1 for products (J V)·W with a quarter turn J, in the plane
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
    holds: Index  # (b,), 1 for frames of nodal bodies; empty without such bodies
    law: Index  # (e,), number of the elastic law among those of springs, −1 for none
    width: Vector  # (e,), length that a row with a law has more than its strain
    viscous: Vector  # (e,), undeformed stiffness of rows with a law, for damping
    schedule: Index  # (e,), number of the factor of time, −1 for none
    lawful: Index  # (m,), 1 for stresses of rods and cables with a law; empty without laws


class Solids(NamedTuple):
    """Solids of finite strain: mesh nodes or places (k), quadrature points (p) of cells, with c strain rows each.

    The position of a place is x = moves r + R arm by its frame, with an arm only if the frame turns. The columns of the
    deformation gradient at a point are sums over the n places of its cell, g_I = Σ slope x; strain rows are
    w g_I·g_J − ε₀. Cells add to the border: ``entry`` is the index for the first component of one place and each
    component of another one, and ``stride`` the distance to the further components of the first; −1 if a frame turns.
    """

    frame: Index  # (k,)
    moves: Vector
    arm: Matrix  # (k, d)
    turns: Index
    cell: Index  # (E + 1,), first point of each
    place_ptr: Index  # (E + 1,)
    place: Index
    slope_at: Index  # (E,), where the slopes (points, d, n) of a cell begin, in rows of whole lanes
    slope: Vector
    entry_at: Index  # (E,), where the entries (n, n, d) of a cell begin
    entry: Index
    stride: Number
    pair: IndexMatrix  # (c, 2), the columns I and J of each row
    factor: Matrix  # (p, c), w
    reference: Matrix  # (p, c), ε₀
    stress: IndexMatrix  # (p, c), among all stresses
    stiffness: Tensor  # (p, c, c), C⁻¹, zero in rows with a law
    viscous: Tensor  # (p, c, c), of rows with a law: undeformed stiffness, for damping; empty without laws
    lawful: Index  # (m,), 1 for stresses with a law; empty without laws


class Faces(NamedTuple):
    """Samples (q) of the faces of solids under follower loads.

    The position and the tangents of a sample are weighted sums over mesh nodes.
    """

    ptr: Index  # (q + 1,)
    place: Index
    point: Vector
    along: Vector
    across: Vector
    area: Vector  # (q,)
    input: IndexMatrix  # (q, d)


class Flows(NamedTuple):
    """Flows of fluid (k) along rods and cables, whose forces act on frames (f), see kernels.rates.flows.

    The matrices A, K and C of the flow are defined there: ``along`` is A, ``bent`` is K − C and ``tension`` is K, by
    rows of frames; ``own_along`` and ``own_bent`` are A and K − C over the unknowns.
    """

    mass: Vector  # (k,)
    owner: Index  # (f,), flow
    frame: Index  # (f,)
    ptr: Index  # (f + 1,)
    col: Index
    along: Vector
    tension: Vector
    bent: Vector
    own_row: Index  # frames in whose unknowns they are
    own_col: Index
    own_owner: Index
    own_along: Vector
    own_bent: Vector
    end_ptr: Index  # (2k + 1,), inlet and outlet of each
    end_frame: Index
    end_shape: Vector
    end_slope: Vector


class Masses(NamedTuple):
    """Rigid bodies (k) whose inertia is multiplied by a factor that changes with time.

    ``mass``, ``weight`` and ``J`` are the values at the factor one.
    """

    body: Index  # (k,)
    mass: Vector  # (k,)
    weight: Matrix  # (k, d)
    J: Tensor  # (k, s, s)


class Points(NamedTuple):
    """Points (f) of cables, which are frames with velocities v = T x.

    The unknowns x are rates of positions and slopes, which couple only neighbours. Each of the nodes (n) is a
    weighted mean of several frames, such as a port between two points of a cable.
    """

    own: Index  # (b,), 1 for frames that are such points
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


class Vibration(NamedTuple):
    """Free vibrations of bodies with full matrices, in the velocities (ω, u̇); empty unless steps lose energy.

    Blocks of the bodies are concatenated; ``at`` to ``stress`` are the first entries of the blocks of each body. See
    kernels.decay.
    """

    size: Index  # (b,), spins and coordinates of a deformable body that is not banded, else 0
    stresses: Index  # (b + 1,), its first stress
    at: Index  # (b,), a vector of the velocities
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
    """Banded bodies in steps that lose energy (see loops.decay.banded_jacobian); empty without such bodies.

    The matrix of such a body has rows for the four unknowns (τ, y, z, u̇̄) of each coordinate that are defined there,
    without u̇̄ of its masters, and a border with columns for ω̄, φ̄ᵀ, the masters, the spins of z, y, τ and their shifts.
    """

    rows: Index  # (b,), of the banded matrix, 0 for other bodies
    width: Index  # (b,), its bandwidth, its stored width, and where it begins
    stored: Index
    band: Index
    columns: Index  # (b,), of the border, whole lanes
    reduced: Index  # (b,), where a matrix of rows by columns begins
    corner: Index  # (b,), where a matrix of columns by columns begins
    number: IndexMatrix  # (n, 4), rows of the unknowns of each coordinate; from ``rows`` on columns of the border
    place: Index  # (n,), index within the body if only its coordinates are unknown
    plain_width: Index  # (b,), the bandwidth for these, its stored width, and where the band begins
    plain_stored: Index
    plain_band: Index
    stiffness: Vector  # (entries,), K on the pattern of the inertia
