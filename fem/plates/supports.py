"""Regions of a plate that are held to the frame of its body."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from scipy import sparse

from flexph.numerics import checks as check
from flexph.numerics.arguments import checked
from flexph.numerics.arrays import Array

from ..solids.ties import Where
from .model import PlateModel
from .regions import place_of

Holds = Literal["clamped", "hinged", "simple"]


@checked
@dataclass(frozen=True, eq=False)
class Support:
    """A region of a plate, usually of edges, that is held to the frame of the body.

    - ``clamped``: no displacement and no rotation;
    - ``hinged``: no displacement, and rotation about the edge only;
    - ``simple``: no deflection w; all other motions are free, including in-plane ones.

    Parameters
    ----------
    region : str, callable or sequence of int
        Name in the mesh, node numbers, or a function of positions x (2, N) that is true on the region.
    how : {"clamped", "hinged", "simple"}
        Kind of the support.
    """

    region: Where
    how: Holds = "hinged"

    def __post_init__(self) -> None:
        check.choice("how of a support", self.how, get_args(Holds))


def support_rows(model: PlateModel, name: str, support: Any) -> Any:
    """Sparse matrix (k, size) of the k combinations of coordinates that a support holds at zero.

    ``name`` names the support in error messages.
    """
    if not isinstance(support, Support):
        raise ValueError(f"{name} must be a Support, got {type(support).__name__}")
    place, how = place_of(model, name, support.region), support.how
    nodes, edges = place.nodes, place.edges
    corners = nodes[np.isin(nodes, model.corners)]
    w = model.at_corners(corners)
    rows = [_units(model, w[:, 0])]
    ends = model.edges[edges].ravel()
    along = np.repeat(np.column_stack([-model.normals[edges, 1], model.normals[edges, 0]]), 2, axis=0)
    slope = model.at_corners(ends)[:, 1:]
    rows.append(_pairs(model, slope, along))  # with w at the ends: w = 0 along the edge
    if how != "simple":
        rows.append(_units(model, (2 * nodes[:, None] + np.arange(2)).ravel()))
    sheared = model.theory == "reissner_mindlin"
    if how == "hinged" and sheared:
        for k in (*model.edges[edges].T, model.middles[edges]):
            rows.append(_pairs(model, model.shearing + 2 * k[:, None] + np.arange(2), along[::2]))
    if how == "clamped":
        rows.append(_clamped_rows(model, corners, edges))
    return sparse.vstack(rows).tocsr()


def _clamped_rows(model: PlateModel, corners: Array, edges: Array) -> Any:
    """Sparse matrix from all coordinates to the components of β = ∇w − γ that a clamped support sets to zero.

    They are both components at the ``corners`` and at the middles of the ``edges``; the slope of w along an edge is
    left out, as w = 0 there already.
    """
    slopes, across = _units(model, model.at_corners(corners)[:, 1:].ravel()), _units(model, model.at_edges(edges))
    if model.theory == "kirchhoff":
        return sparse.vstack([slopes, across])
    angles = lambda nodes: model.shearing + 2 * nodes[:, None] + np.arange(2)  # noqa: E731
    n = model.normals[edges]
    middle = angles(model.middles[edges])
    return sparse.vstack(
        [
            slopes - _units(model, angles(corners).ravel()),
            across - _pairs(model, middle, n),
            _pairs(model, middle, np.column_stack([-n[:, 1], n[:, 0]])),
        ]
    )


def _units(model: PlateModel, at: Array) -> Any:
    return sparse.csr_array((np.ones(len(at)), (np.arange(len(at)), at)), shape=(len(at), model.size))


def _pairs(model: PlateModel, at: Array, factors: Array) -> Any:
    rows = np.repeat(np.arange(len(at)), 2)
    return sparse.coo_array((factors.ravel(), (rows, at.ravel())), shape=(len(at), model.size)).tocsr()
