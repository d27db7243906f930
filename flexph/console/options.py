"""Options of commands: ``--quiet``, ``--verbose`` and ``--version``, and result folders as parameters."""

from __future__ import annotations

import copy
import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any

import click

from flexph.numerics.loops.built import described

log = logging.getLogger("flexph")


class _Echo(logging.Handler):
    """Log handler that prints messages to the standard error."""

    def emit(self, record: logging.LogRecord) -> None:
        click.echo(self.format(record), err=True)


@contextmanager
def log_on_stderr() -> Iterator[None]:
    """Context manager that prints log records to the standard error, by default warnings and errors."""
    handler, before = _Echo(), log.level
    log.addHandler(handler)
    log.setLevel(before or logging.WARNING)
    try:
        yield
    finally:
        log.setLevel(before)
        log.removeHandler(handler)


def with_verbosity(command: click.Command) -> click.Command:
    """Copy of a command with the options ``--quiet`` and ``--verbose``, except for names that it already uses."""
    taken = {name for parameter in command.params for name in (parameter.name, *parameter.opts)}
    options = [option for option in _options() if taken.isdisjoint((option.name, *option.opts))]
    extended = copy.copy(command)
    extended.params = [*command.params, *options]
    return extended


def print_lines(lines: Iterable[object]) -> None:
    """Print lines about results, such as their paths, unless the command is quiet."""
    if log.isEnabledFor(logging.WARNING):
        for line in lines:
            click.echo(line)


def _options() -> list[click.Option]:
    def choose(ctx: click.Context, parameter: click.Parameter, value: Any) -> None:
        if value:
            log.setLevel(logging.ERROR if parameter.name == "quiet" else max(logging.INFO - 10 * (value - 1), 10))

    quiet = "say nothing but errors: no progress, no names of files"
    verbose = "say more of what is done; -vv for all"
    return [
        click.Option(["-q", "--quiet"], is_flag=True, expose_value=False, callback=choose, help=quiet),
        click.Option(["-v", "--verbose"], count=True, expose_value=False, callback=choose, help=verbose),
    ]


def _print(ctx: click.Context, _: click.Parameter, given: bool) -> None:
    if given and not ctx.resilient_parsing:
        click.echo(f"flexph, version {version('flexph')}")
        if ctx.params.get("verbose"):
            click.echo(described())
        ctx.exit()


# Not eager, so that the eager option --verbose has been read, wherever it stands.
_SHOW = "Show the version and exit."
VERSION = click.option("--version", is_flag=True, expose_value=False, callback=_print, help=_SHOW)


class Folder(click.Path):
    """Parameter type of a result folder; empty text, as from an unset shell variable, is an error."""

    def __init__(self) -> None:
        super().__init__(file_okay=False, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Path from the given text; an error if it is empty."""
        if value == "":
            self.fail("the folder has no name", param, ctx)
        return super().convert(value, param, ctx)
