"""Smooth stresses from patches of cells, and the energy of their difference from the stresses of the mesh.

Polynomials are fitted by least squares to the stresses at the points of all cells around a corner; the smooth stress is
their mean, weighted by the barycentric coordinates in a cell: O. C. Zienkiewicz, J. Z. Zhu, Int. J. Numer. Meth. Engng
33 (1992) 1331, 1365. Some corners on the boundary have too few points around them for a fit: the other corners of a
cell take over their weight.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from skfem.element import ElementTetP1, ElementTriP1
from skfem.quadrature import get_quadrature

from flexph.numerics.arrays import Array

from ..meshes.solid_mesh import SolidMesh

WELL_POSED = 1e-4
"""Least eigenvalue of the moments of a patch, relative to the largest, from which its polynomial is taken."""
SPARE = 4.0 / 3.0
"""Least ratio of the points of a patch to the coefficients of its polynomial."""
CHUNK = 40_000
"""Number of pairs of a point and a corner that are summed at once."""
INTEGRATED = 4
"""Degree of polynomials whose integrals over cells are exact."""


class Samples(NamedTuple):
    """Integration points (s,) of the error of stresses: positions (s, d), volumes ``weights`` (s,), and cells (s,).

    The matrix ``values`` (s, p) gives the stresses there from those at the p stress points. Stresses are most accurate
    at the stress points, so errors are integrated at other points.
    """

    positions: Array
    weights: Array
    cell: Array
    values: Any


class StressPoints(NamedTuple):
    """Points (p,) of one kind of stress: positions (p, d), volumes ``weights`` (p,), and cells (p,).

    ``components`` is the number of components, ``first`` the index of the first stress coordinate, and ``degree`` that
    of the polynomials that are fitted on patches. ``samples`` are the points at which errors are integrated.
    """

    positions: Array
    weights: Array
    cell: Array
    components: int
    first: int
    degree: int
    samples: Samples

    @property
    def rows(self) -> slice:
        """Slice of the stress coordinates that belong to these points."""
        return slice(self.first, self.first + self.components * len(self.cell))


def stress_points(
    pieces: Array, points: Array, weights: Array, cell: Array, *, components: int, first: int, degree: int
) -> StressPoints:
    """Stress points with integration points for their errors, from q points on each of n simplices, pieces of cells.

    ``pieces`` (n, d + 1, d) are the corners of the simplices, ``points`` (n, q, d) positions, ``weights`` their
    volumes, and ``cell`` (n,) is the cell of each simplex. For ``components``, ``first`` and ``degree`` see
    :class:`StressPoints`.
    """
    n, q, d = points.shape
    where, shares = get_quadrature(ElementTriP1() if d == 2 else ElementTetP1(), INTEGRATED)
    barycentric = np.vstack([1.0 - where.sum(axis=0), where]).T
    edges = np.swapaxes(pieces[:, 1:] - pieces[:, :1], 1, 2)
    rest = np.einsum("nij,nqj->nqi", np.linalg.inv(edges), points - pieces[:, :1])
    at_points = _polynomials(np.concatenate([1.0 - rest.sum(axis=2, keepdims=True), rest], axis=2), q)
    values = np.einsum("sb,nbq->nsq", _polynomials(barycentric, q), np.linalg.inv(at_points))
    columns = np.broadcast_to(np.arange(n * q).reshape(n, 1, q), values.shape)
    count = len(barycentric)
    samples = Samples(
        np.einsum("sa,nai->nsi", barycentric, pieces).reshape(-1, d),
        (np.abs(np.linalg.det(edges))[:, None] * shares).ravel(),
        np.repeat(cell, count),
        sparse.csr_array((values.ravel(), columns.ravel(), q * np.arange(n * count + 1)), shape=(n * count, n * q)),
    )
    owner = np.repeat(cell, q)
    return StressPoints(points.reshape(-1, d), weights.ravel(), owner, components, first, degree, samples)


def _polynomials(barycentric: Array, count: int) -> Array:
    """Values (..., count) of the constant, all linear or all quadratic polynomials of barycentric coordinates.

    ``barycentric`` is (..., d + 1).
    """
    corners = barycentric.shape[-1]
    if count == 1:
        return np.ones((*barycentric.shape[:-1], 1))
    if count == corners:
        return barycentric
    i, j = np.triu_indices(corners)
    assert count == len(i)
    return barycentric[..., i] * barycentric[..., j]


class Errors(NamedTuple):
    """Energies (cells, k), by cells, of the differences between smooth and computed stresses, for k states of stress.

    ``bare`` are the numbers of the cells that have no well-posed patch at any corner.
    """

    energies: Array
    bare: Array


def stress_errors(mesh: SolidMesh, material: Array, points: StressPoints, *, sigma: Array, compliance: Any) -> Errors:
    """Energies ∫ (σ* − σ) : S (σ* − σ), by cells, of one kind of stress, σ* the smooth stress.

    ``sigma`` (m, k) are k columns of all stress coordinates of a body, ``compliance`` (m, m) is C. ``material``
    (cells,) is the material index of each cell; stresses may jump between materials.
    """
    c, samples, k = points.components, points.samples, sigma.shape[1]
    values = sigma[points.rows].reshape(len(points.cell), -1)  # components and columns of a point
    corner, centre, size = _patches(mesh, material)
    fit = _Fit(points.degree, centre, size)
    patch = corner[points.cell]
    well, coefficients = fit.solved(points.positions, patch, values)
    patches = corner[samples.cell]
    weights = _barycentric(mesh, samples) * well[patches]
    total = weights.sum(axis=1)
    smooth = fit.blended(samples.positions, patches, weights / np.where(total > 0.0, total, 1.0)[:, None], coefficients)
    difference = np.where((total > 0.0)[:, None], smooth - samples.values @ values, 0.0).reshape(-1, c, k)
    first = np.flatnonzero(np.diff(points.cell, prepend=-1))  # points are sorted by cell
    blocks = sparse.bsr_array(sparse.csr_array(compliance)[points.rows, points.rows], blocksize=(c, c))
    dense = np.zeros((len(points.cell), c, c))
    rows = np.repeat(np.arange(len(points.cell)), np.diff(blocks.indptr))
    dense[rows[rows == blocks.indices]] = blocks.data[rows == blocks.indices]
    unit = dense[first] / points.weights[first, None, None]
    density = np.einsum("sik,sij,sjk->sk", difference, unit[samples.cell], difference, optimize=True)
    cells = int(mesh.starts[-1])
    energies = [np.bincount(samples.cell, samples.weights * column, cells) for column in density.T]
    return Errors(np.column_stack(energies), np.unique(samples.cell[total <= 0.0]))


def _corners(mesh: SolidMesh) -> Array:
    return np.vstack([block.corners() for block in mesh.blocks])


def _patches(mesh: SolidMesh, material: Array) -> tuple[Array, Array, Array]:
    """Patches of cells around corners, one for each corner and material: number of the patch, centre and size.

    The number is given for each corner of each cell, (cells, c). Centres are (g, d), sizes (g,) [m].
    """
    nodes, kinds = _corners(mesh), int(material.max()) + 1
    keys, number = np.unique(nodes * kinds + material[:, None], return_inverse=True)
    number = number.reshape(nodes.shape)
    extent = np.linalg.norm(mesh.points[nodes] - mesh.points[nodes].mean(axis=1)[:, None], axis=2).max(axis=1)
    size = np.zeros(len(keys))
    np.maximum.at(size, number, 2.0 * extent[:, None])
    return number, mesh.points[keys // kinds], size


def _barycentric(mesh: SolidMesh, samples: Samples) -> Array:
    """Barycentric coordinates (s, d + 1) of integration points in their cells."""
    at = mesh.points[_corners(mesh)]
    edges = np.swapaxes(at[:, 1:] - at[:, :1], 1, 2)
    lever = samples.positions - at[samples.cell, 0]
    rest = np.einsum("pij,pj->pi", np.linalg.inv(edges)[samples.cell], lever)
    return np.column_stack([1.0 - rest.sum(axis=1), rest])


class _Fit:
    """Least-squares fits of polynomials of one degree, on patches with centres (g, d) and sizes (g,) [m]."""

    def __init__(self, degree: int, centre: Array, size: Array) -> None:
        self.centre, self.size = centre, size
        d = centre.shape[1]
        grids = np.indices((degree + 1,) * d).reshape(d, -1).T
        self.powers = grids[grids.sum(axis=1) <= degree]

    def _basis(self, positions: Array, patch: Array) -> Array:
        """Monomials (k, b) of ``positions`` (k, d), taken from the centre of a patch and divided by its size.

        ``patch`` (k,) is the number of the patch of each position.
        """
        lever = (positions - self.centre[patch]) / self.size[patch, None]
        return np.prod(lever[:, None] ** self.powers, axis=2)

    def solved(self, positions: Array, patch: Array, values: Array) -> tuple[Array, Array]:
        """Mask (g,) of the patches with a well-posed fit, and the coefficients (g, b, v) of their b monomials.

        The v values of each of p points, ``values`` (p, v) at ``positions`` (p, d), enter the fits of c patches, whose
        numbers are ``patch`` (p, c).
        """
        g, b, v = len(self.centre), len(self.powers), values.shape[1]
        sums, right, count = np.zeros((g, b * b)), np.zeros((g, b * v)), np.bincount(patch.ravel(), minlength=g)
        for point, patches in _pairs(patch):
            basis = self._basis(positions[point], patches)
            total = sparse.csr_array(
                (np.ones(len(patches)), (patches, np.arange(len(patches)))), shape=(g, len(patches))
            )
            sums += total @ (basis[:, :, None] * basis[:, None]).reshape(len(patches), -1)
            right += total @ (basis[:, :, None] * values[point, None]).reshape(len(patches), -1)
        moments = sums.reshape(g, b, b)
        scale = 1.0 / np.sqrt(np.einsum("gbb->gb", moments))
        scaled = moments * scale[:, :, None] * scale[:, None]
        spectrum = np.linalg.eigvalsh(scaled)
        well = (count >= SPARE * b) & (spectrum[:, 0] > WELL_POSED * spectrum[:, -1])
        scaled[~well] = np.eye(b)
        solved = scale[:, :, None] * np.linalg.solve(scaled, scale[:, :, None] * right.reshape(g, b, v))
        return well, np.where(well[:, None, None], solved, 0.0)

    def blended(self, positions: Array, patch: Array, weights: Array, coefficients: Array) -> Array:
        """Values (s, v) at ``positions`` (s, d) of the fitted polynomials of c patches, summed with ``weights`` (s, c).

        ``patch`` (s, c) are the patches of each point, ``coefficients`` (g, b, v) those of all patches.
        """
        values, flat = np.zeros((len(positions), coefficients.shape[2])), weights.ravel()
        for k, (point, patches) in enumerate(_pairs(patch)):
            part = np.einsum("kb,kbv->kv", self._basis(positions[point], patches), coefficients[patches])
            share = flat[k * CHUNK : k * CHUNK + len(patches), None]
            total = sparse.csr_array(
                (np.ones(len(patches)), (point, np.arange(len(patches)))), shape=(len(values), len(patches))
            )
            values += total @ (share * part)
        return values


def _pairs(patch: Array) -> Iterator[tuple[Array, Array]]:
    """Yield all pairs of a point and one of its patches (p, c) in chunks: point numbers and patch numbers."""
    point, patches = np.repeat(np.arange(len(patch)), patch.shape[1]), patch.ravel()
    for k in range(0, len(patches), CHUNK):
        yield point[k : k + CHUNK], patches[k : k + CHUNK]
