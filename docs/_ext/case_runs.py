"""Runs of cases for the documentation: each is computed once, checked once, and kept in a folder."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import platform
import shutil
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import flexph
from flexph.case import Case, find_cases

LIMIT = 1200
"""Seconds after which a case is given up."""

KEPT = (".png", ".json")
"""Files of a run that its page shows."""

CHECKS = """
import dataclasses, json, sys
from flexph.case import find_cases
rows = [dataclasses.asdict(check) | {"difference": check.difference, "passed": check.passed}
        for check in find_cases()[sys.argv[1]].checks()]
print(json.dumps(rows, default=lambda value: value.item()))
"""


@dataclass(frozen=True)
class CaseRun:
    """What the pages show of a case: its pictures and figures, its checks, and where and when they were computed."""

    name: str
    case: Case[Any]
    folder: Path
    record: dict[str, Any]

    @property
    def command(self) -> str:
        """The command that computes it."""
        return f"flexph run {self.name} --out out"

    @property
    def pictures(self) -> list[Path]:
        """Its pictures, by name."""
        return sorted((self.folder / "results").rglob("*.png"))

    @property
    def figures(self) -> dict[str, Any]:
        """What its summary holds beside the record of the run."""
        summary = json.loads((self.folder / "results" / "summary.json").read_text(encoding="utf-8"))
        return {
            key: value for key, value in summary.items() if key not in ("case", "parameters", "versions", "started")
        }

    @property
    def checks(self) -> list[dict[str, Any]]:
        """Its checks, as mappings of the fields of :class:`flexph.case.Check`."""
        rows: list[dict[str, Any]] = json.loads((self.folder / "checks.json").read_text(encoding="utf-8"))
        return rows

    @property
    def told(self) -> str:
        """A sentence on version, date, time and machine."""
        return "Computed with flexph {version} on {date} in {seconds:.0f} s ({machine}).".format(**self.record)


def case_runs(cache: Path, names: Sequence[str] = ()) -> list[CaseRun]:
    """All cases, or those that are named, each from the cache or computed now; two at a time."""
    cases = find_cases()
    with ThreadPoolExecutor(2) as pool:
        return list(pool.map(lambda name: _run(name, cases[name], cache), sorted(names or cases)))


def _run(name: str, case: Case[Any], cache: Path) -> CaseRun:
    folder = cache / f"{name}-{_key(case)}"
    if not (folder / "run.json").exists():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        started = time.perf_counter()
        _python("-m", "flexph", "run", name, "--out", str(folder / "results"))
        seconds = time.perf_counter() - started
        (folder / "checks.json").write_text(_python("-c", CHECKS, name), encoding="utf-8")
        for path in (folder / "results").rglob("*"):
            if path.is_file() and path.suffix not in KEPT:
                path.unlink()
        today = datetime.now(UTC).date().isoformat()
        record = {"version": flexph.__version__, "date": today, "seconds": seconds, "machine": machine()}
        (folder / "run.json").write_text(json.dumps(record), encoding="utf-8")
    return CaseRun(name, case, folder, json.loads((folder / "run.json").read_text(encoding="utf-8")))


def _key(case: Case[Any]) -> str:
    """A name for what is computed: the version, the parameters and the source of the case."""
    parameters = [(parameter.name, parameter.default) for parameter in case.parameters]
    told = (flexph.__version__, parameters, Path(inspect.getfile(case.run)).read_text(encoding="utf-8"))
    return hashlib.sha256(repr(told).encode()).hexdigest()[:12]


def _python(*arguments: str) -> str:
    """What a program of Python prints, run with one thread of linear algebra."""
    threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    run = subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        timeout=LIMIT,
        check=False,
        env={**os.environ, **threads, "MPLBACKEND": "Agg"},
    )
    if run.returncode:
        raise RuntimeError(f"{' '.join(arguments)}: {run.stderr[-2000:]}")
    return run.stdout


def machine() -> str:
    """Processor and system, in a few words."""
    cpus = Path("/proc/cpuinfo")
    names = (
        [line.partition(":")[2].strip() for line in cpus.read_text().splitlines() if "model name" in line]
        if (cpus.exists())
        else []
    )
    return f"{names[0] if names else platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
