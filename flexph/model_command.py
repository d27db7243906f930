"""Command ``flexph run model.yaml``: computation of the runs of a model file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import click

from flexph.case import Case, Option
from flexph.models.commands import SETTINGS, TRUST, loaded, refusals


def model_command(file: str, options: Sequence[click.Parameter], run_and_list: Callable[..., None]) -> click.Command:
    """Command that runs a model file with ``run_and_list``, with the ``options`` shared by all runs."""

    @click.command(file, help=f"Run {file} and write its results.")
    @click.option(
        "--run", "names", multiple=True, metavar="NAME", help="a run of the file, if not all; may be repeated"
    )
    @click.option("--live", is_flag=True, help="follow runs in time in a page of the browser, see 'live' of the file")
    @SETTINGS
    @TRUST
    def command(names: Sequence[str], settings: Sequence[str], trust: bool, live: bool, **given: Any) -> None:
        model = loaded(Path(file), settings, trust=trust)
        with refusals():
            case = case_of(model, names or model.runs, live=live)
        identity = {"digest": model.digest, "chosen": " ".join(names), "settings": " ".join(settings)}
        with refusals():
            run_and_list(Path(file).stem, case, identity, **given)

    command.params[:0] = options
    return command


def case_of(model: Any, names: Sequence[str], *, live: bool = False) -> Case[dict[str, Any]]:
    """Case that computes runs of a model file, by default all; ``live``: True to show a page while they run.

    Raises ValueError for unknown names, and for a file without runs.
    """
    model.check()
    if not names:
        raise ValueError(f"{model.tree.name} has no runs: add a section 'runs'")
    model.refuse_unknown(names)

    def run(
        *,
        digest: Annotated[str, Option("sum of what the file says")] = "",
        chosen: Annotated[str, Option("runs of the file, if not all")] = "",
        settings: Annotated[str, Option("values in place of those in the file")] = "",
    ) -> dict[str, Any]:
        """Compute runs of a model file; return them by name."""
        return {name: model.run(name, progress=True, live=live) for name in names}

    return Case(run, write, checks=tuple, figures=figures)


def figures(results: Mapping[str, Any]) -> dict[str, Any]:
    """Summary numbers of all runs by name."""
    return {"runs": {name: result.figures() for name, result in results.items()}}


def write(results: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    """Write each run into a folder with its name; return the summary numbers of all."""
    for name, result in results.items():
        (folder / name).mkdir()
        result.write(folder / name)
    return figures(results)
