"""Integration of general systems: energy, constraints, momenta and orders of all methods."""

import math
from dataclasses import replace

import h5py
import numpy as np
import pytest
from descriptor_samples import springs_in_series
from four_particles import START, constraints, four_particles, momenta

from flexph import PHDAE, InputError, IntegrationError, LinearPHDAE, integrate
from flexph.methods import DiscreteGradient, Gauss, by_name
from flexph.systems import Derivatives

PAIRS = ("gonzalez", "mean_value", "invariants", "dirac")
ALL = (*PAIRS, "midpoint", "gauss4", "gauss6")


def run(system, steps, end, **options):
    return integrate(system, START, np.linspace(0.0, end, steps + 1), progress=False, **options)


# --- the four-particle system ---------------------------------------------------------------------


@pytest.mark.parametrize("method", PAIRS)
@pytest.mark.parametrize("eta", [0.0, 1.0])
def test_pairs_balance_the_energy_and_keep_the_constraints(method, eta):
    found = run(
        four_particles(eta), 50, 0.5, method=by_name(method), inputs={"push": lambda t: (math.sin(9.0 * t), 0.5, -0.2)}
    )
    # per step a few round-offs of the energy, 1.2 J, and of the stiff springs' terms, 500 N/m
    assert found.ledger.residual.max() < 1e-13
    assert found.energy_drift() < 1e-12
    assert np.abs(constraints(found["q"])).max() < 1e-13  # quadratic: the middle is their discrete Jacobian
    assert found.ledger.work["push"].sum() != 0.0
    assert (found.ledger.total_dissipation.sum() > 0.0) == (eta > 0.0)


def test_energies_are_the_published_ones():
    # reference values of [dg] sec. 6.3 with η₀ = 1, h = 0.01: H(0) = 20/17, H(10) = 0.68501669 by Gonzalez' gradient
    found = run(four_particles(1.0), 1000, 10.0)
    assert found.ledger.total_energy[0] == pytest.approx(20.0 / 17.0, abs=1e-15)
    assert found.ledger.total_energy[-1] == pytest.approx(0.68501669, abs=1e-8)
    assert np.all(np.diff(found.ledger.total_energy) < 1e-14)


def test_momenta_need_the_gradient_through_invariants():
    kept, leaked = (run(four_particles(0.0), 1000, 10.0, method=by_name(name)) for name in ("invariants", "gonzalez"))
    for values in momenta(kept):
        assert np.abs(values - values[0]).max() < 1e-11  # 1000 steps of round-off of the iteration
    linear, _ = momenta(leaked)
    assert np.abs(linear - linear[0]).max() == pytest.approx(1.8e-5, rel=0.05)  # published leak
    assert kept.energy_drift() < 1e-11
    assert leaked.energy_drift() < 1e-11


@pytest.mark.parametrize("step", [0.1, 0.2, 0.25])
def test_the_energy_never_increases_at_large_steps(step):
    found = run(four_particles(1.0), 25, 25 * step)
    assert np.diff(found.ledger.total_energy).max() <= 1e-12


ORDERS = {**dict.fromkeys(PAIRS, 2), "midpoint": 2, "gauss4": 2, "gauss6": 4}
"""On index 2 with midpoint matrices; Gauss methods fall from 4 and 6 (Hairer, Wanner II, table VII.4.1)."""


# --- index one: published examples and exact solutions ---------------------------------------------------


def index_one():
    """[dg] example 1 with x₁(t) = e^{−t}, x₂ = −x₁."""
    return LinearPHDAE(
        E=np.diag([1.0, 0.0]), J=np.array([[0.0, 1.0], [-1.0, 0.0]]), R=np.diag([0.0, 1.0]), parts={"x": slice(0, 1)}
    )


@pytest.mark.parametrize(
    ("method", "order"),
    [("gonzalez", 2), ("mean_value", 2), ("dirac", 2), ("midpoint", 2), ("gauss4", 4), ("gauss6", 6)],
)
def test_order_on_an_index_one_system(method, order):
    errors = []
    for steps in (4, 8):
        found = integrate(
            index_one(), (1.0, -1.0), np.linspace(0.0, 2.0, steps + 1), method=by_name(method), progress=False
        )
        errors.append(abs(found.states[-1, 0] - math.exp(-2.0)))
    assert math.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.1)
    assert errors[1] < {2: 2e-3, 4: 2e-6, 6: 2e-9}[order]


def test_the_pair_is_the_midpoint_rule_on_the_published_example():
    found = integrate(index_one(), (1.0, -1.0), [0.0, 0.1], progress=False)
    # [dg] eq. (28): x₁' = x₁ − h (x₁ + x₁')/2; the algebraic state is the stage value −(x₁ + x₁')/2
    first = (1.0 - 0.05) / (1.0 + 0.05)
    np.testing.assert_allclose(found.states[-1], [first, -0.5 * (1.0 + first)], rtol=1e-14)


