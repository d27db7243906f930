"""`flexph run model.yaml`, `check`, `show` and `new`.

Five seconds, as commands run model files and studies to the end.
"""

import json

import h5py
import pytest
import xarray
from click.testing import CliRunner
from ruamel.yaml import YAML

from flexph.cli import main
from flexph.models import load_model
from flexph.models.commands import COMPANIONS, EXAMPLES

PLAIN = "steps: 10\n    method: {name: exact}"


def flexph(*arguments):
    """The command line, driven."""
    return CliRunner().invoke(main, [str(argument) for argument in arguments], catch_exceptions=False)


@pytest.mark.parametrize("like", [EXAMPLES[0], "solid-bar"])
def test_new_writes_an_example_that_is_right(like, tmp_path):
    result = flexph("new", tmp_path / "mine", "--like", like)
    assert result.stdout.split() == [str(tmp_path / name) for name in ("mine.yaml", *COMPANIONS.get(like, ()))]
    checked = flexph("check", tmp_path / "mine.yaml")
    assert (checked.exit_code, checked.output.partition(": ")[2][:9]) == (0, "no errors")
    again = flexph("new", tmp_path / "mine", "--like", like)
    assert again.exit_code == 1
    assert "exists already" in again.output


@pytest.fixture
def model(tmp_path):
    """The first example, with fewer steps and a second run."""
    flexph("new", tmp_path / "model.yaml")
    path = tmp_path / "model.yaml"
    text = path.read_text(encoding="utf-8").replace("83.7758 ms", "2 ms").replace("steps: 800", PLAIN)
    frequencies = "runs:\n  modes: {kind: frequencies, count: 2}\n"
    path.write_text(text.replace("runs:\n", frequencies), encoding="utf-8")
    return path


