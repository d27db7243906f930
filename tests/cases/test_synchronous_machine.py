"""The synchronous machine: its data, two independent solutions, both coordinates, balances, the files.

Five seconds, as the case runs in two coordinates, with pictures.
"""

import json
import math
from functools import partial

import numpy as np
import pytest
from case_commands import run_case

from cases import synchronous_generator as machine
from cases import synchronous_runs as runs

run = partial(run_case, "synchronous-machine")


def test_data_of_the_stator():
    """Entries as printed in Kundur example 3.1, in mH, beside the zero sequence that is added."""
    theta, zero = 0.7, 1e3 * machine.ZERO_SEQUENCE / 3.0
    found = 1e3 * machine.inductance(theta)
    assert found[0, 0] - zero == pytest.approx(3.2758 + 0.0458 * math.cos(2.0 * theta), rel=1e-12)
    for (i, k), shift in {(0, 1): math.pi / 3.0, (1, 2): -math.pi, (2, 0): -math.pi / 3.0}.items():
        expected = -1.6379 - 0.0458 * math.cos(2.0 * theta + shift)
        assert found[i, k] - zero == pytest.approx(expected, rel=1e-12)
    np.testing.assert_allclose(found[:3, 3], 40.0 * np.cos(theta - np.array([0.0, 2.0, 4.0]) * np.pi / 3.0), rtol=1e-12)
    assert found[3, 3] == 576.92


def test_published_inductances_alone_are_singular():
    """L_s − 2·½L_s is the zero-sequence inductance: exactly nought as printed, the leakage with what is added."""
    equal = np.ones(3) / math.sqrt(3.0)
    for theta in np.linspace(0.0, np.pi, 50):
        made = machine.inductance(theta)
        assert np.linalg.eigvalsh(made)[0] == pytest.approx(machine.L_LEAK, rel=1e-9)
        assert equal @ made[:3, :3] @ equal == pytest.approx(machine.L_LEAK, rel=1e-12)
    assert pytest.approx(machine.L_LEAK, rel=1e-12) == machine.ZERO_SEQUENCE


def test_per_unit_values_are_the_published_ones():
    """Kundur examples 3.1 and 3.2: L_ad = 1.66, L_aq = 1.61, L_fd = 0.165, R_fd = 0.0006, L″_d = 0.23; 3 digits."""
    base = machine.Z_STATOR / machine.OMEGA
    assert (machine.L_D - machine.L_LEAK) / base == pytest.approx(1.66, rel=1e-3)
    assert (machine.L_Q - machine.L_LEAK) / base == pytest.approx(1.61, rel=1e-3)
    assert pytest.approx(0.165, abs=3e-3) == machine.L_FF * machine.OMEGA / machine.Z_ROTOR - 1.66  # 1.825 to 0.1 %
    assert pytest.approx(0.0006, rel=0.01) == machine.R_F / machine.Z_ROTOR  # one digit is printed
    # T″_d0 = 0.03 s of the d damper, T′_q0 = 1.0 s of the q damper, from the entries of L and R in SI
    L, R = machine.L_RR, machine.RESISTANCE[3:]
    assert (L[1, 1] - L[0, 1] ** 2 / L[0, 0]) / R[1] == pytest.approx(0.03, rel=0.01)
    assert L[2, 2] / R[2] == pytest.approx(1.0, rel=0.01)


def test_slope_of_the_inductance():
    theta, h = 1.3, 1e-6
    differences = (machine.inductance(theta + h) - machine.inductance(theta - h)) / (2.0 * h)
    np.testing.assert_allclose(machine.inductance_slope(theta), differences, atol=1e-9)  # round-off of 0.6 H over h


@pytest.mark.parametrize("turn", [0.1, 1e-7])
def test_the_flux_jacobian_takes_increments_to_increments(turn):
    """Ē Δ(I, p, θ) = Δ(ψ, p, θ): to round-off, also where L′ stands in."""
    rng = np.random.default_rng(2)
    x0 = np.append(1e4 * rng.normal(size=6), [1e7, 0.4])
    x1 = x0 + np.append(1e3 * rng.normal(size=6), [1e4, turn])
    flux = machine.to_fluxes(x1) - machine.to_fluxes(x0)
    np.testing.assert_allclose(machine.flux_jacobian(x0, x1) @ (x1 - x0), flux, atol=1e-10)


def test_steady_operation_is_an_equilibrium_of_the_rotor_frame():
    """ψ̇ = jω-turned flux: V − RI = dψ/dt at t = 0, and no torque is left over; round-off of 2e4 V and 1e6 N m."""
    full = runs.rated()
    x = full.state
    rotor = np.diag(np.r_[np.zeros(3), np.ones(3)])
    turned = machine.inductance(x[7] + 1e-6) @ _turned(x, 1e-6) - machine.inductance(x[7] - 1e-6) @ _turned(x, -1e-6)
    voltage = np.concatenate([runs.network(0.0), [full.field_voltage, 0.0, 0.0]])
    rate = machine.OMEGA * turned / 2e-6
    np.testing.assert_allclose(rate, voltage - machine.RESISTANCE * x[:6], atol=1e-3)  # round-off over the step of 1e-6
    np.testing.assert_allclose(rotor @ rate, 0.0, atol=1e-3)
    drive = full.shaft_torque - machine.FRICTION * machine.OMEGA
    assert drive == pytest.approx(-machine.torque(x), rel=1e-12)
    # the power that reaches the network, and the angle by the textbook's arctangent
    delivered = -runs.network(0.0) @ x[:3]
    assert delivered == pytest.approx(0.9 * machine.RATING, rel=1e-9)
    reactance, resistance = machine.OMEGA * machine.L_Q / machine.Z_STATOR, machine.R_A / machine.Z_STATOR
    sine = math.sqrt(1.0 - 0.9**2)
    tangent = (reactance * 0.9 - resistance * sine) / (1.0 + resistance * 0.9 + reactance * sine)
    assert full.load_angle == pytest.approx(math.atan(tangent), rel=1e-9)