# --- energies that are not quadratic ----------------------------------------------------------------------


def pendulum(damping=0.1):
    """x = (θ, p), H = p²/2 − cos θ, with a torque."""
    return PHDAE(
        E=np.eye(2),
        J=np.array([[0.0, 1.0], [-1.0, 0.0]]),
        R=np.diag([0.0, damping]),
        B=np.array([[0.0], [1.0]]),
        z=lambda x: np.array([np.sin(x[0]), x[1]]),
        H=lambda x: 0.5 * x[1] ** 2 - np.cos(x[0]),
        sample=np.array([1.0, 0.3]),
        ports={"torque": slice(0, 1)},
    )


@pytest.mark.parametrize("method", ["gonzalez", "mean_value", "dirac"])
def test_any_hamiltonian_is_balanced(method):
    times = np.linspace(0.0, 5.0, 51)
    found = integrate(pendulum(), (2.5, 0.0), times, method=by_name(method), inputs={"torque": np.sin}, progress=False)
    assert found.ledger.largest_residual < 1e-14
    assert found.outputs["torque"].shape == (50, 1)
    plain = integrate(pendulum(), (2.5, 0.0), times, method=Gauss(2), inputs={"torque": np.sin}, progress=False)
    assert plain.ledger.largest_residual > 1e-7  # which the midpoint rule does not do


@pytest.mark.parametrize("method", ["gonzalez", "mean_value", "dirac", "midpoint", "gauss4", "gauss6"])
def test_order_on_the_pendulum(method):
    order = {"gauss4": 4, "gauss6": 6}.get(method, 2)

    def end(steps):
        times = np.linspace(0.0, 2.0, steps + 1)
        return integrate(pendulum(), (1.5, 0.0), times, method=by_name(method), progress=False).final

    fine = integrate(pendulum(), (1.5, 0.0), np.linspace(0.0, 2.0, 161), method=Gauss(6), progress=False).final
    errors = [np.abs(end(steps) - fine).max() for steps in (10, 20)]
    assert math.log2(errors[0] / errors[1]) == pytest.approx(order, abs=0.15)  # terms of the next order at 10 steps
    assert errors[1] < {2: 1e-2, 4: 1e-5, 6: 1e-8}[order]


def test_a_mean_of_the_user_is_taken():
    asked = []

    def mean(x0, x1):
        asked.append(1)
        return np.array([[0.0, 1.0], [-1.0, 0.0]])

    system = pendulum()
    own = PHDAE(
        E=system.E,
        J=system.J,
        R=system.R,
        B=system.B,
        z=system.z,
        H=system.H,
        sample=system.sample,
        ports=system.ports,
        means={"J": mean},
    )
    a = integrate(own, (2.0, 0.0), [0.0, 0.1], progress=False)
    b = integrate(system, (2.0, 0.0), [0.0, 0.1], progress=False)
    assert asked
    np.testing.assert_array_equal(a.final, b.final)


# --- singular and varying descriptors ----------------------------------------------------------------------


def test_singular_constant_mass_by_its_singular_values():
    """Masses in redundant coordinates ([dg] example 7): M = [[1, 1], [1, 1]] has rank 1; by hand, s = q₁ + q₂."""
    # springs in series: the sum moves with the stiffness 1/(1/3 + 1), both carry the same force
    found = integrate(springs_in_series(), (0.25, 0.75, 0.0, 0.0), np.linspace(0.0, 2.0, 201), progress=False)
    exact = np.cos(math.sqrt(0.75) * found.times)
    assert np.abs(found.states[:, 0] + found.states[:, 1] - exact).max() < 2e-5  # h²ω³t/12 = 1.1e-5
    assert found.ledger.largest_residual < 1e-14


def test_a_descriptor_that_leaves_states_undetermined_is_answered():
    """[dg] example 8 without R: E = (1, 1)ᵀ∇Hᵀ has rank one, and its second equation is 0 = 0."""

    def energy(x):
        return math.exp(0.5 * x[0] ** 2) - 1.0 + 0.5 * x[1] ** 2

    def slope(x):
        return np.array([x[0] * math.exp(0.5 * x[0] ** 2), x[1]])

    system = PHDAE(
        E=lambda x: np.outer([1.0, 1.0], slope(x)),
        J=np.zeros((2, 2)),
        z=lambda x: np.array([0.5, 0.5]),
        H=energy,
        sample=np.array([1.0, 0.5]),
    )
    for method in (DiscreteGradient(), Gauss(4)):
        with pytest.raises(ValueError, match=r"cannot start: .* equations are dependent"):
            integrate(system, (1.0, 0.5), [0.0, 0.1], method=method)


