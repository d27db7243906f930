"""Evaluation of a function at many samples, or at parameters that an algorithm requests, with records on disk."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ..numerics import checks as check
from ..numerics.arguments import checked
from ..numerics.arrays import Array
from .dataset import write_dataset
from .execution.records import Record, key
from .execution.runs import Runs, StudyOptions, progress_bar, runs_of
from .execution.subjects import needed_xarray, subject
from .load_cases import CASE, Function, LoadCases, joined
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
    """Evaluate a function at all samples of its parameters.

    Each sample is computed once and recorded as it finishes. If the function raises an error, the sample is recorded
    with this error and the study continues; a sample whose worker dies is computed again, alone, a limited number of
    times. ``resume=True`` continues an interrupted study, also with further samples. The result does not depend on the
    order in which samples finish.

    Parameters
    ----------
    function : callable or str
        Function of named parameters that returns a dict of values: numbers, texts, arrays, and dicts or lists of dicts
        of these; or the name of an installed case.
    samples : Samples, dict or list of dicts
        Samples from :func:`flexph.studies.grid` or a similar function, a dict of values by parameter for a full grid,
        or a list of dicts for a table.
    out : path, optional
        Folder of the records and of ``study.nc``; by default they are deleted at the end.
    executor : Executor or str, optional
        Executor of Python's futures, "dask://host:port" or "mpi"; by default processes of this machine.
    jobs : int, optional
        Number of processes, by default one per processor; 1 for this process only. For an executor, number of samples
        that are submitted at once.
    resume : bool
        True to continue the study in the folder, or to start it.
    retries : int
        Number of repetitions of a sample whose worker died, before the sample counts as failed.
    retry_failed : bool
        True to recompute failed samples of the study in the folder.
    units : dict, optional
        Units of values and parameters by name, stored as attributes.
    progress : bool
        True to show a progress bar in terminals.

    Returns
    -------
    xarray.Dataset
        Parameters are coordinates, and dimensions for a grid; ``sample_status`` is "done" or "failed", with
        ``sample_error`` and ``sample_seconds``. Values are read from the file in ``out`` on access.

    Raises
    ------
    ValueError
        If the function has no such parameter, or the folder contains files or another study.

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
    study_function, points = subject(function), as_samples(samples)
    study_function.check_columns(points.columns)
    study_options = StudyOptions(out, executor, _count(jobs), resume, check.count("retries", retries, 0), retry_failed)
    with runs_of(study_function, study_options) as runs:
        _perform(runs, points, progress)
        return collected(runs, points, keep=out is not None, units=units)


def as_samples(given: Any) -> Samples:
    """Convert a grid or a table to samples; samples are returned unchanged."""
    if isinstance(given, Samples):
        return given
    return grid(given) if isinstance(given, Mapping) else table(given)


def collected(runs: Runs, samples: Samples, *, keep: bool, units: Mapping[str, str] | None = None) -> Any:
    """Write the dataset of the recorded samples next to their folder, and open it.

    ``keep`` is False to load it into memory, as the folder is temporary.
    """
    xarray = needed_xarray()
    path = runs.folder.parent / DATASET
    write_dataset(path, runs.folder, samples, runs.study_function, {**runs.study_function.units, **(units or {})})
    opened = xarray.open_dataset if keep else xarray.load_dataset
    return opened(path, engine="h5netcdf")


def _perform(runs: Runs, samples: Samples, progress: bool) -> None:
    there = sum(map(runs.is_there, samples))
    with progress_bar(len(samples) - there, shown=progress) as bar:
        runs.perform(samples, bar)


def _count(jobs: int | None) -> int | None:
    return None if jobs is None else check.count("jobs", jobs)


