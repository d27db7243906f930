"""`flexph study`: grids of cases, folders, and what is said of failures."""

import json
import signal
from typing import Annotated, Literal

import pytest
from click.testing import CliRunner

from flexph import plot
from flexph.case import Case, Option
from flexph.cli import main
from flexph.studies import study

xarray = pytest.importorskip("xarray")


def swing(
    *,
    length: Annotated[float, Option("length", "m")] = 1.0,
    steps: Annotated[int, Option("steps")] = 2,
    law: Annotated[Literal["exact", "small"], Option("law")] = "small",
    damped: Annotated[bool, Option("damped")] = False,
):
    """Period of a pendulum."""
    if steps < 1:
        raise ValueError(f"steps must be at least 1, got {steps}")
    return {"period": 2.0 * (length / 9.81) ** 0.5 * (3 if law == "exact" else 3.1), "steps": steps, "law": law * 1}


def write(result, folder):
    (folder / "period.txt").write_text(str(result["period"]))
    return result


@pytest.fixture(autouse=True)
def cases(monkeypatch):
    known = {"swing": Case(swing, write, list)}
    monkeypatch.setattr("flexph.studies.execution.subjects.find_cases", lambda: known)
    monkeypatch.setattr("flexph.studies.command.find_cases", lambda: known)


@pytest.fixture
def command(tmp_path):
    def call(*arguments, out="s"):
        given = ["study", *map(str, arguments), "--jobs", "1", "--out", str(tmp_path / out)]
        return CliRunner().invoke(main, given)

    return call


def test_a_grid_of_a_case(command, tmp_path):
    given = ("swing", "--set", "length=1,2.5,4", "--set", "law=exact,small", "--no-pictures")
    done = command(*given, "--resume")  # nothing is there yet
    assert done.exit_code == 0, done.output
    assert done.output.splitlines() == [str(tmp_path / "s" / "study.nc"), "6 samples: 6 done, 0 failed"]
    results = xarray.load_dataset(tmp_path / "s" / "study.nc")
    assert results.period.dims == ("length", "law") and results.length.attrs["units"] == "m"
    assert results.attrs["function"] == "case swing" and results.attrs["parameter_steps"] == 2
    assert results.attrs["parameter_damped"] == "False"
    assert command(*given, "--resume").output == done.output  # all is there
    again = command(*given)
    assert again.exit_code == 2 and "continue with --resume" in again.output


def test_failures_are_counted_and_named(command):
    done = command("swing", "--set", "steps=0,1", "--set", "damped=yes,no", "--no-pictures")
    assert done.exit_code == 0
    assert done.output.splitlines()[1:] == [
        "4 samples: 2 done, 2 failed",
        "  steps=0, damped=True: ValueError: steps must be at least 1, got 0",
        "  steps=0, damped=False: ValueError: steps must be at least 1, got 0",
    ]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["swing"],
            "--set is needed, for example --set NAME=A,B; the parameters of swing are length, steps, law, damped",
        ),
        (["swung", "--set", "a=1"], "no case 'swung': did you mean 'swing'? there are 'swing'"),
        (["swing", "--set", "lenght=1"], "no parameter 'lenght': case swing has 'length', 'steps', 'law', 'damped'"),
        (["swing", "--set", "length"], "--set must be NAME=A,B,…, got 'length'"),
        (["swing", "--set", "steps=1,2.5"], "--set steps: '2.5' is not a valid integer"),
        (["swing", "--set", "law=exact,cubic"], "--set law: 'cubic' is not one of 'exact', 'small'"),
        (["swing", "--set", "steps=1", "--set", "steps=2"], "--set steps is given twice"),
        (["swing", "--set", "steps=1,1"], "values of 'steps' must differ"),
        (["swing", "--set", "steps=1", "--executor", "slurm"], "executor must be 'dask://host:port', 'mpi'"),
    ],
)
def test_mistakes_are_told_in_a_sentence(command, arguments, message, tmp_path):
    refused = command(*arguments)
    assert refused.exit_code in (1, 2) and message in " ".join(refused.output.split())
    assert not list(tmp_path.rglob("*.npz"))


