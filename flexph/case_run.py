"""Running a case into a folder: its files, its summary, and what is kept of a run that ends early."""

from __future__ import annotations

import json
import math
import platform
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
import numpy as np

from flexph.case import Case
from flexph.results.unfinished import Unfinished

INTERRUPTED = 130
"""Exit status of a command that Ctrl-C ended, as in a shell."""

MANY = 5
"""Files of a folder below the results up to which they are listed one by one."""


def run_case(name: str, case: Case[Any], out: Path, *, force: bool, values: Mapping[str, Any]) -> list[Path]:
    """Compute a case, and write its results and its summary into a folder; returns the paths of the files.

    Files in a folder that is not empty are replaced if forced, once everything is written. Raises click's exceptions.
    """
    for module in case.needs:
        if find_spec(module) is None:
            raise click.ClickException(f"case {name!r} needs the module {module!r}, which is not installed")
    existed = out.exists()
    _claim(out, force)
    try:
        with _keep_unfinished(out):
            record, result = compute(name, case, values)
    except BaseException:
        if not existed and not any(out.iterdir()):  # nothing was computed: leave nothing behind
            out.rmdir()
        raise
    with tempfile.TemporaryDirectory(prefix=".flexph-", dir=out) as temporary:
        staging = Path(temporary)
        try:
            figures = case.write(result, staging)
        except BaseException:  # also Ctrl-C: what is written is kept, beside older results
            _publish(staging, out / "unfinished")
            raise
        (staging / "summary.json").write_text(_summary(record, figures), encoding="utf-8")
        return _publish(staging, out)


def _claim(out: Path, force: bool) -> None:
    """Make the folder, and refuse one with files unless forced: before computing, which may take hours."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        if any(out.iterdir()) and not force:
            raise click.UsageError(f"{out} is not empty: choose another folder, or replace its files with --force")
    except OSError as error:
        raise click.ClickException(f"{out}: {error.strerror}") from error


def compute(name: str, case: Case[Any], values: Mapping[str, Any]) -> tuple[dict[str, Any], Any]:
    """Run a case; return what the summary says about the run, and the result."""
    record = {
        "case": name,
        "parameters": {parameter.name: values[parameter.name] for parameter in case.parameters},
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
    return record | {"wall_s": round(time.perf_counter() - clock, 6)}, result


@contextmanager
def _keep_unfinished(out: Path) -> Iterator[None]:
    """Save the finished steps of a run that could not go on."""
    try:
        yield
    except Unfinished as error:
        path = out / "unfinished.h5"
        error.solution.save(path)
        click.echo(f"{error}\nthe {len(error.solution.times)} saved instants are in {path}", err=True)
        status = INTERRUPTED if isinstance(error, KeyboardInterrupt) else 1
        raise click.exceptions.Exit(status) from error


def _versions() -> dict[str, str]:
    names = ("flexph", "numpy", "scipy", "scikit-fem", "meshio")
    return {"python": platform.python_version(), **{name: version(name) for name in names}}


def _summary(record: Mapping[str, Any], figures: Mapping[str, Any]) -> str:
    """Return record and figures as one JSON object."""
    if clash := sorted(record.keys() & figures.keys()):
        raise ValueError(f"the summary needs the names {', '.join(clash)} itself: name these figures otherwise")
    return json.dumps({**record, **_plain(figures)}, indent=2, ensure_ascii=False, allow_nan=False) + "\n"


def _plain(value: Any) -> Any:
    """Return a value as JSON can hold it: arrays become lists, and numbers that are not finite null."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, np.ndarray | np.generic):
        return _plain(value.tolist())
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _publish(staging: Path, out: Path) -> list[Path]:
    """Move the files of one folder into another, replacing those of the same name; return their new paths."""
    sources = sorted(path for path in staging.rglob("*") if path.is_file())
    targets = [out / source.relative_to(staging) for source in sources]
    for source, target in zip(sources, targets, strict=True):
        target.parent.mkdir(parents=True, exist_ok=True)
        source.replace(target)
    return targets


def listed(paths: Sequence[Path], out: Path) -> list[str]:
    """Paths for reading: a folder of many files below the results is one line."""
    count = Counter(path.parent for path in paths)
    many = {folder for folder, number in count.items() if number > MANY and folder != out}
    lines = [str(path) for path in paths if path.parent not in many]
    return lines + [f"{folder}/ ({count[folder]} files)" for folder in sorted(many)]