def _turned(x, angle):
    """Currents a moment later: those of the stator turn on, those of the rotor stay."""
    currents = x[:6].copy()
    a, b, c = x[:3]
    along, across = (2.0 * a - b - c) / 3.0, (b - c) / math.sqrt(3.0)
    first, second = (
        along * math.cos(angle) - across * math.sin(angle),
        along * math.sin(angle) + across * math.cos(angle),
    )
    currents[:3] = [first, -0.5 * first + 0.5 * math.sqrt(3.0) * second, -0.5 * first - 0.5 * math.sqrt(3.0) * second]
    return currents


def test_short_circuit_at_constant_speed():
    """A rotor a million times heavier keeps its speed: the dq equations have a matrix exponential."""
    for t in (0.004, 0.011):
        found = runs.reference(t, 1e6 * machine.INERTIA)[:6]
        exact = runs.constant_speed(t)
        np.testing.assert_allclose(found, exact, atol=1e-6 * np.abs(exact).max())


@pytest.mark.slow
def test_both_coordinates_meet_at_second_order():
    """Errors after one cycle with 50 and 100 steps, reference of order 8; 0.1 for higher orders."""
    rows = list(runs.converge(cycles=1.0, counts=(50, 100)))
    found = runs.orders(rows)
    for name in ("currents: currents", "fluxes: currents", "apart"):
        assert found[name] == pytest.approx(2.0, abs=0.1)
    # the discrete Jacobian of the fluxes is what makes currents usable as states
    assert rows[-1]["currents: currents"] < 0.2 * rows[-1]["currents, E in the middle: currents"]
    assert rows[-1]["fluxes: currents"] < 1e-3


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    folder = tmp_path_factory.mktemp("machine") / "out"
    patch = pytest.MonkeyPatch()
    patch.setattr(runs, "CYCLES_SHORT", 0.5)
    patch.setattr(runs.converge, "__defaults__", (0.5, (20, 40)))
    run("--out", str(folder), "--steps-per-cycle", "40", "--short-circuit", "0.025", "--loaded", "0.025")
    patch.undo()
    return folder


def test_the_summary_balances_and_has_the_load_angle(out):
    summary = json.loads((out / "summary.json").read_text())
    assert summary["balance_residual_max_rel"] < 1e-14  # a few round-offs of the kinetic energy
    assert summary["energy_drift_max_rel"] < 1e-12
    # the textbook neglects resistances beside reactances, some per cent
    assert summary["short_circuit_peak_kA"] == pytest.approx(summary["short_circuit_peak_textbook_kA"], rel=0.03)
    assert summary["load_angle_start_deg"] < summary["load_angle_end_deg"] < 45.0
    assert 1e-6 < summary["coordinates_apart_short_circuit"] < 0.05
    assert summary["smallest_inductance_mH"] == pytest.approx(0.4129, rel=1e-3)  # 0.15 of Kundur's base


def test_written_ledgers_balance(out):
    """The written columns themselves: energies, works and losses, to round-off of 2e9 J summed from two parts."""
    for name in ("short-circuit", "loaded"):
        table = np.genfromtxt(out / f"{name}-ledger.csv", delimiter=",", names=True)
        energy = table["kinetic_J"] + table["magnetic_J"]
        moved = table["work_stator_J"] + table["work_field_J"] + table["work_shaft_J"] - table["dissipated_J"]
        np.testing.assert_allclose(np.diff(energy), moved[1:], atol=2e-6)
        assert np.all(table["dissipated_J"] > 0.0)
        assert np.abs(moved).max() > 1e3
    # shorted terminals do no work, the network takes power from a generator
    assert np.all(np.genfromtxt(out / "short-circuit-ledger.csv", delimiter=",", names=True)["work_stator_J"] == 0.0)
    assert np.all(table["work_stator_J"] < 0.0)


def test_a_steady_load_stays_steady():
    """The load angle and the torque of the phasors, up to (hω)²/4 = 4e-3 of the step."""
    full = runs.rated()
    inputs = {"stator": runs.network, "field": full.field_voltage, "shaft": full.shaft_torque}
    found = runs.solve("fluxes", full.state, inputs, steps_per_cycle=50, end=0.1)
    assert np.ptp(runs.angles(found)) < 2e-4
    np.testing.assert_allclose(-runs.torques(found), -machine.torque(full.state), rtol=4e-3)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--steps-per-cycle", "3"], "steps_per_cycle must be at least 10"),
        (["--short-circuit", "-1"], "short_circuit must be at least one step"),
        (["--loaded", "nan"], "loaded must be at least one step"),
        (["--power", "1.5"], "power must be above 0"),
    ],
)
def test_bad_options_are_refused(options, message, tmp_path):
    assert message in run("--out", str(tmp_path / "out"), *options, code=1).output


def test_too_weak_a_field_is_answered():
    with pytest.raises(ValueError, match="pulls the machine out of step"):
        runs.at_torque(2.0 * machine.RATING / machine.OMEGA, 1000.0)
