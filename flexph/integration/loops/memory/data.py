"""Kinds of the flat arrays of the compiled kernels, and those of bodies; d dimensions, s spins, K = 1 + s + s² with
zeros up to whole lanes (see :mod:`flexph.numerics.loops.views`).

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
    is_asked: Number  # 1 where Python has M, N_a and K_ab (see loops.wide.kept_block), and forms are zero
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
    side: Index  # the same, or behind all bodies the number of the mean of points that it is
    moves: Vector  # 1 for points, 0 for directions
    follows: Vector  # 1 for points; of means of points how far they move with the unknowns of their body,
    others_ptr: Unsigned  # (k + 1,)
    others: Unsigned  # and with those of other frames
    others_weight: Vector
    position: Matrix  # (k, d)
    ptr: Unsigned
    col: Unsigned
    val: Matrix  # (entries, d)


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


class Solids(NamedTuple):
    """Solids of finite strain: places (k) of their frames, points (p) of their cells, c strain rows of each.

    A place is moved by its frame, x = moves r + R arm, where that turns. The columns of the deformation gradient at a
    point are sums of the n places of its cell, g_I = Σ slope x, and strain rows are w g_I·g_J − ε₀. Where cells add to
    the border: ``entry`` is that of the first components of two places for each component of the second one, and
    ``stride`` leads from there to the others; −1 where a frame turns.
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
    viscous: Tensor  # (p, c, c), of rows with a law that without strain, which damping is of; none without laws
    lawful: Index  # (m,), 1 where a stress has a law; none without laws


class Faces(NamedTuple):
    """Samples (q) of loads that follow faces: weights of places of solids in their points and both tangents."""

    ptr: Index  # (q + 1,)
    place: Index
    point: Vector
    along: Vector
    across: Vector
    area: Vector  # (q,)
    input: IndexMatrix  # (q, d)


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
    """Banded bodies in steps that lose energy (see loops.decay.banded); none where no body is one of them.

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
