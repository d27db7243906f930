"""Constant arrays of joints, loads and contacts, of the order of the unknowns, and of the ledger.

Matrices are stored by rows, see :mod:`flexph.integration.loops.memory.data`.
"""

from __future__ import annotations

from typing import NamedTuple

from ....numerics.loops.views import LANES, padded, stored
from .data import Index, IndexMatrix, Matrix, Number, Tensor, Unsigned, Vector


class Joints(NamedTuple):
    """Vectors between nodes, their scalar products, the terms of the constraints, and the spring-dampers.

    A vector is ``fixed`` plus its node ``plus`` minus its node ``minus``, each −1 for none; ``first`` and ``second``
    are the vectors of a product. A term is a coefficient times a product. See kernels.arrays.
    """

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
    gain: Vector  # (springs,), derivative of the state with respect to the extension, see kernels.spring_arrays
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
    timed: IndexMatrix  # (7, 2), first column and number of each kind of value that changes, see kernels.arrays
    kind: Index  # of the relations of spring-dampers, followed by those of slips, see loops.mechanics.relations
    parameter: Matrix
    function: Index
    derivative: Index
    steepness: Vector
    resisting: Index
    joins_points: Vector  # (v,), see kernels.state
    holds_points: Vector  # (g,)
    lengths: Vector  # (2,)
    of_length: Vector  # (n,), flexible coordinates of the inertia of a length of one


class Rolling(NamedTuple):
    """Terms w Π_by Π̇ and a·Ω of constraints on velocities, such as rolling (see kernels.arrays.Rolling).

    Π and Π_by are products of vectors, Ω is the spin of a body in world axes, and a a constant world vector.
    """

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

    row: IndexMatrix  # (c, d), constraint rows, with that of a driven position last; −1 for none
    input: Index  # (c,), input that pushes along the curve, −1 for none
    degree: Index  # (c,)
    knot: Index  # (c + 1,), first knot of each
    knots: Vector
    power: Tensor  # (pieces, degree + 1, degree + 1), coefficients of the polynomial of each point
    point: Index  # (c + 1,), first point of each
    product: IndexMatrix  # (points, d)


class Slips(NamedTuple):
    """Slips with friction that depends on the slip rate, such as slips of wheels (see kernels.rates.slips.Slips).

    A slip has components, a component is a sum of terms.
    """

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
    load: Index  # (slips,), row whose multiplier is the wheel load, −1 for none
    pressed: Index  # (slips,), 1 for wheels whose load is the normal force of compliant contacts
    lost: Index  # (slips,), columns of the flows


class Ropes(NamedTuple):
    """Ropes (r) with their straight spans (k), angles (w) and arcs on sheaves (a), see kernels.ropes.Ropes.

    Ropes are the last springs.
    """

    span: Index  # (r + 1,), first span of each
    square: Index  # (k,)
    offset: Vector
    angle: Index  # (r + 1,), first angle of each
    sine: Index  # (w,)
    cosine: Index
    radius: Vector
    arriving: Index  # (a,), span that arrives at the sheave
    turn: Index  # (a,), angle of that span
    sheave: Vector
    wound: Index  # (a,), 1 for arcs of full turns, which have no bounds


