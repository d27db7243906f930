"""Command `flexph study`: a case or a model file at all combinations of parameter values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import BrokenExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from ..case import Case, Parameter, find_cases, no_case
from ..case_run import status_of
from ..console.options import Folder, log, print_lines
from ..console.output import REPORT, repeating_command
from ..files.results_folder import FolderRefused
from ..models.commands import loaded, refusals
from ..models.loading import ModelFile, figures_of_run
from ..models.sampling import check_grid, ends_of, rows_of
from ..models.schema.studies import Study
from ..models.settings import parse_setting
from ..numerics import checks as check
from ..plot.axes import MISSING
from ..units.words import nearest
from .dataset import ERROR, STATUS
from .execution.tasks import NotLoaded, NotStored
from .parameter_study import DATASET, study
from .samples import Samples, grid, latin_hypercube, sobol, table


def study_of_file(
    file: str, given: Sequence[str], *, name: str | None = None, trust: bool
) -> tuple[Callable[..., Mapping[str, Any]], Samples]:
    """Function and samples of the study ``name`` of a model file, by default of its first study.

    ``given`` are texts ``PATH=A,B,…``: settings and their values, which replace or complete those that the study
    varies; if the file has no study, they vary for its first run. ``trust`` allows calls of the Python functions that
    the file names. Raises click's exceptions.
    """
    model = loaded(Path(file), trust=trust)
    with refusals():
        model.check()
        entry = _study(model, name)
        if entry is not None and entry.vary is None:
            if given:
                raise ValueError("--set is for studies that vary settings: this one lists its samples")
            samples = _samples(model, entry)
        else:
            samples = _grid_of_file(model, entry, given)
        return figures_of_run(model, model.runs[0] if entry is None else entry.run), samples


def _study(model: ModelFile, name: str | None) -> Study | None:
    studies = model.document.studies
    if name is None:
        return next(iter(studies.values()), None)
    if name not in studies:
        raise ValueError(f"no study {name!r}: {nearest(name, studies)}")
    return studies[name]


def _grid_of_file(model: ModelFile, entry: Study | None, given: Sequence[str]) -> Samples:
    values = ({} if entry is None else dict(entry.vary)) | dict(map(_values, given))
    if not (values and model.runs):
        raise ValueError(f"{model.tree.name} has no study: write a section 'studies', or --set PATH=A,B")
    check_grid(values, model.tree)
    return grid(values)


def _samples(model: ModelFile, entry: Study) -> Samples:
    """Samples of a study in a model file that lists them, or draws them at random in bounds; not of a full grid."""
    name = next(name for name, study in model.document.studies.items() if study is entry)
    bounds = {path: ends_of(ends) for path, ends in entry.bounds.items()}
    if entry.sobol is not None:
        return sobol(entry.sobol.count, bounds, seed=entry.sobol.seed)
    if entry.latin_hypercube is not None:
        return latin_hypercube(entry.latin_hypercube.count, bounds, seed=entry.latin_hypercube.seed)
    return table(rows_of(entry, model.builder.at("studies", name)))


def _values(text: str) -> tuple[str, list[Any]]:
    path, _ = parse_setting(text)
    return path, parse_setting(f"{path}=[{text.partition('=')[2]}]")[1]


SUFFIXES = (".yaml", ".yml")
"""Suffixes of model files."""
NAMED = 10
"""Largest number of failed samples whose errors are printed one by one."""


@click.command("study")
@click.argument("case", metavar="CASE|MODEL.yaml")
@click.option("--set", "given", multiple=True, metavar="NAME=A,B,…", help="values of a parameter; may be repeated")
@click.option("--out", type=Folder(), required=True, help="folder for the results")
@click.option("--jobs", type=click.IntRange(min=1), help="processes, by default one for each processor")
@click.option("--executor", metavar="dask://HOST:PORT|mpi", help="workers elsewhere (extras dask and mpi)")
@click.option("--resume", is_flag=True, help="go on with the study in the folder, or begin it")
@click.option("--retry-failed", is_flag=True, help="with --resume: compute failed samples again")
@click.option("--study", "chosen", metavar="NAME", help="of a model file: the study, if not its first")
@click.option("--trust", is_flag=True, help="of a model file: call the Python functions that it names")
@click.option(
    "--pictures/--no-pictures", default=True, show_default=True, help="of one and two parameters (extra plot)"
)
@click.option("--report/--no-report", default=True, envvar=REPORT, help="write report.html  [default: report]")
def command(case: str, given: Sequence[str], out: Path, pictures: bool, report: bool, **options: Any) -> None:
    """Run a case at all combinations of parameter values in parallel, or the study of a model file.

    Each run is recorded as it finishes; an interrupted study continues with --resume. The numbers of all runs are
    written to OUT/study.nc, pictures for one or two parameters to OUT/pictures. Failed runs are listed and do not end
    the study.
    """
    try:
        function, samples = _subject(case, given, options.pop("chosen"), trust=options.pop("trust"))
        results = study(function, samples, out=out, **options)
    except KeyboardInterrupt as error:
        click.echo(f"interrupted; finished runs are in {out}: continue with --resume", err=True)
        raise click.exceptions.Exit(status_of(error)) from None
    except FolderRefused as error:
        raise click.UsageError(str(error)) from None
    except (ValueError, ModuleNotFoundError, NotStored, NotLoaded, BrokenExecutor) as error:
        raise click.ClickException(" ".join(str(error).split())) from error
    drawn = _drawn(results, out) if pictures else []
    lines = summary(results)
    print_lines([out / DATASET, *drawn, *(_reported(case, out, results, lines, drawn) if report else ()), *lines])


def _reported(case: str, out: Path, results: Any, lines: Sequence[str], drawn: Sequence[Path]) -> list[Path]:
    from ..report.reports import write_study_report

    about = {"command": repeating_command(), "lines": lines, "pictures": drawn}
    return [write_study_report(out, f"study of {case}", results, about)]


def summary(results: Any) -> list[str]:
    """Lines of text with the numbers of finished and failed samples, and the errors of failed ones."""
    stacked = results[[STATUS, ERROR]].stack(one=list(results[STATUS].dims)).reset_index("one")
    failed = stacked.isel(one=(stacked[STATUS] == "failed").values)
    count, total = failed.sizes["one"], stacked.sizes["one"]
    names = list(dict.fromkeys([*results[STATUS].dims, *results.coords]))
    lines = [f"{total} sample{'s' * (total != 1)}: {total - count} done, {count} failed"]
    for k in range(min(count, NAMED)):
        sample = failed.isel(one=k)
        sample_text = ", ".join(f"{name}={sample[name].item()}" for name in names if name in results.coords)
        lines.append(f"  {sample_text}: {sample[ERROR].item()}")
    return lines + ([f"  … and {count - NAMED} more, see {ERROR} in {DATASET}"] if count > NAMED else [])


def _subject(name: str, given: Sequence[str], chosen: str | None, *, trust: bool) -> tuple[Any, Any]:
    """Function, or name of a case, and samples of a study.

    ``name`` is a case or a model file, ``given`` are the texts of the options --set, ``chosen`` is a study of the model
    file. Raises click's exceptions, and ValueError for an unknown case.
    """
    if Path(name).suffix in SUFFIXES:
        # it loads scipy, pydantic and pint

        return study_of_file(name, given, name=chosen, trust=trust)
    if chosen is not None:
        raise click.UsageError(f"--study is for model files, but {name!r} is a case")
    cases = find_cases()
    if name not in cases:
        raise ValueError(no_case(name, cases))
    return name, _grid(name, cases[name], given)


def _grid(name: str, case: Case[Any], given: Sequence[str]) -> Mapping[str, list[Any]]:
    """Values by parameter from the options --set NAME=A,B,…. Raises click.UsageError for other texts."""
    if not given:
        names = ", ".join(parameter.name for parameter in case.parameters)
        raise click.UsageError(f"--set is needed, for example --set NAME=A,B; the parameters of {name} are {names}")
    known = {parameter.name: parameter for parameter in case.parameters}
    values: dict[str, list[Any]] = {}
    for text in given:
        key, equals, listed = text.partition("=")
        if not equals or not listed:
            raise click.UsageError(f"--set must be NAME=A,B,…, got {text!r}")
        parameter = check.lookup("parameter", key.strip().replace("-", "_"), known, f"case {name}")
        if parameter.name in values:
            raise click.UsageError(f"--set {parameter.name} is given twice: list all values in one")
        values[parameter.name] = [_value(parameter, entry.strip()) for entry in listed.split(",")]
    return values


def _value(parameter: Parameter, text: str) -> Any:
    kind = click.Choice(parameter.choices) if parameter.choices else click.types.convert_type(parameter.kind)
    try:
        return kind.convert(text, None, None)
    except click.BadParameter as error:
        raise click.UsageError(f"--set {parameter.name}: {error.message}") from None


def _drawn(results: Any, out: Path) -> list[Path]:
    if find_spec("matplotlib") is None:
        log.warning("no pictures: %s", MISSING)
        return []
    from .pictures import draw

    return draw(results, out / "pictures")
