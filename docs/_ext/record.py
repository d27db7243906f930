"""Run commands of benchmarks and keep what they print: ``python docs/_ext/record.py chain "overheads --pairs 20"``.

The page of benchmarks shows it with date, machine and load.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

from case_runs import machine

import flexph

ROOT = Path(__file__).parents[2]
RUNS = ROOT / "docs" / "benchmark-runs"
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def record(command: str) -> Path:
    """Run one, given as the name of its file and options, with one thread; raises CalledProcessError if it fails."""
    name, *options = command.split()
    started, load = time.perf_counter(), os.getloadavg()[0]
    printed = ""
    with subprocess.Popen(
        [sys.executable, f"benchmarks/{name}.py", *options],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **dict.fromkeys(THREADS, "1")},
    ) as process:
        for line in process.stdout or ():  # as it comes: what is printed before a failure is seen
            print(line, end="", file=sys.stderr, flush=True)
            printed += line
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, process.args)
    run = {
        "command": " ".join([f"python benchmarks/{name}.py", *options]),
        "version": flexph.__version__,
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine(),
        "load": round(0.5 * (load + os.getloadavg()[0]), 1),
        "seconds": round(time.perf_counter() - started),
        "output": printed.rstrip(),
    }
    RUNS.mkdir(exist_ok=True)
    path = RUNS / f"{re.sub(r'[^A-Za-z0-9_]+', '-', command)}.json"
    path.write_text(json.dumps(run, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


if __name__ == "__main__":
    for argument in sys.argv[1:]:
        print(record(argument))
