"""The rolling coin: closed forms, models that agree, (7.1), the coin let go, the files."""

import csv
import math

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import rigid
from cases import rolling_coin
from cases import rolling_coin_motions as case
from flexph import Solution

TORQUES = {"none": (0.0, 0.0), "u1": (0.4, 0.0), "u2": (0.0, -0.25), "both": (0.4, -0.25), "braked": (-0.3, 0.2)}


@pytest.mark.parametrize("name", TORQUES)
def test_the_closed_form_satisfies_the_equations(name):
    """(4.21) by another integrator: φ̈ = u₂, θ̈ = ½u₁."""
    roll, turn = TORQUES[name]

    def rate(t, z):
        return [z[5] * math.cos(z[3]), z[5] * math.sin(z[3]), z[5], z[4], turn, 0.5 * roll]

    times = np.linspace(0.0, 12.0, 25)
    start = [*case.START, *case.RATES]
    found = solve_ivp(rate, (0.0, 12.0), start, method="DOP853", rtol=1e-12, atol=1e-12, t_eval=times).y.T
    np.testing.assert_allclose(case.exact(times, roll, turn), found[:, :4], atol=1e-10)  # its tolerance


def test_closed_form_without_turning(monkeypatch):
    monkeypatch.setattr(case, "RATES", np.array([0.0, 0.7]))
    found = case.exact(np.array([0.0, 2.0]), 0.4, 0.0)[1]
    length = 0.7 * 2.0 + 0.1 * 4.0
    phi = case.START[3]
    np.testing.assert_allclose(found, [length * math.cos(phi), length * math.sin(phi), length, phi], rtol=1e-14)


@pytest.mark.parametrize("name", [pytest.param("none", marks=pytest.mark.slow), "both"])
def test_models_converge_to_the_closed_form(name):
    motions = [case.move(np.linspace(0.0, 6.0, n + 1), *TORQUES[name]) for n in (60, 120)]
    for model in ("constrained", "reduced"):
        coarse, fine = (m.errors[model] for m in motions)
        assert math.log2(coarse / fine) == pytest.approx(2.0, abs=0.1)
        assert fine < 1.5e-3  # measured 9.4e-4 at h = 0.05
    for m in motions:
        np.testing.assert_allclose(m.reduced["angles"], m.exact[:, 2:], atol=1e-11)  # quadratic in time
        np.testing.assert_allclose(m.constrained["angles"][:, 1], m.exact[:, 3], atol=1e-11)
        assert m.slip < 1e-12
        # the iteration of general systems may end with a correction of 3e-12
        assert max(m.constrained.energy_drift(), m.reduced.energy_drift()) < 1e-11


@pytest.mark.parametrize("h", [0.05, 0.5, 1.5])
def test_circle_of_a_step(h):
    """Without torque the reduced coin draws a polygon of the side hθ̇ that turns by hφ̇: its circle at any step."""
    times = h * np.arange(21)
    found = case.move(times, 0.0, 0.0).reduced["place"]
    (p, a), phi = case.RATES, case.START[3]
    radius = 0.5 * h * a / math.sin(0.5 * h * p)
    centre = radius * np.array([-math.sin(phi), math.cos(phi)])
    np.testing.assert_allclose(np.linalg.norm(found - centre, axis=1), radius, rtol=1e-11)


def test_the_reduced_structure_is_no_poisson_structure():
    """The sum (7.1) of J_c has the norm one at every state, since {x, p₁, p₂} = ∓sin φ, {y, p₁, p₂} = ±cos φ."""
    J = case.reduced().phdae().J
    for seed in range(5):
        x = np.random.default_rng(seed).standard_normal(6)
        assert case.jacobi_sum(J, x) == pytest.approx(1.0, abs=1e-9)  # differences


def test_holonomic_constraints_leave_a_poisson_structure():
    """The same sum for a point on a cylinder, in a basis that turns with the height: J_c has a part p[S_i, S_j]."""

    def radial(z):
        return np.array([[z[0], z[1], 0.0]])

    def turned(z):
        r, s, c = math.hypot(z[0], z[1]), math.sin(z[2]), math.cos(z[2])
        return np.array([[-z[1] / r, 0.0], [z[0] / r, 0.0], [0.0, 1.0]]) @ np.array([[c, -s], [s, c]])

    place = np.array([0.6, 0.8, 0.3])
    system = rigid.MultibodySystem(
        mass=np.eye(3), sample=place, velocity_constraints=(rigid.VelocityConstraint("cylinder", radial),)
    )
    J = rigid.resolve(system, turned).phdae().J
    x = np.append(place, [0.7, -0.4])
    assert np.abs(J(x)[3, 4]) > 0.1
    assert case.jacobi_sum(J, x) < 1e-5  # differences of differences


