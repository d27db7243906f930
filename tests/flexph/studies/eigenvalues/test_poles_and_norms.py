"""Derivatives of poles, H2 and H∞ norms: closed forms, differences, repeated poles, constraints that turn."""

from functools import partial

import numpy as np
import pytest

import fem
from flexph import GROUND, LinearPHDAE, connect, eliminate, hinge, slider, spring_damper, weld
from flexph.joints import force
from flexph.linear import impulse_response, poles
from flexph.studies import h2_sensitivities, hinf_sensitivities, pole_sensitivities


def crank(young, length, damper):
    """A held crank with a damped connecting rod; the rows of its constraints depend on the length."""
    material, section = fem.Material(young=young, density=2700.0), fem.Section(width=0.02, height=0.004)
    links = {"a": fem.beam(length, material, section, elements=2), "b": fem.beam(0.4, material, section, elements=2)}
    joints = [
        weld("a.root", GROUND),
        hinge("a.tip", "b.root"),
        slider("b.tip", GROUND, direction=(1.0, 0.0), turning=True),
        spring_damper("a.tip", GROUND.at(0.0, 1.0), damping=damper),
        force("a.tip", name="push"),
    ]
    mechanism = connect(links, joints)
    return mechanism.linearize(mechanism.assemble({"a": (0.0, 0.0, 0.4)}, guess={"b": -0.5}))


AT = {"young": 70e9, "length": 0.3, "damper": 20.0}


def test_poles_of_constrained_damped_systems_have_the_derivatives_of_differences():
    found = pole_sensitivities(crank, AT, 4)
    assert np.all(found.poles.real < 0.0)
    np.testing.assert_allclose(found.poles, nearest(crank(**AT), found.poles), rtol=1e-9)
    for name, value in AT.items():
        step = 1e-3 * value
        ends = [nearest(crank(**{**AT, name: value + by * step}), found.poles) for by in (-2, -1, 1, 2)]
        expected = (8.0 * (ends[2] - ends[1]) - (ends[3] - ends[0])) / (12.0 * step)
        size = np.abs(value * found.derivatives[name]).max()
        # round-off of poles, 1e-10 of them, over a step of a thousandth
        np.testing.assert_allclose(value * found.derivatives[name], value * expected, atol=1e-6 * size)


def nearest(system, wanted):
    """Poles of a system next to those that are wanted."""
    own = poles(eliminate(system))
    return own[np.abs(own[:, None] - wanted).argmin(axis=0)]


def test_repeated_poles_part_as_the_form_on_their_eigenvectors_says():
    """Two equal damped oscillators in turned coordinates, one spring stiffer."""
    turn = np.array([[0.6, 0.8], [-0.8, 0.6]])

    def pair(stiffness):
        E = np.diag([1.0, 1.0, 1.0 / stiffness, 0.25])
        J = np.block([[np.zeros((2, 2)), -turn.T], [turn, np.zeros((2, 2))]])
        return LinearPHDAE(E=E, J=J, R=np.diag([0.2, 0.2, 0.0, 0.0]))

    found = pole_sensitivities(pair, {"stiffness": 4.0}, 4)
    pole = found.poles[0]
    assert pole == pytest.approx(-0.1 + 1j * np.sqrt(4.0 - 0.01))
    expected = -1.0 / (2.0 * pole + 0.2)  # of λ² + 0.2 λ + k = 0
    own = found.derivatives["stiffness"][:2]
    np.testing.assert_allclose(own[np.argsort(np.abs(own))], [0.0, expected], atol=1e-8)


def test_a_critically_damped_oscillator_has_no_derivative():
    def oscillator(damping):
        J = np.array([[0.0, -1.0], [1.0, 0.0]])
        return LinearPHDAE(E=np.diag([1.0, 0.25]), J=J, R=np.diag([damping, 0.0]))

    with pytest.raises(ValueError, match="defective and has no derivative"):
        pole_sensitivities(oscillator, {"damping": 4.0}, 2)
    with pytest.raises(ValueError, match="count must be at most 2"):
        pole_sensitivities(oscillator, {"damping": 1.0}, 3)
    with pytest.raises(ValueError, match="must have inputs"):
        h2_sensitivities(oscillator, {"damping": 1.0})


def test_the_h2_norm_is_the_energy_of_the_impulse_response():
    def chain(stiffness, damping, mass):
        E = np.diag([mass, 2.0, 1.0 / stiffness, 0.5])
        D = np.array([[1.0, 0.0], [-1.0, 1.0]])
        J = np.block([[np.zeros((2, 2)), -D.T], [D, np.zeros((2, 2))]])
        B = np.array([[0.0], [1.0], [0.0], [0.0]])
        return LinearPHDAE(E=E, J=J, R=np.diag([damping, 0.3, 0.0, 0.0]), B=B)

    at = {"stiffness": 3.0, "damping": 0.6, "mass": 1.5}
    found = h2_sensitivities(chain, at)
    times = np.linspace(0.0, 120.0, 60001)
    response = impulse_response(chain(**at), times, progress=False).values[:, 0, 0]
    energy = np.trapezoid(response**2, times) if hasattr(np, "trapezoid") else np.trapz(response**2, times)
    assert found.norm == pytest.approx(np.sqrt(energy), rel=1e-5)  # trapezoidal rule, h²
    for name, value in at.items():
        norms = [h2_sensitivities(chain, {**at, name: value * (1 + by * 1e-3)}).norm for by in (-2, -1, 1, 2)]
        expected = (8.0 * (norms[2] - norms[1]) - (norms[3] - norms[0])) / (12.0 * 1e-3 * value)
        assert found.derivatives[name] == pytest.approx(expected, rel=1e-9)


