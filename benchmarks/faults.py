"""Faults on purpose, and counts of what they do: kills, full disks, hostile files, wrong arguments.

Each part prints what it finds when it finds it, and its counts after every tenth. What one process may take is limited
by processor time: others may be at work on the machine.
"""

import argparse
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import chdir, redirect_stdout
from dataclasses import fields, is_dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

import rigid
from cases.crank_slider import crank_slider
from cases.four_particle_system import START, four_particles
from flexph import GROUND, Checkpoint, cli, connect, hinge, integrate
from flexph.case import Case
from flexph.export.tables import write_table
from flexph.files.hdf5 import write_hdf5
from flexph.files.trees import read_tree
from flexph.methods import DiscreteGradient, Exact, Gauss
from flexph.results.result import Result

T = TypeVar("T")
EVERY = 0.05
"""Seconds between the pieces of checkpoints: many in runs that take one."""
GROWTH = 1.3
"""Length of the time in which a kill is drawn, over that of the run: some come while tables are written."""
LONGEST, WAITING = 120, 1800
"""Seconds after which a process hangs: of processor time, and by the clock where it waits."""
PUBLISHED = ("crank-slider", "--no-report")
"""The published case that is killed now and then: it draws for seconds what it computes in tenths."""
HUNG = (-signal.SIGXCPU, -signal.SIGALRM)
"""How one ends that hangs."""


# --- runs --------------------------------------------------------------------------------------------------------


@cache
def rod() -> tuple[Any, Any]:
    """The crank-slider of the case, and its start."""
    mechanism = crank_slider(8, "linear")
    return mechanism, mechanism.consistent_state(mechanism.assemble({"crank": (0.0, 0.0, 0.0)}))


@cache
def pendulum() -> tuple[Any, Any]:
    """Two bars, one hung on the other."""
    bars = {name: rigid.bar(0.5, 0.8) for name in ("upper", "lower")}
    hinges = [hinge("upper.root", GROUND.at(0.0, 0.0)), hinge("lower.root", "upper.tip")]
    mechanism = connect(bars, hinges, gravity=(0.0, -9.81))
    return mechanism, mechanism.consistent_state(
        mechanism.assemble({"upper": (0.0, 0.0, 0.0), "lower": (0.5, 0.0, 0.0)})
    )


particles = cache(partial(four_particles, 1.0))


def of_rod(**options: Any) -> Any:
    """Blocks of steps."""
    return integrate(*rod(), np.linspace(0.0, 0.1, 10_001), save_every=7, progress=False, **options)


def of_pendulum(**options: Any) -> Any:
    """Steps with an event and observations."""
    times, events = np.linspace(0.0, 10.0, 4001), {"level": lambda t, x: x["upper.centre"][1]}
    place = lambda t, x: x["lower.centre"]  # noqa: E731
    return integrate(*pendulum(), times, events=events, observe=place, progress=False, **options)


def of_pendulum_under_control(**options: Any) -> Any:
    """Steps chosen by their error."""
    return integrate(*pendulum(), np.linspace(0.0, 1.5, 11), method=Exact(tolerance=1e-6), progress=False, **options)


def of_particles(**options: Any) -> Any:
    """Steps of particles in loops."""
    times = np.linspace(0.0, 40.0, 8001)
    return integrate(particles(), START, times, method=DiscreteGradient(), progress=False, **options)


def of_particles_by_collocation(**options: Any) -> Any:
    """Steps of a general system, by its functions."""
    return integrate(particles(), START, np.linspace(0.0, 2.0, 201), method=Gauss(4), progress=False, **options)


RUNS = (of_rod, of_pendulum, of_pendulum_under_control, of_particles, of_particles_by_collocation)


