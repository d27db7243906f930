"""The flat arrays of joints, loads and contacts, of the order of the unknowns and of the ledger.

Matrices are kept by rows, see :mod:`flexph.integration.loops.memory.data`.
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
    gain: Vector  # (springs,), change of the state by the extension: k, or 1 where there is an elastic law
    damping: Vector
    state: Index
    law: Index  # (springs,), number of the elastic law, −1 for none
    law_first: Index  # (laws,), first piece of each, see loops.terms.spring_laws
    law_edge: Vector  # (pieces,), extensions at which they end, infinite of the last of each law
    law_base: Vector  # (pieces,), from which they count
    law_power: Matrix  # (pieces, n), energies by ascending powers
    law_function: IndexMatrix  # (laws, 3), addresses of V, V' and V'', 0 for none
    force_law: Index  # (springs,), address of F(x, v, t), 0 for none
    path_kind: Index  # (springs,), kind of hysteresis, 0 for none
    path_parameter: Matrix  # (springs, 6)
    kind: Index  # of the relations of spring-dampers, and behind these of slips, see loops.mechanics.relations
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
    """Curves (c) on which points slide, piecewise polynomials (see kernels.rates.curves.Curve)."""

    row: IndexMatrix  # (c, d), of the constraints: last that of a driven place, −1 for none
    input: Index  # (c,), what pushes along the curve, −1 for none
    degree: Index  # (c,)
    knot: Index  # (c + 1,), first knot of each
    knots: Vector
    power: Tensor  # (pieces, degree + 1, degree + 1), by point and power
    point: Index  # (c + 1,), first point of each
    product: IndexMatrix  # (points, d)


class Slips(NamedTuple):
    """Slips with friction that depends on a rate (see kernels.rates.slips.Slips), by components and terms."""

    product: Index  # (w,)
    by: Index
    weight: Vector
    angular: Index
    row: Index  # (w,), component
    slip: Index  # (components,)
    curve: Index  # (components,), along which a point slips, −1 for none
    first: Index  # (slips + 1,), first component
    term: Index  # (slips + 1,), first term
    lost: Index  # (slips,), columns of the flows


class Loads(NamedTuple):
    """Inputs as forces on nodes, as torques on sections, and in the axes of sections."""

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
    end_first: Index  # (v,), columns by which the end of a vector is seen, those up to
    end_last: Index
    e: IndexMatrix  # (v, d), ends of vectors, of a sparse border
    column_ptr: Index  # (N + 1,), entries of a sparse border by columns
    row: Index
    size: Index  # (2,), number of unknowns in the border, and its bandwidth, −1 where it is sparse


def border_width(border: Border) -> int:
    """Entries of a row of a banded border: exchanges of rows bring in no more than there are columns."""
    size, width = border.size.tolist()
    return min(int(stored(width)), int(padded(width + size + LANES)) + LANES)


class Contacts(NamedTuple):
    """Contacts (c): gaps ±m − offset of what vectors V, W, U measure, their laws, and their accounts.

    See kernels.contacts.gaps.Contacts; ``node`` are the nodes at the plus and at the minus end of V, W and U. Of the
    ``rigid`` ones the gaps are watched, as there are steps in which they are open; between rigid bodies there are steps
    with impacts, too (see integration.loops.strikes).
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
    sides: IndexMatrix  # (c, 2), bodies that it acts on, −1 for none
    parts: IndexMatrix  # (c, 2), the first of the bodies that joints and springs couple with these
    restitution: Vector
    struck: IndexMatrix  # (c, 6), of rigid ones: columns of normal and friction at impacts, and of what is lost by kind


class Bearings(NamedTuple):
    """Faces of joints (f) with dry friction under the joint force, of t = d − 1 slips (see kernels.rates.bearings).

    ``spring`` are the measures that slip, behind all of these the curves along which points do, −1 for none, with a
    ``lever``; the multipliers of ``row`` press the bearing ``owner``. What is ``lost`` in steps and where joints are
    ``struck``, ``pressing`` and ``rubbed`` impulses are columns of the flows, ``joined`` that of what velocities have
    against the joints where slip settles.
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
    """Accounts: columns of the flows for inputs, references, rows, bodies and dampers, of the energies (−1: none).

    Flows are first the work of ports and drives, then of ideal joints, impulses of contacts, then what is lost.
    Elastic energies are those of ``flexed`` to ``heavy``.
    """

    input: Index
    reference: Index
    row: Index
    body: Index
    damper: Index
    kinetic: Index
    elastic: Index
    potential: Index
    flexed: Number
    heavy: Number
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
