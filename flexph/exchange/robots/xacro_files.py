"""Expansion of xacro files in a separate process with limits of time and memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

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
        _run([sys.executable, "-P", "-m", WORKER, str(question), str(reply)], folder, path)
        if not reply.is_file():
            raise ValueError(f"{str(path)!r} cannot be expanded: its macros need more memory than allowed")
        answer = json.loads(reply.read_text(encoding="utf-8"))
    if "missing" in answer:
        raise ModuleNotFoundError('xacro files need the library xacro: pip install "flexph[xacro]"')
    if "refused" in answer:
        raise ValueError(f"{str(path)!r} cannot be expanded: {answer['refused']}")
    return str(answer["text"]).encode()


def _run(command: list[str], folder: str, path: Path) -> None:
    """Run the process in a folder, without a terminal."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)}
    try:
        subprocess.run(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=SECONDS,
            check=False,
            preexec_fn=_bounded if os.name == "posix" else None,
        )
    except subprocess.TimeoutExpired as error:
        raise ValueError(f"{str(path)!r} cannot be expanded: it took longer than {SECONDS:g} s") from error


def _bounded() -> None:
    """Limit the memory of the process that calls this, the child process before xacro starts in it."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
