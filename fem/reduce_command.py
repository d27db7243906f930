"""Command ``flexph reduce MESH``: reduction of the elastic body of a mesh."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
import numpy as np
from scipy.linalg import eigh

from flexph.bodies.body import Body
from flexph.bodies.held_body import HeldBody
from flexph.bodies.reduced_body import reduce_body
from flexph.bodies.reduced_file import Fields, save_reduced
from flexph.files.durable import HDF5_SUFFIXES

from .command_options import material_of, share, unit_of
from .distributed.ranks import launched
from .refinement.criteria import Refinement
from .solids.solid import solid

SHOWN = 12
"""Number of frequencies that are printed."""


@click.command("reduce")
@click.argument("mesh", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option(
    "--material",
    metavar="YOUNG,DENSITY,POISSON|NAME",
    help="[Pa], [kg/m³] and ν, or a material of the mesh file; without it those that the file assigns",
)
@click.option("--ports", required=True, metavar="NAME[=REGION],…", help="ports, and their regions of the mesh")
@click.option("--modes", default=12, show_default=True, help="lowest modes that are kept")
@click.option("--static", default="", metavar="PORT,…", help="ports whose static responses are kept, too")
@click.option(
    "--tolerance",
    metavar="SHARE",
    help="refine until errors of the modes and static compliances, on the safe side, are below it, such as 1%",
)
@click.option("--inertia", is_flag=True, help="keep the static responses to accelerations and spins")
@click.option("--reference", default="mean_axis", show_default=True, help="a port that is held, or mean_axis")
@click.option("--degree", type=click.IntRange(1, 2), help="2 gives cells of degree 1 nodes on their edges")
@click.option("--plane", type=click.Choice(["stress", "strain"]), help="makes a body of the plane of a plane mesh")
@click.option("--thickness", type=float, help="of a body of the plane [m]")
@click.option("--omit", multiple=True, metavar="KEYWORD", help="keyword, card or element type of the file to leave out")
@click.option("--select", metavar="PART", help="part, instance, set or group of cells of a file of several")
@click.option("--unit", metavar="LENGTH", help="unit of the lengths in the file: mm, or 1e-3 [m]; m without it")
@click.option("--temperature", type=float, help="at which tables of materials of the file are taken")
@click.option(
    "--fields",
    type=click.Choice(["none", "shape", "stresses"]),
    default="shape",
    show_default=True,
    help="what is kept for export",
)
@click.option("--petsc", is_flag=True, help="distribute the cells as under mpiexec, also on one rank")
@click.option(
    "--solver",
    type=click.Choice(["factor", "multigrid"]),
    help="under MPI: one factor (MUMPS), by default below 1e6 coordinates, or none (CG and LOBPCG with GAMG)",
)
@click.option("--out", required=True, type=click.Path(dir_okay=False, path_type=Path), help="file for the body (HDF5)")
def command(mesh: Path, material: str | None, ports: str, static: str, out: Path, **options: Any) -> None:
    """Reduce the elastic body of a mesh to a few coordinates, and write it for flexph.bodies.load_reduced.

    Lengths of the mesh are in metres, or in --unit; ports are named regions of it, tied rigidly, or couplings of the
    file, as in fem.solid. Prints the body, its frequencies held at the reference, the time of each stage and the peak
    memory. Started by mpiexec with several ranks, it distributes the cells over them (extra petsc,
    docs/how-to/cluster.md).
    """
    if not out.parent.is_dir():
        raise click.UsageError(f"--out must lie in an existing folder, got {str(out)!r}")
    if out.suffix.lower() not in HDF5_SUFFIXES:
        raise click.UsageError(f"--out is HDF5 and must end in .h5 or .hdf5, got {str(out)!r}")
    named = _ports(ports)
    shape = {name: options.pop(name) for name in ("reference", "degree", "plane", "thickness", "omit", "select")}
    shape |= {"unit": unit_of(options.pop("unit")), "temperature": options.pop("temperature")}
    fields, distributed, solver = options.pop("fields"), options.pop("petsc") or launched() > 1, options.pop("solver")
    tolerance = share("--tolerance", options.pop("tolerance"))
    if tolerance is not None and distributed:
        raise click.UsageError("--tolerance is for reductions in one process: refine before --petsc, or leave it out")
    if solver and not distributed:
        raise click.UsageError("--solver is for reductions under MPI: start it with mpiexec, or add --petsc")
    given = {"ports": named, **shape}
    kept = {"static": _names(static), **options}
    try:
        if tolerance is not None:
            given["refine"] = Refinement(tolerance, kept["modes"], kept["static"])
        if distributed:
            lines = _distributed(mesh, material, out, given, {**kept, "fields": fields, "solver": solver})
        else:
            lines = _serial(mesh, material, out, given, kept, fields=fields)
    except (ValueError, ArithmeticError, MemoryError) as error:
        raise click.ClickException(" ".join(str(error).split()) or "out of memory") from error
    click.echo("\n".join(lines), nl=bool(lines))


def _serial(
    mesh: Path, material: str | None, out: Path, given: dict[str, Any], kept: dict[str, Any], *, fields: Fields
) -> list[str]:
    """Reduce the body of a mesh in this process and write it to the file ``out``; return lines of text about it.

    ``given`` are arguments of :func:`fem.solid`, ``kept`` those of :func:`flexph.bodies.reduce_body`.
    """
    stages: dict[str, float] = {}
    with _timed("mesh and matrices", stages):
        body = solid(mesh, material_of(material, mesh, given), **given)
    with _timed("reduction", stages):
        reduced = reduce_body(body, **kept)
    with _timed("file", stages):
        save_reduced(reduced, out, fields=fields)
    return _words(reduced, body.size, out, stages, [_peak_memory()])


def _distributed(mesh: Path, material: str | None, out: Path, given: dict[str, Any], kept: dict[str, Any]) -> list[str]:
    """Reduce the body of a mesh on all ranks and write it to the file ``out`` on rank 0.

    Returns lines of text about it, none on other ranks. For the arguments see :func:`_serial`.
    """
    from .distributed.ranks import ending_all, world

    comm = world()
    with ending_all(comm):
        from .distributed.reduction import ReductionOptions, reduce_distributed

        elastic = material_of(material, mesh, given) if comm.rank == 0 else None
        result = reduce_distributed(comm, mesh, elastic, choices=ReductionOptions(**kept), **given)
        peaks = comm.gather(_peak_memory())
        if result is None:
            return []
        stages = dict(result.stages)
        with _timed("file", stages):
            save_reduced(result.body, out, fields=kept["fields"])
        return _words(result.body, result.size, out, stages, peaks)


def _names(text: str) -> list[str]:
    return [name.strip() for name in text.split(",")] if text.strip() else []


def _ports(text: str) -> dict[str, str]:
    """Regions of the mesh by the names of the ports, from the text of the option ``--ports``.

    The text is NAME or NAME=REGION, separated by commas.
    """
    ports: dict[str, str] = {}
    for entry in text.split(","):
        name, equals, region = (part.strip() for part in entry.partition("="))
        if not name or (equals and not region):
            raise click.UsageError(f"--ports must be NAME or NAME=REGION, separated by commas, got {text!r}")
        if name in ports:
            raise click.UsageError(f"--ports names {name!r} twice")
        ports[name] = region or name
    return ports


@contextmanager
def _timed(stage: str, stages: dict[str, float]) -> Iterator[None]:
    """Context that stores the time [s] which its block takes as ``stages[stage]``."""
    begin = time.perf_counter()
    yield
    stages[stage] = time.perf_counter() - begin


def _words(reduced: Body, size: int, out: Path, stages: dict[str, float], peaks: list[int | None]) -> list[str]:
    """Lines of text about a reduced body: file, size, mass, ports, frequencies, times of the stages, and memory.

    ``size`` is the number of coordinates before the reduction. ``peaks`` is the peak memory of each rank in bytes.
    """
    held = np.sqrt(np.maximum(_squares(reduced), 0.0)) / (2.0 * np.pi)
    more = f" … {held[-1]:.6g}" if len(held) > SHOWN else ""
    known = " + ".join(f"{peak / 1e6:.0f}" for peak in peaks if peak is not None)
    return [
        f"{out}: {out.stat().st_size / 1e3:.0f} kB, a body of {reduced.size} coordinates, reduced from {size}",
        f"mass {reduced.mass:.9g} kg; ports {', '.join(reduced.ports)}",
        f"frequencies [Hz] {' '.join(f'{f:.6g}' for f in held[:SHOWN])}{more}",
        f"time {', '.join(f'{stage} {seconds:.2f} s' for stage, seconds in stages.items())}",
        f"memory at most {f'{known} MB' if known else 'unknown'}{f' on {len(peaks)} ranks' if len(peaks) > 1 else ''}",
    ]


def _squares(body: Body) -> Any:
    """Squared angular frequencies [1/s²] of a reduced body with its frame at rest, in ascending order."""
    if not body.size:
        return np.zeros(0)
    held = HeldBody(body)
    return eigh(held.elastic.energies(np.eye(body.size)), held.mass.toarray(), eigvals_only=True)


def _peak_memory() -> int | None:
    """Peak memory of this process in bytes; None if the system does not report it."""
    try:
        import resource
        import sys
    except ImportError:  # on Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return int(peak) * (1 if sys.platform == "darwin" else 1024)
