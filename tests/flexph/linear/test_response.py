"""Responses of linear systems: independent routes agree, known zeros, interlacing, steps, sweeps, bad input.

Ten seconds, as responses of many systems are found by two routes each.
"""

import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
from linear_samples import chain, frame, random_system, to_sparse
from scipy.linalg import eigvals, expm, svdvals

import fem
from flexph import GROUND, LinearPHDAE, connect, eigenfrequencies, eliminate, force, hinge, plot, poles, torque, weld
from flexph.linear import (
    FrequencyResponse,
    damping_ratios,
    frequency_response,
    impulse_response,
    reduce,
    step_response,
    sweep,
    zeros,
)
from flexph.linear.elimination import project
from flexph.linear.responses.channels import channels
from flexph.linear.responses.propagation import affordable
from flexph.linear.state_space import Improper, state_space
from flexph.systems.linear import with_multipliers

METHODS = ("direct", "batched", "schur")


def by_definition(system, omega):
    """Bᵀ(iωE − J + R)⁻¹B with the multipliers as a border, dense, one frequency after the other."""
    e, a, g, n = system.E, system.R - system.J, system.G, system.size
    border = np.zeros((g.shape[0],) * 2)
    load = np.vstack([system.B, np.zeros((g.shape[0], system.B.shape[1]))])
    whole = [np.block([[1j * w * e + a, -g.T], [g, border]]) for w in omega]
    return np.array([system.B.T @ np.linalg.solve(m, load)[:n] for m in whole])


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("seed", range(3))
def test_a_response_is_that_of_the_definition(method, seed):
    system, omega = random_system(seed), np.array([0.3, 1.0, 7.0])
    found = frequency_response(system, omega, method=method)
    # condition numbers of random matrices of size 11 take up to three digits of the sixteen
    np.testing.assert_allclose(found.values, by_definition(system, omega), rtol=1e-11, atol=1e-12)
    assert found.outputs == found.inputs == ("a[0]", "a[1]", "b")


def test_routes_agree_on_a_constrained_frame():
    """Condensed sparse saddle against Schur form after elimination; digits lost: ω_max/ω = 1e6 at the low end."""
    system, omega = frame(), np.geomspace(10.0, 1e5, 40)
    direct, schur = (frequency_response(system, omega, method=m).values for m in ("direct", "schur"))
    size = np.linalg.norm(schur, axis=(1, 2))
    assert np.max(np.linalg.norm(direct - schur, axis=(1, 2)) / size) < 1e-9
    lean = frequency_response(to_sparse(system), omega).values
    np.testing.assert_array_equal(lean, direct)


