"""Basis of a distributed reduction: static responses, inertia relief and modes, by the Rayleigh-Ritz method."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from flexph.bodies.held import SILENT, UNLOADED, principal
from flexph.bodies.inertia import square_of
from flexph.numerics.arrays import Array
from flexph.numerics.factors.orthonormal import DEFLATION
from flexph.numerics.rotations import cross

from .ranks import total
from .system import System


class Moments(NamedTuple):
    """Integrals ∫ρYYᵀ of a body with Y = (1, X), (1 + d, 1 + d), and ∫ρφ_i Y of its coordinates, (own, d, 1 + d)."""

    whole: Array
    loads: Array


def moments(system: System) -> Moments:
    """Moments of the undeformed body and of its coordinates, over all ranks."""
    mesh, mass, d = system.part.model.mesh, system.part.model.mass, system.part.model.dim
    fields = np.hstack([np.ones((len(mesh.points), 1)), mesh.points])
    heavy = mass @ fields
    nodal = np.einsum("nl,ij->nijl", heavy, np.eye(d)).reshape(d * len(heavy), -1)
    return Moments(total(system.comm, fields.T @ heavy), system.loads(nodal).reshape(-1, d, 1 + d))


def inertia_loads(system: System) -> Array:
    """Loads (own, k) of the inertia in unit rigid motions, without those that are round-off.

    See :func:`flexph.bodies.held.inertia_forces`.
    """
    given = moments(system)
    d = system.part.model.dim
    lever, second = given.loads[:, :, 1:], given.whole[1:, 1:]
    basis = cross(d)
    square = square_of(basis)
    a, b = np.triu_indices(len(basis))
    turns = np.einsum("aij,nij->na", basis, lever)
    spun = np.einsum("abij,nij->nab", square, lever)[:, a, b]
    loads = np.hstack([given.loads[:, :, 0], turns, spun])
    squares = [
        np.full(d, given.whole[0, 0]),
        np.einsum("aaij,ij->a", square, second),
        np.full(a.size, np.trace(second)),
    ]
    most = np.sqrt(np.concatenate(squares))
    size = np.sqrt(system.mass.getDiagonal().array / system.unit)[:, None]
    loaded = np.any(np.abs(system.balanced(loads)) > UNLOADED * most * size, axis=0)
    return loads[:, total(system.comm, loaded) > 0.0]


def orthonormal(system: System, vectors: Array) -> Array:
    """Basis Q (own, k) of the span of vectors with QᵀMQ = 1.

    The method is that of :func:`flexph.numerics.factors.orthonormal.orthonormal`.
    """
    basis = np.zeros((len(vectors), 0))
    heavy = basis
    for vector in vectors.T[:, :, None]:
        before = float(np.sqrt(system.inner(vector, system.heavy(vector))[0, 0]))
        if not before > 0.0:
            continue
        left = vector / before
        for _ in range(2):
            left = left - basis @ system.inner(heavy, left)
        weighted = system.heavy(left)
        size = float(np.sqrt(max(system.inner(left, weighted)[0, 0], 0.0)))
        if size > DEFLATION:
            basis, heavy = np.hstack([basis, left / size]), np.hstack([heavy, weighted / size])
    return basis


def ritz(system: System, vectors: Array, mass: float) -> Array:
    """Vectors T with the span of the given ones, TᵀMT = m 1 and TᵀKT diagonal; m is the mass of the body.

    The method is that of :meth:`flexph.bodies.held.Held.ritz`.
    """
    basis = orthonormal(system, vectors)
    if not basis.shape[1]:
        return basis
    basis = basis @ principal(system.energies(basis))
    place = np.abs(basis).argmax(axis=0)
    own = basis[place, np.arange(basis.shape[1])]
    every = np.array(system.comm.allgather(own))
    largest = every[np.abs(every).argmax(axis=0), np.arange(len(own))]
    basis = np.where(np.abs(basis) > SILENT * np.abs(largest), basis, 0.0)
    result: Array = np.sign(largest) * np.sqrt(mass * system.unit) * basis
    return result