def differences(a: Any, b: Any, path: str = "") -> list[str]:
    """Names of the numbers in which two results differ in any bit."""
    if is_dataclass(a):
        names = [f.name for f in fields(a) if f.name not in ("mechanism", "system")]
        return [d for name in names for d in differences(getattr(a, name), getattr(b, name), f"{path}/{name}")]
    if hasattr(a, "items"):
        own = [] if list(a) == list(b) else [path]
        return own or [d for name in a for d in differences(a[name], b[name], f"{path}/{name}")]
    same = np.array_equal(a, b, equal_nan=True) if isinstance(a, np.ndarray) else a == b
    return [] if same else [path]


# --- processes ---------------------------------------------------------------------------------------------------


def child(work: Callable[[], int | None]) -> int:
    """The number of a process that does the work and ends with its status, without output."""
    sys.stdout.flush()
    number = os.fork()
    if not number:
        status = 99
        resource.setrlimit(resource.RLIMIT_CPU, (LONGEST, resource.RLIM_INFINITY))
        signal.alarm(WAITING)
        try:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, 1)
            os.dup2(null, 2)
            warnings.simplefilter("ignore")
            status = int(work() or 0)
        finally:
            os._exit(status)
    return number


def status_of(number: int) -> int:
    """How a process ended, negative for a signal."""
    return os.waitstatus_to_exitcode(os.waitpid(number, 0)[1])


def command(*words: object) -> int:
    """The status of a command line."""
    try:
        cli.main([str(word) for word in words])
    except SystemExit as end:
        return int(end.code or 0)
    return 0


# --- kills -------------------------------------------------------------------------------------------------------


class LibraryRun:
    """A run by a script: ``integrate`` with a checkpoint, and ``save``."""

    def __init__(self, run: Callable[..., Any]) -> None:
        self.run, self.expected = run, run()

    def __str__(self) -> str:
        return self.run.__name__

    def begin(self, folder: Path) -> None:
        """What the script does, the first time and again."""
        self.run(checkpoint=Checkpoint(folder / "run", EVERY, resume=True)).save(folder / "result.h5")

    resume = begin

    def unreadable(self, folder: Path) -> int:
        """Files that cannot be read after a kill."""
        return sum(not _reads(path) for path in folder.rglob("[0-9r]*.h5") if "/." not in str(path))

    def differs(self, folder: Path) -> bool:
        """Whether the result has other bits."""
        expected: Result = self.expected
        system = getattr(expected, expected.SYSTEM)
        return bool(differences(expected, type(expected).load(folder / "result.h5", system)))


def two_runs() -> tuple[Any, Any]:
    """Two short runs one after the other."""
    return of_pendulum(), of_particles_by_collocation()


def write_two_runs(runs: tuple[Any, Any], folder: Path) -> dict[str, Any]:
    """The runs and tables of their states."""
    for name, run in zip(("pendulum", "particles"), runs, strict=True):
        run.save(folder / f"{name}.h5")
        write_table(folder / f"{name}.csv", {f"state {k}": column for k, column in enumerate(run.states.T)})
    return {}


case = Case(two_runs, write_two_runs, checks=list, scenes=lambda runs: {})
"""A case that spends its time in runs that are kept, where the published ones draw pictures."""
REGISTERED = {
    "entry_points.txt": "[flexph.cases]\ntwo-runs = __main__:case\n",
    "METADATA": "Name: faults\nVersion: 0\n",
}


def register(folder: Path) -> None:
    """Register the case as an installed distribution does."""
    told = folder / "faults-0.dist-info"
    told.mkdir()
    for name, text in REGISTERED.items():
        (told / name).write_text(text)
    sys.path.append(str(folder))


