"""Schedule of samples: submit them to an engine, await them, and resubmit those whose worker died.

A sample that runs while its process dies is retried alone, which separates the sample that kills its process from those
that only ran at the same time. After a bounded number of deaths it is recorded as failed.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import BrokenExecutor, Future
from dataclasses import replace
from queue import SimpleQueue

from .engines import Engine
from .records import Record, key
from .tasks import NotLoaded, NotStored, Outcome, Task, perform

LONGEST = 300
"""Largest length of an engine's message about a dead worker."""

Ended = Callable[[Task, Outcome], None]


class Schedule:
    """Samples in flight on an engine; ``ended`` is called with each one that ends."""

    def __init__(self, engine: Engine, retries: int, ended: Ended) -> None:
        self._engine, self._retries, self._ended = engine, retries, ended
        self._answers: SimpleQueue[Future[Outcome]] = SimpleQueue()
        self._running: dict[Future[Outcome], Task] = {}
        self._again: deque[Task] = deque()
        self._suspects: deque[Task] = deque()
        self._is_isolated = False
        self._deaths: Counter[str] = Counter()

    def follow(self, tasks: Iterable[Task]) -> None:
        """Perform all tasks and wait for their ends."""
        rest = iter(tasks)
        while self._supplied(rest):
            future = self._answers.get()
            task, error = self._running.pop(future), _error(future)
            if isinstance(error, BrokenExecutor):
                self._recover(task, error)
            elif not self._answered(task, future, error):
                self._died(task, error, self._again)

    def _supplied(self, rest: Iterator[Task]) -> bool:
        """Submit tasks up to the engine's window; return True if any are in flight."""
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
        """Restart the executor; mark the tasks in flight as suspects, or count a death if there was only one."""
        lost = [task]
        while self._running:
            future = self._answers.get()
            other, own = self._running.pop(future), _error(future)
            if not self._answered(other, future, own):
                lost.append(other)
        self._engine.renew(error)
        if len(lost) == 1:
            self._died(task, error, self._suspects)
        else:
            self._suspects.extend(lost)

    def _died(self, task: Task, error: BaseException | None, waiting: deque[Task]) -> None:
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
