"""Command `flexph optimise`: minimisation of a measure of a model file, with history and active limits."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from concurrent.futures import BrokenExecutor
from pathlib import Path
from typing import Any

import click

from ..case_run import status_of
from ..console.machine import json_text
from ..console.options import Folder, log, print_lines
from ..console.output import REPORT, repeating_command
from ..files.durable import staged
from ..files.results_folder import FolderRefused
from ..gradients.interior_point import InteriorPoint
from ..models.commands import SETTINGS, loaded, refusals
from ..models.loading import ModelFile
from ..models.optimising import Search, search_of
from ..models.schema.studies import Optimisation
from ..units.words import nearest
from .execution.tasks import NotLoaded, NotStored
from .optimisation import optimise
from .optimum import Optimum
from .parameter_study import DATASET

SUMMARY = "optimum.json"


@click.command("optimise")
@click.argument("file", metavar="MODEL.yaml", type=click.Path(path_type=Path))
@click.option("--out", type=Folder(), required=True, help="folder for the results")
@click.option("--optimisation", "chosen", metavar="NAME", help="the optimisation of the file, if not its first")
@SETTINGS
@click.option("--executor", metavar="dask://HOST:PORT|mpi", help="workers elsewhere (extras dask and mpi)")
@click.option("--resume", is_flag=True, help="go on with the search in the folder, or begin it")
@click.option("--trust", is_flag=True, help="call the Python functions that the file names")
@click.option("--report/--no-report", default=True, envvar=REPORT, help="write report.html  [default: report]")
def command(
    file: Path, out: Path, chosen: str | None, settings: Sequence[str], trust: bool, report: bool, **options: Any
) -> None:
    """Minimise a measure of a run over settings of a model file, within bounds and limits.

    The section optimisations of the file names objective, parameters and constraints. The search uses gradients if the
    run has them. Each run is recorded as it finishes; an interrupted search continues with --resume. The optimum is
    written to OUT/optimum.json, the numbers of all runs to OUT/study.nc.
    """
    model = loaded(file, settings, trust=trust)
    with refusals():
        name, entry = _entry(model, chosen)
        search = search_of(model, name)
    if search.obstacle and entry.method == "auto":
        log.warning(
            "no gradients, so the search takes %s: %s", "differences" if entry.step else "COBYQA", search.obstacle
        )
    try:
        best = searched(search, entry, out=out, **options)
    except KeyboardInterrupt as error:
        click.echo(f"interrupted; finished runs are in {out}: continue with --resume", err=True)
        raise click.exceptions.Exit(status_of(error)) from None
    except FolderRefused as error:
        raise click.UsageError(str(error)) from None
    except (ValueError, ArithmeticError, ModuleNotFoundError, NotStored, NotLoaded, BrokenExecutor) as error:
        raise click.ClickException(" ".join(str(error).split())) from error
    lines = [*summary(best, search), repeating_run(file, entry, best, settings)]
    with staged(out / SUMMARY) as part:
        part.write_text(json_text(_values(name, best, search.objective)), encoding="utf-8")
    pages = [_reported(out, name, best, search, lines)] if report else []
    print_lines([out / SUMMARY, out / DATASET, *pages, *lines])


def _entry(model: ModelFile, name: str | None) -> tuple[str, Optimisation]:
    """Name and entry of the optimisation ``name`` of a model file, by default of the first one.

    Raises ValueError for an unknown name, and for a file without optimisations.
    """
    known = model.document.optimisations
    if not known:
        raise ValueError(f"{model.tree.name} has no optimisation: write a section 'optimisations'")
    entry_name = next(iter(known)) if name is None else name
    if entry_name not in known:
        raise ValueError(f"no optimisation {entry_name!r}: {nearest(entry_name, known)}")
    return entry_name, known[entry_name]


def searched(search: Search, entry: Optimisation, **options: Any) -> Optimum:
    """Run the search of a model file, with the ``options`` of :func:`flexph.studies.optimise`; return the optimum."""
    algorithm = "SLSQP" if entry.method == "auto" and not search.obstacle else entry.method
    method: Any = InteriorPoint() if algorithm == "interior-point" else algorithm
    return optimise(
        search.function,
        search.objective,
        search.bounds,
        constraints=search.constraints,
        start=search.start,
        method=method,
        step=entry.step if search.obstacle else None,
        most=entry.most,
        tolerance=entry.tolerance,
        progress=True,
        **options,
    )


def summary(best: Optimum, search: Search) -> list[str]:
    """Lines of text with objective, parameters and active limits of the optimum."""
    count = best.runs.sizes["sample"]
    lines = [
        f"least {search.words} {best.objective:.6g}, at the start {first_of(best, search):.6g}, after {count} runs"
    ]
    lines += [f"  {name} = {value:.6g}{_at_limit(best, name)}" for name, value in best.parameters.items()]
    lines += [f"  {name}{_at_limit(best, name)}" for name in best.active if name not in best.parameters]
    return lines


def first_of(best: Optimum, search: Search) -> float:
    """Objective of the first run."""
    return float(sum(weight * best.runs[name].values[0] for name, weight in search.objective.items()))


def _at_limit(best: Optimum, name: str) -> str:
    """Text on the limit that the parameter or value ``name`` has reached; empty if it has reached none.

    The text includes the change of the objective per unit of a shift of the limit, if it is known.
    """
    if name not in best.active:
        return ""
    gain = f"; the objective changes by {best.multipliers[name]:.4g} per unit" if name in best.multipliers else ""
    return f", at its {best.active[name]} value{gain}"


def repeating_run(file: Path, entry: Optimisation, best: Optimum, settings: Sequence[str]) -> str:
    """Text of the command that runs the file with the optimal settings."""
    assignments = [*settings, *(f"{path}={value:.10g}" for path, value in best.parameters.items())]
    words = [word for setting in assignments for word in ("--set", setting)]
    return shlex.join(["flexph", "run", str(file), "--run", entry.run, *words, "--out", "optimum"])


def _values(name: str, best: Optimum, objective: Mapping[str, float]) -> dict[str, Any]:
    """Optimum as a dict of plain values for JSON, with the name of the optimisation and its weights."""
    return {
        "optimisation": name,
        "weights": dict(objective),
        "objective": best.objective,
        "parameters": dict(best.parameters),
        "values": {key: value for key, value in best.values.items() if " by " not in key},
        "active": dict(best.active),
        "multipliers": dict(best.multipliers),
        "imbalance": best.imbalance,
        "derivatives": {key: dict(slopes) for key, slopes in best.derivatives.items()},
        "runs": best.runs.sizes["sample"],
    }


def _reported(out: Path, name: str, best: Optimum, search: Search, lines: Sequence[str]) -> Path:
    from ..report.searches import write_search_report

    facts: Mapping[str, Any] = {
        "command": repeating_command(),
        "said": f"The {lines[0]}.",
        "run": lines[-1],
        "objective": search.words,
        "weights": search.objective,
        "limits": search.constraints,
        "bounds": search.bounds,
    }
    return write_search_report(out, f"optimisation {name}", best, facts)
