"""`flexph run --checkpoint` and `--resume`: what a kill leaves, and tables that are those of an uninterrupted run."""

import json
import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import Annotated

import numpy as np
import pytest
from swing_case import GOOD, flexph

from flexph import PHDAE, integrate
from flexph.case import Case, Option
from flexph.export.tables import write_ledger, write_table
from flexph.files.durable import PREFIX
from flexph.files.results_folder import ResultsFolder
from flexph.methods import Gauss
from flexph.results.trajectory import Trajectory
from flexph.switching import At, SwitchingPHDAE, Transition

OSCILLATOR = PHDAE(
    E=np.eye(2), J=np.array([[0.0, 1.0], [-1.0, 0.0]]), z=lambda x: x, H=lambda x: x @ x / 2, sample=np.ones(2)
)
FAULTS = {}
"""What happens at a time of the first and of the last run of the case."""


def fault(run):
    def observe(t, x):
        for (of, after), happens in FAULTS.items():
            if of == run and t > after:
                happens()
        return t

    return observe


def two_swings(*, steps: Annotated[int, Option("steps")] = 20, scale: Annotated[float, Option("amplitude")] = 1.0):
    """Two swings, one after the other."""
    times = np.linspace(0.0, 1.0, steps + 1)
    first = integrate(OSCILLATOR, (scale, 0.0), times, method=Gauss(4), observe=fault(0), save_every=3)
    return first, integrate(OSCILLATOR, first.final, times, method=Gauss(2), observe=fault(1))


def write(result, folder):
    for k, run in enumerate(result):
        write_table(folder / f"{k}.csv", {"t": run.times, "q": run.states[:, 0], "observed": run.observations})
        write_ledger(folder / f"ledger-{k}.csv", run)
    return {"drift": result[1].energy_drift()}


SWINGS = {"swings": Case(two_swings, write, list)}


@pytest.fixture(autouse=True)
def faults():
    FAULTS.clear()
    yield FAULTS
    FAULTS.clear()


def run(out, *options):
    return flexph("run", "swings", "--out", out, *options, cases=SWINGS)


