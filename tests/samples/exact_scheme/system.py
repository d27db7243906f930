"""What a step needs to know of a mechanism: its bodies, and what joins them, as plain dense arrays.

Read from the arrays of the model, which the compiled loops are given too. Nothing is computed here but sums that large
mechanisms keep apart.
"""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse


class Body(NamedTuple):
    """A body or a frame with s spins and n flexible coordinates u, about its centre of mass.

    Its inertia over (ω, u̇) is M(u) = [[J + 2 s·u + uᵀKu, n + Nu], [⋅, M]].
    """

    mass: float
    weight: Any  # (d,), m g
    turns: bool
    own: Any  # its flexible coordinates among all, (n,)
    J: Any  # (s, s)
    s: Any  # (s, s, n)
    n: Any  # (s, n)
    M: Any  # (n, n)
    N: Any  # (s, n, n), skew
    K: Any  # (s, s, n, n), symmetric


class Elasticity(NamedTuple):
    """Strain operators D(u) = D₀ + Σ_g w_g (s_g·u) s_gᵀ of all bodies, C⁻¹, damping by stiffness β and by velocity."""

    D0: Any  # (m, n)
    slopes: Any  # (g, n)
    weights: Any  # (m, g)
    compliance: Any  # (m, m), C
    stiffness: Any  # (m, m), C⁻¹
    beta: Any  # (m,)
    viscous: Any  # (n, n)


class Nodes(NamedTuple):
    """Points and directions of bodies: X' from the centre of mass, and φ."""

    body: Any  # (k,)
    moves: Any  # (k,), 1 for points, 0 for directions
    position: Any  # (k, d)
    shape: Any  # (k, d, n)
    means: Any  # (k, k) weights of points in nodes that are their means, for contacts


class Vectors(NamedTuple):
    """World vectors V as sums of nodes, and their products Π = V·W."""

    incidence: Any  # (v, k)
    fixed: Any  # (v, d)
    first: Any  # (p,)
    second: Any  # (p,)
    crossed: Any  # numbers of the products (J V)·W, with a quarter turn J


class System(NamedTuple):
    """A mechanism of b bodies in d dimensions with n_v velocities (ṙ, ω of bodies that turn, u̇) and g multipliers."""

    dim: int
    bodies: tuple[Body, ...]
    elasticity: Elasticity
    nodes: Nodes
    vectors: Vectors
    term_row: Any  # (t,): c Π in the constraint of a row
    term_product: Any
    rate_terms: Any  # constraints on velocities, and squares
    springs: Any
    strain_rows: Any
    slips: Any
    bearings: Any
    curves: Any
    contacts: Any
    loads: Any
    faces: Any
    flows: Any
    rows: int  # g
    columns: Any  # of ṙ, ω and u̇ of each body among the velocities, in this order
    velocities: int  # n_v

    @property
    def spins(self):
        """s, 1 in the plane and 3 in space."""
        return 1 if self.dim == 2 else 3


class Loads(NamedTuple):
    """Inputs as forces on nodes and torques on sections, which turn by ψu; some have components along directions."""

    on_node: Any  # (k, d, i)
    on_section: Any  # (t, s, i)
    section_body: Any  # (t,)
    section_shape: Any  # (t, s, n)
    follow_input: Any  # (f, d)
    follow_node: Any  # (f, d)


def dense(matrix):
    """A dense array of a matrix of any kind."""
    return np.asarray(matrix.toarray() if sparse.issparse(matrix) else matrix)


def system_of(mechanism):
    """Read the arrays of a mechanism."""
    a = mechanism.network.arrays
    d, (s, n), k = a.dim, a.n.shape, len(a.node_body)
    bodies = tuple(_bodies(a))
    return System(
        dim=d,
        bodies=bodies,
        elasticity=Elasticity(
            *map(dense, (a.strain, a.slopes, a.weights, a.compliance, a.stiffness)), a.stress_damping, dense(a.viscous)
        ),
        nodes=Nodes(
            a.node_body,
            a.node_moves,
            a.node_position,
            _shapes(a),
            np.zeros((k, k)) if a.node_means is None else dense(a.node_means),
        ),
        vectors=Vectors(dense(a.incidence), a.vector_fixed, a.first, a.second, a.crossed),
        term_row=a.term_row,
        term_product=a.term_product,
        rate_terms=a.rolling,
        springs=a.springs,
        strain_rows=a.strains,
        slips=a.slips,
        bearings=a.bearings,
        curves=a.curves,
        contacts=a.contacts.all(),
        loads=Loads(
            dense(a.input_node).reshape(k, d, a.input_node.shape[1]),
            dense(a.input_torque).reshape(a.torque_body.size, s, a.input_torque.shape[1]),
            a.torque_body,
            dense(a.torque_shape).reshape(a.torque_body.size, s, n),
            a.follow_input,
            a.follow_node,
        ),
        flows=a.flows,
        faces=a.faces,
        rows=mechanism.layout.multipliers,
        columns=[_columns(d, bodies, b) for b in range(len(bodies))],
        velocities=sum(d + s * b.turns + b.own.size for b in bodies),
    )


def weighed(system, factor):
    """The system with the inertia of its rigid bodies times factors (b,)."""
    pairs = zip(factor, system.bodies, strict=True)
    return system._replace(bodies=tuple(b._replace(mass=a * b.mass, weight=a * b.weight, J=a * b.J) for a, b in pairs))


def _columns(dim, bodies, body):
    """Columns of ṙ, ω and u̇ of a body among the velocities, in this order."""
    turning, spins = [b.turns for b in bodies], 1 if dim == 2 else 3
    centres = dim * len(turning)
    first = centres + spins * sum(turning[:body])
    flexible = centres + spins * sum(turning)
    return (
        dim * body + np.arange(dim),
        np.arange(first, first + spins * turning[body]),
        flexible + bodies[body].own,
    )


def _bodies(a):
    """The bodies with their own blocks of the inertia."""
    (s, n), stack = a.n.shape, dense(a.stack)
    if a.border is not None:  # what low ranks take away is kept apart
        stack = stack - dense(a.border_stack @ a.border)
    forms = stack.reshape(1 + s + s * s, n, n)
    for b in range(len(a.mass)):
        own = np.flatnonzero(a.body_u == b)
        M, *rest = forms[:, own[:, None], own]
        N, K = np.reshape(rest[:s], (s, own.size, own.size)), np.reshape(rest[s:], (s, s, own.size, own.size))
        turns = bool(np.isin(b, a.turning))
        yield Body(a.mass[b], a.weight[b], turns, own, a.J[b], a.s[:, :, own], a.n[:, own], M, N, K)


def _shapes(a):
    """φ of all nodes, from the centre of mass: that moves by φ̄u."""
    shape = dense(a.node_shape).reshape(len(a.node_body), a.dim, a.body_u.size)
    if a.mean is None:
        return shape
    mean = dense(a.mean).reshape(len(a.mass), a.dim, a.body_u.size)
    return shape - a.node_moves[:, None, None] * mean[a.node_body]
