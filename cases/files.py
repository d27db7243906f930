"""Files that many cases write: a run with its ledger and moving bodies, and tables of rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from flexph import Solution, plot
from flexph.export import write_series
from flexph.export.tables import write_ledger, write_table


def write_run(solution: Solution, folder: Path, **options: Any) -> None:
    """Write a run to ``folder``: the run itself, its ledger as a table and a picture, and its moving bodies.

    The moving bodies are for mesh viewers, ``motion.vtkhdf``; ``options`` are passed to
    :func:`flexph.export.write_series`.
    """
    solution.save(folder / "solution.h5")  # first: whatever fails below, the run is kept
    write_ledger(folder / "ledger.csv", solution)
    plot.save(plot.ledger(solution), folder / "ledger.png")
    write_series(folder / "motion.vtkhdf", solution, **options)


def write_rows(path: Path, rows: Iterable[Mapping[str, Any]]) -> None:
    """Write a table to the file ``path`` from rows that all have the same names, which become its columns."""
    rows = list(rows)
    write_table(path, {name: [row[name] for row in rows] for name in rows[0]})
