"""Refinement of a mesh in a loop: estimate, mark, refine."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from flexph.bodies.body import Body
from flexph.bodies.held_body import HeldBody
from flexph.meshes.drawings.drawing import CellSizes
from flexph.numerics.arrays import Array

from ..meshes.solid_mesh import SolidMesh
from .calibration import safe_errors
from .criteria import MOST_ROUNDS, Refinement, Round
from .recovery import StressPoints, stress_errors

COVERED = 0.5
"""Least share of the cells that have a patch; with fewer, the mesh is too coarse for an estimate."""
NO_ENERGY = 1e-14
"""Compliance, relative to the largest at its port, up to which the port counts as held in this direction."""
SMALLEST, RATIO = 0.35, 0.6
"""Least factor by which a round changes cell sizes, and the error it aims at as a share of the tolerance."""


class MeshedBody(NamedTuple):
    """A body on a mesh of triangles or tetrahedra, with the data for an estimate of its errors.

    ``points`` are those of each kind of stress, ``material`` (cells,) is the material index of each cell, and ``model``
    the model from which the body was made.
    """

    body: Body
    mesh: SolidMesh
    points: tuple[StressPoints, ...]
    material: Array
    model: Any


@dataclass(frozen=True, eq=False)
class Estimate:
    """Estimated errors of a body on a mesh: its round, and the contribution of each cell to the squared error.

    ``cells`` (cells,) are the contributions.
    """

    round: Round
    cells: Array

    @property
    def known(self) -> bool:
        """True for a mesh with an estimate, False for one that is too coarse for it."""
        return bool(np.isfinite(self.round.errors).all())


class Refined(NamedTuple):
    """Result of a refinement: the body on the last mesh, and all rounds."""

    meshed: MeshedBody
    rounds: tuple[Round, ...]


def estimated(meshed: MeshedBody, to: Refinement, earlier: Sequence[Round] = ()) -> Estimate:
    """Estimate of the errors of a body on its mesh, for the criteria ``to``.

    The values of ``earlier`` rounds make the errors conservative, see :mod:`fem.refinement.calibration`.
    """
    names, shapes, values, factors = _targets(meshed.body, to)
    elastic = meshed.body.elasticity
    assert elastic is not None
    sigma = np.asarray(elastic.stress_basis(shapes) @ np.eye(shapes.shape[1]))
    cells, bare = int(meshed.mesh.starts[-1]), np.zeros(0, dtype=int)
    energies = np.zeros((cells, sigma.shape[1]))
    for points in meshed.points:
        stress_error = stress_errors(meshed.mesh, meshed.material, points, sigma=sigma, compliance=elastic.compliance)
        energies += stress_error.energies
        bare = np.union1d(bare, stress_error.bare)
    whole = np.einsum("mk,mk->k", sigma, elastic.compliance @ sigma)
    relative = energies / whole
    estimates = factors * relative.sum(axis=0)
    if len(bare) > (1.0 - COVERED) * cells:
        estimates = np.full_like(estimates, np.inf)
    errors = safe_errors(earlier, names, values, estimates)
    wanting = errors > to.tolerance
    share = (factors * relative)[:, wanting if wanting.any() else slice(None)].sum(axis=1)
    return Estimate(Round(cells, meshed.body.size, tuple(names), values, estimates, errors), share)


def _targets(body: Body, to: Refinement) -> tuple[list[str], Array, Array, Array]:
    """Criteria of a refinement: names in words, displacements (n, k), values (k,), and factors (k,).

    The displacements are modes and static responses at ports. The factor times the relative squared error of the
    stresses is the relative error of the value: ½ for frequencies, 1 for compliances.
    """
    held = HeldBody(body)
    names, shapes, values, factors = [], [np.zeros((body.size, 0))], [], []
    if to.count:
        modes = held.modes(to.count)
        stiffness = held.elastic.energies(modes).diagonal()
        mass = np.einsum("nk,nk->k", modes, held.mass @ modes)
        names += [f"mode {k}" for k in range(1, to.count + 1)]
        shapes.append(modes)
        values += (np.sqrt(stiffness / mass) / (2.0 * np.pi)).tolist()
        factors += [0.5] * to.count
    for port in to.ports:
        moved = held.static([port])
        if not moved.shape[1]:
            raise ValueError(f"ports of refine must move, {port!r} is held")
        compliance = held.elastic.energies(moved).diagonal()
        real = np.flatnonzero(compliance > NO_ENERGY * compliance.max())
        names += [f"compliance {k + 1} at {port}" for k in range(real.size)]
        shapes.append(moved[:, real])
        values += compliance[real].tolist()
        factors += [1.0] * int(real.size)
    return names, np.hstack(shapes), np.array(values), np.array(factors)


def refined(first: MeshedBody, to: Refinement, finer: Callable[[MeshedBody, Estimate], MeshedBody]) -> Refined:
    """Refine a mesh until the errors of its body are at most the tolerance of ``to``; return body and rounds.

    ``finer`` returns the body on a finer mesh and raises ValueError if that would have too many cells. Raises
    ValueError if the tolerance is not reached; the message has the errors of the last round.
    """
    meshed, rounds = first, list[Round]()
    for _ in range(MOST_ROUNDS):
        estimate = estimated(meshed, to, rounds)
        rounds.append(estimate.round)
        if to.watch is not None:
            to.watch(estimate.round)
        if estimate.round.worst <= to.tolerance:
            return Refined(meshed, tuple(rounds))
        try:
            meshed = finer(meshed, estimate)
        except ValueError as error:
            raise _not_reached(rounds[-1], to, str(error)) from error
    raise _not_reached(rounds[-1], to, f"{MOST_ROUNDS} rounds are not enough")


def _not_reached(last: Round, to: Refinement, why: str) -> ValueError:
    return ValueError(f"tolerance of refine, {100.0 * to.tolerance:g} %, is not reached, got {last}; {why}")


def marked(estimate: Estimate, share: float) -> Array:
    """Mask of the fewest cells that have at least the fraction ``share`` of the squared error of all.

    Without an estimate it is True for all cells.
    """
    if not estimate.known:
        return np.ones(len(estimate.cells), dtype=bool)
    order = np.argsort(-estimate.cells, kind="stable")
    total = np.cumsum(estimate.cells[order])
    chosen = np.zeros(len(order), dtype=bool)
    chosen[order[: int(np.searchsorted(total, share * total[-1])) + 1]] = True
    return chosen


def refuse_many(cells: int, to: Refinement) -> None:
    """Raise ValueError if a finer mesh would have ``cells`` cells, more than ``to.max_cells``."""
    if cells > to.max_cells:
        raise ValueError(f"a finer mesh has {cells} cells, more than max_cells={to.max_cells}")


def wanted_sizes(meshed: MeshedBody, points: Array, estimate: Estimate, to: Refinement) -> CellSizes:
    """Cell sizes for the next mesh of a drawing: equal squared errors in all cells, in sum within the tolerance.

    ``points`` (k, c, 3) are the corners of the cells in axes of the drawing. A squared error in a cell of size h falls
    as h^(2q + d), with the order q of the stresses and the dimension d.
    """
    h = np.linalg.norm(points[:, 1:] - points[:, :1], axis=2).mean(axis=1)
    if estimate.known:
        excess = estimate.round.worst / (RATIO * to.tolerance)
        level = estimate.cells.sum() / (len(h) * excess)
        order = 2.0 * max(p.degree for p in meshed.points) + meshed.mesh.dim
        with np.errstate(divide="ignore"):
            factor = np.clip((level / estimate.cells) ** (1.0 / order), SMALLEST, 1.0)
    else:
        factor = np.full(len(h), 0.5)
    return CellSizes(points, np.repeat((h * factor)[:, None], points.shape[1], axis=1))


def refuse_numbered(regions: Sequence[object]) -> None:
    """Raise ValueError for regions by node numbers, which change when a drawing is meshed again."""
    for given_region in regions:
        given = getattr(given_region, "region", given_region)
        if not isinstance(given, str) and not callable(given):
            raise ValueError("regions must be names or functions of x if a drawing is refined, got node numbers")
