"""Executors of samples: local processes, Dask, MPI, or any executor of Python's futures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import contextmanager
from typing import Any

from ...numerics import checks as check

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
"""Environment variables that limit a worker to one thread: samples already use all cores, and further threads would
only compete."""

AHEAD = 2
"""Samples submitted per process: one is computed while the next one waits."""

IDLE = 30.0
"""Seconds without samples after which a worker ends, also if its parent process was killed."""

MANY = 1000
"""Number of samples that are submitted at once to an executor of the user; more would only use memory."""


class Engine:
    """Executor of Python's futures with ``window``, the number of samples that are submitted at once.

    ``renewed`` starts a new executor if this one broke; None for an executor of the caller.
    """

    def __init__(self, executor: Executor, window: int, renewed: Callable[[], Executor] | None = None) -> None:
        self._executor, self.window, self._renewed = executor, window, renewed

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Submit a call to the executor."""
        return self._executor.submit(function, *arguments)

    def renew(self, error: BaseException) -> None:
        """Replace a broken executor; raises BrokenExecutor, caused by ``error``, if it belongs to the caller."""
        if self._renewed is None:
            raise BrokenExecutor(
                f"the executor broke ({error}): finished samples are kept, continue with another and resume=True"
            ) from error
        self._executor = self._renewed()

    def close(self, *, at_once: bool) -> None:
        """End the processes started by this engine, immediately (``at_once``) or after their current samples."""
        if self._renewed is not None:
            self._executor.shutdown(kill_workers=at_once)  # type: ignore[call-arg]


class InThisProcess(Executor):
    """Executor that runs calls synchronously in this process."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        """Run a call and return its finished future."""
        future: Future[Any] = Future()
        try:
            future.set_result(function(*arguments, **named))
        except Exception as error:
            future.set_exception(error)
        return future


@contextmanager
def started(executor: Executor | str | None, jobs: int | None) -> Iterator[Engine]:
    """Context manager with an engine for samples, from an executor or the text "dask://host:port" or "mpi".

    Without either, it starts ``jobs`` local processes, or uses this process if ``jobs`` is 1.
    """
    if isinstance(executor, str):
        with _by_name(executor) as named:
            yield Engine(named, jobs or MANY)
    elif executor is not None:
        yield Engine(executor, jobs or MANY)
    elif jobs == 1:
        yield Engine(InThisProcess(), 1)
    else:
        with _processes(jobs) as engine:
            yield engine


@contextmanager
def _processes(jobs: int | None) -> Iterator[Engine]:
    from loky import ProcessPoolExecutor, cpu_count

    count = jobs or cpu_count()

    def start() -> Executor:
        pool: Executor = ProcessPoolExecutor(count, timeout=IDLE, env=dict.fromkeys(THREADS, "1"))
        return pool

    engine = Engine(start(), AHEAD * count, start)
    try:
        yield engine
    except BaseException:
        engine.close(at_once=True)
        raise
    engine.close(at_once=False)


@contextmanager
def _by_name(name: str) -> Iterator[Executor]:
    """Context manager with an executor for the text "dask://host:port" or "mpi". Raises ValueError for other texts."""
    kind, _, address = name.partition("://")
    if kind == "dask" and address:
        Client = _needed("distributed", "dask").Client
        with Client(f"tcp://{address}", set_as_default=False) as client:
            yield client.get_executor(pure=False)
    elif name == "mpi":
        with _needed("mpi4py.futures", "mpi").MPIPoolExecutor() as pool:
            yield pool
    else:
        raise ValueError(f"executor must be 'dask://host:port', 'mpi' or an executor, got {check.shown(name)}")


def _needed(module: str, extra: str) -> Any:
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError as error:
        raise ValueError(f"executor needs the module {module!r}: pip install 'flexph[{extra}]' ({error})") from error
