"""Program of the process that reads and meshes a drawing by gmsh: ``python -m …worker REQUEST ANSWER``.

REQUEST and ANSWER are JSON files; arrays of a mesh are written to an .npz file next to ANSWER. Only this module
imports gmsh.
Lengths of STEP and IGES files are in millimetres, in which the kernel has its tolerances; others are in the unit of the
file.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

from .cells import RefusedError, meshed, meshed_face, triangulated
from .faces import described, touching
from .overlaps import overlaps

MESHES = ("mesh", "face")
"""Tasks that make a mesh."""
SEWING = (1e-6, 1e-4, 1e-2)
"""Gaps up to which faces are sewn to solids [mm], tried in turn."""


class MissingError(Exception):
    """Error for a missing gmsh, or a missing library that gmsh needs."""


def opened(request: dict[str, Any]) -> Any:
    """Open the drawing of a request; return the module gmsh with the drawing as its model."""
    try:
        import gmsh
    except (ImportError, OSError) as error:
        raise MissingError(f"{type(error).__name__}: {error}") from error

    gmsh.initialize(readConfigFiles=False, interruptible=False)
    for name, value in (("General.Terminal", 0), ("General.NumThreads", 1), ("Geometry.OCCImportLabels", 1)):
        gmsh.option.setNumber(name, value)
    if request.get("format") == "step":  # the kernel reads IGES in millimetres, too, and cannot be told to
        gmsh.option.setString("Geometry.OCCTargetUnit", "MM")
    gmsh.model.add("drawing")
    try:
        if "surface" in request:
            _from_triangles(gmsh, request["surface"], keep=request["keep"])
        else:
            gmsh.model.occ.importShapes(request["file"], format=request["format"])
            gmsh.model.occ.synchronize()
            for tolerance in SEWING:
                if not gmsh.model.getEntities(3):
                    gmsh.model.occ.healShapes(tolerance=tolerance, makeSolids=True)
                    gmsh.model.occ.synchronize()
    except Exception as error:
        raise RefusedError(f"gmsh cannot read it: {error}") from error
    if not gmsh.model.getEntities(3):
        faces = len(gmsh.model.getEntities(2))
        raise RefusedError(f"it must contain closed solids, got none ({faces} faces that enclose no volume)")
    return gmsh


def _from_triangles(gmsh: Any, file: str, *, keep: bool) -> None:
    """Create the volume within a closed surface of triangles.

    Edges with an angle of more than 40° between their triangles bound its faces. ``keep``: True to keep the triangles
    in the mesh; otherwise faces get a parametrisation to be meshed again.
    """
    held = np.load(file)
    points, triangles = held["points"], held["triangles"]
    tag = gmsh.model.addDiscreteEntity(2)
    gmsh.model.mesh.addNodes(2, tag, np.arange(1, len(points) + 1), points.ravel())
    gmsh.model.mesh.addElementsByType(tag, 2, [], (triangles + 1).ravel())
    gmsh.model.mesh.removeDuplicateNodes()
    gmsh.model.mesh.classifySurfaces(np.deg2rad(40.0), True, not keep, np.pi)
    if not keep:
        gmsh.model.mesh.createGeometry()
    loop = gmsh.model.geo.addSurfaceLoop([t for _, t in gmsh.model.getEntities(2)])
    gmsh.model.geo.addVolume([loop])
    gmsh.model.geo.synchronize()


def main(request_file: str, answer_file: str) -> None:
    """Write the answer to the request in a file; errors of drawings and missing libraries are written as answers."""
    request = json.loads(Path(request_file).read_text(encoding="utf-8"))
    answer: dict[str, Any]
    try:
        gmsh = opened(request)
        answer = described(gmsh, discrete="surface" in request) if request["task"] not in MESHES else {}
        if request["task"] == "assembly":
            answer["touching"] = touching(gmsh, answer["solids"])
            answer["overlaps"] = overlaps(gmsh, answer["solids"])
        if request["task"] == "surfaces":
            answer |= triangulated(gmsh, Path(answer_file))
        if request["task"] in MESHES:
            make = meshed if request["task"] == "mesh" else meshed_face
            answer = make(gmsh, request, Path(answer_file))
    except RefusedError as error:
        answer = {"refused": str(error)}
    except MissingError as error:
        answer = {"missing": str(error)}
    except Exception as error:  # gmsh raises bare Exception
        answer = {"refused": f"gmsh cannot mesh it: {error}"}
    Path(answer_file).write_text(json.dumps(answer), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
