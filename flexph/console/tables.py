"""Tables of the command line."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

MIN_WIDTH = 100
"""Smallest terminal width into which tables fold their text."""


COLOURS = {"ok": "green", "FAIL": "bold red", "-": ""}
"""Styles of the verdicts of checks."""


def verdicts(checks: Sequence[tuple[str, Any]]) -> Table:
    """Table of references, computed numbers and verdicts, from pairs of case name and :class:`flexph.case.Check`."""
    rows = table("case", "quantity", "kind", "source", numbers=("reference", "computed", "difference", "tolerance"))
    rows.add_column("verdict", no_wrap=True)
    for name, check in checks:
        # Relative differences and tolerances in per cent, absolute ones in the unit of the quantity.
        scale, suffix = (100.0, " %") if check.relative else (1.0, "")
        rows.add_row(
            *(name, check.quantity, check.kind, check.source, f"{check.reference:.8g}", f"{check.computed:.8g}"),
            f"{scale * check.difference:+.3g}{suffix}",
            "" if check.tolerance is None else f"{scale * check.tolerance:.3g}{suffix}",
            Text(check.verdict, COLOURS[check.verdict]),
        )
    return rows


def counts(checks: Iterable[Any], kinds: Iterable[str]) -> Table:
    """Table with the number of checks of each kind, and of those that pass."""
    given = list(checks)
    rows = table("kind", numbers=("checks", "passed"))
    for kind in kinds:
        own = [check.passed for check in given if check.kind == kind]
        rows.add_row(kind, str(len(own)), "-" if own and None in own else str(sum(own)))
    compared = [check.passed for check in given if check.passed is not None]
    rows.add_row("all compared", str(len(compared)), str(sum(compared)))
    return rows


def two_columns(first: str, second: str, rows: Mapping[str, str]) -> Table:
    """Table with a row for each name and its text."""
    listed = table(first, second)
    for name, words in rows.items():
        listed.add_row(name, words)
    return listed


def table(*words: str, numbers: Sequence[str] = ()) -> Table:
    """Empty table with text columns, which fold, and number columns, which do not."""
    rows = Table()
    for header in words:
        rows.add_column(header, overflow="fold")
    for header in numbers:
        rows.add_column(header, justify="right", no_wrap=True)
    return rows


def print_table(rows: Table) -> None:
    """Print a table: at a terminal in its width, otherwise with up to 1000 columns."""
    # A pipe has no width: there every row is one line, however long.
    width = max(shutil.get_terminal_size().columns, MIN_WIDTH) if sys.stdout.isatty() else 1000
    # Markup would swallow a source such as "[flex] table 2".
    Console(width=width, markup=False, emoji=False, highlight=False).print(rows)
