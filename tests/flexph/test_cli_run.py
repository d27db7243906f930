"""`flexph run`: options, the folder of results, and the ways in which it ends."""

import json
import math
import platform
from datetime import datetime, timedelta
from importlib.metadata import version

import pytest
from swing_case import GOOD, flexph, swing, write

from flexph import case_run
from flexph.case import Case


@pytest.fixture
def never_run(monkeypatch):
    """Fail if anything is computed."""

    def refuse(*args):
        raise AssertionError("the case was computed")

    monkeypatch.setattr(case_run, "compute", refuse)


def read(folder):
    """Return the summary of a run."""
    return json.loads((folder / "summary.json").read_text(encoding="utf-8"))


def test_run_writes_results_and_summary(tmp_path):
    out = tmp_path / "new" / "folder"
    options = ("--length", 2.5, "--swings", 4, "--start", "push", "--label", "σ", "--no-air-drag")
    result = flexph("run", "swing", "--out", out, *options)
    assert result.exit_code == 0, result.output
    written = [out / "pictures" / "swing.svg", out / "summary.json", out / "table.csv"]
    assert result.stdout.splitlines() == [str(path) for path in written]
    assert sorted(path for path in out.rglob("*") if path.is_file()) == written
    assert (out / "table.csv").read_text() == f"{2 * math.pi * math.sqrt(2.5 / 9.81)}\n"

    summary = read(out)
    started, wall = datetime.fromisoformat(summary.pop("started")), summary.pop("wall_s")
    assert started.utcoffset() == timedelta(0)
    assert abs(datetime.now(started.tzinfo) - started) < timedelta(minutes=5)
    assert 0 <= wall < 60
    names = ("flexph", "numpy", "scipy", "scikit-fem", "meshio")
    assert summary == {
        "case": "swing",
        "parameters": {"length": 2.5, "swings": 4, "start": "push", "label": "σ", "air_drag": False},
        "versions": {"python": platform.python_version(), **{name: version(name) for name in names}},
        "period_s": 2 * math.pi * math.sqrt(2.5 / 9.81),
        "count": 4,
        "drag": False,
        "amplitudes": [1.0, 0.5],
        "lost": None,
    }


def test_a_folder_without_name_is_not_the_working_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refused = flexph("run", "swing", "--out", "")
    assert (refused.exit_code, list(tmp_path.iterdir())) == (2, [])
    assert "the folder has no name" in refused.stderr


def test_defaults_are_those_of_the_function(tmp_path):
    assert flexph("run", "swing", "--out", tmp_path).exit_code == 0
    expected = {"length": 1.0, "swings": 3, "start": "rest", "label": "", "air_drag": True}
    assert read(tmp_path)["parameters"] == expected


def test_help_shows_unit_default_and_choices():
    result = flexph("run", "swing", "--help")
    assert result.exit_code == 0
    text = " ".join(result.stdout.split())
    assert "Swing in a garden. Options:" in text  # the rest of the docstring is not for the command line
    assert "--out DIRECTORY folder for the results [required]" in text
    assert "--length FLOAT length of the rope [m] [default: 1]" in text
    assert "--swings INTEGER number of swings [default: 3]" in text
    assert "--start [rest|push] how it starts [default: rest]" in text
    assert "--air-drag / --no-air-drag with resistance of the air [default: air-drag]" in text


def test_help_of_run_lists_the_cases():
    result = flexph("run", "--help")
    assert result.exit_code == 0
    assert "Swing in a garden." in result.stdout


@pytest.mark.usefixtures("never_run")
def test_a_folder_with_files_is_refused(tmp_path):
    (tmp_path / "table.csv").write_text("precious")
    result = flexph("run", "swing", "--out", tmp_path)
    assert result.exit_code == 2
    assert f"{tmp_path} is not empty" in result.stderr
    assert "--force" in result.stderr
    assert (tmp_path / "table.csv").read_text() == "precious"


@pytest.mark.usefixtures("never_run")
@pytest.mark.parametrize("place", ["file", "file/below"])
def test_a_folder_that_cannot_be_is_refused(tmp_path, place):
    (tmp_path / "file").touch()
    result = flexph("run", "swing", "--out", tmp_path / place, "--force")
    assert result.exit_code in (1, 2)
    assert "Error: " in result.stderr
    assert isinstance(result.exception, SystemExit)  # a message, not a traceback


