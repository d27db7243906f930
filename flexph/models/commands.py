"""Commands ``flexph check``, ``flexph show`` and ``flexph new`` for model files, without a run."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from ..console.machine import AS_JSON, print_json
from ..console.options import print_lines
from ..files.durable import staged
from ..units.words import weighted_sum
from .loading import ModelFile
from .mechanism import pose_of
from .reading.tree import ModelError, dotted
from .schema.studies import Optimisation, Study
from .settings import parse_setting


def describe(model: ModelFile, *, details: bool = False) -> str:
    """Text on bodies, connections, mass, runs, studies, and degrees of freedom and redundancies at the start.

    ``details``: True to add the details of :meth:`flexph.Mechanism.describe`.
    """
    document, mechanism = model.document, model.mechanism
    pose = model.located(lambda: pose_of(mechanism, document.start, model.builder.at("start"), document.start.time))
    heading = [document.description] if document.description else []
    lines = [*heading, mechanism.describe(pose, details=details)]
    runs: Mapping[str, Any] = document.runs
    lines += [f"run {name}: {run.kind}" for name, run in runs.items()]
    for name, study in document.studies.items():
        lines.append(f"study {name}: run {study.run} {_samples(study)}")
    for name, search in document.optimisations.items():
        lines.append(f"optimisation {name}: run {search.run}, {_aim(search)}")
    return "\n".join(lines)


def _aim(search: Optimisation) -> str:
    """Text on the objective, the parameters and the constraints of an optimisation."""
    limits = f", with limits of {', '.join(search.constraints)}" if search.constraints else ""
    return f"least {weighted_sum(search.weights)} over {', '.join(search.parameters)}{limits}"


def _samples(study: Study) -> str:
    """Text on the settings at which a study repeats its run: varied paths, number of samples, or table."""
    if study.vary is not None:
        return "with " + ", ".join(f"{path} at {len(values)} values" for path, values in study.vary.items())
    if study.samples is not None:
        return f"at {len(study.samples)} samples"
    if study.table is not None:
        return f"at the rows of {study.table.name}"
    drawn, kind = (study.sobol, "Sobol") if study.sobol else (study.latin_hypercube, "Latin hypercube")
    return f"at {drawn.count} samples ({kind}) of {', '.join(drawn.bounds)}"


FOLDER = Path(__file__).parent / "examples"
EXAMPLES = ("crank-slider", "bouncing-ball", "four-bar", "slider-crank-3d", "solid-bar")
"""Names of the examples; the first is the default of ``flexph new``."""
COMPANIONS = {"solid-bar": ("bar.msh",)}
"""Files that an example refers to."""


def write_example(path: Path, like: str) -> list[Path]:
    """Copy the example called ``like`` to ``path``, with the suffix .yaml, and files that it needs; return the paths.

    Raises FileExistsError instead of replacing a file, and FileNotFoundError if the folder does not exist.
    """
    target = path if path.suffix in (".yaml", ".yml") else path.with_name(f"{path.name}.yaml")
    pairs = [
        (FOLDER / f"{like}.yaml", target),
        *((FOLDER / name, target.parent / name) for name in COMPANIONS.get(like, ())),
    ]
    for _, written in pairs:
        if written.exists():
            raise FileExistsError(17, "exists already", str(written))
    for source, written in pairs:
        text = source.read_text(encoding="utf-8").replace(f"{like}.yaml", target.name)
        with staged(written) as part:
            if source.suffix == ".yaml":
                part.write_text(text, encoding="utf-8")
            else:
                shutil.copyfile(source, part)
    return [written for _, written in pairs]


MODEL = click.argument("file", type=click.Path(path_type=Path))
TRUST = click.option("--trust", is_flag=True, help="import and call the Python functions that the file names")
SETTINGS = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="PATH=VALUE",
    help="replace a value of the file; may be repeated",
)


@contextmanager
def refusals() -> Iterator[None]:
    """Context manager that converts errors of a model file to error messages of the command."""
    try:
        yield
    except ModelError as error:
        raise click.ClickException(str(error)) from error
    except (ValueError, ArithmeticError, ImportError) as error:
        raise click.ClickException(" ".join(str(error).split())) from error


def loaded(file: Path, settings: Sequence[str] = (), *, trust: bool = False) -> Any:
    """Load a model file with changed settings.

    If the file has errors, the command ends with a message that lists them.
    """
    with refusals():
        from .loading import load_model  # it loads scipy, pydantic and pint

        return load_model(file, trust=trust, settings=dict(map(parse_setting, settings)))


@click.command("check")
@MODEL
@SETTINGS
@TRUST
@AS_JSON
def check(file: Path, settings: Sequence[str], trust: bool, as_json: bool) -> None:
    """Check a model file and list its errors: line, column, wrong value and remedy.

    Initial poses are assembled, initial states made consistent, inputs and outputs checked; nothing is run. The exit
    status is 1 if there are errors.
    """
    try:
        model = loaded(file, settings, trust=trust)
        with refusals():
            model.check()
    except click.ClickException as error:
        if not as_json:
            raise
        print_json({"file": str(file), "right": False, "runs": [], "problems": _problems(error)})
        raise click.exceptions.Exit(1) from error
    if as_json:
        print_json({"file": str(file), "right": True, "runs": list(model.runs), "problems": []})
    else:
        print_lines([f"{file}: no errors, with runs {', '.join(model.runs) or 'none'}"])


def _problems(refusal: click.ClickException) -> list[dict[str, Any]]:
    """Errors of a model file as values for JSON.

    Line and column are null for an error without a position.
    """
    cause = refusal.__cause__
    if not isinstance(cause, ModelError):
        return [{"line": None, "column": None, "path": "", "message": refusal.message}]
    return [{"line": p.line, "column": p.column, "path": dotted(p.path), "message": p.text} for p in cause.problems]


@click.command("show")
@click.argument("file", type=click.Path(path_type=Path), required=False)
@SETTINGS
@TRUST
@click.option("--details", is_flag=True, help="name all ports, constraints and parts of the state, too")
@click.option("--schema", is_flag=True, help="print the JSON schema of model files instead")
def show(file: Path | None, settings: Sequence[str], trust: bool, details: bool, schema: bool) -> None:
    """Describe a model file: bodies, connections, degrees of freedom, redundant constraints, mass, runs."""
    if schema:
        from .schema.document import model_schema

        click.echo(json.dumps(model_schema(), indent=2))
        return
    if file is None:
        raise click.UsageError("name the model file to show, or give --schema")
    model = loaded(file, settings, trust=trust)
    with refusals():
        click.echo(describe(model, details=details))


@click.command("new")
@click.argument("name")
@click.option("--like", type=click.Choice(EXAMPLES), help=f"the example to copy  [default: {EXAMPLES[0]}]")
@click.option(
    "--from",
    "drawing",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="the drawing of an assembly (STEP, IGES, BREP) whose parts and joints are proposed",
)
@click.option("--density", metavar="DENSITY", help="of all parts of the drawing: 7850 [kg/m³], or '2.7 g/cm^3'")
@click.option("--ground", metavar="PART", help="part of the drawing that stands still")
@click.option("--flexible", multiple=True, metavar="PART", help="part of the drawing with a mesh; may be repeated")
@click.option("--size", metavar="LENGTH", help="cells of flexible parts: 4mm, or 0.004 [m]")
@click.option("--unit", metavar="LENGTH", help="unit of a drawing that has none (BREP): 1mm, or 0.001 [m]")
def new(name: str, like: str | None, drawing: Path | None, **given: Any) -> None:
    """Write a commented model file NAME.yaml: an example with the files that it needs, or an assembly of a drawing."""
    if not Path(name).name:
        raise click.UsageError(f"NAME must be a file name, got {name!r}")
    named = [option for option, value in given.items() if value]
    if drawing is not None and like is not None:
        raise click.UsageError("give --like, an example, or --from, a drawing: not both")
    if drawing is None and named:
        raise click.UsageError(f"--{named[0]} is for a drawing: give it by --from")
    try:
        if drawing is None:
            print_lines(write_example(Path(name), like or EXAMPLES[0]))
        else:
            print_lines(_assembly(Path(name), drawing, given))
    except FileExistsError as error:
        raise click.ClickException(f"{error.filename} exists already: choose another name, or remove it") from error


def _assembly(target: Path, drawing: Path, given: Mapping[str, Any]) -> list[str]:
    """Write the model file of an assembly; return its path, and the lines of a summary of the mechanism."""
    from ..units.quantities import read_quantity
    from .assemblies.text import Choices, summary
    from .assemblies.writing import write_assembly

    with refusals():
        values = {
            option: None if given[option] is None else read_quantity(given[option], unit)
            for option, unit in (("density", "kg/m^3"), ("size", "m"), ("unit", "m"))
        }
        choices = Choices(values["density"], tuple(given["flexible"]), values["size"])
        path, proposal = write_assembly(target, drawing, choices, ground=given["ground"], unit=values["unit"])
    return [str(path), *summary(proposal)]
