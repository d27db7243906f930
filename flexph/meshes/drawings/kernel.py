"""Requests to gmsh in a separate process, with bounds of time and memory."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from subprocess import TimeoutExpired
from typing import Any

import numpy as np

from ...files.child_process import run_module
from ...numerics.arrays import Array
from .answers import Found, cached_answer
from .step_text import without_escapes

WORKER = f"{__package__}.worker"
SECONDS = 300.0
"""Time after which a request is ended."""
MEMORY = 12 * 2**30
"""Address space of the process [bytes], where the system can bound it."""
MISSING = (
    "drawings need gmsh: pip install 'flexph[cad]'; its wheel needs libraries of the system, in Debian and Ubuntu "
    "apt-get install libglu1-mesa libxrender1 libxcursor1 libxft2 libxinerama1"
)


class TooSlowError(ValueError):
    """Error of a request that took gmsh longer than its time limit."""


class Answer(dict[str, Any]):
    """Answer of the gmsh process, with the ``arrays`` of a mesh."""

    arrays: dict[str, Array]


def request_answer(
    request: dict[str, Any],
    surface: dict[str, Array] | None = None,
    seconds: float = SECONDS,
    *,
    sizes: dict[str, Array] | None = None,
    beside: Path | None = None,
) -> Answer:
    """Answer of gmsh to a request, whose ``task`` is describe, assembly, surfaces, mesh or face.

    ``surface``: points and triangles of a closed surface; ``sizes``: cell sizes wanted at the corners of earlier cells;
    ``seconds``: time limit.

    With a drawing ``beside``, the answer is stored in its folder, and a stored answer is returned without gmsh. Raises
    ImportError if gmsh or its libraries are missing, ValueError for a drawing that gmsh cannot read, and TooSlowError
    for a request that exceeds the time limit.
    """
    given = {name: array for name, array in (("surface", surface), ("sizes", sizes)) if array is not None}
    if beside is None:
        found = _new_answer(request, given, seconds)
    else:
        arrays = {f"{name} {key}": values for name, array in given.items() for key, values in array.items()}
        found = cached_answer(beside, request, arrays, lambda: _new_answer(request, given, seconds))
    answer = Answer(found[0])
    answer.arrays = found[1]
    return answer


def _new_answer(request: dict[str, Any], given: dict[str, dict[str, Array]], seconds: float) -> Found:
    """Answer of a new gmsh process, and its arrays.

    ``given``: arrays by name for each field of the request that needs arrays; they are passed in files.
    """
    with tempfile.TemporaryDirectory(prefix="flexph-cad-") as named:
        folder = Path(named)
        for name, arrays in given.items():
            np.savez(folder / f"{name}.npz", **arrays)  # type: ignore[arg-type]
            request = {**request, name: str(folder / f"{name}.npz")}
        request_file, answer_file = folder / "request.json", folder / "answer.json"
        request_file.write_text(json.dumps(request), encoding="utf-8")
        try:
            run_module(WORKER, request_file, answer_file, folder=folder, seconds=seconds, memory=MEMORY)
        except TimeoutExpired as error:
            raise TooSlowError(
                f"gmsh took longer than {seconds:g} s: give a larger size, or a simpler drawing"
            ) from error
        if not answer_file.is_file():
            raise ValueError("gmsh ended without an answer: the drawing is damaged, or larger than the memory")
        answer: dict[str, Any] = json.loads(without_escapes(answer_file.read_text(encoding="utf-8")))
        if "missing" in answer:
            raise ImportError(f"{MISSING} ({answer['missing']})")
        if "refused" in answer:
            raise ValueError(answer["refused"])
        if "arrays" not in answer:
            return answer, {}
        with np.load(answer.pop("arrays")) as held:
            return answer, dict(held)