@pytest.fixture(scope="module")
def result():
    """A run of the case, with one of its motions."""
    times, both = np.linspace(0.0, case.DURATION, 121), (0.4, -0.25)
    return case.Result({"both": case.move(times, *both)}, case.roll_held(times, *both), case.wobble(480))


def test_mechanism_is_the_same_coin(result):
    """Order two against the closed form; the axis stays level and the wheel on the ground."""
    times, both = np.linspace(0.0, case.DURATION, 61), (0.4, -0.25)
    coarse = case.Result({"both": case.move(times, *both)}, case.roll_held(times, *both), result.wobble).mechanism_error
    assert math.log2(coarse / result.mechanism_error) == pytest.approx(2.0, abs=0.1)
    run, H = result.mechanism, result.mechanism.ledger.total_energy
    np.testing.assert_allclose(run.rotations("coin")[:, 2, 2], 0.0, atol=1e-12)
    p = case.RATES * [1.0, 2.0]
    assert H[0] == pytest.approx(0.5 * p[0] ** 2 + 0.25 * p[1] ** 2, rel=1e-13)  # H_c of (4.21)
    assert run.ledger.nonholonomic_residual.max() < 1e-12
    assert run.energy_drift() < 1e-12


def test_multipliers_are_the_forces_of_rolling(result):
    """λ₁ = ẍ and λ₂ = ÿ (2.40), with d/dt (θ̇ e^{iφ}) = (½u₁ + iθ̇φ̇) e^{iφ}: our λ has the other sign."""
    run = result.motions["both"].constrained
    t = run.output_times
    rolling, turning = case.RATES[1] + 0.2 * t, case.RATES[0] - 0.25 * t
    phi = case.exact(t, 0.4, -0.25)[:, 3]
    wanted = (0.2 + 1j * rolling * turning) * np.exp(1j * phi)
    found = -run["multipliers of rolling"][1:] @ [1.0, 1j]
    assert np.abs(found - wanted).max() < 5e-3 * np.abs(wanted).max()  # measured 3.2e-3 at h = 0.1


def test_a_euro_under_a_centre_at_rest():
    """Moffatt's Ω² sin α = 4g/r, order two in the rate of the point of contact."""
    errors = []
    for steps in (500, 1000):
        run = case.wobble(steps, share=1.0)
        path = case.contacts(run)
        turned = np.unwrap(np.arctan2(path[:, 1], path[:, 0]))[-1]
        errors.append(abs(turned / run.times[-1] / case.rounds(case.TILT) - 1.0))
        assert np.abs(case.tilts(run) - case.TILT).max() < 1e-5
    assert math.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)
    assert errors[1] < 5e-4


def test_a_wobbling_euro_keeps_energy_and_height(result):
    run, tilt = result.wobble, case.tilts(result.wobble)
    assert np.degrees(tilt.min()) == pytest.approx(24.1, abs=0.1) and tilt.max() == pytest.approx(case.TILT, rel=1e-12)
    height = run.position("coin.centre")[:, 2]
    np.testing.assert_allclose(height, case.EURO_RADIUS * np.sin(tilt), rtol=1e-12)
    assert run.energy_drift() < 1e-12
    assert run.ledger.nonholonomic_residual.max() < 1e-12
    rim = np.linalg.norm(case.contacts(run), axis=1)
    np.testing.assert_allclose(rim, case.EURO_RADIUS * np.cos(tilt), rtol=1e-12)


@pytest.mark.slow
def test_a_run_writes_its_files(tmp_path):
    result = rolling_coin.run(steps=120)
    summary = rolling_coin.write(result, tmp_path)
    assert summary["slip_max_m_s"] < 1e-12
    assert summary["jacobi_sum"] == pytest.approx(1.0, abs=1e-9)
    assert summary["wobble_height_drift_m"] < 1e-15
    with open(tmp_path / "motions.csv", newline="", encoding="utf-8") as file:
        header, *rows = csv.reader(file)
    table = dict(zip(header, np.array(rows, dtype=float).T, strict=True))
    np.testing.assert_array_equal(table["x_both_exact"], result.motions["both"].exact[:, 0])
    for name, mechanism, kept in (
        ("held", case.held(), result.mechanism),
        ("wobble", case.euro(), result.wobble),
    ):
        np.testing.assert_array_equal(Solution.load(tmp_path / f"{name}.h5", mechanism).states, kept.states)


def test_bad_steps_are_refused():
    with pytest.raises(ValueError, match="steps"):
        rolling_coin.run(steps=0)
