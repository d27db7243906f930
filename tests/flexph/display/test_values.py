"""What values say of themselves, in a line and in notebooks, and as labelled arrays."""

import sys
from dataclasses import replace

import numpy as np
import pytest

import fem
from flexph import GROUND, LinearPHDAE, connect, frequency_response, hinge, integrate, modes
from flexph.display.bars import bar
from flexph.display.labelled import needed
from flexph.display.tables import ROWS, html_table
from flexph.linear.responses.sweep import sweep
from flexph.sensors import joint_angle, position

STEEL = fem.Material(young=2.1e11, density=7850.0)
STRIP = fem.Section(width=0.02, height=0.002)


@pytest.fixture(scope="module")
def solution():
    arm = fem.beam(0.4, STEEL, STRIP, elements=2, damping=fem.Damping(stiffness=1e-4))
    mechanism = connect({"arm": arm}, [hinge("arm.root", GROUND.at(0.0, 0.0))], gravity=(0.0, -9.81))
    start = mechanism.consistent_state(mechanism.assemble({"arm": (0.0, 0.0, 0.0)}))
    return integrate(mechanism, start, np.linspace(0.0, 0.05, 51))


@pytest.fixture(scope="module")
def oscillator():
    E, J = np.diag([2.0, 0.125]), np.array([[0.0, -1.0], [1.0, 0.0]])
    return LinearPHDAE(E=E, J=J, B=np.array([[1.0], [0.0]]))


def test_values_say_whose_they_are_in_a_line(solution, oscillator):
    mechanism = solution.mechanism
    pose = mechanism.assemble({"arm": (0.0, 0.0, 0.0)})
    assert repr(pose) == "<Pose of arm>" and repr(replace(pose, bodies=())) == "<Pose of 1 bodies>"
    assert repr(solution.final) == f"<State of arm at 0.05 s: {mechanism.layout.size} numbers>"
    assert repr(mechanism.consistent_state(pose)).startswith("<State of arm at 0 s")
    assert repr(mechanism.assemble_all({"arm": [(0.0, 0.0, 0.0), (0.0, 0.0, 0.5)]})) == "<2 poses of arm>"
    assert repr(solution.ledger).startswith("<Ledger of 50 steps: stored ") and len(repr(solution.ledger)) < 150
    assert repr(modes(oscillator)) == "<Eigenmodes: 1 vibrations, 2 to 2 rad/s; 0 rigid motions, 0 self-stresses>"
    swept = sweep(lambda k: replace(oscillator, E=np.diag([2.0, 1.0 / k])), [2.0, 8.0], count=1, name="k")
    assert repr(swept) == "<Sweep of 1 frequencies over 2 values of k from 2 to 8>"


def test_many_bodies_are_not_all_named():
    many = connect({f"ball {k}": fem.beam(0.4, STEEL, STRIP, elements=1) for k in range(9)}, [])
    assert repr(many) == (
        "<Mechanism of the plane: ball 0, ball 1, ball 2, ball 3, ball 4, ball 5, … (9); 0 connections>"
    )


def test_reprs_hold_no_arrays(solution, oscillator):
    mechanism = solution.mechanism
    pose = mechanism.assemble({"arm": (0.0, 0.0, 0.0)})
    rest = solution.final
    for value in (mechanism, pose, rest, solution, solution.ledger, oscillator, modes(oscillator), solution.at(0.05)):
        assert "array(" not in repr(value) and "\n" not in repr(value)


def test_notebooks_show_tables_and_the_view(solution, oscillator):
    mechanism = solution.mechanism
    drawn = mechanism._repr_html_()
    assert "<iframe" in drawn and "<td" in drawn and "hinge arm.root" in drawn
    assert "centre of mass [m]" in mechanism.assemble({"arm": 0.3})._repr_html_()
    assert "0.05 s" in solution.final._repr_html_()
    live = solution._repr_html_()
    assert "largest balance residual" in live and live.count("<iframe") == 1
    assert "kinetic arm" in solution.ledger._repr_html_()
    assert "2 × 2" in oscillator._repr_html_() and "rad/s" in modes(oscillator)._repr_html_()


def test_warnings_of_a_run_stand_in_its_html(solution):
    bad = replace(solution, ledger=replace(solution.ledger, residual=solution.ledger.residual + 1.0))
    assert "border-left:4px" in bad._repr_html_() and "border-left:4px" not in solution._repr_html_()


