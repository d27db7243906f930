"""Arrays for compiled evaluation of a panel's sensors; panel_arrays.pxd declares them as C structs."""

from __future__ import annotations

from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..kernels.arrays import Arrays
from ..mechanisms.model.model import Layout
from ..numerics.loops.views import IMat, IVec, Mat, Ten, Vec
from ..numerics.rotations import entry_count, spins


class Rows(NamedTuple):
    """Sparse matrix by rows: entries, their column indices, and the start of each row."""

    data: Vec
    indices: IVec
    starts: IVec


class PanelArrays(NamedTuple):
    """Arrays to compute nodes, vectors and products from the flat state x, with work arrays for these.

    Nodes are points or directions that move with a body.
    """

    offset: IMat  # (k, 4), offsets of r, R, ṙ and ω of each node's body, −1 for bodies without rotation
    flexible: IVec  # (2,), offsets of u and u̇
    position: Mat  # (k, d) relative to the centre of mass
    moves: Vec  # (k,), 1 for points, 0 for directions
    shape: Rows  # φ (k·d, n)
    incidence: Rows  # (v, k)
    fixed: Mat  # (v, d)
    product: IMat  # (2, p), the two vectors of each product
    length: IVec  # products of length measures
    component: IVec
    sine: IVec
    cosine: IVec
    node: Ten  # (2, k, d), positions and velocities of nodes
    vector: Ten  # (2, v, d), vectors and their rates
    value: Mat  # (2, p), products and their rates


class SensorMemory(NamedTuple):
    """Memory of the compiled evaluation of sensors: arrays of the panel, flat states, and the measures at them."""

    arrays: PanelArrays
    states: Mat  # (k, n)
    out: Ten  # (k, 2, m), measures and their rates


class GradientMemory(NamedTuple):
    """Memory of :func:`.measure_gradient.gradients_at`: arrays of the panel, k flat states, results and work arrays."""

    arrays: PanelArrays
    states: Mat  # (k, n)
    which: IVec  # (2,), index of the measure, and 1 for its rate
    by_product: Mat  # (2, p)
    by_vector: Ten  # (2, v, d)
    by_node: Ten  # (2, nodes, d)
    arm: Mat  # (4, d)
    by_arm: Mat  # (4, d)
    out: Mat  # (k, n)


def panel_arrays(a: Arrays, layout: Layout) -> PanelArrays:
    """Constants and work arrays of a panel, for a mechanism with the sensors as its connections."""
    turning = {body: i for i, body in enumerate(layout.turning)}
    sizes = (*layout.position_sizes, *layout.velocity_sizes)
    r, rotation, u, v, spin, du, _ = accumulate(sizes, initial=0)
    kept, s, dim = entry_count(layout.dim), spins(layout.dim), layout.dim
    rows = []
    for body in a.node_body.tolist():
        turn = turning.get(body)
        columns_of_turn = (-1, -1) if turn is None else (rotation + kept * turn, spin + s * turn)
        rows.append((r + dim * body, columns_of_turn[0], v + dim * body, columns_of_turn[1]))
    k, p, measured = len(rows), a.first.size, a.springs
    kinds = measured.length_product, measured.component_product, measured.sine_product, measured.cosine_product
    length, component, sine, cosine = (np.ascontiguousarray(index, dtype=np.int64) for index in kinds)
    return PanelArrays(
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
