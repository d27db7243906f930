"""``flexph check``, ``flexph show`` and ``flexph new``: model files without a run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click

from ..console.machine import AS_JSON, print_json
from ..console.verbosity import tell
from .examples_of import EXAMPLES, write_example
from .reading.problems import ModelError, dotted
from .settings import parse_setting

MODEL = click.argument("file", type=click.Path(path_type=Path))
TRUST = click.option("--trust", is_flag=True, help="import and call the Python functions that the file names")
SETTINGS = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="PATH=VALUE",
    help="a value in place of that in the file; may be repeated",
)


@contextmanager
def refusals() -> Iterator[None]:
    """End the command with the lines of what is wrong with a model file."""
    try:
        yield
    except ModelError as error:
        raise click.ClickException(str(error)) from error
    except (ValueError, ArithmeticError, ImportError) as error:
        raise click.ClickException(" ".join(str(error).split())) from error


def loaded(file: Path, settings: Sequence[str] = (), *, trust: bool = False) -> Any:
    """The model of a file, or the end of the command."""
    with refusals():
        from .loading import load_model  # it loads scipy, pydantic and pint

        return load_model(file, trust=trust, settings=dict(map(parse_setting, settings)))


@click.command("check")
@MODEL
@SETTINGS
@TRUST
@AS_JSON
def check(file: Path, settings: Sequence[str], trust: bool, as_json: bool) -> None:
    """Say what is wrong with a model file: line, column, what was given, what would be right.

    Starts are closed and made consistent, inputs and outputs are looked up; nothing is run. The exit status is 1 where
    something is wrong.
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
        tell([f"{file}: right, with runs {', '.join(model.runs) or 'none'}"])


def _problems(refusal: click.ClickException) -> list[dict[str, Any]]:
    """What is wrong with a model file; line and column are null where that is not in it."""
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
    """Say what a model file describes: bodies, connections, degrees of freedom, redundant constraints, mass, runs."""
    if schema:
        from .schema.document import model_schema

        click.echo(json.dumps(model_schema(), indent=2))
        return
    if file is None:
        raise click.UsageError("write the model file to show, or --schema")
    model = loaded(file, settings, trust=trust)
    with refusals():
        from .showing import words

        click.echo(words(model, details=details))


@click.command("new")
@click.argument("name")
@click.option(
    "--like", type=click.Choice(EXAMPLES), default=EXAMPLES[0], show_default=True, help="the example to begin with"
)
def new(name: str, like: str) -> None:
    """Write a commented model file NAME.yaml to begin with, and the files that it needs."""
    if not Path(name).name:
        raise click.UsageError(f"NAME must be that of a file, got {name!r}")
    try:
        tell(write_example(Path(name), like))
    except FileExistsError as error:
        raise click.ClickException(f"{error.filename} is there already: take another name, or remove it") from error
