"""HDF5 files that can be shown: saved runs, and reduced bodies with their vibrations."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from ..bodies.body import Body
from ..bodies.reduced_file import load_reduced
from ..files.contained import LINKED, open_contained
from ..files.reading import reading
from ..files.stored_fields import get_texts
from ..linear.eigenmodes.modes import modes
from ..mechanisms.connected_bodies import connect
from ..scenes.files import read_scene
from ..scenes.of_modes import mode_scene
from ..scenes.of_motion import pose_scene
from ..scenes.scene import Scene

VIBRATIONS = 6
"""Number of vibrations of a reduced body that are shown."""


def scene_of_hdf5(path: Path) -> Scene:
    """Scene of a saved run, or of the lowest free vibrations of a reduced body; raises ValueError for other files."""
    kind = stored_kind(path)
    if kind == "reduced body":
        return body_scene(load_reduced(path), path.stem)
    if kind == "solution":
        return _kept_scene(path)
    if kind:
        raise ValueError(
            f"{path} is a {kind} of a general system, which has no shapes: load it in Python, "
            "and draw it by flexph.plot.motion"
        )
    raise ValueError(f"{path} is neither a saved run nor a reduced body; of a series give its .xdmf")


def stored_kind(path: Path) -> str:
    """Kind named in an HDF5 file of this package, such as ``solution``; empty for other files."""
    with reading("HDF5", path), open_contained(path, linked=LINKED) as file:
        told = get_texts(file, "format") if "format" in file.attrs else [""]
    first, _, kind = told[0].partition(" ")
    return kind.rpartition(" ")[0] if first == "flexph" else ""


def _kept_scene(path: Path) -> Scene:
    try:
        return read_scene(path)
    except ValueError as error:
        raise ValueError(
            f"{path} keeps no scene that can be read: save the run again by solution.save(path), without scene=False "
            f"({error})"
        ) from error


def body_scene(body: Body, name: str) -> Scene:
    """Scene of a free body in its lowest vibrations, or of a rigid body at rest.

    ValueError if it was saved without shape.
    """
    if body.view is None:
        raise ValueError(f"{name} was saved without its shape: save it with fields='shape'")
    mechanism = connect({name: body}, [])
    pose = mechanism.assemble({name: (0.0, 0.0, 0.0)})  # position and angle in the plane, position in space
    linear = mechanism.linearize(pose)
    count = min(VIBRATIONS, body.size)
    if not count:
        return pose_scene(mechanism, pose)
    return mode_scene(mechanism, pose, modes(replace(linear, R=0.0 * linear.R), count))