def test_files_of_a_case_are_written_only_for_its_figures(command, tmp_path, monkeypatch):
    case = Case(swing, lambda result, folder: pytest.fail("written"), list, figures=lambda result: {"p": 1.0})
    monkeypatch.setattr("flexph.studies.execution.subjects.find_cases", lambda: {"swing": case})
    assert "1 sample: 1 done" in command("swing", "--set", "steps=1").output


def test_a_picture_of_one_or_two_parameters(command, tmp_path):
    pictures = tmp_path / "s" / "pictures"
    done = command("swing", "--set", "length=1,2")
    assert done.output.splitlines()[1:3] == [str(pictures / "period.png"), str(pictures / "steps.png")]
    command("swing", "--set", "length=1,2", "--set", "steps=1,2", "--set", "law=exact,small", "--resume", "--report")
    report = (tmp_path / "s" / "report.html").read_text(encoding="utf-8")
    assert "8 samples: 8 done, 0 failed" in report and "Varied: law, length, steps." in report
    assert not list(pictures.iterdir())  # three parameters have none, and older ones are gone


def axes_of(samples):
    """The axes of the picture of a study."""
    results = study(lambda a, b="x": {"y": a * 1.0, "z": b}, samples, jobs=1, progress=False, units={"y": "m"})
    return plot.study(results, "y").figure.axes


def test_pictures_fit_the_parameters():
    """Curves over numbers, bars over texts, maps where curves would be too many, points of tables."""
    (axes,) = axes_of({"a": [2, 1], "b": ["u", "v", "w"]})
    assert [line.get_xdata().tolist() for line in axes.lines] == [[1, 2]] * 3 and axes.get_ylabel() == "y [m]"
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["b = u", "b = v", "b = w"]
    (axes,) = axes_of({"a": [3], "b": ["u", "v"]})
    assert [bar.get_height() for bar in axes.patches] == [3.0, 3.0]
    axes, _ = axes_of({"a": list(range(7)), "b": list(range(8))})
    assert axes.collections[0].get_array().shape == (7, 8) and axes.get_xlabel() == "b"
    (axes,) = axes_of([{"a": 1}, {"a": 5}])
    assert axes.lines[0].get_linestyle() == "None"
    axes, _ = axes_of([{"a": 1, "b": 2}, {"a": 5, "b": 3}])
    assert axes.collections[0].get_offsets().tolist() == [[1, 2], [5, 3]]


@pytest.mark.slow
def test_crank_sliders_by_the_command_line(tmp_path, monkeypatch):
    monkeypatch.undo()
    out = tmp_path / "s"
    given = ["--set", "elements=8", "--set", "steps=100,200", "--set", "turns=0.1", "--no-pictures"]
    done = CliRunner().invoke(main, ["study", "crank-slider", *given, "--jobs", "1", "--out", str(out)])
    assert done.exit_code == 0, done.output
    assert json.loads((out / "study.json").read_text())["function"] == "case crank-slider"
    figures = xarray.load_dataset(out / "study.nc").squeeze()
    assert (figures.energy_residual_max_rel < 1e-11).all() and figures.uy_max_over_L.diff("steps").item() != 0.0


@pytest.mark.parametrize(("number", "status"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_study_that_is_ended_early_says_that_it_can_be_resumed(number, status, command, monkeypatch):
    def known():
        signal.raise_signal(number)  # os.kill may hand it to a thread of BLAS, and then it arrives later
        return {}

    monkeypatch.setattr("flexph.studies.command.find_cases", known)
    ended = command("swing", "--set", "steps=1")
    assert ended.exit_code == status and "continue with --resume" in ended.output
