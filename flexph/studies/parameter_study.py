"""Studies: a function at many samples of its parameters, on many processors, with nothing lost."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

from ..numerics import checks as check
from ..numerics.arguments import checked
from .dataset import write_dataset
from .execution.runs import Place, Runs, progress_bar, runs_of
from .execution.subjects import subject
from .samples import Samples, grid, table

DATASET = "study.nc"


@checked
def study(
    function: Callable[..., Any] | str,
    samples: Samples | Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]],
    *,
    out: Path | None = None,
    executor: Executor | str | None = None,
    jobs: int | None = None,
    resume: bool = False,
    retries: int = 2,
    retry_failed: bool = False,
    units: Mapping[str, str] | None = None,
    progress: bool = True,
) -> Any:
    """The values that a function returns at all samples of its parameters.

    Each sample is computed once and recorded as it finishes. One that raises is kept with its error, the others go on;
    one whose worker dies is computed again, alone, a bounded number of times. A study that was interrupted or killed
    goes on with what is missing by ``resume=True``; it may be given further samples then. The order in which samples
    finish does not change the result.

    Parameters
    ----------
    function : callable or str
        A function of parameters by name that returns a dict of values: numbers, texts, arrays, and dicts or lists of
        dicts of them; or the name of an installed case.
    samples : Samples, dict or list of dicts
        A dict of values by parameter is a full grid; a list of dicts is a table. See :mod:`flexph.studies` for others.
    out : path, optional
        Folder of the records and of ``study.nc``; without it nothing is kept on disk.
    executor : Executor or str, optional
        An executor of Python's futures, "dask://host:port" or "mpi"; processes of this machine by default.
    jobs : int, optional
        How many processes, by default one for each processor; 1: no other than this one. Of an executor: how many
        samples it is given at once.
    resume : bool
        Go on with the study in the folder, or begin it.
    retries : int
        How often a sample whose worker died is computed again before it counts as failed.
    retry_failed : bool
        Compute failed samples of the study in the folder again.
    units : dict, optional
        Units of values and parameters by name, which become their attributes.
    progress : bool
        Whether to show a bar, in terminals.

    Returns
    -------
    xarray.Dataset
        Parameters are coordinates, those of a grid dimensions; ``sample_status`` is "done" or "failed", with
        ``sample_error`` and ``sample_seconds``. It reads the file in ``out`` as far as it is used.

    Raises
    ------
    ValueError
        For parameters that the function does not have; a folder with files; that of another study.

    Examples
    --------
    >>> from flexph import study
    >>> def fall(height, gravity):
    ...     return {"time": (2.0 * height / gravity) ** 0.5}
    >>> falls = study(fall, {"height": [1.0, 4.0], "gravity": [2.0, 8.0]}, jobs=1)
    >>> falls.time.values
    array([[1. , 0.5],
           [2. , 1. ]])
    """
    own, points = subject(function), as_samples(samples)
    own.check_columns(points.columns)
    place = Place(out, executor, _count(jobs), resume, check.count("retries", retries, 0), retry_failed)
    with runs_of(own, place) as runs:
        _perform(runs, points, progress)
        return collected(runs, points, keep=out is not None, units=units)


def as_samples(given: Any) -> Samples:
    """Samples, or the grid or table that is given."""
    if isinstance(given, Samples):
        return given
    return grid(given) if isinstance(given, Mapping) else table(given)


def collected(runs: Runs, samples: Samples, *, keep: bool, units: Mapping[str, str] | None = None) -> Any:
    """The dataset of samples that have records: written beside them, and opened; or loaded, where it is not kept."""
    import xarray

    path = runs.folder.parent / DATASET
    write_dataset(path, runs.folder, samples, runs.subject, {**runs.subject.units, **(units or {})})
    opened = xarray.open_dataset if keep else xarray.load_dataset
    return opened(path, engine="h5netcdf")


def _perform(runs: Runs, samples: Samples, progress: bool) -> None:
    there = sum(map(runs.is_there, samples))
    with progress_bar(len(samples) - there, shown=progress) as bar:
        runs.perform(samples, bar)


def _count(jobs: int | None) -> int | None:
    return None if jobs is None else check.count("jobs", jobs)