def test_force_replaces_what_is_written_and_leaves_the_rest(tmp_path):
    for name in ("table.csv", "notes.txt", "summary.json"):
        (tmp_path / name).write_text("old")
    result = flexph("run", "swing", "--out", tmp_path, "--force")
    assert result.exit_code == 0
    assert "notes.txt" not in result.stdout
    assert (tmp_path / "notes.txt").read_text() == "old"
    assert (tmp_path / "table.csv").read_text() != "old"
    assert read(tmp_path)["case"] == "swing"


def test_old_results_survive_when_writing_fails(tmp_path):
    def fail(result, folder):
        write(result, folder)
        raise RuntimeError("no space left")

    (tmp_path / "table.csv").write_text("old")
    result = flexph("run", "swing", "--out", tmp_path, "--force", cases={"swing": Case(swing, fail, list)})
    assert isinstance(result.exception, RuntimeError)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["table.csv", "unfinished"]
    assert (tmp_path / "table.csv").read_text() == "old"
    assert (tmp_path / "unfinished" / "table.csv").read_text() != "old"  # what was written is kept


def test_figures_may_not_hide_the_record(tmp_path):
    case = Case(swing, lambda result, folder: {"versions": 3}, list)
    result = flexph("run", "swing", "--out", tmp_path, cases={"swing": case})
    assert isinstance(result.exception, ValueError)
    assert "must not use the names versions" in str(result.exception)


@pytest.mark.usefixtures("never_run")
@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("run", "swong", "--out", "x"), "no case 'swong': did you mean 'swing'? there are 'bridge', 'swing'"),
        (("run", "swing"), "Missing option '--out'"),
        (("run", "swing", "--out", "x", "--lenght", "2"), "--length"),
        (("run", "swing", "--out", "x", "--swings", "2.5"), "'2.5' is not a valid integer"),
        (("run", "swing", "--out", "x", "--start", "fall"), "'fall' is not one of 'rest', 'push'"),
        (("validate", "swong"), "no case 'swong': did you mean 'swing'? there are 'bridge', 'swing'"),
    ],
)
def test_a_wrong_word_is_answered_with_the_right_ones(tmp_path, monkeypatch, args, message):
    monkeypatch.chdir(tmp_path)
    result = flexph(*args, cases={"swing": GOOD, "bridge": GOOD})
    assert result.exit_code == 2
    assert message in result.stderr
    assert not any(tmp_path.iterdir())


def test_a_value_error_of_the_case_becomes_one_line(tmp_path):
    result = flexph("run", "swing", "--out", tmp_path, "--length", "-1")
    assert result.exit_code == 1
    assert result.output == "Error: the rope must have a length, not -1.0\n"
    assert not any(tmp_path.iterdir())


def test_nothing_is_left_of_a_run_that_computed_nothing(tmp_path):
    flexph("run", "swing", "--out", tmp_path / "new", "--length", -1)
    assert not (tmp_path / "new").exists()
    (tmp_path / "mine").mkdir()
    flexph("run", "swing", "--out", tmp_path / "mine", "--length", -1)
    assert (tmp_path / "mine").exists()  # it was there before


def test_an_interrupt_ends_with_the_status_of_a_shell(tmp_path):
    result = flexph("run", "swing", "--out", tmp_path, "--label", "interrupt")
    assert result.exit_code == 130
    assert result.output.strip() == "interrupted"


def test_a_missing_module_is_said_before_computing(tmp_path):
    case = Case(swing, write, list, needs=("json", "no_such_module"))
    result = flexph("run", "swing", "--out", tmp_path / "out", cases={"swing": case})
    assert result.exit_code == 1
    assert "needs the module 'no_such_module', which is not installed" in result.output
    assert not (tmp_path / "out").exists()


def test_an_interrupted_import_is_an_interrupt():
    """Extension modules turn the KeyboardInterrupt of an import into an ImportError."""

    class Importing(dict):
        def __getitem__(self, name):
            try:
                raise KeyboardInterrupt
            except KeyboardInterrupt as interruption:
                raise ImportError("a module could not be initialised") from interruption

    result = flexph("analyze", "slow", cases=Importing(slow=None))
    assert result.exit_code == 130
    assert result.output.strip() == "interrupted"
