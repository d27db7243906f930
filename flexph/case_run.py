"""Execution of a case: result folder, files, summary, and checkpoints."""

from __future__ import annotations

import math
import platform
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import click

from flexph.case import Case
from flexph.console.machine import json_text
from flexph.console.options import log
from flexph.files.durable import (
    TerminationRequest,
    deferred_signals,
    leftovers,
    publish,
    remove,
    staging,
    termination_interrupts,
)
from flexph.files.results_folder import CHECKPOINT, SUMMARY, FolderRefused, ResultsFolder
from flexph.results.unfinished import Unfinished

INTERRUPTED = 130
"""Exit status of a command ended by Ctrl-C, as in a shell."""

TERMINATED = 143
"""Exit status of a command ended by SIGTERM."""

DEFAULT_EVERY = 60.0
"""Default interval [s] between the checkpoints of a run that can be resumed."""

MANY = 5
"""Largest number of files in a subfolder that are listed one by one."""


@dataclass(frozen=True)
class CheckpointOptions:
    """Options for checkpoints of a run.

    ``every`` is the interval between checkpoints [s], None for no checkpoints; ``resume`` is True to continue a run.
    """

    every: float | None = None
    resume: bool = False

    def __post_init__(self) -> None:
        if self.every is not None and not math.isfinite(self.every):
            raise click.UsageError(f"--checkpoint must be a finite number of seconds, got {self.every}")


@dataclass(frozen=True)
class ReportOptions:
    """Options of the report of a run.

    ``report`` is True to write it, ``checks`` True to include the comparisons of the case with references, and
    ``command`` is the text of the command that repeats the run.
    """

    report: bool = True
    checks: bool = False
    command: str = ""


class WrittenFiles(NamedTuple):
    """Paths of the written files of a run, and a message on each output that could not be written."""

    paths: list[Path]
    missing: tuple[str, ...] = ()


def run_case(
    name: str,
    case: Case[Any],
    out: Path,
    *,
    force: bool,
    values: Mapping[str, Any],
    checkpointing: CheckpointOptions = CheckpointOptions(),
    reporting: ReportOptions = ReportOptions(report=False),
) -> WrittenFiles:
    """Compute a case and write its results and summary into a folder.

    Return the paths, and messages on outputs that could not be written.

    Files in a non-empty folder are replaced only with `force`, after all new files are written. A resumed run continues
    from its last checkpoint; a finished run is not computed again. Raises click's exceptions.
    """
    for module in case.needs:
        if find_spec(module) is None:
            advice = ': pip install "flexph[plot]"' if module == "matplotlib" else ""
            raise click.ClickException(f"case {name!r} needs the module {module!r}, which is not installed{advice}")
    existed, folder = out.exists(), ResultsFolder(out, _run_summary(name, case, values))
    every = (
        DEFAULT_EVERY
        if checkpointing.resume and checkpointing.every is None and not folder.is_kept
        else checkpointing.every
    )
    with termination_interrupts(), _refusals(out):
        left = [path.name for path in leftovers(out)]
        finished = folder.claim(force=force, resume=checkpointing.resume)
        if left:
            log.warning("removed what a killed run left: %s", ", ".join(left))
        if finished:
            return WrittenFiles(sorted(path for path in out.rglob("*") if path.is_file()))
        try:
            with folder.kept(every) as pieces:
                return _computed(name, case, values, folder=folder, every=pieces, reporting=reporting)
        except BaseException:
            if not existed and not any(
                path.is_file() for path in out.rglob("*")
            ):  # nothing was computed: remove the folder
                remove(out)
            raise


def _computed(
    name: str,
    case: Case[Any],
    values: Mapping[str, Any],
    *,
    folder: ResultsFolder,
    every: float | None,
    reporting: ReportOptions,
) -> WrittenFiles:
    """Compute a case, with checkpoints at intervals of ``every`` seconds unless None, and write its results."""
    from flexph.integration.times.options import runs_kept  # it loads scipy, which a list of cases does not need

    warned: list[str] = []
    with (
        _keep_unfinished(folder.path),
        nullcontext() if every is None else runs_kept(folder.checkpoint, every),
        _noted_warnings(warned),
    ):
        record, result = compute(name, case, values)
    with staging(folder.path) as part:
        try:
            figures = case.write(result, part)
        except BaseException:  # also for Ctrl-C: keep the written files, next to older results
            with deferred_signals():
                publish(part, folder.path / "unfinished")
            raise
        (part / SUMMARY).write_text(_summary(record, figures), encoding="utf-8")
        missing = _show(part, record, figures, result=result, case=case, reporting=reporting, warned=warned)
        return WrittenFiles(folder.publish(part), missing)


