"""Flat arrays of joints, loads and contacts, of the order of the unknowns, and of the ledger.

Matrices are stored by rows, see :mod:`flexph.integration.loops.memory.data`.
"""

from __future__ import annotations

from typing import NamedTuple

from ....numerics.loops.views import LANES, padded, stored
from .data import Index, IndexMatrix, Matrix, Number, Tensor, Unsigned, Vector


class Joints(NamedTuple):
    """Vectors between nodes (−1: none), their products, the terms of the constraints, the spring-dampers."""

    plus: Index
    minus: Index
    fixed: Matrix  # (v, d)
    first: Unsigned
    second: Unsigned
    term_row: Unsigned
    term_product: Unsigned
    length_product: Unsigned
    component_product: Unsigned
    sine_product: Unsigned
    cosine_product: Unsigned
    stiffness: Vector
    gain: Vector  # (springs,), change of the state by the extension: k, or 1 for springs with an elastic law
    damping: Vector
    state: Index
    law: Index  # (springs,), number of the elastic law, −1 for none
    law_first: Index  # (laws,), first piece of each, see loops.terms.spring_laws
    law_edge: Vector  # (pieces,), extension at the end of each piece, infinite for the last one of a law
    law_base: Vector  # (pieces,), extension that the powers of a piece are relative to
    law_power: Matrix  # (pieces, n), energies by ascending powers
    law_function: IndexMatrix  # (laws, 3), addresses of V, V' and V'', 0 for none
    law_strength: Vector  # (laws,), μ of V = −μ/x, 0 of others
    force_law: Index  # (springs,), address of F(x, v, t), 0 for none
    path_kind: Index  # (springs,), kind of hysteresis, 0 for none
    path_parameter: Matrix  # (springs, 6)
    laws: Number  # of springs and of strains with a law
    scheduled: Number  # of laws with a factor of time
    kind: Index  # of the relations of spring-dampers, followed by those of slips, see loops.mechanics.relations
    parameter: Matrix
    function: Index
    derivative: Index
    steepness: Vector
    resisting: Index
    joins_points: Vector  # (v,), see kernels.constraint_sizes
    holds_points: Vector  # (g,)
    lengths: Vector  # (2,)
    of_length: Vector  # (n,), flexible coordinates of the inertia of a length of one


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


class Curves(NamedTuple):
    """Curves (c) on which points slide, as piecewise polynomials (see kernels.rates.curves.Curve)."""

    row: IndexMatrix  # (c, d), constraint rows, with that of a driven place last; −1 for none
    input: Index  # (c,), input that pushes along the curve, −1 for none
    degree: Index  # (c,)
    knot: Index  # (c + 1,), first knot of each
    knots: Vector
    power: Tensor  # (pieces, degree + 1, degree + 1), by point and power
    point: Index  # (c + 1,), first point of each
    product: IndexMatrix  # (points, d)


class Slips(NamedTuple):
    """Slips with rate-dependent friction (see kernels.rates.slips.Slips), by components and terms."""

    product: Index  # (w,)
    by: Index
    weight: Vector
    angular: Index
    also: Index  # third products of the gains, −1 for none
    row: Index  # (w,), component
    slip: Index  # (components,)
    curve: Index  # (components,), along which a point slips, −1 for none
    first: Index  # (slips + 1,), first component
    term: Index  # (slips + 1,), first term
    lost: Index  # (slips,), columns of the flows


class Ropes(NamedTuple):
    """Ropes (r) by spans, angles and arcs (see kernels.ropes.Ropes); they are the last springs."""

    span: Index  # (r + 1,), first span of each
    square: Index  # (k,)
    offset: Vector
    angle: Index  # (r + 1,), first angle of each
    sine: Index  # (w,)
    cosine: Index
    radius: Vector
    arriving: Index  # (a,), span
    turn: Index  # (a,), angle of that span
    sheave: Vector
    wound: Index  # (a,), 1 for arcs of full turns, which have no bounds


class Loads(NamedTuple):
    """Inputs as forces on nodes and torques on sections, and followers (f), inputs in the axes of sections."""

    node_row: Index
    node_input: Index
    node_val: Vector
    torque_row: Index
    torque_input: Index
    torque_val: Vector
    torque_body: Unsigned
    torque_ptr: Unsigned
    torque_col: Unsigned
    torque_shape: Matrix  # (entries, s)
    follow_input: IndexMatrix  # (f, d)
    follow_node: IndexMatrix
    follower: Index  # (i,), row of ``follow_input`` that an input belongs to, −1 for world axes


