"""Charts of the constrained state space: where they end, and the change from one to the next."""

import numpy as np
import pytest

import flexph
import rigid
from flexph import IntegrationError
from flexph.analysis import KinematicSystem, change_chart, eliminate_kinematics
from flexph.analysis.constrained_state_space import ReducedKinematics
from flexph.methods import BDF, IDA, Gauss, Radau

LIBRARIES = {"radau": (Radau, "scipy_dae"), "bdf": (BDF, "scipy_dae"), "ida": (IDA, "sksundae")}


def edge(mass=None, **more):
    """A knife edge that moves along its blade: a circle of radius 1 at unit speed and rate."""
    return KinematicSystem(
        mass=np.eye(3) if mass is None else mass,
        constraints=lambda q: np.array([[-np.sin(q[2])], [np.cos(q[2])], [0.0]]),
        potential=lambda q: 0.0,
        gradient=lambda q: np.zeros(3),
        sample=np.zeros(3),
        **more,
    )


def circle(t):
    return np.array([np.sin(t), 1.0 - np.cos(t), t])


def run(system, x, times):
    return flexph.integrate(eliminate_kinematics(system), x, times, method=Gauss(4), progress=False)


@pytest.mark.slow
@pytest.mark.parametrize("steps", [31, 60, 299])
def test_a_run_ends_with_its_chart(steps):
    """S has 1/cos φ in it: the run ends before a quarter turn, whatever the step, with the time and the cure."""
    with pytest.raises(
        IntegrationError, match=r"from t = 1\.[45].*could not be solved.*chart .*change_chart"
    ) as caught:
        run(edge(), [0.0, 0.0, 0.0, 1.0, 1.0], np.linspace(0.0, 3.0, steps + 1))
    solution = caught.value.solution
    assert 1.4 < solution.times[-1] < 0.5 * np.pi
    np.testing.assert_allclose(solution.states[-1, :3], circle(solution.times[-1]), atol=1e-3)


def test_the_last_steps_of_a_chart():
    """From 1.45 s on, in steps of 0.04 s: the pole at 1.57 is between the ends of one, which is not taken."""
    start = [*circle(1.45), 1.0 / np.cos(1.45), 1.0]  # p̃ = ẋ (1 + tan²φ), ẋ = cos φ
    with pytest.raises(IntegrationError, match=r"from t = 1\.49 s to 1\.53 s.*chart .*change_chart") as caught:
        run(edge(), start, 1.45 + 0.04 * np.arange(4))
    np.testing.assert_allclose(caught.value.solution.states[-1, :3], circle(1.49), atol=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize("name", LIBRARIES)
def test_libraries_end_with_the_chart_too(name):
    method, module = LIBRARIES[name]
    pytest.importorskip(module)
    with pytest.raises(IntegrationError, match=r"at t = 1\.5\d* s.*chart .*q = \[[\d. ]*\].*change_chart"):
        flexph.integrate(eliminate_kinematics(edge()), [0.0, 0.0, 0.0, 1.0, 1.0], np.linspace(0.0, 3.0, 32),
                         method=method(rtol=1e-5, atol=1e-7), progress=False)  # fmt: skip


@pytest.mark.slow
def test_from_chart_to_chart():
    """The end after 3 s by closed form, (0.1411, 1.9900), through three charts: Gauss of order 4, h = 0.1 s."""
    system, x = edge(), np.array([0.0, 0.0, 0.0, 1.0, 1.0])
    for k in range(3):
        system, x = change_chart(system, run(system, x, np.linspace(k, k + 1.0, 11)).states[-1])
    np.testing.assert_allclose(x[:3], circle(3.0), atol=1e-4)
    np.testing.assert_allclose(x[:2], [0.1411, 1.9900], atol=1e-4)


@pytest.mark.parametrize("seed", range(3))
def test_a_change_of_chart_keeps_velocity_and_energy(seed):
    """p̃' = S'ᵀM S v: the same q̇, p and H, with a mass that depends on the place; and p̃ is back after two changes."""
    rng = np.random.default_rng(seed)
    root = rng.standard_normal((3, 3))
    system = edge(mass=lambda q: root @ root.T + np.diag([1.0, 1.0 + q[0] ** 2, 1.0]))
    x = np.array([0.2, -0.1, 1.2, *rng.standard_normal(2)])
    there, y = change_chart(system, x)
    one, other = ReducedKinematics(system), ReducedKinematics(there)
    assert one.pivots.tolist() != other.pivots.tolist()
    np.testing.assert_allclose(one.momenta(x[:3], x[3:]), other.momenta(y[:3], y[3:]), rtol=1e-10)
    assert one.energy(x) == pytest.approx(other.energy(y), rel=1e-12)
    p = one.basis(x[:3]).T @ other.momenta(y[:3], y[3:])
    np.testing.assert_allclose(p, x[3:], rtol=1e-9)  # conditions of S up to 3, of M up to 1e3


@pytest.mark.slow
def test_a_basis_of_the_user_has_no_chart():
    """S = ((cos φ, sin φ, 0), (0, 0, 1)) is regular everywhere: the circle in one run."""
    basis = lambda q: np.array([[np.cos(q[2]), 0.0], [np.sin(q[2]), 0.0], [0.0, 1.0]])  # noqa: E731
    states = run(edge(basis=basis), [0.0, 0.0, 0.0, 1.0, 1.0], np.linspace(0.0, 3.0, 31)).states
    np.testing.assert_allclose(states[-1, :3], circle(3.0), atol=1e-5)


@pytest.mark.slow
def test_multipliers_of_a_dirac_structure_end_with_their_choice():
    """The same knife edge as a PortHamiltonian: its multiplier is the force on one velocity, chosen at the sample."""
    blade = rigid.VelocityConstraint("blade", lambda z: np.array([[-np.sin(z[2]), np.cos(z[2]), 0.0]]))
    system = rigid.MultibodySystem(mass=np.eye(3), sample=np.zeros(3), velocity_constraints=(blade,))
    whole = rigid.port_hamiltonian(system).phdae()
    start = np.array([0.0, 0.0, 0.0, 1.0, 0.0, 1.0, 0.0])
    start = flexph.consistency.consistent(whole, start, keep=["positions", "momenta"])
    with pytest.raises(IntegrationError, match=r"from t = 1\.[45].* chosen at the sample are not determined"):
        flexph.integrate(whole, start, np.linspace(0.0, 3.0, 61), method=Gauss(2), progress=False)