class Evaluations:
    """Runs of a function at real parameters that an algorithm requests; each run is recorded and none is repeated."""

    def __init__(self, runs: Runs, keep: bool, cases: Sequence[str] = ()) -> None:
        self._runs, self._keep, self._cases = runs, keep, cases
        self._samples: dict[str, dict[str, float]] = {}
        self._finished: dict[str, Record] = {}
        self._watcher: Callable[[], None] | None = None

    def watch(self, watcher: Callable[[], None]) -> None:
        """Set a function that is called after each request that led to new runs."""
        self._watcher = watcher

    @property
    def finished(self) -> list[Record]:
        """Records of the runs so far."""
        return list(self._finished.values())

    @property
    def samples(self) -> list[dict[str, float]]:
        """Parameters of the runs so far."""
        return list(self._samples.values())

    def has(self, sample: Mapping[str, float]) -> bool:
        """True if a run with these parameters was requested before."""
        return key(sample) in self._samples

    def records(self, samples: Sequence[Mapping[str, float]]) -> list[Record]:
        """Records of samples; missing ones are computed concurrently."""
        plain = [{name: float(value) for name, value in sample.items()} for sample in samples]
        keys = [key(sample) for sample in plain]
        self._samples |= dict(zip(keys, plain, strict=True))
        if new := [sample for name, sample in zip(keys, plain, strict=True) if name not in self._finished]:
            self._finished |= {key(record.parameters): record for record in self._computed(new)}
            if self._watcher is not None:
                self._watcher()
        return [self._finished[name] for name in keys]

    def _computed(self, samples: Sequence[Mapping[str, float]]) -> list[Record]:
        """Records of the given samples, in their order; missing runs are computed. Records of load cases are joined."""
        if not self._cases:
            return self._runs.records(samples)
        every = iter(self._runs.records(self._of_cases(samples)))
        return [joined(sample, {case: next(every) for case in self._cases}) for sample in samples]

    def _of_cases(self, samples: Sequence[Mapping[str, float]]) -> list[dict[str, Any]]:
        """Samples of load cases: for each sample and each load case, the sample with the name of the case."""
        if not self._cases:
            return [dict(sample) for sample in samples]
        return [{**sample, CASE: case} for sample in samples for case in self._cases]

    def values(self, samples: Sequence[Mapping[str, float]]) -> list[Mapping[str, Array]]:
        """Values at samples; raises ArithmeticError if a run fails."""
        records = self.records(samples)
        for record in records:
            if record.error:
                raise ArithmeticError(f"the run at {text_of(record.parameters)} failed: {record.error}")
        return [record.values for record in records]

    def dataset(self) -> Any:
        """All runs so far as an xarray.Dataset."""
        return collected(self._runs, table(self._of_cases(self.samples)), keep=self._keep)


@contextmanager
def evaluations(function: Function, names: Sequence[str], study_options: StudyOptions) -> Iterator[Evaluations]:
    """Context manager with the evaluations of a function, a case or several load cases.

    ``names`` are those of the parameters; ValueError is raised if the function does not have them.
    """
    cases: list[str] = []
    if isinstance(function, Mapping):
        if not function:
            raise ValueError("function must have at least one load case by name, got none")
        for of_case in function.values():
            subject(of_case).check_names(names)
        study_function, cases = subject(LoadCases(function)), list(function)
    else:
        study_function = subject(function)
        study_function.check_names(names)
    with runs_of(study_function, study_options) as runs:
        yield Evaluations(runs, study_options.out is not None, cases)


def value_of(values: Mapping[str, Array], name: str) -> Array:
    """Named value of a run as real numbers; raises ValueError for a missing value or other types."""
    array = check.lookup("value", name, values, "a run")
    if array.dtype.kind not in "fib":
        raise ValueError(f"the value {name!r} must be numbers, got {check.shown(array.tolist())}")
    return np.asarray(array, dtype=float)


def text_of(parameters: Mapping[str, Any]) -> str:
    """Text with the parameters, for messages."""
    return ", ".join(f"{name} = {value:.6g}" for name, value in parameters.items())
