"""Tables of the command line."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import click
from tabulate import tabulate

MIN_WIDTH = 100
"""Columns of a terminal into which tables fold their words; in fewer nothing would be left of them."""
LEAST = 10
"""Characters of a column of words at least."""
COLOURS: Mapping[str, dict[str, Any]] = {"ok": {"fg": "green"}, "FAIL": {"fg": "red", "bold": True}, "-": {}}
"""Styles of the verdicts of checks."""


@dataclass
class Table:
    """Rows of texts under columns of ``words``, which are folded, then of ``numbers``, which are not, then others."""

    words: Sequence[str]
    numbers: Sequence[str] = ()
    others: Sequence[str] = ()
    rows: list[tuple[str, ...]] = field(default_factory=list)

    @property
    def head(self) -> list[str]:
        """All headers."""
        return [*self.words, *self.numbers, *self.others]


def verdicts(checks: Sequence[tuple[str, Any]]) -> Table:
    """References and computed numbers side by side, of pairs of the name of a case and a :class:`flexph.case.Check`."""
    words, numbers = ("case", "quantity", "kind", "source"), ("reference", "computed", "difference", "tolerance")
    rows = Table(words, numbers, ("verdict",))
    for name, check in checks:
        # Relative differences and tolerances in per cent, absolute ones in the unit of the quantity.
        scale, suffix = (100.0, " %") if check.relative else (1.0, "")
        tolerance = "" if check.tolerance is None else f"{scale * check.tolerance:.3g}{suffix}"
        compared = (f"{check.reference:.8g}", f"{check.computed:.8g}", f"{scale * check.difference:+.3g}{suffix}")
        verdict = click.style(check.verdict, **COLOURS[check.verdict]) if sys.stdout.isatty() else check.verdict
        rows.rows.append((name, check.quantity, check.kind, check.source, *compared, tolerance, verdict))
    return rows


def counts(checks: Iterable[Any], kinds: Iterable[str]) -> Table:
    """Numbers of checks of each kind, and of those that passed."""
    given = list(checks)
    rows = Table(("kind",), ("checks", "passed"))
    for kind in kinds:
        own = [check.passed for check in given if check.kind == kind]
        rows.rows.append((kind, str(len(own)), "-" if own and None in own else str(sum(own))))
    compared = [check.passed for check in given if check.passed is not None]
    rows.rows.append(("all compared", str(len(compared)), str(sum(compared))))
    return rows


def two_columns(first: str, second: str, rows: Mapping[str, str]) -> Table:
    """A table of words by name."""
    return Table((first, second), rows=list(rows.items()))


def print_table(table: Table) -> None:
    """Print a table, in the width of a terminal."""
    # A pipe has no width: there every row is one line, however long.
    width = max(shutil.get_terminal_size().columns, MIN_WIDTH) if sys.stdout.isatty() else None
    align = ["left"] * len(table.words) + ["right"] * len(table.numbers) + ["left"] * len(table.others)
    limits = _widths(table, width) if width and table.rows else None
    options = {"tablefmt": "simple_outline", "colalign": align, "disable_numparse": True, "maxcolwidths": limits}
    click.echo(tabulate(table.rows, table.head, **options) if table.rows else " ".join(table.head))


def _widths(table: Table, width: int) -> list[int | None]:
    """Widths of the columns of words with which a table fits; the widest gives way first."""
    cells = [[click.unstyle(cell) for cell in row] for row in (table.head, *table.rows)]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    folded = widths[: len(table.words)]
    room = width - 3 * len(widths) - 1 - sum(widths[len(table.words) :])
    while sum(folded) > room and max(folded) > LEAST:
        folded[folded.index(max(folded))] -= 1
    return [*folded, *[None] * (len(widths) - len(folded))]
