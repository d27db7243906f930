"""Motions as binary glTF files (``.glb``) for slides, web pages and animation software (extra ``gltf``)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from ..files.durable import refuse_suffix, staged
from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from ..scenes.scene import FRAMES, Part, PartKind, Scene
from .looks import COLOURS, as_scene, coloured, limits_of, shown_field, unit_of
from .mesh import CreasedMesh, creased_each, telling_points, unit_normals
from .packing import RIGID, with_triangles
from .rigid_motion import quaternions, rigid_motion, rigid_pieces
from .stage import map_of, rgb

UPRIGHT = [-np.sqrt(0.5), 0.0, 0.0, np.sqrt(0.5)]
"""Quaternion that turns the z-axis, upwards in space here, onto the y-axis, upwards in glTF."""


@checked
def write_glb(
    path: str | Path,
    shown: Any,
    *,
    field: str | None = None,
    scale: float = 1.0,
    forces: bool = False,
    frames: int = FRAMES,
) -> Path:
    """Write the motion of a run or a scene as binary glTF; return its path.

    A point of a part moves as x(t) = c(t) + R(t) (X + Σ_i w_i(t) φ_i), with its position X in the part: c and R are
    translation and rotation of a node, w_i the weights of morph targets φ_i. There are as many targets as needed for an
    error below 2e-5 of the size of the scene. glTF has no colours that change with time: each point shows the value of
    largest magnitude of the field over the run.

    Parameters
    ----------
    path : path
        Path of the file, with the suffix ``.glb``.
    shown : Solution or Scene
        Run or scene, or a pair of a mechanism and a pose or state.
    field : str, optional
        Name of the coloured field; by default the first one.
    scale : float
        Factor of the deformations.
    forces : bool
        True to show weights and joint forces as arrows.
    frames : int
        Largest number of times, between which viewers interpolate; no part may rotate by 180° or more from one time to
        the next.

    Returns
    -------
    Path
        The path.

    Raises
    ------
    ModuleNotFoundError
        If pygltflib is missing; the message names the extra to install.
    ValueError
        For a scene without parts, and for another suffix.

    Examples
    --------
    ``write_glb("arm.glb", solution, scale=10.0)``
    """
    refuse_suffix("glTF", path, (".glb",))
    scene = with_triangles(as_scene(shown, check.count("frames", frames), scale=scale, forces=forces))
    if not scene.parts:
        raise ValueError("shown must hold parts that are drawn, got none")
    file = _File(_needed_pygltflib(), scene, shown_field(scene, field))
    with staged(path) as part:
        file.written().save_binary(str(part))
    return Path(path)


def _needed_pygltflib() -> Any:
    try:
        import pygltflib
    except ModuleNotFoundError:
        raise ModuleNotFoundError('glTF needs pygltflib: pip install "flexph[gltf]"') from None
    return pygltflib


class _File:
    """Writer of a glTF file, to which parts of a scene are added one at a time."""

    def __init__(self, library: Any, scene: Scene, field: str | None) -> None:
        self.library, self.scene, self.field = library, scene, field
        low, high = scene.bounds
        self.tolerance = RIGID * float(np.linalg.norm(high - low))
        self.gltf = library.GLTF2(asset=library.Asset(generator="flexph"))
        self.chunks: list[bytes] = []
        self.animation = library.Animation(name=scene.title or "motion")

    def written(self) -> Any:
        """GLTF2 object of all parts."""
        library, gltf = self.library, self.gltf
        gltf.nodes.append(library.Node(name="mechanism", rotation=UPRIGHT if self.scene.dim == 3 else None))
        pieces = [piece for part in self.scene.parts for piece in rigid_pieces(part, self.tolerance)]
        meshes = creased_each([telling_points(piece) for piece in pieces], [piece.cells for piece in pieces])
        self.times = self._accessor(self.scene.times - self.scene.times[0], "SCALAR", extremes=True)
        for piece, mesh in zip(pieces, meshes, strict=True):
            self._add(piece, mesh)
        gltf.nodes[0].children = list(range(1, len(gltf.nodes)))
        gltf.scenes, gltf.scene = [library.Scene(nodes=[0])], 0
        if self.animation.channels:
            gltf.animations.append(self.animation)
        blob = b"".join(self.chunks)
        gltf.buffers.append(library.Buffer(byteLength=len(blob)))
        gltf.set_binary_blob(blob)
        return gltf

    def _add(self, part: Part, mesh: CreasedMesh) -> None:
        """Append a part as a node with its mesh and motion."""
        library, gltf = self.library, self.gltf
        motion = rigid_motion(part.undeformed)
        base, shapes, weights = _shapes(motion.rest(np.asarray(part.points, dtype=float)), self.tolerance)
        points = (motion.base + base)[mesh.corners]
        attributes = library.Attributes(POSITION=self._vertices(points))
        if not len(shapes):  # normals are not linear in the weights: viewers compute the normals of the faces
            attributes.NORMAL = self._vertices(_normals(points, mesh.triangles))
        field = self.field
        if field is not None and coloured(part, field):
            attributes.COLOR_0 = self._vertices(self._colours(part, field)[mesh.corners])
        targets = [library.Attributes(POSITION=self._vertices(shape[mesh.corners])) for shape in shapes]
        primitive = library.Primitive(
            attributes=attributes,
            indices=self._accessor(mesh.triangles.ravel(), "SCALAR", use=library.ELEMENT_ARRAY_BUFFER),
            material=self._material(None if attributes.COLOR_0 is not None else part.kind),
            targets=targets or None,
        )
        number = len(gltf.nodes)
        node = library.Node(name=part.name, mesh=len(gltf.meshes), translation=motion.centres[0].tolist())
        gltf.meshes.append(library.Mesh(name=part.name, primitives=[primitive]))
        gltf.nodes.append(node)
        if part.moves:
            turns = quaternions(motion.rotations)
            node.rotation = turns[0].tolist()
            self._channel(number, "translation", self._accessor(motion.centres, "VEC3"))
            self._channel(number, "rotation", self._accessor(turns, "VEC4"))
        if len(shapes):
            gltf.meshes[-1].weights = weights[0].tolist()
            self._channel(number, "weights", self._accessor(weights.ravel(), "SCALAR"))

    def _colours(self, part: Part, field: str) -> Array:
        """Linear RGB colours (p, 3) of a field, by its value of largest magnitude over time at each point."""
        values = np.nan_to_num(np.asarray(part.point_fields[field].values, dtype=float))
        rows = np.abs(values).argmax(axis=0)
        low, high = limits_of(self.scene, field)
        scaled = unit_of(self.scene, field)[0] * values[rows, np.arange(values.shape[1])]
        shares, colours = ((scaled - low) / ((high - low) or 1.0)).clip(0.0, 1.0), map_of(self.scene, field)
        return _linear(colours[np.round(shares * (len(colours) - 1)).astype(int)])

    def _material(self, kind: PartKind | None) -> int:
        """Index of the material with the colour of a kind of parts.

        For None it is a white material, which shows the colours of the points.
        """
        library, name = self.library, kind or "field"
        known = [material.name for material in self.gltf.materials]
        if name not in known:
            colour = [1.0, 1.0, 1.0] if kind is None else _linear(rgb([COLOURS[kind]]))[0].tolist()
            look = library.PbrMetallicRoughness(baseColorFactor=[*colour, 1.0], metallicFactor=0.0, roughnessFactor=0.6)
            self.gltf.materials.append(library.Material(name=name, pbrMetallicRoughness=look, doubleSided=True))
            known.append(name)
        return known.index(name)

    def _channel(self, node: int, path: str, values: int) -> None:
        """Add to the animation the motion of a node at the times of the scene.

        ``path`` is the animated property of glTF: translation, rotation or weights; ``values``: index of the accessor
        of its values.
        """
        library, animation = self.library, self.animation
        target = library.AnimationChannelTarget(node=node, path=path)
        animation.channels.append(library.AnimationChannel(sampler=len(animation.samplers), target=target))
        animation.samplers.append(library.AnimationSampler(input=self.times, output=values, interpolation="LINEAR"))

    def _vertices(self, values: Array) -> int:
        """Append vectors (v, 3) at the vertices of a mesh; return the index of their accessor."""
        return self._accessor(values, "VEC3", use=self.library.ARRAY_BUFFER, extremes=True)

    def _accessor(self, values: Array, kind: str, *, use: int | None = None, extremes: bool = False) -> int:
        """Append numbers to the buffer of the file; return the index of their accessor.

        ``kind``: type of a row in glTF, such as VEC3; ``use``: glTF target of the numbers; those of
        ELEMENT_ARRAY_BUFFER, indices of triangles, are stored as integers, all others as floats; ``extremes``: True to
        store the smallest and largest row, too.
        """
        library, gltf = self.library, self.gltf
        index = use == library.ELEMENT_ARRAY_BUFFER
        numbers = np.ascontiguousarray(values, dtype="<u4" if index else "<f4")
        rows = numbers.reshape(len(numbers), -1)
        start = sum(map(len, self.chunks))
        gltf.bufferViews.append(library.BufferView(buffer=0, byteOffset=start, byteLength=numbers.nbytes, target=use))
        self.chunks.append(numbers.tobytes())
        accessor = library.Accessor(
            bufferView=len(gltf.bufferViews) - 1,
            componentType=library.UNSIGNED_INT if index else library.FLOAT,
            count=len(numbers),
            type=kind,
        )
        if extremes:
            accessor.min, accessor.max = rows.min(axis=0).tolist(), rows.max(axis=0).tolist()
        gltf.accessors.append(accessor)
        return len(gltf.accessors) - 1


def _shapes(rest: Array, tolerance: float) -> tuple[Array, Array, Array]:
    """Decomposition of displacements (k, p, 3) at k times into a mean (p, 3), shapes (r, p, 3) and weights (k, r).

    It is a singular value decomposition of the displacements minus their mean. r is the smallest number for which no
    component is wrong by more than ``tolerance``. The largest weight of each shape is 1.
    """
    k, p, _ = rest.shape
    mean = rest.mean(axis=0)
    displacements = (rest - mean).reshape(k, -1)
    u, s, vt = np.linalg.svd(displacements, full_matrices=False)
    rank, left = 0, displacements
    while rank < len(s) and np.abs(left).max(initial=0.0) > tolerance:
        left = left - np.outer(s[rank] * u[:, rank], vt[rank])
        rank += 1
    weights = u[:, :rank] * s[:rank]
    largest = np.abs(weights).max(axis=0, initial=0.0)
    return mean, (largest[:, None] * vt[:rank]).reshape(rank, p, 3), weights / largest


def _normals(points: Array, triangles: Array) -> Array:
    """Unit normals (v, 3) at the vertices: means over the triangles that meet at each vertex.

    They are along the z axis if these triangles have no area.
    """
    sums = np.zeros_like(points)
    faces = unit_normals(points[triangles])
    for corner in range(3):
        np.add.at(sums, triangles[:, corner], faces)
    sums[~sums.any(axis=1)] = (0.0, 0.0, 1.0)
    return np.asarray(sums / np.linalg.norm(sums, axis=1, keepdims=True))


def _linear(colours: Array) -> Array:
    """Linear intensities (n, 3) of colours (n, 3) in sRGB, both 0 to 1 (IEC 61966-2-1)."""
    return np.where(colours <= 0.04045, colours / 12.92, ((colours + 0.055) / 1.055) ** 2.4)