def test_multipliers_as_states_change_nothing():
    system, omega = random_system(4), np.geomspace(0.1, 30.0, 50)
    wide = frequency_response(with_multipliers(system), omega, method="schur").values
    np.testing.assert_allclose(wide, frequency_response(system, omega).values, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("seed", range(3))
def test_a_passive_system_has_a_positive_real_response(seed):
    values = frequency_response(random_system(seed), np.geomspace(1e-2, 1e2, 30)).values
    hermitian = 0.5 * (values + values.conj().transpose(0, 2, 1))
    assert np.linalg.eigvalsh(hermitian).min() > -1e-12 * np.abs(values).max()


def test_names_choose_inputs_and_outputs():
    system, omega = random_system(), [1.0, 2.0]
    every = frequency_response(system, omega)
    some = frequency_response(system, omega, outputs="b", inputs=["a[1]", "b"])
    np.testing.assert_allclose(some.values, every.values[:, 2:, 1:], rtol=1e-12)
    np.testing.assert_array_equal(some.between(input="b"), some.values[:, 0, 1])
    assert frequency_response(system, omega, inputs="a").inputs == ("a[0]", "a[1]")
    with pytest.raises(ValueError, match=r"name the input: there are 'a\[1\]', 'b'"):
        some.between()
    with pytest.raises(ValueError, match=r"no port 'c': there are 'a', 'b', 'a\[0\]', 'a\[1\]'"):
        frequency_response(system, omega, inputs="c")
    with pytest.raises(ValueError, match="no input 'a'"):
        some.between("b", "a")


def test_phase_is_continued():
    """A chain driven at one end and seen at the other turns by −π at each of its six modes."""
    phase = frequency_response(chain(6, 0.02), np.geomspace(0.01, 10.0, 4000), outputs="last", inputs="first").phase
    assert phase[-1, 0, 0] - phase[0, 0, 0] == pytest.approx(-6 * np.pi, abs=0.02)  # slow ends of the band
    assert np.abs(np.diff(phase[:, 0, 0])).max() < 0.5 * np.pi


@pytest.mark.parametrize("method", METHODS)
def test_an_undamped_pole_is_refused_with_its_frequency(method):
    for omega in eigenfrequencies(chain(5)):
        with pytest.raises(ValueError, match=f"omega = {omega:.17g} rad/s is a pole"):
            frequency_response(chain(5), [0.01, omega], method=method)
    near = frequency_response(chain(5), eigenfrequencies(chain(5)) * (1.0 + 1e-9), method=method)
    assert np.abs(near.values).max() > 1e7


@pytest.mark.parametrize("make", [lambda s: s, to_sparse])
def test_responses_at_zero_frequency_are_static(make):
    """Forces do not move what is held; a rigid motion is refused; with damping it is the inverse of the damping."""
    np.testing.assert_array_equal(frequency_response(make(frame()), 0.0).values, np.zeros((1, 3, 3)))
    free = make(frame(lock=hinge))
    np.testing.assert_array_equal(frequency_response(free, 0.0).values, np.zeros((1, 3, 3)))  # a hinged triangle
    rigid = replace(chain(3), J=np.zeros((6, 6)))
    with pytest.raises(ValueError, match="omega = 0 is a pole"):
        frequency_response(make(rigid), 0.0)
    dragged = replace(rigid, R=np.diag([2.0] * 3 + [0.0] * 3))
    np.testing.assert_allclose(frequency_response(make(dragged), 0.0).values[0], 0.5 * np.eye(2), rtol=1e-14)
    # general systems: the limit from above, with the error of the small frequency
    system = make(random_system(2))
    limit = frequency_response(system, 1e-8).values
    np.testing.assert_allclose(frequency_response(system, 0.0).values, limit, atol=1e-6 * np.abs(limit).max())


def test_through_a_reduced_model_the_error_is_carried():
    system, omega = frame(), np.geomspace(10.0, 1e4, 60)
    other = frequency_response(system, omega, through=eliminate(system))
    assert other.error < 1e-9 and other.checked.size == 7
    assert "error" in repr(other) and "error" not in repr(frequency_response(system, omega))
    wrong = eliminate(system)
    wrong = replace(wrong, B=1.01 * wrong.B)  # H grows by 1.01²
    assert frequency_response(system, omega, through=wrong).error == pytest.approx(0.0201, rel=1e-6)
    with pytest.raises(ValueError, match="through must be a system with the same ports: no port"):
        frequency_response(system, omega, through=chain(3))


@pytest.mark.parametrize(
    ("omega", "message"),
    [
        ([], "at least one frequency"),
        ([-1.0], "must not be negative"),
        ([2.0, 1.0], "must ascend, got 2.0 rad/s before 1.0"),
        ([np.nan], "omega must be finite"),
    ],
)
def test_bad_frequencies_are_refused(omega, message):
    with pytest.raises(ValueError, match=message):
        frequency_response(chain(2), omega)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda s: frequency_response(s, [10j]), "omega must be real, got complex"),
        (lambda s: frequency_response(s, 1.0 + 0j), "omega must be real, got complex"),
        (lambda s: step_response(s, [1j]), "times must be real, got complex"),
        (lambda s: frequency_response(s, 1.0, inputs=3), "inputs must be a text or a list of names, got 3"),
        (lambda s: frequency_response(s, 1.0, outputs=["last", 3]), "outputs\\[1\\] must be a text, got 3"),
        (lambda s: frequency_response(s, 1.0, through=3), "through must be a LinearPHDAE.*got int"),
        (lambda s: frequency_response(3, 1.0), "system must be a LinearPHDAE.*got int"),
        (lambda s: damping_ratios(3), "system must be a LinearPHDAE.*got int"),
        (lambda s: sweep(3, [1.0]), "make must be a function, got 3"),
        (lambda s: sweep(lambda k: s, 5.0), "values must be a list of numbers, got 5.0"),
        (lambda s: sweep(lambda k: s, []), "values must hold at least one number"),
        (lambda s: sweep(lambda k: k, [1.0]), "what the function returns must be a LinearPHDAE.*got float"),
    ],
)
def test_wrong_arguments_are_named(make, message):
    with pytest.raises(ValueError, match=message):
        make(chain(2))