class CommandRun:
    """``flexph run CASE --checkpoint``; SIGTERM must end it as Ctrl-C does."""

    def __init__(self, folder: Path, *words: object) -> None:
        self.words = words
        with open(os.devnull, "w") as null, redirect_stdout(null):  # here: what it imports, processes need not import
            command("run", *words, "--out", folder)
        self.tables = {path.name: path.read_bytes() for path in folder.glob("*.csv")}

    def __str__(self) -> str:
        return " ".join(map(str, ("flexph run", *self.words)))

    def begin(self, folder: Path) -> int:
        """The command."""
        return command("run", *self.words, "--out", folder, "--checkpoint", EVERY)

    def resume(self, folder: Path) -> int:
        """The command that goes on."""
        return command("run", *self.words, "--out", folder, "--resume")

    def unreadable(self, folder: Path) -> int:
        """Files that cannot be read after a kill."""
        return sum(not _reads(path) for path in folder.rglob("*.h5") if "/." not in str(path))

    def differs(self, folder: Path) -> bool:
        """Whether a byte of a table is another, or something else is left."""
        left = list(folder.glob(".*")) + list(folder.glob("unfinished*")) + list(folder.glob("checkpoint"))
        return bool(left) or self.tables != {path.name: path.read_bytes() for path in folder.glob("*.csv")}


def _reads(path: Path) -> bool:
    """Whether a piece, or a saved run, can be read."""
    import h5py

    try:
        if path.stem.isdigit():
            read_tree(path)
        else:
            with h5py.File(path) as file:
                file.visititems(lambda _, item: item[()].size * 0 if isinstance(item, h5py.Dataset) else None)
    except (OSError, RuntimeError):
        return False
    return True


def kill(work: Any, folder: Path, number: int, *, draw: Callable[[], float]) -> Counter[str]:
    """A run that is ended at a random moment, again where it had ended before, and resumed to its end."""
    counts: Counter[str] = Counter()
    while True:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        process = child(lambda: work.begin(folder))
        time.sleep(draw())
        os.kill(process, number)
        ended = status_of(process)
        if ended != 0:
            break
        counts["ended before"] += 1
    counts[f"ended by status {ended}"] += 1
    counts["unreadable files"] += work.unreadable(folder)
    counts["pieces there"] += len(list(folder.rglob("0*.h5")))
    status = status_of(child(lambda: work.resume(folder)))
    if status:
        print(f"  {work} resumed ends with status {status}")
        counts["hangs" if status in HUNG else "not resumed"] += 1
    elif work.differs(folder):
        print(f"  {work} resumed has other bits")
        counts["other bits"] += 1
    counts["runs"] += 1
    return counts


def kills(count: int, terms: int, seed: int) -> bool:
    """SIGKILL and SIGTERM at random moments of checkpointed runs; whether nothing was lost."""
    print(f"{count} SIGKILL, {terms} SIGTERM at random moments of {2 + len(RUNS)} checkpointed runs (seed {seed})")
    random, total = np.random.default_rng(seed), Counter[str]()
    with tempfile.TemporaryDirectory(prefix="flexph-faults-") as place:
        folder = Path(place)
        register(folder)
        short, published = CommandRun(folder / "short", "two-runs"), CommandRun(folder / "long", *PUBLISHED)
        works = [*map(LibraryRun, RUNS), short]
        plan = [(works[k % len(works)] if k % 20 else published, signal.SIGKILL) for k in range(count)]
        plan += [(short if k % 5 else published, signal.SIGTERM) for k in range(terms)]
        lengths = {work: _length(work, folder / "timed") for work in (*works, published)}
        for work, number in watched(plan, total):
            total += kill(work, folder / "run", number, draw=partial(random.uniform, 0.0, GROWTH * lengths[work]))
    return _told(total, zero=("not resumed", "unreadable files", "other bits", "hangs"))


def _length(work: Any, folder: Path) -> float:
    """Seconds that a run takes by the clock, the shorter of two."""
    lengths = []
    for _ in range(2):
        folder.mkdir()
        clock = time.perf_counter()
        status_of(child(partial(work.begin, folder)))
        lengths.append(time.perf_counter() - clock)
        shutil.rmtree(folder)
    return min(lengths)


# --- full disks --------------------------------------------------------------------------------------------------


