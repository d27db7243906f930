"""The small cases of Dirac structures and their analysis, and `flexph analyze`."""

import tomllib
from importlib import import_module
from pathlib import Path

import pytest
from click.testing import CliRunner

from cases import coupled_masses, levitated_ball, spinning_body
from flexph.cli import main

CASES = {
    "spinning-body": spinning_body.case,
    "casimirs": spinning_body.casimirs_case,
    "levitated-ball": levitated_ball.case,
    "mass-spring-kernel": coupled_masses.spring_case,
    "coupled-masses": coupled_masses.case,
}
named = pytest.mark.parametrize("name", CASES)


@named
def test_cases_are_registered_by_their_names(name):
    text = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    module, _, attribute = tomllib.loads(text)["project"]["entry-points"]["flexph.cases"][name].partition(":")
    assert getattr(import_module(module), attribute) is CASES[name]


def test_a_wrong_structure_would_be_seen():
    """The check of (3.15) with the ports of the gyrator exchanged: another subspace."""
    from flexph.dirac import compose, symplectic_gyrator

    spring = coupled_masses.store("q", "s", 1.0).structure
    mass = coupled_masses.store("p", "m", 1.0).structure
    right = coupled_masses.run_spring(end=0.1).structure
    wrong = compose(compose(spring, symplectic_gyrator(("m", "s"))), mass)
    assert wrong.distance(right) > 1.0


@named
def test_bad_input_is_refused(name):
    with pytest.raises(ValueError, match=r"end must be (positive|at least one step)"):
        CASES[name].run(end=-1.0)


def test_analyze_on_the_command_line(tmp_path):
    picture = tmp_path / "structure.png"
    result = CliRunner().invoke(main, ["analyze", "index-one", "--picture", str(picture)])
    assert result.exit_code == 0, result.output
    for words in ("index-one: ", "index 1", "in the rows of x2", "passive: yes", "w = J v", "e resistive = "):
        assert words in result.output
    assert picture.is_file()  # what it shows is counted where it is drawn, see conftest


def test_switching_systems_are_reported_by_modes(tmp_path):
    """[survey] example 5.1: with switch and diode closed the capacitor is held, with both open the inductor."""
    picture = tmp_path / "modes.png"
    result = CliRunner().invoke(main, ["analyze", "boost-converter", "--picture", str(picture)])
    assert result.exit_code == 0, result.output
    parts = dict(part.split("'", 1) for part in result.output.split("mode '")[1:])
    names = [f"S {one}, D {two}" for one in ("closed", "open") for two in ("closed", "open")]
    assert list(parts) == names
    for name in names:
        held = name in ("S closed, D closed", "S open, D open")
        assert ("index 2 with multipliers" if held else "index 1\n") in parts[name]
        assert f"consistent states of dimension {1 if held else 2}" in parts[name]
    assert len(list(tmp_path.glob("modes-S-*-D-*.png"))) == 4


def test_analyze_says_which_cases_can():
    result = CliRunner().invoke(main, ["analyze", "large-beam-chain"])
    assert result.exit_code == 1
    assert "'large-beam-chain' has no system; these have one: " in result.output
    assert "four-bar" in result.output
    result = CliRunner().invoke(main, ["analyze", "nothing"])
    assert result.exit_code == 2
    assert "no case 'nothing': there are" in result.output
