"""Arrays of the strains of nodal bodies, such as rods and cables, for the compiled loops.

A strain row is a measure at a quadrature point; points whose vectors depend on the same frames form an element.
A product is the scalar product of two vectors of a point, of which strains are functions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ...discrete_gradients.stored_energies import LineEnergy
from ...kernels.arrays import Arrays
from ...numerics.loops.views import padded
from .memory.connection_data import Border
from .memory.data import Index, Strains
from .memory.step_space import NodalSpace
from .points import JointSizes, basis_of_points, cleared, ends_of, joint_sizes
from .solids.arrays import owned_by_solids

if TYPE_CHECKING:
    from ...mechanisms.model.model import Model


COLUMNS = 4
"""Number of columns of a frame: its position and up to three directions; the last one is zero in the plane."""


def strain_rows(mechanism: Model) -> Strains:
    """Strain rows of all nodal bodies except solids.

    The indices of their unknowns are added by :func:`in_the_border`.
    """
    a, sizes, owned = mechanism.network.arrays, joint_sizes(mechanism), mechanism.once(owned_by_solids)
    if owned.rows.all():
        return no_strains()
    columns = _columns(a, sizes)
    near = cleared(columns @ sparse.kron(basis_of_points(mechanism), sparse.eye_array(COLUMNS)))
    points = [p for p in _points(a, sizes) if not owned.vectors[p.vectors[0]]]
    elements = _elements(points, near)
    order = [p for _, owned in elements for p in owned]
    rows = _ordered(a, sizes, (columns, near), ([points[p] for p in order], elements))
    return rows._replace(holds=np.where(owned.frames, 0, rows.holds))


def _columns(a: Arrays, sizes: JointSizes) -> Any:
    """Sparse matrix (v, 4b) that gives the v vectors of strains as sums of columns of the b frames.

    A frame has the columns listed at :data:`COLUMNS`: its position and directions.
    """
    owner, moves, x = (part[sizes.nodes :] for part in (a.node_body, a.node_moves, a.node_position))
    place, count = np.arange(owner.size), a.dim + 1
    index = (np.repeat(place, count), (COLUMNS * owner[:, None] + np.arange(count)).ravel())
    entries = np.column_stack([moves, x])
    turns = np.zeros(len(a.mass))
    turns[a.turning] = 1.0
    entries[:, 1:] *= turns[owner, None]
    spread = sparse.csr_array((entries.ravel(), index), shape=(owner.size, COLUMNS * len(a.mass)))
    columns = sparse.csr_array(sparse.csr_array(a.incidence)[sizes.vectors :, sizes.nodes :] @ spread)
    columns.eliminate_zeros()
    return columns


class _Point(NamedTuple):
    """Numbers of the vectors, products and strain rows of one quadrature point."""

    vectors: Index
    products: Index
    rows: Index


def _points(a: Arrays, sizes: JointSizes) -> list[_Point]:
    """Quadrature points: groups of vectors connected by common products, strain rows or entries of the stiffness."""
    s = a.strains
    first, second = (index[sizes.products :] - sizes.vectors for index in (a.first, a.second))
    vectors, of_row = len(a.vector_fixed) - sizes.vectors, lambda index: first[index - sizes.products]
    stiffness = sparse.coo_array(s.stiffness)
    links = [(first, second), (of_row(s.product[stiffness.row]), of_row(s.product[stiffness.col]))]
    links += [(of_row(s.product[square >= 0]), of_row(square[square >= 0])) for square in (s.first, s.second)]
    row, column = (np.concatenate(part) for part in zip(*links, strict=True))
    graph = sparse.coo_array((np.ones(row.size), (row, column)), shape=(vectors, vectors))
    count, label = connected_components(sparse.csr_array(graph), directed=False)
    groups = [_grouped(of, count) for of in (label, label[first], label[of_row(s.product)])]
    return [_Point(*parts) for parts in zip(*groups, strict=True)]


def _grouped(label: Index, count: int) -> list[Index]:
    """For each number below ``count``: the indices of the entries of ``label`` that are equal to it."""
    return np.split(np.argsort(label, kind="stable"), np.cumsum(np.bincount(label, minlength=count))[:-1])


def _elements(points: list[_Point], near: Any) -> list[tuple[tuple[int, ...], list[int]]]:
    """Elements of nodal bodies: the frames of each, and the numbers of its points.

    The vectors of the points of an element depend only on the frames of the element. ``near`` is the sparse matrix that
    gives the vectors from the columns of the frames, for cables from their unknowns (positions and slopes).
    """
    sets = [
        frozenset(int(c) // COLUMNS for v in p.vectors for c in near.indices[near.indptr[v] : near.indptr[v + 1]])
        for p in points
    ]
    elements: list[tuple[frozenset[int], list[int]]] = []
    of_frame: dict[int, list[int]] = {}
    for p in sorted(range(len(points)), key=lambda p: -len(sets[p])):
        known = (e for e in of_frame.get(min(sets[p]), []) if sets[p] <= elements[e][0])
        e = next(known, None)
        if e is None:
            e = len(elements)
            elements.append((sets[p], []))
            for frame in sets[p]:
                of_frame.setdefault(frame, []).append(e)
        elements[e][1].append(p)
    return [(tuple(sorted(frames)), points_of) for frames, points_of in elements]


def _ordered(a: Arrays, sizes: JointSizes, matrices: tuple[Any, Any], grouped: tuple[list[_Point], Any]) -> Strains:
    """Arrays of the strain rows, sorted by their points and elements.

    ``matrices`` are two sparse matrices that give the vectors: from the columns of frames, and from the unknowns of
    frames (see :func:`_elements`). ``grouped`` are the points and elements.
    """
    (columns, near), (points, elements), s = matrices, grouped, a.strains
    v, p, e = (np.concatenate([np.zeros(0, dtype=int), *part]) for part in zip(*points, strict=True))
    of_vector, of_product = _places(v, len(a.vector_fixed) - sizes.vectors), _places(p, a.first.size - sizes.products)
    slots, places = _slots(a, points, elements, near)
    columns, near = columns[v], sparse.csr_array(near[v])
    near_slot = np.concatenate([slots[k] for k in range(len(v))])
    stiffness = sparse.csr_array(sparse.csr_array(s.stiffness)[e][:, e])
    squares = np.column_stack([s.first, s.second])[e]
    starts = [ends_of([len(part) for part in values]) for values in zip(*points, strict=True)]
    holds = np.zeros(len(a.mass), dtype=np.int64)
    holds[a.node_body[sizes.nodes :]] = 1
    lines = _law_arrays(a)
    return Strains(
        column_ptr=columns.indptr,
        column=columns.indices,
        weight=columns.data,
        near_ptr=near.indptr,
        near=COLUMNS * near_slot + near.indices % COLUMNS,
        near_weight=near.data,
        first=of_vector[a.first[sizes.products :][p] - sizes.vectors],
        second=of_vector[a.second[sizes.products :][p] - sizes.vectors],
        crossed=np.isin(p + sizes.products, a.crossed).astype(np.int64),
        product=of_product[s.product[e] - sizes.products],
        square=of_product[np.where(squares >= 0, squares - sizes.products, -1)],
        reference=s.reference[e],
        factor=s.factor[e],
        stress=s.stress[e],
        stiffness_ptr=stiffness.indptr,
        stiffness_col=stiffness.indices,
        stiffness_val=stiffness.data,
        vector_ptr=starts[0],
        product_ptr=starts[1],
        row_ptr=starts[2],
        element=ends_of([len(values) for _, values in elements]),
        frame_ptr=ends_of([len(frames) for frames, _ in elements]),
        frame=np.array([frame for frames, _ in elements for frame in frames], dtype=np.int64),
        place=places,
        unknown_ptr=np.zeros(1, dtype=np.int64),
        unknown=np.zeros(0, dtype=np.int64),
        holds=holds,
        **{name: values[e] for name, values in lines.items()},
        lawful=_lawful(a, lines["law"]),
    )


def _law_arrays(a: Arrays) -> dict[str, Any]:
    """Arrays (e,) of the laws of strain rows: number of the law, length, undeformed stiffness and factor of time."""
    s, count = a.strains, a.strains.stress.size
    law, schedule, width, viscous = np.full(count, -1), np.full(count, -1), np.ones(count), np.zeros(count)
    undeformed = sparse.csr_array(s.of_undeformed).diagonal()
    lines = [part for part in s.laws if isinstance(part.law, LineEnergy)]
    timed = [part for part in lines if part.factor is not None]
    for k, part in enumerate(lines, len(a.springs.laws)):
        rows = part.rows[:, 0]
        law[rows], width[rows], viscous[rows] = k, part.volume, undeformed[rows]
        schedule[rows] = next((i for i, law_rows in enumerate(timed) if law_rows is part), -1)
    return {"law": law, "width": width, "viscous": viscous, "schedule": schedule}


def _lawful(a: Arrays, law: Index) -> Index:
    """Mask (m,) of the stresses whose strain row has an elastic law; empty if no row has one."""
    stresses = a.strains.stress[law >= 0]
    lawful = np.zeros(len(a.stress_damping) if stresses.size else 0, dtype=np.int64)
    lawful[stresses] = 1
    return lawful


def _places(chosen: Index, count: int) -> Index:
    """Array (count + 1,) with the index of each number in ``chosen``; −1 for all other numbers.

    The last entry is −1, too, so that the number −1 gives −1.
    """
    places = np.full(count + 1, -1)
    places[chosen] = np.arange(chosen.size)
    return places


def _slots(a: Arrays, points: list[_Point], elements: Any, near: Any) -> tuple[list[Index], Index]:
    """Frames on which each vector depends, as numbers within its element, point by point; and where unknowns begin.

    The second result is the index of the first unknown of each frame among the unknowns of its element.
    """
    widths = np.full(len(a.mass), a.dim)
    widths[a.turning] += a.n.shape[0]
    slots, places, at = [], [], iter(points)
    for frames, members in elements:
        slot = {frame: k for k, frame in enumerate(frames)}
        places.append(ends_of(widths[list(frames)])[:-1])
        for _ in members:
            for v in next(at).vectors:
                columns = near.indices[near.indptr[v] : near.indptr[v + 1]]
                slots.append(np.array([slot[int(c) // COLUMNS] for c in columns], dtype=np.int64))
    return slots, np.concatenate(places)


def no_strains() -> Strains:
    """Empty arrays of strains, for a mechanism without nodal bodies."""
    none, one = np.zeros(0, dtype=np.int64), np.zeros(1, dtype=np.int64)
    firsts = [name for name in Strains._fields if name.endswith("ptr") or name == "element"]
    empty: dict[str, Any] = {name: one if name in firsts else none for name in Strains._fields}
    return Strains(**{**empty, "square": np.zeros((0, 2), dtype=np.int64)})


def in_the_border(strains: Strains, border: Border) -> Strains:
    """Strain rows with the numbers of their unknowns in the border of the Jacobian: ω̄ and ṙ̄ of their frames.

    Cables have ẋ, the rates of positions and slopes of points, instead of ṙ̄.
    """
    both = np.hstack([border.v, border.w])[strains.frame]
    ends = np.append(0, np.cumsum((both >= 0).sum(axis=1)))
    return strains._replace(unknown_ptr=ends[strains.frame_ptr], unknown=both[both >= 0])


def nodal_space(strains: Strains, bodies: int, dim: int) -> NodalSpace:
    """Work space of strain rows in a step, all zeros."""
    z, b = np.zeros, bodies if strains.holds.size else 0
    v, p, e = strains.column_ptr.size - 1, strains.first.size, strains.stress.size
    most = int(np.diff(strains.product_ptr).max(initial=0))
    frames, moved = (int(np.diff(ptr).max(initial=0)) for ptr in (strains.frame_ptr, dim * strains.vector_ptr))
    width = int(padded(int(np.diff(strains.unknown_ptr).max(initial=0))))
    s = 1 if dim == 2 else 3
    given: Any = (
        *(z((COLUMNS * b, dim)) for _ in range(4)),
        *(z((v, dim)) for _ in range(3)),
        *(z(p), z(p), z(p), z(e), z((e, 3)), z((e, 3)), z(e), z(e), z((b, s)), z(e), z(e), z(e)),
        *(z((3 * b, s, dim)), z((3 * b, s, dim)), z((most, most))),
        *(z((moved, width)), z((most, width)), z((most, width)), z((moved, width))),
        *(z((COLUMNS * dim * frames, width)), z(width)),
    )
    return NodalSpace(*given)
