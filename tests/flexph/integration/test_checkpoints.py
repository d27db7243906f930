"""Checkpoints: a run that is killed goes on to the bits of one that is not, and runs are never mixed.

Ten seconds, as each method runs whole, with a checkpoint, and twice from what is left of it.
"""

import errno
import os
import signal
import subprocess
import sys
import tempfile
import warnings
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from four_particles import START, four_particles
from sample_mechanisms import CASES

from flexph import Checkpoint, Event, IntegrationError, IntegrationInterrupted, integrate
from flexph.files import durable
from flexph.integration.times import journal, recorder
from flexph.integration.times.options import CheckpointWarning, runs_kept
from flexph.methods import (
    IDA,
    Decaying,
    DiracDissipative,
    DiscreteGradient,
    Exact,
    Exact4,
    ExactGauss,
    Gauss,
    Radau,
    by_name,
)

pytestmark = pytest.mark.filterwarnings("ignore::flexph.ValidityWarning")
STEPS = 10
ROOT = Path(__file__).parents[3]
PARTICLES = four_particles(1.0)


def differences(a, b, path=""):
    """Names of the numbers in which two results differ in any bit."""
    if is_dataclass(a):
        names = [f.name for f in fields(a) if f.name not in ("mechanism", "system")]
        return [d for name in names for d in differences(getattr(a, name), getattr(b, name), f"{path}/{name}")]
    if hasattr(a, "items"):
        assert list(a) == list(b)
        return [d for name in a for d in differences(a[name], b[name], f"{path}/{name}")]
    same = np.array_equal(a, b, equal_nan=True) if isinstance(a, np.ndarray) else a == b
    return [] if same else [path]


@cache
def crank_slider():
    return CASES["crank-slider"]()


def of_mechanism(method, events=False, steps=STEPS, h=1e-3, **options):
    mechanism, start, inputs = crank_slider()
    passed = {"passed": lambda t, x: np.sin(900.0 * t + 0.1)} if events else {}
    times = h * np.arange(steps + 1)
    return integrate(mechanism, start, times, method=method, inputs=inputs, events=passed, **options)


def of_particles(method, events=False, steps=STEPS, start=START, **options):
    passed = {"passed": lambda t, x: np.sin(170.0 * t + 0.1), "end": Event(lambda t, x: t - 0.0855, terminal=True)}
    times = np.linspace(0.0, 0.01 * steps, steps + 1)
    return integrate(PARTICLES, start, times, method=method, events=passed if events else {}, **options)


def cut(folder, pieces):
    """Leave a checkpoint as a kill after so many pieces does."""
    for path in sorted(folder.iterdir())[pieces:]:
        path.unlink()


RUNS = {
    **{
        str(method): (of_mechanism, method)
        for method in (
            Exact(),
            Exact4(),
            ExactGauss(),
            Exact(tolerance=1e-2),
            Decaying(radius=0.5),
            Decaying(radius=0.5, tolerance=1e-2),
        )
    },
    **{
        f"{method} of a system": (of_particles, method)
        for method in (
            DiscreteGradient(),
            DiscreteGradient("mean_value"),
            by_name("midpoint"),
            DiracDissipative(),
            Gauss(4),
            DiscreteGradient(tolerance=1e-2),
            DiscreteGradient(completion="new"),
        )
    },
}


