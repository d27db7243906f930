"""Packing of a scene into the stream that ``browser/stream.js`` reads."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..numerics.arrays import Array
from ..scenes.scene import Field, Part, Scene
from ..scenes.surfaces import outer_triangles
from .creases import creased_each, telling_points
from .looks import COLOURS, DARK, MAPS, is_diverging, limits_of, shown_field, unit_of
from .rigid_motion import RigidMotion, quaternions, rigid_motion, rigid_pieces
from .stream import Stream, Told, add_path, add_series, add_shares

RIGID = 2e-5
"""Invisible error of positions, relative to the size of a scene."""
UNSEEN = 1e-9
"""Deformation, relative to the size of a scene, below which it is zero for any factor."""
STEPS = 2000.0
"""Resolution of deformations and fields: the number of steps up to the largest value."""
TURN = np.radians(20.0)
"""Largest turn between two times over which the view interpolates."""
SHORT = 65536
"""Number of points beyond which indices need more than 16 bits."""


class Packed(NamedTuple):
    """Compressed stream as text, with the field shown first and the row at which the view starts."""

    text: str
    field: str | None
    row: int


def packed(scene: Scene, *, title: str, field: str | None = None, forces: bool = False) -> Packed:
    """Scene of triangles as a compressed stream: length of the head, head as JSON, and the arrays that it refers to."""
    field, row, stream = shown_field(scene, field), telling_row(scene), Stream()
    low, high = scene.without("arrow").bounds
    extent = float(np.linalg.norm(high - low)) or 1.0
    pieces = [piece for part in scene.parts for piece in rigid_pieces(part, RIGID * extent)]
    motions = [rigid_motion(piece.undeformed) for piece in pieces]
    largest_turn = max((m.largest_turn for p, m in zip(pieces, motions, strict=True) if p.kind == "body"), default=0.0)
    head: Told = {
        "title": title,
        "dim": scene.dim,
        "unit": scene.unit,
        "times": _short(scene.times),
        "captions": list(scene.captions),
        "row": row,
        "scale": scene.scale,
        "forces": forces,
        "interpolates": bool(largest_turn < TURN),
        "low": low.tolist(),
        "high": high.tolist(),
        "extent": extent,
        "field": field,
        "fields": {name: _field(scene, name) for name in scene.field_names()},
        "colours": {"light": dict(COLOURS), "dark": dict(DARK)},
        "parts": _parts(stream, pieces, motions, extent=extent, scale=scene.scale),
        "account": None if scene.account is None else scene.account.thinned().as_lists(),
    }
    words = json.dumps(head, separators=(",", ":"), ensure_ascii=False).encode()
    words += b" " * (-len(words) % 4)
    raw = len(words).to_bytes(4, "little") + words + stream.contents()
    return Packed(base64.b64encode(gzip.compress(raw, 6, mtime=0)).decode("ascii"), field, row)


def _short(times: Array) -> list[float]:
    """Times rounded to a thousandth of the shortest interval."""
    spacing, largest = np.diff(times).min(initial=np.inf), np.abs(times).max(initial=0.0)
    digits = 6 if spacing <= 0.0 or largest == 0.0 else 3 + int(np.ceil(max(np.log10(largest / spacing), 3.0)))
    return [float(f"{time:.{min(digits, 17)}g}") for time in times]


def telling_row(scene: Scene) -> int:
    """Row of the scene with the largest deformation of a body, or with the largest displacement if nothing deforms."""
    bodies = [part for part in scene.parts if part.kind == "body" and part.moves]
    deformed = [part.deformation for part in bodies if part.deformation.shape[1]]
    if not any(own.any() for own in deformed):
        deformed = [part.points - part.points[:1] for part in bodies]
    sizes = [np.einsum("kpi,kpi->kp", own, own).max(axis=1) for own in deformed]
    return int(np.max(sizes, axis=0).argmax()) if sizes else 0


def with_triangles(scene: Scene) -> Scene:
    """Scene with triangles only; cell fields become fields of their corners, vector fields their magnitudes."""
    shown = [_triangles(part) for part in scene.parts if part.points.size and len(part.cells)]
    shown = [part for part in shown if part.kind != "arrow" or np.ptp(part.points, axis=1).any()]
    return replace(scene, parts=tuple(shown))


def _triangles(part: Part) -> Part:
    if part.cell_type != "triangle":
        part = replace(part, cells=outer_triangles(part.cells, part.cell_type), cell_type="triangle", cell_fields={})
    fields = {name: _scalar(f) for name, f in part.point_fields.items() if f.values.ndim in (2, 3)}
    inside = {name: f for name, f in part.cell_fields.items() if f.values.ndim == 2 and name not in fields}
    rows = max((len(f.values) for f in (*fields.values(), *inside.values())), default=1)
    if rows > len(part.points):  # a field that varies on a part at rest
        part = replace(part, points=np.repeat(part.points, rows, axis=0))
    if not inside:
        return replace(part, point_fields=fields)
    corners = part.cells.ravel()
    return replace(
        part,
        points=part.points[:, corners],
        deformation=part.deformation[:, corners] if part.deformation.shape[1] else part.deformation,
        cells=np.arange(len(corners)).reshape(-1, 3),
        point_fields={name: replace(f, values=f.values[:, corners]) for name, f in fields.items()}
        | {name: replace(f, values=np.repeat(f.values, 3, axis=1)) for name, f in inside.items()},
        cell_fields={},
    )


def _scalar(field: Field) -> Field:
    """Field itself, or the magnitude of a vector field."""
    if field.values.ndim == 2:
        return field
    return replace(field, values=np.linalg.norm(field.values, axis=2), signed=False, limits=None)


def _parts(
    stream: Stream, pieces: Sequence[Part], motions: Sequence[RigidMotion], *, extent: float, scale: float
) -> list[Told]:
    """Data of parts, packed: their rigid motions, deviations from these, deformations, fields and triangles."""
    meshes = creased_each([telling_points(piece) for piece in pieces], [piece.cells for piece in pieces])
    moving = [motion.rotations for motion in motions if len(motion.rotations) > 1]
    turns = iter(quaternions(np.array(moving)) if moving else ())
    parts = []
    for part, motion, mesh in zip(pieces, motions, meshes, strict=True):
        times, count, _ = part.points.shape
        number = "u2" if max(count, len(mesh.corners)) < SHORT else "u4"
        parts.append(
            {
                "name": part.name,
                "kind": part.kind,
                "points": count,
                "times": times,
                "base": add_shares(stream, motion.base),
                "place": add_path(stream, motion.centres),
                "turn": add_path(stream, next(turns)) if times > 1 else None,
                "rest": add_series(stream, motion.rest(part.undeformed).reshape(times, -1), RIGID * extent),
                "deformation": _deformation(stream, part, motion, extent=extent, scale=scale),
                "fields": {name: _values(stream, part, f) for name, f in part.point_fields.items()},
                "corners": stream.add(mesh.corners, number),
                "triangles": stream.add(mesh.triangles, number),
            }
        )
    return parts


def _deformation(stream: Stream, part: Part, motion: RigidMotion, *, extent: float, scale: float) -> Told | None:
    """Packed deformation of a part in the axes of its rigid motion; None if it is zero."""
    if not scale or not part.deformation.any():
        return None
    own = motion.in_body(np.asarray(part.deformation, dtype=float) / scale).reshape(len(part.points), -1)
    return add_series(stream, own, max(float(np.abs(own).max()) / STEPS, UNSEEN * extent))


def _values(stream: Stream, part: Part, field: Field) -> Told | None:
    """Packed values of a field at the points of a part; None if they are all zero."""
    values = np.broadcast_to(np.nan_to_num(np.asarray(field.values, dtype=float)), part.points.shape[:2])
    return add_series(stream, values, float(np.abs(values).max(initial=0.0)) / STEPS)


def _field(scene: Scene, name: str) -> Told:
    """Data of a field: its unit, limits and colour map."""
    factor, unit = unit_of(scene, name)
    low, high = limits_of(scene, name)
    signed = is_diverging(scene, name)
    return {
        "unit": "" if unit == "1" else unit,
        "factor": factor,
        "low": low / factor,
        "high": high / factor,
        "signed": bool(signed),
        "colours": MAPS["diverging" if signed else "sequential"],
    }