class Loads(NamedTuple):
    """Forces on nodes and torques on sections that inputs exert.

    Followers (f) are loads whose axes turn with a section or a body.
    """

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

    The border has the mean rates ṙ̄, ω̄ and φ̄u̇̄ (of the shift of the centre of mass) of the bodies, the flexible
    coordinates at ports (masters) and the multipliers. F is the matrix of the inner coordinates of a body, C the
    columns by which these depend on the unknowns of the border.
    """

    v: IndexMatrix  # (b, d)
    w: IndexMatrix  # (b, s), −1 for bodies that do not turn
    c: IndexMatrix  # (b, d), −1 for rigid bodies
    m: Index  # (n,), −1 for inner coordinates
    l: Index  # (g,)
    inner: Index  # (n,), index among the inner coordinates of the body, −1 for masters
    order: Unsigned  # (n,), inner coordinates of each body in the order of ``inner``, from its first coordinate on
    place: Index  # (entries of the inertia,), where each is in the Jacobian, counted from the start of system.entries
    inners: Index  # (b,), number of inner coordinates
    width: Index  # (b,) bandwidth of F
    stored: Index  # (b,) stored width of F
    band: Index  # (b,) where F begins
    masters: Index  # (b + 1,)
    master: Index  # flexible coordinates, by body
    local: Index  # (n,), index among the masters of the body
    columns: Index  # (b,) number of columns of F⁻¹ C, in whole lanes
    reduced: Index  # (b,) where F⁻¹ C of the body begins
    vector_ptr: Index  # (v + 1,), columns of the border that each vector depends on
    vector_col: Index
    end_first: Index  # (v,), first and last column of the end of a vector
    end_last: Index
    e: IndexMatrix  # (v, d), ends of vectors, of a sparse border
    column_ptr: Index  # (N + 1,), entries of a sparse border by columns
    row: Index
    size: Index  # (2,), number of unknowns in the border, and its bandwidth, −1 if it is sparse


def border_width(border: Border) -> int:
    """Number of stored entries in a row of a banded border of the Jacobian.

    It has room for the fill-in by row exchanges, up to all columns.
    """
    size, width = border.size.tolist()
    return min(int(stored(width)), int(padded(width + size + LANES)) + LANES)


class Contacts(NamedTuple):
    """Contacts (c): gaps, laws, and columns of the ledger. A gap is ±m − offset, m a measure of vectors V, W, U, D.

    See kernels.contacts.gap_arrays.Contacts; ``node`` are the nodes at the plus and at the minus end of V, W, U and D.
    Gaps of ``rigid`` contacts are monitored in steps in which they are open; steps in which they close have impacts
    (see integration.loops.strikes).
    """

    kind: Index  # (c,)
    rigid: Index  # (c,) 0 or 1
    sign: Vector
    offset: Vector
    node: IndexMatrix  # (c, 8), −1 for none
    fixed: Tensor  # (c, 4, d)
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
    stored: Index  # (c,), index among the energies of contacts
    pressed: Index  # (c,), columns of the flows
    rubbed: Index
    lost: Index
    sides: IndexMatrix  # (c, 2), bodies that a contact acts on, −1 for none
    parts: IndexMatrix  # (c, 2), group of coupled bodies of each side, by the index of its first body
    restitution: Vector
    struck: IndexMatrix  # (c, 6), of rigid contacts: columns of the flows for impulses and losses at impacts, see codes
    speed: Vector  # of a moving surface along U [m/s]
    timed: Index  # (c,), number of this speed among those that change with time, −1 if it is constant
    driven: Index  # (c,), number of the input that is a speed of its surface, −1 for none
    rubbing: Index  # (c,), number of the factor of its friction among those that change with time, −1 for none
    surface: Index  # (c,), column of the flows for the work of a moving surface, −1 for none
    wheel: Index  # (c,), slip of the wheel that it loads, −1 for none
    shape: Index  # (c,), number of the surface whose distance is the gap, −1 for none
    blend: Vector  # width of the blends between its faces [m]
    skin: Index  # (c,), number of the ball and skin whose closest face the gap is, −1 for none


class Surfaces(NamedTuple):
    """Surfaces of contacts, boxes and meshes (see kernels.surfaces.surfaces.Surfaces)."""

    half: Matrix
    root: Index
    signed: Index
    low: Matrix
    high: Matrix
    skip: Index
    cells: IndexMatrix
    corner: Tensor
    feature: IndexMatrix
    outward: Matrix


class Bearings(NamedTuple):
    """Bearings (f): joints with dry friction that grows with the joint force, along t = d − 1 slips each.

    ``spring`` are the numbers of the measures that slip, each with a ``lever``: numbers of springs, or larger numbers
    for curves along which points slip, −1 for none. The multipliers of ``row`` press the bearing ``owner``. Columns of
    the flows are ``lost`` and ``struck``, the losses in steps and at impacts, ``pressing`` and ``rubbed``, the pressing
    and friction impulses, and ``joined``, the loss by removing the velocity defect of the joints before slip settles.
    See kernels.rates.slips.
    """

    spring: IndexMatrix  # (f, t)
    lever: Matrix  # (f, t)
    friction: Vector  # (f,)
    rubbing: Index  # (f,), index of the time factor of the friction, −1 for none
    row: Index  # (k,)
    owner: Index  # (k,)
    lost: Index  # (f,)
    struck: Index
    pressing: Index
    rubbed: Index
    joined: Number


class LedgerColumns(NamedTuple):
    """Columns of the ledger for works and losses of inputs, constraints, bodies and dampers, and for energies.

    −1 stands for none. The flows are the work of ports and drives, from ``earned`` on the work of ideal joints and
    impulses of contacts, and from ``lost`` on the losses. Elastic energies are the columns from ``flexed`` to
    ``heavy``.
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
    """Constraints (k) that may depend on others, in groups that share no body.

    There are none unless multipliers of least norm are requested.
    """

    own: Index  # (g,), index among these, −1 for others
    row: Index  # (k,)
    weight: Vector  # (k,), units of the multipliers
    group: Index  # (k,)
    first: Index  # (groups + 1,)
    columns: Index  # (groups,), number of velocities that a group acts on
    block: Index  # (groups,), where its matrix begins
    column: Index  # (N,), index among the velocities of the group, −1 for others
    scale: Vector  # (N,), units of the velocities