def test_a_response_checks_itself():
    with pytest.raises(ValueError, match=r"values must have shape \(2, 1, 1\)"):
        FrequencyResponse(np.array([1.0, 2.0]), np.zeros((3, 1, 1)), ("y",), ("u",))
    with pytest.raises(ValueError, match="values must be finite"):
        FrequencyResponse(np.array([1.0]), np.full((1, 1, 1), np.nan), ("y",), ("u",))
    found = frequency_response(chain(2, 0.1), [1.0])
    with pytest.raises(ValueError, match="read-only"):
        found.values[0] = 0.0


def test_a_prescribed_velocity_has_no_state_space_but_a_response():
    """A mass under a prescribed velocity answers with the force s m."""
    mass = LinearPHDAE(
        E=np.diag([3.0, 0.0]),
        J=np.array([[0.0, 1.0], [-1.0, 0.0]]),
        B=np.array([[0.0], [1.0]]),
        ports={"v": slice(0, 1)},
    )
    with pytest.raises(Improper, match="prescribes a velocity"):
        state_space(mass)
    np.testing.assert_allclose(frequency_response(mass, [2.0]).values[0, 0, 0], 6.0j, rtol=1e-14)


# steps and impulses


def test_steps_of_the_oscillator():
    """v(t) = sin t after a unit force, cos t after a unit impulse."""
    t = np.array([0.0, 0.1, 0.5, 0.6, 3.0, 7.25])
    np.testing.assert_allclose(
        step_response(chain(1), t, inputs="first", outputs="last").between(), np.sin(t), atol=1e-14
    )
    pulse = impulse_response(chain(1), t, inputs="first", outputs="last")
    np.testing.assert_allclose(pulse.between(), np.cos(t), atol=1e-14)


