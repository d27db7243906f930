"""Command line: `flexph list`, `flexph run`, `flexph validate`, `flexph analyze`, and commands of other packages."""

from __future__ import annotations

import os
from collections.abc import Sequence
from difflib import get_close_matches
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, get_args

import click

from flexph.case import Case, Check, Kind, Parameter, find_cases, no_case, written_summaries
from flexph.case_run import CheckpointOptions, ReportOptions, listed, run_case, status_of
from flexph.console.analysis import analyses, draw, refuse_format, text
from flexph.console.machine import AS_JSON, analysis_values, errors_as_json, print_json, verdict_values
from flexph.console.options import VERSION, Folder, log_on_stderr, print_lines, with_verbosity
from flexph.console.output import (
    REPORT,
    counts,
    epilog,
    explained,
    one_sentence,
    print_table,
    repeating_command,
    replace_unknown_characters,
    two_columns,
    verdicts,
)
from flexph.display.bars import progress
from flexph.files.durable import termination_interrupts

COMMANDS = "flexph.commands"
"""Entry-point group of further commands."""


class _Main(click.Group):
    """Group of the commands of flexph, and of commands that other packages register as entry points."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted({*super().list_commands(ctx), *(entry.name for entry in entry_points(group=COMMANDS))})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        command = super().get_command(ctx, cmd_name)
        if command is None:
            for entry in entry_points(group=COMMANDS, name=cmd_name):
                return with_verbosity(entry.load())
        return with_verbosity(command) if command else None

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            names = self.list_commands(ctx) + [f"run {name}" for name in find_cases()]
            near = get_close_matches(args[0], names, n=1) or [name for name in names if name == f"run {args[0]}"]
            if not near:
                raise
            raise click.UsageError(f"{error.message} Did you mean {near[0]!r}?", ctx) from None

    def main(self, *args: Any, **options: Any) -> Any:
        replace_unknown_characters()
        return super().main(*args, **options)

    def invoke(self, ctx: click.Context) -> Any:
        try:
            with termination_interrupts(), log_on_stderr(), errors_as_json(ctx), one_sentence():
                return super().invoke(ctx)
        except KeyboardInterrupt as error:
            click.echo("interrupted", err=True)
            ctx.exit(status_of(error))


class _Cases(click.Group):
    """Group with a command for each installed case, whose options are the parameters of its run function."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(find_cases())

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command:
        if Path(cmd_name).suffix in (".yaml", ".yml", ".json"):
            from flexph.model_command import model_command

            return with_verbosity(model_command(cmd_name, _run_options(), _run_and_list))
        return with_verbosity(_command(cmd_name, _load(cmd_name)))


@click.group(cls=_Main, context_settings={"help_option_names": ["-h", "--help"]}, epilog=epilog())
@VERSION
@click.option("-v", "--verbose", is_flag=True, is_eager=True, help="with --version: say how loops were compiled, too")
def main(verbose: bool) -> None:
    """Flexible multibody dynamics in port-Hamiltonian form.

    \b
    flexph run four-bar --out out        compute a case, with its report
    flexph view out --html page.html     show its motion in a browser
    flexph new my && flexph run my.yaml --out mine    run a model file
    """
    if verbose:
        raise click.UsageError("before a command --verbose is for --version only; otherwise put it behind the command")
    # Before any case is imported: pictures are written to files, and there may be no display.
    os.environ.setdefault("MPLBACKEND", "Agg")


@main.command("list", epilog=epilog())
@AS_JSON
def list_cases(as_json: bool) -> None:
    """List the installed cases."""
    summaries, written = {}, written_summaries()
    cases, broken = sorted(find_cases()), {}
    for name in cases:
        try:
            summary = written.get(name) or _load(name).summary
        except click.ClickException as error:
            summary = broken[name] = error.message
        summaries[name] = summary
    if as_json:
        print_json({"cases": [{"name": n, "summary": s, "error": broken.get(n)} for n, s in summaries.items()]})
    else:
        print_table(two_columns("case", "description", summaries))
        print_lines(explained(*summaries.values()))
    if cases and len(broken) == len(cases):
        raise click.ClickException("none of the installed cases can be loaded")


@main.group(epilog=epilog(), cls=_Cases, options_metavar=None, subcommand_metavar="CASE|MODEL.yaml --out DIR [OPTIONS]")
def run() -> None:
    """Compute a case, or the runs of a model file, and write the results.

    `flexph run CASE --help` shows the options of a case, `flexph new NAME` writes a model file.
    """


@main.command(epilog=epilog())
@click.argument("names", nargs=-1, metavar="[CASE]...")
@AS_JSON
@click.pass_context
def validate(ctx: click.Context, names: Sequence[str], as_json: bool) -> None:
    """Compare computed numbers with references: published numbers, closed forms, other programs, theorems, bounds.

    Compares all cases, or the given ones. Published numbers for other data are shown as not comparable. The exit status
    is 1 if a number deviates by more than its tolerance.
    """
    cases = {name: _load(name) for name in names or sorted(find_cases())}
    checks: list[tuple[str, Check]] = []
    missing = list(cases)
    try:
        for name, case in cases.items():
            for check in progress(case.checks(), desc=name, unit=" checks"):
                checks.append((name, check))
            missing.remove(name)
    finally:
        # Also if a case raises or Ctrl-C ends it: the finished comparisons are worth reading.
        _print_checks(checks, missing, as_json=as_json)
    unchecked = cases.keys() - {name for name, _ in checks}
    if unchecked or not cases:
        raise click.ClickException(f"nothing to check in {', '.join(sorted(unchecked)) or 'an empty list of cases'}")
    failed = sum(check.passed is False for _, check in checks)
    if failed:
        click.echo(f"{failed} of {len(checks)} checks failed", err=True)
        ctx.exit(1)


