"""What samples are computed by: processes of this machine, Dask, MPI, or any executor of Python's futures."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import BrokenExecutor, Executor, Future
from contextlib import contextmanager
from typing import Any

from ...numerics import checks as check

THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS")
"""Variables that hold a worker to one thread: samples keep all cores busy, further threads only wait for each other."""

AHEAD = 2
"""Samples per process that are given to it at once: while one is computed the next one is there."""

IDLE = 30.0
"""Seconds after which a worker without samples ends: also that of a process that was killed."""

MANY = 1000
"""Samples that are given at once to an executor of unknown size; more would only fill the memory."""


class Engine:
    """An executor, and how many samples it is given at once; ``renewed`` starts another where it broke."""

    def __init__(self, executor: Executor, window: int, renewed: Callable[[], Executor] | None = None) -> None:
        self._executor, self.window, self._renewed = executor, window, renewed

    def submit(self, function: Callable[..., Any], *arguments: Any) -> Future[Any]:
        """Give a call to the executor."""
        return self._executor.submit(function, *arguments)

    def renew(self, error: BaseException) -> None:
        """Go on with another executor; raises ``error`` as that of an executor that was given."""
        if self._renewed is None:
            raise BrokenExecutor(
                f"the executor broke ({error}): finished samples are kept, go on with another one and resume=True"
            ) from error
        self._executor = self._renewed()

    def close(self, *, at_once: bool) -> None:
        """End processes that were started here, after what they are computing or at once."""
        if self._renewed is not None:
            self._executor.shutdown(kill_workers=at_once)  # type: ignore[call-arg]


class InThisProcess(Executor):
    """Calls that are made where they are given."""

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **named: Any) -> Future[Any]:
        """The finished call."""
        future: Future[Any] = Future()
        try:
            future.set_result(function(*arguments, **named))
        except Exception as error:
            future.set_exception(error)
        return future


@contextmanager
def started(executor: Executor | str | None, jobs: int | None) -> Iterator[Engine]:
    """The engine that is asked for: an executor, "dask://host:port", "mpi", or so many processes of this machine."""
    if isinstance(executor, str):
        with _by_name(executor) as named:
            yield Engine(named, jobs or MANY)
    elif executor is not None:
        yield Engine(executor, jobs or MANY)
    elif jobs == 1:
        yield Engine(InThisProcess(), 1)
    else:
        with _processes(jobs) as own:
            yield own


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
    """An executor of another package, closed at the end."""
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