# --- failures keep what was computed -----------------------------------------------------------------------


def test_bad_input_is_named():
    with pytest.raises(ValueError, match=r"method must be a value such as Exact\(\), .* got 'euler'"):
        integrate(pendulum(), (1.0, 0.0), [0.0, 0.1], method="euler")
    with pytest.raises(ValueError, match=r"start must have shape \(2,\), got \(3"):
        integrate(pendulum(), (1.0, 0.0, 0.0), [0.0, 0.1])
    with pytest.raises(ValueError, match="no external port 'force': there are 'torque'"):
        integrate(pendulum(), (1.0, 0.0), [0.0, 0.1], inputs={"force": 1.0})
    with pytest.raises(ValueError, match=r"DiscreteGradient\('invariants'\) needs.*system.*invariants="):
        integrate(pendulum(), (1.0, 0.0), [0.0, 0.1], method=DiscreteGradient("invariants"))
    with pytest.raises(ValueError, match="times must ascend"):
        integrate(pendulum(), (1.0, 0.0), [0.0, 0.1, 0.1])


def test_steps_in_which_no_state_can_change():
    """x + h ẋ is x in double precision below h = ε/2 |x|/|ẋ|; states at rest or under unknown inputs have no such h."""
    swing = LinearPHDAE(
        np.eye(2), np.array([[0.0, 2.0], [-2.0, 0.0]]), B=np.array([[0.0], [1.0]]), ports={"push": slice(0, 1)}
    )
    shortest = 0.5 * np.finfo(float).eps / 2.0
    for start, options in (((0.0, 1.0), {}), ((1.0, 1.0), {"inputs": {"push": math.sin}})):
        assert integrate(swing, start, (0.0, 1e-30), **options).final.shape == (2,)
    assert integrate(swing, (1.0, 1.0), (0.0, 2.0 * shortest)).final[1] < 1.0
    with pytest.raises(ValueError, match=r"times must.*least 5\.6e-17 s apart,.*states.*double precision"):
        integrate(swing, (1.0, 1.0), (0.0, 0.9 * shortest))


def test_an_input_that_fails_keeps_the_finished_steps():
    times = np.linspace(0.0, 1.0, 11)
    with pytest.raises(InputError, match=r"between t = 0\.5 s and 0\.6 s") as caught:
        integrate(pendulum(), (1.0, 0.0), times, inputs={"torque": lambda t: 1.0 if t < 0.5 else None}, progress=False)
    assert caught.value.solution.times[-1] == pytest.approx(0.5)


def test_a_step_without_solution_says_so():
    """ẋ = x² with H = x²/2 through a port of its own: it leaves to infinity at t = 1."""
    system = PHDAE(
        E=np.eye(1),
        J=np.zeros((1, 1)),
        B=lambda x: np.array([[x[0] ** 2]]),
        z=lambda x: x,
        H=lambda x: 0.5 * float(x[0]) ** 2,
        sample=np.ones(1),
        ports={"u": slice(0, 1)},
    )
    with pytest.raises(IntegrationError, match="could not be solved by 'gonzalez'") as caught:
        integrate(system, (1.0,), np.linspace(0.0, 2.0, 21), inputs={"u": 1.0}, progress=False)
    assert 0.5 < caught.value.solution.times[-1] < 1.2


def test_saving_every_tenth_step_keeps_sums_and_maxima():
    times = np.linspace(0.0, 1.0, 101)
    every = integrate(pendulum(), (2.0, 0.0), times, inputs={"torque": np.cos}, progress=False)
    tenth = integrate(pendulum(), (2.0, 0.0), times, inputs={"torque": np.cos}, save_every=10, progress=False)
    np.testing.assert_array_equal(tenth.states, every.states[::10])
    for name in ("total_dissipation", "iterations"):
        full = getattr(every.ledger, name).reshape(10, 10).sum(axis=1)
        np.testing.assert_allclose(getattr(tenth.ledger, name), full, rtol=1e-13)
    np.testing.assert_array_equal(tenth.ledger.residual, every.ledger.residual.reshape(10, 10).max(axis=1))


def test_a_saved_trajectory_holds_what_it_says(tmp_path):
    found = integrate(pendulum(), (1.0, 0.0), np.linspace(0.0, 0.2, 5), inputs={"torque": 0.1}, progress=False)
    found.save(tmp_path / "run.h5")
    with h5py.File(tmp_path / "run.h5") as file:
        assert (file.attrs["format"], file.attrs["method"]) == (b"flexph trajectory 2", b"gonzalez")
        np.testing.assert_array_equal(file["states"][()], found.states)
        np.testing.assert_array_equal(file["outputs/torque"][()], found.outputs["torque"])
        np.testing.assert_array_equal(file["ledger/work/torque"][()], found.ledger.work["torque"])
        np.testing.assert_array_equal(file["ledger/energy/system"][()], found.ledger.total_energy)
        assert file["ledger/exchanged"][()] == [found.ledger.exchanged]


