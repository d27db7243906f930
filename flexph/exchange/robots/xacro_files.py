"""Expansion of xacro files in a separate process with limits of time and memory."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from pathlib import Path
from subprocess import TimeoutExpired

from ...files.child_process import run_module

WORKER = f"{__package__}.xacro_worker"
SECONDS = 30.0
"""Time after which an expansion is ended: macros may grow without end."""
MEMORY = 4 * 2**30
"""Address space of the process [bytes], where the system can bound it."""


def expanded_text(path: Path, arguments: Mapping[str, str | float | bool]) -> bytes:
    """URDF text of a xacro file with values of its arguments.

    Raises ValueError for a file that the library cannot expand or that exceeds its limits or permissions, and
    ModuleNotFoundError if the library is missing.
    """
    values = {name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in arguments.items()}
    with tempfile.TemporaryDirectory(prefix="flexph-xacro-") as folder:
        question, reply = Path(folder, "request.json"), Path(folder, "answer.json")
        question.write_text(json.dumps({"file": str(path.resolve()), "arguments": values}), encoding="utf-8")
        try:
            run_module(WORKER, question, reply, folder=folder, seconds=SECONDS, memory=MEMORY)
        except TimeoutExpired as error:
            raise ValueError(f"{str(path)!r} cannot be expanded: it took longer than {SECONDS:g} s") from error
        if not reply.is_file():
            raise ValueError(f"{str(path)!r} cannot be expanded: its macros need more memory than allowed")
        answer = json.loads(reply.read_text(encoding="utf-8"))
    if "missing" in answer:
        raise ModuleNotFoundError('xacro files need the library xacro: pip install "flexph[xacro]"')
    if "refused" in answer:
        raise ValueError(f"{str(path)!r} cannot be expanded: {answer['refused']}")
    return str(answer["text"]).encode()
