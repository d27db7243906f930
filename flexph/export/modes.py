"""Mode shapes as files for mesh viewers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import meshio
import numpy as np

from ..bodies.body import Body, View
from ..kernels.state import Configuration
from ..linear.modes.modes import Eigenmodes
from ..mechanisms.model.state import Pose, State, at_rest, configuration
from ..numerics.arrays import Array
from ..numerics.rotations import skew, spins
from .frames import spatial, viewed

if TYPE_CHECKING:
    from ..mechanisms.mechanism import Mechanism


def write_modes(path: str | Path, mechanism: Mechanism, about: Pose | State, modes: Eigenmodes) -> Path:
    """Write mode shapes on the undeformed pose, or on the equilibrium they are about, as a VTU file; returns its path.

    Point data ``mode_1``, …: displacement of each mode, its largest one set to 1 m; cell data ``body``: the index of
    the body. Bodies without a view are left out.
    """
    if isinstance(about, Pose):
        base = at_rest(mechanism, about.centres, about.rotations)
    else:
        base = configuration(mechanism, about.x)
    shapes = [_mode_displacement(mechanism, base, modes, k) for k in range(len(modes.frequencies))]
    points, cells, bodies = _placed(mechanism, base)
    mesh = meshio.Mesh(
        spatial(points),
        cells,
        point_data={f"mode_{k + 1}": spatial(shape) for k, shape in enumerate(shapes)},
        cell_data={"body": bodies},
    )
    return _write(Path(path), mesh)


def _write(path: Path, mesh: meshio.Mesh) -> Path:
    mesh.write(path)
    return path


def _local(mechanism: Mechanism, base: Configuration, index: int, body: Body, view: View) -> Array:
    """X + φu of the points of a view, in body axes."""
    u = base.u[mechanism.network.arrays.body_u == index]
    return view.points + (view.shape @ u).reshape(view.points.shape)


def _placed(mechanism: Mechanism, base: Configuration) -> tuple[Array, list[tuple[str, Array]], list[Array]]:
    points, cells, bodies, start = [], [], [], 0
    for i, _, body, view in viewed(mechanism):
        u = base.u[mechanism.network.arrays.body_u == i]
        centre = body.inertia.centre + body.inertia.mean_shape @ u
        points.append(base.r[i] + (_local(mechanism, base, i, body, view) - centre) @ base.R[i].T)
        cells.append((view.cell_type, view.cells + start))
        bodies.append(np.full(len(view.cells), i))
        start += len(view.points)
    return np.vstack(points), cells, bodies


def _mode_displacement(mechanism: Mechanism, base: Configuration, modes: Eigenmodes, k: int) -> Array:
    """World displacement of all points in mode k: velocities R(v_P + ω × (X + φu) + φu̇), largest set to 1."""
    shape, at, moved = modes.shapes[:, k].real, 0, []
    for i, body in enumerate(mechanism.bodies.values()):
        d, s = body.dim, spins(body.dim) if body.turns else 0
        v, spin, rate = np.split(shape[at : at + d + s + body.size], [d, d + s])
        at += d + s + body.size + body.stress_size
        if body.view is None:
            continue
        turn = skew(spin, d) if s else np.zeros((d, d))
        lever = _local(mechanism, base, i, body, body.view)
        local = v + lever @ turn.T + (body.view.shape @ rate).reshape(-1, d)
        moved.append(local @ base.R[i].T)
    whole = np.vstack(moved)
    return whole / np.linalg.norm(whole, axis=1).max()
