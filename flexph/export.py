"""Files for mesh viewers: modes as VTU, runs as PVD series of VTU frames, written by meshio."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import meshio
import numpy as np

from . import checks as check
from .body import Body, View
from .kernels.state import Configuration
from .solution import Solution
from .space import Array, skew, spins
from .spectrum import Modes
from .state import Pose, State, at_rest, configuration
from .stress_fields import peak_von_mises, principal_stresses, stress_error, tensors, von_mises

if TYPE_CHECKING:
    from .mechanism import Mechanism


def write_modes(path: str | Path, mechanism: Mechanism, about: Pose | State, modes: Modes) -> Path:
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
        _spatial(points),
        cells,
        point_data={f"mode_{k + 1}": _spatial(shape) for k, shape in enumerate(shapes)},
        cell_data={"body": bodies},
    )
    return _write(Path(path), mesh)


def write_series(path: str | Path, solution: Solution, *, bodies: Sequence[str] = (), frames: int = 201) -> list[Path]:
    """Write the motion of bodies (all with a view if none are named) as a PVD time series; returns all paths.

    The points of each VTU frame are where they are at that time. Point data ``displacement`` (from the first frame)
    and ``velocity``; cell data ``body`` and the stress quantities of the bodies (NaN where a body has none). Of a
    stress tensor, such as ``stress`` of a solid, in body axes: the means of the cells (xx, yy, zz, xy, yz, xz), their
    ``_principal`` stresses and ``_von_mises``; ``_peak_von_mises``, the largest at the points of the stresses in the
    cell; ``_error``, the error indicator of :func:`flexph.stress_fields.stress_error`. At most ``frames`` instants,
    evenly spread over the saved ones, the last one included.
    """
    check.count("frames", frames, least=1)
    names = list(bodies) or [name for name, body in solution.mechanism.bodies.items() if body.view]
    if not names:
        raise ValueError("no body of this mechanism has a view to export")
    for name in names:
        if check.lookup("body", name, solution.mechanism.bodies).view is None:
            raise ValueError(f"body {name!r} has no view to export")
    index, folder = Path(path), Path(path).with_suffix("")
    if index.suffix != ".pvd":
        raise ValueError(f"path of a series must end in .pvd, got {str(path)!r}")
    folder.mkdir(parents=True, exist_ok=True)
    pick = np.unique(np.linspace(0, len(solution.times) - 1, frames).round().astype(int))
    written = []
    for k, mesh in enumerate(_frames(solution, names, pick)):
        written.append(_write(folder / f"{folder.name}_{k:04d}.vtu", mesh))
    return [_write_index(index, written, solution.times[pick]), *written]


def _write(path: Path, mesh: meshio.Mesh) -> Path:
    mesh.write(path)
    return path


def _write_index(path: Path, frames: Sequence[Path], times: Array) -> Path:
    root = ET.Element("VTKFile", type="Collection", version="0.1")
    collection = ET.SubElement(root, "Collection")
    for frame, time in zip(frames, times, strict=True):
        name = frame.relative_to(path.parent).as_posix()
        ET.SubElement(collection, "DataSet", timestep=repr(float(time)), part="0", file=name)
    ET.ElementTree(root).write(path, xml_declaration=True, encoding="utf-8")
    return path


def _spatial(vectors: Array) -> Array:
    """Planar vectors as the spatial ones that viewers expect."""
    return np.pad(vectors, [(0, 0)] * (vectors.ndim - 1) + [(0, 3 - vectors.shape[-1])])


def _viewed(mechanism: Mechanism, names: Sequence[str] = ()) -> Iterator[tuple[int, str, Body, View]]:
    for i, (name, body) in enumerate(mechanism.bodies.items()):
        if body.view is not None and (not names or name in names):
            yield i, name, body, body.view


def _local(mechanism: Mechanism, base: Configuration, index: int, body: Body, view: View) -> Array:
    """X + φu of the points of a view, in body axes."""
    u = base.u[mechanism.network.arrays.body_u == index]
    return view.points + (view.shape @ u).reshape(view.points.shape)


def _placed(mechanism: Mechanism, base: Configuration) -> tuple[Array, list[tuple[str, Array]], list[Array]]:
    points, cells, bodies, start = [], [], [], 0
    for i, _, body, view in _viewed(mechanism):
        u = base.u[mechanism.network.arrays.body_u == i]
        centre = body.inertia.centre + body.inertia.mean_shape @ u
        points.append(base.r[i] + (_local(mechanism, base, i, body, view) - centre) @ base.R[i].T)
        cells.append((view.cell_type, view.cells + start))
        bodies.append(np.full(len(view.cells), i))
        start += len(view.points)
    return np.vstack(points), cells, bodies


def _mode_displacement(mechanism: Mechanism, base: Configuration, modes: Modes, k: int) -> Array:
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


def _frames(solution: Solution, names: Sequence[str], pick: Array) -> Iterator[meshio.Mesh]:
    viewed = list(_viewed(solution.mechanism, names))
    shown = [(name, view.points, view.shape) for _, name, _, view in viewed]
    positions = np.concatenate([solution.points(*what)[pick] for what in shown], axis=1)
    velocities = np.concatenate([solution.velocities(*what)[pick] for what in shown], axis=1)
    stresses = _stresses(solution, viewed, pick)
    start = np.cumsum([0, *(len(view.points) for _, _, _, view in viewed)])
    cells = [(view.cell_type, view.cells + start[j]) for j, (_, _, _, view) in enumerate(viewed)]
    owner = [np.full(len(view.cells), i) for i, _, _, view in viewed]
    for k in range(len(pick)):
        data = {"displacement": positions[k] - positions[0], "velocity": velocities[k]}
        yield meshio.Mesh(
            _spatial(positions[k]),
            cells,
            point_data={name: _spatial(value) for name, value in data.items()},
            cell_data={"body": owner, **{name: [block[k] for block in blocks] for name, blocks in stresses.items()}},
        )


def _stresses(solution: Solution, viewed: Sequence[tuple[int, str, Body, View]], pick: Array) -> dict[str, list[Array]]:
    """Stress quantities by name, one array (k, cells[, components]) per body."""
    found = [_quantities(solution, name, view, pick) for _, name, _, view in viewed]
    widths = {name: values.shape[2:] for quantities in found for name, values in quantities.items()}
    return {
        name: [
            quantities.get(name, np.full((len(pick), len(view.cells), *width), np.nan))
            for quantities, (_, _, _, view) in zip(found, viewed, strict=True)
        ]
        for name, width in widths.items()
    }


def _quantities(solution: Solution, body: str, view: View, pick: Array) -> dict[str, Array]:
    """Stress quantities of one body, (k, cells[, components])."""
    if not (view.stresses or view.tensors):
        return {}
    sigma = solution[f"{body}.stress"][pick]
    made = {name: (field.cells @ sigma.T).T for name, field in view.stresses.items()}
    for name, field in view.tensors.items():
        mean = tensors(field.cells, sigma)
        made[name] = mean
        made[f"{name}_principal"] = principal_stresses(mean)
        made[f"{name}_von_mises"] = von_mises(mean)
        made[f"{name}_peak_von_mises"] = peak_von_mises(field, sigma)[:, field.drawn]
        made[f"{name}_error"] = stress_error(field, sigma)[:, field.drawn]
    return made
