"""Packing of a scene into the stream of 16-bit numbers that ``browser/stream.js`` reads."""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..numerics.arrays import Array
from ..scenes.scene import Field, Part, Scene
from ..scenes.surfaces import outer_triangles
from .looks import COLOURS, DARK, MAPS, is_diverging, limits_of, shown_field, unit_of
from .mesh import creased_each, telling_points
from .rigid_motion import RigidMotion, quaternions, rigid_motion, rigid_pieces

TYPES = {"i2": "<i2", "u2": "<u2", "u4": "<u4", "f4": "<f4"}
LARGEST = 32767.0
"""Largest 16-bit number."""
RANKS = (1, 2, 3, 4, 6, 8, 12, 16, 20, 24, 32)
"""Numbers of modes that are tested."""

Told = dict[str, Any]


class Stream:
    """Writer of a sequence of arrays.

    Equal arrays are stored once. The low bytes of an array precede the high ones, which gzip compresses better.
    """

    def __init__(self) -> None:
        self._chunks: list[bytes] = []
        self._size = 0
        self._known: dict[tuple[bytes, str], Told] = {}

    def add(self, values: Array, kind: str) -> Told:
        """Append the numbers of an array in the type ``kind``, such as ``i2``; return their reference.

        The reference has offset in bytes, count and type.
        """
        numbers = np.ascontiguousarray(values.astype(TYPES[kind]))
        raw = numbers.view(np.uint8).reshape(numbers.size, -1).T.tobytes()
        key = raw, kind
        if key not in self._known:
            self._known[key] = {"offset": self._size, "count": int(numbers.size), "type": kind}
            self._chunks.append(raw)
            self._size += len(raw)
        return self._known[key]

    def contents(self) -> bytes:
        """Bytes of all arrays."""
        return b"".join(self._chunks)


def add_shares(stream: Stream, values: Array) -> Told:
    """Append numbers as 16-bit multiples of a step; return their reference and the step.

    The step is such that the largest magnitude becomes the integer LARGEST.
    """
    step = (float(np.abs(values).max(initial=0.0)) or 1.0) / LARGEST
    return {"numbers": stream.add(np.round(values / step), "i2"), "step": step}


def add_path(stream: Stream, values: Array) -> Told:
    """Append numbers (k, n) at k times as 16-bit changes from the time before; return their reference.

    The numbers are multiples of a step as in :func:`add_shares`. Changes wrap around at 16 bits, as their sums do in
    the browser.
    """
    step = (float(np.abs(values).max(initial=0.0)) or 1.0) / LARGEST
    whole = np.round(values / step).astype(np.int32)
    changes = np.diff(whole, axis=0, prepend=0).astype(np.int16)
    return {"changes": stream.add(changes.T, "i2"), "step": step, "width": values.shape[1]}


def add_series(stream: Stream, values: Array, tolerance: float) -> Told | None:
    """Append numbers (k, n) at k times up to a tolerance; return their reference, None if all are below the tolerance.

    They are stored as modes by :func:`_as_modes` if this takes clearly fewer numbers, otherwise as changes between
    times.
    """
    if float(np.abs(values).max(initial=0.0)) <= tolerance:
        return None
    return _as_modes(stream, values, tolerance) or _as_changes(stream, values, tolerance)


def _as_modes(stream: Stream, values: Array, tolerance: float) -> Told | None:
    """Append numbers (k, n) at k times as their mean and modes of a singular value decomposition; return the reference.

    The number of modes is the smallest of RANKS for which the error of all numbers is at most ``tolerance``. Returns
    None if none is, or if the modes would take nearly as many numbers as the values.
    """
    k, n = values.shape
    largest = float(np.abs(values).max())
    mean = np.round(values.mean(axis=0) / largest * LARGEST)
    rest = values - mean * (largest / LARGEST)
    squares, vectors = np.linalg.eigh(rest @ rest.T)
    squares, vectors = squares[::-1], vectors[:, ::-1]
    most = int(0.45 * k * n / (n + 2 * k))
    for rank in (rank for rank in RANKS if rank <= most):
        # fewer modes cannot suffice: a mean square above tolerance² means an entry above the tolerance
        if float(np.maximum(squares[rank:], 0.0).sum()) > tolerance**2 * values.size:
            continue
        weights = vectors[:, :rank].astype(np.float32)
        modes = weights.T @ rest
        steps = (np.abs(modes).max(axis=1) / LARGEST).clip(np.finfo(float).tiny)
        shares = np.round(modes / steps[:, None])
        coefficients = (weights * steps).astype(np.float32)
        if np.abs(coefficients @ shares - rest).max() <= tolerance:
            packed = {"rank": rank, "coefficients": stream.add(coefficients, "f4"), "modes": stream.add(shares, "i2")}
            return packed | {"mean": stream.add(mean, "i2"), "step": largest / LARGEST}
    return None


