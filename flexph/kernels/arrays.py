"""The data of a mechanism as flat arrays, the only input of the kernels.

A deformation u displaces the nodes of a body by φu relative to its frame, and its centre of mass by φ̄u. Small
mechanisms have dense matrices for the shapes φ − φ̄ relative to the centres of mass (``mean`` is None). Large ones have
sparse matrices for the shapes φ, and φ̄ is kept separately as ``mean`` (rank d per body) to avoid fill-in.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
from scipy import sparse

from ..numerics.arrays import Array, dense
from .contacts.distances import ClosedGap
from .contacts.gap_arrays import Contacts
from .faces import Faces
from .rates.curves import Curve
from .rates.flows import Flow
from .rates.slips import Bearings, Slips
from .spring_arrays import Springs
from .strains import NONE, Strains

Index = np.ndarray

FACTORS, STRAINS, SPEEDS, SURFACES, RELATIONS, FRICTIONS, MASSES = range(7)
"""Kinds of prescribed values that change over a step: see :func:`timed_columns`."""


class Arrays(NamedTuple):
    """Constant data of a mechanism with b bodies in d dimensions, n flexible coordinates and m stresses.

    A body has s spin components. Nodes (k) are points and directions of bodies, vectors (v) are linear combinations of
    nodes, products (p) are dot products of two vectors. Each of t terms adds a product, times a coefficient, to one of
    g constraint rows. The last fields follow from the others (see :func:`prepared`).
    """

    dim: int
    mass: Array  # (b,)
    weight: Array  # (b, d), m g
    turning: Index  # bodies that turn
    flexing: Index  # bodies that deform
    body_u: Index  # body of each flexible coordinate
    J: Array  # (b, s, s)
    s: Array  # (s, s, n)
    n: Array  # (s, n)
    stack: Any  # ((1 + s + s²) n, n): the matrices M, N_a, K_ab (see kernels.state), one below the other
    mean: Any  # φ̄ (d·b, n) or None when folded in
    border: Any  # (r, n), right factor of low-rank terms: φ̄, and rows of bodies about mean axes; or None
    border_stack: Any  # ((1 + s + s²) n, r), left factor: the matrices are stack − border_stack · border; or None
    moments: Any  # (d² n, n), ∫ρφ_iφ_j, one below the other: a third of the entries of the stack, or None
    forms: Any  # (1 + s + s², d²), combinations of the moments that give the stack
    viscous: Any  # (n, n), α M and further constant damping
    strain: Any  # (m, n)
    slopes: Any  # (g, n)
    weights: Any  # (m, g)
    compliance: Any  # (m, m)
    stiffness: Any  # (m, m), C⁻¹
    stress_damping: Array  # (m,), β of the body of each stress
    body_stress: Index  # body of each stress
    node_body: Index  # (k,)
    node_moves: Array  # (k,), 1 for points, 0 for directions
    node_position: Array  # (k, d) from the centre of mass
    node_shape: Any  # (k·d, n)
    incidence: Any  # (v, k)
    vector_fixed: Array  # (v, d)
    first: Index  # (p,) vectors of each product
    second: Index
    select_first: Any  # (p, v), selections of the first and of the second vector of each product
    select_second: Any
    term_row: Index  # (t,)
    term_product: Index
    springs: Springs
    strains: Strains
    rolling: Rolling
    contacts: Contacts
    slips: Slips
    bearings: Bearings
    curves: tuple[Curve, ...]
    input_node: Any  # (k·d, i): node forces of the inputs
    input_torque: Any  # (t·s, i): section torques of the inputs
    torque_body: Index  # (t,)
    torque_shape: Any  # (t·s, n): section rotations ψ
    follow_input: Index  # (f, d): inputs given in the axes of a section
    follow_node: Index  # (f, d): the direction nodes of those axes
    faces: Faces | None  # loads that follow faces
    columns: Columns
    sum_coordinates: Any  # (b, n), sums over the flexible coordinates of each body
    sum_nodes: Any  # (b, k), sums over the nodes of each body
    sum_points: Any  # (b, k), sums over the points of each body, without directions
    rise: Any  # (m, n), C⁻¹ strain
    bend: Any  # (m, g), C⁻¹ weights
    is_viscous: bool
    pairs: Index  # (2, p), the first and the second vector of each product
    partners: Index  # (2, p), the second and the first
    pull_pairs: Any  # (k, 2p), forces on those pairs to forces on nodes
    node_turns: Any  # (k, t), 1 for nodes that turn with a turning body
    translating: Any  # (k·d, b·d), 1 for nodes that move with a centre of mass
    resolution: Array  # (4,), see kernels.state
    joins_points: Array  # (v,), 1 for vectors between points [m], 0 for directions
    holds_points: Array  # (g,), 1 for constraints that measure lengths [m], 0 for those on directions
    of_length: Array  # (n,), √(m/M_ii): flexible coordinate with the inertia of a unit displacement of its body
    lengths: Array  # (2,), of the bodies, and including the ground [m], see kernels.state
    node_means: Any = None  # (k, k), weights of points in nodes that are means of them, for contacts; None without any
    joined: Joined | None = None  # present if there are strain rows
    flows: tuple[Flow, ...] = ()
    mass_factors: tuple[tuple[int, Callable[[float], float] | Literal["input"]], ...] = ()  # bodies whose mass changes
    closed: tuple[ClosedGap, ...] = ()  # rows of contacts that are closed at rest
    crossed: Index = np.zeros(0, dtype=int)  # products (J V)·W, in the plane only, with J a quarter turn


class Joined(NamedTuple):
    """Arrays of a mechanism restricted to the products of joints, springs and loads.

    Left out are the products that only determine strains of nodal bodies (strain rows, :mod:`flexph.kernels.strains`).
    They are the last products of a mechanism, so that all others keep their indices.
    """

    arrays: Arrays  # of some nodes, the first vectors and the first products
    nodes: Index  # these nodes among all


def joined_part(a: Arrays, vectors: int, products: int) -> Joined:
    """Arrays restricted to the first ``vectors`` vectors and ``products`` products, and the nodes that they need.

    The restricted arrays have no strain rows.
    """
    incidence = sparse.csr_array(a.incidence)[:vectors]
    nodes = np.unique(incidence.indices)
    rows = (a.dim * nodes[:, None] + np.arange(a.dim)).ravel()
    taken = {name: getattr(a, name)[nodes] for name in ("node_body", "node_moves", "node_position", "node_turns")}
    taken |= {name: getattr(a, name)[rows] for name in ("node_shape", "translating")}
    taken |= {name: getattr(a, name)[:products] for name in ("first", "second")}
    taken |= {name: getattr(a, name)[:products, :vectors] for name in ("select_first", "select_second")}
    of = incidence[:, nodes]
    kept = of if sparse.issparse(a.node_shape) else of.toarray()
    few = a._replace(
        **taken, incidence=kept, strains=NONE, vector_fixed=a.vector_fixed[:vectors], crossed=np.zeros(0, dtype=int)
    )
    return Joined(few, nodes)


class Rolling(NamedTuple):
    """Terms of constraints on velocities: w Π_by Π̇ of products and a·Ω of bodies (see :mod:`flexph.kernels.rolling`).

    A term belongs to the constraint row ``row``, with the products Π (``product``) and Π_by (``by``) and the weight w.
    Rows of constraints on positions may have terms, too: squares ½ w Π², with ``by`` equal to ``product``.
    """

    row: Index  # (w,)
    product: Index
    by: Index
    weight: Array
    square: Index  # (w,), 1 if the row is one of positions
    angular: Index  # (w,), 1 if the term is one of the two of an angle, whose rate is divided by Π² + Π_by²
    spin_row: Index  # (m,)
    spin_body: Index
    spin_axis: Array  # (m, s), in the world
    free: Index  # (g,), 1 if a row is one of rates: nonholonomic, or for angles that count their turns
    positive_row: Index  # (c,), rows of discs that tilt
    positive: Index  # (c,), products that are the heights of these discs
    least: Array  # (c,), lower bounds of these heights [m]


class Columns(NamedTuple):
    """Indices of ṙ (b, d), ω (b, s; −1 for point masses) and u̇ (n,) in the vector of all velocities."""

    v: Index
    omega: Index
    u: Index


def prepared(parts: dict[str, Any]) -> dict[str, Any]:
    """Fields of :class:`Arrays` that follow from its other fields ``parts``, by name.

    Matrices among them are dense if the node shapes in ``parts`` include the shift φ̄ (``mean`` is None), else sparse.
    """
    bodies, dim = parts["weight"].shape
    node_body, moves, pairs = parts["node_body"], parts["node_moves"], np.array([parts["first"], parts["second"]])
    selections = [parts["incidence"].T @ parts[name].T for name in ("select_first", "select_second")]
    folded = parts["mean"] is None
    to, sums = dense if folded else sparse.csr_array, _dense_sums if folded else _sparse_sums
    nodes, points = (sums(node_body, weights, bodies) for weights in (np.ones(moves.size), moves))
    return {
        "columns": _columns(bodies, dim, parts["n"].shape, parts["turning"]),
        "sum_coordinates": sums(parts["body_u"], np.ones(parts["body_u"].size), bodies),
        "sum_nodes": nodes,
        "sum_points": points,
        "rise": to(parts["stiffness"] @ parts["strain"]),
        "bend": to(parts["stiffness"] @ parts["weights"]),
        "is_viscous": bool(parts["viscous"].any() if folded else parts["viscous"].nnz),
        "pairs": pairs,
        "partners": pairs[::-1].copy(),
        "pull_pairs": np.hstack(selections) if folded else sparse.csr_array(sparse.hstack(selections)),
        "node_turns": to(nodes[parts["turning"]].T).copy(),
        "translating": np.kron(points.T, np.eye(dim)) if folded else to(sparse.kron(points.T, sparse.eye_array(dim))),
    }


def _columns(bodies: int, dim: int, spins: tuple[int, int], turning: Index) -> Columns:
    s, n = spins
    v = np.arange(bodies * dim).reshape(bodies, dim)
    omega = np.full((bodies, s), -1)
    omega[turning] = v.size + np.arange(turning.size * s).reshape(-1, s)
    return Columns(v, omega, v.size + turning.size * s + np.arange(n))


def _sparse_sums(index: Index, weights: Array, size: int) -> Any:
    """Sparse matrix (size, entries) whose product with a vector sums weighted entries with the same index.

    ``index`` and ``weights`` (entries,) are the index of the sum to which an entry is added, and its weight.
    """
    return sparse.csr_array(sparse.csc_array((weights, index, np.arange(index.size + 1)), shape=(size, index.size)))


def _dense_sums(index: Index, weights: Array, size: int) -> Array:
    """Dense matrix (size, entries) whose product with a vector sums weighted entries with the same index.

    ``index`` and ``weights`` (entries,) are the index of the sum to which an entry is added, and its weight.
    """
    return np.where(index == np.arange(size)[:, None], weights, 0.0)


def total(index: Index, values: Array, size: int) -> Array:
    """Sums of the values with the same index, (size,), as floats even for empty input (unlike ``numpy.bincount``)."""
    return np.bincount(index, weights=values, minlength=size).astype(float, copy=False)


def timed_columns(a: Arrays) -> np.ndarray:
    """First column and number of values, (7, 2), of seven kinds of data in a table of time-dependent data.

    A row of the table has the data of one step. It begins with the changes over the step of the free lengths and angles
    of all springs. Then come, kind by kind, the values at the start of the step and those at its end. The kinds are, in
    this order, factors of elastic laws of springs, factors of material laws of strain rows, speeds of flows, speeds of
    moving surfaces, factors of resistive relations of springs, factors of the friction of contacts and bearings, and
    factors of masses. A kind that is constant in time has no columns.
    """
    springs = a.springs.stiffness.size
    timed = sum(part.factor is not None for part in a.strains.laws)
    surfaces = 1 + int(a.contacts.timed.max(initial=-1))
    relations = springs if a.springs.relation_factors else 0
    frictions = 1 + max(int(friction.rubbing.max(initial=-1)) for friction in (a.contacts.laws, a.bearings))
    scheduled = springs if a.springs.scheduled else 0
    counts = [scheduled, timed, len(a.flows), surfaces, relations, frictions, len(a.mass_factors)]
    return np.column_stack([springs + 2 * (np.cumsum(counts) - counts), counts]).astype(np.int64)