def full_save(run: Result, limit: int, folder: Path) -> int:
    """A save onto a disk that is full after so many bytes: 0 if it raises, nothing is lost, and it works later."""
    path = folder / "run.h5"
    write_hdf5(path, lambda file: file.attrs.update(older=1))
    before = path.read_bytes()
    _limit(limit)
    try:
        run.save(path)
    except OSError:
        if path.read_bytes() != before or list(folder.iterdir()) != [path]:
            return 2
    else:
        return 3
    _limit(resource.RLIM_INFINITY)
    run.save(path)
    return 4 * bool(differences(run, type(run).load(path, getattr(run, run.SYSTEM))))


def full_checkpoint(run: Callable[..., Any], expected: Any, limit: int, folder: Path) -> int:
    """A run whose checkpoint meets a full disk: 0 if it ends with the same bits, and goes on from what there is."""
    _limit(limit)
    again = run(checkpoint=Checkpoint(folder / "run", EVERY, resume=True))
    _limit(resource.RLIM_INFINITY)
    later = run(checkpoint=Checkpoint(folder / "run", EVERY, resume=True))
    return 2 * bool(differences(expected, again) or differences(expected, later))


def full_command(limit: int, folder: Path) -> int:
    """A command that meets a full disk: 0 if it ends with status 1, and goes on when there is room."""
    words = ("run", "two-runs", "--out", folder / "out")
    _limit(limit)
    status = command(*words, "--checkpoint", EVERY)
    _limit(resource.RLIM_INFINITY)
    if status != 1 or (folder / "out" / "summary.json").exists():
        return 2
    return 3 * bool(command(*words, "--resume"))


def _size(run: Result) -> int:
    """Bytes of the file of a run."""
    with tempfile.TemporaryDirectory(prefix="flexph-faults-") as place:
        path = Path(place) / "run.h5"
        run.save(path)
        return path.stat().st_size


def _limit(size: int) -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


def disks(count: int, seed: int) -> bool:
    """Limits of the size of files in place of full disks; whether nothing crashed and nothing was lost."""
    print(f"{count} full disks: saves of two runs, checkpoints, and the command line (seed {seed})")
    random, total = np.random.default_rng(seed), Counter[str]()
    solution, trajectory = of_rod(), of_particles_by_collocation()
    sizes = [_size(run) for run in (solution, trajectory)]
    works: list[tuple[str, Callable[[int, Path], int], int]] = [
        ("saves of a solution", partial(full_save, solution), sizes[0]),
        ("saves of a trajectory", partial(full_save, trajectory), sizes[1]),
        ("checkpoints", partial(full_checkpoint, of_particles_by_collocation, trajectory), sizes[1]),
        ("commands", full_command, sizes[1]),
    ]
    registered = tempfile.TemporaryDirectory(prefix="flexph-faults-")
    register(Path(registered.name))
    for k in watched(range(count), total):
        name, work, size = works[(0, 1, 0, 1, 2, 0, 1, 0, 1, 3)[k % 10]]
        limit = int(size ** random.random()) - 1  # from nothing to all but one byte
        with tempfile.TemporaryDirectory(prefix="flexph-faults-") as place:
            status = status_of(child(partial(work, limit, Path(place))))
        total[name] += 1
        total["crashes"] += (status < 0 and status not in HUNG) or status == 99
        total["hangs"] += status in HUNG
        total["lost or wrong"] += 0 < status < 99
        if status:
            print(f"  {name} at {limit} bytes: status {status}")
    return _told(total, zero=("crashes", "lost or wrong", "hangs"))


def files(count: int, seed: int) -> bool:
    """Damaged files of every format that is read, see ``tests/fuzz/files.py``."""
    print(f"{count} hostile files (seed {seed})")
    tests = Path(__file__).parents[1] / "tests"
    sys.path[:0] = [str(tests / "fuzz"), str(tests / "samples")]
    from files import files as outcomes  # of the tests

    known, counts = ("refused", "unchanged", "another"), Counter[str]()
    for k, own in watched(list(enumerate(_tenths(count))), counts):
        found = outcomes(own, first=seed * 100_000 + k * 10_000)
        counts += Counter({name: number for name, number in found.items() if name in known})
        counts["crashes or accepted damage"] += sum(number for name, number in found.items() if name not in known)
        for name in found.keys() - {*known}:
            print(f"  {name}")
    return _told(counts, zero=("crashes or accepted damage",))