def test_exact_steps_are_those_of_the_exponential():
    system, t = random_system(1), np.linspace(0.2, 2.0, 7)
    a, b, c, _ = state_space(system)
    expected = np.array([c @ np.linalg.solve(a, expm(a * x) - np.eye(len(a))) @ b for x in t])
    np.testing.assert_allclose(step_response(system, t).values, expected, rtol=1e-9, atol=1e-11)
    expected = np.array([c @ expm(a * x) @ b for x in t])
    np.testing.assert_allclose(impulse_response(system, t).values, expected, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("respond", [step_response, impulse_response])
def test_the_midpoint_rule_converges_to_the_exact_response(respond):
    system, t = random_system(3), np.linspace(0.0, 1.0, 21)
    exact = respond(system, t).values
    errors = [np.abs(respond(system, t, method="midpoint", substeps=k).values - exact).max() for k in (8, 16)]
    assert np.log2(errors[0] / errors[1]) == pytest.approx(2.0, abs=0.1)
    assert errors[1] < 1e-2 * np.abs(exact).max()


def test_midpoint_steps_balance_the_energy_of_a_pulse():
    """Without losses the energy after an impulse, ½bᵀE⁻¹b, stays: y at the impulse's own port repeats its norm."""
    system = chain(1)
    pulse = impulse_response(system, np.linspace(0.0, 25.0, 51), method="midpoint", inputs="first", outputs="first")
    v = pulse.between()
    assert np.abs(v).max() <= 1.0 + 1e-13 and np.abs(v[-10:]).max() > 0.9


def test_feedthrough_answers_at_once():
    damper = LinearPHDAE(E=np.zeros((1, 1)), J=np.zeros((1, 1)), R=np.eye(1) / 4.0, B=np.eye(1))
    np.testing.assert_allclose(step_response(damper, [0.0, 1.0]).between(), [4.0, 4.0], rtol=1e-14)
    with pytest.raises(ValueError, match="regular E"):
        impulse_response(damper, [0.0, 1.0], method="midpoint")


def test_bad_times_are_refused():
    for times in ([], [-1.0, 0.0], [0.0, 0.0]):
        with pytest.raises(ValueError, match="times must"):
            step_response(chain(2), times)
    with pytest.raises(ValueError, match="method must be one of"):
        step_response(chain(2), [1.0], method="euler")


def chain_steps(n, t):
    """Velocity of the last mass of :func:`chain` after a unit force on it, by its modes: Σ φ² sin(ωt)/ω."""
    angle = (2.0 * np.arange(1, n + 1) - 1.0) * np.pi / (2.0 * n + 1.0)
    omega, square = 2.0 * np.sin(0.5 * angle), 4.0 / (2.0 * n + 1.0) * np.sin(n * angle) ** 2
    return np.sin(np.outer(t, omega)) @ (square / omega)


def test_steps_are_exact_where_that_takes_seconds():
    t = np.linspace(0.0, 400.0, 5)
    found = step_response(chain(310), t, inputs="last", outputs="last")  # 620 states
    assert found.method == "exact" and found.error is None
    np.testing.assert_allclose(found.between(), chain_steps(310, t), atol=1e-10)  # round-off times 4 exponentials
    assert affordable(600, np.geomspace(1e-3, 1.0, 50)) and not affordable(1500, np.geomspace(1e-3, 1.0, 50))
    assert affordable(2000, np.linspace(0.0, 1.0, 101)) and not affordable(2100, np.linspace(0.0, 1.0, 101))


@pytest.mark.parametrize("respond", [step_response, impulse_response])
def test_substeps_are_doubled_until_the_response_settles(respond):
    system, t = chain(4, 0.1), np.linspace(0.0, 10.0, 6)
    exact = respond(system, t).values
    for tolerance in (1e-2, 1e-4):
        found = respond(system, t, method="midpoint", tolerance=tolerance)
        assert found.error <= tolerance and found.substeps > 1
        size = np.abs(exact).max(axis=0)
        assert np.max(np.abs(found.values - exact).max(axis=0) / size) < tolerance


def test_a_motion_faster_than_the_steps_is_not_taken_for_settled():
    """v' = −10⁶v + u: even substeps of the midpoint rule stay at zero, odd ones swing to twice the answer."""
    stiff = LinearPHDAE(E=np.eye(1), J=np.zeros((1, 1)), R=np.eye(1) * 1e6, B=np.eye(1))
    t = np.linspace(0.0, 5.0, 11)
    even, more = (step_response(stiff, t, method="midpoint", substeps=k).between() for k in (2, 4))
    assert np.abs(even - more).max() < 1e-9  # alike, and both wrong: the answer is 1e-6
    with pytest.raises(ArithmeticError, match="did not converge"):
        step_response(stiff, t, method="midpoint")


@pytest.mark.parametrize("respond", [step_response, impulse_response])
def test_a_response_that_does_not_settle_is_refused_with_its_change(respond):
    fast = replace(chain(1), J=1e5 * chain(1).J)
    with pytest.raises(ArithmeticError, match=r"did not converge: .* changed.*\d\.\de.* tolerance = 0.001.*through="):
        respond(fast, np.linspace(0.0, 1.0, 11), method="midpoint")


@pytest.mark.parametrize("respond", [step_response, impulse_response])
def test_steps_through_a_reduced_model_carry_the_error(respond):
    system, t = frame(), np.linspace(0.0, 0.01, 21)
    found = respond(system, t, through=eliminate(system))
    assert found.error < 1e-8 and found.checked.size > 60
    assert "reduced: error" in repr(found) and "error" not in repr(respond(system, t))
    np.testing.assert_allclose(found.values, respond(system, t).values, rtol=1e-9, atol=1e-12 * found.values.max())
    wrong = eliminate(system)
    assert respond(system, t, through=replace(wrong, B=1.01 * wrong.B)).error == pytest.approx(0.0201, rel=1e-6)


def test_the_error_of_a_truncated_model_is_that_of_its_response():
    """Two oscillators at one force, the second left out: the estimate has the size of the weighted difference."""
    J = np.zeros((4, 4))
    J[0, 1], J[2, 3] = -1.0, -5.0
    both = LinearPHDAE(E=np.eye(4), J=J - J.T, R=np.diag([0.1, 0, 0.1, 0]), B=np.array([[1.0], [0], [0.3], [0]]))
    one = LinearPHDAE(E=np.eye(2), J=(J - J.T)[:2, :2], R=np.diag([0.1, 0]), B=np.array([[1.0], [0]]))
    t = np.linspace(0.0, 10.0, 401)
    full, short = step_response(both, t).between(), step_response(both, t, through=one)
    weight = np.exp(-t / t[-1])
    true = np.linalg.norm(weight * (short.between() - full)) / np.linalg.norm(weight * full)
    assert 0.3 * true < short.error < 3.0 * true  # the estimate sees few points of each peak
    assert true < 0.05


@pytest.mark.parametrize("respond", [step_response, impulse_response])
def test_the_error_weighs_a_response_as_its_input_does(respond):
    """A slow pole, and a fast one that is left out: a tenth of a step, more than the rest of an impulse."""
    slow, fast = 1.0, 100.0
    both = LinearPHDAE(E=np.eye(2), J=np.zeros((2, 2)), R=np.diag([slow, fast]), B=np.array([[1.0], [np.sqrt(10.0)]]))
    one = LinearPHDAE(E=np.eye(1), J=np.zeros((1, 1)), R=np.diag([slow]), B=np.ones((1, 1)))
    t = np.linspace(0.0, 40.0, 80001)  # of the integral, to where e^{−t/T} is 3e-4
    parts = np.exp(-np.outer(t, [slow, fast])) * [1.0, 10.0]
    if respond is step_response:
        parts = (1.0 - np.exp(-np.outer(t, [slow, fast]))) * [1.0 / slow, 10.0 / fast]
    weight = np.exp(-t / 5.0)
    true = np.linalg.norm(weight * parts[:, 1]) / np.linalg.norm(weight * parts.sum(axis=1))
    found = respond(both, np.linspace(0.0, 5.0, 101), through=one).error
    assert found == pytest.approx(true, rel=0.02)  # sixty frequencies of a smooth response


def test_substeps_are_for_the_midpoint_rule():
    for method in ("auto", "exact"):
        with pytest.raises(ValueError, match="substeps are for method='midpoint', got substeps=4"):
            step_response(chain(2), [1.0], method=method, substeps=4)
    with pytest.raises(ValueError, match="tolerance must be positive"):
        step_response(chain(2), [1.0], tolerance=0.0)


def test_a_time_response_is_shown_in_a_line():
    shown = repr(step_response(chain(2), [0.0, 1.0]))
    assert shown == ("TimeResponse(2 times, 0 to 1 s, outputs ['first', 'last'], inputs ['first', 'last'], exact)")
    assert "midpoint, 3 substeps)" in repr(step_response(chain(2), [1.0], method="midpoint", substeps=3))


# zeros and damping


def test_zeros_of_a_chain_are_the_poles_of_what_is_left_when_the_port_is_held():
    """Held at its last mass the chain is one of n − 1 masses between two walls: ω = 2 sin(kπ/2n); and s = 0."""
    n = 7
    found = zeros(chain(n), output="last", input="last")
    expected = 2.0 * np.sin(np.arange(1, n) * np.pi / (2 * n))
    np.testing.assert_allclose(np.abs(found.imag), [0.0, *np.repeat(expected, 2)], atol=1e-13)
    assert np.abs(found.real).max() < 1e-13
    # from one end to the other there is no finite zero but that of the derivative
    across = zeros(chain(n), output="last", input="first")
    assert across.size == 1 and abs(across[0]) < 1e-13


@pytest.mark.parametrize("seed", range(3))
def test_collocated_zeros_of_a_lossless_system_alternate_with_its_poles(seed):
    draw = np.random.default_rng(seed).standard_normal
    free = draw((10, 10))
    system = LinearPHDAE(E=np.eye(10), J=free - free.T, B=draw((10, 1)))
    p, z = np.sort(poles(system).imag), np.sort(zeros(system).imag)
    assert z.size == 9 and np.all(p[:-1] < z) and np.all(z < p[1:])


def test_zeros_make_the_response_vanish_and_lie_in_the_left_half_plane():
    system = random_system(5, constraints=1)
    a, b, c, d = state_space(system)
    for name, column in (("b", 2), ("a[0]", 0)):
        found = zeros(system, output=name, input=name)
        assert found.real.max() < 1e-12  # passive
        for s in found[:4]:
            h = c[[column]] @ np.linalg.solve(s * np.eye(len(a)) - a, b[:, [column]]) + d[column, column]
            assert abs(h[0, 0]) < 1e-9 * np.linalg.norm(b) * np.linalg.norm(c)
    assert zeros(system).size == len(a) - 3  # three ports, each takes one state


def test_modes_that_a_port_does_not_move_are_no_zeros():
    """A straight beam under a torque at its hinge: the zeros are the bending frequencies of the clamped one alone."""
    material, section = fem.Material(young=7.1e10, density=2714.0), fem.Section(area=4e-5, second_moment=8.7e-12)
    beam = fem.beam(0.3, material, section, elements=4)
    hinged = connect({"a": beam}, [hinge("a.root", GROUND), torque("a.root", name="m")])
    clamped = connect({"a": beam}, [weld("a.root", GROUND)])
    found = zeros(hinged.linearize(hinged.assemble()), output="m", input="m")
    every = eigenfrequencies(clamped.linearize(clamped.assemble()))
    assert found.size == 16 and every.size == 12  # four axial modes are missing
    for value in np.abs(found.imag):
        assert np.abs(every / value - 1.0).min() < 1e-9


def test_no_transmission_is_refused():
    apart = replace(chain(2), J=np.zeros((4, 4)))
    with pytest.raises(ValueError, match="identically zero"):
        zeros(apart, output="last", input="first")


def cantilever(length=1.0, elements=4, dim=2, loss=0.0):
    material, section = fem.Material(young=7e10, density=2700.0, poisson=0.3), fem.Section(width=0.02, height=0.01)
    beam = fem.beam(length, material, section, elements=elements, dim=dim, damping=fem.Damping(stiffness=loss))
    held = connect({"b": beam}, [weld("b.root", GROUND), force("b.tip"), torque("b.tip")])
    return held.linearize(held.assemble())


@pytest.mark.parametrize(
    ("dim", "output", "input"),
    [
        (2, "torque b.tip", "force b.tip[0]"),
        (3, "force b.tip[2]", "force b.tip[1]"),
        (2, "force b.tip[0]", "force b.tip[1]"),
    ],
)
def test_a_response_that_is_zero_to_round_off_has_no_zeros(dim, output, input):
    system = cantilever(dim=dim, loss=1e-5)
    with pytest.raises(ValueError, match="is identically zero"):
        zeros(system, output=output, input=input)
    # also where no entry of the matrices says so: in coordinates that are turned
    free = eliminate(system)
    turn = np.linalg.qr(np.random.default_rng(0).standard_normal((free.size, free.size)))[0]
    scale = turn / np.sqrt(free.E.diagonal())[:, None]
    with pytest.raises(ValueError, match="is identically zero"):
        zeros(project(replace(free, kinetic=None), scale), output=output, input=input)


def test_inputs_that_do_nothing_leave_the_zeros_of_the_others():
    system = cantilever(loss=1e-5)
    alone = zeros(system, output="torque b.tip", input="torque b.tip")
    beside = zeros(system, output="torque b.tip", input=["force b.tip[0]", "torque b.tip"])
    np.testing.assert_allclose(np.sort(beside), np.sort(alone), rtol=1e-7)


def test_zeros_of_a_symmetric_frame_are_those_of_its_half(monkeypatch):
    """A force along the axis of symmetry moves half of the modes; no singular values of whole matrices are taken."""
    small = lambda a: svdvals(a) if a.shape[1] <= 40 else pytest.fail("slow")  # noqa: E731
    monkeypatch.setattr(import_module("flexph.linear.responses.zeros"), "svdvals", small)
    system = frame(10, lock=hinge)
    found = zeros(system, output="force b.root[1]", input="force b.root[1]")
    other = zeros(system, output="force b.root[0]", input="force b.root[0]")
    # the symmetric modes, and those against it: each has a zero less than poles of its own
    assert found.size + other.size == eliminate(system).size - 2


def test_zeros_of_larger_systems_take_seconds_at_most():
    """Those of the held tip: 4 states for every element, without the axial ones, less the spin that is held."""
    found = zeros(cantilever(elements=60, loss=1e-5), output="torque b.tip", input="torque b.tip")
    assert found.size == 4 * 60 - 1 and found.real.max() < 1e-9 * np.abs(found).max()


@pytest.mark.parametrize("seed", range(3))
def test_zeros_are_those_of_the_pencil(seed):
    """Finite eigenvalues of the Rosenbrock pencil by QZ, where H(s) is square and has no hidden modes."""
    system = eliminate(random_system(seed))
    n = system.size
    for output, input in (("b", "b"), ("a", "a"), ("b", "a[0]")):
        model, asked = state_space(system), channels(system, output, input)
        m = len(asked.rows)
        pencil = np.block([[model.A, model.B[:, asked.columns]], [model.C[asked.rows], np.zeros((m, m))]])
        values = eigvals(pencil, np.diag([1.0] * n + [0.0] * m), homogeneous_eigvals=True)
        finite = np.abs(values[1]) > 1e-7 * np.abs(values[0])  # infinite ones split by the root of round-off
        expected = values[0][finite] / values[1][finite]
        found = zeros(system, output=output, input=input)
        assert found.size == expected.size
        apart = np.abs(found[:, None] - expected)
        assert max(apart.min(axis=0).max(), apart.min(axis=1).max()) < 1e-7 * np.abs(expected).max()


def test_damping_ratios_are_those_of_theory():
    """ζ = c/(2ω) of a chain whose masses are all damped alike."""
    found = damping_ratios(chain(4, 0.1))
    omega = 2.0 * np.sin((2 * np.arange(1, 5) - 1) * np.pi / 18)
    np.testing.assert_allclose(found.omega, omega, rtol=1e-12)
    np.testing.assert_allclose(found.ratio, 0.05 / omega, rtol=1e-12)
    overdamped = damping_ratios(chain(1, 4.0))  # s² + 4s + 1
    np.testing.assert_allclose(overdamped.omega, [2.0 - np.sqrt(3.0), 2.0 + np.sqrt(3.0)], rtol=1e-12)
    np.testing.assert_array_equal(overdamped.ratio, [1.0, 1.0])
    assert damping_ratios(frame(), count=3).omega.size == 3


def test_poles_at_rest_are_left_out():
    free = LinearPHDAE(E=np.diag([2.0, 3.0, 1.0]), J=np.array([[0, 0, 1.0], [0, 0, -1.0], [-1.0, 1.0, 0]]))
    np.testing.assert_allclose(damping_ratios(free).omega, [np.sqrt(0.5 + 1.0 / 3.0)], rtol=1e-12)


# sweeps


def test_a_sweep_follows_modes_through_a_crossing():
    """Two oscillators that do not touch: √k crosses 1; the sorted ones exchange places, the followed ones do not."""

    def make(k):
        J = np.zeros((4, 4))
        J[0, 2] = J[1, 3] = -1.0
        return LinearPHDAE(E=np.diag([1.0, 1.0, 1.0 / k, 1.0]), J=J - J.T, kinetic=np.array([1, 1, 0, 0], dtype=bool))

    stiffness = np.linspace(0.5, 2.0, 16)
    found = sweep(make, stiffness, count=2, name="k")
    np.testing.assert_allclose(found.frequencies, np.column_stack([np.sqrt(stiffness), np.ones(16)]), rtol=1e-12)
    assert found.likeness.min() > 0.99 and not np.any(found.ratios)
    ordered = sweep(make, stiffness, count=2, follow=False)
    assert np.all(np.diff(ordered.frequencies, axis=1) >= 0.0)


@pytest.mark.parametrize("loss", [0.0, 1e-9])
@pytest.mark.parametrize("made", [lambda s: s, eliminate, lambda s: reduce(s, 16, band=(5.0, 1000.0))])
def test_states_that_are_round_off_do_not_decide_which_mode_is_which(loss, made):
    """A cantilever of twice the length has the same modes at a quarter of the frequencies."""
    found = sweep(lambda length: made(cantilever(length, loss=loss)), [1.0, 2.0], count=3)
    np.testing.assert_allclose(found.frequencies[1], 0.25 * found.frequencies[0], rtol=1e-6)
    assert found.likeness.min() > 1.0 - 1e-6


def test_a_sweep_over_damping():
    found = sweep(lambda c: chain(3, c), [0.1, 0.2, 0.3], count=3, name="c")
    np.testing.assert_allclose(found.ratios, 0.5 * found.values[:, None] / found.frequencies, rtol=1e-10)
    np.testing.assert_allclose(found.poles[0], damping_poles(chain(3, 0.1)), rtol=1e-10)


def damping_poles(system):
    values = poles(system)
    return values[values.imag > 0.0]


def test_a_value_that_fails_is_named():
    def make(value):
        if value > 2.0:
            raise ValueError("too far")
        return chain(3)

    with pytest.raises(ValueError, match="angle = 3: too far"):
        sweep(make, [1.0, 2.0, 3.0], count=2, name="angle")
    kept = sweep(make, [1.0, 2.0, 3.0], count=2, name="angle", failures="keep")
    assert kept.frequencies.shape == (2, 2) and kept.failures == {3.0: "too far"}
    with pytest.raises(ValueError, match="no value of angle"):
        sweep(make, [4.0], name="angle", failures="keep")
    with pytest.raises(ValueError, match="count = 9 modes were asked for, the system has 3"):
        sweep(make, [1.0], count=9)


def by_damping(c):
    if c > 0.25:
        raise ArithmeticError("too much")
    return chain(3, c)


def test_workers_compute_the_same_sweep():
    """Functions of modules travel to other processes, and an error of a value does not end the others."""
    grid, options = [0.1, 0.3, 0.2], {"count": 3, "failures": "keep"}
    with ThreadPoolExecutor(2) as executor:
        found = sweep(by_damping, grid, executor=executor, **options)
    alone = sweep(by_damping, grid, **options)
    for name in ("values", "frequencies", "ratios", "likeness"):
        np.testing.assert_array_equal(getattr(found, name), getattr(alone, name))
    assert found.failures == alone.failures == {0.3: "too much"}
    task, result = pickle.loads(pickle.dumps((by_damping, alone)))
    assert task is by_damping and result.failures == alone.failures


# pictures


def test_responses_are_drawn_and_wrong_ones_refused(tmp_path):
    system, omega = chain(4, 0.05), np.geomspace(0.05, 5.0, 100)
    full = frequency_response(system, omega, inputs="last", outputs="last")
    reduced = frequency_response(system, omega, inputs="last", outputs="last", through=system)
    for path in (
        plot.save(plot.bode({"full": full, "reduced": reduced}, unit="(m/s)/N"), tmp_path / "bode.png"),
        plot.save(plot.nyquist(full), tmp_path / "nyquist.png"),
        plot.save(plot.poles_and_zeros(system, output="last", input="last"), tmp_path / "zeros.png"),
    ):
        assert path.stat().st_size > 10_000
    with pytest.raises(ValueError, match="must be a FrequencyResponse, got str"):
        plot.bode({"full": "x"})
    for given in (system, [full, full], {}):
        with pytest.raises(ValueError, match="responses must be a FrequencyResponse, or a dict of several"):
            plot.bode(given)
    with pytest.raises(ValueError, match=r"systems must.*LinearPHDAE,.*dict.*several.*name, got Frequency"):
        plot.poles_and_zeros(full)
    with pytest.raises(ValueError, match="name the output"):
        plot.bode(frequency_response(system, omega))
