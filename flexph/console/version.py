"""Option ``--version``; with ``--verbose`` it also describes the compiled loops."""

from __future__ import annotations

from importlib.metadata import version

import click

from flexph.numerics.loops.built import described


def _print(ctx: click.Context, _: click.Parameter, given: bool) -> None:
    if given and not ctx.resilient_parsing:
        click.echo(f"flexph, version {version('flexph')}")
        if ctx.params.get("verbose"):
            click.echo(described())
        ctx.exit()


# Not eager, so that the eager option --verbose has been read, wherever it stands.
_SHOW = "Show the version and exit."
VERSION = click.option("--version", is_flag=True, expose_value=False, callback=_print, help=_SHOW)
