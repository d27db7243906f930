"""Command ``flexph mesh FILE``: report on a mesh or a drawing."""

from pathlib import Path
from typing import Any

import click

from flexph.console.machine import AS_JSON, print_json
from flexph.meshes.drawings.drawing import MeshRequest

from .command_options import length, material_of, share, unit_of
from .mesh_report import mesh_report, values, words
from .reports.drawings import drawn_parts, part_words
from .reports.refinements import refinement_report, refinement_words


@click.command("mesh")
@click.argument("file", type=click.Path(exists=True, dir_okay=False))
@click.option("--density", default=None, type=float, help="density [kg/m³]; without it that of the file, if it has one")
@click.option("--unit", metavar="LENGTH", help="unit of the lengths in the file: mm, or 1e-3 [m]; m without it")
@click.option("--size", metavar="LENGTH", help="cells of a drawing (STEP, IGES, BREP, STL): 4mm, or 0.004 [m]")
@click.option("--select", metavar="PART", help="part, instance, set or group of cells of a file of several")
@click.option("--max-cells", type=click.IntRange(min=1), help="largest number of cells of a drawing; 100000 without it")
@click.option("--temperature", type=float, help="at which tables of materials of the file are taken")
@click.option("--ports", is_flag=True, help="list the bores, pins and plane faces of a drawing, without a mesh")
@click.option("--omit", multiple=True, metavar="KEYWORD", help="keyword, card or element type of the file to leave out")
@click.option("--plate", is_flag=True, help="mesh a flat part of a drawing, or shells, as a plate")
@click.option("--tolerance", metavar="SHARE", help="refine until errors, on the safe side, are below it, such as 1%")
@click.option("--material", help="for --tolerance: YOUNG,DENSITY,POISSON in SI units, or a name in the file")
@click.option("--modes", type=click.IntRange(min=0), help="number of modes that --tolerance is for; 6 without it")
@click.option("--held", metavar="REGION", help="region that is held for --tolerance; the body is free without it")
@click.option("--loaded", multiple=True, metavar="REGION", help="region whose compliances --tolerance is for")
@AS_JSON
def command(file: str, density: float | None, omit: tuple[str, ...], as_json: bool, ports: bool, **given: Any) -> None:
    """Report on a mesh or a drawing: cells, regions, volume, mass and inertia, quality, and possible ports."""
    try:
        request = MeshRequest(
            size=length("--size", given["size"]),
            select=given["select"],
            unit=unit_of(given["unit"]),
            max_cells=given["max_cells"],
            temperature=given["temperature"],
            flat=given["plate"],
        )
        tolerance = share("--tolerance", given["tolerance"])
        if tolerance is not None:
            chosen = {"unit": request.unit, "temperature": request.temperature, "omit": omit}
            report = refinement_report(
                file,
                material_of(given["material"], Path(file), chosen),
                request,
                tolerance=tolerance,
                modes=given["modes"],
                held=given["held"],
                loaded=given["loaded"],
                omit=omit,
            )
            text = refinement_words(report)
        elif ports:
            parts = drawn_parts(file, request)
            ports_of_all = [{"part": part["name"], **port} for part in parts for port in part["ports"]]
            report, text = {"parts": parts, "ports": ports_of_all}, part_words(parts)
        else:
            held = mesh_report(file, density, omit=omit, request=request)
            report, text = values(held), words(held)
    except (ValueError, ImportError) as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        print_json({"file": file, **report})
    else:
        click.echo(text)