def test_run_writes_a_folder_for_each_run_and_a_summary(model, tmp_path):
    result = flexph("run", model, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    written = sorted(str(path.relative_to(tmp_path / "out")) for path in (tmp_path / "out").rglob("*.*"))
    runs = ("ledger.csv", "middle.csv", "solution.h5")
    assert written == ["modes/frequencies.csv", "scene.vtkhdf", "summary.json", *(f"two_turns/{name}" for name in runs)]
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert set(summary["runs"]["two_turns"]) == {"deflection_max_m", "instants", "energy_residual_max_rel"}
    assert summary["runs"]["modes"]["omega1_rad_s"] > 0.0
    table = (tmp_path / "out" / "two_turns" / "middle.csv").read_text().splitlines()
    assert table[0] == "t [s],deflection [m] 0,deflection [m] 1,slider [m] 0,slider [m] 1"
    assert len(table) == 12


def test_json_runs_as_yaml(model, tmp_path):
    path = tmp_path / "model.json"
    path.write_text(json.dumps(YAML(typ="safe").load(model)), encoding="utf-8")
    first, other = (
        flexph("run", file, "--run", "modes", "--out", tmp_path / file.suffix[1:]) for file in (model, path)
    )
    assert (first.exit_code, other.exit_code) == (0, 0), other.output
    tables = [(tmp_path / kind / "modes" / "frequencies.csv").read_text() for kind in ("yaml", "json")]
    assert tables[0] == tables[1]


def test_settings_and_runs_are_chosen(model, tmp_path):
    options = ("--run", "two_turns", "--set", "bodies.rod.elements=2", "--set", "runs.two_turns.save_every=5")
    result = flexph("run", model, "--out", tmp_path / "out", *options)
    assert result.exit_code == 0, result.output
    with h5py.File(tmp_path / "out" / "two_turns" / "solution.h5") as file:
        assert len(file["times"]) == 3
    assert not (tmp_path / "out" / "modes").exists()


def test_a_run_is_followed_in_a_page_as_its_file_says(model, tmp_path, monkeypatch):
    seen = []
    monkeypatch.setattr("flexph.view.live.live.Live._show", lambda live, page: seen.append((live, page.address)))
    text = model.read_text(encoding="utf-8")
    model.write_text(text.replace(PLAIN, f"{PLAIN}\n    live: {{pace: 2, title: no}}"), encoding="utf-8")
    assert "no such setting" in flexph("check", model).output
    model.write_text(text.replace(PLAIN, f"{PLAIN}\n    live: {{sliders: {{motor: [0, 1]}}}}"), encoding="utf-8")
    assert "no slider 'motor'" in flexph("check", model).output
    model.write_text(text.replace(PLAIN, f"{PLAIN}\n    live: {{pace: 2}}"), encoding="utf-8")
    result = flexph("run", model, "--live", "--run", "two_turns", "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    ((live, address),) = seen
    assert live.pace == 2.0 and address.startswith("http://127.0.0.1:")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--run", "turns"), "no run 'turns'"),
        (("--set", "bodies.rod.elements"), "write a path and a value"),
        (("--set", "bodies.rd.elements=8"), "did you mean 'rod'"),
        (("--set", "bodies.rod.elements=eight"), "whole number"),
        (("--force", "--resume"), "give one of them only"),
    ],
)
def test_wrong_options_end_in_a_line(model, tmp_path, options, words):
    result = flexph("run", model, "--out", tmp_path / "out", *options)
    assert result.exit_code != 0
    assert words in result.output
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("name", "words"),
    [("", "must be a file name"), ("none/rod", "none/rod.yaml: there is no folder 'none', make it first")],
)
def test_an_example_has_a_name_in_a_folder(name, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = flexph("new", name)
    assert result.exit_code != 0 and words in result.output
    assert not list(tmp_path.iterdir())


def test_results_of_another_model_are_not_resumed(model, tmp_path):
    assert flexph("run", model, "--out", tmp_path / "out", "--run", "modes").exit_code == 0
    again = flexph("run", model, "--out", tmp_path / "out", "--run", "modes", "--resume")
    assert again.exit_code == 0
    other = flexph(
        "run", model, "--out", tmp_path / "out", "--run", "modes", "--resume", "--set", "bodies.rod.elements=3"
    )
    assert other.exit_code != 0
    assert "another run" in other.output


def test_show_says_what_it_is(model):
    words = flexph("show", model).output
    for part in ("3 bodies", "rod: ", "freedoms", "redundant 0", "mass 0.1997", "run two_turns", "study mesh"):
        assert part in words
    assert json.loads(flexph("show", "--schema").output)["title"] == "ModelFile"
    assert flexph("show").exit_code == 2


def test_a_file_that_is_not_there_is_one_sentence(tmp_path):
    result = flexph("check", tmp_path / "model.yaml")
    assert result.exit_code == 1
    assert result.output == f"Error: {tmp_path / 'model.yaml'}: No such file or directory\n"


def test_the_study_of_a_model_file(model, tmp_path):
    options = ("--out", tmp_path / "out", "--jobs", 1, "--no-pictures", "--set", "bodies.rod.elements=2,4")
    result = flexph("study", model, *options)
    assert result.exit_code == 0, result.output
    assert "2 samples: 2 done, 0 failed" in result.output
    with xarray.open_dataset(tmp_path / "out" / "study.nc", engine="h5netcdf") as study:
        assert study["bodies.rod.elements"].values.tolist() == [2, 4]
        file = load_model(model, settings={"bodies.rod.elements": 4})
        expected = file.run("two_turns").figures()["deflection_max_m"]
        assert float(study["deflection_max_m"][1]) == expected
    again = flexph("study", model, *options, "--resume")
    assert again.exit_code == 0, again.output
    model.write_text(model.read_text().replace("steps: 10", "steps: 11"))
    assert "another study" in flexph("study", model, *options, "--resume").output


STUDIES = {
    "samples": "samples: [{bodies.rod.length: 300 mm, description: a}, {bodies.rod.length: 0.4, description: b}]",
    "table": "table: samples.csv",
    "sobol": "sobol: {count: 2, bounds: {bodies.rod.length: [300 mm, 0.4]}}",
    "latin_hypercube": "latin_hypercube: {count: 3, seed: 1, bounds: {bodies.rod.length: [300 mm, 40 cm]}}",
}


def with_study(model, text):
    """The model with a study of frequencies, beside another one."""
    told = model.read_text(encoding="utf-8").partition("studies:")[0]
    first = "studies:\n  one: {run: modes, vary: {bodies.rod.elements: [2]}}\n"
    model.write_text(f"{told}{first}  other:\n    run: modes\n    {text}\n")
    (model.parent / "samples.csv").write_text("bodies.rod.length, bodies.rod.elements\n300 mm, 2\n400 mm, 3\n")
    return model


@pytest.mark.parametrize("kind", STUDIES)
def test_samples_of_studies_other_than_grids(kind, model, tmp_path):
    options = ("--out", tmp_path / "out", "--jobs", "1", "--no-pictures", "--study", "other")
    result = flexph("study", with_study(model, STUDIES[kind]), *options)
    assert result.exit_code == 0, result.output
    with xarray.open_dataset(tmp_path / "out" / "study.nc", engine="h5netcdf") as study:
        lengths = study["bodies.rod.length"].values.tolist()
        assert study["omega1_rad_s"].dims == ("sample",) and (study["sample_status"] == "done").all()
        assert (study["omega1_rad_s"] > 0.0).all()
    if kind in ("samples", "table"):
        assert lengths == (["300 mm", "0.4"] if kind == "samples" else ["300 mm", "400 mm"])
    else:
        assert len(set(lengths)) == {"sobol": 2, "latin_hypercube": 3}[kind] and 0.3 < min(lengths) < max(lengths) < 0.4


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("samples: [{bodies.rod.length: 1 kg}]", "other.samples[0]: got '1 kg', which measures a mass"),
        (
            "samples: [{bodies.rod.length: 1}, {bodies.rod.elements: 2}]",
            "samples[1]: all samples must have the settings",
        ),
        ("sobol: {count: 3, bounds: {bodies.rod.length: [1, 2]}}", "a power of two such as 4, got 3"),
        ("sobol: {count: 4, bounds: {bodies.rod.length: [2 m, 1 m]}}", "got 2 m and 1 m: write the lower end first"),
        ("sobol: {count: 4, bounds: {bodies.rod.length: [2 m, 1 kg]}}", "bounds.bodies.rod.length: got '1 kg'"),
        ("sobol: {count: 4, bounds: {bodies.rod.elements: [2, 8]}}", "bodies.rod.elements: got 4.2"),
        ("table: sample.csv", "did you mean 'samples.csv'"),
        ("samples: [{bodies.rod.elements: 2}]\n    table: samples.csv", "got samples and table: write one of vary"),
        ("seed: 1", "no such setting"),
    ],
)
def test_wrong_samples_are_told_with_their_line(text, words, model):
    result = flexph("check", with_study(model, text))
    assert result.exit_code == 1
    assert "model.yaml:" in result.output and words in result.output


def test_a_table_of_samples_names_the_line(model):
    path = with_study(model, STUDIES["table"])
    (path.parent / "samples.csv").write_text("bodies.rod.length\n300 mm\n\n1 mm,2\n")
    assert "samples.csv, line 4: it must have a value for each of bodies.rod.length" in flexph("check", path).output


def test_settings_that_a_study_cannot_vary_end_in_a_line(model, tmp_path):
    result = flexph("study", model, "--out", tmp_path / "out", "--set", "bodies.rod.elements=2,many")
    assert result.exit_code == 1
    assert "write a whole number" in result.output
