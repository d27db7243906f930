"""Command ``flexph mesh FILE``."""

import click

from flexph.console.machine import AS_JSON, print_json

from .mesh_report import mesh_report, values, words


@click.command("mesh")
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option("--density", default=None, type=float, help="density [kg/m³]; without it that of the file, if it has one")
@click.option("--unit", default=1.0, show_default=True, help="unit of the lengths in the file [m]: 1e-3 for mm")
@click.option("--omit", multiple=True, metavar="KEYWORD", help="keyword, card or element type of the file to leave out")
@AS_JSON
def command(file: str, density: float | None, unit: float, omit: tuple[str, ...], as_json: bool) -> None:
    """Report on a mesh: cells, regions, volume, mass and inertia, quality, and possible ports."""
    try:
        report = mesh_report(file, density, unit=unit, omit=omit)
    except ValueError as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        print_json({"file": file, **values(report)})
    else:
        click.echo(words(report))
