"""Order of the unknowns: inner flexible coordinates body by body, then the border that couples all bodies.

Both are numbered by the reverse Cuthill-McKee ordering, so that banded factorisations stay narrow: the cost of a chain
is linear in its bodies.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial, reduce
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import reverse_cuthill_mckee

from ...numerics.loops.views import padded, stored
from .contacts import loaded_wheels, unknowns_of
from .memory.connection_data import Border, Contacts, Curves, Joints, Loads, Rolling, Ropes, Slips, border_width
from .memory.data import Index, Inertia, Nodes, Strains
from .memory.sliding import CurvePoints, curve_points, products_of_slip, rope_products, slip_loads, slip_products
from .wide.border import Unknowns, sparse_pattern

Couplings = tuple[Joints, Rolling, Strains, Contacts, Loads, Curves, Slips, Ropes]
Blocks = list[tuple[Index, Index]]
MOST, FEW = 128, 10_000
"""Number of borders in the cache, and largest number of entries of flexible matrices for which borders are cached, for
mechanisms of the same structure.
"""


class Frames(NamedTuple):
    """Data on the frames of a mechanism that determine the order of the unknowns.

    ``groups`` are the frames that a cell or face of a solid couples, ``together`` marks frames whose unknowns are
    numbered consecutively. ``is_pile`` is True if only contacts couple the bodies, ``is_wide`` if the border is stored
    sparse.
    """

    groups: list[Index]
    together: Index  # (b,), 1 for frames whose unknowns are numbered consecutively
    is_pile: bool = False
    is_wide: bool = False


def make_border(inertia: Inertia, nodes: Nodes, couplings: Couplings, rows: int, frames: Frames) -> Border:
    """Order the unknowns of a step, and lay out the border that remains after the elimination of inner coordinates.

    ``rows`` is the number of multipliers. A pile is ordered body by body, as its contacts are stored outside the
    band.
    """
    if frames.is_wide or frames.groups:
        return _border(inertia, nodes, couplings, rows, frames)
    structure = _Structure(inertia, nodes, couplings, rows, frames)
    return _kept_border(structure) if inertia.col.size <= FEW else _border(*structure.given)


class _Structure:
    """Arguments of :func:`make_border` as a key of its cache, equal if sizes and indices are equal.

    Lengths and masses do not count, since the order does not depend on them.
    """

    def __init__(self, *given: Any) -> None:
        self.given = given
        inertia, nodes, couplings, rows, frames = given
        fields = (np.asarray(field) for group in (inertia, nodes, *couplings) for field in group)
        wholes = ((x.shape, x.tobytes()) if x.dtype.kind in "iub" else x.size == 0 for x in fields)
        self._key = (rows, frames.is_pile, inertia.weight.shape, inertia.J.shape, *wholes)

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Structure) and self._key == other._key


@lru_cache(maxsize=MOST)
def _kept_border(structure: _Structure) -> Border:
    return _border(*structure.given)


def _border(inertia: Inertia, nodes: Nodes, couplings: Couplings, rows: int, frames: Frames) -> Border:
    joints, rolling, strains, contacts, loads, curves, slips, ropes = couplings
    bodies, d = inertia.weight.shape
    s, n = inertia.J.shape[1], inertia.first[-1]
    is_master = np.full(n, frames.is_wide)
    for k in {*joints.plus, *joints.minus, *contacts.node[~contacts.rigid].ravel()} - {-1}:
        is_master[nodes.col[nodes.ptr[k] : nodes.ptr[k + 1]]] = True
    by_follower = _by_follower(inertia.weight.shape[1], nodes, loads)
    for follower in by_follower:
        is_master[follower.coordinates] = True
    count = _Counter()
    turning, flexing = inertia.turns[:, None] > 0, (np.diff(inertia.first) > 0)[:, None]
    v = count.number(np.ones((bodies, d), dtype=bool))
    w = count.number(np.broadcast_to(turning, (bodies, s)))
    c = count.number(np.broadcast_to(flexing, (bodies, d)))
    m = count.number(is_master)
    l = count.number(np.ones(rows, dtype=bool))
    e = count.number(np.full((len(joints.plus) * frames.is_wide, d), True))
    ptr, col = _vector_columns(nodes, joints, v, w, c, m)
    groups = _by_element(strains, np.hstack([v, w])) + [
        np.hstack([v, w])[follower].ravel() for follower in frames.groups
    ]
    touched = unknowns_of(contacts, nodes, (v, w, c, m))
    if not frames.is_pile:
        groups += {id(follower): follower for follower in touched}.values()
    wheels = [(products_of_slip(slips, slip), touched[k][touched[k] >= 0]) for k, slip in loaded_wheels(contacts)]
    if frames.is_wide:
        groups += [
            np.concatenate(
                [
                    v[follower.bodies].ravel(),
                    w[follower.bodies].ravel(),
                    c[follower.bodies].ravel(),
                    m[follower.coordinates],
                ]
            )
            for follower in by_follower
        ]
        unknowns = Unknowns(v, w, c, m, l, e)
        blocks = _blocks(inertia, (joints, rolling, curves, slips, ropes), unknowns, (ptr, col)) + [
            (follower, follower) for follower in groups
        ]
        blocks += [(_columns_of(joints, (ptr, col), products), follower) for products, follower in wheels]
        entries = m[np.repeat(np.arange(n), np.diff(inertia.ptr))], m[inertia.col.astype(np.int64)]
        order, *by_columns = sparse_pattern(unknowns, _is_node(strains, frames, bodies), blocks, entries)
        wide = -1
    else:
        groups += [np.concatenate([w[follower.bodies].ravel(), m[follower.coordinates]]) for follower in by_follower]
        groups = [np.unique(follower[follower >= 0]) for follower in groups]
        by_products = partial(_columns_of, joints, (ptr, col))
        by_curve = [_along_curve(by_products, follower, l) for follower in curve_points(curves)]
        groups += [
            np.concatenate([by_products(products), l[rows]])
            for products, rows in zip(slip_products(slips), slip_loads(slips), strict=True)
        ]
        groups += [by_products(products) for products in rope_products(ropes)]
        groups += [np.concatenate([by_products(products), follower]) for products, follower in wheels]
        groups = _groups(inertia, (joints, rolling), (v, w, c, m, l), (ptr, col)) + groups
        order = np.argsort(np.hstack([v, w]).ravel()) if frames.is_pile else _number(count.total, groups, by_curve)
        groups += [follower.whole for follower in by_curve]
        order, by_columns = _grouped_order(order, v[frames.together > 0]), [np.zeros(1, int), np.zeros(0, int)]
        wide = max([0, *(np.ptp(order[g]) for g in groups)])
    v, w, c, m, l, e = (np.where(x >= 0, order[x], -1) for x in (v, w, c, m, l, e))
    end_first, end_last = (col.size + d * np.arange(len(e) + 1)[k : len(e) + k] for k in range(2))
    inner, inners, width = _inner(inertia, is_master)
    masters = _masters(inertia, is_master)
    columns = padded(s + d + np.diff(masters["masters"]))
    border = Border(
        v=v,
        w=w,
        c=c,
        m=m,
        l=l,
        inner=inner,
        order=np.lexsort((inner, is_master, np.repeat(np.arange(bodies), np.diff(inertia.first)))),
        place=np.zeros(0, dtype=np.int64),
        inners=inners,
        width=width,
        stored=stored(width),
        band=_starts(inners * stored(width)),
        **masters,
        columns=columns,
        reduced=_starts(inners * columns),
        vector_ptr=ptr,
        vector_col=np.concatenate([np.where(col >= 0, order[col], -1), e.ravel()]),
        end_first=end_first if frames.is_wide else ptr[:-1],
        end_last=end_last if frames.is_wide else ptr[1:],
        e=e,
        column_ptr=by_columns[0],
        row=by_columns[1],
        size=np.array([count.total, wide]),
    )
    return border._replace(place=_places(inertia, border, s + d))


def _places(inertia: Inertia, border: Border, first: int) -> Index:
    """Index at which each entry of the matrices of flexible bodies is stored in the Jacobian.

    The Jacobian has the consecutive fields entries, band, reduced and border of :class:`System`; indices count from
    the start of the first of them. ``first`` is the first column of ``reduced`` that belongs to masters,
    the flexible coordinates in the border.
    """
    row, col = np.repeat(np.arange(inertia.ptr.size - 1), np.diff(inertia.ptr)), inertia.col
    body = np.searchsorted(inertia.first, row, side="right") - 1
    i, j, w = border.inner[row], border.inner[col], border.width[body]
    bands = inertia.col.size
    reduced = bands + int(border.inners @ stored(border.width))
    of_border = reduced + int(border.inners @ border.columns)
    total, wide = border.size.tolist()
    in_border = border.m[row] * (border_width(border) - 1) + border.m[col] + wide
    if wide < 0:
        keys = np.repeat(np.arange(total), np.diff(border.column_ptr)) * total + border.row
        in_border = np.searchsorted(keys, border.m[col] * total + border.m[row])
    choices = [
        (bands + border.band[body] + i * stored(w) + j - i + w, (i >= 0) & (j >= 0)),
        (reduced + border.reduced[body] + i * border.columns[body] + first + border.local[col], (i >= 0) & (j < 0)),
        (of_border + in_border, (i < 0) & (j < 0)),
    ]
    place = np.arange(col.size)
    for where, chosen in choices:
        place[chosen] = where[chosen]
    return place


class _Follower(NamedTuple):
    """Unknowns that a follower load couples: the spins of ``bodies``, and flexible ``coordinates``."""

    bodies: Index
    coordinates: Index


def _by_follower(d: int, nodes: Nodes, loads: Loads) -> list[_Follower]:
    """For each follower load the bodies and coordinates that it couples.

    A load that turns with a section couples the coordinates that turn the section with those that move the points
    of action of the load. A load without torques that follows the frame of a body couples none.
    """
    couplings, s = [], 1 if d == 2 else 3
    for inputs, directions in zip(loads.follow_input, loads.follow_node, strict=True):
        torques = np.unique(loads.torque_row[np.isin(loads.torque_input, inputs)] // s)
        columns = [nodes.col[nodes.ptr[k] : nodes.ptr[k + 1]] for k in directions]
        if torques.size or sum(part.size for part in columns):
            pushed = np.unique(loads.node_row[np.isin(loads.node_input, inputs)] // d)
            columns += [nodes.col[nodes.ptr[k] : nodes.ptr[k + 1]] for k in pushed]
            columns += [loads.torque_col[loads.torque_ptr[k] : loads.torque_ptr[k + 1]] for k in torques]
        bodies = np.concatenate([nodes.body[directions], loads.torque_body[torques]])
        couplings.append(_Follower(np.unique(bodies), np.unique(np.concatenate(columns)).astype(np.int64)))
    return couplings


class _Counter:
    """Counter that hands out consecutive numbers."""

    def __init__(self) -> None:
        self.total = 0

    def number(self, wanted: np.ndarray) -> Index:
        """Array in the shape of ``wanted`` with the next consecutive numbers where it is True, and −1 elsewhere."""
        numbers = np.full(wanted.shape, -1, dtype=np.int64)
        numbers[wanted] = self.total + np.arange(wanted.sum())
        self.total += int(wanted.sum())
        return numbers


def _vector_columns(nodes: Nodes, joints: Joints, *numbers: Index) -> tuple[Index, Index]:
    """Unknowns on which the two end nodes of each vector depend: positions in a joint list, and that list.

    The unknowns of vector v are entries ``ptr[v]`` to ``ptr[v + 1]`` of the list: for the body of each node ṙ̄, ω̄, the
    rate φ̄u̇̄ of the shift of its centre of mass and its flexible coordinates, and for a mean of points ṙ̄ of further
    frames. Unknowns that do not exist are −1. ``numbers`` are the numbers of the unknowns of these four kinds.
    """
    v, w, c, m = numbers
    ptr, col = [0], [np.zeros(0, dtype=np.int64)]
    for ends in zip(joints.plus, joints.minus, strict=True):
        for k in ends:
            if k >= 0:
                b = nodes.body[k]
                col += [v[b], w[b], c[b], m[nodes.col[nodes.ptr[k] : nodes.ptr[k + 1]]]]
                col.append(v[nodes.others[nodes.others_ptr[k] : nodes.others_ptr[k + 1]]].ravel())
        ptr.append(sum(part.size for part in col))
    return np.array(ptr, dtype=np.int64), np.concatenate(col).astype(np.int64)


def _groups(
    inertia: Inertia, couplings: tuple[Joints, Rolling], numbers: tuple[Index, ...], of_vectors: tuple[Index, Index]
) -> list[Index]:
    """Sets of unknowns that are coupled with each other: those of a body, a constraint or a spring.

    ``numbers`` are the numbers of the kinds of unknowns; ``of_vectors`` lists the unknowns on which each vector
    depends.
    """
    (v, w, c, m, l), (joints, rolling), (ptr, col) = numbers, couplings, of_vectors
    groups = [np.concatenate([v[b], w[b], c[b], m[inertia.first[b] : inertia.first[b + 1]]]) for b in range(len(v))]
    of_product = [
        np.concatenate([col[ptr[i] : ptr[i + 1]], col[ptr[j] : ptr[j + 1]]])
        for i, j in zip(joints.first, joints.second, strict=True)
    ]
    by_row: dict[int, list[Index]] = {}
    for row, product in zip(joints.term_row, joints.term_product, strict=True):
        by_row.setdefault(int(row), [l[row : row + 1]]).append(of_product[product])
    for row, *pair in zip(rolling.row, rolling.product, rolling.by, strict=True):
        by_row.setdefault(int(row), [l[row : row + 1]]).extend(of_product[product] for product in pair)
    for row, body in zip(rolling.spin_row, rolling.spin_body, strict=True):
        by_row.setdefault(int(row), [l[row : row + 1]]).append(w[body])
    groups += [np.concatenate(parts) for parts in by_row.values()]
    groups += [of_product[p] for p in (*joints.length_product, *joints.component_product)]
    pairs = zip(joints.sine_product, joints.cosine_product, strict=True)
    groups += [np.concatenate([of_product[p], of_product[q]]) for p, q in pairs]
    return [np.unique(g[g >= 0]) for g in groups]


class _Curve(NamedTuple):
    """Unknowns that are coupled by a point on a curve.

    ``whole`` are all these unknowns, ``pieces`` the unknowns of each pair of neighbouring pieces of the curve, and
    ``hubs`` the unknowns on which all pieces depend.
    """

    whole: Index
    pieces: list[Index]
    hubs: Index


def _along_curve(by_products: Callable[[Index], Index], curve: CurvePoints, l: Index) -> _Curve:
    """Unknowns that are coupled by a point on the given curve.

    ``by_products`` returns the unknowns on which given products of vectors depend, ``l`` are the numbers of
    multipliers.
    """
    by_point = [by_products(products) for products in curve.products]
    hubs = reduce(np.intersect1d, by_point)
    ends = range(0, max(len(by_point) - curve.degree - 1, 1), curve.degree)
    pieces = [np.unique(np.concatenate(by_point[first : first + 2 * curve.degree + 1])) for first in ends]
    rows = l[curve.rows]
    return _Curve(np.unique(np.concatenate([rows, *by_point])), pieces, np.union1d(rows, hubs))


def _columns_of(joints: Joints, of_vectors: tuple[Index, Index], products: Index) -> Index:
    """Unknowns on which the given products of vectors depend; ``of_vectors`` lists those of each vector."""
    ptr, col = of_vectors
    vectors = np.unique(np.concatenate([joints.first[products], joints.second[products]])).astype(np.int64)
    columns = np.unique(np.concatenate([col[ptr[v] : ptr[v + 1]] for v in vectors]))
    return columns[columns >= 0]


def _blocks(
    inertia: Inertia,
    couplings: tuple[Joints, Rolling, Curves, Slips, Ropes],
    unknowns: Unknowns,
    of_vectors: tuple[Index, Index],
) -> Blocks:
    """Blocks (rows, columns) of a sparse border that may be full.

    They are due to bodies, joints, springs and the ends of vectors; ``of_vectors`` lists the unknowns of each vector.
    """
    (v, w, c, m, l, e), (joints, rolling, curves, slips, ropes), (ptr, col) = unknowns, couplings, of_vectors
    frames, none = np.hstack([v, w, c]), np.zeros(0, dtype=np.int64)
    blocks: Blocks = [(masters, masters) for masters in frames]
    for b in np.flatnonzero(np.diff(inertia.first)).tolist():
        masters = m[inertia.first[b] : inertia.first[b + 1]]
        blocks += [(frames[b], masters), (masters, frames[b])]
    moved = [col[ptr[i] : ptr[i + 1]] for i in range(len(ptr) - 1)]
    blocks += [(ends, masters) for ends, masters in zip(e, moved, strict=True)]
    products = list(zip(joints.first.astype(int), joints.second.astype(int), strict=True))
    by_row: dict[int, set[int]] = {}
    for row, product in zip(joints.term_row, joints.term_product, strict=True):
        by_row.setdefault(int(row), set()).update(products[product])
    coupled = [set(products[p]) for p in range(len(products))]
    for row, *pair in zip(rolling.row, rolling.product, rolling.by, strict=True):
        own_vectors = {vector for product in pair for vector in products[product]}
        by_row.setdefault(int(row), set()).update(own_vectors)
        coupled.append(own_vectors)
    pairs = zip(joints.sine_product, joints.cosine_product, strict=True)
    coupled += [{*products[p], *products[q]} for p, q in pairs]
    for curve in curve_points(curves):
        coupled.append({vector for product in curve.products.ravel().tolist() for vector in products[product]})
        for row in curve.rows.tolist():
            by_row.setdefault(row, set()).update(coupled[-1])
    together = slip_products(slips) + rope_products(ropes)
    coupled += [{vector for product in masters.tolist() for vector in products[product]} for masters in together]
    for products_of, rows in zip(slip_products(slips), slip_loads(slips), strict=True):
        pushed = _joined(moved, {vector for product in products_of.tolist() for vector in products[product]})
        blocks.append((pushed, l[rows]))
    seen = [(_joined(moved, masters), _joined(e, masters)) for masters in coupled]
    blocks += [*seen, *((_joined(moved, masters), l[[row]]) for row, masters in by_row.items())]
    blocks += [(l[[row]], _joined(e, masters)) for row, masters in by_row.items()]
    for row, body in zip(rolling.spin_row, rolling.spin_body, strict=True):
        blocks += [(w[body], l[[row]]), (l[[row]], w[body])]
    return [(np.unique(rows), np.unique(columns)) for rows, columns in blocks] or [(none, none)]


def _joined(parts: Any, unknowns: set[int]) -> Index:
    joined: Index = np.unique(np.concatenate([parts[i] for i in unknowns]))
    return joined


def _is_node(strains: Strains, frames: Frames, bodies: int) -> Index:
    """Mask (b,) of the frames that are nodes of a nodal body or solid."""
    is_node: Index = np.zeros(bodies, dtype=np.int64)
    is_node[: strains.holds.size] = strains.holds
    for group in frames.groups:
        is_node[group] = 1
    return is_node


def _grouped_order(order: Index, points: Index) -> Index:
    """Order (N,) of the unknowns, changed so that the unknowns in each row of ``points`` (k, d) are neighbours."""
    if not points.size:
        return order
    first = order.copy()
    first[points] = order[points].min(axis=1, keepdims=True)
    return np.argsort(np.lexsort((np.arange(order.size), first)))


def _by_element(strains: Strains, unknowns: Index) -> list[Index]:
    """Unknowns of each element of nodal bodies, from the unknowns (b, …) of its frames."""
    ends = pairwise(strains.frame_ptr.tolist())
    return [unknowns[strains.frame[first:last]].ravel() for first, last in ends]


def _number(size: int, groups: list[Index], curves: list[_Curve]) -> Index:
    """New number of each of ``size`` unknowns, by the reverse Cuthill-McKee ordering of the groups that are coupled.

    If the unknowns of a curve are spread over at least half of this order, the unknowns on which all pieces of the
    curve depend are moved to the end.
    """
    order = _by_cuthill_mckee(size, groups + [curve.whole for curve in curves])
    if all(2 * np.ptp(order[curve.whole]) < size for curve in curves):
        return order
    last = np.zeros(size, dtype=bool)
    for curve in curves:
        last[curve.hubs] = True
    parts = groups + [piece for curve in curves for piece in curve.pieces]
    return np.argsort(np.lexsort((_by_cuthill_mckee(size, [part[~last[part]] for part in parts]), last)))


def _by_cuthill_mckee(size: int, groups: list[Index]) -> Index:
    """New number of each unknown, by the reverse Cuthill-McKee ordering of groups of coupled unknowns."""
    rows = np.concatenate([np.zeros(0, dtype=np.int64), *(np.repeat(g, g.size) for g in groups)])
    cols = np.concatenate([np.zeros(0, dtype=np.int64), *(np.tile(g, g.size) for g in groups)])
    row, col = np.divmod(np.unique(rows * size + cols), max(size, 1))
    ptr = np.searchsorted(row, np.arange(size + 1))
    graph = sparse.csr_array((np.ones(col.size), col, ptr), shape=(size, size))
    return np.argsort(reverse_cuthill_mckee(graph, symmetric_mode=True))


def _inner(inertia: Inertia, is_master: np.ndarray) -> tuple[Index, Index, Index]:
    """Order of the inner flexible coordinates within their body, and their number and bandwidth for each body.

    Coordinates in ``is_master`` (n,) are not inner; their order is −1.
    """
    inner = np.full(is_master.size, -1, dtype=np.int64)
    bodies = len(inertia.mass)
    counts, widths = np.zeros(bodies, dtype=np.int64), np.zeros(bodies, dtype=np.int64)
    row, col = np.repeat(np.arange(is_master.size), np.diff(inertia.ptr)), inertia.col
    among = ~(is_master[row] | is_master[col])
    row, col = row[among], col[among]
    first = np.searchsorted(row, inertia.first)
    for b in np.flatnonzero(np.diff(inertia.first)).tolist():
        coordinates = np.arange(inertia.first[b], inertia.first[b + 1])
        coordinates = coordinates[~is_master[coordinates]]
        counts[b] = coordinates.size
        if not coordinates.size:
            continue
        i, j = (np.searchsorted(coordinates, part[first[b] : first[b + 1]]) for part in (row, col))
        ptr = np.searchsorted(i, np.arange(coordinates.size + 1))
        block = sparse.csr_array((np.ones(j.size), j, ptr), shape=(coordinates.size, coordinates.size))
        place = np.argsort(reverse_cuthill_mckee(block, symmetric_mode=True))
        inner[coordinates] = place
        widths[b] = np.abs(place[i] - place[j]).max()
    return inner, counts, widths


def _masters(inertia: Inertia, is_master: np.ndarray) -> dict[str, Index]:
    master = np.flatnonzero(is_master)
    first = np.searchsorted(master, inertia.first)
    local = np.full(is_master.size, -1, dtype=np.int64)
    body = np.searchsorted(inertia.first, master, side="right") - 1
    local[master] = np.arange(master.size) - first[body]
    return {"masters": first, "master": master, "local": local}


def _starts(sizes: Index) -> Index:
    return np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