def particle(**options):
    """A free fall of 2 kg from where the potential is zero: H = 0 throughout."""
    made = {"E": np.eye(2), "J": np.array([[0.0, 1.0], [-1.0, 0.0]]), "z": lambda x: np.array([20.0, x[1] / 2.0])}
    return PHDAE(H=lambda x: 20.0 * x[0] + x[1] ** 2 / 4.0, sample=[0.1, 0.2], **(made | options))


@pytest.mark.parametrize("method", ["gonzalez", "gauss4", "radau"])
def test_errors_are_measured_by_what_states_exchange_where_the_energy_is_zero(method):
    """All of the potential energy, 20 N × 5 m after 1 s, becomes kinetic: linear and quadratic parts count exactly."""
    found = integrate(particle(), (0.0, 0.0), np.linspace(0.0, 1.0, 11), method=by_name(method), progress=False)
    assert np.abs(found.ledger.total_energy).max() < 1e-13
    assert found.ledger.scale == found.ledger.exchanged == pytest.approx(100.0, rel=1e-12)
    assert found.ledger.largest_residual < 1e-14
    assert found.energy_drift() < 1e-14


def test_the_energy_itself_is_the_measure_where_it_is_larger():
    found = integrate(particle(), (100.0, 0.0), np.linspace(0.0, 1.0, 11), progress=False)
    assert found.ledger.scale == pytest.approx(2000.0, rel=1e-14)
    rest = integrate(pendulum(), (0.0, 0.0), (0.0, 1.0), progress=False)
    assert rest.ledger.exchanged == 0.0


@pytest.mark.parametrize("method", ["gonzalez", "mean_value", "midpoint"])
def test_every_kind_of_matrix_with_and_without_derivatives(method):
    """E, J and B that vary, one by a mean of its own over the step, an algebraic state, and all derivatives.

    E = diag(1 + x₂², 1, 0): H = cosh x₁ − 1 + x₂²/2, the third row says 0 = x₁ − x₃.
    """

    def descriptor(x):
        return np.diag(np.array([1.0 + x[1] ** 2, 1.0, 0.0]))

    def structure(x):
        made = np.zeros((3, 3))
        made[0, 1], made[1, 0] = 1.0 + 0.1 * x[0], -1.0 - 0.1 * x[0]
        return made

    def inputs(x):
        return np.array([[0.0], [1.0 + 0.5 * x[0]], [0.0]])

    def costate(x):
        return np.array([math.sinh(x[0]) / (1.0 + x[1] ** 2), x[1], x[2] - x[0]])

    def of_costate(x):
        s = 1.0 + x[1] ** 2
        row = np.array([[math.cosh(x[0]) / s, -2.0 * x[1] * math.sinh(x[0]) / s**2, 0.0]])
        return np.concatenate((row, np.array([[0.0, 1.0, 0.0], [-1.0, 0.0, 1.0]])))

    def of_descriptor(x, w):
        made = np.zeros((3, 3))
        made[0, 1] = 2.0 * x[1] * w[0]
        return made

    def of_structure(x, w):
        made = np.zeros((3, 3))
        made[0, 0], made[1, 0] = 0.1 * w[1], -0.1 * w[0]
        return made

    def of_inputs(x, u):
        made = np.zeros((3, 3))
        made[1, 0] = 0.5 * u[0]
        return made

    whole = PHDAE(
        E=descriptor,
        J=structure,
        R=np.diag([0.0, 0.2, 1.0]),
        B=inputs,
        z=costate,
        H=lambda x: math.cosh(x[0]) - 1.0 + 0.5 * x[1] ** 2,
        sample=np.array([0.4, 0.3, 0.4]),
        ports={"u": slice(0, 1)},
        means={"J": lambda x0, x1: 0.5 * (structure(x0) + structure(x1))},
        derivatives=Derivatives(costate=of_costate, descriptor=of_descriptor, structure=of_structure, inputs=of_inputs),
    )
    runs = []
    for system in (whole, replace(whole, derivatives=None)):
        times = np.linspace(0.0, 2.0, 41)
        found = integrate(system, (0.4, 0.3, 0.4), times, method=by_name(method), inputs={"u": np.cos}, progress=False)
        assert (found.ledger.largest_residual < 1e-14) == (method != "midpoint")  # H is no polynomial
        np.testing.assert_allclose(found.states[1:, 2], 0.5 * (found.states[1:, 0] + found.states[:-1, 0]), atol=1e-13)
        runs.append(found.states)
    np.testing.assert_allclose(*runs, rtol=0.0, atol=1e-12)  # derivatives speed up and decide nothing
