"""Arrays of solids of finite strain for the compiled loops: mesh nodes, cells, strain rows, and loads on faces.

Mesh nodes are called places, as a node is a point to which a vector of joints leads."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

from ....bodies.nodal_body import NodalBody
from ....kernels.arrays import Arrays
from ....numerics.arrays import Array
from ....numerics.loops.views import padded
from ..memory.connection_data import Border, border_width
from ..memory.data import Faces, Index, Solids
from ..memory.step_space import SolidSpace

if TYPE_CHECKING:
    from ....mechanisms.model.model import Model


class Owned(NamedTuple):
    """Masks that mark solids: among the places, vectors and strain rows of nodal bodies, and among all frames."""

    places: Array
    vectors: Array
    rows: Array
    frames: Array


def owned_by_solids(mechanism: Model) -> Owned:
    """Masks of the places, vectors, strain rows and frames that belong to solids."""
    parts: list[list[Any]] = [[], [], [], []]
    for body in mechanism.bodies.values():
        is_solid = isinstance(body, NodalBody) and body.elasticity.gradients
        parts[3].append(np.full(len(body.frames), is_solid))
        if isinstance(body, NodalBody):
            vectors, places = body.elasticity.vectors.shape
            for part, count in zip(parts, (places, vectors, body.stress_size), strict=False):
                part.append(np.full(count, is_solid))
    return Owned(*(np.concatenate([np.zeros(0, dtype=bool), *part]) for part in parts))


def solids_of(mechanism: Model, nodes: int, vectors: int) -> Solids:
    """Arrays of the solids of a mechanism, without the positions of their blocks in the border of the Jacobian.

    :func:`with_entries` adds these. Places and vectors of nodal bodies follow the ``nodes`` nodes and ``vectors``
    vectors of joints.
    """
    a, owned = mechanism.network.arrays, mechanism.once(owned_by_solids)
    if not owned.rows.any():
        return no_solids(a.dim, len(a.mass))
    places = nodes + np.flatnonzero(owned.places)
    of_vector = np.flatnonzero(owned.vectors)
    columns = sparse.csr_array(a.incidence)[vectors + of_vector][:, places]
    turns = np.isin(a.node_body[places], a.turning)
    return Solids(
        frame=a.node_body[places],
        moves=a.node_moves[places],
        arm=a.node_position[places] * turns[:, None],
        turns=turns.astype(np.int64),
        **_cells(columns, a.dim),
        entry_at=np.zeros(0, dtype=np.int64),
        entry=np.zeros(0, dtype=np.int64),
        stride=1,
        **_rows(a, np.flatnonzero(owned.rows), vectors),
    )


def no_solids(dim: int, bodies: int) -> Solids:
    """Empty arrays, for a mechanism without solids of finite strain."""
    whole, real, one = np.zeros(0, dtype=np.int64), np.zeros(0), np.zeros(1, dtype=np.int64)
    row, square = np.zeros((0, 0)), np.zeros((0, 0, 0))
    stress, pair = (np.zeros((0, k), dtype=np.int64) for k in (0, 2))
    given: Any = (
        *(whole, real, np.zeros((0, dim)), whole, one, one, whole, whole, real, whole, whole, 1),
        *(pair, row, row, stress, square, square, whole),
    )
    return Solids(*given)


def _cells(columns: Any, d: int) -> dict[str, Any]:
    """Fields of Solids for its cells: their points and places, and the slopes of shape functions.

    Consecutive points that depend on the same places form a cell. ``columns`` (d p, k) maps the
    positions of the k places to the columns of the deformation gradients of all p points.
    """
    rows = sparse.csr_array(columns)
    rows.sort_indices()
    points = rows.shape[0] // d
    places = [np.unique(rows.indices[rows.indptr[d * q] : rows.indptr[d * q + d]]) for q in range(points)]
    cells = [list(cell) for _, cell in groupby(range(points), key=lambda q: places[q].tobytes())]
    slopes = [
        rows[d * cell[0] : d * cell[-1] + d][:, places[cell[0]]].toarray().reshape(len(cell), d, -1) for cell in cells
    ]
    slopes = [np.pad(slope, ((0, 0), (0, 0), (0, padded(slope.shape[2]) - slope.shape[2]))) for slope in slopes]
    return {
        "cell": _ends([len(cell) for cell in cells]),
        "place_ptr": _ends([places[cell[0]].size for cell in cells]),
        "place": np.concatenate([places[cell[0]] for cell in cells]),
        "slope_at": _ends([slope.size for slope in slopes])[:-1],
        "slope": np.concatenate([slope.ravel() for slope in slopes]),
    }


def _rows(a: Arrays, rows: Index, vectors: int) -> dict[str, Any]:
    """Fields of Solids for the strain rows of all points, (p, c).

    Raises ValueError if the strain rows of points differ in their order.
    """
    s, d = a.strains, a.dim
    c = d * (d + 1) // 2
    pair = np.column_stack([side[s.product[rows]] - vectors for side in (a.first, a.second)]).reshape(-1, c, 2) % d
    if (pair != pair[:1]).any():
        raise ValueError("points of solids must have their strain rows in one order")
    blocks = lambda matrix: _blocks(sparse.csr_array(matrix), rows.reshape(-1, c))  # noqa: E731
    laws = [law for law in s.laws if np.isin(law.rows.ravel(), rows).all()]
    lawful = np.zeros(len(a.stress_damping) if laws else 0, dtype=np.int64)
    for law in laws:
        lawful[s.stress[law.rows.ravel()]] = 1
    stiffness, whole = blocks(s.stiffness), blocks(s.of_undeformed) if laws else np.zeros((0, 0, 0))
    return {
        "pair": pair[0],
        "factor": s.factor[rows].reshape(-1, c),
        "reference": s.reference[rows].reshape(-1, c),
        "stress": s.stress[rows].reshape(-1, c),
        "stiffness": stiffness,
        "viscous": whole - stiffness if laws else whole,
        "lawful": lawful,
    }


def _blocks(matrix: Any, rows: Index) -> Array:
    """Blocks (p, c, c) of a matrix: its entries between the rows (p, c) of each point."""
    p, c = rows.shape
    values = matrix[np.repeat(rows, c, axis=1).ravel(), np.tile(rows, (1, c)).ravel()]
    return np.asarray(values).reshape(p, c, c)


def frames_of_cells(solids: Solids) -> list[Index]:
    """Frames whose unknowns move each cell, by cell."""
    ends = zip(solids.place_ptr[:-1], solids.place_ptr[1:], strict=True)
    return [np.unique(solids.frame[solids.place[first:last]]) for first, last in ends]


def with_entries(solids: Solids, border: Border) -> Solids:
    """Arrays of solids, completed by the positions of the blocks of their cells in the border of the Jacobian."""
    if not solids.frame.size:
        return solids
    size, width = border.size.tolist()
    v = border.v[solids.frame]
    assert (np.diff(v) == 1).all()  # loops assume consecutive numbers
    column, parts = np.repeat(np.arange(size), np.diff(border.column_ptr)) if width < 0 else None, []
    keys = None if column is None else column * size + border.row
    turns, stride = solids.turns > 0, 1 if width < 0 else border_width(border) - 1
    for first, last in zip(solids.place_ptr[:-1], solids.place_ptr[1:], strict=True):
        frames = solids.place[first:last]
        i, j = v[frames, 0][:, None, None], v[frames][None]
        at = i * stride + j + width if keys is None else np.searchsorted(keys, j * size + i)
        parts.append(np.where(turns[frames][:, None, None] | turns[frames][None, :, None], -1, at).ravel())
    return solids._replace(
        entry_at=_ends([part.size for part in parts])[:-1], entry=np.concatenate(parts), stride=stride
    )


def faces_of(a: Arrays, places: Index) -> Faces:
    """Arrays of follower loads on faces of solids.

    ``places`` (k,) are the numbers of the mesh nodes of solids in the mechanism.
    """
    if a.faces is None:
        whole, real = np.zeros(0, dtype=np.int64), np.zeros(0)
        return Faces(np.zeros(1, dtype=np.int64), whole, real, real, real, real, np.zeros((0, a.dim), dtype=np.int64))
    weights = [sparse.csr_array(part)[:, places] for part in (a.faces.points, a.faces.along, a.faces.across)]
    pattern = sparse.csr_array(sum(abs(part) for part in weights))
    pattern.sort_indices()
    row = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
    point, along, across = (np.asarray(part[row, pattern.indices]).ravel() for part in weights)
    return Faces(pattern.indptr, pattern.indices, point, along, across, a.faces.areas, a.faces.input)


def frames_of_faces(faces: Faces, solids: Solids) -> list[Index]:
    """For each sample of a follower load on a face: the frames that the load couples."""
    ends = zip(faces.ptr[:-1], faces.ptr[1:], strict=True)
    return [np.unique(solids.frame[faces.place[first:last]]) for first, last in ends]


def solid_space(solids: Solids, spins: int, bodies: int) -> SolidSpace:
    """Work space of solids, all zeros."""
    (k, d), (p, c), z = solids.arm.shape, solids.factor.shape, np.zeros
    turning = k if solids.turns.any() else 0
    n = int(np.diff(solids.place_ptr).max(initial=0))
    laws = p if solids.lawful.size else 0
    given: Any = (
        *(z((k, d)), z((k, d)), z((k, d)), z((p, d, d)), z((p, d, d))),
        *(z((p, c)), z((p, c)), z((p, c)), z((p, c))),
        *(z((laws, c, c)), z((laws, c, c)), z(bodies if laws else 0), z((bodies if turning else 0, spins))),
        *(
            z((turning, spins, d)),
            z((turning, spins, d)),
            z((d * d, d * d)),
            z((d * n, d * d)),
            z(n * padded(n) * d * d),
            z(d * d),
            z((3, 3)),
            z((3, 3)),
            z((6, 3)),
        ),
    )
    return SolidSpace(*given)


def _ends(sizes: list[int]) -> Index:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