def test_a_mechanism_whose_loops_do_not_close_from_nothing_has_tables():
    bar = fem.beam(0.4, STEEL, STRIP, elements=1)
    far = [hinge("bar.root", GROUND.at(0.0, 0.0)), hinge("bar.tip", GROUND.at(9.0, 0.0))]
    drawn = connect({"bar": bar}, far)._repr_html_()
    assert "No drawing: " in drawn and "<td" in drawn


def test_tables_escape_and_end():
    table = html_table(("<a>", "b"), [("x<y", k / 3.0) for k in range(ROWS + 3)], title="&")
    assert "&lt;a&gt;" in table and "x&lt;y" in table and "&amp;" in table and "0.3333" in table
    assert "… and 3 more" in table and table.count("<tr>") == 1 + ROWS + 1


def test_a_run_is_a_dataset_with_units(solution):
    pytest.importorskip("xarray")
    data = solution.to_xarray()
    np.testing.assert_array_equal(data["arm.centre"].sel(axis="y"), solution["arm.centre"][:, 1])
    assert data["arm.spin"].attrs == {"units": "rad/s", "long_name": "spin in the axes of the body of arm"}
    assert data.time.attrs == {"units": "s", "long_name": "time"} and data.time[-1] == 0.05
    np.testing.assert_array_equal(data.energy.sum("store"), solution.ledger.total_energy)
    np.testing.assert_array_equal(data.dissipation.sel(loss="arm"), solution.ledger.dissipation["arm"])
    np.testing.assert_array_equal(data.step, solution.times[1:])
    assert data.multipliers.sel(constraint="hinge arm.root–GROUND at (0.0, 0.0): x").shape == (50,)


def test_sensors_are_columns_with_units(solution):
    pytest.importorskip("pandas")
    angle, tip = joint_angle("arm.root"), position("arm.tip")
    frame = solution.to_dataframe(angle, tip)
    assert frame.index.name == "time" and list(frame.columns) == [str(angle), f"{tip} x", f"{tip} y"]
    assert frame.attrs["units"] == {str(angle): "rad", f"{tip} x": "m", f"{tip} y": "m"}
    np.testing.assert_allclose(frame[f"{tip} y"], solution.position("arm.tip")[:, 1], rtol=0, atol=1e-16)  # round-off
    assert solution.to_xarray(angle)[str(angle)].attrs["units"] == "rad"


def test_states_and_ledgers_are_frames(solution):
    pytest.importorskip("pandas")
    frame = solution.to_dataframe()
    np.testing.assert_array_equal(frame["arm.centre x"], solution["arm.centre"][:, 0])
    np.testing.assert_array_equal(frame["energy kinetic arm"], solution.ledger.energy["kinetic arm"])
    account = solution.ledger.to_dataframe()
    np.testing.assert_array_equal(account["dissipation arm"], solution.ledger.dissipation["arm"])
    assert account.attrs["units"]["residual"] == "J" and list(account.index[:2]) == [1, 2]


def test_spectra_and_responses_are_datasets(oscillator):
    pytest.importorskip("xarray")
    assert modes(oscillator).to_xarray().frequency.attrs["units"] == "rad/s"
    response = frequency_response(oscillator, [1.0, 3.0])
    data = response.to_xarray()
    assert data.H.sel(omega=3.0).item() == response.values[1, 0, 0]
    damped = connect(
        {"arm": fem.beam(0.4, STEEL, STRIP, elements=2)}, [hinge("arm.root", GROUND.at(0.0, 0.0))], gravity=(0.0, -9.81)
    )
    rest = damped.equilibrium(damped.assemble({"arm": -1.5}))
    spectrum = damped.spectrum(rest)
    data = spectrum.to_xarray()
    np.testing.assert_array_equal(data["values"], spectrum.values)
    assert data.sizes["displacement"] == len(spectrum.shapes) and repr(spectrum).startswith("<Spectrum about rest: ")
    assert spectrum.message[:20] in spectrum._repr_html_()


def test_a_missing_package_is_named(solution, monkeypatch):
    monkeypatch.setitem(sys.modules, "xarray", None)
    with pytest.raises(ModuleNotFoundError, match=r"to_xarray needs.*package xarray: pip install .flexph\[studies\]"):
        solution.to_xarray()
    assert needed("math", "x").pi > 3.0


def test_bars_are_those_of_the_place(monkeypatch, capsys):
    assert bar([1], shown=False).disable
    monkeypatch.setattr("flexph.display.bars.in_notebook", lambda: True)
    monkeypatch.setattr("flexph.display.bars.find_spec", lambda name: None)
    with bar(total=2, delay=0.0) as shown:  # without widgets it is a line of text
        assert not shown.disable
    assert "0/2" in capsys.readouterr().err
    assert bar([1], shown=False).disable
