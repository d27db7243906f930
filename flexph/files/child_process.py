"""Child processes of this Python with limits of time and memory, in which libraries read files of others."""

from __future__ import annotations

import os
import subprocess
import sys
from functools import partial
from pathlib import Path


def run_module(module: str, *words: Path, folder: str | Path, seconds: float, memory: int) -> None:
    """Run a module of the package in a folder, without a terminal; raises TimeoutExpired after so many seconds.

    ``memory`` is the address space [bytes] of the process, where the system can limit it.
    """
    subprocess.run(
        [sys.executable, "-P", "-m", module, *map(str, words)],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=seconds,
        check=False,
        preexec_fn=partial(_limit, memory) if os.name == "posix" else None,
    )


def _limit(memory: int) -> None:
    """Limit the memory of the process that calls this, the child before the module starts in it."""
    import resource

    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
