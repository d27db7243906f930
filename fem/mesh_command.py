"""``flexph mesh FILE``."""

import click

from .mesh_report import mesh_report, words


@click.command("mesh")
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option("--density", default=1.0, show_default=True, help="density [kg/m³]")
def command(file: str, density: float) -> None:
    """Say what a mesh holds: cells, regions, volume, mass and inertia, quality, what could become a port."""
    try:
        click.echo(words(mesh_report(file, density)))
    except ValueError as error:
        raise click.ClickException(str(error)) from error
