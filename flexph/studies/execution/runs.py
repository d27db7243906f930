"""Runs of a function with reusable records in a folder, which one process at a time locks.

If a process dies, all samples in progress are repeated one at a time, to find the sample that kills its process. After
a limited number of deaths a sample is recorded as failed.
"""

from __future__ import annotations

import json
import tempfile
import uuid
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from ...display.bars import progress
from ...files.durable import leftovers, locked, remove, staged, termination_interrupts
from ...files.results_folder import FolderRefused
from .engines import Engine, started
from .records import Record, key, read_record, record_path, tidy
from .subjects import StudyFunction
from .tasks import TOKEN, NotLoaded, NotStored, Outcome, Task, perform, store

STUDY, RECORDS = "study.json", "samples"


@contextmanager
def study_folder(path: Path, identity: Mapping[str, Any], *, resume: bool) -> Iterator[Path]:
    """Context manager with the folder of a study's records, which is locked until the end.

    Raises FolderRefused for a folder with files unless the study is resumed, for a folder of another study, and while
    another process uses it.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise FolderRefused(f"out must be a folder, got {str(path)!r}, which is a file") from None
    records = path / RECORDS
    if resume:
        _refuse_another(path, identity)
    elif any(path.iterdir()):
        going_on = "continue with --resume (resume=True), or " if (path / STUDY).is_file() else ""
        raise FolderRefused(f"{path} is not empty: {going_on}choose another folder")
    records.mkdir(exist_ok=True)
    try:
        with locked(records):
            for rest in leftovers(path):
                remove(rest)
            _write(path / STUDY, json.dumps(dict(identity), indent=1))
            if not (records / TOKEN).exists():
                _write(records / TOKEN, uuid.uuid4().hex)
            yield records.resolve()
    except BlockingIOError:
        raise FolderRefused(f"{path} is in use by another process") from None


def _write(path: Path, text: str) -> None:
    with staged(path) as part:
        part.write_text(text, encoding="utf-8")


def _refuse_another(path: Path, identity: Mapping[str, Any]) -> None:
    """Raise FolderRefused for a folder that belongs to another study or contains other files."""
    if not (path / STUDY).is_file():
        if foreign := {*path.iterdir()} - {*leftovers(path)} - {path / RECORDS}:
            names = ", ".join(sorted(entry.name for entry in foreign))
            raise FolderRefused(f"{path} is not the folder of a study ({names}): choose another folder")
        return
    try:
        there = json.loads((path / STUDY).read_text(encoding="utf-8"))
    except ValueError as error:
        raise FolderRefused(f"{path / STUDY} is damaged: {error}") from None
    for name, value in identity.items():
        if there.get(name) != value:
            what = "source of the function" if name == "source" else name
            differs = f"its {what} was {there.get(name)!r}, and is {value!r} now"
            raise FolderRefused(f"{path} is another study: {differs}; choose another folder")


@dataclass(frozen=True)
class StudyOptions:
    """Options of functions that compute many samples: folder, executor and repetitions, as in :func:`flexph.study`."""

    out: Path | None = None
    executor: Executor | str | None = None
    jobs: int | None = None
    resume: bool = False
    retries: int = 2
    retry_failed: bool = False


@dataclass(frozen=True)
class Runs:
    """Runs of a function by an engine, whose records are kept in a folder.

    ``token`` identifies the folder for workers.
    """

    study_function: StudyFunction
    engine: Engine
    folder: Path
    retries: int
    function: Any
    token: str

    def perform(self, samples: Iterable[Mapping[str, Any]], bar: Any = None) -> None:
        """Compute the samples that have no record yet, and store their records; ``bar`` is a progress bar."""

        def ended(task: Task, outcome: Outcome) -> None:
            if outcome.record is not None:
                store(self.folder, outcome.record)
            under_way.discard(key(task.parameters))
            if bar is not None:
                bar.failed += bool(outcome.error)
                bar.set_postfix_str(f"{bar.failed} failed" if bar.failed else "", refresh=False)
                bar.update()

        under_way: set[str] = set()
        Schedule(self.engine, self.retries, ended).follow(self._missing(samples, under_way))

    def record(self, parameters: Mapping[str, Any]) -> Record:
        """Record of a computed sample."""
        return read_record(record_path(self.folder, parameters))

    def records(self, samples: Sequence[Mapping[str, Any]]) -> list[Record]:
        """Records of samples; missing ones are computed first."""
        self.perform(samples)
        return [self.record(sample) for sample in samples]

    def is_there(self, parameters: Mapping[str, Any]) -> bool:
        """True if a sample has a record."""
        return record_path(self.folder, parameters).exists()

    def _missing(self, samples: Iterable[Mapping[str, Any]], under_way: set[str]) -> Iterator[Task]:
        for sample in samples:
            if (name := key(sample)) in under_way or self.is_there(sample):
                continue
            under_way.add(name)
            yield Task(self.function, sample, self.folder, self.token)


@contextmanager
def runs_of(study_function: StudyFunction, study_options: StudyOptions) -> Iterator[Runs]:
    """Context manager with the runs of a study function; without a folder the records are deleted at the end."""
    is_here = study_options.executor is None and study_options.jobs == 1
    function = study_function.function if is_here else study_function.pickled()
    with (
        _path(study_options.out) as path,
        study_folder(Path(path), study_function.identity(), resume=study_options.resume) as folder,
    ):
        if study_options.resume:
            tidy(folder, failed=study_options.retry_failed)
        with termination_interrupts(), started(study_options.executor, study_options.jobs) as engine:
            yield Runs(
                study_function, engine, folder, study_options.retries, function, (folder / TOKEN).read_text("utf-8")
            )


def progress_bar(total: int, *, shown: bool) -> Any:
    """Progress bar that appears after a second, estimates the remaining time, and counts failures."""
    bar: Any = progress(total=total, delay=1.0, shown=shown, unit="sample", smoothing=0.05)
    bar.failed = 0
    return bar


def _path(out: Path | None) -> Any:
    return tempfile.TemporaryDirectory(prefix="flexph-study-") if out is None else nullcontext(Path(out))


LONGEST = 300
"""Largest number of characters of an error, in the message on a worker that died."""

Ended = Callable[[Task, Outcome], None]


class Schedule:
    """Scheduler of samples on an engine, which repeats samples whose worker died.

    ``ended`` is called with each task that ends, and its outcome.
    """

    def __init__(self, engine: Engine, retries: int, ended: Ended) -> None:
        self._engine, self._retries, self._ended = engine, retries, ended
        self._answers: SimpleQueue[Future[Outcome]] = SimpleQueue()
        self._running: dict[Future[Outcome], Task] = {}
        self._again: deque[Task] = deque()
        self._suspects: deque[Task] = deque()
        self._is_isolated = False
        self._deaths: Counter[str] = Counter()

    def follow(self, tasks: Iterable[Task]) -> None:
        """Perform all tasks and wait until they end."""
        rest = iter(tasks)
        while self._submit_tasks(rest):
            future = self._answers.get()
            task, error = self._running.pop(future), _error(future)
            if isinstance(error, BrokenExecutor):
                self._recover(task, error)
            elif not self._answered(task, future, error):
                self._worker_died(task, error, self._again)

    def _submit_tasks(self, rest: Iterator[Task]) -> bool:
        """Submit tasks as far as the engine accepts more at once; return True if any are in progress.

        A task that is suspected to kill its worker is submitted alone.
        """
        if not self._running:
            self._is_isolated = bool(self._suspects)
            if self._is_isolated:
                self._give(self._suspects.popleft())
        while not (self._is_isolated or self._suspects) and len(self._running) < self._engine.window:
            task = self._again.popleft() if self._again else next(rest, None)
            if task is None or not self._give(task):
                break
        return bool(self._running)

    def _give(self, task: Task) -> bool:
        try:
            future = self._engine.submit(perform, task)
        except BrokenExecutor as error:
            self._again.appendleft(task)
            if self._running:  # the running tasks will report the broken executor
                return False
            self._engine.renew(error)
            return self._give(self._again.popleft())
        self._running[future] = task
        future.add_done_callback(self._answers.put)
        return True

    def _answered(self, task: Task, future: Future[Outcome], error: BaseException | None) -> bool:
        if isinstance(error, NotStored | NotLoaded):
            raise error
        if error is None:
            self._ended(task, future.result())
        return error is None

    def _recover(self, task: Task, error: BaseException) -> None:
        """Start a new executor after it broke, and decide which of the tasks in progress to repeat.

        ``task`` is the first with the error. If it was the only task in progress, its attempts are counted; otherwise
        all of them are suspected of having killed the process, and are repeated one at a time.
        """
        lost = [task]
        while self._running:
            future = self._answers.get()
            other, failure = self._running.pop(future), _error(future)
            if not self._answered(other, future, failure):
                lost.append(other)
        self._engine.renew(error)
        if len(lost) == 1:
            self._worker_died(task, error, self._suspects)
        else:
            self._suspects.extend(lost)

    def _worker_died(self, task: Task, error: BaseException | None, waiting: deque[Task]) -> None:
        """Queue a sample whose worker died for another attempt, or record it as failed."""
        self._deaths[name := key(task.parameters)] += 1
        if self._deaths[name] <= self._retries:
            waiting.append(replace(task, attempt=task.attempt + 1))
            return
        reason = " ".join(f"{type(error).__name__}: {error}".split())[:LONGEST]
        said = f"WorkerDied: its worker died {self._deaths[name]} times, at last by {reason}"
        self._ended(task, Outcome(said, Record(task.parameters, error=said)))


def _error(future: Future[Outcome]) -> BaseException | None:
    if future.cancelled():
        return InterruptedError("cancelled by the engine")
    return future.exception()
