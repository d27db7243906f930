"""Mode shapes as files for mesh viewers."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import meshio
import numpy as np

from ..bodies.nodal_body import NodalBody
from ..files.durable import staged
from ..linear.eigenmodes.modes import Eigenmodes
from ..mechanisms.mechanism import Mechanism
from ..mechanisms.model.state import Pose, State, at_rest, flat
from ..numerics.arguments import checked
from ..numerics.arrays import Array, dense
from ..numerics.rotations import skew, spins
from ..results.state_view import MechanismView
from .frames import Viewed, numbered_cells, spatial, viewed


@checked
def write_modes(path: str | Path, mechanism: Mechanism, about: Pose | State, modes: Eigenmodes) -> Path:
    """Write mode shapes on the undeformed pose, or on the equilibrium they are about, as a VTU file; returns its path.

    Point data ``mode_1``, …: displacement of each mode, its largest one set to 1 m; cell data ``body``: the index of
    the body. Bodies without a view are left out.
    """
    shapes = mode_displacements(mechanism, about, modes)
    mesh = meshio.Mesh(
        spatial(np.vstack(shapes.points)),
        numbered_cells([view for *_, view in shapes.shown]),
        point_data={f"mode_{k}": spatial(np.vstack(moved)) for k, moved in enumerate(shapes.displacements, 1)},
        cell_data={"body": [np.full(len(view.cells), i) for i, *_, view in shapes.shown]},
    )
    if Path(path).suffix not in meshio.extension_to_filetypes:
        raise ValueError(f"path must end in a format of meshio, such as .vtu, got {str(path)!r}")
    with staged(path) as part:
        mesh.write(part)
    return Path(path)


class ModeShapes(NamedTuple):
    """Bodies with a view, their points (p, d) [m] at rest, and those displacements in each mode, the largest 1 m."""

    shown: list[Viewed]
    points: list[Array]
    displacements: list[list[Array]]


def mode_displacements(mechanism: Mechanism, about: Pose | State, modes: Eigenmodes) -> ModeShapes:
    """Where the points of all bodies with a view are at rest, undeformed or in equilibrium, and how they move."""
    x = about.x if isinstance(about, State) else flat(mechanism, at_rest(mechanism, about.centres, about.rotations))
    base, shown = MechanismView(mechanism, x), viewed(mechanism)
    points = [base.points(name, view.points, view.shape) for _, name, _, view in shown]
    moved = [_mode_displacement(base, modes.shapes[:, k].real) for k in range(len(modes.frequencies))]
    return ModeShapes(shown, points, moved)


def _nodes_moved(base: MechanismView, name: str, body: NodalBody, rates: Array) -> Array:
    """World displacements of the points of a body of nodes that move by (v_P, ω) in their own axes, (N, 2, 3)."""
    assert body.view is not None
    arms = body.view.points[None] - body.places[:, None]
    local = rates[:, None, 0] + np.cross(rates[:, None, 1], arms)
    world = np.einsum("nij,npj->npi", base.rotations(name), local)
    return np.einsum("pn,npi->pi", dense(body.view.shape), world)


def _mode_displacement(base: MechanismView, shape: Array) -> list[Array]:
    """World displacements of the points in a mode: velocities R(v_P + ω × (X + φu) + φu̇), largest set to 1."""
    at, moved = 0, []
    for name, body in base.mechanism.bodies.items():
        d, s = body.dim, spins(body.dim) if body.turns else 0
        if isinstance(body, NodalBody):
            rates = shape[at : at + 6 * len(body.frames)].reshape(-1, 2, 3)
            at += rates.size
            if body.view is not None:
                moved.append(_nodes_moved(base, name, body, rates))
            continue
        v, spin, rate = np.split(shape[at : at + d + s + body.size], [d, d + s])
        at += d + s + body.size + body.stress_size
        if body.view is None:
            continue
        turn = skew(spin, d) if s else np.zeros((d, d))
        lever = body.view.points + (body.view.shape @ base.deformation(name)).reshape(body.view.points.shape)
        local = v + lever @ turn.T + (body.view.shape @ rate).reshape(-1, d)
        moved.append(local @ base.rotations(name).T)
    largest = np.linalg.norm(np.vstack(moved), axis=1).max()
    return [own / largest for own in moved]