def test_the_h2_norm_of_a_constrained_system_follows_its_parameters():
    at = {"length": 0.3, "damper": 20.0}

    def own(length, damper):
        system = crank(70e9, length, damper)
        return LinearPHDAE(E=system.E, J=system.J, R=system.R + 20.0 * system.E, G=system.G, B=system.B)

    found = h2_sensitivities(own, at)
    for name, value in at.items():
        alone = partial(own, **{other: kept for other, kept in at.items() if other != name})
        norms = [h2_sensitivities(alone, {name: value * (1 + by * 1e-3)}).norm for by in (-2, -1, 1, 2)]
        expected = (8.0 * (norms[2] - norms[1]) - (norms[3] - norms[0])) / (12.0 * 1e-3 * value)
        assert found.derivatives[name] == pytest.approx(
            expected, rel=1e-4
        )  # round-off of the stiff equations, over the step


def test_undamped_systems_have_no_h2_norm():
    def oscillator(mass):
        return LinearPHDAE(E=np.diag([mass, 0.1]), J=np.array([[0.0, -1.0], [1.0, 0.0]]), B=np.array([[1.0], [0.0]]))

    with pytest.raises(ValueError, match="asymptotically stable"):
        h2_sensitivities(oscillator, {"mass": 1.0})


def test_slow_poles_of_a_stiff_system_are_not_repeated():
    """A pole of 1e10 1/s does not change the derivatives of two slow ones: those of λ² + (a + b) λ + a b + c² = 0."""
    a, b, c = 0.3, 0.8, 0.02

    def system(a):
        J = np.zeros((3, 3))
        J[0, 1], J[1, 0] = c, -c
        return LinearPHDAE(E=np.eye(3), J=J, R=np.diag([a, b, 1e10]))

    found = pole_sensitivities(system, {"a": a}, 2)
    np.testing.assert_allclose(
        found.derivatives["a"], -(found.poles + b) / (2.0 * found.poles + a + b), rtol=1e-5
    )  # the poles are known to 1e-16 of 1e10


def two_masses(stiffness, damping, mass):
    """Two masses on springs, with a force on each."""
    E = np.diag([mass, 2.0, 1.0 / stiffness, 0.5])
    D = np.array([[1.0, 0.0], [-1.0, 1.0]])
    J = np.block([[np.zeros((2, 2)), -D.T], [D, np.zeros((2, 2))]])
    B = np.array([[0.0, 1.0], [1.0, 0.3], [0.0, 0.0], [0.0, 0.0]])
    return LinearPHDAE(E=E, J=J, R=np.diag([damping, 0.3, 0.05, 0.02]), B=B)


def test_the_hinf_norm_is_the_largest_gain_and_its_derivative_that_of_the_gain():
    """The gain of an oscillator with losses in its spring is a closed form; others are compared with differences."""
    at = {"stiffness": 3.0, "damping": 0.6, "mass": 1.5}
    found = hinf_sensitivities(two_masses, at)
    system = two_masses(**at)

    def gain(frequency):
        response = system.B.T @ np.linalg.solve(1j * frequency * system.E - (system.J - system.R), system.B)
        return np.linalg.norm(response, 2)

    around = np.linspace(0.0, 10.0, 4001)
    assert found.norm >= max(map(gain, around))
    assert found.norm == pytest.approx(gain(found.frequency), rel=1e-13)
    for name, value in at.items():
        norms = [hinf_sensitivities(two_masses, {**at, name: value * (1 + by * 1e-3)}).norm for by in (-2, -1, 1, 2)]
        expected = (8.0 * (norms[2] - norms[1]) - (norms[3] - norms[0])) / (12.0 * 1e-3 * value)
        assert found.derivatives[name] == pytest.approx(expected, rel=1e-9)


def test_a_gain_at_rest_and_equal_gains():
    """A damped mass has its largest gain 1/d at zero frequency; two of them have one twice."""

    def masses(damping, other=2.0):
        return LinearPHDAE(E=np.eye(2), J=np.zeros((2, 2)), R=np.diag([damping, other]), B=np.eye(2))

    found = hinf_sensitivities(masses, {"damping": 0.5})
    assert (found.norm, found.frequency) == (pytest.approx(2.0, rel=1e-12), 0.0)
    assert found.derivatives["damping"] == pytest.approx(-4.0, rel=1e-9)
    with pytest.raises(ValueError, match="two equal singular values"):
        hinf_sensitivities(masses, {"damping": 2.0})

    def oscillators(stiffness):
        J = np.kron(np.array([[0.0, -1.0], [1.0, 0.0]]), np.eye(2))
        E = np.diag([1.0, 1.0, 1.0 / stiffness, 1.0 / 9.0])
        return LinearPHDAE(E=E, J=J, R=np.diag([0.1, 0.1, 0.0, 0.0]), B=np.eye(4)[:, :2])

    with pytest.raises(ValueError, match=r"gains at 2 and 3 rad/s are equally high"):
        hinf_sensitivities(oscillators, {"stiffness": 4.0})
    with pytest.raises(ValueError, match="asymptotically stable"):
        hinf_sensitivities(lambda mass: masses(0.0 * mass), {"mass": 1.0})
