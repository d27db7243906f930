"""Commands ``flexph check``, ``flexph show`` and ``flexph new`` for model files, without a run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from ..console.machine import AS_JSON, print_json
from ..console.verbosity import tell
from .reading.problems import ModelError, dotted
from .settings import parse_setting
from .shipped_examples import EXAMPLES, write_example

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
    """Context that turns errors about a model file into an error message of the command."""
    try:
        yield
    except ModelError as error:
        raise click.ClickException(str(error)) from error
    except (ValueError, ArithmeticError, ImportError) as error:
        raise click.ClickException(" ".join(str(error).split())) from error


def loaded(file: Path, settings: Sequence[str] = (), *, trust: bool = False) -> Any:
    """Model of a file with changed settings; end the command with the file's errors if there are any."""
    with refusals():
        from .loading import load_model  # it loads scipy, pydantic and pint

        return load_model(file, trust=trust, settings=dict(map(parse_setting, settings)))


@click.command("check")
@MODEL
@SETTINGS
@TRUST
@AS_JSON
def check(file: Path, settings: Sequence[str], trust: bool, as_json: bool) -> None:
    """Check a model file and list its errors: line, column, what was given, what would be right.

    Starts are assembled and made consistent, inputs and outputs are looked up; nothing is run. The exit status is 1 if
    there are errors.
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
        tell([f"{file}: no errors, with runs {', '.join(model.runs) or 'none'}"])


def _problems(refusal: click.ClickException) -> list[dict[str, Any]]:
    """Errors of a model file for JSON; line and column are null for an error that has none."""
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
        from .description import describe

        click.echo(describe(model, details=details))


@click.command("new")
@click.argument("name")
@click.option("--like", type=click.Choice(EXAMPLES), default=EXAMPLES[0], show_default=True, help="the example to copy")
def new(name: str, like: str) -> None:
    """Write a commented example as NAME.yaml, with the files that it needs."""
    if not Path(name).name:
        raise click.UsageError(f"NAME must be a file name, got {name!r}")
    try:
        tell(write_example(Path(name), like))
    except FileExistsError as error:
        raise click.ClickException(f"{error.filename} exists already: choose another name, or remove it") from error