SIBLINGS = (DiracDissipative(), DiscreteGradient("mean_value"))
"""Methods of general systems that keep the same of their steps as others, for twice the time."""


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow if own[1] in SIBLINGS else ()) for name, own in RUNS.items()],
)
def test_a_run_that_goes_on_is_the_same_to_the_bit(name, tmp_path, monkeypatch):
    """With events, a terminal one at the end of general runs, observations that are None at first, and open rows.

    Rows of runs with a checkpoint go to the disk, two at a time.
    """
    run, method = RUNS[name]

    def observe(t, x):
        return None if t < 0.0025 else x.x[:2]

    options = {
        "events": True,
        "save_every": 3,
        "observe": observe,
        "steps": 3 if method.tolerance else 6 if run is of_mechanism else STEPS,
    }
    whole = run(method, **options)
    monkeypatch.setattr(recorder, "LARGEST_PIECE", 1)
    assert differences(whole, run(method, checkpoint=Checkpoint(tmp_path, 0.0), **options)) == []
    pieces = len(list(tmp_path.iterdir()))
    assert pieces >= 3
    for left in (pieces, pieces // 2):  # all of it, and half
        cut(tmp_path, left)
        assert differences(whole, run(method, checkpoint=Checkpoint(tmp_path, 60.0, resume=True), **options)) == []


def test_a_run_has_its_time_between_two_pieces_on_a_slow_disk(tmp_path, monkeypatch):
    """Steps take a second, writing a piece takes ten; a failed piece counts as one."""
    clock, begun = [0.0], []

    def slowly(path, tree):
        begun.append(clock[0])
        clock[0] += 10.0
        if len(begun) == 2:
            raise OSError(errno.ENOSPC, "no space left")

    def step(t, x):
        clock[0] += 1.0

    monkeypatch.setattr(journal, "write_tree", slowly)
    monkeypatch.setattr(journal.time, "monotonic", lambda: clock[0])
    with pytest.warns(CheckpointWarning, match="no space left"):
        of_particles(Gauss(4), observe=step, checkpoint=Checkpoint(tmp_path, 3.5))
    assert len(begun) == 3  # the last one at the end of the run
    assert np.diff(begun).tolist() == [14.0, 12.0]


@pytest.mark.parametrize(
    ("run", "method"),
    [
        (of_mechanism, Exact()),
        (of_mechanism, Exact4()),
        (of_particles, DiscreteGradient()),
    ],
)
def test_runs_in_loops_do_not_depend_on_where_blocks_end(run, method, tmp_path, monkeypatch):
    """Rows of seven steps, in blocks of many, of one and of a few, and from a piece at the end of any of them."""
    from flexph.integration.blocks import block_stepper
    from flexph.integration.general import particle_run as general

    whole = run(method, save_every=7, steps=16)
    for numbers, steps in ((1, 1), (3000, 5)):
        monkeypatch.setattr(block_stepper, "LARGEST_PIECE", numbers)
        monkeypatch.setattr(general, "CHUNK", steps)
        folder = tmp_path / str(steps)
        assert differences(whole, run(method, save_every=7, steps=16, checkpoint=Checkpoint(folder, 0.0))) == []
        cut(folder, len(list(folder.iterdir())) // 2)
        again = run(method, save_every=7, steps=16, checkpoint=Checkpoint(folder, resume=True))
        assert differences(whole, again) == []


@pytest.mark.parametrize("moment", ["in a step", "before a piece is in its place", "after it"])
def test_a_killed_process_loses_what_came_after_the_last_piece(moment, tmp_path):
    folder, replace = tmp_path / "run", os.replace

    def kill(*_):
        os.kill(os.getpid(), signal.SIGKILL)

    def killed_at(source, target):
        if target.name == "00000004.h5" and moment == "before a piece is in its place":
            kill()
        replace(source, target)
        if target.name == "00000004.h5" and moment == "after it":
            kill()

    kills = []

    def watched(t, x):
        if t > 0.045 and kills:
            kills[0]()
        return x.x[0]

    child = os.fork()
    if not child:
        os.replace = killed_at
        kills += [kill] if moment == "in a step" else []
        of_particles(Gauss(4), observe=watched, checkpoint=Checkpoint(folder, 0.0))
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    pieces = len(list(folder.glob("*.h5")))
    assert pieces == {"in a step": 5, "before a piece is in its place": 3, "after it": 4}[moment]
    assert len(durable.leftovers(folder)) == (moment != "in a step")
    resumed = of_particles(Gauss(4), observe=watched, checkpoint=Checkpoint(folder, 0.0, resume=True))
    assert differences(of_particles(Gauss(4), observe=watched), resumed) == []
    assert not durable.leftovers(folder)


@pytest.mark.parametrize("writes", [0, 8, 60])
def test_rows_stay_in_memory_where_the_disk_is_full(writes, tmp_path, monkeypatch):
    """From the first row on, from a later one, and where only the last rows find no place."""
    left = [writes]

    class Full:
        def __init__(self, **given):
            self.file = rows_on_disk_file(**given)

        def write(self, data):
            left[0] -= 1
            if left[0] < 0:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            return self.file.write(data)

        def __getattr__(self, name):
            return getattr(self.file, name)

    rows_on_disk_file = tempfile.TemporaryFile
    monkeypatch.setattr(recorder, "LARGEST_PIECE", 1)
    monkeypatch.setattr(recorder.tempfile, "TemporaryFile", Full)
    whole = of_particles(Gauss(4))
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        kept = of_particles(Gauss(4), checkpoint=Checkpoint(tmp_path))
    assert differences(whole, kept) == []
    assert [str(w.message) for w in told if "stay in memory" in str(w.message)]


def test_what_an_interruption_finished_is_kept(tmp_path):
    """Whatever the time between pieces; a failure, too, and it is the same again."""
    asked = []

    def interrupting(t, x):
        asked.append(t)
        if len(asked) == 5:
            raise KeyboardInterrupt
        return t

    folder = tmp_path / "run"
    with pytest.raises(IntegrationInterrupted) as interrupted:
        of_mechanism(Exact(), events=True, checkpoint=Checkpoint(folder, 1e9), save_every=2)
        of_mechanism(Exact(), observe=interrupting, checkpoint=Checkpoint(tmp_path / "other", 1e9))
    assert len(interrupted.value.solution.times) >= 4
    again = of_mechanism(Exact(), observe=lambda t, x: t, checkpoint=Checkpoint(tmp_path / "other", resume=True))
    assert differences(of_mechanism(Exact(), observe=lambda t, x: t), again) == []
    messages = []
    for _ in range(2):
        with pytest.raises(IntegrationError) as failed:
            of_mechanism(Exact(tolerance=1e-300), checkpoint=Checkpoint(tmp_path / "fails", 0.0, resume=True))
        messages.append(str(failed.value))
    assert messages[0] == messages[1]


def test_runs_are_not_mixed(tmp_path):
    """Each difference is named; a folder in use, without leave to go on, or with other files is refused."""
    folder = tmp_path / "run"
    of_particles(Gauss(4), checkpoint=folder)
    with pytest.raises(ValueError, match="resume=True"):
        of_particles(Gauss(4), checkpoint=folder)
    there = {"checkpoint": Checkpoint(folder, resume=True)}
    others = {
        "method is": lambda: of_particles(Gauss(2), **there),
        "times is": lambda: of_particles(Gauss(4), steps=STEPS + 1, **there),
        "save_every is": lambda: of_particles(Gauss(4), save_every=2, **there),
        "events is": lambda: of_particles(Gauss(4), events=True, **there),
        "inputs is": lambda: of_particles(Gauss(4), inputs={"push": lambda t: (t, 0.0, 0.0)}, **there),
        "observe is": lambda: of_particles(Gauss(4), observe=lambda t, x: t, **there),
        "start is": lambda: of_particles(Gauss(4), start=1.01 * START, **there),
        "system is": lambda: of_mechanism(Exact(), **there),
    }
    for words, other in others.items():
        with pytest.raises(ValueError, match=f"belongs to another run: {words}"):
            other()
    with durable.locked(folder), pytest.raises(ValueError, match="being written by another process"):
        of_particles(Gauss(4), **there)
    seen = {"checkpoint": tmp_path / "seen", "observe": lambda t, x, scale=1.0: scale * t}
    of_particles(Gauss(4), **seen)
    seen |= {"checkpoint": Checkpoint(tmp_path / "seen", resume=True), "observe": lambda t, x, scale=2.0: scale * t}
    with pytest.raises(ValueError, match="another run: observe is a function"):
        of_particles(Gauss(4), **seen)
    (folder / "notes.txt").write_text("")
    with pytest.raises(ValueError, match="must contain no other files"):
        of_particles(Gauss(4), **there)


def test_a_damaged_piece_is_named_and_the_others_serve(tmp_path):
    folder = tmp_path / "run"
    whole = of_particles(Gauss(4), checkpoint=Checkpoint(folder, 0.0))
    path = sorted(folder.iterdir())[6]
    good = path.read_bytes()
    for bad in (good[:-100], good[: len(good) // 2], b"", good.replace(b"first", b"frist")):
        path.write_bytes(bad)
        with pytest.raises(ValueError, match=r"'.*00000007\.h5' of a checkpoint cannot be read"):
            of_particles(Gauss(4), checkpoint=Checkpoint(folder, resume=True))
    cut(folder, 6)
    assert differences(whole, of_particles(Gauss(4), checkpoint=Checkpoint(folder, resume=True))) == []


def test_a_run_goes_on_where_the_disk_of_its_checkpoint_is_full(tmp_path, monkeypatch):
    from flexph.integration.times import journal

    def full(path, tree):
        raise OSError(28, "No space left on device")

    write, folder = journal.write_tree, tmp_path / "run"
    monkeypatch.setattr(journal, "write_tree", full)
    with pytest.warns(CheckpointWarning, match="No space left on device; the run continues"):
        run = of_particles(Gauss(4), checkpoint=Checkpoint(folder, 0.0))
    monkeypatch.setattr(journal, "write_tree", write)
    assert differences(run, of_particles(Gauss(4))) == []
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize("method", [IDA(), Radau()])
def test_solvers_of_libraries_keep_no_checkpoint(method, tmp_path):
    with pytest.raises(ValueError, match=r"checkpoint cannot resume a run of .*: its library"):
        of_particles(method, checkpoint=tmp_path / "run")


def test_the_runs_of_a_function_are_kept_in_their_order(tmp_path):
    """A run within a run is not, and neither are runs outside."""

    def both():
        inner = []

        def observe(t, x):
            inner.append(of_particles(Gauss(2), steps=1))
            return t

        return of_particles(Gauss(2), observe=observe), of_mechanism(Exact()), len(inner)

    first, second, count = both()
    for asked in (count, 1):  # at the last time, after the last piece
        with runs_kept(tmp_path, 0.0):
            a, b, inner = both()
        assert differences(first, a) + differences(second, b) == []
        assert inner == asked
        assert sorted(path.name for path in tmp_path.iterdir()) == ["0001", "0002"]
    with pytest.raises(ValueError, match="another run"), runs_kept(tmp_path, 0.0):
        of_particles(Gauss(6))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (3, "checkpoint must be a path"),
        ("", "checkpoint must be a path, got ''"),
        (Checkpoint, "checkpoint must be a path"),
    ],
)
def test_what_is_no_path_is_refused(value, message):
    with pytest.raises(ValueError, match=message), warnings.catch_warnings():
        of_particles(Gauss(2), checkpoint=value)


LONG = """
import resource
import sys

import numpy as np

from cases.crank_slider import crank_slider
from flexph import Checkpoint, Solution, integrate

mechanism, steps = crank_slider(64, "von_karman"), 60_000
start = mechanism.consistent_state(mechanism.assemble({"crank": (0.0, 0.0, 0.0)}))
integrate(mechanism, start, 1e-5 * np.arange(3))
own = [int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmData")][0] * 1024
resource.setrlimit(resource.RLIMIT_DATA, (own + 170 * 2**20,) * 2)
run = integrate(mechanism, start, 1e-5 * np.arange(steps + 1), checkpoint=Checkpoint(sys.argv[1], 2.0), progress=False)
run.save(sys.argv[2])
saved = Solution.load(sys.argv[2], mechanism, lazy=True)
same = all(np.array_equal(saved.states[k : k + 5000], run.states[k : k + 5000]) for k in range(0, steps, 5000))
print(same, run.states.nbytes >> 20, run.energy_drift() < 1e-10)
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="limits of memory are those of Linux")
def test_a_run_longer_than_memory(tmp_path):
    """States of 272 MB within 170 MB for all that a run, its ledger, its file and comparing both take."""
    told = [sys.executable, "-W", "ignore", "-c", LONG, str(tmp_path / "run"), str(tmp_path / "run.h5")]
    done = subprocess.run(told, capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.split() == ["True", "271", "True"]
