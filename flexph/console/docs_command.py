"""Command ``flexph docs``, which opens the documentation."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, metadata
from pathlib import Path

import click

BUILD = "python -m sphinx -W -n -b html -d docs/_cache/doctrees docs site"


@click.command("docs")
@click.option("--address", is_flag=True, help="say where it is, and open nothing")
def command(address: bool) -> None:
    """Open the documentation: the pages built in this checkout, otherwise the published pages."""
    where = local_pages() or published_pages()
    if where is None:
        raise click.ClickException(f"no documentation here: in a checkout with the extra docs, build it by {BUILD!r}")
    click.echo(where)
    if not address:
        click.launch(where)


def local_pages() -> str | None:
    """Address of the pages built next to the package, None if there are none."""
    index = Path(__file__).parents[2] / "site" / "index.html"
    return index.as_uri() if index.exists() else None


def published_pages() -> str | None:
    """Address of the documentation in the metadata of the installed package, None if there is none."""
    try:
        urls = metadata("flexph").get_all("Project-URL") or []
    except PackageNotFoundError:
        return None
    named = dict(tuple(part.strip() for part in url.split(",", 1)) for url in urls)
    return named.get("Documentation")
