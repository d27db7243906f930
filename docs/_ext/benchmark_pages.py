"""The page of benchmarks, written from the output of their commands."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from page_parts import table

RATIO = re.compile(r"^ratio (\S+) (\S+)\s*$", re.M)


def stored_runs(folder: Path) -> list[dict[str, Any]]:
    """Records of :mod:`record` by name of the command."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(folder.glob("*.json"))]


def measured(runs: list[dict[str, Any]]) -> str:
    """Ratios of all commands, and the output of each with date and machine."""
    names = [run["command"].split()[1].rpartition("/")[2] for run in runs]
    titles = [
        name if names.count(name) == 1 else run["command"].rpartition("benchmarks/")[2]
        for name, run in zip(names, runs, strict=True)
    ]
    rows = [
        (f"`{name}`", value, f"[](#{_anchor(title)})", run["date"])
        for title, run in zip(titles, runs, strict=True)
        for name, value in RATIO.findall(run["output"])
    ]
    sections = "\n\n".join(map(_section, titles, runs))
    return (
        "# Benchmarks as they were run\n\nThis page has the output of the commands of `benchmarks/`, word for word: "
        "process time, one thread. A `ratio` line compares two times of one run, which the lines above it name. "
        "On a busy machine (see its load) times are too long, and ratios hold approximately.\n\n"
        f"{table(('ratio', '', 'command', 'date'), rows)}\n\n{sections}\n"
    )


def _anchor(title: str) -> str:
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


def _section(title: str, run: dict[str, Any]) -> str:
    return (
        f"## {title}\n\n```sh\n{run['command']}\n```\n\n{run['date']}, flexph {run['version']}, {run['machine']}; load "
        f"{run['load']}, {run['seconds']} s.\n\n```text\n{run['output']}\n```"
    )