def run_in_a_process(out, *options):
    """The exit status of the command in a process of its own, negative for a signal."""
    child = os.fork()
    if not child:
        os._exit(run(out, *options).exit_code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def send(number):
    return lambda: signal.raise_signal(number)


def tables(out):
    return {path.name: path.read_bytes() for path in out.glob("*.csv")}


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    out = tmp_path_factory.mktemp("plain")
    assert run(out).exit_code == 0
    return tables(out)


@pytest.mark.parametrize(
    ("number", "moment"),
    [
        (signal.SIGKILL, (0, 0.32)),
        (signal.SIGTERM, (0, 0.32)),
        pytest.param(signal.SIGKILL, (1, 0.7), marks=pytest.mark.slow),
        (signal.SIGINT, (1, 0.7)),
    ],
)
def test_an_ended_run_is_resumed_to_the_same_tables(number, moment, tmp_path, expected):
    FAULTS[moment] = send(number)
    out = tmp_path / "out"
    status = {signal.SIGKILL: -9, signal.SIGTERM: 143, signal.SIGINT: 130}[number]
    assert run_in_a_process(out, "--checkpoint", 0) == status
    assert not (out / "summary.json").exists()
    assert (out / "unfinished.h5").exists() == (number != signal.SIGKILL)
    if number != signal.SIGKILL:
        assert Trajectory.load(out / "unfinished.h5", OSCILLATOR).times[-1] == pytest.approx(moment[1], abs=0.16)
    refused = run(out)
    assert refused.exit_code == 2
    assert "checkpoint" in refused.stderr
    assert "with --resume" in " ".join(refused.stderr.split())
    FAULTS.clear()
    asked = []
    FAULTS[0, -1.0] = lambda: asked.append(0)
    resumed = run(out, "--resume")
    assert resumed.exit_code == 0, resumed.output
    assert tables(out) == expected
    assert len(asked) < 8  # of 8 saved times some are not asked again
    assert sorted(path.name for path in out.iterdir()) == sorted([*expected, "summary.json"])
    again = run(out, "--resume")
    assert (again.exit_code, again.stdout) == (0, resumed.stdout)


def test_a_run_that_ends_while_its_results_come_into_place_has_them_or_goes_on(tmp_path, monkeypatch):
    """Before any change of the folder, one after the other: no run goes on from half of its pieces."""
    left, run = [0], {"case": "swings", "parameters": {}}

    def counted(change):
        def changes(*arguments, **options):
            left[0] -= 1
            if left[0] == 0:
                raise KeyboardInterrupt
            return change(*arguments, **options)

        return changes

    for name in ("replace", "unlink", "rmdir"):
        monkeypatch.setattr(os, name, counted(getattr(os, name)))
    for k in range(1, 30):
        folder, source = ResultsFolder(tmp_path / f"{k}", run), tmp_path / f"new {k}"
        assert not folder.claim(force=False, resume=False)
        (folder.path / "summary.json").write_text("{}")  # of older results
        with folder.kept(1.0):
            pieces = [folder.checkpoint / "0001" / f"{n:08}.h5" for n in (1, 2, 3)]
            pieces[0].parent.mkdir()
            source.mkdir()
            for path in (*pieces, source / "table.csv"):
                path.write_text("new")
            (source / "summary.json").write_text(json.dumps(run))
            left[0] = k
            with suppress(KeyboardInterrupt):
                folder.publish(source)
            ended, left[0] = left[0] > 0, 0
        if folder.claim(force=False, resume=True):
            assert {path.name for path in folder.path.iterdir()} == {"summary.json", "table.csv"}
        else:
            assert folder.is_kept
            assert all(path.exists() for path in pieces)
        if ended:
            return
    pytest.fail("the changes have no end")


def test_a_kept_run_that_is_not_interrupted_is_the_same(tmp_path, expected):
    for name, options in {"kept": ("--checkpoint", 0), "begun": ("--resume",), "fresh": ("--resume",)}.items():
        (tmp_path / name).mkdir()
        if name == "fresh":  # what a run without a checkpoint left
            (tmp_path / name / f"{PREFIX}killed").mkdir()
            (tmp_path / name / "unfinished.h5").write_text("")
        kept = run(tmp_path / name, *options)
        assert kept.exit_code == 0
        assert (f"killed run left: {PREFIX}killed" in kept.stderr) == (name == "fresh")
        assert tables(tmp_path / name) == expected
        assert not {*tmp_path.glob(f"{name}/{PREFIX}*"), *tmp_path.glob(f"{name}/unfinished*")}


def test_other_options_are_refused(tmp_path):
    FAULTS[0, 0.5] = send(signal.SIGTERM)
    ended = run(tmp_path, "--checkpoint", 0, "--steps", 30)
    assert ended.exit_code == 143
    assert ".solution" not in ended.stderr and "the finished steps are in unfinished.h5" in ended.stderr
    FAULTS.clear()
    for options, words in {
        ("--steps", 20): "steps is 30, not 20",
        ("--steps", 30, "--scale", 2): "scale is 1.0, not 2.0",
    }.items():
        refused = run(tmp_path, "--resume", *options)
        assert refused.exit_code == 2
        assert words in " ".join(refused.stderr.split())
    assert flexph("run", "swing", "--out", tmp_path, "--resume", cases={"swing": GOOD}).exit_code == 2
    assert run(tmp_path, "--resume", "--force").exit_code == 2
    assert run(tmp_path, "--resume", "--steps", 30).exit_code == 0
    assert "steps is 30, not" in run(tmp_path, "--resume").stderr  # finished, with others
    (tmp_path / "summary.json").unlink()
    assert run(tmp_path, "--resume", "--steps", 30).exit_code == 2  # tables of nobody knows what


def test_new_tables_never_stand_beside_an_old_summary(tmp_path, monkeypatch):
    """A kill before each renaming of a forced run: either all is old, or there is no summary, or all is new."""
    assert run(tmp_path, "--scale", 2).exit_code == 0
    old, replace, states = tables(tmp_path), os.replace, []

    def look(source, target):
        if Path(target).parent == tmp_path:
            summary = tmp_path / "summary.json"
            scale = json.loads(summary.read_text())["parameters"]["scale"] if summary.exists() else None
            states.append((scale, tables(tmp_path) == old))
        replace(source, target)

    monkeypatch.setattr(os, "replace", look)
    (tmp_path / f"{PREFIX}left").mkdir()
    assert run(tmp_path, "--force").exit_code == 0
    assert [scale for scale, _ in states] == [None] * 5
    assert [same for _, same in states] == [True] + [False] * 4
    assert not list(tmp_path.glob(f"{PREFIX}*"))
    assert json.loads((tmp_path / "summary.json").read_text())["parameters"]["scale"] == 1.0


def test_runs_that_keep_no_checkpoint_are_kept_when_they_have_ended(tmp_path):
    """Of a switching system, whose run is not done again."""
    count = []

    def case():
        """A switch, and a swing."""
        relay = SwitchingPHDAE(
            {"on": OSCILLATOR, "off": OSCILLATOR}, [Transition(source="on", target="off", when=At(0.3))]
        )
        switched = integrate(relay, (1.0, 0.0), (0.0, 0.5, 1.0), observe=lambda t, x: count.append(t) or t, mode="on")
        return switched, integrate(OSCILLATOR, (1.0, 0.0), np.linspace(0.0, 1.0, 9), method=Gauss(4), observe=fault(1))

    FAULTS[1, 0.5] = send(signal.SIGTERM)
    cases = {"case": Case(case, write, list)}
    assert flexph("run", "case", "--out", tmp_path, "--checkpoint", 0, cases=cases).exit_code == 143
    FAULTS.clear()
    asked = len(count)
    assert asked
    resumed = flexph("run", "case", "--out", tmp_path, "--resume", cases=cases)
    assert (resumed.exit_code, len(count)) == (0, asked), resumed.exception


@pytest.mark.parametrize("seconds", ["nan", "inf"])
def test_a_checkpoint_must_be_some_seconds_away(seconds, tmp_path):
    result = flexph("run", "swing", "--out", tmp_path / "out", "--checkpoint", seconds)
    assert (result.exit_code, (tmp_path / "out").exists()) == (2, False)
    assert f"--checkpoint must be a finite number of seconds, got {seconds}" in result.stderr
