"""VTKHDF files of scenes, which ParaView reads as well."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..files.durable import refuse_suffix
from ..files.hdf5 import write_hdf5
from ..files.reading import reading
from ..files.vtkhdf import SUFFIX, Block, Frames, Grid, put_vtkhdf, read_vtkhdf
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from .scene import Field, Part, Scene, account_from

if TYPE_CHECKING:
    import h5py

DEFORMATION = "deformation"
"""Name of the elastic part of the displacement in the point data."""
GROUPS = {"body": "bodies", "joint": "joints", "force": "force_elements", "contact": "contacts"}
GROUPS |= {"ground": "ground", "arrow": "arrows"}


@checked
def write_scene(path: str | Path, scene: Scene) -> Path:
    """Write a scene as a VTKHDF file with its parts by name, in single precision; return its path.

    Parameters
    ----------
    path : path
        Path of the file to be written.
    scene : Scene
        The scene.

    Returns
    -------
    Path
        The path.
    """
    refuse_suffix("a scene", path, (SUFFIX,))
    write_hdf5(path, lambda file: put_scene(file, scene))
    return Path(path)


def put_scene(file: h5py.File, scene: Scene) -> None:
    """Write a scene into an open HDF5 file, in the format VTKHDF."""
    about = {name: getattr(scene, name) for name in ("size", "dim", "title", "unit", "scale", "captions")}
    if scene.account is not None:
        about["account"] = scene.account.thinned().as_lists()
    blocks = (block_of(part) for part in scene.parts if part.points.shape[1] and len(part.cells))
    put_vtkhdf(file, scene.times, blocks, {"scene": about})


@checked
def read_scene(path: str | Path) -> Scene:
    """Read a scene from a file of :func:`write_scene`, or from a run saved by :meth:`flexph.Solution.save`.

    Parameters
    ----------
    path : path
        File written by :func:`write_scene`, or run saved by :meth:`flexph.Solution.save`.

    Returns
    -------
    Scene
        Scene in single precision.

    Raises
    ------
    ValueError
        For any other file, with its name.
    """
    times, grids, about = read_vtkhdf(path)
    with reading("motion", path):
        if "scene" not in about:
            raise ValueError("it contains a series for mesh viewers, not a scene: give scene.vtkhdf")
        attributes = about["scene"] | {"captions": tuple(about["scene"]["captions"])}
        if "account" in attributes:
            attributes["account"] = account_from(attributes["account"])
        return Scene(times, tuple(_part(grid) for grid in grids), **attributes)


def block_of(part: Part, group: str | None = None) -> Block:
    """Part as a block of a VTKHDF file, in a ``group``, by default that of its kind."""
    fields = {"point_data": part.point_fields, "cell_data": part.cell_fields}
    attributes = {kind: {name: _attributes(f) for name, f in of_kind.items()} for kind, of_kind in fields.items()}
    about = {"kind": part.kind, "fields": attributes}
    return Block(part.name, group or GROUPS[part.kind], ((part.cell_type, part.cells),), [_frames(part)], about)


def _attributes(field: Field) -> dict[str, Any]:
    """Unit, sign and limits of a field, which a file stores as attributes."""
    return {"unit": field.unit, "signed": field.signed, "limits": None if field.limits is None else list(field.limits)}


def _field(attributes: Mapping[str, Any], values: Array) -> Field:
    low, high = attributes["limits"] or (None, None)
    limits = None if low is None or high is None else (float(low), float(high))
    return Field(str(attributes["unit"]), values, bool(attributes["signed"]), limits)


def _frames(part: Part) -> Frames:
    """Points, deformation and fields of a part at all its times, in single precision."""
    points, inside = (
        {n: f.values.astype(np.float32) for n, f in fields.items()} for fields in (part.point_fields, part.cell_fields)
    )
    if part.deformation.shape[1]:
        points[DEFORMATION] = part.deformation.astype(np.float32)
    count = max([1, *(len(values) for values in (*points.values(), *inside.values()))])
    where = part.points.astype(np.float32)
    return Frames(where if part.moves else np.repeat(where, count, axis=0), points, inside)


def _part(grid: Grid) -> Part:
    ((kind, cells),) = grid.cells
    attributes = grid.about["fields"]
    points = {
        name: _field(attributes["point_data"][name], v) for name, v in grid.point_data.items() if name != DEFORMATION
    }
    inside = {name: _field(attributes["cell_data"][name], v) for name, v in grid.cell_data.items()}
    deformation = grid.point_data.get(DEFORMATION, np.zeros((1, 0, 3)))
    return Part(grid.name, grid.about["kind"], grid.points, cells, kind, deformation, points, inside)