def _show(
    part: Path,
    record: Mapping[str, Any],
    figures: Mapping[str, Any],
    *,
    result: Any,
    case: Case[Any],
    reporting: ReportOptions,
    warned: Sequence[str],
) -> tuple[str, ...]:
    """Write the files for `flexph view` and the report; return a message on each that could not be written."""
    from flexph.report.reports import write_case_report
    from flexph.scenes.of_results import scenes_of, titled, write_scenes

    missing: list[str] = []
    scenes: Mapping[str, Any] = {}
    with _collect_failures("scene", missing):
        scenes = titled(scenes_of(result, case.scenes), record["case"])
        write_scenes(part, scenes)
    if reporting.report:
        checks = list(case.checks()) if reporting.checks else None
        about = {"summary": case.summary, "command": reporting.command, "warnings": warned, "checks": checks}
        views = {} if case.scenes is None else scenes  # runs have their own views
        with _collect_failures("report", missing):
            write_case_report(part, record, figures, result, about | {"scenes": views})
    return tuple(missing)


@contextmanager
def _collect_failures(kind: str, missing: list[str]) -> Iterator[None]:
    """Context manager that turns the failure of an additional output into a message in ``missing``."""
    try:
        yield
    except Exception as error:  # a failure here must not discard hours of computing
        missing.append(f"no {kind}: {type(error).__name__}: {error}")


@contextmanager
def _noted_warnings(noted: list[str]) -> Iterator[None]:
    """Context manager that appends the messages of displayed warnings to ``noted``."""
    with warnings.catch_warnings():
        shown = warnings.showwarning

        def note(message: Warning | str, *rest: Any, **options: Any) -> None:
            noted.append(str(message))
            shown(message, *rest, **options)

        warnings.showwarning = note
        yield


@contextmanager
def _refusals(out: Path) -> Iterator[None]:
    """Context manager that ends the command with a one-line error if the folder cannot be used or written."""
    try:
        yield
    except FolderRefused as error:
        raise click.UsageError(str(error)) from None
    except OSError as error:
        raise click.ClickException(f"{out}: {error.strerror or error}") from error


def _run_summary(name: str, case: Case[Any], values: Mapping[str, Any]) -> dict[str, Any]:
    return {"case": name, "parameters": {parameter.name: values[parameter.name] for parameter in case.parameters}}


def compute(name: str, case: Case[Any], values: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
    """Run a case; return the record of the run for the summary (settings, versions, time), and the result."""
    record = {
        **_run_summary(name, case, values),
        "versions": _versions(),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    clock = time.perf_counter()
    try:
        result = case.run(**values)
    except Unfinished:
        raise
    except ValueError as error:
        raise click.ClickException(" ".join(str(error).split())) from error
    except ArithmeticError as error:
        raise click.ClickException(str(error)) from error
    seconds = time.perf_counter() - clock
    log.info("%s: computed in %.3g s", name, seconds)
    return record | {"wall_s": round(seconds, 6)}, result


@contextmanager
def _keep_unfinished(out: Path) -> Iterator[None]:
    """Context manager that ends the command if a run fails or is interrupted, and saves the finished steps."""
    try:
        yield
    except Unfinished as error:
        path = _saved(error, out)
        said = str(error).replace(".solution", path.name)  # programs refer to .solution
        click.echo(f"{said}\nthe {len(error.solution.times)} saved instants are in {path}", err=True)
        if (out / CHECKPOINT).exists():
            click.echo("the same command with --resume continues from there", err=True)
        status = status_of(error) if isinstance(error, KeyboardInterrupt) else 1
        raise click.exceptions.Exit(status) from error


def _saved(error: Unfinished, out: Path) -> Path:
    """Save the finished steps of a run; return the path.

    If the result folder cannot be written, as on a full disk, they are saved in a new temporary folder.
    """
    from flexph.results.solution import Solution

    # without a scene, which calls the functions that may have ended the run
    plain = {"scene": False} if isinstance(error.solution, Solution) else {}
    try:
        path = out / "unfinished.h5"
        error.solution.save(path, **plain)
    except OSError:
        path = Path(tempfile.mkdtemp(prefix="flexph-")) / "unfinished.h5"
        error.solution.save(path, **plain)
    return path


def status_of(interruption: BaseException | None) -> int:
    """Exit status of an interrupted command: 143 after SIGTERM, otherwise 130."""
    while interruption is not None and not isinstance(interruption, TerminationRequest):
        interruption = interruption.__context__
    return INTERRUPTED if interruption is None else TERMINATED


def _versions() -> dict[str, str]:
    names = ("flexph", "numpy", "scipy", "scikit-fem", "meshio")
    return {"python": platform.python_version(), **{name: version(name) for name in names}}


def _summary(record: Mapping[str, Any], figures: Mapping[str, Any]) -> str:
    """Text of a JSON object with record and summary numbers; raises ValueError for a name that both use."""
    if clash := sorted(record.keys() & figures.keys()):
        raise ValueError(f"figures must not use the names {', '.join(clash)} of the summary")
    return json_text({**record, **figures}) + "\n"


def listed(paths: Sequence[Path], out: Path) -> list[str]:
    """Paths of files as lines of text; many files in one subfolder are one line with their number."""
    count = Counter(path.parent for path in paths)
    many = {folder for folder, number in count.items() if number > MANY and folder != out}
    lines = [str(path) for path in paths if path.parent not in many]
    return lines + [f"{folder}/ ({count[folder]} files)" for folder in sorted(many)]