class Border(NamedTuple):
    """Order of the unknowns: inner flexible coordinates by body, and the border that remains after their elimination.

    The border has ṙ̄, ω̄, φ̄u̇̄ of the bodies, the flexible coordinates at ports (masters) and the multipliers.
    """

    v: IndexMatrix  # (b, d)
    w: IndexMatrix  # (b, s), −1 for bodies that do not turn
    c: IndexMatrix  # (b, d), −1 for rigid bodies
    m: Index  # (n,), −1 for inner coordinates
    l: Index  # (g,)
    inner: Index  # (n,), place within the body, −1 for masters
    order: Unsigned  # (n,), inner coordinates of each body by their places, from its first coordinate on
    place: Index  # (entries of the inertia,), index of each from ``system.entries`` on
    inners: Index  # (b,), number of inner coordinates
    width: Index  # (b,) bandwidth of the inner matrices
    stored: Index  # (b,) width of their storage
    band: Index  # (b,) where this begins
    masters: Index  # (b + 1,)
    master: Index  # flexible coordinates, by body
    local: Index  # (n,), place among the masters of the body
    columns: Index  # (b,) of F⁻¹ C, whole lanes
    reduced: Index  # (b,) where F⁻¹ C of the body begins
    vector_ptr: Index  # (v + 1,) columns that each vector depends on
    vector_col: Index
    end_first: Index  # (v,), first and last column of the end of a vector
    end_last: Index
    e: IndexMatrix  # (v, d), ends of vectors, of a sparse border
    column_ptr: Index  # (N + 1,), entries of a sparse border by columns
    row: Index
    size: Index  # (2,), number of unknowns in the border, and its bandwidth, −1 if it is sparse


def border_width(border: Border) -> int:
    """Entries of a row of a banded border: row exchanges bring in no more entries than there are columns."""
    size, width = border.size.tolist()
    return min(int(stored(width)), int(padded(width + size + LANES)) + LANES)


class Contacts(NamedTuple):
    """Contacts (c): gaps ±m − offset of measures m of the vectors V, W, U, with their laws and accounts.

    See kernels.contacts.gaps.Contacts; ``node`` are the nodes at the plus and at the minus end of V, W and U. Gaps of
    ``rigid`` contacts are monitored in steps in which they are open; steps in which they close have impacts (see
    integration.loops.strikes).
    """

    kind: Index  # (c,)
    rigid: Index  # (c,) 0 or 1
    sign: Vector
    offset: Vector
    node: IndexMatrix  # (c, 6), −1 for none
    fixed: Tensor  # (c, 3, d)
    body: IndexMatrix  # (c, 2), bodies on which friction exerts a torque
    share: Matrix  # (c, 2)
    stiffness: Vector
    exponent: Vector
    loss: Vector
    damping: Vector
    friction: Vector
    slipping: Vector
    holding: Vector
    pair: Index  # (c,), number in the table of a group's anchors, 0 for others
    rows: Index  # (c,), number of rows of that table
    anchor: Index  # (c,), first of its entries among the spring forces of the memory, −1 for none
    table: Index  # (c,), where the table begins among the spring forces of a state
    stored: Index  # (c,), place among the energies of contacts
    pressed: Index  # (c,), columns of the flows
    rubbed: Index
    lost: Index
    sides: IndexMatrix  # (c, 2), bodies that a contact acts on, −1 for none
    parts: IndexMatrix  # (c, 2), first body of each one's group, coupled by joints and springs
    restitution: Vector
    struck: IndexMatrix  # (c, 6), of rigid ones: columns of impulses at impacts and of losses


class Bearings(NamedTuple):
    """Faces of joints (f) with dry friction under the joint force, of t = d − 1 slips (see kernels.rates.bearings).

    ``spring`` are the measures that slip, numbers behind these the curves along which points slip, −1 for none, with a
    ``lever``; the multipliers of ``row`` press the bearing ``owner``. Columns of the flows: the losses in steps
    (``lost``) and at impacts (``struck``), the ``pressing`` and friction (``rubbed``) impulses, and ``joined``, the
    loss by removing the velocity defect of the joints before slip settles.
    """

    spring: IndexMatrix  # (f, t)
    lever: Matrix  # (f, t)
    friction: Vector  # (f,)
    row: Index  # (k,)
    owner: Index  # (k,)
    lost: Index  # (f,)
    struck: Index
    pressing: Index
    rubbed: Index
    joined: Number


class LedgerColumns(NamedTuple):
    """Accounts: columns of the flows for inputs, references, rows, schedules, bodies and dampers, and of the energies.

    They are −1 where there is none.

    The flows are the work of ports and drives, then that of ideal joints, the impulses of contacts, and the losses.
    Elastic energies are the columns from ``flexed`` to ``heavy``.
    """

    input: Index
    reference: Index
    row: Index
    schedule: Index  # (b,)
    body: Index
    damper: Index
    kinetic: Index
    elastic: Index
    potential: Index
    flexed: Number
    heavy: Number
    spring: Number
    contact: Number
    flow: Number  # first of three works of each flow
    flowing: Number  # first of their energies
    earned: Number
    lost: Number


class Redundancy(NamedTuple):
    """Constraints (k) that may depend on others, in groups; none unless multipliers are of least norm."""

    own: Index  # (g,), index among these, −1 for others
    row: Index  # (k,)
    weight: Vector  # (k,), units of the multipliers
    group: Index  # (k,)
    first: Index  # (groups + 1,)
    columns: Index  # (groups,), number of velocities that a group acts on
    block: Index  # (groups,), where its matrix begins
    column: Index  # (N,), index among the velocities of the group, −1 for others
    scale: Vector  # (N,), units of the velocities
