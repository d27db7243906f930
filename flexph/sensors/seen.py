"""Arrays from which loops measure all sensors of a panel at a state; their C structs are those of seen.pxd."""

from __future__ import annotations

from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..kernels.arrays import Arrays
from ..mechanisms.model.layout import Layout
from ..numerics.loops.views import IMat, IVec, Mat, Ten, Vec
from ..numerics.rotations import entry_count, spins


class Rows(NamedTuple):
    """A sparse matrix by rows."""

    data: Vec
    indices: IVec
    starts: IVec


class Seen(NamedTuple):
    """What is measured of a flat state x: where nodes have their bodies in it, and how vectors follow from nodes."""

    offset: IMat  # (k, 4), of r, R, ṙ and ω of the body of each node, −1 of bodies that do not turn
    flexible: IVec  # (2,), of u and u̇
    position: Mat  # (k, d) from the centre of mass
    moves: Vec  # (k,), 1 for points, 0 for directions
    shape: Rows  # φ (k·d, n)
    incidence: Rows  # (v, k)
    fixed: Mat  # (v, d)
    product: IMat  # (2, p), the vectors of each
    length: IVec  # products of the measures
    component: IVec
    sine: IVec
    cosine: IVec
    node: Ten  # (2, k, d), where nodes are and how fast they move
    vector: Ten  # (2, v, d), and vectors
    value: Mat  # (2, p), and products


class Measured(NamedTuple):
    """Sensors at a state, and what they measure."""

    seen: Seen
    state: Vec
    out: Mat  # (2, m), measures and their rates


def seen(a: Arrays, layout: Layout) -> Seen:
    """The constants of a panel and the room that its loop works in."""
    turning = {body: i for i, body in enumerate(layout.turning)}
    sizes = (*layout.position_sizes, *layout.velocity_sizes)
    r, rotation, u, v, spin, du, _ = accumulate(sizes, initial=0)
    kept, s, dim = entry_count(layout.dim), spins(layout.dim), layout.dim
    rows = []
    for body in a.node_body.tolist():
        turn = turning.get(body)
        own = (-1, -1) if turn is None else (rotation + kept * turn, spin + s * turn)
        rows.append((r + dim * body, own[0], v + dim * body, own[1]))
    k, p, measured = len(rows), a.first.size, a.springs
    kinds = measured.length_product, measured.component_product, measured.sine_product, measured.cosine_product
    length, component, sine, cosine = (np.ascontiguousarray(index, dtype=np.int64) for index in kinds)
    return Seen(
        offset=np.array(rows, dtype=np.int64).reshape(k, 4),
        flexible=np.array([u, du], dtype=np.int64),
        position=np.ascontiguousarray(a.node_position, dtype=float),
        moves=np.ascontiguousarray(a.node_moves, dtype=float),
        shape=_rows(a.node_shape),
        incidence=_rows(a.incidence),
        fixed=np.ascontiguousarray(a.vector_fixed, dtype=float),
        product=np.array([a.first, a.second], dtype=np.int64),
        length=length,
        component=component,
        sine=sine,
        cosine=cosine,
        node=np.zeros((2, k, dim)),
        vector=np.zeros((2, len(a.vector_fixed), dim)),
        value=np.zeros((2, p)),
    )


def _rows(matrix: Any) -> Rows:
    lean = sparse.csr_array(matrix)
    return Rows(lean.data.astype(float), lean.indices.astype(np.int64), lean.indptr.astype(np.int64))
