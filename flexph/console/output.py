"""Robust output of the command line: unknown characters, write errors, tables, and literature references by tag."""

from __future__ import annotations

import errno
import io
import os
import shlex
import shutil
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import click
from rich.console import Console
from rich.table import Table
from rich.text import Text

REPORT = "FLEXPH_REPORT"
"""Environment variable that suppresses reports if it is 0."""


def replace_unknown_characters() -> None:
    """Configure the console to print a question mark for characters that its encoding lacks: σ in cp1252.

    Without a standard output, as after ``>&-``, text is discarded.
    """
    sys.stdout = sys.stdout or open(os.devnull, "w")  # noqa: SIM115
    sys.stderr = sys.stderr or open(os.devnull, "w")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper) and stream.errors == "strict":
            stream.reconfigure(errors="replace")


def repeating_command() -> str:
    """Command line that repeats the running command, with its non-default options; empty outside of commands."""
    ctx = click.get_current_context(silent=True)
    if ctx is None:
        return ""
    words = ["flexph", *ctx.command_path.split()[1:]]
    for parameter in ctx.command.params:
        value = ctx.params.get(parameter.name or "")
        if value == parameter.get_default(ctx) or value in (None, ()):
            continue
        if isinstance(parameter, click.Argument):
            words.append(str(value))
        elif isinstance(value, bool):
            words.append((parameter.opts if value else parameter.secondary_opts)[0])
        else:
            entries = value if isinstance(value, tuple) else (value,)
            words += [word for entry in entries for word in (parameter.opts[0], str(entry))]
    return shlex.join(words)


@contextmanager
def one_sentence() -> Iterator[None]:
    """Context manager that ends a command with a one-line error if reading or writing fails."""
    try:
        yield
        sys.stdout.flush()
    except OSError as error:
        _drop_unwritten()
        if error.errno == errno.EPIPE:  # the reader has closed the pipe: click ends quietly
            raise
        of = f"{error.filename}: " if error.filename else ""
        raise click.ClickException(f"{of}{error.strerror or error}") from error


def _drop_unwritten() -> None:
    """Discard output that cannot be written.

    Python would try to write it again at exit.
    """
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


MIN_WIDTH = 100
"""Smallest terminal width into which tables fold their text."""


COLOURS = {"ok": "green", "FAIL": "bold red", "-": ""}
"""Styles of the verdicts of checks."""


def verdicts(checks: Sequence[tuple[str, Any]]) -> Table:
    """Table of comparisons of cases with references: reference, computed number, difference, tolerance and verdict.

    ``checks``: pairs of the name of a case and a :class:`flexph.case.Check`.
    """
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
    """Table of numbers of checks: a row for each of ``kinds``, and one for all checks that were compared with a value.

    Columns are the number of checks and the number of passed ones, "-" if a check of the kind was not compared.
    """
    given = list(checks)
    rows = table("kind", numbers=("checks", "passed"))
    for kind in kinds:
        passed = [check.passed for check in given if check.kind == kind]
        rows.add_row(kind, str(len(passed)), "-" if passed and None in passed else str(sum(passed)))
    compared = [check.passed for check in given if check.passed is not None]
    rows.add_row("all compared", str(len(compared)), str(sum(compared)))
    return rows


def two_columns(first: str, second: str, rows: Mapping[str, str]) -> Table:
    """Table with the headings ``first`` and ``second``, and a row for each name and its text."""
    listed = table(first, second)
    for name, words in rows.items():
        listed.add_row(name, words)
    return listed


def table(*words: str, numbers: Sequence[str] = ()) -> Table:
    """Empty table with columns of texts, which are wrapped, and columns of numbers, which are not."""
    rows = Table()
    for header in words:
        rows.add_column(header, overflow="fold")
    for header in numbers:
        rows.add_column(header, justify="right", no_wrap=True)
    return rows


def print_table(rows: Table) -> None:
    """Print a table: in the width of a terminal, otherwise with up to 1000 characters a line."""
    # In a pipe, which has no width, each row is one line of any length.
    width = max(shutil.get_terminal_size().columns, MIN_WIDTH) if sys.stdout.isatty() else 1000
    # With markup, rich would drop a source such as "[flex] table 2" as a tag.
    Console(width=width, markup=False, emoji=False, highlight=False).print(rows)


SOURCES = {
    "flex": "Brugnoli, Alazard, Pommier-Budinger, Matignon: Port-Hamiltonian flexible multibody dynamics (2021)",
    "dg": "Kinon, Morandin, Schulze: Discrete gradient methods for port-Hamiltonian DAEs (2026)",
    "rigid": "Berger, Hochdahl, Reis, Seifried: Port-Hamiltonian modeling of rigid multibody systems (2025)",
    "survey": "van der Schaft: Port-Hamiltonian differential-algebraic systems (2013)",
}
"""Authors, title and year by tag."""


def explained(*texts: str) -> Iterable[str]:
    """Lines that give the papers for the tags, such as [flex], that occur in ``texts``."""
    return [f"[{tag}] {paper}" for tag, paper in SOURCES.items() if any(f"[{tag}]" in text for text in texts)]


def epilog(*texts: str) -> str | None:
    """Text for the end of a help page: the papers for the tags in ``texts``, or for all tags if no text is given.

    None if no tag occurs.
    """
    lines = explained(*texts) if texts else explained(*(f"[{tag}]" for tag in SOURCES))
    return "\b\nSources:\n" + "\n".join(f"  {line}" for line in lines) if lines else None
