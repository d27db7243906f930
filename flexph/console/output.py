"""Robust output of the command line: unknown characters and write errors."""

from __future__ import annotations

import errno
import io
import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import click

REPORT = "FLEXPH_REPORT"
"""Environment variable that suppresses reports if it is 0."""


def replace_unknown_characters() -> None:
    """Print a question mark for characters that the encoding of the console lacks: σ in cp1252, ü in ASCII.

    Without a standard output, as after ``>&-``, the text is dropped.
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
    """Context that ends a command with a one-line error if a file or the output cannot be written or read."""
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
    """Discard output that cannot be written; Python would try to write it again at exit."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
