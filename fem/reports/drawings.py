"""Report on a drawing without a mesh: its parts and the ports that it proposes."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from flexph.meshes.contents import ProposedPort
from flexph.meshes.drawings.drawing import FORMATS, MeshRequest, default_size, is_drawing, read_drawing
from flexph.meshes.files.reading import Source
from flexph.numerics.arrays import Array


def with_size(mesh: Source, request: MeshRequest) -> tuple[MeshRequest, list[str]]:
    """Request with a cell size, and notes on it: for a drawing without a size, a twentieth of its diagonal.

    A request with a size, and one for a mesh, is returned as it is without notes.
    """
    if not isinstance(mesh, str | os.PathLike) or request.size is not None:
        return request, []
    path = Path(mesh)
    if path.suffix.lower() == ".stl" or not is_drawing(path, request):
        return request, []
    size = default_size(path, request)
    return replace(request, size=size), [f"cells of {1e3 * size:.3g} mm, a twentieth of the diagonal: --size sets them"]


def drawn_parts(file: str, request: MeshRequest) -> list[dict[str, Any]]:
    """Parts of a drawing with their proposed ports, as numbers, strings and lists, without a mesh.

    Raises ValueError for a file that is no drawing.
    """
    path = Path(file)
    if path.suffix.lower() not in FORMATS:
        raise ValueError(f"ports are proposed of drawings ({', '.join(FORMATS)}), got {path.name!r}")
    drawing = read_drawing(path, unit=request.unit)
    parts = drawing.parts if request.select is None else (drawing.part(request.select),)
    return [
        {
            **{"name": part.name, "volume": part.volume, "centre": part.centre.tolist(), "density": part.density},
            **{"material": part.material, "ports": [port_values(port) for port in part.ports]},
        }
        for part in parts
    ]


def port_values(port: ProposedPort) -> dict[str, Any]:
    """Name, kind, centre, axis, radius and length of a port that is proposed for a drawing, by these words."""
    names = ("name", "kind", "centre", "axis", "radius", "length")
    return {name: getattr(port, name) for name in names}


def part_words(parts: list[dict[str, Any]]) -> str:
    """Lines of text on the parts of a drawing and their proposed ports, from the values of :func:`drawn_parts`."""
    lines = []
    for part in parts:
        known = "" if part["density"] is None else f", {part['material'] or ''} {part['density']:.6g} kg/m³"
        lines.append(f"part {part['name']!r}: {part['volume']:.6g} m³{known}")
        lines += [f"  {port_words(port)}" for port in part["ports"]]
    return "\n".join(lines)


def port_words(port: dict[str, Any]) -> str:
    """Line of text on a port that is proposed for a drawing, from its values by :func:`port_values`."""
    place = f"{port['name']}: centre {vector(port['centre'])} m"
    if port["kind"] == "plane":
        return f"{place}, normal {vector(port['axis'])}"
    turned = (
        "" if port["kind"] in ("ball", "socket") else f", axis {vector(port['axis'])}, length {port['length']:.6g} m"
    )
    return f"{place}, radius {port['radius']:.6g} m{turned}"


def vector(values: Array) -> str:
    """Text of a vector: its numbers in brackets."""
    return "(" + ", ".join(f"{x:.6g}" for x in np.atleast_1d(values)) + ")"