def _as_changes(stream: Stream, values: Array, tolerance: float) -> Told:
    largest = float(np.abs(values).max())
    step = largest / max(2.0, min(LARGEST, np.ceil(largest / tolerance)))
    whole = np.round(values / step).astype(np.int32)
    changes = np.diff(whole, axis=0, prepend=0).astype(np.int16)
    return {"rank": 0, "changes": stream.add(changes, "i2"), "step": step}


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


class PackedScene(NamedTuple):
    """Scene as text: the compressed stream in base 64, and the field and index of the time that are shown initially."""

    text: str
    field: str | None
    row: int


def packed(scene: Scene, *, title: str, field: str | None = None, forces: bool = False) -> PackedScene:
    """Scene of triangles as compressed text, with the field and the index of the time that are shown initially.

    ``forces``: True to show arrows initially.
    """
    field, row = shown_field(scene, field), telling_row(scene)
    raw = streamed(scene, title=title, field=field, row=row, forces=forces)
    return PackedScene(base64.b64encode(gzip.compress(raw, 6, mtime=0)).decode("ascii"), field, row)


def streamed(scene: Scene, *, title: str, field: str | None, row: int = 0, forces: bool = False, **more: Any) -> bytes:
    """Scene of triangles as bytes: length of the head, head as JSON, and the arrays to which it refers.

    ``row``: index of the time that is shown initially; ``forces``: True to show arrows then. Entries ``more`` are added
    to the head.
    """
    stream = Stream()
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
        **more,
    }
    words = json.dumps(head, separators=(",", ":"), ensure_ascii=False).encode()
    words += b" " * (-len(words) % 4)
    return len(words).to_bytes(4, "little") + words + stream.contents()


def _short(times: Array) -> list[float]:
    """Times as a list, rounded to a thousandth of the shortest interval."""
    spacing, largest = np.diff(times).min(initial=np.inf), np.abs(times).max(initial=0.0)
    digits = (
        6 if not 0.0 < spacing < np.inf or largest == 0.0 else 3 + int(np.ceil(max(np.log10(largest / spacing), 3.0)))
    )
    return [float(f"{time:.{min(digits, 17)}g}") for time in times]


def telling_row(scene: Scene) -> int:
    """Index of the time in a scene with the largest deformation of a body.

    If nothing deforms, it is the time of the largest displacement of a point from its position at the first time.
    """
    bodies = [part for part in scene.parts if part.kind == "body" and part.moves]
    deformed = [part.deformation for part in bodies if part.deformation.shape[1]]
    if not any(displacement.any() for displacement in deformed):
        deformed = [part.points - part.points[:1] for part in bodies]
    sizes = [np.einsum("kpi,kpi->kp", displacement, displacement).max(axis=1) for displacement in deformed]
    return int(np.max(sizes, axis=0).argmax()) if sizes else 0


def with_triangles(scene: Scene) -> Scene:
    """Scene of triangles only.

    Values of cells become values of their corners, vectors become magnitudes.
    """
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
    """Scalar field: the given one, or the magnitude of a vector field."""
    if field.values.ndim == 2:
        return field
    return replace(field, values=np.linalg.norm(field.values, axis=2), signed=False, limits=None)


def _parts(
    stream: Stream, pieces: Sequence[Part], motions: Sequence[RigidMotion], *, extent: float, scale: float
) -> list[Told]:
    """Data of each piece of a scene for the head: rigid motion and its deviations, deformations, fields, triangles.

    The arrays of these data are appended to the stream. Deviations that are small relative to ``extent``, the size of
    the scene [m], are neglected. Deformations are divided by ``scale``, their factor in the scene.
    """
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
    """Append the deformation of a part, divided by ``scale``, in the axes of its rigid motion; return its reference.

    None without deformation. ``extent``: size of the scene [m], for the tolerance.
    """
    if not scale or not part.deformation.any():
        return None
    in_body = motion.in_body(np.asarray(part.deformation, dtype=float) / scale).reshape(len(part.points), -1)
    return add_series(stream, in_body, max(float(np.abs(in_body).max()) / STEPS, UNSEEN * extent))


def _values(stream: Stream, part: Part, field: Field) -> Told | None:
    """Append the values of a field at the points of a part over time; return their reference, None if all are zero."""
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
