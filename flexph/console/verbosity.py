"""How much commands say: their options ``--quiet`` and ``--verbose`` are levels of the log "flexph"."""

from __future__ import annotations

import copy
import logging
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import click

log = logging.getLogger("flexph")


class _Echo(logging.Handler):
    """Puts records on the standard error, as sentences."""

    def emit(self, record: logging.LogRecord) -> None:
        click.echo(self.format(record), err=True)


@contextmanager
def told_on_stderr() -> Iterator[None]:
    """Put what is logged, warnings and above unless a command asks otherwise, on the standard error."""
    handler, before = _Echo(), log.level
    log.addHandler(handler)
    log.setLevel(before or logging.WARNING)
    try:
        yield
    finally:
        log.setLevel(before)
        log.removeHandler(handler)


def with_verbosity(command: click.Command) -> click.Command:
    """The command with ``--quiet`` and ``--verbose``, unless it has parameters of these names."""
    taken = {name for parameter in command.params for name in (parameter.name, *parameter.opts)}
    own = [option for option in _options() if taken.isdisjoint((option.name, *option.opts))]
    extended = copy.copy(command)
    extended.params = [*command.params, *own]
    return extended


def tell(lines: Iterable[object]) -> None:
    """Print lines that say what was done, as the paths of results; a quiet command leaves them out."""
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