# --- calls -------------------------------------------------------------------------------------------------------


def calls(count: int, seed: int) -> bool:
    """Random wrong arguments to every public function, see ``tests/fuzz/public_calls.py``."""
    print(f"{count} calls with a wrong argument (seed {seed})")
    sys.path[:0] = [str(Path(__file__).parents[1] / "tests" / "fuzz")]
    from hostile import fuzz  # of the tests

    bad, counts = ("raw", "silent", "hangs"), Counter[str]()
    with tempfile.TemporaryDirectory() as folder, chdir(folder):  # what accepts a path writes there
        for k, own in watched(list(enumerate(_tenths(count))), counts):
            for kind, found in fuzz(own, 100 * seed + k).items():
                counts[kind] += found.total()
                for said, times in found.items() if kind in bad else ():
                    print(f"  {kind}: {said} ({times} times)")
    return _told(counts, zero=bad)


def damaged(data: bytes, rng: np.random.Generator) -> bytes:
    """A file with some of its bytes changed, cut off, or with other contents."""
    place = int(rng.integers(len(data)))
    changed = data[:place] + bytes([data[place] ^ int(rng.integers(1, 256))]) + data[place + 1 :]
    return (changed, data[:place], rng.bytes(len(data)), b"", data + data[:place])[int(rng.integers(5))]


def watched(over: Sequence[T], counts: Counter[str]) -> Iterator[T]:
    """The entries one by one, and after every tenth of them the counts so far."""
    clock = time.perf_counter()
    for k, entry in enumerate(over, 1):
        yield entry
        if k * 10 // len(over) > (k - 1) * 10 // len(over):
            used = sum(sum(resource.getrusage(whose)[:2]) for whose in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
            so_far = ", ".join(f"{name} {number}" for name, number in sorted(counts.items()))
            passed = f"{time.perf_counter() - clock:.0f} s, {used:.0f} s of processor time"
            print(f"  {k} of {len(over)} after {passed}: {so_far}")


def _tenths(count: int) -> list[int]:
    """A number in ten parts."""
    return [count // 10 + (k < count % 10) for k in range(10)]


def _told(counts: Counter[str], zero: Sequence[str]) -> bool:
    """Print counts; whether those that must be zero are."""
    for name in sorted({*counts, *zero}):
        print(f"  {name:28} {counts[name]:6d}")
    return not any(counts[name] for name in zero)


COUNTS = {"kills": 100, "terms": 20, "disks": 100, "files": 3000, "calls": 10_000}
"""How many of each, unless they are given."""


def main() -> None:
    """Print the counts of the parts that are named, by default of all; status 1 where one is not what it must be."""
    sys.stdout.reconfigure(line_buffering=True)  # a log file shows how far it is
    parts: dict[str, Callable[..., bool]] = {of.__name__: of for of in (kills, disks, files, calls)}
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("parts", nargs="*", metavar="PART", help=", ".join(parts))
    words.add_argument("--seed", type=int, default=19, help="other faults of the same kinds")
    for name, count in COUNTS.items():
        words.add_argument(f"--{name}", type=int, default=count)
    given = words.parse_args()
    if unknown := sorted({*given.parts} - {*parts}):
        words.error(f"no part {unknown[0]!r}: there are {', '.join(parts)}")
    warnings.simplefilter("ignore")
    results = []
    for name in given.parts or parts:
        counts = (given.kills, given.terms) if name == "kills" else (getattr(given, name),)
        results.append(parts[name](*counts, given.seed))
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