def _print_checks(checks: Sequence[tuple[str, Check]], missing: Sequence[str], *, as_json: bool) -> None:
    """Print the comparisons as tables or JSON, and the names of cases whose comparison is missing or incomplete."""
    if as_json:
        print_json(verdict_values(checks, get_args(Kind), missing))
        return
    print_table(verdicts(checks))
    print_table(counts((check for _, check in checks), get_args(Kind)))
    if missing:
        click.echo(f"not compared to the end: {', '.join(missing)}", err=True)


@main.command(epilog=epilog())
@click.argument("name", metavar="CASE")
@click.option("--picture", type=click.Path(dir_okay=False, path_type=Path), help="file for the picture (extra plot)")
@AS_JSON
def analyze(name: str, picture: Path | None, as_json: bool) -> None:
    """Analyse the system of a case.

    Reports algebraic constraints and index, conserved quantities, passivity, stability, and the sparsity pattern of
    the Dirac structure. For a switching system each mode is reported, with one picture each.
    """
    case = _load(name)
    if case.system is None:
        having = ", ".join(other for other in sorted(find_cases()) if _has_system(other))
        raise click.ClickException(f"case {name!r} has no system; these have one: {having or 'none'}")
    if picture is not None:
        refuse_format(picture)
    reports = analyses(case.system())
    drawn = draw(reports, picture) if picture is not None else []
    if as_json:
        values = [{"mode": mode, **analysis_values(report)} for mode, report in reports.items()]
        return print_json({"case": name, "summary": case.summary, "modes": values, "pictures": list(map(str, drawn))})
    click.echo(f"{name}: {case.summary}\n")
    for mode, report in reports.items():
        click.echo(text(mode, report))
    return print_lines(drawn)


def _has_system(name: str) -> bool:
    """True if a case can be loaded and has a system."""
    try:
        return find_cases()[name].system is not None
    except Exception as error:  # an error in the case of another package must not affect the others
        _raise_interruption(error)
        return False


def _load(name: str) -> Case[Any]:
    """Load the case ``name``; end the command with a message if this fails."""
    cases = find_cases()
    if name not in cases:
        raise click.UsageError(no_case(name, cases))
    try:
        return cases[name]
    except ModuleNotFoundError as error:
        _raise_interruption(error)
        raise click.ClickException(f"case {name!r} needs the module {error.name!r}, which is not installed") from error
    except Exception as error:  # an error in the case of another package must not affect the others
        _raise_interruption(error)
        raise click.ClickException(f"case {name!r} cannot be loaded: {error}") from error


def _raise_interruption(error: BaseException) -> None:
    """Raise the KeyboardInterrupt that caused an error, if any, as extension modules convert it to ImportError."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, KeyboardInterrupt):
            raise cause
        cause = cause.__cause__ or cause.__context__


def _command(name: str, case: Case[Any]) -> click.Command:
    """Command that runs the case ``name``, with an option for each of its parameters."""

    def callback(out: Path, **given: Any) -> None:
        values = {parameter.name: given.pop(parameter.name) for parameter in case.parameters}
        _run_and_list(name, case, values, out=out, **given)

    options = [_option(parameter) for parameter in case.parameters]
    return click.Command(
        name, callback=callback, params=[*_run_options(), *options], help=case.summary, epilog=epilog(case.summary)
    )


def _run_and_list(
    name: str,
    case: Case[Any],
    values: dict[str, Any],
    *,
    out: Path,
    force: bool,
    checkpoint: float | None,
    resume: bool,
    report: bool,
    checks: bool,
) -> None:
    """Run a case into a folder and print the paths of its results; raises ClickException for missing files."""
    if force and resume:
        raise click.UsageError("--resume continues the existing run, --force replaces it: give one of them only")
    checkpointing, reporting = CheckpointOptions(checkpoint, resume), ReportOptions(report, checks, repeating_command())
    written = run_case(name, case, out, force=force, values=values, checkpointing=checkpointing, reporting=reporting)
    print_lines(listed(written.paths, out))
    if written.missing:
        raise click.ClickException("; ".join(written.missing))


def _run_options() -> list[click.Parameter]:
    """Options shared by all runs."""
    return [
        click.Option(["--out"], type=Folder(), required=True, help="folder for the results"),
        click.Option(["--force"], is_flag=True, help="replace files in a folder that is not empty"),
        click.Option(
            ["--checkpoint"],
            type=click.FloatRange(min=0.0),
            metavar="SECONDS",
            help="keep finished steps in the folder every so many seconds",
        ),
        click.Option(
            ["--resume"], is_flag=True, help="continue the run from its checkpoints in the folder, or begin it"
        ),
        click.Option(
            ["--report/--no-report"], default=True, envvar=REPORT, help="write report.html  [default: report]"
        ),
        click.Option(["--checks"], is_flag=True, help="compare the case with its references, for the report"),
    ]


def _option(parameter: Parameter) -> click.Option:
    flag = parameter.name.replace("_", "-")
    unit = f" [{parameter.option.unit}]" if parameter.option.unit else ""
    return click.Option(
        [f"--{flag}/--no-{flag}" if parameter.kind is bool else f"--{flag}", parameter.name],
        type=click.Choice(parameter.choices) if parameter.choices else parameter.kind,
        default=parameter.default,
        show_default=True,
        help=parameter.option.help + unit,
    )
