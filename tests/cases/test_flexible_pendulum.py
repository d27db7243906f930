"""The flexible pendulum: what is kept, identities between routes, the rigid limit, and its files."""

import csv
import json
import math

import numpy as np
import pytest
from click.testing import CliRunner
from motion_files import body_in
from scipy.integrate import quad

from cases import flexible_pendulum as case
from flexph import Solution
from flexph.cli import main


def assert_kept(solution, energy: float = 1e-11) -> None:
    """The bounds of the published table: energy and L_z 1e-11 of their size, joint 1e-11 m, rotations 1e-12."""
    numbers = case.kept(solution)
    assert numbers["energy_residual_max_rel"] <= energy
    assert numbers["joint_drift_max_m"] <= 1e-11
    assert numbers["orthogonality_max"] <= 1e-12
    assert case.drift(solution.angular_momentum()[:, 2]) <= energy


@pytest.mark.parametrize("strain", ["linear", "von_karman"])
@pytest.mark.parametrize("step_size", [1e-3, 4e-3])
def test_energy_momentum_and_joints_are_kept(strain, step_size):
    solution = case.solve(2, strain, 250, step_size)
    assert_kept(solution)
    # it moves and bends meanwhile, and what is not kept changes: the numbers above are not zero for want of motion
    assert solution.ledger.kind("elastic").max() > 1e-4 * solution.ledger.scale
    assert case.drift(solution.angular_momentum()) > 0.1
    assert 0.005 < case.largest_turn(solution) < 0.3


@pytest.mark.slow
@pytest.mark.parametrize("strain", ["linear", "von_karman"])
@pytest.mark.parametrize("step_size", [1e-3, 2e-3])
def test_kept_over_ten_thousand_steps(strain, step_size):
    solution = case.solve(3, strain, 10_000, step_size)
    assert_kept(solution)
    assert case.largest_turn(solution) < 0.3


def test_drift_sees_a_change():
    """The measure itself: a vector that turns by a right angle has moved by √2 of its size."""
    assert case.drift(np.array([[2.0, 0.0], [0.0, 2.0]])) == pytest.approx(math.sqrt(2.0), rel=1e-15)
    assert case.drift(np.array([4.0, 5.0, 3.0])) == 0.25


def test_force_of_the_joint_changes_the_momentum():
    """ΔP = h (m g + force): the scheme's own multipliers against the momenta of the saved states, to round-off."""
    solution, h = case.solve(2, "von_karman", 100, 2e-3), 2e-3
    force = solution.stage_multipliers  # three rows along the world axes, on the arm
    momentum = solution.linear_momentum()
    weight = np.array([0.0, 0.0, -case.GRAVITY * solution.mechanism.bodies["arm"].mass])
    np.testing.assert_allclose(np.diff(momentum, axis=0), h * (force + weight), atol=1e-12 * np.abs(momentum).max())
    # and the reaction, of second order, is the same force up to what alternates from step to step
    found = solution.reaction(solution.mechanism.connections[0].name).force
    pairs = lambda f: 0.5 * (f[1:] + f[:-1])  # noqa: E731
    np.testing.assert_allclose(pairs(found)[5:], pairs(force)[5:], atol=0.05 * np.abs(force).max())


def test_momentum_at_the_start():
    """m L²/3 about the pivot; sections have no rotary inertia but that about the axis, which is horizontal."""
    solution = case.solve(2, "linear", 1, 1e-3)
    mass = case.DENSITY * case.SECTION.area * case.LENGTH
    assert solution.angular_momentum()[0, 2] == pytest.approx(mass * case.LENGTH**2 / 3.0 * case.PUSH, rel=1e-13)


def test_stiff_strip_swings_like_a_rigid_rod():
    """Lowest point and the time to reach it, from energy and L_z of a thin rod; the rest is the strip's own spin."""
    h = 1e-3
    tip = case.solve(1, "linear", 600, h, young=1e4 * case.YOUNG).position("arm.tip")[:, 2]
    k = int(np.argmin(tip))
    lowest = case.lowest_rigid()
    assert tip[k] == pytest.approx(lowest, rel=1e-5)  # h² ω⁴ of the sampling, and elasticity 1e-6
    # c = −z/L: ½ċ² = (1 − c²) 3gc/2L·… from ż² L⁻² sin⁻² + φ̇² sin² = w² + 3 g c/L with sin² φ̇ = w
    top = -lowest / case.LENGTH

    def rate(c: float) -> float:
        return (1.0 - c * c) * (case.PUSH**2 + 3.0 * case.GRAVITY * c / case.LENGTH) - case.PUSH**2

    # substitution c = top sin²a takes the square roots out of both ends
    time = quad(
        lambda a: 2.0 * top * math.sin(a) * math.cos(a) / math.sqrt(rate(top * math.sin(a) ** 2)),
        1e-9,
        math.pi / 2 - 1e-7,
    )[0]
    before, here, after = tip[k - 1 : k + 2]
    vertex = h * (k + 0.5 * (before - after) / (before - 2.0 * here + after))
    assert vertex == pytest.approx(time, rel=1e-4)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("pendulum") / "out"
    words = ["--steps", "250", "--step-size", "0.002", "--strain", "linear", "--elements", "2"]
    result = CliRunner().invoke(main, ["run", "flexible-pendulum", "--out", str(out), *words])
    assert result.exit_code == 0, result.output
    return out


@pytest.mark.slow
def test_a_run_writes_its_files(folder):
    summary = json.loads((folder / "summary.json").read_text())
    run = Solution.load(folder / "solution.h5", case.pendulum(2, "linear"))
    assert summary["linear_momentum_drift_rel"] is None
    assert summary["angular_momentum_drift_rel"] == case.drift(run.angular_momentum()[:, 2]) <= 1e-11
    for name, value in case.kept(run).items():
        assert summary[name] == value
    with open(folder / "tip.csv", newline="") as file:
        header, *rows = csv.reader(file)
    table = dict(zip(header, np.array(rows, dtype=float).T, strict=True))
    assert table["t_s"][-1] == pytest.approx(0.5, rel=1e-15)
    np.testing.assert_array_equal(table["tip_z_m"], run.position("arm.tip")[:, 2])
    assert summary["tip_lowest_m"] == table["tip_z_m"].min() < -0.8
    assert len(body_in(folder, "arm")[0]) == 201
    with open(folder / "ledger.csv", newline="") as file:
        header, *rows = csv.reader(file)
    ledger = dict(zip(header, np.array(rows, dtype=float).T, strict=True))
    np.testing.assert_allclose(ledger["total energy [J]"], ledger["total energy [J]"][0], rtol=1e-11)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--steps", "0"], "steps"),
        (["--step-size", "-1"], "step-size"),
        (["--step-size", "nan"], "step-size"),
        (["--elements", "0"], "elements"),
    ],
)
def test_bad_options_are_refused(options, message, tmp_path):
    result = CliRunner().invoke(main, ["run", "flexible-pendulum", "--out", str(tmp_path / "out"), *options])
    assert result.exit_code == 1
    assert message in result.output
