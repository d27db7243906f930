"""Report on the refinement of a mesh: rounds with cells, unknowns and errors, and the values at the end."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import numpy as np

from flexph.meshes.drawings.drawing import MeshRequest

from ..materials.elastic import Elastic
from ..plates.plate import plate
from ..refinement.criteria import Refinement, Round
from ..solids.solid import solid
from .drawings import with_size

DEFAULT_CELLS = 100_000


def refinement_report(
    mesh: str | os.PathLike[str],
    material: Elastic | None,
    request: MeshRequest,
    *,
    tolerance: float,
    modes: int | None = None,
    held: str | None = None,
    loaded: Sequence[str] = (),
    omit: Sequence[str] = (),
) -> dict[str, Any]:
    """Refine a mesh until the errors of modes and compliances are below the ``tolerance``; return its report.

    The body is free, or held at the region ``held``. Compliances are those at the regions ``loaded``. With
    ``request.flat`` it is a plate, otherwise a solid. The report has the cells, unknowns and errors of each round, and
    the criteria at the end. Raises ValueError if the tolerance is not reached.
    """
    rounds: list[Round] = []
    to = Refinement(tolerance, modes, tuple(loaded), request.max_cells or DEFAULT_CELLS, watch=rounds.append)
    sized, _ = with_size(mesh, request)
    ports = {name: name for name in (*loaded, *([held] if held else []))}
    given: dict[str, Any] = {
        **{"ports": ports, "reference": held or "mean_axis", "size": sized.size, "select": request.select},
        **{"unit": request.unit, "temperature": request.temperature, "omit": omit, "refine": to},
    }
    body = plate(mesh, material, **given) if request.flat else solid(mesh, material, **given)
    last = rounds[-1]
    return {
        "tolerance": tolerance,
        "mass": body.mass,
        "rounds": [
            {"cells": r.cells, "unknowns": r.unknowns, "error": r.worst if np.isfinite(r.worst) else None}
            for r in rounds
        ],
        "criteria": [
            {"name": name, "value": float(value), "error": float(error)}
            for name, value, error in zip(last.names, last.values, last.errors, strict=True)
        ],
    }


def refinement_words(report: dict[str, Any]) -> str:
    """Lines of text on the rounds and the criteria of a report of :func:`refinement_report`."""
    lines = []
    for entry in report["rounds"]:
        error = "no estimate" if entry["error"] is None else f"error {100.0 * entry['error']:.3g} %"
        lines.append(f"refined: {entry['cells']} cells, {entry['unknowns']} unknowns, {error}")
    for entry in report["criteria"]:
        unit = " Hz" if entry["name"].startswith("mode") else ""
        lines.append(f"{entry['name']}: {entry['value']:.6g}{unit}, estimated error {100.0 * entry['error']:.3g} %")
    return "\n".join(lines)
