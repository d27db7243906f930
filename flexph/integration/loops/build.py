"""Conversion of a mechanism to the flat constant arrays of the compiled kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee

from ...bodies.body import Body
from ...joints.rows.connection import measures
from ...kernels.arrays import FACTORS, MASSES, Arrays, timed_columns
from ...kernels.surfaces.surfaces import joined
from ...mechanisms.model.accounts import FLOWS, Accounts
from ...mechanisms.model.references import controlled_factors
from ...numerics.arrays import Array, dense, no_entries
from .border import Frames, make_border
from .contacts import contacts_of, surfaces_of
from .filters import NARROW, UNKNOWNS, is_banded, make_filter, no_filter
from .flexible.constants import elastic_of, inertia_of, pattern_of, shift_forms, stiffness_of, without_coordinates
from .flexible.strain_operator import StrainOperator, count_products, entries_of
from .flows import flows_of
from .friction.arrays import bearings_of
from .memory.connection_data import Joints, LedgerColumns, Loads, Rolling, Surfaces
from .memory.constants import Constants
from .memory.data import Index, Masses, Nodes, Points, Vibration
from .memory.relation_functions import resisting, spring_laws
from .memory.sliding import curves_of, ropes_of, slips_of
from .near_pairs import NearPairs
from .points import JointSizes, MovedMeans, ends_of, joint_sizes, moved_means, node_sides, point_coordinates
from .redundancy import no_redundancy, redundancy
from .solids.arrays import faces_of, frames_of_cells, frames_of_faces, owned_by_solids, solids_of, with_entries
from .strains import in_the_border, no_strains, strain_rows
from .vibration import no_vibration, vibration
from .wide.kept_block import has_kept_block, has_many_products

if TYPE_CHECKING:
    from ...mechanisms.model.model import Model


WIDE = 1e7
"""Number of operations of a banded factorisation beyond which a sparse one is faster."""
WIDEST = 1e8
"""Number of operations beyond which banded matrices of a large body are not tried."""
FULL = 600
"""Number of coordinates of a body above which its full matrices take too long in methods that factor them."""
LARGEST, PRODUCTS = 2e8, 1e8
"""Operations of a factorisation, a fifth of a second, and products of slopes, some gigabytes, beyond which such methods
take no mechanism of more than 300 velocities."""
LARGE = 500
"""Number of coordinates of a body below which any band is accepted."""
SOLID = 1000
"""Number of unknowns of solids of finite strain beyond which a border counts as wide."""
SMALL = 100_000
"""Number of entries up to which a sparse matrix is converted to a dense one for access row by row."""


def constants(mechanism: Model) -> Constants:
    """Arrays of constants of a mechanism, in the layout of the compiled loops.

    Contacts that are evaluated only while a list of near pairs has them are left out (see :func:`with_near`). Inertia
    matrices exclude the shift to the centre of mass. ``pack`` copies the arrays into one memory.
    """
    return _constants_of(mechanism, is_wide=True) if mechanism.once(is_wide) else mechanism.once(banded_constants)


def banded_constants(mechanism: Model) -> Constants:
    """Arrays of constants of a mechanism with a banded border, even if a sparse one would be cheaper."""
    return _constants_of(mechanism, is_wide=False)


def _constants_of(mechanism: Model, *, is_wide: bool) -> Constants:
    near = mechanism.once(NearPairs).in_order
    return _constants(mechanism, no_vibration(len(mechanism.network.arrays.mass)), near, is_wide=is_wide)


def is_wide(mechanism: Model) -> bool:
    """True if the border of the Jacobian is stored sparse: for plates, solids, and many bodies joined to one."""
    return not mechanism.once(NearPairs).is_pile and mechanism.once(cost_of_band) > WIDE


def cost_of_band(mechanism: Model) -> float:
    """Number of operations to factor the Jacobian of a step if its border is banded.

    It is infinite for large solids; their arrays, which would be large, are not built for the estimate.
    """
    nodes, frames = mechanism.once(owned_by_solids).frames.sum() * mechanism.layout.dim, mechanism.frames.values()
    most = WIDE if mechanism.once(has_kept_block) else WIDEST
    if has_many_products(mechanism) or nodes > SOLID or any(b.unshifted or is_large_solid(b, most) for b in frames):
        return np.inf
    return _operations(mechanism)


def cost_of_factor(mechanism: Model) -> float:
    """Number of operations to factor a Jacobian without sparse factors, banded or full; infinite if too large."""
    a, frames = mechanism.network.arrays, mechanism.frames.values()
    nodes = mechanism.once(owned_by_solids).frames.sum() * mechanism.layout.dim
    if nodes > SOLID or any(b.unshifted or is_large_solid(b, LARGEST) for b in frames):
        return np.inf
    return np.inf if count_products(a.slopes, a.weights) > PRODUCTS else _operations(mechanism)


def _operations(mechanism: Model) -> float:
    border = mechanism.once(banded_constants).border
    unknowns, width = (float(i) for i in border.size)
    return unknowns * width**2 + float(border.inners @ border.width.astype(float) ** 2)


def is_large_solid(body: Body, most: float) -> bool:
    """True for a large body such as a solid, whose banded factorisation takes more than ``most`` operations.

    The test needs no arrays of the loops.
    """
    return body.size >= LARGE and body.elasticity is not None and body.size * bandwidth(body) ** 2 > most


def bandwidth(body: Body) -> float:
    """Bandwidth of the stiffness of a deformable body, with its coordinates ordered as in the loops."""
    assert body.elasticity is not None
    strain = sparse.csr_array(body.elasticity.strain)
    linked = sparse.csr_array((np.ones(strain.nnz), strain.indices, strain.indptr), shape=strain.shape)
    pattern = sparse.coo_array(linked.T @ linked)
    place = np.argsort(reverse_cuthill_mckee(sparse.csr_array(pattern), symmetric_mode=True))
    return float(np.abs(place[pattern.row] - place[pattern.col]).max())


def has_full_matrices(body: Body) -> bool:
    """True for a large body without a narrow band, for which the decaying scheme needs full matrices."""
    if body.size <= FULL or body.elasticity is None:
        return body.size > FULL
    width = bandwidth(body) + 1.0
    return not (body.size > NARROW * width and UNKNOWNS**3 * body.size * width**2 <= WIDEST)


def constants_of_decaying(mechanism: Model) -> Constants:
    """Arrays of constants of a mechanism for steps that lose energy.

    They include the free vibrations of bodies with full matrices and the filter of banded ones.
    """
    k = mechanism.once(banded_constants)
    vibrating, sizes = mechanism.once(_vibration), np.diff(k.inertia.first)
    full = np.flatnonzero(vibrating.size)
    if full.size and (np.diff(k.inertia.ptr[k.inertia.first])[full] == sizes[full] ** 2).all():  # they are full anyway
        return k._replace(vibration=vibrating, filter=make_filter(k, mechanism.once(_is_banded)))
    return _constants_of_decaying(mechanism, mechanism.once(NearPairs).in_order)


def _is_banded(mechanism: Model) -> Array:
    return is_banded(mechanism.once(banded_constants))


def _vibration(mechanism: Model) -> Vibration:
    return vibration(mechanism.network.arrays, mechanism.once(_is_banded))


def _constants_of_decaying(mechanism: Model, near: Index) -> Constants:
    k = _constants(mechanism, mechanism.once(_vibration), near)
    return k._replace(filter=make_filter(k, mechanism.once(_is_banded)))


def with_near(mechanism: Model, k: Constants, near: Index, *, decaying: bool) -> Constants:
    """Constants ``k``, with only the contacts whose numbers are in ``near``.

    For piles and rigid contacts the unknowns keep their order; otherwise the order is computed again for these
    contacts. ``decaying`` is True for steps that lose energy.
    """
    if not mechanism.once(NearPairs).orders:
        return k._replace(contacts=contacts_of(mechanism, near))
    wide = bool(k.border.size[1] < 0)
    damped = _constants_of_decaying(mechanism, near) if decaying else None
    result = _constants(mechanism, k.vibration, near, is_wide=wide) if damped is None else damped
    return result if k.redundancy.row.size == 0 else result._replace(redundancy=redundancy(mechanism, result))


def _constants(mechanism: Model, vibrating: Vibration, near: Index, *, is_wide: bool = False) -> Constants:
    a = mechanism.network.arrays
    if a.closed or a.springs.distances:
        raise ValueError(
            "contacts that are closed at an edge, in a groove or on faces that deform exist at rest only: integrate "
            "the mechanism with its contacts, not that of with_closed_contacts()"
        )
    resolution = a.resolution
    if not a.body_u.size:  # nothing is shifted
        a = a._replace(mean=no_entries(a.weight.size, 0), viscous=mechanism.network.unshifted["viscous"])
    elif a.mean is None:
        a = a._replace(**mechanism.network.unshifted)
    forms, is_asked = shift_forms(mechanism), is_wide and mechanism.once(has_kept_block)
    arrays = without_coordinates(a) if is_asked else a
    strain = StrainOperator.of(arrays)
    pattern = pattern_of(arrays, strain, np.flatnonzero(vibrating.size))
    inertia = inertia_of(arrays, pattern, 0.0 * forms if is_asked else forms, resolution)
    inertia = inertia._replace(is_asked=int(is_asked))
    points, sizes = point_coordinates(mechanism), joint_sizes(mechanism)
    nodes = _nodes(a, points, (moved_means(mechanism), node_sides(mechanism)), sizes.nodes)
    joints = _joints(a, [name for name, _ in measures(mechanism.connections)], sizes)
    rolling = Rolling(*(getattr(a.rolling, name) for name in Rolling._fields))
    strains = strain_rows(mechanism) if a.strains.stress.size else no_strains()
    solids = solids_of(mechanism, sizes.nodes, sizes.vectors)
    faces = faces_of(a, sizes.nodes + np.flatnonzero(mechanism.once(owned_by_solids).places))
    contacts, loads = contacts_of(mechanism, near), _loads(a, sizes.nodes)
    curves, accounts = curves_of(a), mechanism.once(Accounts)
    first_slip = accounts.flow_count - len(accounts.dissipation) + accounts.damped.size + accounts.dampers.size
    slips = slips_of(a, first_slip)
    ropes = ropes_of(a)
    couplings = (joints, rolling, strains, contacts, loads, curves, slips, ropes)
    groups, together = frames_of_cells(solids) + frames_of_faces(faces, solids), np.zeros(len(a.mass), dtype=np.int64)
    together[solids.frame] = 1
    frames = Frames(groups, together, mechanism.once(NearPairs).is_pile, is_wide)
    border = make_border(inertia, nodes, couplings, mechanism.layout.multipliers, frames)
    return Constants(
        inertia=inertia,
        elastic=elastic_of(arrays, strain, pattern)._replace(is_viscous=int(a.viscous.nnz > 0)),
        stiffness=stiffness_of(arrays, strain, pattern, border.place),
        nodes=nodes,
        joints=joints,
        rolling=rolling,
        curves=curves,
        slips=slips,
        ropes=ropes,
        loads=loads,
        border=border,
        strains=in_the_border(strains, border),
        points=points,
        contacts=contacts,
        bearings=bearings_of(mechanism),
        ledger=_ledger_columns(mechanism),
        redundancy=no_redundancy(mechanism.layout.multipliers),
        vibration=vibrating,
        filter=no_filter(len(a.mass)),
        solids=with_entries(solids, border),
        faces=faces,
        flows=flows_of(mechanism),
        masses=_masses(a),
        surfaces=Surfaces(*joined(list(mechanism.once(surfaces_of)))),
    )


def _nodes(a: Arrays, points: Points, by: tuple[MovedMeans, Index], count: int) -> Nodes:
    """Arrays of the first ``count`` nodes, which belong to joints and loads.

    A mean of points is assigned to the frame that moves it most.
    """
    ptr, col, val = _shapes(a.node_shape, count, a.dim)
    means, side = by
    body, moves, position = (part[:count].copy() for part in (a.node_body, a.node_moves, a.node_position))
    body[points.node], follows = means.first, moves.copy()
    follows[points.node] = means.weight
    sizes, order = np.zeros(count, dtype=int), np.argsort(points.node)
    sizes[points.node] = [len(weights) for weights in means.others]
    others = _whole([means.others[i] for i in order]), _real([means.others_weight[i] for i in order])
    return Nodes(body, side[:count], moves, follows, ends_of(sizes), *others, position, ptr, col, val)


def _shapes(matrix: Any, count: int, width: int) -> tuple[Index, Index, Array]:
    """Nonzero columns of each of the first ``count`` groups of ``width`` consecutive rows of a matrix.

    Returns where the columns of each group end in the list, the list of columns, and the entries (e, width) of the
    group in each of these e columns.
    """
    if not count:
        return np.zeros(1, dtype=np.int64), _whole([]), np.zeros((0, width))
    if matrix.shape[0] * matrix.shape[1] <= SMALL:
        blocks = dense(matrix)[: count * width].reshape(count, width, matrix.shape[1])
        used = blocks.any(axis=1)
        group, column = np.nonzero(used)
        return ends_of(used.sum(axis=1)), column, blocks[group, :, column]
    rows = sparse.csr_array(matrix)
    col, val = [], []
    for k in range(count):
        block = dense(rows[k * width : (k + 1) * width])
        columns = np.flatnonzero(block.any(axis=0))
        col.append(columns)
        val.append(block[:, columns].T)
    ptr = np.concatenate([[0], np.cumsum([c.size for c in col])]).astype(int)
    return ptr, _whole(col), np.concatenate([np.zeros((0, width)), *val])


def _joints(a: Arrays, measured: list[str], sizes: JointSizes) -> Joints:
    row, column, sign = entries_of(a.incidence)
    plus, minus = (np.full(sizes.vectors, -1, dtype=np.int64) for _ in range(2))
    for side, chosen in ((plus, sign > 0.0), (minus, sign < 0.0)):
        chosen &= (row < sizes.vectors) & (column < sizes.nodes)
        side[row[chosen]] = column[chosen]
    names = ("length_product", "component_product", "sine_product", "cosine_product", "stiffness", "damping", "state")
    springs = {k: getattr(a.springs, k) for k in names}
    springs.update(resisting(a.springs, a.slips.relations)._asdict(), gain=a.springs.gain)
    springs.update(spring_laws(a.springs, a.strains)._asdict())
    springs.update(joins_points=a.joins_points[: sizes.vectors], holds_points=a.holds_points)
    springs.update(lengths=a.lengths, of_length=a.of_length, timed=timed_columns(a))
    pairs = a.first[: sizes.products], a.second[: sizes.products]
    return Joints(plus, minus, a.vector_fixed[: sizes.vectors], *pairs, a.term_row, a.term_product, **springs)


def _masses(a: Arrays) -> Masses:
    """Masses, weights and inertias, at the factor one, of the bodies whose mass changes with time."""
    body = np.array([b for b, _ in a.mass_factors], dtype=np.int64)
    return Masses(body, a.mass[body], a.weight[body], a.J[body])


def _loads(a: Arrays, nodes: int) -> Loads:
    node, torque = entries_of(a.input_node), entries_of(a.input_torque)
    is_force = node[0] < nodes * a.dim
    ptr, col, val = _shapes(a.torque_shape, a.torque_body.size, a.n.shape[0])
    follower = np.full(a.input_node.shape[1], -1, dtype=np.int64)
    follower[a.follow_input] = np.arange(len(a.follow_input))[:, None]
    return Loads(
        node_row=node[0][is_force],
        node_input=node[1][is_force],
        node_val=node[2][is_force],
        torque_row=torque[0],
        torque_input=torque[1],
        torque_val=torque[2],
        torque_body=a.torque_body,
        torque_ptr=ptr,
        torque_col=col,
        torque_shape=val,
        follow_input=a.follow_input,
        follow_node=a.follow_node,
        follower=follower,
    )


def _ledger_columns(mechanism: Model) -> LedgerColumns:
    """Column numbers of the ledger: works of ports and drives, works of ideal joints, losses, and energies."""
    accounts, slices = mechanism.once(Accounts), mechanism.network.input_slices.values()
    bodies, springs = len(mechanism.bodies), mechanism.network.arrays.springs.damping.size
    owner = np.repeat(np.arange(bodies), [len(body.frames) for body in mechanism.bodies.values()])
    works, ideal, elastic = len(accounts.work), len(accounts.joint_work), accounts.elastic.size
    lost, spring = works + ideal + len(accounts.impulses), bodies + elastic + accounts.heavy.size
    reference = _columns(accounts.references, springs, len(slices))
    schedule = _columns(accounts.scheduled, bodies, len(slices) + accounts.references.size)[owner]
    for controlled in mechanism.once(controlled_factors):
        if controlled.kind == FACTORS:
            reference[controlled.number] = controlled.port
        elif controlled.kind == MASSES:
            schedule[mechanism.network.arrays.mass_factors[controlled.number][0]] = controlled.port
    return LedgerColumns(
        input=np.repeat(np.arange(len(slices)), np.array([part.stop - part.start for part in slices], dtype=int)),
        reference=reference,
        row=accounts.first_row + accounts.row_joint,
        schedule=schedule,
        body=_columns(accounts.damped, bodies, lost)[owner],
        damper=_columns(accounts.dampers, springs, lost + accounts.damped.size),
        kinetic=owner,
        elastic=_columns(accounts.elastic, bodies, bodies)[owner],
        potential=_columns(accounts.heavy, bodies, bodies + elastic)[owner],
        flexed=bodies,
        heavy=bodies + elastic,
        spring=spring,
        contact=spring + int((mechanism.network.arrays.springs.state >= 0).sum()),
        flow=accounts.first_row - len(FLOWS) * accounts.flowing.size,
        flowing=len(accounts.energy) - accounts.flowing.size,
        earned=works,
        lost=lost,
    )


def _columns(owners: Index, count: int, first: int) -> Index:
    """Ledger column of each of ``count`` bodies or dampers: from ``first`` on for ``owners``, −1 for the others."""
    columns = np.full(count, -1)
    columns[owners] = first + np.arange(owners.size)
    return columns


def _whole(pieces: list[Any]) -> Index:
    return np.concatenate([np.zeros(0), *pieces]).astype(np.int64)


def _real(pieces: list[Any]) -> Array:
    return np.concatenate([np.zeros(0), *pieces])
