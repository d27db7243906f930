"""Bodies from modes and lumped masses of other finite-element programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from scipy import sparse

from ...numerics import checks as check
from ...numerics.arguments import checked
from ...numerics.arrays import Array
from ..body import Body
from .matrix_files import dense_shapes
from .model import ForeignModel
from .nodes import foreign_nodes, node_ports

SKEWED = 0.1
"""Coupling of two modes by lumped masses, relative to their modal masses, above which modes and masses do not match."""


@checked
def body_from_modes(
    shapes: Any,
    frequencies: Any,
    nodes: Any,
    *,
    masses: Any,
    ports: Mapping[str, int | str | Sequence[int]],
    ratios: Sequence[float] | float = 0.0,
    cells: tuple[str, Any] | None = None,
    stresses: Mapping[str, tuple[Any, ...]] | None = None,
) -> Body:
    """Floating body from modes: shapes Φ (N·d, k), frequencies ω (k,) [rad/s] and lumped masses (N,) [kg].

    The lumped masses give all mass integrals, M̂ = Φᵀ(m ⊗ 1)Φ. Frequencies and damping ratios ζ are preserved by

        K̂ = M̂^½ diag(ω²) M̂^½,  R̂ = M̂^½ diag(2ζω) M̂^½,

    which are diag(ω²) and diag(2ζω) for mass-normalised modes.

    Parameters
    ----------
    shapes : array_like or path
        Shapes Φ (N·d, k): modes of a free body, or with the origin P of the body fixed, without rigid motions.
    frequencies : array_like
        Frequencies ω (k,) [rad/s].
    nodes : array_like, meshio.Mesh or path
        Positions (N, d) [m], as for :func:`body_from_matrices`.
    masses : array_like
        Lumped masses (N,) [kg].
    ports : mapping
        Ports by name: a node, several nodes, or the name of a region.
    ratios : array_like or float
        Damping ratios ζ (k,), or one for all.
    cells : tuple[str, Any], optional
        Cell type of meshio and the nodes of the cells, for export.
    stresses : mapping, optional
        As for :func:`body_from_matrices`.

    Returns
    -------
    Body
        In the axes of the nodes.

    Raises
    ------
    ValueError
        As :func:`body_from_matrices`; for a frequency that is not positive, a ratio not in [0, 1), and masses that
        couple two modes by more than a tenth of their modal masses, as modes are orthogonal in their own mass matrix.
    """
    held = foreign_nodes(nodes, None, cells)
    X = held.points
    N, d = X.shape
    lumps = check.array("masses", masses, (N,))
    if np.any(lumps < 0.0):
        raise ValueError(f"masses must not be negative, got {lumps.min():.3g} kg at node {int(np.argmin(lumps))}")
    m, phi = sparse.diags_array(lumps).tocsr(), dense_shapes(shapes, N * d)
    omega = check.array("frequencies", frequencies, (phi.shape[1],))
    if not np.all(omega > 0.0):
        raise ValueError(f"frequencies must be positive (leave out rigid motions), got {omega.min():.3g} rad/s")
    zeta = check.broadcast("ratios", ratios, omega.shape)
    if not np.all((zeta >= 0.0) & (zeta < 1.0)):
        raise ValueError(f"ratios must be at least 0 and below 1, got {ratios}")
    root = _root(phi.T @ (np.repeat(lumps, d)[:, None] * phi))
    model = ForeignModel(
        nodes=X,
        mass=m,
        shapes=phi,
        stiffness=root @ np.diag(omega**2) @ root,
        ports=node_ports(ports, held),
        viscous=root @ np.diag(2.0 * zeta * omega) @ root if np.any(zeta) else None,
        cells=held.drawn(cells),
        stresses=stresses or {},
    )
    return model.body()


def _root(mass: Array) -> Array:
    """Square root M̂^½ of a modal mass matrix M̂; raises ValueError if it is not nearly diagonal."""
    size = np.sqrt(mass.diagonal())
    if not np.all(size > 0.0):
        raise ValueError(f"shapes must move masses, but shape {int(np.argmin(size))} moves none")
    unit = mass / np.outer(size, size)
    skewed = np.abs(unit - np.eye(len(unit)))
    if skewed.max(initial=0.0) > SKEWED:
        i, j = np.unravel_index(np.argmax(skewed), skewed.shape)
        raise ValueError(
            f"modes must be orthogonal with respect to masses, but modes {min(i, j)} and {max(i, j)} couple by "
            f"{skewed.max():.0%} of their modal masses; give all masses, or matrices to body_from_matrices"
        )
    values, vectors = np.linalg.eigh(mass)
    return (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
