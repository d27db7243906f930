"""All measures of a panel at a state, in one compiled loop; needs numba."""

from __future__ import annotations

import math
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..kernels.arrays import Arrays
from ..mechanisms.model.layout import Layout
from ..numerics.arrays import Array
from ..numerics.compiled import by_address
from ..numerics.compiled.by_address import taken_from
from ..numerics.compiled.cache import keep_on_disk, named_by
from ..numerics.compiled.linking import entry, inner
from ..numerics.rotations import entry_count, spins


class Seen(NamedTuple):
    """What is measured of a flat state x: where nodes have their bodies in it, and how vectors follow from nodes."""

    offset: Array  # (k, 4), of r, R, ṙ and ω of the body of each node, −1 of bodies that do not turn
    flexible: Array  # (2,), of u and u̇
    position: Array  # (k, d) from the centre of mass
    moves: Array  # (k,), 1 for points, 0 for directions
    shape: tuple[Array, Array, Array]  # φ (k·d, n): data, indices and pointers of its rows
    incidence: tuple[Array, Array, Array]  # (v, k)
    fixed: Array  # (v, d)
    product: Array  # (2, p), the vectors of each
    length: Array  # products of the measures
    component: Array
    sine: Array
    cosine: Array
    node: Array  # (2, k, d), where nodes are and how fast they move
    vector: Array  # (2, v, d), and vectors
    value: Array  # (2, p), and products


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
    length, component, sine, cosine = (np.asarray(index, dtype=np.int64) for index in kinds)
    return Seen(
        offset=np.array(rows, dtype=np.int64).reshape(k, 4),
        flexible=np.array([u, du]),
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


def _rows(matrix: Any) -> tuple[Array, Array, Array]:
    lean = sparse.csr_array(matrix)
    return lean.data.astype(float), lean.indices.astype(np.int64), lean.indptr.astype(np.int64)


@inner
def _turn_node(s: Seen, x: Array, k: int, place: Array, speed: Array) -> None:
    """A node and its rate, from body axes to those of the world."""
    dim, turn, w = place.size, s.offset[k, 1], s.offset[k, 3]
    if dim == 2:
        c, t = x[turn], x[turn + 1]
        for y in (place, speed):
            y[0], y[1] = c * y[0] - t * y[1], t * y[0] + c * y[1]
        speed[0] -= x[w] * place[1]
        speed[1] += x[w] * place[0]
        return
    R = x[turn : turn + 9]
    for y in (place, speed):
        a, b, c = y
        for i in range(3):
            y[i] = R[3 * i] * a + R[3 * i + 1] * b + R[3 * i + 2] * c
    a, b, c = x[w : w + 3]
    for i in range(3):  # ω × arm by two components of ω in the axes of the world
        j, k = (i + 1) % 3, (i + 2) % 3
        speed[i] += (R[3 * j] * a + R[3 * j + 1] * b + R[3 * j + 2] * c) * place[k]
        speed[i] -= (R[3 * k] * a + R[3 * k + 1] * b + R[3 * k + 2] * c) * place[j]


@inner
def _nodes(s: Seen, x: Array) -> None:
    """Nodes and their rates."""
    dim = s.position.shape[1]
    data, indices, starts = s.shape
    for k in range(s.moves.size):
        place, speed = s.node[0, k], s.node[1, k]
        for i in range(dim):
            place[i], speed[i] = s.position[k, i], 0.0
            for j in range(starts[k * dim + i], starts[k * dim + i + 1]):
                place[i] += data[j] * x[s.flexible[0] + indices[j]]
                speed[i] += data[j] * x[s.flexible[1] + indices[j]]
        if s.offset[k, 1] >= 0:
            _turn_node(s, x, k, place, speed)
        for i in range(dim):
            place[i] += s.moves[k] * x[s.offset[k, 0] + i]
            speed[i] += s.moves[k] * x[s.offset[k, 2] + i]


@inner
def _products(s: Seen) -> None:
    """Vectors, products and their rates."""
    dim, vector, value = s.position.shape[1], s.vector, s.value
    data, indices, starts = s.incidence
    for k in range(len(s.fixed)):
        for i in range(dim):
            vector[0, k, i], vector[1, k, i] = s.fixed[k, i], 0.0
            for j in range(starts[k], starts[k + 1]):
                vector[0, k, i] += data[j] * s.node[0, indices[j], i]
                vector[1, k, i] += data[j] * s.node[1, indices[j], i]
    for p in range(s.product.shape[1]):
        a, b = s.product[0, p], s.product[1, p]
        value[0, p] = value[1, p] = 0.0
        for i in range(dim):
            value[0, p] += vector[0, a, i] * vector[0, b, i]
            value[1, p] += vector[1, a, i] * vector[0, b, i] + vector[0, a, i] * vector[1, b, i]


def nothing_seen() -> Seen:
    """Of no sensors: the types of all."""
    one, two, three = np.zeros(0), np.zeros((0, 0)), np.zeros((0, 0, 0))
    index, pairs = np.zeros(0, dtype=np.int64), np.zeros((0, 0), dtype=np.int64)
    rows = one, index, index
    return Seen(pairs, index, two, one, rows, rows, two, pairs, index, index, index, index, three, three, two)


take = taken_from(nothing_seen())


@inner
def measure(s: Seen, x: Array, out: Array) -> None:
    """All measures, and below them their rates (2, measures), at a flat state."""
    _nodes(s, x)
    _products(s)
    (value, rate), end = s.value, 0
    for p in s.length:
        out[0, end] = math.sqrt(value[p])
        out[1, end] = 0.5 * rate[p] / out[0, end]
        end += 1
    for p in s.component:
        out[0, end], out[1, end] = value[p], rate[p]
        end += 1
    for a, b in zip(s.sine, s.cosine):  # noqa: B905  # numba
        out[0, end] = math.atan2(value[a], value[b])
        out[1, end] = (value[b] * rate[a] - value[a] * rate[b]) / (value[a] ** 2 + value[b] ** 2)
        end += 1


def _measure_by(address: int, x: Array, out: Array) -> None:
    """The same of what is seen by its address."""
    measure(take(address), x, out)


read = entry(_measure_by, error_model="numpy", no_cfunc_wrapper=True)
keep_on_disk(read, named_by((Path(__file__), Path(by_address.__file__))))
