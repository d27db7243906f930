"""Mode shapes as files for mesh viewers."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import meshio
import numpy as np
from scipy import sparse

from ..bodies.nodal_body import NodalBody
from ..bodies.split_body import SplitBody
from ..files.durable import staged
from ..linear.eigenmodes.modes import Eigenmodes
from ..mechanisms.mechanism import Mechanism
from ..mechanisms.model.state import Pose, State, at_rest, flat
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..numerics.rotations import skew, spins, sweep
from ..results.state_view import MechanismView
from .frames import Viewed, numbered_cells, spatial, viewed


@checked
def write_modes(path: str | Path, mechanism: Mechanism, about: Pose | State, modes: Eigenmodes) -> Path:
    """Write mode shapes of a mechanism as a file for mesh viewers, such as VTU; return its path.

    ``about`` is the undeformed pose or the equilibrium at which the points are written. Point data ``mode_1``, …:
    displacements of each mode, scaled so that the largest is 1 m; cell data ``body``: index of the body. Bodies without
    a view are left out.
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
    """Bodies with a view, their points (p, d) [m] at rest, and displacements in each mode, the largest 1 m."""

    shown: list[Viewed]
    points: list[Array]
    displacements: list[list[Array]]


def mode_displacements(mechanism: Mechanism, about: Pose | State, modes: Eigenmodes) -> ModeShapes:
    """Points of all bodies with a view at the pose or equilibrium ``about``, and their displacements in the modes."""
    x = about.x if isinstance(about, State) else flat(mechanism, at_rest(mechanism, about.centres, about.rotations))
    base, shown = MechanismView(mechanism, x), viewed(mechanism)
    points = [base.points(name, view.points, view.shape) for _, name, _, view in shown]
    moved = [_mode_displacement(base, modes.shapes[:, k].real) for k in range(len(modes.frequencies))]
    return ModeShapes(shown, points, moved)


def _nodes_moved(base: MechanismView, name: str, body: NodalBody, rates: Array) -> Array:
    """World displacements (p, d) of the points of a nodal body in a mode.

    ``rates``: velocity of each node, and spin of each node that can turn, in the node's axes.
    """
    assert body.view is not None
    d, s, turning = body.dim, spins(body.dim), body.turning
    moving, spinning = np.zeros((len(body.frames), d)), np.zeros((len(body.frames), s))
    first = rates[: turning * (d + s)].reshape(turning, d + s)
    moving[:turning], spinning[:turning] = first[:, :d], first[:, d:]
    moving[turning:] = rates[turning * (d + s) :].reshape(-1, d)
    of = sparse.coo_array(body.view.shape)
    arms = body.view.points[of.row] - body.places[of.col]
    local = moving[of.col] + sweep(spinning[of.col], arms)
    world = of.data[:, None] * np.einsum("eij,ej->ei", base.rotations(name)[of.col], local)
    moved = np.zeros_like(body.view.points)
    np.add.at(moved, of.row, world)
    return moved


def _frames_moved(base: MechanismView, name: str, body: SplitBody, rates: Array) -> Array:
    """World displacements (p, d) of the points of a body with several frames in a mode.

    ``rates``: velocity, spin and flexible rates of each frame, in its axes.
    """
    assert body.view is not None
    d, s, u, at = body.dim, spins(body.dim), base.deformation(name), 0
    owner, shape = body.frames_of(body.view.points, body.view.shape), sparse.csr_array(body.view.shape)
    moved = np.zeros_like(body.view.points)
    for i, (frame, R) in enumerate(zip(body.frames, base.rotations(name), strict=True)):
        v, spin, rate = np.split(rates[at : at + d + s + frame.size], [d, d + s])
        at += d + s + frame.size + frame.stress_size
        of, bent = np.flatnonzero(owner == i), slice(*body.starts[[i, i + 1]])
        rows = shape[(d * of[:, None] + np.arange(d)).ravel()][:, bent]
        lever = body.view.points[of] - body.places[i] + (rows @ u[bent]).reshape(-1, d)
        moved[of] = (v + lever @ skew(spin, d).T + (rows @ rate).reshape(-1, d)) @ R.T
    return moved


def _mode_displacement(base: MechanismView, shape: Array) -> list[Array]:
    """World displacements (p, d) of the points of each body in a mode, scaled so that the largest is 1 m.

    A point X of a body with the rotation R moves by R(v + ω × (X + φu) + φu̇), with velocity v, spin ω and flexible
    rates u̇ of the mode, deformation u at rest, and shapes φ.
    """
    at, moved = 0, []
    for name, body in base.mechanism.bodies.items():
        d, s = body.dim, spins(body.dim) if body.turns else 0
        if isinstance(body, NodalBody):
            rates = shape[at : at + d * len(body.frames) + spins(d) * body.turning]
            at += rates.size
            if body.view is not None:
                moved.append(_nodes_moved(base, name, body, rates))
            continue
        if isinstance(body, SplitBody):
            rates = shape[at : at + (d + s) * len(body.frames) + body.size + body.stress_size]
            at += rates.size
            moved.append(_frames_moved(base, name, body, rates))
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
    return [displacement / largest for displacement in moved]
